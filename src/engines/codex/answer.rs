//! From the text Codex ended with to the raw material of a review.
//!
//! The text counts as structured output only when it fits the schema that Codex was given, because
//! nothing checks that on the way: a model behind another provider may answer prose. Everything
//! else goes on as text, unchanged, for the parser that all engines share.

use diffwarden_actors::answer::parse_json;
use diffwarden_actors::engine::{CaptureMode, Payload};
use serde_json::{Map, Value};

/// Members that may wrap the review object, in the order in which they are looked at.
const WRAPPERS: [&str; 5] = [
    "structured_output",
    "structuredOutput",
    "result",
    "response",
    "message",
];

/// Members that may hold the review as text, in the order in which they are looked at.
const TEXTS: [&str; 6] = ["result", "response", "text", "content", "message", "output"];

/// Trims like JavaScript does, byte order marks included.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// Sorts the final text into structured output and text. `text` must not be blank.
pub(super) fn payload(text: &str) -> (Payload, CaptureMode) {
    let text = trim(text);
    let Ok(value) = parse_json(text) else {
        return as_text(text);
    };
    if let Some(review) = review_within(&value) {
        return (
            Payload::Structured(review.clone()),
            CaptureMode::NativeStructured,
        );
    }
    match text_within(&value) {
        Some(inner) => as_text(trim(&inner)),
        None => as_text(text),
    }
}

fn as_text(text: &str) -> (Payload, CaptureMode) {
    (Payload::Text(text.to_owned()), CaptureMode::Text)
}

/// Returns the review object: the value itself, or one inside its wrappers.
fn review_within(value: &Value) -> Option<&Value> {
    let object = value.as_object()?;
    if is_review(object) {
        return Some(value);
    }
    WRAPPERS
        .iter()
        .filter_map(|key| object.get(*key))
        .find_map(review_within)
}

/// Returns the first text that is not blank inside wrappers. An object that has findings is an
/// answer with a mistake in it, not a wrapper.
fn text_within(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => (!trim(text).is_empty()).then(|| text.clone()),
        Value::Array(items) => {
            let texts: Vec<_> = items.iter().filter_map(text_within).collect();
            (!texts.is_empty()).then(|| texts.join("\n"))
        }
        Value::Object(object) if !object.contains_key("findings") => TEXTS
            .iter()
            .filter_map(|key| object.get(*key))
            .find_map(text_within),
        _ => None,
    }
}

fn is_review(object: &Map<String, Value>) -> bool {
    has_members(
        object,
        &[
            ("findings", &|value| {
                value
                    .as_array()
                    .is_some_and(|all| all.iter().all(is_finding))
            }),
            ("overall_correctness", &|value| {
                matches!(
                    value.as_str(),
                    Some("patch is correct" | "patch is incorrect")
                )
            }),
            ("overall_explanation", &Value::is_string),
            ("overall_confidence_score", &is_score),
        ],
        0,
    )
}

fn is_finding(value: &Value) -> bool {
    let Some(finding) = value.as_object() else {
        return false;
    };
    let priority = finding.get("priority");
    has_members(
        finding,
        &[
            ("title", &is_filled),
            ("body", &Value::is_string),
            ("confidence_score", &is_score),
            ("code_location", &is_location),
        ],
        usize::from(priority.is_some()),
    ) && priority.is_none_or(|value| value.as_u64().is_some_and(|level| level <= 3))
}

fn is_location(value: &Value) -> bool {
    value.as_object().is_some_and(|location| {
        has_members(
            location,
            &[
                ("absolute_file_path", &is_filled),
                ("line_range", &is_range),
            ],
            0,
        )
    })
}

fn is_range(value: &Value) -> bool {
    let bound = |key: &str| value.get(key).and_then(Value::as_u64);
    let has_two = value.as_object().is_some_and(|range| range.len() == 2);
    has_two
        && bound("start")
            .zip(bound("end"))
            .is_some_and(|(start, end)| start >= 1 && start <= end)
}

