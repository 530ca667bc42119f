//! Lines broken at spaces to fit a terminal.

/// Below this many columns nothing gets better by breaking lines.
const NARROWEST: usize = 20;

/// Appends `text`, which is one line, to `out` behind a lead of `lead` columns that is already
/// there; further lines begin with `indent`. Without a width there are none.
///
/// Every character counts as one column; where that is wrong the terminal breaks the line itself.
pub(super) fn push_wrapped(
    out: &mut String,
    text: &str,
    lead: usize,
    indent: &str,
    width: Option<usize>,
) {
    let Some(width) = width else {
        out.push_str(text);
        return;
    };
    let first = width.saturating_sub(lead).max(NARROWEST);
    let rest = width.saturating_sub(indent.len()).max(NARROWEST);
    for (index, piece) in wrap(text, first, rest).into_iter().enumerate() {
        if index > 0 {
            out.push('\n');
            out.push_str(indent);
        }
        out.push_str(piece);
    }
}

/// Breaks a line into pieces of at most `first` and then `rest` characters. A longer word stays
/// whole: a path or an address must stay one that can be copied.
fn wrap(text: &str, first: usize, rest: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut budget = first;
    let mut start = 0;
    let mut end = 0;
    let mut columns = 0;
    for word in words(text) {
        columns += text[end..word.end].chars().count();
        if columns > budget && end > start {
            pieces.push(&text[start..end]);
            start = word.start;
            columns = text[word.clone()].chars().count();
            budget = rest;
        }
        end = word.end;
    }
    pieces.push(&text[start..end]);
    pieces
}

/// Returns the runs of a text that hold no space.
fn words(text: &str) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(|c| c != ' ')?;
        at = text[start..]
            .find(' ')
            .map_or(text.len(), |end| start + end);
        Some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn breaks_at_spaces() {
        assert_eq!(wrap("aa bb cc", 5, 5), ["aa bb", "cc"]);
        assert_eq!(wrap("  aa   bb", 20, 20), ["  aa   bb"]);
        assert_eq!(wrap("aa bb cc dd", 2, 5), ["aa", "bb cc", "dd"]);
        assert_eq!(wrap("", 5, 5), [""]);
    }

    #[test]
    fn long_words_stay_whole() {
        assert_eq!(wrap("a bcdefghij k", 4, 4), ["a", "bcdefghij", "k"]);
        assert_eq!(wrap("bcdefghij k", 4, 4), ["bcdefghij", "k"]);
    }

    #[test]
    fn further_lines_are_indented() {
        let mut out = "- ".to_owned();
        push_wrapped(&mut out, "aaaaaaaaaaaa bbbbbbbbbbbb", 2, "  ", Some(1));
        assert_eq!(out, "- aaaaaaaaaaaa\n  bbbbbbbbbbbb");
    }

    proptest! {
        #[test]
        fn no_word_is_lost_and_no_line_too_long(text in "[ab é]{0,80}", width in 1usize..12) {
            let pieces = wrap(&text, width, width);
            let words: Vec<_> = pieces.iter().flat_map(|piece| piece.split_whitespace()).collect();
            prop_assert_eq!(words, text.split_whitespace().collect::<Vec<_>>());
            for piece in pieces {
                let fits = piece.chars().count() <= width;
                prop_assert!(fits || piece.split_whitespace().count() == 1);
            }
        }
    }
}
