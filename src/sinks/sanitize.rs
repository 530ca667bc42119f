//! Foreign text made safe to print.
//!
//! Models, engines, repositories and configurations choose most of the words that are printed. A
//! terminal obeys control sequences, a reader trusts the order of letters and the ends of lines;
//! so whatever is invisible or active becomes a visible escape, `\u{1b}`, in the moment it is
//! printed. What is stored stays as it was, and JSON needs nothing of this.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Returns `text` with its line breaks (`\n`, also as `\r\n`) and tabs kept and everything else
/// that is invisible or active made visible.
pub fn block(text: &str) -> Cow<'_, str> {
    let text = unix_lines(text);
    if is_plain(&text, |c| matches!(c, '\n' | '\t')) {
        return text;
    }
    Cow::Owned(escape(&text, |c| matches!(c, '\n' | '\t')))
}

/// Returns `text` as one line: runs of white space that hold a line break or a tab become one
/// space, the ends are trimmed, and what is invisible or active is made visible.
pub fn line(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    if is_plain(text, |_| false) {
        return Cow::Borrowed(text);
    }
    let mut flat = String::with_capacity(text.len());
    for (index, part) in text.split(['\n', '\t']).enumerate() {
        let part = part.trim_matches([' ', '\r']);
        if index > 0 && !part.is_empty() && !flat.ends_with(' ') {
            flat.push(' ');
        }
        flat.push_str(part);
    }
    Cow::Owned(escape(&flat, |_| false))
}

/// Returns the text of a path or a name, where white space matters: line breaks and tabs are made
/// visible too, so that two different names never look the same.
pub fn name(text: &str) -> Cow<'_, str> {
    if is_plain(text, |_| false) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(escape(text, |_| false))
}

fn unix_lines(text: &str) -> Cow<'_, str> {
    if text.contains('\r') {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

fn is_plain(text: &str, allowed: impl Fn(char) -> bool) -> bool {
    let mut before = None;
    text.chars().all(|c| {
        let plain = allowed(c) || !is_hidden(c, before);
        before = Some(c);
        plain
    })
}

fn escape(text: &str, allowed: impl Fn(char) -> bool) -> String {
    let mut safe = String::with_capacity(text.len() + 16);
    let mut before = None;
    for c in text.chars() {
        if allowed(c) || !is_hidden(c, before) {
            safe.push(c);
        } else {
            write!(safe, "\\u{{{:x}}}", u32::from(c)).expect("a String takes everything");
        }
        before = Some(c);
    }
    safe
}

/// Whether a character does something else than show itself. `before` is its left neighbour.
fn is_hidden(c: char, before: Option<char>) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    match c {
        // One presentation selector after a visible character only chooses an emoji's look; more
        // of them, or other selectors, can carry hidden data.
        '\u{fe0e}' | '\u{fe0f}' => !before.is_some_and(|left| left != ' ' && !is_selector(left)),
        _ if is_selector(c) => true,
        // Letters and marks that have no glyph: fillers, the grapheme joiner, Khmer's inherent
        // vowels, Mongolian selectors.
        '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{ffa0}' => true,
        // The tag block and its unassigned rest.
        '\u{e0000}'..='\u{e0fff}' => true,
        // C1 controls; zero-width, bidirectional and other format characters; the separators that
        // some readers take for line ends.
        _ => matches!(
            c.general_category(),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator
        ),
    }
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_text_is_borrowed() {
        for text in ["", "a b", "Größe – naïve", "日本語", "👍", "e\u{301}"] {
            assert!(matches!(block(text), Cow::Borrowed(same) if same == text));
            assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
        }
    }

    #[test]
    fn control_sequences_become_visible() {
        assert_eq!(
            line("\x1b[2J\x1b]0;owned\x07 title"),
            "\\u{1b}[2J\\u{1b}]0;owned\\u{7} title"
        );
        assert_eq!(block("a\u{9b}31m\u{7f}"), "a\\u{9b}31m\\u{7f}");
    }

    #[test]
    fn hidden_characters_become_visible() {
        assert_eq!(line("a\u{202e}b\u{2066}c"), "a\\u{202e}b\\u{2066}c");
        assert_eq!(line("a\u{200b}b\u{feff}"), "a\\u{200b}b\\u{feff}");
        assert_eq!(line("x\u{e0041}\u{e007f}"), "x\\u{e0041}\\u{e007f}");
        assert_eq!(line("a\u{2028}b\u{85}c"), "a\\u{2028}b\\u{85}c");
    }

    #[test]
    fn one_presentation_selector_is_kept_and_a_second_is_not() {
        assert_eq!(line("⚠\u{fe0f} x"), "⚠\u{fe0f} x");
        assert_eq!(line("⚠\u{fe0f}\u{fe0e}"), "⚠\u{fe0f}\\u{fe0e}");
        assert_eq!(line("a\u{e0100}"), "a\\u{e0100}");
        assert_eq!(line(" \u{fe0f}"), "\\u{fe0f}");
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(
            line(" a\nFindings: 0\r\n\r\n\tb  c\n"),
            "a Findings: 0 b  c"
        );
    }

    #[test]
    fn a_block_keeps_lines_and_tabs() {
        assert_eq!(block("a\r\n\tb\rc\n"), "a\n\tb\\u{d}c\n");
    }

    #[test]
    fn a_name_shows_its_white_space() {
        assert_eq!(name("a\nb\t "), "a\\u{a}b\\u{9} ");
    }

    /// Text in which the dangerous characters are common.
    fn hostile() -> impl Strategy<Value = String> {
        let active = proptest::sample::select(vec![
            '\n',
            '\r',
            '\t',
            '\0',
            '\x1b',
            '\x7f',
            '\u{85}',
            '\u{9b}',
            '\u{200b}',
            '\u{200d}',
            '\u{2028}',
            '\u{202e}',
            '\u{2066}',
            '\u{feff}',
            '\u{fe0f}',
            '\u{e0041}',
            ' ',
            'a',
        ]);
        proptest::collection::vec(prop_oneof![active, any::<char>()], 0..40)
            .prop_map(|chars| chars.into_iter().collect())
    }

    proptest! {
        #[test]
        fn nothing_active_is_left(text in hostile()) {
            let forbidden = |c: char| {
                (c.is_control() && c != '\n' && c != '\t')
                    || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                        | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
            };
            prop_assert!(!block(&text).chars().any(forbidden));
            prop_assert!(!line(&text).chars().any(|c| forbidden(c) || c == '\n' || c == '\t'));
            prop_assert!(!name(&text).chars().any(|c| forbidden(c) || c == '\n' || c == '\t'));
        }

        #[test]
        fn what_is_safe_stays_as_it_is(text in hostile()) {
            let once = block(&text).into_owned();
            prop_assert_eq!(block(&once), once.as_str());
            let once = line(&text).into_owned();
            prop_assert_eq!(line(&once), once.as_str());
            let once = name(&text).into_owned();
            prop_assert_eq!(name(&once), once.as_str());
        }
    }
}
