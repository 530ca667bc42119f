//! Quoting: names the way git writes them, one-line remarks, and words for a shell.

use std::fmt::Write as _;

/// Returns a file name as git prints it, with `prefix` (such as `a/`) before it.
///
/// The name is put in double quotes, with escapes as in C, only where it has a control character,
/// a double quote, a backslash, or bytes that are no UTF-8. Other text stays as it is, as with
/// `core.quotePath=false`.
pub(super) fn file_name(prefix: &str, name: &[u8]) -> String {
    let plain = std::str::from_utf8(name).ok().filter(|text| {
        text.bytes()
            .all(|byte| !byte.is_ascii_control() && !matches!(byte, b'"' | b'\\'))
    });
    match plain {
        Some(text) => format!("{prefix}{text}"),
        None => quoted_name(prefix, name),
    }
}

/// Returns a file name in double quotes, whether it needs them or not.
pub(super) fn quoted_name(prefix: &str, name: &[u8]) -> String {
    let mut quoted = format!("\"{prefix}");
    for chunk in name.utf8_chunks() {
        chunk
            .valid()
            .chars()
            .for_each(|c| push_escaped(&mut quoted, c));
        for &byte in chunk.invalid() {
            push_octal(&mut quoted, byte);
        }
    }
    quoted.push('"');
    quoted
}

fn push_escaped(quoted: &mut String, c: char) {
    let letter = match c {
        '\x07' => 'a',
        '\x08' => 'b',
        '\t' => 't',
        '\n' => 'n',
        '\x0b' => 'v',
        '\x0c' => 'f',
        '\r' => 'r',
        '"' | '\\' => c,
        _ if c.is_ascii_control() => return push_octal(quoted, c as u8),
        _ => return quoted.push(c),
    };
    quoted.extend(['\\', letter]);
}

fn push_octal(quoted: &mut String, byte: u8) {
    write!(quoted, "\\{byte:03o}").expect("writing to a string cannot fail");
}

/// Returns `text` without anything that could end its line or move a cursor.
pub(super) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\u{2028}' | '\u{2029}' => ' ',
            _ if c.is_control() => ' ',
            _ => c,
        })
        .collect()
}

/// Returns `text` as one word for a POSIX shell.
pub(super) fn shell_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', r#"'"'"'"#))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reads a quoted name back, as git does.
    fn unquoted(text: &str) -> Vec<u8> {
        let Some(inner) = text.strip_prefix('"') else {
            return text.as_bytes().to_vec();
        };
        let mut bytes = inner.strip_suffix('"').unwrap().bytes();
        let mut name = Vec::new();
        while let Some(byte) = bytes.next() {
            if byte != b'\\' {
                name.push(byte);
                continue;
            }
            name.push(match bytes.next().unwrap() {
                b'a' => 7,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 11,
                b'f' => 12,
                b'r' => b'\r',
                mark @ (b'"' | b'\\') => mark,
                digit => {
                    let mut octal = || u32::from(bytes.next().unwrap() - b'0');
                    let value = u32::from(digit - b'0') * 64 + octal() * 8 + octal();
                    u8::try_from(value).unwrap()
                }
            });
        }
        name
    }

    #[test]
    fn quotes_only_where_needed() {
        let cases: [(&[u8], &str); 8] = [
            (b"src/a b.rs", "a/src/a b.rs"),
            ("caf\u{e9} \u{1f600}".as_bytes(), "a/caf\u{e9} \u{1f600}"),
            (b"it's", "a/it's"),
            (b"tab\there", r#""a/tab\there""#),
            (b"say \"hi\"\\", r#""a/say \"hi\"\\""#),
            (b"line\nfeed\x01\x7f", r#""a/line\nfeed\001\177""#),
            (b"latin-\xe9.txt", r#""a/latin-\351.txt""#),
            ("\u{e9}\\".as_bytes(), "\"a/\u{e9}\\\\\""),
        ];
        for (name, printed) in cases {
            assert_eq!(file_name("a/", name), printed);
        }
    }

    #[test]
    fn quotes_words_for_a_shell() {
        assert_eq!(shell_word("/a b"), "'/a b'");
        assert_eq!(shell_word("/it's"), r#"'/it'"'"'s'"#);
    }

    #[test]
    fn keeps_remarks_on_one_line() {
        assert_eq!(one_line("a\nb\r\x1b[2J\u{85}c\u{2028}"), "a b  [2J c ");
    }

    proptest! {
        #[test]
        fn names_come_back(name in proptest::collection::vec(any::<u8>(), 0..40)) {
            let printed = file_name("", &name);
            prop_assert!(!printed.contains(['\n', '\r', '\0']));
            prop_assert_eq!(unquoted(&printed), name.clone());
            prop_assert_eq!(unquoted(&quoted_name("", &name)), name);
        }
    }
}
