//! The events of `codex exec --json`, and what they amount to when it ends.

use diffwarden_actors::engine::{Action, Answer, Captured, Dialogue, ExitKind, Progress};
use diffwarden_actors::model::{Failure, Reason};
use serde_json::{Map, Value};

use super::{PROGRAM, answer, failure};
use crate::engines::shared::{self, Lines};

/// How many warnings the metadata keeps.
pub(super) const MAX_WARNINGS: usize = 20;

/// The warning about a Codex that wrote its reply file and told nothing of its turn: its exit code
/// and the file are all that says the turn was finished. Wrappers that swallow standard output do
/// that.
const NO_RECORD: &str =
    "codex told nothing of its turn; the reply file alone says that it was finished";

/// Kinds of items that are no use of a tool.
const NO_TOOLS: [&str; 5] = [
    "agent_message",
    "reasoning",
    "error",
    "todo_list",
    "user_message",
];

/// One run of `codex exec`, which never reads after its prompt.
#[derive(Debug)]
pub(super) struct ExecDialogue {
    metadata: Map<String, Value>,
    unreachable_store: bool,
    events: Events,
}

/// What the events said so far.
#[derive(Debug, Default)]
struct Events {
    lines: Lines,
    /// Whether any event told where the turn stands.
    recorded: bool,
    turn_started: bool,
    turn_completed: bool,
    usage: Option<Value>,
    turn_failed: Option<String>,
    last_error: Option<String>,
    last_message: Option<String>,
    warnings: Vec<String>,
    tool_calls: u64,
    turns: u64,
}

impl ExecDialogue {
    /// Starts with what is known before the run. `unreachable_store` tells that credentials may
    /// exist where the private home does not reach them.
    pub(super) fn new(metadata: Map<String, Value>, unreachable_store: bool) -> Self {
        Self {
            metadata,
            unreachable_store,
            events: Events::default(),
        }
    }

    /// Adds the advice that only this run can give.
    fn advised(&self, failure: Failure) -> Failure {
        advised(failure, self.unreachable_store)
    }

    /// Decides whether the run came to its end.
    fn verdict(&self, captured: &Captured, has_reply: bool) -> Result<(), Failure> {
        let events = &self.events;
        if let Some(message) = &events.turn_failed {
            return Err(failure::of_turn(message));
        }
        match captured.exit {
            ExitKind::Signal(signal) => Err(PROGRAM.killed(signal)),
            ExitKind::Code(0) => Ok(()),
            ExitKind::Code(code) if events.turn_completed => Err(PROGRAM.failed_late(code)),
            ExitKind::Code(code) => Err(match &events.last_error {
                Some(message) => failure::of_turn(message),
                None => failure::of_start(code, &captured.stderr),
            }),
        }?;
        events.lines.check("codex")?;
        // Codex leaves the reply file empty until the turn is over, so a filled one is a final
        // record too where nothing was heard of the turn; see `NO_RECORD`.
        if events.turn_completed || (has_reply && !events.recorded) {
            Ok(())
        } else if has_reply || events.turn_started {
            let message = "ended in the middle of its turn, without a final event";
            Err(PROGRAM.failed(Reason::Protocol, message))
        } else {
            Err(PROGRAM.failed(Reason::Empty, "ended without doing anything"))
        }
    }

    fn finished_metadata(&self, stderr: &str) -> Map<String, Value> {
        let mut metadata = self.metadata.clone();
        let mut put = |key: &str, value: Value| metadata.insert(key.to_owned(), value);
        put("toolCalls", self.events.tool_calls.into());
        for (name, count) in [
            ("inputTokens", self.events.tokens("input_tokens")),
            ("outputTokens", self.events.tokens("output_tokens")),
        ] {
            if let Some(count) = count {
                put(name, count.into());
            }
        }
        let mut warnings = self.events.warnings.clone();
        if !self.events.turn_completed {
            warnings.push(NO_RECORD.to_owned());
        }
        if !warnings.is_empty() {
            put("warnings", warnings.into());
        }
        if let Some(stderr) = shared::kept_stderr(&failure::without_noise(stderr)) {
            put("stderr", stderr.into());
        }
        metadata
    }
}

impl Dialogue for ExecDialogue {
    fn on_line(&mut self, line: &str) -> Vec<Action> {
        match self.events.take(line) {
            Some(Sign::Life) => vec![Action::Progress(self.events.progress())],
            Some(Sign::Hopeless(failure)) => {
                vec![Action::Fail(Box::new(self.advised(*failure)))]
            }
            None => Vec::new(),
        }
    }

