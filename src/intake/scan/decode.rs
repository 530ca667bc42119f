//! Text inside text: runs of base64 or hexadecimal digits, and what is escaped for an address.
//!
//! One level is undone. What does not come out as plain text is left alone, so digests and images
//! cost one look and are never scanned.

use std::ops::Range;

/// The shortest run that is decoded; shorter ones hold no secret of a known shape.
const SHORTEST: usize = 24;
/// The longest run that is decoded, in bytes.
const LONGEST: usize = 64 << 10;

/// A piece of a line and what it says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decoded {
    /// Where it lies in the line.
    pub(super) span: Range<usize>,
    /// The decoded text.
    pub(super) text: Vec<u8>,
}

/// Returns what a line says when one level of encoding is undone.
pub(super) fn decode(line: &[u8]) -> Vec<Decoded> {
    let mut found = Vec::new();
    for span in runs(line, is_base64) {
        let run = &line[span.clone()];
        let text = from_hex(run).or_else(|| from_base64(run));
        if let Some(text) = text.filter(|text| is_plain(text)) {
            found.push(Decoded { span, text });
        }
    }
    if line.contains(&b'%') {
        for span in runs(line, |byte| {
            byte.is_ascii_graphic() && !b"\"'`<>".contains(&byte)
        }) {
            let text = from_percent(&line[span.clone()]);
            if let Some(text) = text.filter(|text| is_plain(text)) {
                found.push(Decoded { span, text });
            }
        }
    }
    found
}

/// Returns the runs of bytes that pass a test and are neither too short nor too long.
fn runs(line: &[u8], is_part: impl Fn(u8) -> bool) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    for end in 0..=line.len() {
        if line.get(end).is_some_and(|&byte| is_part(byte)) {
            continue;
        }
        if (SHORTEST..=LONGEST).contains(&(end - start)) {
            found.push(start..end);
        }
        start = end + 1;
    }
    found
}

/// Every byte of a change is asked for, so the answers stand in a table.
const BASE64: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        let letter = byte as u8;
        table[byte] =
            letter.is_ascii_alphanumeric() || matches!(letter, b'+' | b'/' | b'_' | b'-' | b'=');
        byte += 1;
    }
    table
};

fn is_base64(byte: u8) -> bool {
    BASE64[usize::from(byte)]
}

/// Whether all of it is what people write in a line or two.
fn is_plain(text: &[u8]) -> bool {
    let is_usual = |byte: &u8| byte.is_ascii_graphic() || b" \t\r\n".contains(byte);
    text.len() >= 8 && text.iter().all(is_usual)
}

fn from_hex(run: &[u8]) -> Option<Vec<u8>> {
    let (pairs, rest) = run.as_chunks::<2>();
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(*high)? * 16 + digit(*low)?).ok();
    rest.is_empty()
        .then(|| pairs.iter().map(byte).collect())
        .flatten()
}

/// Decodes both alphabets, with and without padding. A name with a sign behind it, as in
/// `key=aGVsbG8`, is told from its value by the padding that ends no text.
fn from_base64(run: &[u8]) -> Option<Vec<u8>> {
    let end = run.iter().rposition(|&byte| byte != b'=')? + 1;
    let body = &run[..end];
    let body = match body.iter().rposition(|&byte| byte == b'=') {
        Some(sign) => &body[sign + 1..],
        None => body,
    };
    let mut text = Vec::with_capacity(body.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for &byte in body {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            text.push(u8::try_from((bits >> count) & 0xFF).ok()?);
        }
    }
    Some(text)
}

fn from_percent(run: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(run.len());
    let mut rest = run;
    while let Some((&byte, after)) = rest.split_first() {
        let escape = (byte == b'%').then(|| after.get(..2).and_then(from_hex));
        match escape.flatten().as_deref() {
            Some([escaped]) => {
                text.push(*escaped);
                rest = &after[2..];
            }
            _ => {
                text.push(byte);
                rest = after;
            }
        }
    }
    (text.len() < run.len()).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(line: &str) -> Vec<String> {
        let found = decode(line.as_bytes());
        found
            .into_iter()
            .map(|it| String::from_utf8(it.text).unwrap())
            .collect()
    }

    #[test]
    fn one_level_is_undone() {
        let hello = "hello, this is a text";
        assert_eq!(texts("x = \"aGVsbG8sIHRoaXMgaXMgYSB0ZXh0\";"), [hello]);
        assert_eq!(
            texts("KEY=aGVsbG8sIHRoaXMgaXMgYSB0ZXh0Cg=="),
            ["hello, this is a text\n"]
        );
        assert_eq!(
            texts("68656c6c6f2c20746869732069732061207465787 4"),
            [""; 0]
        );
        assert_eq!(
            texts("(68656c6c6f2c207468697320697320612074657874)"),
            [hello]
        );
        assert_eq!(
            texts("a?b=hello%2C%20this%20is%20a%20text"),
            ["a?b=hello, this is a text"]
        );
    }

    #[test]
    fn digests_and_names_say_nothing() {
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(texts(digest), [""; 0]);
        assert_eq!(texts("someVeryLongNameOfAFunctionInJava"), [""; 0]);
        assert_eq!(texts("50% of all the things that are there"), [""; 0]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn spans_lie_in_the_line(line in prop::collection::vec(any::<u8>(), 0..200)) {
            for found in decode(&line) {
                prop_assert!(found.span.end <= line.len() && found.span.start < found.span.end);
            }
        }
    }
}
