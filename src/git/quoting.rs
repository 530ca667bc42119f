//! Names in git's patch headers: C-style quotes, prefixes, and two names on one line.

use diffwarden_actors::model::RepoPath;

/// Reads a name that stands alone at the end of a line. A name with bytes outside printable
/// ASCII, a quote or a backslash comes in quotes; any other stands as it is, and where it holds a
/// blank the `---` and `+++` lines end in a TAB. `None` for a broken quote.
pub(super) fn read_name(text: &[u8]) -> Option<Vec<u8>> {
    if text.first() == Some(&b'"') {
        let (name, rest) = unquote(text)?;
        return matches!(rest, b"" | b"\t").then_some(name);
    }
    Some(text.strip_suffix(b"\t").unwrap_or(text).to_vec())
}

/// Reads a name of a `---` or `+++` line: `/dev/null` is the absent side, and the one-letter
/// prefix is taken off.
pub(super) fn read_side(text: &[u8], prefix: &[u8]) -> Option<Option<RepoPath>> {
    if text.strip_suffix(b"\t").unwrap_or(text) == b"/dev/null" {
        return Some(None);
    }
    let name = read_name(text)?;
    let path = name.strip_prefix(prefix)?;
    (!path.is_empty()).then(|| Some(RepoPath::new(path)))
}

/// Reads the name that both halves of a `diff --git` line agree on; `None` when they do not.
///
/// Blanks in unquoted names make the line ambiguous in general. It is only read where nothing
/// else in the header names the file, and then both halves are the same name, so the middle is
/// known.
pub(super) fn read_common_name(text: &[u8]) -> Option<RepoPath> {
    let (old, new) = if text.first() == Some(&b'"') {
        let (old, rest) = unquote(text)?;
        (old, read_name(rest.strip_prefix(b" ")?)?)
    } else {
        let middle = text.len() / 2;
        if text.len().is_multiple_of(2) || text[middle] != b' ' {
            return None;
        }
        (text[..middle].to_vec(), text[middle + 1..].to_vec())
    };
    let path = old.strip_prefix(b"a/")?;
    (!path.is_empty() && new.strip_prefix(b"b/") == Some(path)).then(|| RepoPath::new(path))
}

/// Reads a quoted name and returns it with what follows the closing quote.
fn unquote(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut name = Vec::with_capacity(rest.len());
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b'"' => return Some((name, rest)),
            b'\\' => {
                let (value, after) = unescape(rest)?;
                name.push(value);
                rest = after;
            }
            other => name.push(other),
        }
    }
}

/// Reads what follows a backslash.
fn unescape(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&byte, rest) = text.split_first()?;
    let value = match byte {
        b'a' => 0x07,
        b'b' => 0x08,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 0x0b,
        b'f' => 0x0c,
        b'r' => b'\r',
        b'"' | b'\\' => byte,
        b'0'..=b'3' => {
            let digits = text.get(..3)?;
            if !digits.iter().all(|digit| matches!(digit, b'0'..=b'7')) {
                return None;
            }
            let value = digits
                .iter()
                .fold(0, |value, digit| value * 8 + (digit - b'0'));
            return Some((value, &text[3..]));
        }
        _ => return None,
    };
    Some((value, rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_unquoted_to_their_bytes() {
        assert_eq!(read_name(b"plain"), Some(b"plain".to_vec()));
        assert_eq!(read_name(b"a b\t"), Some(b"a b".to_vec()));
        assert_eq!(
            read_name(br#""caf\303\251""#),
            Some("café".as_bytes().to_vec())
        );
        assert_eq!(
            read_name(br#""q\"t\tn\nb\\""#),
            Some(b"q\"t\tn\nb\\".to_vec())
        );
        assert_eq!(read_name(br#""x\377""#), Some(b"x\xff".to_vec()));
        for broken in [
            &br#""open"#[..],
            br#""\9""#,
            br#""\30""#,
            br#""\477""#,
            br#""a"b"#,
        ] {
            assert_eq!(read_name(broken), None);
        }
    }

    #[test]
    fn sides_lose_their_prefix_and_dev_null_is_no_file() {
        assert_eq!(read_side(b"b/b/x", b"b/"), Some(Some("b/x".into())));
        assert_eq!(read_side(b"/dev/null", b"a/"), Some(None));
        assert_eq!(
            read_side(b"a/dev/null", b"a/"),
            Some(Some("dev/null".into()))
        );
        assert_eq!(read_side(b"x", b"a/"), None);
    }

    #[test]
    fn both_halves_of_a_header_must_agree() {
        assert_eq!(read_common_name(b"a/x b/y b/x b/y"), Some("x b/y".into()));
        assert_eq!(read_common_name(b"a/ b/ "), None);
        assert_eq!(read_common_name(br#""a/t\t" "b/t\t""#), Some("t\t".into()));
        assert_eq!(read_common_name(b"a/x b/y"), None);
        assert_eq!(read_common_name(b""), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn any_bytes_are_read_without_panic(text in proptest::collection::vec(any::<u8>(), 0..40)) {
            read_name(&text);
            read_side(&text, b"a/");
            read_common_name(&text);
            let mut quoted = vec![b'"'];
            quoted.extend(&text);
            read_name(&quoted);
            read_common_name(&quoted);
        }

        #[test]
        fn octal_quotes_give_back_any_name(name in proptest::collection::vec(any::<u8>(), 1..20)) {
            let mut quoted = vec![b'"'];
            for byte in &name {
                quoted.extend(format!("\\{byte:03o}").bytes());
            }
            quoted.push(b'"');
            prop_assert_eq!(read_name(&quoted), Some(name));
        }
    }
}
