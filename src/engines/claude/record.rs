//! The record that ends every run: one object of the type `result`.
//!
//! It is the same in the stream and in Claude's `json` format. Key order is not stable, and an
//! error of the model service is called a `success` that `is_error`, so nothing is read out of one
//! key alone.

use serde_json::{Map, Value};

use super::fallback::Families;
use crate::engines::shared;

/// How many refused tools the metadata name.
const MAX_DENIALS: usize = 20;

/// The final record of a run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record(Map<String, Value>);

impl Record {
    /// Takes a message that is a final record.
    pub(super) fn new(message: Map<String, Value>) -> Self {
        Self(message)
    }

    /// Returns a text of the record.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.get(key)?.as_str()
    }

    /// Returns a number of the record.
    pub(super) fn number(&self, key: &str) -> Option<f64> {
        self.0.get(key)?.as_f64()
    }

    /// Returns the HTTP status of the model service, when that refused the request.
    pub(super) fn status(&self) -> Option<u64> {
        self.0.get("api_error_status")?.as_u64()
    }

    /// Whether the run failed.
    pub(super) fn is_error(&self) -> bool {
        let is_error = self.0.get("is_error").and_then(Value::as_bool);
        is_error == Some(true) || self.text("subtype").is_some_and(|kind| kind != "success")
    }

    /// Returns what Claude says about its failure, without its notes to its own developers.
    pub(super) fn complaint(&self) -> String {
        let errors = self.0.get("errors").and_then(Value::as_array);
        let errors: Vec<&str> = errors
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .filter(|error| !error.starts_with("[ede_diagnostic]"))
            .collect();
        if errors.is_empty() {
            self.text("result").unwrap_or_default().to_owned()
        } else {
            errors.join("; ")
        }
    }

    /// Returns the answer that Claude has held to the schema.
    pub(super) fn structured(&self) -> Option<&Value> {
        self.0
            .get("structured_output")
            .filter(|value| !value.is_null())
    }

    /// Returns tokens and cost as Claude reports them. The cost is Claude's own estimate.
    pub(super) fn usage(&self) -> Option<Value> {
        let mut usage = self.0.get("usage")?.as_object()?.clone();
        if let Some(cost) = self.0.get("total_cost_usd") {
            usage.insert("total_cost_usd".to_owned(), cost.clone());
        }
        Some(usage.into())
    }

    /// Writes what is known after the run into the metadata of the reviewer.
    pub(super) fn describe(&self, families: Families, metadata: &mut Map<String, Value>) {
        let mut put = |key: &str, value: Value| metadata.insert(key.to_owned(), value);
        if let Some(model) = self.model() {
            put("resolvedModel", shared::cut(model, 200).into());
            put("modelResolutionSource", "provider-result".into());
        }
        let names: Vec<&str> = self.models().map(|(name, _)| name).collect();
        if let Some(used) = families.fallback_served(&names) {
            put("fallbackModelUsed", used.to_string().into());
        }
        let usage = self.0.get("usage");
        for (key, name) in [
            ("inputTokens", "input_tokens"),
            ("outputTokens", "output_tokens"),
        ] {
            if let Some(count) = usage.and_then(|usage| usage.get(name)?.as_u64()) {
                put(key, count.into());
            }
        }
        if let Some(cost) = self.number("total_cost_usd") {
            put("totalCostUsd", cost.into());
        }
        if let Some(turns) = self.0.get("num_turns").and_then(Value::as_u64) {
            put("numTurns", turns.into());
        }
        let denials = self.denials();
        if !denials.is_empty() {
            put("permissionDenials", denials.into());
        }
    }

    /// Whether a model has thought, by its own count.
    pub(super) fn has_thought(&self) -> bool {
        let thought = |usage: &Value| usage.get("thinkingTokens")?.as_u64();
        self.models().any(|(_, usage)| thought(usage) > Some(0))
    }

    fn models(&self) -> impl Iterator<Item = (&str, &Value)> {
        let models = self.0.get("modelUsage").and_then(Value::as_object);
        let pairs = models.into_iter().flatten();
        pairs.map(|(name, usage)| (name.as_str(), usage))
    }

    /// Returns the model that wrote most of the answer.
    fn model(&self) -> Option<&str> {
        let written = |usage: &Value| usage.get("outputTokens").and_then(Value::as_u64);
        let most = self.models().max_by_key(|(_, usage)| written(usage));
        most.map(|(name, _)| name)
    }

    /// Returns the names of the tools that were refused.
    fn denials(&self) -> Vec<Value> {
        let denials = self.0.get("permission_denials").and_then(Value::as_array);
        denials
            .into_iter()
            .flatten()
            .filter_map(|denial| denial.get("tool_name")?.as_str())
            .take(MAX_DENIALS)
            .map(|name| shared::cut(&shared::one_line(name), 100).into())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::claude::fallback::Family;
    use serde_json::json;

    const NONE: Families = Families {
        model: None,
        fallback: None,
    };

    fn record(value: Value) -> Record {
        let Value::Object(message) = value else {
            panic!("a record is an object");
        };
        Record::new(message)
    }

    fn described(value: Value, families: Families) -> Map<String, Value> {
        let mut metadata = Map::new();
        record(value).describe(families, &mut metadata);
        metadata
    }

    #[test]
    fn a_run_failed_when_any_key_says_so() {
        for (value, expected) in [
            (json!({"subtype": "success", "is_error": false}), false),
            (json!({"subtype": "success", "is_error": true}), true),
            (
                json!({"subtype": "error_max_turns", "is_error": false}),
                true,
            ),
            (json!({"subtype": "error_max_turns"}), true),
            (json!({"result": "text"}), false),
        ] {
            assert_eq!(record(value.clone()).is_error(), expected, "{value}");
        }
    }

    #[test]
    fn the_model_that_wrote_most_is_the_one_that_answered() {
        let usage = json!({"modelUsage": {
            "claude-haiku-5-5": {"outputTokens": 3},
            "claude-opus-5-5": {"outputTokens": 300},
            "odd": 7,
        }});
        let families = Families {
            model: Some(Family::Opus),
            fallback: Some(Family::Sonnet),
        };
        let metadata = described(usage, families);
        assert_eq!(metadata["resolvedModel"], "claude-opus-5-5");
        assert_eq!(metadata["modelResolutionSource"], "provider-result");
        assert_eq!(metadata["fallbackModelUsed"], "false");
        assert!(described(json!({"modelUsage": {}}), families).is_empty());
    }

    #[test]
    fn refused_tools_are_named_and_bounded() {
        let denials = vec![json!({"tool_name": "Re\nad", "tool_input": "secret"}); 50];
        let metadata = described(json!({"permission_denials": denials}), NONE);
        assert_eq!(
            metadata["permissionDenials"],
            Value::from(vec!["Re ad"; 20])
        );
    }

    #[test]
    fn the_cost_is_part_of_the_usage() {
        let value = json!({"usage": {"input_tokens": 3}, "total_cost_usd": 0.25});
        let expected = json!({"input_tokens": 3, "total_cost_usd": 0.25});
        assert_eq!(record(value).usage(), Some(expected));
        assert_eq!(record(json!({"total_cost_usd": 0.25})).usage(), None);
    }
}
