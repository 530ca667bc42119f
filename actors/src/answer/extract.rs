//! Finds the result object in an engine's text.
//!
//! Models put prose, code fences, logs and quoted code around their answer, and all of it may hold
//! braces and quotes. So every `{` is a possible start, and the LAST object that fits wins: what
//! comes earlier is an echoed example or a draft. Broken JSON is not repaired; guessing what a
//! model meant could drop a finding.
//!
//! The search costs time in proportion to the text, whatever the text is. A start is only tried
//! when one of the result's own keys follows it, and the types it is read into refuse such a start
//! anywhere inside themselves, so no byte is read by more than a few attempts.

use serde_json::{Deserializer, Value};

use super::schema::{SchemaError, read_result};
use super::wire::Answer;
use super::wrapper::{find_result, trim_answer};
use crate::model::{ParseMode, ReviewResult};

/// How many times an answer may be wrapped in a JSON string.
const MAX_ENCODINGS: u32 = 4;

/// A result found in text.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// The result.
    pub result: ReviewResult,
    /// Where it was found: never [`ParseMode::FallbackText`].
    pub parse_mode: ParseMode,
}

/// Finds the result in `text`.
///
/// # Errors
///
/// Fails when there is none; the error tells about the object that came closest: the text as a
/// whole when it is JSON, else the last object that starts like a result.
pub fn extract(text: &str) -> Result<Extracted, SchemaError> {
    let text = trim_answer(text);
    let misfit = match serde_json::from_str::<Value>(text) {
        Ok(value) => {
            let misfit = match read_result(&value) {
                Ok(result) => return Ok(found(result, ParseMode::StrictJson)),
                Err(error) => error,
            };
            if let Some(result) = find_result(&value) {
                return Ok(found(result, ParseMode::ToolOutput));
            }
            value.is_object().then_some(misfit)
        }
        Err(_) => None,
    };
    let mut search = Search::default();
    match search.last_result(text, MAX_ENCODINGS) {
        Some(result) => Ok(found(result, ParseMode::ExtractedJson)),
        None => Err(misfit.or(search.misfit).unwrap_or_else(|| {
            SchemaError::new("", "there is no JSON object that looks like a review")
        })),
    }
}

fn found(result: ReviewResult, parse_mode: ParseMode) -> Extracted {
    Extracted { result, parse_mode }
}

/// A search from the end of the text to its beginning.
#[derive(Default)]
struct Search {
    /// Why the last object that starts like a result is none.
    misfit: Option<SchemaError>,
}

impl Search {
    fn last_result(&mut self, text: &str, encodings: u32) -> Option<ReviewResult> {
        let bytes = text.as_bytes();
        let mut decode = encodings > 0;
        let mut end = bytes.len();
        while let Some(start) = bytes[..end].iter().rposition(|&byte| byte == b'{') {
            end = start;
            match opening(&bytes[start + 1..]) {
                Some(Opening::Plain) => match read_object(&text[start..]) {
                    Ok(result) => return Some(result),
                    Err(error) => {
                        self.misfit.get_or_insert(error);
                    }
                },
                Some(Opening::Escaped) if decode => match last_quote(&bytes[..start]) {
                    Some(quote) => {
                        // Whatever lies between the quote and here is part of the same string.
                        end = quote;
                        let result = read_string(&text[quote..])
                            .and_then(|inner| self.last_result(&inner, encodings - 1));
                        if result.is_some() {
                            return result;
                        }
                    }
                    None => decode = false,
                },
                _ => {}
            }
        }
        None
    }
}

/// How a result begins.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Opening {
    /// As JSON does.
    Plain,
    /// As JSON inside a JSON string does.
    Escaped,
}

