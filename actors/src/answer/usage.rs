//! What engines report about their use of tokens and money: sums and signs of work.
//!
//! Every engine has its own names, so a report stays the object it was, and only names that are
//! known to count what a model was sent are read.

use serde_json::{Map, Value};

/// Names under which engines count what the model was sent. What came from a cache is counted
/// apart by some of them.
const RECEIVED: [&str; 12] = [
    "input_tokens",
    "cached_input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "cache_write_input_tokens",
    "inputTokens",
    "cachedInputTokens",
    "cacheReadTokens",
    "cacheWriteTokens",
    "prompt_tokens",
    "promptTokenCount",
    "input",
];

/// Whether a report says that the model was sent nothing at all. A report that does not speak of
/// it says nothing.
pub(super) fn denies_receipt(usage: &Value) -> bool {
    let Value::Object(usage) = usage else {
        return false;
    };
    let mut counts = RECEIVED
        .iter()
        .filter_map(|name| usage.get(*name)?.as_f64())
        .peekable();
    counts.peek().is_some() && counts.all(|count| count == 0.0)
}

/// Returns the sum of reports of one engine: numbers are added, of everything else the later one
/// counts.
pub fn add_usage(earlier: &Value, later: &Value) -> Value {
    match (earlier, later) {
        (Value::Object(a), Value::Object(b)) => {
            let mut sum: Map<String, Value> = a.clone();
            for (key, value) in b {
                let value = match a.get(key) {
                    Some(before) => add_usage(before, value),
                    None => value.clone(),
                };
                sum.insert(key.clone(), value);
            }
            Value::Object(sum)
        }
        (Value::Number(a), Value::Number(b)) => match (a.as_u64(), b.as_u64()) {
            (Some(a), Some(b)) => a.saturating_add(b).into(),
            _ => a
                .as_f64()
                .zip(b.as_f64())
                .map_or_else(|| later.clone(), |(a, b)| (a + b).into()),
        },
        _ => later.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_a_report_of_nothing_denies() {
        for usage in [
            json!({ "input_tokens": 0, "output_tokens": 20 }),
            json!({ "input_tokens": 0, "cached_input_tokens": 0 }),
            json!({ "inputTokens": 0.0 }),
        ] {
            assert!(denies_receipt(&usage), "{usage}");
        }
        for usage in [
            json!({ "input_tokens": 1 }),
            json!({ "input_tokens": 0, "cache_read_input_tokens": 900 }),
            json!({ "output_tokens": 0 }),
            json!({ "input_tokens": "0" }),
            json!({}),
            json!(0),
            Value::Null,
        ] {
            assert!(!denies_receipt(&usage), "{usage}");
        }
    }

    #[test]
    fn numbers_are_added_and_the_later_word_counts() {
        let a = json!({ "in": 1, "cost": 0.5, "model": "a", "deep": { "x": 1 }, "only": 3 });
        let b = json!({ "in": 2, "cost": 1, "model": "b", "deep": { "x": 2, "y": 3 } });
        assert_eq!(
            add_usage(&a, &b),
            json!({
                "in": 3, "cost": 1.5, "model": "b", "deep": { "x": 3, "y": 3 }, "only": 3
            })
        );
        assert_eq!(add_usage(&json!(u64::MAX), &json!(1)), json!(u64::MAX));
        assert_eq!(add_usage(&json!({ "a": 1 }), &json!(null)), json!(null));
    }
}
