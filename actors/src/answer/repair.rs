//! The reply to a repair request (SPEC 10): a transcription, wrapped in the model's own judgement
//! of it.
//!
//! What must stay true: the judgement never becomes part of a review, and a transcription that the
//! model doubts, that does not fit the schema, or that provably says something else than the answer
//! is refused.

use std::fmt;
use std::sync::LazyLock;

use serde::Deserialize;
use serde_json::{Deserializer, Value, json};

use super::json::{JsonError, duplicate_key, mend_surrogates, parse_json};
use super::schema::{SchemaError, read_result, strict_schema};
use super::transcription::{Difference, compare};
use super::wrapper::{find_within, trim_answer};
use crate::engine::Payload;
use crate::model::ReviewResult;

/// How many possible beginnings of a reply are tried in a text, from its end on.
const MAX_STARTS: usize = 16;

/// The keys of a reply.
const KEYS: [&str; 3] = ["fixable", "confidence", "review"];

/// An accepted repair.
#[derive(Debug, Clone, PartialEq)]
pub struct Repair {
    /// What was transcribed.
    pub result: ReviewResult,
    /// How sure the model is that it is what the answer said; never [`RepairConfidence::Low`].
    pub confidence: RepairConfidence,
}

/// How sure a model is of its transcription.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each variant is SPEC's own word")]
pub enum RepairConfidence {
    High,
    Medium,
    Low,
}

impl RepairConfidence {
    /// Returns the spelling used in replies and in adapter metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Medium => "medium",
            Self::Low => "low",
        }
    }
}

/// Why a repair is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The reply is not of the form that was asked for.
    NoReply,
    /// The model found nothing to transcribe.
    Unfixable,
    /// The model doubts its own transcription.
    LowConfidence,
    /// The transcription does not fit the schema either.
    Misfit(SchemaError),
    /// The review in it does not say what the answer says.
    Unfaithful(Difference),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoReply => f.write_str("the reply is not of the form that was asked for"),
            Self::Unfixable => f.write_str("the model calls the answer unfixable"),
            Self::LowConfidence => f.write_str("the model's confidence is low"),
            Self::Misfit(error) => write!(f, "the repaired review does not fit: {error}"),
            Self::Unfaithful(difference) => f.write_str(difference.as_str()),
        }
    }
}

impl std::error::Error for Refusal {}

/// Returns the schema of a reply, in the form for engines that demand every key to be required.
pub fn repair_schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": KEYS,
            "properties": {
                "fixable": { "type": "boolean" },
                "confidence": { "type": "string", "enum": ["high", "medium", "low"] },
                "review": { "anyOf": [strict_schema(), { "type": "null" }] },
            },
        })
    });
    &SCHEMA
}

/// Reads a reply to the request to transcribe `answer`, from a structured channel or from text that
/// holds it.
///
/// # Errors
///
/// Fails when the repair must not be used.
pub fn read_repair(payload: &Payload, answer: &str) -> Result<Repair, Refusal> {
    let reply = match payload {
        Payload::Structured(Value::String(text)) | Payload::Text(text) => find_reply(text),
        Payload::Structured(value) => find_within(value, &read_reply),
        Payload::Review(_) | Payload::Rendered { .. } => None,
    };
    let reply = reply.ok_or(Refusal::NoReply)?;
    if !reply.fixable {
        return Err(Refusal::Unfixable);
    }
    if reply.confidence == RepairConfidence::Low {
        return Err(Refusal::LowConfidence);
    }
    let review = reply.review.ok_or(Refusal::Unfixable)?;
    let result = read_result(&review).map_err(Refusal::Misfit)?;
    compare(answer, &result).map_err(Refusal::Unfaithful)?;
    Ok(Repair {
        result,
        confidence: reply.confidence,
    })
}

/// A reply as JSON spells it. `review` may be left out for `null`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    fixable: bool,
    confidence: RepairConfidence,
    review: Option<Value>,
}

fn read_reply(value: &Value) -> Option<Reply> {
    Reply::deserialize(value).ok()
}

/// Finds the reply in a text: the text as a whole, perhaps wrapped, else the last object in it.
fn find_reply(text: &str) -> Option<Reply> {
    let text = mend_surrogates(trim_answer(text));
    match parse_json(&text) {
        Ok(Value::String(inner)) => return read_reply(&parse_json(&inner).ok()?),
        Ok(value) => return find_within(&value, &read_reply),
        // A transcription with a part that stands twice cannot be relied on.
        Err(JsonError::DuplicateKey(_)) => return None,
        Err(JsonError::Syntax(_)) => {}
    }
    let mut end = text.len();
    for _ in 0..MAX_STARTS {
        let start = last_start(&text[..end])?;
        let mut stream = Deserializer::from_str(&text[start..]).into_iter::<Reply>();
        if let Some(Ok(reply)) = stream.next()
            && duplicate_key(&text[start..]).is_none()
        {
            return Some(reply);
        }
        end = start;
    }
    None
}

