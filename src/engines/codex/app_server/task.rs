//! What is asked of the server once it is there: a thread, and one turn or one native review.

use serde_json::{Value, json};

/// One review or one repair.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Task {
    /// The folder the model works in, where it can be spelled in JSON; else the server's own,
    /// which is the same.
    pub(super) folder: Option<String>,
    /// The model, if one was asked for.
    pub(super) model: Option<String>,
    /// The effort, if one was asked for.
    pub(super) effort: Option<&'static str>,
    /// Instructions apart from the prompt.
    pub(super) system: Option<String>,
    /// What the model is told.
    pub(super) prompt: String,
    /// What kind of answer is wanted.
    pub(super) answer: Wanted,
}

/// A kind of answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wanted {
    /// JSON that fits this schema.
    Json(Value),
    /// The text of Codex's own review flow.
    Rendered,
}

impl Task {
    /// Returns the parameters of `thread/start`.
    ///
    /// The effort is a setting of the thread, because a native review takes none of its own.
    pub(super) fn thread(&self) -> Value {
        let mut params = json!({
            "ephemeral": true,
            "sandbox": "read-only",
            "approvalPolicy": "never",
        });
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                params[key] = value;
            }
        };
        put("cwd", self.folder.as_deref().map(Value::from));
        put("model", self.model.as_deref().map(Value::from));
        put(
            "developerInstructions",
            self.system.as_deref().map(Value::from),
        );
        let effort = self.effort;
        put(
            "config",
            effort.map(|effort| json!({"model_reasoning_effort": effort})),
        );
        params
    }

    /// Returns the method that starts the work in a thread.
    pub(super) fn method(&self) -> &'static str {
        match self.answer {
            Wanted::Json(_) => "turn/start",
            Wanted::Rendered => "review/start",
        }
    }

    /// Returns the parameters of [`Self::method`].
    ///
    /// A native review is given diffwarden's own prompt as its target. Codex's other targets would
    /// have the model collect the change itself, without focus, masks and left-out files, and with
    /// a dirty work tree mixed into a branch.
    pub(super) fn work(&self, thread: &str) -> Value {
        match &self.answer {
            Wanted::Json(schema) => json!({
                "threadId": thread,
                "input": [{"type": "text", "text": self.prompt}],
                "outputSchema": schema,
                "approvalPolicy": "never",
                "sandboxPolicy": {"type": "readOnly", "networkAccess": false},
            }),
            Wanted::Rendered => json!({
                "threadId": thread,
                "target": {"type": "custom", "instructions": self.prompt},
                "delivery": "inline",
            }),
        }
    }
}

/// Returns the parameters of `turn/interrupt`.
pub(super) fn interruption(thread: &str, turn: &str) -> Value {
    json!({"threadId": thread, "turnId": turn})
}
