//! The conversation with the server: introduce, open a thread, start the work, wait for its end.
//!
//! ```text
//! Hello -> Thread -> Start -> Work -> done
//! ```
//!
//! What must stay true: an answer is taken only from a turn that the server calls completed, every
//! request of the server gets a reply, and a thread that could do more than read is not used.

use diffwarden_actors::answer::{SALVAGED, extract, parse_json};
use diffwarden_actors::engine::{
    Action, Answer, CaptureMode, Captured, Dialogue, ExitKind, Payload,
};
use diffwarden_actors::model::{ErrorCode, Failure, Reason};
use serde_json::{Map, Value, json};

use super::command::INITIALIZE;
use super::events::Events;
use super::failure;
use super::message::{self, Incoming};
use super::rendered::{self, PLACEHOLDERS, Rendered};
use super::task::{self, Task, Wanted};
use crate::engines::codex::{answer, dialogue as exec};
use crate::engines::shared;

/// The numbers of the later requests.
const OPEN_THREAD: u64 = 2;
const START_WORK: u64 = 3;
const INTERRUPT: u64 = 4;

/// What Codex's review flow says when it has no review, whatever the turn's status.
const NO_REVIEW: &str = "Reviewer failed to output a response.";

/// What the next step waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The reply to the introduction.
    Hello,
    /// The reply to `thread/start`.
    Thread,
    /// The reply to `turn/start` or `review/start`.
    Start,
    /// The end of the turn.
    Work,
}

/// One conversation.
#[derive(Debug)]
pub(super) struct ServerDialogue {
    task: Task,
    metadata: Map<String, Value>,
    unreachable_store: bool,
    stage: Stage,
    thread: Option<String>,
    turn: Option<String>,
    /// The turn that can be interrupted. Codex's review flow runs turns of its own inside the one
    /// that was started.
    active_turn: Option<String>,
    events: Events,
}

impl ServerDialogue {
    /// Starts with what is known before the run. `unreachable_store` tells that credentials may
    /// exist where the private home does not reach them.
    pub(super) fn new(task: Task, metadata: Map<String, Value>, unreachable_store: bool) -> Self {
        Self {
            task,
            metadata,
            unreachable_store,
            stage: Stage::Hello,
            thread: None,
            turn: None,
            active_turn: None,
            events: Events::default(),
        }
    }

    fn fail(&self, failure: Failure) -> Vec<Action> {
        vec![Action::Fail(Box::new(self.advised(failure)))]
    }

    fn advised(&self, failure: Failure) -> Failure {
        exec::advised(failure::with_login(failure), self.unreachable_store)
    }

    fn on_reply(&mut self, id: u64, outcome: Result<Value, Value>) -> Vec<Action> {
        let (awaited, method) = match self.stage {
            Stage::Hello => (INITIALIZE, "initialize"),
            Stage::Thread => (OPEN_THREAD, "thread/start"),
            Stage::Start => (START_WORK, self.task.method()),
            Stage::Work => return Vec::new(),
        };
        if id != awaited {
            return Vec::new();
        }
        match outcome {
            Err(error) => self.fail(failure::of_request(method, &error)),
            Ok(result) => match self.stage {
                Stage::Hello => self.open_thread(),
                Stage::Thread => self.start_work(&result),
                Stage::Start | Stage::Work => self.work_started(&result),
            },
        }
    }

    fn open_thread(&mut self) -> Vec<Action> {
        self.stage = Stage::Thread;
        let request = message::request(OPEN_THREAD, "thread/start", &self.task.thread());
        vec![
            Action::Write(message::notification("initialized")),
            Action::Write(request),
        ]
    }

    fn start_work(&mut self, opened: &Value) -> Vec<Action> {
        let Some(thread) = opened.pointer("/thread/id").and_then(Value::as_str) else {
            return self.fail(failure::of_protocol("Codex's app server named no thread"));
        };
        if let Err(failure) = check_thread(opened) {
            return self.fail(failure);
        }
        self.note_choices(opened);
        self.stage = Stage::Start;
        self.thread = Some(thread.to_owned());
        let params = self.task.work(thread);
        // The prompt can have megabytes, and is said now.
        self.task.prompt = String::new();
        vec![Action::Write(message::request(
            START_WORK,
            self.task.method(),
            &params,
        ))]
    }

    /// Notes which model and effort the thread really has. The server's word counts for more than
    /// that of whoever asked, also where the two agree.
    fn note_choices(&mut self, opened: &Value) {
        let chosen = |key: &str| Some(shared::cut(opened.get(key)?.as_str()?, 200));
        for (key, resolved, source) in [
            ("model", "resolvedModel", "modelResolutionSource"),
            (
                "reasoningEffort",
                "resolvedEffort",
                "effortResolutionSource",
            ),
        ] {
            if let Some(value) = chosen(key) {
                self.metadata.insert(resolved.to_owned(), value.into());
                self.metadata
                    .insert(source.to_owned(), "provider-init".into());
            }
        }
    }