/// Returns where the last `{` is that one of the keys of a reply follows.
fn last_start(text: &str) -> Option<usize> {
    let is_start = |start: usize| {
        let inside = text[start + 1..].trim_start();
        let key = inside.strip_prefix('"').unwrap_or_default();
        KEYS.iter().any(|name| {
            let after = key.strip_prefix(name);
            after.is_some_and(|after| after.starts_with('"'))
        })
    };
    let braces = text.bytes().enumerate().rev();
    braces
        .filter(|&(_, byte)| byte == b'{')
        .map(|(start, _)| start)
        .find(|&start| is_start(start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::samples::answer;
    use proptest::prelude::*;

    fn reply(fixable: bool, confidence: &str, review: &Value) -> Value {
        json!({ "fixable": fixable, "confidence": confidence, "review": review })
    }

    fn text(text: &impl ToString) -> Payload {
        Payload::Text(text.to_string())
    }

    #[test]
    fn sure_replies_are_accepted_however_they_come() {
        for (confidence, sure) in [
            ("high", RepairConfidence::High),
            ("medium", RepairConfidence::Medium),
        ] {
            let reply = reply(true, confidence, &answer());
            for payload in [
                Payload::Structured(reply.clone()),
                Payload::Structured(json!({ "structured_output": reply })),
                Payload::Structured(reply.to_string().into()),
                text(&reply),
                text(&json!({ "result": reply })),
                text(&format!("```json\n{reply:#}\n```\n")),
                text(&format!(
                    "Here {{it}} is:\n{reply}\nDone {{\"review\": 1}}."
                )),
            ] {
                let repair = read_repair(&payload, "").unwrap();
                assert_eq!(repair.confidence, sure);
                assert_eq!(repair.result, read_result(&answer()).unwrap());
            }
        }
    }

    #[test]
    fn doubtful_replies_are_refused() {
        let mut misfit = answer();
        misfit["findings"][0]["priority"] = json!(7);
        let misfit_error = read_result(&misfit).unwrap_err();
        let mut extra = reply(true, "high", &answer());
        extra["note"] = json!("x");
        for (value, refusal) in [
            (reply(false, "high", &answer()), Refusal::Unfixable),
            (reply(true, "high", &Value::Null), Refusal::Unfixable),
            (reply(true, "low", &answer()), Refusal::LowConfidence),
            (reply(true, "high", &misfit), Refusal::Misfit(misfit_error)),
            (reply(true, "sure", &answer()), Refusal::NoReply),
            (extra, Refusal::NoReply),
            (answer(), Refusal::NoReply),
            (json!([]), Refusal::NoReply),
        ] {
            assert_eq!(
                read_repair(&text(&value), "").unwrap_err(),
                refusal,
                "{value}"
            );
            let payload = Payload::Structured(value);
            assert_eq!(read_repair(&payload, "").unwrap_err(), refusal);
        }
        for prose in ["", "I cannot.", "{\"fixable\": true", "{\"review\":"] {
            assert_eq!(
                read_repair(&text(&prose), "").unwrap_err(),
                Refusal::NoReply
            );
        }
    }

    #[test]
    fn a_reply_that_says_something_else_is_refused() {
        let none = json!({
            "findings": [],
            "overall_correctness": "patch is incorrect",
            "overall_explanation": "x",
            "overall_confidence_score": 0.5,
        });
        let mut half = answer().to_string();
        half.pop();
        let faithful = text(&reply(true, "high", &answer()));
        assert!(read_repair(&faithful, &half).is_ok());
        let emptied = text(&reply(true, "high", &none));
        assert_eq!(
            read_repair(&emptied, &half).unwrap_err(),
            Refusal::Unfaithful(Difference::LeavesOut)
        );
    }

    #[test]
    fn a_bare_review_is_no_reply() {
        let review = Payload::Review(read_result(&answer()).unwrap());
        assert_eq!(read_repair(&review, "").unwrap_err(), Refusal::NoReply);
    }

    #[test]
    fn the_schema_takes_what_is_accepted() {
        let validator = jsonschema::validator_for(repair_schema()).unwrap();
        let mut nullable = answer();
        nullable["findings"][0]["priority"] = Value::Null;
        assert!(validator.is_valid(&reply(true, "high", &nullable)));
        assert!(validator.is_valid(&reply(false, "low", &Value::Null)));
        assert!(!validator.is_valid(&json!({ "fixable": true })));
    }

    #[test]
    fn megabytes_of_beginnings_take_no_time() {
        assert!(find_reply(&"{\"review\":".repeat(200_000)).is_none());
        assert!(find_reply(&"{\"review\":[".repeat(200_000)).is_none());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn any_text_is_read_or_refused(
            text in "([{}\",: é]|\"fixable\":|\"confidence\":|\"review\":|true|null){0,60}"
        ) {
            if let Ok(repair) = read_repair(&Payload::Text(text), "") {
                prop_assert_ne!(repair.confidence, RepairConfidence::Low);
            }
        }
    }
}