fn is_filled(value: &Value) -> bool {
    value.as_str().is_some_and(|text| !text.is_empty())
}

fn is_score(value: &Value) -> bool {
    value
        .as_f64()
        .is_some_and(|score| (0.0..=1.0).contains(&score))
}

type Check<'a> = (&'a str, &'a dyn Fn(&Value) -> bool);

/// Whether `object` has the named members, each passing its check, and only `optional` others.
fn has_members(object: &Map<String, Value>, members: &[Check<'_>], optional: usize) -> bool {
    object.len() == members.len() + optional
        && members
            .iter()
            .all(|(key, check)| object.get(*key).is_some_and(check))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn review() -> Value {
        json!({
            "findings": [{
                "title": "[P1] Title",
                "body": "",
                "confidence_score": 0.9,
                "priority": 1,
                "code_location": {
                    "absolute_file_path": "/repo/a.rs",
                    "line_range": {"start": 2, "end": 2},
                },
            }],
            "overall_correctness": "patch is incorrect",
            "overall_explanation": "One bug.",
            "overall_confidence_score": 1,
        })
    }

    fn structured(value: Value) -> (Payload, CaptureMode) {
        (Payload::Structured(value), CaptureMode::NativeStructured)
    }

    #[test]
    fn a_review_is_structured_also_inside_wrappers() {
        for value in [
            review(),
            json!({"result": review()}),
            json!({"response": {"message": review()}}),
            json!({"message": 3, "structuredOutput": {"result": review()}, "x": 1}),
        ] {
            assert_eq!(payload(&value.to_string()), structured(review()), "{value}");
        }
        let padded = format!("\u{feff}\n {} \n", review());
        assert_eq!(payload(&padded), structured(review()));
        let mut unprioritised = review();
        unprioritised["findings"][0]
            .as_object_mut()
            .unwrap()
            .shift_remove("priority");
        assert_eq!(
            payload(&unprioritised.to_string()),
            structured(unprioritised)
        );
    }

    #[test]
    fn what_does_not_fit_stays_the_text_it_was() {
        let changed = |pointer: &str, value: Value| {
            let mut changed = review();
            *changed.pointer_mut(pointer).unwrap() = value;
            changed.to_string()
        };
        let mut extra = review();
        extra["findings"][0]["note"] = json!("x");
        for text in [
            changed("/findings/0/confidence_score", json!(1.5)),
            changed("/findings/0/priority", json!(4)),
            changed("/findings/0/priority", Value::Null),
            changed("/findings/0/title", json!("")),
            changed("/findings/0/code_location/line_range/start", json!(0)),
            changed("/findings/0/code_location/line_range/end", json!(1)),
            changed("/findings", json!({})),
            changed("/overall_correctness", json!("fine")),
            changed("/overall_confidence_score", json!("1")),
            extra.to_string(),
            "{\"findings\": [".to_owned(),
            "prose".to_owned(),
            "[1, 2]".to_owned(),
        ] {
            let expected = (Payload::Text(text.clone()), CaptureMode::Text);
            assert_eq!(payload(&text), expected);
        }
    }

    #[test]
    fn text_is_taken_out_of_wrappers() {
        for (value, inner) in [
            (json!({"result": " prose "}), "prose"),
            (
                json!({"result": "", "content": [{"text": "a"}, {"text": "b"}]}),
                "a\nb",
            ),
            (json!("quoted"), "quoted"),
        ] {
            let expected = (Payload::Text(inner.to_owned()), CaptureMode::Text);
            assert_eq!(payload(&value.to_string()), expected);
        }
    }

    proptest! {
        #[test]
        fn any_text_has_a_payload(text in "[\\[\\]{}\",:a-z0-9 .\\\\\u{feff}]{0,200}") {
            let (payload, mode) = payload(&text);
            prop_assert_eq!(matches!(payload, Payload::Text(_)), mode == CaptureMode::Text);
        }
    }
}
