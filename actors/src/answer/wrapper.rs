//! The envelopes in which engines hand over a result.
//!
//! An engine that prints JSON rarely prints the bare result: it wraps it in `result`, `response`,
//! `structured_output` and so on. A wrapped object came through a structured channel; a wrapped
//! string is text that still has to be parsed.

use serde_json::Value;

use super::json::parse_json;
use super::schema::read_result;
use crate::engine::{CaptureMode, Payload};
use crate::model::ReviewResult;

/// Keys that can hold the result object, in the order they are tried.
const RESULT_KEYS: [&str; 5] = [
    "structured_output",
    "structuredOutput",
    "result",
    "response",
    "message",
];

/// Keys that can hold the answer's text, in the order they are tried.
const TEXT_KEYS: [&str; 6] = ["result", "response", "text", "content", "message", "output"];

/// Returns the result that `value` is or wraps as an object.
pub fn find_result(value: &Value) -> Option<ReviewResult> {
    find_within(value, &|value| read_result(value).ok())
}

/// Returns what `read` makes of the object that `value` is or wraps.
pub(super) fn find_within<T>(value: &Value, read: &impl Fn(&Value) -> Option<T>) -> Option<T> {
    let Value::Object(object) = value else {
        return None;
    };
    read(value).or_else(|| {
        RESULT_KEYS
            .iter()
            .find_map(|key| find_within(object.get(*key)?, read))
    })
}

/// Reads what an engine printed as one JSON document, for engines whose output may be a bare
/// result, a result in an envelope, a text in an envelope or plain text.
///
/// Only an object that fits counts as structured. Everything else stays text, so that the artifact
/// keeps exactly what the engine said.
pub fn read_output(text: &str) -> (Payload, CaptureMode) {
    let text = trim_answer(text);
    let text = match parse_json(text) {
        Ok(value) if find_result(&value).is_some() => {
            return (Payload::Structured(value), CaptureMode::NativeStructured);
        }
        Ok(value @ Value::Object(_)) => find_text(&value).unwrap_or_else(|| text.to_owned()),
        _ => text.to_owned(),
    };
    (Payload::Text(text), CaptureMode::Text)
}

/// Strips blanks and byte order marks from both ends.
pub(super) fn trim_answer(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// Returns the first text in an envelope that is not blank; the items of a list become its lines.
fn find_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(trim_answer(text))
            .filter(|text| !text.is_empty())
            .map(str::to_owned),
        Value::Array(items) => {
            let lines: Vec<String> = items.iter().filter_map(find_text).collect();
            (!lines.is_empty()).then(|| lines.join("\n"))
        }
        Value::Object(object) => TEXT_KEYS
            .iter()
            .find_map(|key| find_text(object.get(*key)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::samples::answer;
    use serde_json::json;

    #[test]
    fn results_are_found_in_envelopes_however_deep() {
        for value in [
            answer(),
            json!({ "result": answer() }),
            json!({ "response": { "message": answer() } }),
            json!({ "type": "result", "result": "done", "structured_output": answer() }),
            json!({ "structuredOutput": answer(), "text": "done" }),
        ] {
            assert!(find_result(&value).is_some(), "{value}");
        }
        for value in [
            json!({ "review": answer() }),
            json!({ "result": answer().to_string() }),
            json!({ "result": [answer()] }),
            json!([answer()]),
            json!({ "result": null }),
        ] {
            assert!(find_result(&value).is_none(), "{value}");
        }
    }

    #[test]
    fn what_does_not_fit_stays_the_text_it_was() {
        let misfit = "{\"findings\": [ ],\n \"overall_correctness\": \"unknown\"}";
        let cases = [
            (format!(" {misfit}\n"), misfit.to_owned()),
            ("\u{feff}all fine \n".to_owned(), "all fine".to_owned()),
            (String::new(), String::new()),
            (json!({ "result": " hm " }).to_string(), "hm".to_owned()),
            (
                json!({ "result": "", "response": answer().to_string() }).to_string(),
                answer().to_string(),
            ),
            (
                json!({ "message": { "content": [{ "text": "a" }, { "text": "b" }] } }).to_string(),
                "a\nb".to_owned(),
            ),
            ("\"quoted\"".to_owned(), "\"quoted\"".to_owned()),
        ];
        for (output, text) in cases {
            assert_eq!(
                read_output(&output),
                (Payload::Text(text), CaptureMode::Text),
                "{output}"
            );
        }
    }

    #[test]
    fn what_fits_is_structured() {
        let output = json!({ "response": { "message": answer() } });
        assert_eq!(
            read_output(&format!("\n{output}\n")),
            (Payload::Structured(output), CaptureMode::NativeStructured)
        );
    }
}