/// Tells whether one of the result's keys follows a `{`, and how its quote is written.
fn opening(mut rest: &[u8]) -> Option<Opening> {
    let mut escaped = false;
    loop {
        match rest {
            [b' ' | b'\n' | b'\r' | b'\t', tail @ ..] => rest = tail,
            [b'\\', tail @ ..] => {
                escaped = true;
                rest = match tail {
                    // An escaped line end before the first key.
                    [b'n' | b'r' | b't', after @ ..] => after,
                    _ => tail,
                };
            }
            [b'"', key @ ..] => {
                let known = Answer::KEYS.iter().any(|name| {
                    let after = key.strip_prefix(name.as_bytes());
                    after.is_some_and(|after| matches!(after, [b'"' | b'\\', ..]))
                });
                return known.then_some(if escaped {
                    Opening::Escaped
                } else {
                    Opening::Plain
                });
            }
            _ => return None,
        }
    }
}

/// Reads the object that `text` begins with, whatever follows it.
fn read_object(text: &str) -> Result<ReviewResult, SchemaError> {
    let not_json = |error: serde_json::Error| SchemaError::new("", &error.to_string());
    let mut stream = Deserializer::from_str(text).into_iter::<Answer>();
    if let Some(Err(error)) = stream.next() {
        return Err(not_json(error));
    }
    let object = &text[..stream.byte_offset()];
    read_result(&serde_json::from_str(object).map_err(not_json)?)
}

/// Returns the last quote that no backslash escapes.
fn last_quote(bytes: &[u8]) -> Option<usize> {
    let mut end = bytes.len();
    while let Some(quote) = bytes[..end].iter().rposition(|&byte| byte == b'"') {
        let before = &bytes[..quote];
        let slashes = before.iter().rev().take_while(|&&b| b == b'\\').count();
        if slashes % 2 == 0 {
            return Some(quote);
        }
        end = quote;
    }
    None
}

