//! Bytes of a stream, cut into lines or kept as a tail. Linear in the bytes, whatever they are.

use std::mem;

/// Cuts a stream into lines.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pending: Vec<u8>,
}

impl Lines {
    /// Takes the next bytes and returns the lines they complete, without their line feeds.
    pub(super) fn push(&mut self, mut bytes: &[u8]) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            self.pending.extend_from_slice(&bytes[..end]);
            lines.push(text(mem::take(&mut self.pending)));
            bytes = &bytes[end + 1..];
        }
        self.pending.extend_from_slice(bytes);
        lines
    }

    /// Returns the last line when the stream ended without a line feed.
    pub(super) fn finish(&mut self) -> Option<String> {
        let last = mem::take(&mut self.pending);
        (!last.is_empty()).then(|| text(last))
    }
}

/// Keeps the end of a stream.
#[derive(Debug)]
pub(super) struct Tail {
    kept: Vec<u8>,
    limit: usize,
}

impl Tail {
    /// Keeps at most `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            kept: Vec::new(),
            limit,
        }
    }

    /// Takes the next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.kept.extend_from_slice(bytes);
        // Moving the tail to the front only every `limit` bytes keeps the cost linear.
        if self.kept.len() > 2 * self.limit {
            self.trim();
        }
    }

    /// Returns the end of the stream as text.
    pub(super) fn finish(mut self) -> String {
        let cut = self.trim();
        if cut {
            // The cut may have gone through a character.
            let partial = self.kept.iter().take(3);
            let partial = partial.take_while(|&&byte| byte & 0xc0 == 0x80).count();
            self.kept.drain(..partial);
        }
        text(self.kept)
    }

    fn trim(&mut self) -> bool {
        let excess = self.kept.len().saturating_sub(self.limit);
        self.kept.drain(..excess);
        excess > 0
    }
}

/// Turns bytes into text, replacing what is not UTF-8.
pub(super) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keeps_empty_lines_carriage_returns_and_a_last_line_without_a_line_feed() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(b"a\n\nb\r\nc"), ["a", "", "b\r"]);
        assert_eq!(lines.finish().as_deref(), Some("c"));
        assert_eq!(lines.finish(), None);
    }

    #[test]
    fn a_character_cut_by_two_reads_stays_whole_and_invalid_bytes_are_replaced() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(b"\xc3"), [] as [&str; 0]);
        assert_eq!(lines.push(b"\xa9\xff\n"), ["é\u{fffd}"]);
    }

    #[test]
    fn a_cut_tail_begins_with_a_whole_character() {
        let mut tail = Tail::new(4);
        tail.push("éééx".as_bytes());
        assert_eq!(tail.finish(), "éx");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn lines_do_not_depend_on_how_the_bytes_arrive(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..300),
            size in 1_usize..20,
        ) {
            let mut lines = Lines::default();
            let mut got: Vec<_> = bytes.chunks(size).flat_map(|chunk| lines.push(chunk)).collect();
            got.extend(lines.finish());
            let mut wanted: Vec<_> = bytes
                .split(|&byte| byte == b'\n')
                .map(|line| String::from_utf8_lossy(line).into_owned())
                .collect();
            if wanted.last().is_some_and(String::is_empty) {
                wanted.pop();
            }
            prop_assert_eq!(got, wanted);
        }

        #[test]
        fn a_tail_is_bounded_and_is_the_end(
            text in "[a-z]{0,200}", size in 1_usize..20, limit in 1_usize..30,
        ) {
            let mut tail = Tail::new(limit);
            for chunk in text.as_bytes().chunks(size) {
                tail.push(chunk);
                prop_assert!(tail.kept.len() <= 2 * limit);
            }
            prop_assert_eq!(tail.finish(), &text[text.len().saturating_sub(limit)..]);
        }
    }
}
