//! What can be kept of an answer that does not fit as a whole (SPEC 10): the findings that fit one
//! by one.
//!
//! What must stay true: nothing is mended. A finding is kept exactly as it was read or not at all,
//! and an answer whose verdict or confidence does not fit yields nothing.

use serde_json::{Deserializer, Value, json};

use super::extract::last_opening;
use super::json::{JsonError, duplicate_key, mend_surrogates, parse_json};
use super::schema::read_result;
use super::wrapper::{find_within, trim_answer};
use crate::model::ReviewResult;

/// How many possible beginnings of an object are tried in a text, from its end on.
const MAX_STARTS: usize = 16;

/// The part of an answer that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Salvaged {
    /// The answer with the findings that fit; at least one.
    pub result: ReviewResult,
    /// How many findings did not fit; at least one.
    pub dropped: usize,
}

/// Returns what fits of an answer that could only be kept as text.
///
/// The answer has to be a result but for its findings, of which at least one has to fit.
pub fn salvage(text: &str) -> Option<Salvaged> {
    let text = mend_surrogates(trim_answer(text));
    match parse_json(&text) {
        Ok(value) => find_within(&value, &salvage_object),
        // A key that stands twice has lost one of its values.
        Err(JsonError::DuplicateKey(_)) => None,
        Err(JsonError::Syntax(_)) => last_salvageable(&text),
    }
}

fn last_salvageable(text: &str) -> Option<Salvaged> {
    let mut end = text.len();
    for _ in 0..MAX_STARTS {
        let start = last_opening(&text.as_bytes()[..end])?;
        let mut stream = Deserializer::from_str(&text[start..]).into_iter::<Value>();
        let salvaged = match stream.next() {
            Some(Ok(value)) if duplicate_key(&text[start..]).is_none() => salvage_object(&value),
            _ => None,
        };
        if salvaged.is_some() {
            return salvaged;
        }
        end = start;
    }
    None
}

fn salvage_object(value: &Value) -> Option<Salvaged> {
    let findings = value.get("findings")?.as_array()?;
    let mut outer = value.clone();
    outer["findings"] = json!([]);
    let mut result = read_result(&outer).ok()?;
    for finding in findings {
        outer["findings"] = json!([finding]);
        if let Ok(one) = read_result(&outer) {
            result.findings.extend(one.findings);
        }
    }
    let dropped = findings.len() - result.findings.len();
    (!result.findings.is_empty() && dropped > 0).then_some(Salvaged { result, dropped })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::extract::extract;
    use crate::answer::samples::answer;
    use proptest::prelude::*;

    /// An answer of one finding that fits and one that does not.
    fn mixed() -> Value {
        let mut mixed = answer();
        let good = mixed["findings"][0].clone();
        let mut bad = good.clone();
        bad["priority"] = json!(7);
        mixed["findings"] = json!([bad, good]);
        mixed
    }

    #[test]
    fn findings_that_fit_are_kept_as_they_are() {
        let whole = read_result(&answer()).unwrap();
        for text in [
            mixed().to_string(),
            json!({ "result": mixed() }).to_string(),
            format!("My review:\n```json\n{}\n```\nDone.", mixed()),
            format!("{{\"findings\": 3}}\n{}\n{{\"findings\": [}}", mixed()),
        ] {
            assert!(extract(&text).is_err());
            let salvaged = salvage(&text).unwrap();
            assert_eq!(salvaged.result, whole, "{text}");
            assert_eq!(salvaged.dropped, 1);
        }
    }

    #[test]
    fn nothing_is_kept_of_other_answers() {
        let mut none_fits = mixed();
        none_fits["findings"].as_array_mut().unwrap().pop();
        let mut odd_score = mixed();
        odd_score["overall_confidence_score"] = json!(1.5);
        let mut extra = mixed();
        extra["note"] = json!("x");
        let mut cut = mixed().to_string();
        cut.pop();
        for text in [
            none_fits.to_string(),
            odd_score.to_string(),
            extra.to_string(),
            cut,
            answer().to_string(),
            "prose".to_owned(),
            "{\"findings\": 3}".to_owned(),
            String::new(),
        ] {
            assert_eq!(salvage(&text), None, "{text}");
        }
    }

    #[test]
    fn megabytes_of_beginnings_take_no_time() {
        assert_eq!(salvage(&"{\"findings\":[".repeat(200_000)), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn any_text_is_salvaged_or_not(text in "([{}\\[\\]\",: é]|\"findings\":|true|null){0,60}") {
            prop_assert_eq!(salvage(&text), None);
        }
    }
}
