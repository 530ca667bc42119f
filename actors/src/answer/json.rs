//! Reads JSON that a model wrote.
//!
//! Two things that JSON libraries let pass, or refuse, would cost findings. A key that stands twice
//! in an object silently loses its first value, which may be the list with the findings: such a
//! text is no answer. And half of a surrogate pair (`\ud800`), which models write when they cut an
//! emoji in two, makes a whole text unreadable: it becomes U+FFFD.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

/// How a half of a surrogate pair is replaced, as JSON spells it.
const REPLACEMENT: &str = "\\ufffd";

/// How many bytes `\uXXXX` has.
const ESCAPE: usize = 6;

/// Why a text is no JSON value that can be relied on.
#[derive(Debug)]
pub enum JsonError {
    /// It is not JSON.
    Syntax(serde_json::Error),
    /// This key stands more than once in one object.
    DuplicateKey(String),
}

impl fmt::Display for JsonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => error.fmt(f),
            Self::DuplicateKey(key) => write!(f, "the key `{key}` stands twice in one object"),
        }
    }
}

impl std::error::Error for JsonError {}

/// Reads a text that is one JSON value.
///
/// # Errors
///
/// Fails when it is not, and when an object in it has a key twice.
pub fn parse_json(text: &str) -> Result<Value, JsonError> {
    let text = mend_surrogates(text);
    let value = serde_json::from_str(&text).map_err(JsonError::Syntax)?;
    match duplicate_key(&text) {
        Some(key) => Err(JsonError::DuplicateKey(key)),
        None => Ok(value),
    }
}

/// Returns the first key that stands twice in one object of the JSON value that `text` begins with.
pub(super) fn duplicate_key(text: &str) -> Option<String> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Keys>();
    stream.next()?.ok()?.duplicate
}

/// Replaces every half of a surrogate pair. What has none stays as it is.
///
/// A string that this leaves alone is read as before, and one that it changes could not be read.
pub(super) fn mend_surrogates(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let (mut mended, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(found) = bytes[at..].iter().position(|&byte| byte == b'\\') {
        let start = at + found;
        at = match surrogate(&bytes[start..]) {
            Some(Half::High) if matches!(surrogate(&bytes[start + ESCAPE..]), Some(Half::Low)) => {
                start + 2 * ESCAPE
            }
            Some(_) => {
                mended.push_str(&text[copied..start]);
                mended.push_str(REPLACEMENT);
                copied = start + ESCAPE;
                copied
            }
            // The byte after a backslash belongs to it, a second backslash above all.
            None => bytes.len().min(start + 2),
        };
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    mended.push_str(&text[copied..]);
    Cow::Owned(mended)
}

enum Half {
    High,
    Low,
}

/// Tells which half of a pair the bytes begin with, if they begin with the escape of one.
fn surrogate(bytes: &[u8]) -> Option<Half> {
    let [b'\\', b'u', first, second, third, fourth, ..] = bytes else {
        return None;
    };
    let is_half =
        matches!(first, b'd' | b'D') && [third, fourth].iter().all(|b| b.is_ascii_hexdigit());
    match second {
        b'8' | b'9' | b'a' | b'b' | b'A' | b'B' if is_half => Some(Half::High),
        b'c'..=b'f' | b'C'..=b'F' if is_half => Some(Half::Low),
        _ => None,
    }
}

/// The keys of a value, of which only the first one that stands twice is kept.
struct Keys {
    duplicate: Option<String>,
}

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let duplicate = deserializer.deserialize_any(KeysVisitor)?;
        Ok(Self { duplicate })
    }
}

struct KeysVisitor;

impl<'de> Visitor<'de> for KeysVisitor {
    type Value = Option<String>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut seen, mut duplicate) = (HashSet::new(), None);
        while let Some(key) = map.next_key::<String>()? {
            let inside = map.next_value::<Keys>()?.duplicate;
            if duplicate.is_some() {
                continue;
            }
            if seen.contains(&key) {
                duplicate = Some(key);
            } else {
                duplicate = inside;
                seen.insert(key);
            }
        }
        Ok(duplicate)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut duplicate = None;
        while let Some(item) = items.next_element::<Keys>()? {
            duplicate = duplicate.or(item.duplicate);
        }
        Ok(duplicate)
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self::Value, E> {
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_key_that_stands_twice_is_named_wherever_it_is() {
        for (text, key) in [
            (r#"{"a":1,"a":2}"#, "a"),
            (r#"{"a":{"b":1},"c":[0,{"b":[],"b":[1]}]}"#, "b"),
            (r#"{"a":1,"\u0061":2}"#, "a"),
            (r#"[[{"x":null,"y":true,"x":1.5}]]"#, "x"),
        ] {
            let error = parse_json(text).unwrap_err();
            assert!(
                matches!(&error, JsonError::DuplicateKey(found) if found == key),
                "{text}: {error}"
            );
        }
        for text in [
            r#"{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}"#,
            "[]",
            "-1",
            "null",
            "\"a\"",
        ] {
            assert!(parse_json(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_told_apart_from_what_says_things_twice() {
        for text in [r#"{"a":1,"a":2} and more"#, r#"{"a":1,"a":"#, "prose", ""] {
            assert!(
                matches!(parse_json(text), Err(JsonError::Syntax(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn halves_of_pairs_are_replaced_and_nothing_else_is() {
        for (text, mended) in [
            (r#""\ud800""#, r#""\ufffd""#),
            (r#""a\uDFFFb""#, r#""a\ufffdb""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (
                r#""\ud83d\ud83d\ude00\ude00""#,
                r#""\ufffd\ud83d\ude00\ufffd""#,
            ),
            (r#""\ud800\u0041""#, r#""\ufffd\u0041""#),
            (r#""\\ud800""#, r#""\\ud800""#),
            (r#""\\\ud800""#, r#""\\\ufffd""#),
            (r#""\ud8""#, r#""\ud8""#),
            (r"\", r"\"),
            (r"\é\ud800", r"\é\ufffd"),
        ] {
            assert_eq!(mend_surrogates(text), mended);
        }
        assert_eq!(parse_json(r#"["\ud800x"]"#).unwrap()[0], "\u{fffd}x");
    }

    #[test]
    fn megabytes_take_no_time() {
        assert!(parse_json(&"{\"a\":".repeat(200_000)).is_err());
        assert_eq!(mend_surrogates(&r"\ud800".repeat(200_000)).len(), 1_200_000);
        let wide: Vec<String> = (0..100_000).map(|n| format!("\"k{n}\":{n}")).collect();
        assert!(parse_json(&format!("{{{}}}", wide.join(","))).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn readable_text_is_read_as_the_library_reads_it(
            text in "([{}\\[\\],:\" ]|\"[ab]\":|1|null|\\\\u[dD][89abcdef][0-9a-f]{2}|\\\\\\\\|é){0,30}",
        ) {
            let text = format!("[{text}]");
            if let Ok(value) = serde_json::from_str::<Value>(&text) {
                prop_assert_eq!(mend_surrogates(&text), text.as_str());
                match parse_json(&text) {
                    Ok(read) => prop_assert_eq!(read, value),
                    Err(error) => prop_assert!(matches!(error, JsonError::DuplicateKey(_))),
                }
            }
        }

        #[test]
        fn any_value_survives(text in ".{0,80}", key in ".{0,20}") {
            let value = serde_json::json!([{ key: text }]);
            prop_assert_eq!(parse_json(&value.to_string()).unwrap(), value);
        }
    }
}
