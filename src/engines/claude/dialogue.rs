//! The messages of `claude -p`, and what they amount to when it ends.

use std::collections::BTreeSet;

use diffwarden_actors::engine::{
    Action, Answer, CaptureMode, Captured, Dialogue, ExitKind, Payload, Progress,
};
use diffwarden_actors::model::{Failure, Reason};
use serde_json::{Map, Value};

use super::fallback::Families;
use super::record::Record;
use super::{PROGRAM, failure};
use crate::engines::shared::{self, Lines};

/// The tool that takes the answer; its call is no use of a tool.
const ANSWER_TOOL: &str = "StructuredOutput";

/// Every tool that a model may be offered: those that read, the one that takes the answer, and one
/// that does nothing.
const OFFERED: [&str; 5] = [
    "Read",
    "Grep",
    "Glob",
    ANSWER_TOOL,
    "DeferredToolPlaceholder",
];

/// One run of `claude -p`, which never reads after its prompt.
#[derive(Debug)]
pub(super) struct StreamDialogue {
    metadata: Map<String, Value>,
    families: Families,
    stream: Stream,
}

/// What the messages said so far.
#[derive(Debug, Default)]
struct Stream {
    lines: Lines,
    /// Whether anything was printed at all.
    has_output: bool,
    /// The model that Claude started with.
    model: Option<String>,
    /// Whether Claude takes a key from the environment, which it cannot renew.
    has_fixed_key: bool,
    refusals: u64,
    /// What the model is offered, as Claude tells.
    tools: BTreeSet<String>,
    error_kind: Option<String>,
    is_limit_reached: bool,
    last_message: Option<String>,
    turns: u64,
    tool_calls: u64,
    tokens: u64,
    record: Option<Record>,
}

/// What a message calls for at once.
enum Sign {
    /// The model did something.
    Life,
    /// The run cannot succeed any more.
    Hopeless(Box<Failure>),
}

impl StreamDialogue {
    /// Starts with what is known before the run.
    pub(super) fn new(metadata: Map<String, Value>, families: Families) -> Self {
        Self {
            metadata,
            families,
            stream: Stream::default(),
        }
    }

    /// Reads one line. Lines that are no JSON mean nothing.
    pub(super) fn read(&mut self, line: &str) -> Option<Value> {
        self.stream.has_output |= !line.trim().is_empty();
        self.stream.lines.read(line)
    }

    /// Checks that no line so far says one thing twice.
    ///
    /// # Errors
    ///
    /// Names what stands twice.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.stream.lines.check(PROGRAM.name)
    }

    /// Takes one message in, or all of them as one array.
    pub(super) fn hear(&mut self, said: Value) -> Vec<Action> {
        match self.stream.take(said) {
            Some(Sign::Life) => vec![Action::Progress(self.stream.progress())],
            Some(Sign::Hopeless(failure)) => vec![Action::Fail(failure)],
            None => Vec::new(),
        }
    }

    /// Returns the record of a run that came to its end.
    fn finished(&mut self, captured: &Captured) -> Result<Record, Failure> {
        let stream = &mut self.stream;
        let Some(record) = stream.record.take() else {
            if captured.exit == ExitKind::Code(0) {
                stream.lines.check(PROGRAM.name)?;
            }
            return Err(match captured.exit {
                ExitKind::Signal(signal) => PROGRAM.killed(signal),
                ExitKind::Code(0) if stream.has_output => {
                    PROGRAM.failed(Reason::Protocol, "ended without the record of its result")
                }
                ExitKind::Code(0) => PROGRAM.failed(Reason::Empty, "ended without doing anything"),
                ExitKind::Code(code) => failure::of_start(code, &captured.stderr),
            });
        };
        if record.is_error() {
            let kind = stream.error_kind.as_deref();
            return Err(failure::of_record(&record, kind, stream.is_limit_reached));
        }
        match captured.exit {
            ExitKind::Code(0) => stream.lines.check(PROGRAM.name).map(|()| record),
            ExitKind::Code(code) => Err(PROGRAM.failed_late(code)),
            ExitKind::Signal(signal) => Err(PROGRAM.killed(signal)),
        }
    }

    fn finished_metadata(mut self, record: &Record, stderr: &str) -> Map<String, Value> {
        let metadata = &mut self.metadata;
        if let Some(model) = self.stream.model {
            metadata.insert("resolvedModel".to_owned(), model.into());
            metadata.insert("modelResolutionSource".to_owned(), "provider-init".into());
        }
        record.describe(self.families, metadata);
        let asked = metadata.get("resolvedEffort").and_then(Value::as_str);
        if asked == Some("thinking-disabled") && record.has_thought() {
            metadata.insert("effortDropped".to_owned(), "model-unsupported".into());
        }
        if !self.stream.tools.is_empty() {
            let tools: Vec<Value> = self.stream.tools.into_iter().map(Value::from).collect();
            metadata.insert("offeredTools".to_owned(), tools.into());
        }
        metadata.insert("toolCalls".to_owned(), self.stream.tool_calls.into());
        if let Some(stderr) = shared::kept_stderr(stderr) {
            metadata.insert("stderr".to_owned(), stderr.into());
        }
        self.metadata
    }
}

