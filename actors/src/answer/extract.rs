//! Finds the result object in an engine's text.
//!
//! Models put prose, code fences, logs and quoted code around their answer, and all of it may hold
//! braces and quotes. So every `{` is a possible start, and the LAST object that fits wins: what
//! comes earlier is an echoed example or a draft. Broken JSON is not repaired; guessing what a
//! model meant could drop a finding.
//!
//! The types that an object is read into also refuse a key that stands twice.
//!
//! The search costs time in proportion to the text, whatever the text is. A start is only tried
//! when one of the result's own keys follows it, and the types it is read into refuse such a start
//! anywhere inside themselves, so no byte is read by more than a few attempts.

use serde_json::Deserializer;

use super::json::{JsonError, mend_surrogates, parse_json};
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
    let text = mend_surrogates(trim_answer(text));
    let misfit = match parse_json(&text) {
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
        // Which of the two is meant is a guess, and so is everything found inside.
        Err(JsonError::DuplicateKey(key)) => return Err(said_twice(&key)),
        Err(JsonError::Syntax(_)) => None,
    };
    let mut search = Search::default();
    match search.last_result(&text, MAX_ENCODINGS) {
        Some(result) => Ok(found(result, ParseMode::ExtractedJson)),
        None => Err(misfit.or(search.misfit).unwrap_or_else(|| {
            SchemaError::new("", "there is no JSON object that looks like a review")
        })),
    }
}

/// Returns why an answer with a key that stands twice is none.
pub(super) fn said_twice(key: &str) -> SchemaError {
    SchemaError::new("", &JsonError::DuplicateKey(key.to_owned()).to_string())
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
                    Err(misfit) => {
                        self.misfit.get_or_insert_with(|| misfit.into());
                    }
                },
                Some(Opening::Escaped) if decode => match last_quote(&bytes[..start]) {
                    Some(quote) => {
                        // Whatever lies between the quote and here is part of the same string.
                        end = quote;
                        let result = read_string(&text[quote..]).and_then(|inner| {
                            self.last_result(&mend_surrogates(&inner), encodings - 1)
                        });
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

/// Returns where the last object begins that starts with one of the result's keys.
pub(super) fn last_opening(bytes: &[u8]) -> Option<usize> {
    let mut end = bytes.len();
    while let Some(start) = bytes[..end].iter().rposition(|&byte| byte == b'{') {
        if opening(&bytes[start + 1..]) == Some(Opening::Plain) {
            return Some(start);
        }
        end = start;
    }
    None
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

/// Why a start led nowhere; only put into words for the start that is reported.
enum Misfit {
    Json(serde_json::Error),
    Schema(SchemaError),
}

impl From<Misfit> for SchemaError {
    fn from(misfit: Misfit) -> Self {
        match misfit {
            Misfit::Json(error) => Self::new("", &error.to_string()),
            Misfit::Schema(error) => error,
        }
    }
}

/// Reads the object that `text` begins with, whatever follows it.
fn read_object(text: &str) -> Result<ReviewResult, Misfit> {
    let mut stream = Deserializer::from_str(text).into_iter::<Answer>();
    if let Some(Err(error)) = stream.next() {
        return Err(Misfit::Json(error));
    }
    let object = &text[..stream.byte_offset()];
    let value = serde_json::from_str(object).map_err(Misfit::Json)?;
    read_result(&value).map_err(Misfit::Schema)
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
mod tests;