    fn on_exit(self: Box<Self>, captured: Captured) -> Result<Answer, Failure> {
        let reply = captured.outputs.first().and_then(Option::as_deref);
        let reply = reply.map(String::from_utf8_lossy).unwrap_or_default();
        let reply = answer::trim(&reply);
        self.verdict(&captured, !reply.is_empty())
            .map_err(|failure| self.advised(failure))?;
        let said = self.events.last_message.as_deref().unwrap_or_default();
        let text = if reply.is_empty() {
            answer::trim(said)
        } else {
            reply
        };
        if text.is_empty() {
            return Err(PROGRAM.silent());
        }
        let (payload, capture_mode) = answer::payload(text);
        Ok(Answer {
            payload,
            capture_mode,
            metadata: self.finished_metadata(&captured.stderr),
            usage: self.events.usage,
        })
    }
}

/// Adds the advice for refused credentials where some may exist that the private home does not
/// reach.
pub(super) fn advised(failure: Failure, unreachable_store: bool) -> Failure {
    if unreachable_store && failure.reason == Some(Reason::Auth) {
        return failure.recovery(
            "set cli_auth_credentials_store = \"file\" in Codex's config.toml and run \
             `codex login`: a review cannot reach the system's keyring",
        );
    }
    failure
}

/// Whether an event of this type tells where the turn stands. Signs of life within an item
/// (`item.updated`) do not.
fn is_record(kind: &str) -> bool {
    matches!(kind, "error" | "item.started" | "item.completed")
        || ["thread.", "turn."]
            .iter()
            .any(|family| kind.starts_with(family))
}

/// What an event calls for at once.
enum Sign {
    /// The model did something.
    Life,
    /// The run cannot succeed any more.
    Hopeless(Box<Failure>),
}

impl Events {
    /// Takes one line in. Lines that are no events mean nothing.
    fn take(&mut self, line: &str) -> Option<Sign> {
        let event = self.lines.read(line)?;
        let kind = event.get("type")?.as_str()?;
        self.recorded |= is_record(kind);
        match kind {
            "turn.started" => {
                self.turn_started = true;
                self.turns += 1;
                return Some(Sign::Life);
            }
            "turn.completed" => {
                self.turn_completed = true;
                self.usage = event
                    .get("usage")
                    .filter(|usage| usage.is_object())
                    .cloned();
                return Some(Sign::Life);
            }
            "turn.failed" => {
                let message = event.pointer("/error/message").and_then(Value::as_str);
                self.turn_failed = Some(message.unwrap_or("no reason was given").to_owned());
            }
            "error" => return self.error(event.get("message")?.as_str()?),
            "item.completed" => return self.item(event.get("item")?),
            _ => {}
        }
        None
    }

    fn error(&mut self, message: &str) -> Option<Sign> {
        if !message.starts_with("Reconnecting... ") {
            self.last_error = Some(message.to_owned());
        }
        failure::of_hopeless_retry(message).map(|failure| Sign::Hopeless(Box::new(failure)))
    }

    fn item(&mut self, item: &Value) -> Option<Sign> {
        let kind = item.get("type")?.as_str()?;
        let text_of = |key: &str| item.get(key).and_then(Value::as_str);
        match kind {
            "agent_message" => self.last_message = text_of("text").map(str::to_owned),
            "error" => self.warn(text_of("message")?),
            _ => {}
        }
        if !NO_TOOLS.contains(&kind) {
            self.tool_calls += 1;
        }
        Some(Sign::Life)
    }

    fn progress(&self) -> Progress {
        let (received, sent) = (self.tokens("input_tokens"), self.tokens("output_tokens"));
        Progress {
            turns: Some(self.turns),
            tools: Some(self.tool_calls),
            tokens: received.map(|received| received.saturating_add(sent.unwrap_or_default())),
        }
    }

    /// Returns one of the counts that Codex reports at the end of its turn.
    fn tokens(&self, name: &str) -> Option<u64> {
        self.usage.as_ref()?.get(name)?.as_u64()
    }

    /// Notes an item of the kind `error`, which is a warning: the turn goes on.
    fn warn(&mut self, message: &str) {
        let line = shared::one_line(message);
        if self.warnings.len() < MAX_WARNINGS && !self.warnings.contains(&line) {
            self.warnings.push(line);
        }
    }
}