    fn work_started(&mut self, started: &Value) -> Vec<Action> {
        self.stage = Stage::Work;
        let turn = started.pointer("/turn/id").and_then(Value::as_str);
        self.turn = turn.map(str::to_owned);
        if self.active_turn.is_none() {
            self.active_turn.clone_from(&self.turn);
        }
        Vec::new()
    }

    fn on_notification(&mut self, method: &str, params: &Value) -> Vec<Action> {
        match method {
            "configWarning" => self.warned(params.get("summary")),
            "warning" | "guardianWarning" | "deprecationNotice" => {
                self.warned(params.get("message").or_else(|| params.get("summary")));
            }
            _ if !self.is_of_thread(params) => {}
            "turn/started" => {
                if let Some(turn) = params.pointer("/turn/id").and_then(Value::as_str) {
                    self.active_turn = Some(turn.to_owned());
                }
                self.events.turn_started();
                return self.alive();
            }
            _ if !self.is_of_turn(params) => {}
            "item/completed" => {
                self.events
                    .item_completed(params.get("item").unwrap_or(&Value::Null));
                return self.alive();
            }
            "thread/tokenUsage/updated" => {
                self.events
                    .tokens_used(params.get("tokenUsage").unwrap_or(&Value::Null));
                return self.alive();
            }
            "model/rerouted" => self.events.rerouted(params),
            "error" => return self.on_error(params),
            "turn/completed" => return self.on_end(params.get("turn").unwrap_or(&Value::Null)),
            _ => {}
        }
        Vec::new()
    }

    fn alive(&self) -> Vec<Action> {
        vec![Action::Progress(self.events.progress())]
    }

    fn warned(&mut self, message: Option<&Value>) {
        if let Some(message) = message.and_then(Value::as_str) {
            self.events.warn(message);
        }
    }

    fn is_of_thread(&self, params: &Value) -> bool {
        is_or_is_unknown(params.get("threadId"), self.thread.as_deref())
    }

    fn is_of_turn(&self, params: &Value) -> bool {
        let turn = params.get("turnId").or_else(|| params.pointer("/turn/id"));
        is_or_is_unknown(turn, self.turn.as_deref())
    }

    fn on_error(&mut self, params: &Value) -> Vec<Action> {
        let error = params.get("error").unwrap_or(&Value::Null);
        if params.get("willRetry").and_then(Value::as_bool) == Some(true) {
            return match failure::of_hopeless_retry(error) {
                Some(failure) => self.fail(failure),
                None => Vec::new(),
            };
        }
        self.events.last_error = Some(error.clone());
        Vec::new()
    }

    fn on_end(&mut self, turn: &Value) -> Vec<Action> {
        match turn.get("status").and_then(Value::as_str) {
            Some("completed") => match self.answer(turn) {
                Ok(answer) => vec![Action::Finish(Box::new(answer))],
                Err(failure) => self.fail(failure),
            },
            Some("failed") => {
                let error = turn.get("error").filter(|error| error.is_object());
                let error = error.or(self.events.last_error.as_ref());
                self.fail(failure::of_turn(error.unwrap_or(&Value::Null)))
            }
            Some("interrupted") => self.fail(
                Failure::new(
                    ErrorCode::ReviewerFailed,
                    "codex interrupted its own turn before there was an answer",
                )
                .reason(Reason::Crash)
                .hint("try again"),
            ),
            _ => self.fail(failure::of_protocol(
                "Codex's app server ended its turn in a way that diffwarden does not know",
            )),
        }
    }

    fn answer(&self, turn: &Value) -> Result<Answer, Failure> {
        let text = answer::trim(self.events.final_text(turn));
        let mut metadata = self.metadata.clone();
        metadata.append(&mut self.events.metadata());
        if let Some(model) = &self.events.rerouted_to {
            metadata.insert("resolvedModel".to_owned(), model.as_str().into());
            let source = "provider-result".into();
            metadata.insert("modelResolutionSource".to_owned(), source);
        }
        let is_native = self.task.answer == Wanted::Rendered;
        if text.is_empty() || is_native && text == NO_REVIEW {
            return Err(Failure::new(
                ErrorCode::ReviewerFailed,
                "codex finished without an answer",
            )
            .reason(Reason::Empty)
            .hint("try again, or choose another model"));
        }
        let (payload, capture_mode) = if is_native {
            (native_payload(text, &mut metadata), CaptureMode::Text)
        } else {
            answer::payload(text)
        };
        Ok(Answer {
            payload,
            capture_mode,
            metadata,
            usage: self.events.usage.clone(),
        })
    }
}