/// Decodes the JSON string that `text` begins with, whatever follows it.
fn read_string(text: &str) -> Option<String> {
    let mut stream = Deserializer::from_str(text).into_iter::<String>();
    stream.next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::samples::{answer, clean_answer};
    use proptest::prelude::*;
    use serde_json::json;

    fn mode(text: &str) -> Option<(ParseMode, usize)> {
        let found = extract(text).ok()?;
        Some((found.parse_mode, found.result.findings.len()))
    }

    fn quoted(text: &str) -> String {
        Value::String(text.to_owned()).to_string()
    }

    #[test]
    fn a_bare_object_is_strict_and_a_wrapped_one_tool_output() {
        let bare = answer().to_string();
        let pretty = serde_json::to_string_pretty(&answer()).unwrap();
        for text in [bare.clone(), format!("\u{feff} {bare}\r\n"), pretty] {
            assert_eq!(mode(&text), Some((ParseMode::StrictJson, 1)));
        }
        for value in [
            json!({ "result": answer() }),
            json!({ "response": { "message": answer() } }),
        ] {
            assert_eq!(mode(&value.to_string()), Some((ParseMode::ToolOutput, 1)));
        }
    }

    #[test]
    fn an_object_is_found_whatever_surrounds_it() {
        let bare = answer().to_string();
        let pretty = serde_json::to_string_pretty(&answer()).unwrap();
        let clean = clean_answer().to_string();
        let twice = quoted(&quoted(&bare));
        for text in [
            format!("In `if (x) {{` the brace opens.\n{bare}"),
            format!("note {{don't \" care}} then\n{bare}"),
            format!("{clean}\n\nFinal:\n{bare}"),
            format!("{bare}\n{{\"findings\": 3}}"),
            format!("Telemetry is on.\n{bare}\nBye {{you}} }}}}"),
            format!("```json\n{pretty}\n```\nDone: `{{ \"findings\": 1`"),
            format!("\u{1b}[1mlog\u{1b}[0m {{\"level\":\"info\"}}\n{bare}"),
            format!("{{\"type\":\"start\"}}\n{{\"type\":\"end\",\"review\":{bare}}}"),
            format!("[{bare}]"),
            format!("{{{{{{{bare}"),
            format!("{{\"findings\": [{bare}"),
            format!("{{\"findings\":\"{bare}"),
            quoted(&bare),
            quoted(&pretty),
            twice,
            json!({ "response": bare.clone() }).to_string(),
            json!({ "text": format!("Here you are:\n{pretty}\n") }).to_string(),
            format!("{{\"a\":1}}\n{}\n{{\"b\":2}}", json!({ "text": pretty })),
            format!("{clean}\n{}", json!({ "text": bare })),
            format!("\\\"{{\\\" {bare}"),
        ] {
            assert_eq!(mode(&text), Some((ParseMode::ExtractedJson, 1)), "{text}");
        }
    }

    #[test]
    fn nothing_is_made_of_text_without_a_fitting_object() {
        let bare = answer().to_string();
        let mut broken = bare.clone();
        broken.insert(broken.len() - 1, ',');
        for text in [
            "",
            "All good, nothing to say.",
            "{}",
            "null",
            "{\"summary\": \"clean\"}",
            "{\"findings\": []}",
            &broken,
            &bare[..bare.len() - 1],
            &bare.replace("0.8", "1.5"),
            &bare.replace("\"body\"", "\"severity\":\"high\",\"body\""),
            &bare.replace("findings", "comments"),
            &bare.replace("{\"findings\"", "{findings"),
            &bare.replace("returns Infinity", "matches \\s+"),
            &bare.replace("returns Infinity", "returns\nInfinity"),
        ] {
            assert_eq!(mode(text), None, "{text}");
        }
    }

    #[test]
    fn the_error_tells_about_the_object_that_came_closest() {
        let bare = answer().to_string();
        let strict = extract(&bare.replace("0.8", "1.5")).unwrap_err();
        assert_eq!(strict.path, "overall_confidence_score");
        let inside = extract(&format!("So: {}", bare.replace("0.8", "1.5"))).unwrap_err();
        assert_eq!(inside.path, "overall_confidence_score");
        let prose = extract("All good.").unwrap_err();
        assert!(prose.problem.contains("no JSON object"));
    }

    #[test]
    fn a_finding_may_say_anything_about_findings() {
        let mut value = answer();
        value["findings"][0]["body"] = json!("no findings: {\"findings\": []} and `{` and \"");
        assert_eq!(
            mode(&format!("x {value} y")),
            Some((ParseMode::ExtractedJson, 1))
        );
    }

    #[test]
    fn hostile_text_is_searched_in_linear_time() {
        let size = 500_000;
        for unit in [
            "{",
            "{\"findings\":",
            "{\"findings\":[",
            "{\"findings\":[{\"title\":\"",
            "{\\\"findings\\\":",
            "{\\\\\\\"findings\\\":\"",
            "\"{\\\"findings\\\":\"",
            "{\"overall_explanation\":\"",
            "{\\n\\n\\\\\\\\",
            "{\"findings\":[],\"a\":{\"b\":[1,",
            "\\\"",
            "[",
            "{\"response\":",
        ] {
            let text = unit.repeat(size / unit.len());
            assert_eq!(mode(&text), None, "{unit}");
            let text = format!("{text}\n{}", answer());
            assert_eq!(mode(&text), Some((ParseMode::ExtractedJson, 1)), "{unit}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn an_object_after_any_text_is_found(
            noise in "[a-z{}\\[\\]\"'`:,\\\\ \n0-9]{0,80}",
            tail in "[a-z}\\]`:, \n0-9]{0,40}",
        ) {
            let text = format!("{noise}{}{tail}", answer());
            prop_assert_eq!(extract(&text).unwrap().result.findings.len(), 1);
        }

        #[test]
        fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let text = String::from_utf8_lossy(&bytes);
            prop_assert!(extract(&text).is_err());
        }

        #[test]
        fn mangled_answers_never_panic(
            cut in 0_usize..400,
            insert in "[{}\"\\\\\\[\\],:a-z\u{e9}\u{feff}]{0,6}",
            encoded: bool,
        ) {
            let mut text = answer().to_string();
            if encoded {
                text = quoted(&text);
            }
            let at = cut.min(text.len());
            text.insert_str(at, &insert);
            if let Ok(found) = extract(&text) {
                prop_assert!(found.parse_mode != ParseMode::FallbackText);
            }
        }
    }
}
