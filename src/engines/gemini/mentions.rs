//! Keeps Gemini from reading `@path` in a prompt as a request to attach that file.
//!
//! In headless runs every `@` that stands before a name is looked up in the workspace: what exists
//! is attached whole, past the policy, and the prompt is put together anew around it. A word joiner
//! (U+2060, which has no width) after the `@` makes a name that is nowhere; it is taken out again
//! of what the model quotes. Measured with Gemini CLI 0.61.0.

/// What stands between an `@` and the name after it.
const JOINER: char = '\u{2060}';

/// Parts every `@` from the name after it. The marks of hunks (`@@ `), which name a file called
/// `@`, stay as they are unless there `is_at_a_file`.
pub(super) fn part(prompt: &str, is_at_a_file: bool) -> String {
    let mut parted = String::with_capacity(prompt.len() + prompt.len() / 64);
    let mut before = None;
    let mut rest = prompt.chars();
    while let Some(c) = rest.next() {
        parted.push(c);
        if c == '@' && before != Some('\\') && is_name(rest.as_str(), is_at_a_file) {
            parted.push(JOINER);
        }
        before = Some(c);
    }
    parted
}

/// Whether Gemini takes `text`, which follows an `@`, for a name. A space ends a name.
fn is_name(text: &str, is_at_a_file: bool) -> bool {
    let mut chars = text.chars();
    match chars.next() {
        None | Some(' ' | '\t' | '\n' | '\r') => false,
        Some('@') => is_at_a_file || !matches!(chars.next(), None | Some(' ' | '\t' | '\n' | '\r')),
        Some(_) => true,
    }
}

/// Takes the joiners out of an answer, also those that its JSON escapes.
pub(super) fn rejoin(answer: &str) -> String {
    answer.replace("@\u{2060}", "@").replace("@\\u2060", "@")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_parted_and_hunk_marks_are_not() {
        for (text, expected) in [
            ("@/etc/hostname", "@|/etc/hostname"),
            ("see @src/lib.rs, a@b.c", "see @|src/lib.rs, a@|b.c"),
            ("@\"a b\" @.x @(y", "@|\"a b\" @|.x @|(y"),
            ("@@ -1,2 +3 @@ fn\n@@", "@@ -1,2 +3 @@ fn\n@@"),
            ("@@x @@@ @", "@|@|x @|@@ @"),
            (r"\@name @ name", r"\@name @ name"),
        ] {
            assert_eq!(part(text, false), expected.replace('|', "\u{2060}"));
        }
    }

    #[test]
    fn hunk_marks_are_parted_where_a_file_has_their_name() {
        assert_eq!(part("@@ -1 @@", true), "@\u{2060}@ -1 @\u{2060}@");
    }

    #[test]
    fn quotes_come_back_as_they_were() {
        assert_eq!(
            rejoin("{\"a\":\"@\u{2060}x @\\u2060y\"}"),
            "{\"a\":\"@x @y\"}"
        );
    }

    proptest! {
        #[test]
        fn parting_can_be_undone(text in "[@ab .\\\\\n]{0,60}", is_at_a_file: bool) {
            prop_assert_eq!(rejoin(&part(&text, is_at_a_file)), text);
        }

        #[test]
        fn no_name_is_left(text in "[@ab/.\\\\\n ]{0,60}") {
            let parted = part(&text, true);
            let mut before = ' ';
            let mut chars = parted.chars().peekable();
            while let Some(c) = chars.next() {
                if c == '@' && before != '\\' {
                    let next = chars.peek().copied();
                    prop_assert!(matches!(next, None | Some(' ' | '\n' | JOINER)), "{parted:?}");
                }
                before = c;
            }
        }
    }
}
