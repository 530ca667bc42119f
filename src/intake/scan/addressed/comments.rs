//! Which lines are comments, in any language.
//!
//! A guess from the first signs of a line and from the blocks left open before it: it decides only
//! which neighbouring lines are read together, never whether a line is read.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::super::text::NumberedLine;

/// How block comments and long strings open and close.
const BLOCKS: [(&[u8], &[u8]); 4] = [
    (b"/*", b"*/"),
    (b"<!--", b"-->"),
    (b"\"\"\"", b"\"\"\""),
    (b"'''", b"'''"),
];

static OPENINGS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::new(BLOCKS.map(|(start, _)| start)).expect("four short words make an automaton")
});

/// Tells comment lines from code, by their first signs and by open block comments.
#[derive(Debug, Default)]
pub(super) struct Comments {
    inside: Option<&'static [u8]>,
    next: u32,
}

impl Comments {
    /// Takes the next line and returns whether it is a comment.
    pub(super) fn take(&mut self, line: NumberedLine<'_>) -> bool {
        const LEADERS: [&[u8]; 7] = [b"//", b"#", b"*", b"--", b";", b"%", b"rem "];
        if line.number != self.next {
            self.inside = None;
        }
        self.next = line.number.saturating_add(1);
        let bytes = line.bytes.trim_ascii_start();
        if let Some(end) = self.inside {
            if find(bytes, end).is_some() {
                self.inside = None;
            }
            return true;
        }
        if let Some(opening) = OPENINGS.find(bytes) {
            let end = BLOCKS[opening.pattern().as_usize()].1;
            if find(&bytes[opening.end()..], end).is_none() {
                self.inside = Some(end);
            }
            return opening.start() == 0 || self.inside.is_some();
        }
        LEADERS.iter().any(|leader| bytes.starts_with(leader))
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_told_from_code() {
        let mut comments = Comments::default();
        let mut read = |number, text: &str| {
            comments.take(NumberedLine {
                number,
                bytes: text.as_bytes(),
            })
        };
        assert!(!read(1, "let a = 1;"));
        assert!(read(2, "  // words"));
        assert!(read(3, "/* words"));
        assert!(read(4, "more words"));
        assert!(read(5, "end */"));
        assert!(!read(6, "code();"));
        assert!(read(7, "let s = \"\"\"text"));
        assert!(!read(9, "after a gap"));
    }
}
