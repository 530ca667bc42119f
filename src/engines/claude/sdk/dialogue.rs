//! A conversation in Claude's control protocol: one request, one message, one result.
//!
//! The message is held back until Claude has accepted the schema and the system prompt, and
//! standard input stays open until the result is there, so that whatever Claude asks meanwhile is
//! refused and not left hanging. What the messages of a run mean is read by the same reader as for
//! `claude -p`.

use diffwarden_actors::engine::{Action, Answer, Captured, Dialogue};
use diffwarden_actors::model::Failure;
use serde_json::{Map, Value};

use super::frames;
use crate::engines::claude::dialogue::StreamDialogue;
use crate::engines::shared::Kind;

/// One conversation.
#[derive(Debug)]
pub(super) struct ControlDialogue {
    /// The message of the user, until it is sent.
    message: Option<String>,
    run: StreamDialogue,
}

impl ControlDialogue {
    /// Starts with the message to send and the reader of what follows.
    pub(super) fn new(message: String, run: StreamDialogue) -> Self {
        Self {
            message: Some(message),
            run,
        }
    }

    /// Takes the answer to a request.
    fn answered(&mut self, response: &Map<String, Value>) -> Vec<Action> {
        let text = |key: &str| response.get(key).and_then(Value::as_str);
        if text("request_id") != Some(frames::REQUEST) {
            return Vec::new();
        }
        if text("subtype") == Some("success") {
            return self.message.take().map(Action::Write).into_iter().collect();
        }
        let said = text("error").unwrap_or("it gave no reason");
        let failure = Kind::environment(
            "Claude refused to begin the conversation",
            "update Claude Code, or use this reviewer with the transport cli",
        );
        vec![fail(failure.into_failure(said))]
    }
}

fn fail(failure: Failure) -> Action {
    Action::Fail(Box::new(failure))
}

impl Dialogue for ControlDialogue {
    fn on_line(&mut self, line: &str) -> Vec<Action> {
        let message = match self.run.read(line) {
            Some(Value::Object(message)) => message,
            Some(other) => return self.run.hear(other),
            // A result that says one thing twice is none, and there will be no other.
            None => return self.run.check().err().map(fail).into_iter().collect(),
        };
        match message.get("type").and_then(Value::as_str) {
            Some("control_response") => match message.get("response") {
                Some(Value::Object(response)) => self.answered(response),
                _ => Vec::new(),
            },
            Some("control_request") => {
                let id = message.get("request_id").unwrap_or(&Value::Null);
                vec![Action::Write(frames::refusal(id))]
            }
            Some("result") => {
                let mut actions = self.run.hear(Value::Object(message));
                // There is one message, so there is one result.
                actions.push(Action::CloseInput);
                actions
            }
            _ => self.run.hear(Value::Object(message)),
        }
    }

    fn on_exit(self: Box<Self>, captured: Captured) -> Result<Answer, Failure> {
        Box::new(self.run).on_exit(captured)
    }
}
