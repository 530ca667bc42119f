//! From what an engine hands back to a result (SPEC 7.6, 9.3).
//!
//! What must stay true: an answer that cannot be read is text with the verdict `unknown` and
//! confidence 0, an answer that says nothing or declines is a failure, and no verdict is ever read
//! from prose.

use serde_json::Value;

use super::extract::extract;
use super::schema::{SchemaError, read_result};
use super::vacuous::is_refusal;
use super::wrapper::{find_result, trim_answer};
use crate::engine::Payload;
use crate::model::{ErrorCode, Failure, ParseMode, Reason, ReviewResult, Score, Verdict};

/// How many characters of a refusal a failure quotes.
const MAX_QUOTE: usize = 200;

/// An answer that was read, perhaps only as prose.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The result.
    pub result: ReviewResult,
    /// How it was read.
    pub parse_mode: ParseMode,
    /// Whether the answer fits the schema; false for prose alone.
    pub valid_schema: bool,
    /// The text that was parsed, without blanks at its ends; absent for structured answers.
    pub raw_text: Option<String>,
    /// Why the answer could only be kept as prose.
    pub problem: Option<SchemaError>,
}

/// Reads an answer.
///
/// # Errors
///
/// Fails when the engine said nothing, or nothing but that it declines: neither is a review without
/// findings.
pub fn parse_payload(payload: Payload) -> Result<Parsed, Failure> {
    match payload {
        Payload::Review(result) => Ok(structured(result)),
        Payload::Rendered { text, result } => read_rendered(&text, result),
        Payload::Text(text) | Payload::Structured(Value::String(text)) => parse_text(&text),
        Payload::Structured(Value::Null) => Err(empty_answer()),
        Payload::Structured(value) => Ok(parse_value(&value)),
    }
}

fn parse_value(value: &Value) -> Parsed {
    match find_result(value) {
        Some(result) => structured(result),
        None => prose(&value.to_string(), read_result(value).err()),
    }
}

fn parse_text(text: &str) -> Result<Parsed, Failure> {
    let text = trim_answer(text);
    if text.is_empty() {
        return Err(empty_answer());
    }
    Ok(match extract(text) {
        Ok(found) if found.parse_mode == ParseMode::ToolOutput => structured(found.result),
        Ok(found) => Parsed {
            result: found.result,
            parse_mode: found.parse_mode,
            valid_schema: true,
            raw_text: Some(text.to_owned()),
            problem: None,
        },
        Err(_) if is_refusal(text) => return Err(refused(text)),
        Err(problem) => prose(text, Some(problem)),
    })
}

/// Reads a review that the engine rendered as text. There is no problem to mend: the text is all
/// that the engine has.
fn read_rendered(text: &str, result: ReviewResult) -> Result<Parsed, Failure> {
    let text = trim_answer(text);
    if text.is_empty() {
        return Err(empty_answer());
    }
    if result.findings.is_empty() && is_refusal(text) {
        return Err(refused(text));
    }
    Ok(Parsed {
        result,
        problem: None,
        ..prose(text, None)
    })
}

fn structured(result: ReviewResult) -> Parsed {
    Parsed {
        result,
        parse_mode: ParseMode::ToolOutput,
        valid_schema: true,
        raw_text: None,
        problem: None,
    }
}

fn prose(text: &str, problem: Option<SchemaError>) -> Parsed {
    Parsed {
        result: ReviewResult {
            findings: Vec::new(),
            overall_correctness: Verdict::Unknown.as_str().to_owned(),
            overall_explanation: text.to_owned(),
            overall_confidence_score: Score(0.0),
        },
        parse_mode: ParseMode::FallbackText,
        valid_schema: false,
        raw_text: Some(text.to_owned()),
        problem,
    }
}

fn empty_answer() -> Failure {
    Failure::new(ErrorCode::ReviewerFailed, "the engine's answer is empty")
        .reason(Reason::Empty)
        .hint("an empty answer is not a review; run it again or choose another model")
}

