//! The host-local overlay of the user config (SPEC 15): `diffwarden.config.local.json` beside it.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// Lays `local` over `base`. Objects merge key by key, scalars and arrays take the local value,
/// and reviewers merge by id: a known id overlays that entry, a new one is appended.
pub(super) fn merge(base: Map<String, Value>, local: Map<String, Value>) -> Map<String, Value> {
    let mut merged = base;
    for (key, value) in local {
        let value = match (key.as_str(), merged.remove_value(&key), value) {
            ("reviewers", Some(Value::Array(base)), Value::Array(local)) => {
                Value::Array(merge_reviewers(base, local))
            }
            (_, Some(base), local) => merge_values(base, local),
            (_, None, local) => local,
        };
        merged.insert(key, value);
    }
    merged
}

/// Takes a value out and leaves its place in the order of keys.
trait RemoveValue {
    fn remove_value(&mut self, key: &str) -> Option<Value>;
}

impl RemoveValue for Map<String, Value> {
    fn remove_value(&mut self, key: &str) -> Option<Value> {
        self.get_mut(key).map(Value::take)
    }
}

fn merge_values(base: Value, local: Value) -> Value {
    match (base, local) {
        (Value::Object(mut merged), Value::Object(local)) => {
            for (key, value) in local {
                let value = match merged.remove_value(&key) {
                    Some(base) => merge_values(base, value),
                    None => value,
                };
                merged.insert(key, value);
            }
            Value::Object(merged)
        }
        (_, local) => local,
    }
}

/// Merges by id. Entries without an id, and a second entry of the same id, are appended, so that
/// the validation of the merged file names them.
fn merge_reviewers(base: Vec<Value>, local: Vec<Value>) -> Vec<Value> {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (index, entry) in base.iter().enumerate() {
        if let Some(id) = id_of(entry) {
            places.entry(id.to_owned()).or_insert(index);
        }
    }
    let mut merged = base;
    for entry in local {
        match id_of(&entry).and_then(|id| places.remove(id)) {
            Some(place) => {
                let base = merged[place].take();
                merged[place] = merge_values(base, entry);
            }
            None => merged.push(entry),
        }
    }
    merged
}

fn id_of(entry: &Value) -> Option<&str> {
    entry.get("id")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(base: &Value, local: &Value) -> Value {
        let object = |value: &Value| value.as_object().unwrap().clone();
        Value::Object(merge(object(base), object(local)))
    }

    #[test]
    fn objects_merge_and_everything_else_is_replaced() {
        let base = json!({
            "defaultReviewerSet": "1", "timeoutSeconds": 5,
            "reviewerSets": {"1": ["a"], "2": ["a", "b"]},
            "reporting": {"enabled": true, "dir": "x"}
        });
        let local = json!({
            "defaultReviewerSet": "2", "maxConcurrency": 2,
            "reviewerSets": {"1": ["b"]}, "reporting": {"dir": "y"}
        });
        let expected = json!({
            "defaultReviewerSet": "2", "timeoutSeconds": 5,
            "reviewerSets": {"1": ["b"], "2": ["a", "b"]},
            "reporting": {"enabled": true, "dir": "y"}, "maxConcurrency": 2
        });
        let merged = merged(&base, &local);
        assert_eq!(merged, expected);
        let keys =
            |value: &Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
        assert_eq!(keys(&merged), keys(&expected), "the order of keys is kept");
    }

    #[test]
    fn reviewers_merge_by_id() {
        let base = json!({"reviewers": [
            {"id": "a", "engine": "codex", "model": "base", "effort": "low",
             "cliOptions": {"executable": "x", "webSearch": "disabled"}},
            {"id": "b", "engine": "grok"}
        ]});
        let local = json!({"reviewers": [
            {"id": "c", "engine": "pi"},
            {"id": "a", "model": "local", "cliOptions": {"executable": "y"}, "modelCatalog": ["z"]}
        ]});
        assert_eq!(
            merged(&base, &local),
            json!({"reviewers": [
                {"id": "a", "engine": "codex", "model": "local", "effort": "low",
                 "cliOptions": {"executable": "y", "webSearch": "disabled"}, "modelCatalog": ["z"]},
                {"id": "b", "engine": "grok"},
                {"id": "c", "engine": "pi"}
            ]})
        );
    }

    #[test]
    fn broken_entries_stay_visible() {
        let base = json!({"reviewers": [{"id": "a", "engine": "pi"}]});
        let local = json!({"reviewers": [
            {"model": "no id"}, 7, {"id": "a", "model": "x"}, {"id": "a", "model": "y"}
        ]});
        let merged = merged(&base, &local);
        assert_eq!(merged["reviewers"].as_array().unwrap().len(), 4);
        assert_eq!(merged["reviewers"][0]["model"], "x");

        let wrong = json!({"reviewers": {"a": 1}});
        assert_eq!(self::merged(&base, &wrong), wrong);
    }
}
