//! What the server told of its work so far.

use diffwarden_actors::engine::Progress;
use serde_json::{Map, Value};

use crate::engines::codex::dialogue::MAX_WARNINGS;
use crate::engines::shared;

/// Kinds of items that are no use of a tool.
const NO_TOOLS: [&str; 8] = [
    "agentMessage",
    "contextCompaction",
    "enteredReviewMode",
    "exitedReviewMode",
    "hookPrompt",
    "plan",
    "reasoning",
    "userMessage",
];

/// How the warning begins that every Codex without bubblewrap of the system's own gives. Its own
/// one does as well.
const OWN_BUBBLEWRAP: &str = "Codex could not find bubblewrap on PATH";

/// Counts, texts and warnings of one turn.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The text of the last message, or of the review.
    last_text: Option<String>,
    /// The last error that was no notice of a retry.
    pub(super) last_error: Option<Value>,
    /// The tokens of the thread, as the server counts them.
    pub(super) usage: Option<Value>,
    /// The model that answered in place of the one that was asked.
    pub(super) rerouted_to: Option<String>,
    warnings: Vec<String>,
    tool_calls: u64,
    turns: u64,
}

impl Events {
    /// Notes that a turn has begun.
    pub(super) fn turn_started(&mut self) {
        self.turns += 1;
    }

    /// Notes a finished item.
    pub(super) fn item_completed(&mut self, item: &Value) {
        let Some(kind) = item.get("type").and_then(Value::as_str) else {
            return;
        };
        if let Some(text) = said(item) {
            self.last_text = Some(text.to_owned());
        }
        if !NO_TOOLS.contains(&kind) {
            self.tool_calls += 1;
        }
    }

    /// Notes what was used so far.
    pub(super) fn tokens_used(&mut self, usage: &Value) {
        if let Some(total) = usage.get("total").filter(|total| total.is_object()) {
            self.usage = Some(total.clone());
        }
    }

    /// Notes that another model answers.
    pub(super) fn rerouted(&mut self, params: &Value) {
        let name = |key: &str| Some(shared::cut(params.get(key)?.as_str()?, 200));
        if let (Some(from), Some(to)) = (name("fromModel"), name("toModel")) {
            self.warn(&format!("Codex answers with {to} in place of {from}"));
            self.rerouted_to = Some(to);
        }
    }

    /// Notes a warning; the turn goes on.
    pub(super) fn warn(&mut self, message: &str) {
        let line = shared::one_line(message);
        let is_known = self.warnings.contains(&line) || line.starts_with(OWN_BUBBLEWRAP);
        if self.warnings.len() < MAX_WARNINGS && !is_known {
            self.warnings.push(line);
        }
    }

    /// Returns the text that the turn ended with: the last message of its own list, else the last
    /// one that was told.
    pub(super) fn final_text<'a>(&'a self, turn: &'a Value) -> &'a str {
        let items = turn.get("items").and_then(Value::as_array);
        let listed = items.and_then(|items| items.iter().rev().find_map(said));
        listed.or(self.last_text.as_deref()).unwrap_or_default()
    }

    /// Returns the signs of life.
    pub(super) fn progress(&self) -> Progress {
        let (received, sent) = (self.count("inputTokens"), self.count("outputTokens"));
        Progress {
            turns: Some(self.turns),
            tools: Some(self.tool_calls),
            tokens: received.map(|received| received.saturating_add(sent.unwrap_or_default())),
        }
    }

    /// Returns what the metadata show of it.
    pub(super) fn metadata(&self) -> Map<String, Value> {
        let mut metadata = Map::new();
        metadata.insert("toolCalls".to_owned(), self.tool_calls.into());
        for name in ["inputTokens", "outputTokens"] {
            if let Some(count) = self.count(name) {
                metadata.insert(name.to_owned(), count.into());
            }
        }
        if !self.warnings.is_empty() {
            metadata.insert("warnings".to_owned(), self.warnings.clone().into());
        }
        metadata
    }

    fn count(&self, name: &str) -> Option<u64> {
        self.usage.as_ref()?.get(name)?.as_u64()
    }
}

/// Returns the text of an item that says something.
fn said(item: &Value) -> Option<&str> {
    let key = match item.get("type")?.as_str()? {
        "agentMessage" => "text",
        "exitedReviewMode" => "review",
        _ => return None,
    };
    item.get(key)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_last_word_counts() {
        let mut events = Events::default();
        for text in ["first", "second"] {
            events.item_completed(&json!({"type": "agentMessage", "text": text}));
        }
        assert_eq!(events.final_text(&json!({"items": []})), "second");
        let listed = json!({"items": [
            {"type": "agentMessage", "text": "third"},
            {"type": "reasoning", "text": "thought"},
        ]});
        assert_eq!(events.final_text(&listed), "third");
        assert_eq!(Events::default().final_text(&Value::Null), "");
    }

    #[test]
    fn tools_tokens_and_warnings_are_counted() {
        let mut events = Events::default();
        events.turn_started();
        for kind in ["commandExecution", "webSearch", "reasoning", "newKind"] {
            events.item_completed(&json!({"type": kind}));
        }
        events.tokens_used(&json!({"total": {"inputTokens": 7, "outputTokens": 3}, "last": {}}));
        events.tokens_used(&json!({"total": 1}));
        events.warn("one\nline");
        events.warn("one line");
        events.warn("Codex could not find bubblewrap on PATH. Install it.");
        events.rerouted(&json!({"fromModel": "a", "toModel": "b"}));
        assert_eq!(events.rerouted_to.as_deref(), Some("b"));
        let progress = events.progress();
        assert_eq!((progress.turns, progress.tools), (Some(1), Some(3)));
        assert_eq!(progress.tokens, Some(10));
        assert_eq!(
            Value::Object(events.metadata()),
            json!({
                "toolCalls": 3,
                "inputTokens": 7,
                "outputTokens": 3,
                "warnings": ["one line", "Codex answers with b in place of a"],
            })
        );
    }
}
