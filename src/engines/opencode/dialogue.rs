//! The events of `opencode run --format json`, and what they amount to when it ends.

use diffwarden_actors::engine::{
    Action, Answer, CaptureMode, Captured, Dialogue, ExitKind, Payload, Progress,
};
use diffwarden_actors::model::{Failure, Reason};
use serde_json::{Map, Value, json};

use super::{PROGRAM, failure};
use crate::engines::shared::{Kind, Lines, kept_stderr};

/// One run of `opencode run`, which never reads after its prompt.
#[derive(Debug)]
pub(super) struct RunDialogue {
    metadata: Map<String, Value>,
    events: Events,
}

/// What the events said so far.
#[derive(Debug, Default)]
struct Events {
    lines: Lines,
    /// The message that the text below belongs to.
    message: String,
    text: String,
    /// How the last step ended, and the message it belongs to.
    last_step: Option<(String, String)>,
    error: Option<Value>,
    turns: u64,
    tool_calls: u64,
    steps: u64,
    input: u64,
    output: u64,
    reasoning: u64,
    cache_read: u64,
    cache_write: u64,
    cost: f64,
}

impl RunDialogue {
    /// Starts with what is known before the run.
    pub(super) fn new(metadata: Map<String, Value>) -> Self {
        Self {
            metadata,
            events: Events::default(),
        }
    }

    /// Decides whether the run came to its end. OpenCode ends with exit code 0 also when it was
    /// stopped by a refused tool, so only a last step that says `stop` is an end.
    fn verdict(&self, captured: &Captured) -> Result<(), Failure> {
        let events = &self.events;
        if let Some(failure) = failure::of_lost_agent(&captured.stderr) {
            return Err(failure);
        }
        if let Some(error) = &events.error {
            return Err(failure::of_event(error, &captured.stderr));
        }
        match captured.exit {
            ExitKind::Code(0) => {}
            ExitKind::Code(code) => return Err(failure::of_start(code, &captured.stderr)),
            ExitKind::Signal(signal) => return Err(PROGRAM.killed(signal)),
        }
        events.lines.check("opencode")?;
        match events.last_step.as_ref().map(|(reason, _)| reason.as_str()) {
            Some("stop") => Ok(()),
            Some("length") => Err(Kind::cut_off().into_failure("")),
            Some("content-filter") => Err(Kind::declined().into_failure("")),
            _ => {
                let message = "ended in the middle of its answer, without a final step";
                Err(PROGRAM.failed(Reason::Protocol, message))
            }
        }
    }
}

impl Dialogue for RunDialogue {
    fn on_line(&mut self, line: &str) -> Vec<Action> {
        match self.events.take(line) {
            Some(()) => vec![Action::Progress(self.events.progress())],
            None => Vec::new(),
        }
    }

    fn on_exit(mut self: Box<Self>, captured: Captured) -> Result<Answer, Failure> {
        self.verdict(&captured)?;
        let events = &self.events;
        let text = events.answer().trim();
        if text.is_empty() {
            return Err(PROGRAM.silent());
        }
        let mut put = |key: &str, value: Value| self.metadata.insert(key.to_owned(), value);
        put("toolCalls", events.tool_calls.into());
        put("inputTokens", events.input.into());
        put("outputTokens", events.output.into());
        if let Some(stderr) = kept_stderr(&failure::plain(&captured.stderr)) {
            put("stderr", stderr.into());
        }
        Ok(Answer {
            payload: Payload::Text(text.to_owned()),
            capture_mode: CaptureMode::Text,
            usage: Some(events.usage()),
            metadata: self.metadata,
        })
    }
}

impl Events {
    /// Takes one line in and tells whether it is a sign of life. Lines that are no events mean
    /// nothing.
    fn take(&mut self, line: &str) -> Option<()> {
        let event = self.lines.read(line)?;
        let kind = event.get("type")?.as_str()?;
        if kind == "error" {
            self.error = Some(event.get("error").cloned().unwrap_or_default());
            return None;
        }
        let part = event.get("part")?;
        match kind {
            "step_start" => self.turns += 1,
            "tool_use" => self.tool_calls += 1,
            "text" => self.text(part)?,
            "step_finish" => self.step(part)?,
            _ => return None,
        }
        Some(())
    }

    fn text(&mut self, part: &Value) -> Option<()> {
        let text = part.get("text")?.as_str()?;
        let message = part.get("messageID")?.as_str()?;
        if self.message != message {
            message.clone_into(&mut self.message);
            self.text.clear();
        }
        self.text.push_str(text);
        Some(())
    }

    fn step(&mut self, part: &Value) -> Option<()> {
        let text_of = |key: &str| part.get(key).and_then(Value::as_str);
        self.last_step = Some((
            text_of("reason")?.to_owned(),
            text_of("messageID")?.to_owned(),
        ));
        self.steps += 1;
        let count = |path: &str| part.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        for (sum, path) in [
            (&mut self.input, "/tokens/input"),
            (&mut self.output, "/tokens/output"),
            (&mut self.reasoning, "/tokens/reasoning"),
            (&mut self.cache_read, "/tokens/cache/read"),
            (&mut self.cache_write, "/tokens/cache/write"),
        ] {
            *sum = sum.saturating_add(count(path));
        }
        self.cost += part.get("cost").and_then(Value::as_f64).unwrap_or(0.0);
        Some(())
    }

    /// Returns the text of the message that the last step ended; earlier text is chatter.
    fn answer(&self) -> &str {
        match &self.last_step {
            Some((_, message)) if *message == self.message => &self.text,
            _ => "",
        }
    }

    /// Returns the sums over all steps, in the words of the events.
    fn usage(&self) -> Value {
        json!({
            "steps": self.steps,
            "tokens": {
                "input": self.input,
                "output": self.output,
                "reasoning": self.reasoning,
                "cache": {"read": self.cache_read, "write": self.cache_write},
            },
            "cost": self.cost,
        })
    }

    fn progress(&self) -> Progress {
        let tokens = self.input.saturating_add(self.output);
        Progress {
            turns: Some(self.turns),
            tools: Some(self.tool_calls),
            tokens: (self.steps > 0).then_some(tokens),
        }
    }
}
