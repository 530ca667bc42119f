//! The records of `gemini --output-format stream-json`, and what they amount to when it ends.

use diffwarden_actors::engine::{
    Action, Answer, CaptureMode, Captured, Dialogue, ExitKind, Payload, Progress,
};
use diffwarden_actors::model::{Failure, Reason};
use serde_json::{Map, Value};

use super::{PROGRAM, failure, mentions};
use crate::engines::shared::{Lines, kept_stderr};

/// One run of `gemini`, which never reads after its prompt.
#[derive(Debug)]
pub(super) struct StreamDialogue {
    metadata: Map<String, Value>,
    records: Records,
}

/// What the records said so far.
#[derive(Debug, Default)]
struct Records {
    lines: Lines,
    /// What the model wrote since its last tool call.
    text: String,
    tool_calls: u64,
    turns: u64,
    /// Whether the next text of the model begins a turn.
    is_between: bool,
    /// The last record: an error's message, or nothing.
    end: Option<Result<(), String>>,
    stats: Option<Value>,
}

impl StreamDialogue {
    /// Starts with what is known before the run.
    pub(super) fn new(metadata: Map<String, Value>) -> Self {
        Self {
            metadata,
            records: Records {
                is_between: true,
                ..Records::default()
            },
        }
    }

    /// Decides whether the run came to its end. Gemini ends with exit code 0 when it is told to
    /// stop, so the code alone says nothing.
    fn verdict(&self, captured: &Captured) -> Result<(), Failure> {
        let code = match captured.exit {
            ExitKind::Code(code) => code,
            ExitKind::Signal(signal) => return Err(PROGRAM.killed(signal)),
        };
        if let Some(failure) = failure::of_lost_policy(&captured.stderr) {
            return Err(failure);
        }
        let records = &self.records;
        match &records.end {
            Some(Err(message)) => Err(failure::of_result(message, Some(code))),
            Some(Ok(())) if code == 0 => records.lines.check("gemini"),
            Some(Ok(())) => Err(PROGRAM.failed_late(code)),
            None if code == 0 => {
                records.lines.check("gemini")?;
                let message = "ended in the middle of its answer, without a final record";
                Err(PROGRAM.failed(Reason::Protocol, message))
            }
            None => Err(failure::of_start(code, &captured.stderr)),
        }
    }

    fn finished_metadata(mut self, stderr: &str) -> (Map<String, Value>, Option<Value>) {
        let mut put = |key: &str, value: Value| self.metadata.insert(key.to_owned(), value);
        put("toolCalls", self.records.tool_calls.into());
        let stats = self.records.stats;
        for (name, key) in [
            ("inputTokens", "input_tokens"),
            ("outputTokens", "output_tokens"),
        ] {
            let count = stats.as_ref().and_then(|stats| stats.get(key)?.as_u64());
            if let Some(count) = count {
                put(name, count.into());
            }
        }
        if let Some(model) = stats.as_ref().and_then(only_model) {
            put("resolvedModel", model.into());
        }
        if let Some(stderr) = kept_stderr(&failure::without_noise(stderr)) {
            put("stderr", stderr.into());
        }
        (self.metadata, stats)
    }
}

/// Returns the model that answered, as the service names it, when it was one alone.
fn only_model(stats: &Value) -> Option<String> {
    let models = stats.get("models")?.as_object()?;
    let mut names = models.keys();
    let name = names.next()?;
    names.next().is_none().then(|| name.clone())
}

impl Dialogue for StreamDialogue {
    fn on_line(&mut self, line: &str) -> Vec<Action> {
        match self.records.take(line) {
            Some(()) => vec![Action::Progress(self.records.progress())],
            None => Vec::new(),
        }
    }

    fn on_exit(self: Box<Self>, captured: Captured) -> Result<Answer, Failure> {
        self.verdict(&captured)?;
        let text = mentions::rejoin(self.records.text.trim());
        if text.is_empty() {
            return Err(PROGRAM.silent());
        }
        let (metadata, usage) = self.finished_metadata(&captured.stderr);
        Ok(Answer {
            payload: Payload::Text(text),
            capture_mode: CaptureMode::Text,
            metadata,
            usage,
        })
    }
}

impl Records {
    /// Takes one line in and tells whether it is a sign of life. Lines that are no records mean
    /// nothing.
    fn take(&mut self, line: &str) -> Option<()> {
        let record = self.lines.read(line)?;
        match record.get("type")?.as_str()? {
            "message" => self.message(&record)?,
            "tool_use" => {
                self.begin_turn();
                self.tool_calls += 1;
                self.text.clear();
            }
            "tool_result" => {
                self.is_between = true;
                self.text.clear();
            }
            "result" => self.result(&record),
            _ => return None,
        }
        Some(())
    }

    fn message(&mut self, record: &Value) -> Option<()> {
        if record.get("role")?.as_str()? != "assistant" {
            return None;
        }
        self.begin_turn();
        let content = record.get("content")?.as_str()?;
        if record.get("delta").and_then(Value::as_bool) != Some(true) {
            self.text.clear();
        }
        self.text.push_str(content);
        Some(())
    }

    fn result(&mut self, record: &Value) {
        let is_success = record.get("status").and_then(Value::as_str) == Some("success");
        self.end = Some(if is_success {
            Ok(())
        } else {
            let message = record.pointer("/error/message").and_then(Value::as_str);
            Err(message.unwrap_or_default().to_owned())
        });
        self.stats = record
            .get("stats")
            .filter(|stats| stats.is_object())
            .cloned();
    }

    fn begin_turn(&mut self) {
        if std::mem::take(&mut self.is_between) {
            self.turns += 1;
        }
    }

    fn progress(&self) -> Progress {
        let total = self
            .stats
            .as_ref()
            .and_then(|stats| stats.get("total_tokens")?.as_u64());
        Progress {
            turns: Some(self.turns),
            tools: Some(self.tool_calls),
            tokens: total,
        }
    }
}