/// The failure of a model that declines, in its own words.
fn refused(text: &str) -> Failure {
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    let end = words.char_indices().nth(MAX_QUOTE);
    let quote = end.map_or(words.clone(), |(end, _)| format!("{}...", &words[..end]));
    Failure::new(
        ErrorCode::ReviewerFailed,
        format!("the model declined to review: {quote}"),
    )
    .reason(Reason::Refused)
    .hint("read what it says; another model may take the same change")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::samples::{answer, clean_answer};
    use crate::answer::wrapper::read_output;
    use serde_json::json;

    fn text(text: &str) -> Parsed {
        parse_payload(Payload::Text(text.to_owned())).unwrap()
    }

    /// What an engine with JSON output and this reply ends as.
    fn reply(reply: &str) -> Parsed {
        parse_payload(read_output(reply).0).unwrap()
    }

    #[test]
    fn a_rendered_review_is_text_with_what_was_read_of_it() {
        let read = |text: &str, findings: bool| {
            let mut result = structured(read_result(&answer()).unwrap()).result;
            if !findings {
                result.findings.clear();
            }
            let text = text.to_owned();
            parse_payload(Payload::Rendered { text, result })
        };
        let parsed = read(" One bug.\n\nReview comment:\n ", true).unwrap();
        assert_eq!(parsed.parse_mode, ParseMode::FallbackText);
        assert!(!parsed.valid_schema);
        assert_eq!(parsed.result.findings.len(), 1);
        assert_eq!(
            parsed.raw_text.as_deref(),
            Some("One bug.\n\nReview comment:")
        );
        assert_eq!(parsed.problem, None, "there is nothing to transcribe");
        let refusal = "I'm sorry, but I can't help with that.";
        for (text, reason) in [(" \n", Reason::Empty), (refusal, Reason::Refused)] {
            assert_eq!(read(text, false).unwrap_err().reason, Some(reason));
        }
        assert!(read(refusal, true).is_ok());
    }

    fn assert_prose(parsed: &Parsed, text: &str) {
        assert_eq!(parsed.parse_mode, ParseMode::FallbackText);
        assert!(!parsed.valid_schema);
        assert!(parsed.result.findings.is_empty());
        assert_eq!(parsed.result.overall_correctness, "unknown");
        assert_eq!(parsed.result.overall_explanation, text);
        assert_eq!(parsed.result.overall_confidence_score, Score(0.0));
        assert_eq!(parsed.raw_text.as_deref(), Some(text));
        assert!(parsed.problem.is_some());
    }

    #[test]
    fn structured_replies_carry_no_raw_text() {
        let bare = answer().to_string();
        let no_priority = bare.replace("\"priority\":1,", "");
        assert_ne!(bare, no_priority);
        for (reply_text, priority) in [
            (bare.clone(), true),
            (no_priority, false),
            (json!({ "result": answer() }).to_string(), true),
            (
                json!({ "response": { "message": answer() } }).to_string(),
                true,
            ),
        ] {
            let parsed = reply(&reply_text);
            assert_eq!(parsed.parse_mode, ParseMode::ToolOutput);
            assert!(parsed.valid_schema);
            assert_eq!(parsed.raw_text, None);
            assert_eq!(parsed.result.findings.len(), 1);
            assert_eq!(parsed.result.findings[0].priority.is_some(), priority);
        }
        let wrapped = json!({ "type": "result", "result": bare });
        let parsed = reply(&wrapped.to_string());
        assert_eq!(parsed.parse_mode, ParseMode::StrictJson);
        assert_eq!(parsed.raw_text, Some(bare));
    }

    #[test]
    fn replies_with_other_text_are_extracted_and_kept() {
        let bare = answer().to_string();
        for reply_text in [
            format!("{}\n\nFinal:\n{bare}\n", clean_answer()),
            format!("{bare}\n{{\"findings\": 3}}\n"),
            format!("In `if (x) {{` the brace opens.\n{bare}\n"),
            format!("note {{don't \" care}} then\n{bare}\n"),
        ] {
            let parsed = reply(&reply_text);
            assert_eq!(parsed.parse_mode, ParseMode::ExtractedJson);
            assert!(parsed.valid_schema);
            assert_eq!(parsed.result.findings.len(), 1);
            assert_eq!(parsed.raw_text.as_deref(), Some(reply_text.trim()));
        }
    }

    #[test]
    fn a_text_that_only_declines_is_a_failure() {
        for text in [
            "I cannot help with that request.",
            " I'm sorry,\nbut I can't assist with this. ",
        ] {
            let failure = parse_payload(Payload::Text(text.to_owned())).unwrap_err();
            assert_eq!(failure.code, ErrorCode::ReviewerFailed);
            assert_eq!(failure.reason, Some(Reason::Refused));
            assert!(failure.message.contains("declined"), "{failure}");
        }
        let quoting = "The bot now answers \"I cannot help with that request.\", as it should.";
        assert_prose(&text(quoting), quoting);
        // What has findings is a review, whatever is said around it.
        let answered = text(&format!("I cannot help with that request.\n{}", answer()));
        assert_eq!(answered.result.findings.len(), 1);
    }

    #[test]
    fn an_answer_that_says_a_thing_twice_is_prose() {
        let whole = answer().to_string();
        let late = whole.replacen(
            "\"overall_correctness\"",
            "\"overall_correctness\":\"patch is correct\",\"findings\":[],\"overall_correctness\"",
            1,
        );
        let mut last = whole.clone();
        last.insert_str(last.len() - 1, ",\"findings\":[]");
        let inside = whole.replacen("\"priority\":1", "\"priority\":1,\"priority\":3", 1);
        for doubled in [late, last, inside] {
            assert_ne!(doubled, whole);
            for reply_text in [
                doubled.clone(),
                format!("Here:\n{doubled}"),
                format!("{{\"result\":{doubled}}}"),
            ] {
                let parsed = reply(&reply_text);
                assert_prose(&parsed, &reply_text);
                assert_eq!(text(&reply_text), parsed);
                let problem = parsed.problem.unwrap().problem;
                assert!(
                    problem.contains("stands twice") || problem.contains("duplicate"),
                    "{problem}"
                );
                assert_eq!(crate::answer::salvage(&reply_text), None);
            }
            let wrapped = json!({ "result": doubled }).to_string();
            assert_prose(&reply(&wrapped), &doubled);
        }
        // Nor may the envelope say twice what the answer is.
        let twice = format!("{{\"result\":{whole},\"result\":{}}}", clean_answer());
        assert_prose(&reply(&twice), &twice);
    }

    #[test]
    fn one_odd_character_or_number_costs_no_finding() {
        let whole = answer().to_string();
        let halved = whole.replace("returns Infinity", "returns \\ud83d Infinity");
        let far = whole.replace("\"end\":6", "\"end\":4294967296");
        for odd in [halved.clone(), far] {
            assert_ne!(odd, whole);
            let wrapped = json!({ "text": odd }).to_string();
            let quoted = Value::String(odd.clone()).to_string();
            for reply_text in [odd.clone(), format!("Here:\n{odd}"), wrapped, quoted] {
                let parsed = reply(&reply_text);
                assert!(parsed.valid_schema, "{reply_text}: {:?}", parsed.problem);
                assert_eq!(parsed.result.findings.len(), 1);
            }
        }
        let body = &text(&halved).result.findings[0].body;
        assert!(body.contains("returns \u{fffd} Infinity"), "{body}");
    }

    #[test]
    fn replies_that_do_not_fit_stay_prose() {
        let bare = answer().to_string();
        let mut comma = bare.clone();
        comma.insert(comma.len() - 1, ',');
        for reply_text in [
            "I looked at everything and it is fine.".to_owned(),
            bare.replace("0.8", "1.5"),
            bare.replace("\"body\"", "\"severity\": \"high\", \"body\""),
            comma,
        ] {
            assert_prose(&reply(&format!("{reply_text}\n")), &reply_text);
            assert_prose(&text(&format!("{reply_text}\n")), &reply_text);
        }
    }

    #[test]
    fn verdicts_in_prose_are_not_verdicts() {
        for prose in ["patch is correct", "No issues found.", "LGTM, no findings"] {
            assert_prose(&text(prose), prose);
        }
    }

    #[test]
    fn text_that_is_the_object_is_strict() {
        let bare = answer().to_string();
        for payload in [
            Payload::Text(format!(" {bare}\n")),
            Payload::Structured(Value::String(bare.clone())),
        ] {
            let parsed = parse_payload(payload).unwrap();
            assert_eq!(parsed.parse_mode, ParseMode::StrictJson);
            assert_eq!(parsed.raw_text.as_ref(), Some(&bare));
        }
    }

    #[test]
    fn structured_values_fit_or_stay_their_own_text() {
        let parsed = parse_payload(Payload::Structured(answer())).unwrap();
        assert_eq!(parsed.parse_mode, ParseMode::ToolOutput);
        let misfit = json!({ "findings": 3 });
        let parsed = parse_payload(Payload::Structured(misfit)).unwrap();
        assert_prose(&parsed, "{\"findings\":3}");
    }

    #[test]
    fn an_empty_answer_is_a_failure() {
        for payload in [
            Payload::Text(String::new()),
            Payload::Text(" \u{feff}\n\t".to_owned()),
            Payload::Structured(Value::Null),
            Payload::Structured(json!("")),
        ] {
            let failure = parse_payload(payload).unwrap_err();
            assert_eq!(failure.code, ErrorCode::ReviewerFailed);
            assert_eq!(failure.reason, Some(Reason::Empty));
            assert_eq!(failure.exit_code(), 3);
        }
    }
}