impl Dialogue for ServerDialogue {
    fn on_line(&mut self, line: &str) -> Vec<Action> {
        match message::read(line) {
            Some(Incoming::Reply { id, outcome }) => self.on_reply(id, outcome),
            Some(Incoming::Request { id, method }) => {
                vec![Action::Write(message::refusal(&id, &method))]
            }
            Some(Incoming::Notification { method, params }) => {
                self.on_notification(&method, &params)
            }
            // Once the work has started there is no reply left that could be missed.
            Some(Incoming::Unaddressed(error)) if self.stage != Stage::Work => {
                let said = error.get("message").and_then(Value::as_str);
                let said = shared::one_line(said.unwrap_or("no reason was given"));
                self.fail(failure::of_protocol(format!(
                    "Codex's app server could not read a request: {said}"
                )))
            }
            Some(Incoming::Unaddressed(_)) | None => Vec::new(),
        }
    }

    /// A command of the model survives the end of its turn, but not that of the server, which
    /// ends with its input.
    fn on_cancel(&mut self) -> Vec<Action> {
        let interrupt = self.thread.as_deref().zip(self.active_turn.as_deref());
        let interrupt = interrupt.map(|(thread, turn)| {
            let params = task::interruption(thread, turn);
            Action::Write(message::request(INTERRUPT, "turn/interrupt", &params))
        });
        interrupt.into_iter().chain([Action::CloseInput]).collect()
    }

    fn on_exit(self: Box<Self>, captured: Captured) -> Result<Answer, Failure> {
        let failure = match (captured.exit, &self.events.last_error) {
            (ExitKind::Signal(signal), _) => crashed(format!("codex was ended by signal {signal}")),
            (ExitKind::Code(_), Some(error)) => failure::of_turn(error),
            (ExitKind::Code(0), None) => {
                failure::of_protocol("Codex's app server ended in the middle of the conversation")
            }
            (ExitKind::Code(code), None) if self.stage == Stage::Hello => {
                failure::of_start(code, &captured.stderr)
            }
            (ExitKind::Code(code), None) => crashed(format!(
                "Codex's app server ended with exit code {code} in the middle of the conversation"
            )),
        };
        Err(self.advised(failure))
    }
}

fn crashed(message: String) -> Failure {
    Failure::new(ErrorCode::ReviewerFailed, message)
        .reason(Reason::Crash)
        .hint("try again; run `codex exec` by hand to see more")
}

/// Whether a name is the expected one, or one of the two is not known.
fn is_or_is_unknown(name: Option<&Value>, expected: Option<&str>) -> bool {
    match (name.and_then(Value::as_str), expected) {
        (Some(name), Some(expected)) => name == expected,
        _ => true,
    }
}

/// Refuses a thread whose own account contradicts what was asked for.
fn check_thread(opened: &Value) -> Result<(), Failure> {
    let text_at = |pointer: &str| opened.pointer(pointer).and_then(Value::as_str);
    let is_writing = text_at("/sandbox/type").is_some_and(|kind| kind != "readOnly")
        || opened.pointer("/sandbox/networkAccess") == Some(&Value::Bool(true))
        || text_at("/approvalPolicy").is_some_and(|policy| policy != "never");
    if is_writing {
        return Err(Failure::new(
            ErrorCode::ReviewerEnvironmentFailed,
            "Codex opened a thread that may do more than read",
        )
        .reason(Reason::Environment)
        .hint("look for managed settings of Codex on this machine, or use the `cli` transport"));
    }
    let sources = opened.get("instructionSources").and_then(Value::as_array);
    match sources.and_then(|sources| sources.first()) {
        Some(source) => Err(Failure::new(
            ErrorCode::ReviewerEnvironmentFailed,
            format!(
                "Codex loaded instructions that are no part of the review: {}",
                shared::one_line(source.as_str().unwrap_or("an unnamed file"))
            ),
        )
        .reason(Reason::UnsafeInput)
        .hint("use the `cli` transport, or update Codex and diffwarden")),
        None => Ok(()),
    }
}

/// Sorts the text of a native review. A text that is or holds a result goes to the common parser,
/// unless it has findings in Codex's own form: a result could be quoted in one.
fn native_payload(text: &str, metadata: &mut Map<String, Value>) -> Payload {
    let Rendered { result, dropped } = rendered::read(text);
    let is_result = parse_json(text).is_ok() || result.findings.is_empty() && dropped == 0;
    if is_result && extract(text).is_ok() {
        return Payload::Text(text.to_owned());
    }
    metadata.insert("placeholders".to_owned(), PLACEHOLDERS.as_slice().into());
    if dropped > 0 {
        let kept = result.findings.len();
        metadata.insert(
            SALVAGED.to_owned(),
            json!({"kept": kept, "dropped": dropped}),
        );
    }
    Payload::Rendered {
        text: text.to_owned(),
        result,
    }
}
