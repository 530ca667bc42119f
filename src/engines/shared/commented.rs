//! JSON as people write it into the settings of engines: with comments and trailing commas.

use serde_json::Value;

/// Parses JSON that may hold comments and trailing commas; blank text is `null`.
///
/// # Errors
///
/// Tells the line of the first mistake, and nothing of what stands there: it may be a key.
pub(in crate::engines) fn parse_commented_json(bytes: &[u8]) -> Result<Value, String> {
    let plain = plain(bytes);
    if plain.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&plain)
        .map_err(|error| format!("it is not JSON (line {})", error.line()))
}

/// Blanks comments and trailing commas; line feeds stay.
fn plain(bytes: &[u8]) -> Vec<u8> {
    let mut plain = bytes.to_vec();
    let mut comma = None;
    let mut at = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let (length, is_comment) = match rest {
            [b'"', ..] => (text_length(rest), false),
            [b'/', b'/', ..] => (length_to(rest, b"\n"), true),
            [b'/', b'*', ..] => (2 + length_to(&rest[2..], b"*/") + 2, true),
            _ => (1, false),
        };
        let end = (at + length).min(plain.len());
        if is_comment {
            for byte in plain[at..end].iter_mut().filter(|byte| **byte != b'\n') {
                *byte = b' ';
            }
        } else if let (b']' | b'}', Some(comma)) = (rest[0], comma) {
            let place: usize = comma;
            plain[place] = b' ';
        }
        if !is_comment && !rest[0].is_ascii_whitespace() {
            comma = (rest[0] == b',').then_some(at);
        }
        at = end;
    }
    plain
}

/// Returns the length of the JSON text that `bytes` begin with, both quotes included.
fn text_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns how many bytes stand before the first `end`, or all.
fn length_to(bytes: &[u8], end: &[u8]) -> usize {
    let found = bytes.windows(end.len()).position(|window| window == end);
    found.unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn comments_and_trailing_commas_are_no_part_of_the_value() {
        let text = br#"{"a": ["//", 1, /* x, */ ], // y
            "b": "\"/*" , }"#;
        let value = parse_commented_json(text).unwrap();
        assert_eq!(value, json!({"a": ["//", 1], "b": "\"/*"}));
        assert_eq!(parse_commented_json(b" // x").unwrap(), Value::Null);
    }

    #[test]
    fn a_mistake_is_told_by_its_line() {
        let problem = parse_commented_json(b"{\n/*\n*/ secret}").unwrap_err();
        assert_eq!(problem, "it is not JSON (line 3)");
    }

    proptest! {
        #[test]
        fn any_text_is_taken_or_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..64),
            text in "[/*\"\\\\{}:,a\n \\]]{0,60}",
        ) {
            for bytes in [bytes.as_slice(), text.as_bytes()] {
                prop_assert_eq!(plain(bytes).len(), bytes.len());
                if let Err(problem) = parse_commented_json(bytes) {
                    prop_assert!(problem.starts_with("it is not JSON (line "));
                }
            }
        }

        #[test]
        fn plain_json_is_not_touched(text in "[/*a\"\\\\,}]{0,40}") {
            let json = serde_json::to_vec(&json!([text, 1])).unwrap();
            prop_assert_eq!(plain(&json), json);
        }
    }
}