impl Dialogue for StreamDialogue {
    fn on_line(&mut self, line: &str) -> Vec<Action> {
        let said = self.read(line);
        said.map(|said| self.hear(said)).unwrap_or_default()
    }

    fn on_exit(mut self: Box<Self>, captured: Captured) -> Result<Answer, Failure> {
        let record = self.finished(&captured)?;
        let (payload, capture_mode) = match record.structured() {
            Some(value) => (
                Payload::Structured(value.clone()),
                CaptureMode::NativeStructured,
            ),
            None => {
                let text = record.text("result").unwrap_or_default();
                let text = text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
                if text.is_empty() {
                    return Err(PROGRAM.silent());
                }
                (Payload::Text(text.to_owned()), CaptureMode::Text)
            }
        };
        Ok(Answer {
            payload,
            capture_mode,
            usage: record.usage(),
            metadata: self.finished_metadata(&record, &captured.stderr),
        })
    }
}

impl Stream {
    /// Takes one value in: a message, or all of them as one array. Others mean nothing.
    fn take(&mut self, said: Value) -> Option<Sign> {
        match said {
            Value::Object(message) => self.message(message),
            Value::Array(messages) => {
                let mut sign = None;
                for message in messages {
                    if let Value::Object(message) = message {
                        sign = self.message(message).or(sign);
                    }
                }
                sign
            }
            _ => None,
        }
    }

    fn message(&mut self, message: Map<String, Value>) -> Option<Sign> {
        match text(&message, "type")? {
            "result" => {
                self.record = Some(Record::new(message));
                None
            }
            "system" => self.system(&message),
            "assistant" => self.assistant(&message),
            "rate_limit_event" => {
                let status = message.get("rate_limit_info")?.get("status")?.as_str()?;
                self.is_limit_reached = status == "rejected";
                None
            }
            _ => None,
        }
    }

    fn system(&mut self, message: &Map<String, Value>) -> Option<Sign> {
        match text(message, "subtype")? {
            "init" => {
                let model = text(message, "model").map(|model| shared::cut(model, 200));
                self.model = model;
                let source = text(message, "apiKeySource");
                self.has_fixed_key = source.is_some_and(|source| source != "none");
                let tools = message.get("tools").and_then(Value::as_array);
                let tools = tools.into_iter().flatten().filter_map(Value::as_str);
                self.tools = tools.map(str::to_owned).collect();
                let harmful = self.tools.iter().find(|tool| !OFFERED.contains(&&***tool));
                Some(match harmful {
                    Some(tool) => Sign::Hopeless(Box::new(failure::of_tool(tool))),
                    None => Sign::Life,
                })
            }
            "api_retry" => self.retry(message),
            _ => None,
        }
    }

    /// Ends the retry loop over credentials that are refused. A login is given one more chance,
    /// because Claude renews it between two attempts.
    fn retry(&mut self, message: &Map<String, Value>) -> Option<Sign> {
        let status = message.get("error_status").and_then(Value::as_u64);
        let is_refusal = text(message, "error") == Some("authentication_failed")
            || matches!(status, Some(401 | 403));
        if !is_refusal {
            return None;
        }
        self.refusals += 1;
        (self.has_fixed_key || self.refusals > 1)
            .then(|| Sign::Hopeless(Box::new(failure::of_refusal(status))))
    }

    fn assistant(&mut self, message: &Map<String, Value>) -> Option<Sign> {
        if let Some(kind) = text(message, "error") {
            self.error_kind = Some(kind.to_owned());
        }
        let body = message.get("message")?.as_object()?;
        // One message of the model comes in several parts, each with the usage of the whole.
        let id = text(body, "id").map(str::to_owned);
        if id.is_none() || id != self.last_message {
            self.last_message = id;
            self.turns += 1;
            let usage = body.get("usage");
            let tokens = ["input_tokens", "output_tokens"]
                .iter()
                .filter_map(|name| usage?.get(name)?.as_u64());
            self.tokens = tokens.fold(self.tokens, u64::saturating_add);
        }
        let parts = body.get("content").and_then(Value::as_array);
        let calls = parts
            .into_iter()
            .flatten()
            .filter(|part| is_tool_call(part));
        self.tool_calls += calls.count() as u64;
        Some(Sign::Life)
    }

    fn progress(&self) -> Progress {
        Progress {
            turns: Some(self.turns),
            tools: Some(self.tool_calls),
            tokens: (self.tokens > 0).then_some(self.tokens),
        }
    }
}

fn text<'a>(message: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    message.get(key)?.as_str()
}

fn is_tool_call(part: &Value) -> bool {
    let of = |key: &str| part.get(key).and_then(Value::as_str);
    of("type") == Some("tool_use") && of("name") != Some(ANSWER_TOOL)
}
