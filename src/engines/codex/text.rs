//! Foreign text made fit for a message: keys blanked, one line, bounded.

use std::sync::LazyLock;

use regex::Regex;

/// How many characters of foreign text a message quotes at most.
pub(super) const MESSAGE_CHARS: usize = 500;

/// How many bytes of a text are looked at for a message.
const LOOKED_AT: usize = 8 << 10;

/// Shapes of credentials that model services quote in their errors.
static CREDENTIAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        \b(?: sk | sess | rk ) - [A-Za-z0-9*_-]+       # keys of model services, also half blanked
        | (?i: \bBearer ) [\x20\t]+ [^\s,;'\x22)]+     # Authorization headers
        | \b eyJ [A-Za-z0-9_-]+ (?: \. [A-Za-z0-9_-]* ){1,2}   # JSON web tokens
        ",
    )
    .expect("the pattern is a constant")
});

/// Replaces everything shaped like a credential.
pub(in crate::engines) fn redact(text: &str) -> String {
    CREDENTIAL.replace_all(text, "[redacted]").into_owned()
}

/// Turns foreign text into one line of at most [`MESSAGE_CHARS`] characters without credentials
/// and control characters; `...` marks what was cut.
pub(in crate::engines) fn one_line(text: &str) -> String {
    let printable: String = redact(head(text, LOOKED_AT))
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let joined = printable.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&joined, MESSAGE_CHARS)
}

/// Returns the longest beginning of at most `limit` bytes.
pub(in crate::engines) fn head(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// Keeps at most `limit` characters; `...` marks what was cut.
pub(in crate::engines) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn credentials_are_blanked_and_words_are_kept() {
        for (text, expected) in [
            ("key sk-mock.", "key [redacted]."),
            ("sk-other***99999 is wrong", "[redacted] is wrong"),
            ("sk-proj-aB_9-x, url", "[redacted], url"),
            ("Authorization: bearer abc.def", "Authorization: [redacted]"),
            ("token eyJhbGci.eyJzdWIi.c2ln!", "token [redacted]!"),
            (
                "task-force disk-full risk-free",
                "task-force disk-full risk-free",
            ),
        ] {
            assert_eq!(redact(text), expected);
        }
    }

    #[test]
    fn a_message_is_one_bounded_line() {
        assert_eq!(one_line("  a\r\n\tb\u{1b}[31mc \n"), "a b [31mc");
        let long = one_line(&"é ".repeat(1 << 20));
        assert_eq!(long.chars().count(), MESSAGE_CHARS + 3);
        assert!(long.ends_with("..."));
    }

    proptest! {
        #[test]
        fn any_text_becomes_one_bounded_line(text in ".{0,3000}(sk-[a-z]{0,9})?") {
            let line = one_line(&text);
            prop_assert!(line.chars().count() <= MESSAGE_CHARS + 3);
            prop_assert!(!line.contains(char::is_control));
        }
    }
}
