//! From git's patch text to a [`Patch`], line by line.
//!
//! The text is hostile: it is made of the contents and names of the reviewed files. What must
//! hold: the counts of an `@@` line decide where a hunk ends, and no header is looked for before
//! that; text that does not add up is an error, never a shorter patch; memory is bounded by the
//! limits, time by the length of the text.

use std::io::{self, BufRead, Read};

use diffwarden_actors::model::{Body, Change, FilePatch, Hunk, LineKind, Patch, RepoPath};

use super::block::Block;
use super::limits::{Budget, ReadLimits};
use super::quoting::read_name;

/// Why a patch could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// Reading the text failed.
    #[error("the patch cannot be read: {0}")]
    Io(#[from] io::Error),
    /// The text is not a patch as git prints it.
    #[error("line {line} of the patch cannot be understood: {what}")]
    Malformed {
        /// The line, 1-based.
        line: u64,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// Reads a patch as `git diff` prints it with the prefixes `a/` and `b/`.
///
/// # Errors
///
/// When reading fails, and when the text is not such a patch or ends inside a hunk.
pub fn parse_patch(reader: &mut impl BufRead, limits: &ReadLimits) -> Result<Patch, ParseError> {
    let mut budget = Budget::new(limits);
    let files = read_files(reader, &mut budget)?;
    Ok(Patch { files })
}

/// Reads the blocks of a patch within what is left of a budget.
pub(super) fn read_files(
    reader: &mut impl BufRead,
    budget: &mut Budget,
) -> Result<Vec<FilePatch>, ParseError> {
    /// Room for the longest header: two quoted paths of 4,096 bytes, four characters a byte.
    const HEADER: u64 = 64 << 10;
    /// A line buffer above this size is given back after use.
    const KEPT: usize = 1 << 20;
    let longest = budget.allowance().max(HEADER).saturating_add(1);
    let mut parser = Parser::new(budget);
    let mut line = Vec::new();
    loop {
        line.clear();
        line.shrink_to(KEPT);
        let read = reader.by_ref().take(longest).read_until(b'\n', &mut line)?;
        if read == 0 {
            return parser.finish();
        }
        let mut skipped = 0;
        if line.last() == Some(&b'\n') {
            line.pop();
        } else if read as u64 == longest {
            // The line feed that ends the line is not part of it; at the end of the text there
            // may be none, and one byte of a size that is only shown does not matter.
            skipped = (reader.skip_until(b'\n')? as u64).saturating_sub(1);
        }
        parser.line(&line, skipped)?;
    }
}

/// Takes in a patch line by line.
#[derive(Debug)]
pub(super) struct Parser<'b> {
    budget: &'b mut Budget,
    files: Vec<FilePatch>,
    block: Option<Block>,
    state: State,
    number: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first block, or after a note.
    Between,
    /// In the header of a block.
    Header,
    /// In a hunk that still has lines to come on at least one side.
    Hunk { old: u32, new: u32 },
    /// After a whole hunk.
    AfterHunk,
    /// In text that is of no use: binary data, or a diff against several parents.
    Skipping,
}

impl<'b> Parser<'b> {
    pub(super) fn new(budget: &'b mut Budget) -> Self {
        Self {
            budget,
            files: Vec::new(),
            block: None,
            state: State::Between,
            number: 0,
        }
    }

    /// Takes in one line without its line feed, of which `skipped` more bytes were left out.
    pub(super) fn line(&mut self, line: &[u8], skipped: u64) -> Result<(), ParseError> {
        self.number += 1;
        self.step(line, skipped)
            .map_err(|what| self.malformed(what))
    }

    /// Returns the blocks after the last line.
    pub(super) fn finish(mut self) -> Result<Vec<FilePatch>, ParseError> {
        if matches!(self.state, State::Hunk { .. }) {
            return Err(self.malformed("the text ends inside a hunk"));
        }
        self.close().map_err(|what| self.malformed(what))?;
        Ok(self.files)
    }

    fn malformed(&self, what: &'static str) -> ParseError {
        ParseError::Malformed {
            line: self.number,
            what,
        }
    }

    fn step(&mut self, line: &[u8], skipped: u64) -> Result<(), &'static str> {
        match self.state {
            State::Hunk { old, new } => self.hunk_line(line, skipped, old, new),
            _ if skipped > 0 && self.state != State::Skipping => Err("a header line is too long"),
            _ => self.outside(line),
        }
    }

    /// Takes in a line that stands outside hunks.
    fn outside(&mut self, line: &[u8]) -> Result<(), &'static str> {
        if let Some(names) = line.strip_prefix(b"diff --git ") {
            self.close()?;
            self.block = Some(Block::new(names));
            self.state = State::Header;
            return Ok(());
        }
        if let Some(name) = line.strip_prefix(b"* Unmerged path ") {
            return self.note(
                name,
                "unmerged: the conflict is not resolved",
                State::Between,
            );
        }
        let combined = [&b"diff --cc "[..], b"diff --combined "];
        if let Some(name) = combined.iter().find_map(|start| line.strip_prefix(*start)) {
            return self.note(
                name,
                "a merge of several versions, which has no single diff",
                State::Skipping,
            );
        }
        match (self.state, &mut self.block) {
            (State::Skipping, _) => Ok(()),
            (State::Header | State::AfterHunk, Some(_)) if line.starts_with(b"@@ ") => {
                self.open_hunk(line)
            }
            (State::AfterHunk, Some(block)) if line.starts_with(b"\\ ") => {
                block.no_newline();
                Ok(())
            }
            (State::Header, Some(block)) => {
                block.header(line)?;
                if line == b"GIT binary patch" {
                    self.state = State::Skipping;
                }
                Ok(())
            }
            _ => Err("neither a header nor part of a hunk"),
        }
    }

    fn open_hunk(&mut self, line: &[u8]) -> Result<(), &'static str> {
        let hunk = read_hunk_header(line).ok_or("a hunk header cannot be read")?;
        self.state = state_in_hunk(hunk.old_lines, hunk.new_lines);
        if let Some(block) = &mut self.block {
            block.open_hunk(hunk, self.budget);
        }
        Ok(())
    }

    fn hunk_line(
        &mut self,
        line: &[u8],
        skipped: u64,
        old: u32,
        new: u32,
    ) -> Result<(), &'static str> {
        let (kind, text) = match line.split_first() {
            // With diff.suppressBlankEmpty an empty context line comes without its blank.
            None => (LineKind::Context, line),
            Some((b' ', text)) => (LineKind::Context, text),
            Some((b'+', text)) => (LineKind::Added, text),
            Some((b'-', text)) => (LineKind::Removed, text),
            Some((b'\\', _)) => {
                if let Some(block) = &mut self.block {
                    block.no_newline();
                }
                return Ok(());
            }
            _ => return Err("a hunk is shorter than its header says"),
        };
        let (old_used, new_used) = match kind {
            LineKind::Context => (1, 1),
            LineKind::Removed => (1, 0),
            LineKind::Added => (0, 1),
        };
        let longer = "a hunk is longer than its header says";
        let old = old.checked_sub(old_used).ok_or(longer)?;
        let new = new.checked_sub(new_used).ok_or(longer)?;
        if let Some(block) = &mut self.block {
            block.line(kind, text, skipped, self.budget);
        }
        self.state = state_in_hunk(old, new);
        Ok(())
    }

    fn close(&mut self) -> Result<(), &'static str> {
        if let Some(block) = self.block.take() {
            self.files.extend(block.finish(self.budget)?);
        }
        Ok(())
    }

    fn note(&mut self, name: &[u8], note: &str, next: State) -> Result<(), &'static str> {
        self.close()?;
        let name = read_name(name)
            .filter(|name| !name.is_empty())
            .ok_or("a file has no name")?;
        self.files.push(note_block(RepoPath::new(name), note));
        self.state = next;
        Ok(())
    }
}

/// Returns a block that is only a note about a path.
pub(super) fn note_block(path: RepoPath, note: &str) -> FilePatch {
    FilePatch {
        old_path: Some(path.clone()),
        new_path: Some(path),
        change: Change::Modified,
        old_mode: None,
        new_mode: None,
        old_id: None,
        new_id: None,
        similarity: None,
        body: Body::Note(note.to_owned()),
        content: Vec::new(),
    }
}

fn state_in_hunk(old: u32, new: u32) -> State {
    if old == 0 && new == 0 {
        State::AfterHunk
    } else {
        State::Hunk { old, new }
    }
}

/// Reads `@@ -<start>[,<lines>] +<start>[,<lines>] @@[ <section>]`. Numbers whose last line does
/// not fit into 32 bits are refused, so that counting lines never overflows.
fn read_hunk_header(line: &[u8]) -> Option<Hunk> {
    let rest = line.strip_prefix(b"@@ -")?;
    let (old, rest) = split_at(rest, b" +")?;
    let (new, section) = split_at(rest, b" @@")?;
    let (old_start, old_lines) = read_span(old)?;
    let (new_start, new_lines) = read_span(new)?;
    Some(Hunk {
        old_start,
        old_lines,
        new_start,
        new_lines,
        section: section.strip_prefix(b" ").unwrap_or(section).to_vec(),
        lines: Vec::new(),
    })
}

fn read_span(text: &[u8]) -> Option<(u32, u32)> {
    let text = std::str::from_utf8(text).ok()?;
    let (start, lines) = text.split_once(',').unwrap_or((text, "1"));
    let number = |text: &str| -> Option<u32> {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| text.parse().ok())?
    };
    let (start, lines) = (number(start)?, number(lines)?);
    start.checked_add(lines)?;
    Some((start, lines))
}

fn split_at<'t>(text: &'t [u8], separator: &[u8]) -> Option<(&'t [u8], &'t [u8])> {
    let at = text
        .windows(separator.len())
        .position(|window| window == separator)?;
    Some((&text[..at], &text[at + separator.len()..]))
}

#[cfg(test)]
mod tests {
    use diffwarden_actors::model::Mode;
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &[u8]) -> Result<Vec<FilePatch>, ParseError> {
        parse_patch(&mut &text[..], &ReadLimits::default()).map(|patch| patch.files)
    }

    fn one(text: &str) -> FilePatch {
        let mut files = parse(text.as_bytes()).unwrap();
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }

    /// The lines of a file as `sign, text`, with `$` where a newline is missing.
    fn lines(file: &FilePatch) -> Vec<String> {
        let lines = file.hunks().iter().flat_map(|hunk| &hunk.lines);
        lines
            .map(|line| {
                let sign = match line.kind {
                    LineKind::Context => ' ',
                    LineKind::Added => '+',
                    LineKind::Removed => '-',
                };
                let end = if line.no_newline { "$" } else { "" };
                format!("{sign}{}{end}", String::from_utf8_lossy(file.text(line)))
            })
            .collect()
    }

    #[test]
    fn a_modified_file_has_its_ids_modes_hunks_and_lines() {
        let file = one(
            "diff --git a/x y b/x y\nindex 0123abc..4567def 100755\n--- a/x y\t\n+++ b/x y\t\n\
             @@ -1,3 +1,4 @@ fn main() {\n one\n-two\n+TWO\r\n+\n three\n\\ No newline at end of file\n\
             @@ -9 +10,0 @@\n-nine\n\\ No newline at end of file\n",
        );
        assert_eq!(file.path(), &"x y".into());
        assert_eq!(file.change, Change::Modified);
        assert_eq!(file.old_id.as_deref(), Some("0123abc"));
        assert_eq!(file.new_mode, Some(Mode(0o100_755)));
        assert_eq!(
            lines(&file),
            [" one", "-two", "+TWO\r", "+", " three$", "-nine$"]
        );
        assert_eq!(file.hunks()[0].section, b"fn main() {");
        assert_eq!(file.counts(), (2, 2));
    }

    #[test]
    fn nothing_inside_a_hunk_is_a_header() {
        let file = one(
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n--- a/y\n-- b/y\n\
             +++ b/evil.js\n+@@ -1,1 +900,1 @@\n+diff --git a/z b/z\n diff --git a/z b/z\n",
        );
        assert_eq!(
            lines(&file),
            [
                "--- a/y",
                "-- b/y",
                "+++ b/evil.js",
                "+@@ -1,1 +900,1 @@",
                "+diff --git a/z b/z",
                " diff --git a/z b/z"
            ]
        );
    }

    #[test]
    fn empty_context_lines_may_come_without_their_blank() {
        let file = one("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n\n\n-a\n+b\n");
        assert_eq!(lines(&file), [" ", " ", "-a", "+b"]);
    }

    #[test]
    fn headers_without_hunks_say_what_happened() {
        let renamed = one(
            "diff --git a/old name b/new\nsimilarity index 100%\nrename from old name\nrename to new\n",
        );
        assert_eq!(renamed.change, Change::Renamed);
        assert_eq!(renamed.old_path, Some("old name".into()));
        assert_eq!(renamed.new_path, Some("new".into()));
        assert_eq!(renamed.similarity, Some(100));

        let copied = one(
            "diff --git a/a b/b\nsimilarity index 90%\ncopy from a\ncopy to b\nindex 1..2 100644\n\
             --- a/a\n+++ b/b\n@@ -1 +1 @@\n-1\n+2\n",
        );
        assert_eq!(copied.change, Change::Copied);

        let mode = one("diff --git a/b/b b/b/b\nold mode 100644\nnew mode 100755\n");
        assert_eq!((mode.path(), &mode.body), (&"b/b".into(), &Body::Unchanged));

        let empty = one("diff --git a/e b/e\nnew file mode 100644\nindex 0000..e69d\n");
        assert_eq!((empty.change, empty.old_path), (Change::Added, None));

        let gone = one("diff --git a/e b/e\ndeleted file mode 120000\nindex e69d..0000\n");
        assert_eq!((gone.change, gone.new_path), (Change::Deleted, None));

        let binary = one(
            "diff --git a/i.png b/i.png\nold mode 100644\nnew mode 100755\nindex 1..2\n\
             Binary files a/i.png and b/i.png differ\n",
        );
        assert_eq!(binary.body, Body::Binary);
        let literal = parse(
            b"diff --git a/i b/i\nindex 1..2 100644\nGIT binary patch\nliteral 2\nJcmZQz\n\nliteral 0\n\
              HcmV?d00001\n\ndiff --git a/j b/j\nold mode 100644\nnew mode 100755\n",
        );
        let literal = literal.unwrap();
        assert_eq!((literal.len(), &literal[0].body), (2, &Body::Binary));
    }

    #[test]
    fn quoted_names_are_bytes() {
        let file = one(
            "diff --git \"a/t\\tq\\\"\\377\" \"b/t\\tq\\\"\\377\"\nindex 1..2 100644\n\
             --- \"a/t\\tq\\\"\\377\"\n+++ \"b/t\\tq\\\"\\377\"\n@@ -1 +1 @@\n-1\n+2\n",
        );
        assert_eq!(file.path().as_bytes(), b"t\tq\"\xff");
    }

    #[test]
    fn conflicts_become_notes() {
        let files = parse(
            b"* Unmerged path both\ndiff --cc f\nindex 1,2..0\n--- a/f\n+++ b/f\n@@@ -1,1 -1,1 +1,2 @@@\n\
              ++<<<\n +diff --git a/x b/x\ndiff --git a/g b/g\nold mode 100644\nnew mode 100755\n",
        )
        .unwrap();
        let names: Vec<_> = files.iter().map(|file| file.path().to_string()).collect();
        assert_eq!(names, ["both", "f", "g"]);
        assert!(matches!(files[0].body, Body::Note(_)));
        assert!(matches!(files[1].body, Body::Note(_)));
    }

    #[test]
    fn a_block_that_says_nothing_is_left_out() {
        assert!(parse(b"diff --git a/x b/x\n").unwrap().is_empty());
        assert!(parse(b"").unwrap().is_empty());
    }

    #[test]
    fn text_that_does_not_add_up_is_an_error() {
        let head = "diff --git a/x b/x\n--- a/x\n+++ b/x\n";
        for rest in [
            "@@ -1,2 +1,2 @@\n one\n",
            "@@ -1,2 +1,2 @@\n one\ndiff --git a/y b/y\n",
            "@@ -1,1 +1,1 @@\n one\n+two\n",
            "@@ -1,1 +1,0 @@\n+two\n",
            "@@ -1 +4294967295,2 @@\n",
            "@@ -1 +1\n",
            "@@ -1,x +1 @@\n",
            "+stray\n",
        ] {
            assert!(parse(format!("{head}{rest}").as_bytes()).is_err(), "{rest}");
        }
        for text in [
            "stray\n",
            "@@ -1 +1 @@\n",
            "diff --git a/x b/y\nold mode 100644\n",
            "diff --git a/x b/x\nindex zz..yy\n",
            "diff --git a/x b/x\nold mode 9\n",
            "diff --git a/x b/x\n--- x\n",
            "* Unmerged path \n",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_over_the_limit_keeps_its_counts() {
        let text = format!(
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,3 @@\n-1\n+{}\n+2\n+3\n\
             diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n",
            "long".repeat(100_000)
        );
        let limits = ReadLimits {
            max_file_bytes: 1000,
            max_patch_bytes: 5000,
        };
        let patch = parse_patch(&mut text.as_bytes(), &limits).unwrap();
        let Body::Omitted { size, reason, .. } = &patch.files[0].body else {
            panic!("kept")
        };
        assert_eq!(*size, 400_000 + 7);
        assert!(reason.contains("1000 bytes"), "{reason}");
        assert_eq!(patch.files[0].counts(), (3, 1));
        assert_eq!(lines(&patch.files[1]), ["-1", "+2"]);
    }

    /// A line of a generated hunk: its sign and its bytes.
    fn any_line() -> impl Strategy<Value = (u8, Vec<u8>)> {
        let text =
            proptest::collection::vec(any::<u8>().prop_filter("no feed", |b| *b != b'\n'), 0..12);
        let header = prop::sample::select(vec![
            b"diff --git a/x b/x".to_vec(),
            b"@@ -1 +1 @@".to_vec(),
            b"-- a/x".to_vec(),
            b"++ b/x".to_vec(),
        ]);
        (
            prop::sample::select(b" +-".to_vec()),
            prop_oneof![text, header],
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn any_bytes_are_read_without_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
            drop(parse(&text));
        }

        #[test]
        fn any_order_of_patch_lines_is_read_without_panic(
            picks in proptest::collection::vec(0usize..18, 0..30),
        ) {
            let pieces = [
                "diff --git a/x b/x", "--- a/x", "+++ b/x", "@@ -1,2 +1,2 @@", "@@ -0,0 +1 @@ s",
                " c", "+a", "-r", "", "\\ No newline at end of file", "rename from x", "rename to y",
                "new file mode 100644", "deleted file mode 100644", "GIT binary patch",
                "Binary files a/x and b/x differ", "* Unmerged path u", "diff --cc c",
            ];
            let text: Vec<_> = picks.iter().map(|&pick| pieces[pick]).collect();
            if let Ok(files) = parse(text.join("\n").as_bytes()) {
                for file in files {
                    file.path();
                    file.for_each_added(|_, _| {});
                }
            }
        }

        #[test]
        fn every_line_of_every_hunk_comes_back(
            files in proptest::collection::vec(proptest::collection::vec(any_line(), 1..8), 1..4),
        ) {
            let mut text = Vec::new();
            for (index, lines) in files.iter().enumerate() {
                let side = |other: u8| lines.iter().filter(|(sign, _)| *sign != other).count();
                text.extend(format!(
                    "diff --git a/f{index} b/f{index}\n--- a/f{index}\n+++ b/f{index}\n@@ -1,{} +1,{} @@\n",
                    side(b'+'), side(b'-'),
                ).bytes());
                for (sign, line) in lines {
                    text.push(*sign);
                    text.extend(line);
                    text.push(b'\n');
                }
            }
            let parsed = parse(&text).unwrap();
            prop_assert_eq!(parsed.len(), files.len());
            for (file, lines) in parsed.iter().zip(&files) {
                let got: Vec<_> = file.hunks()[0].lines.iter().map(|line| {
                    let sign = match line.kind {
                        LineKind::Context => b' ',
                        LineKind::Added => b'+',
                        LineKind::Removed => b'-',
                    };
                    (sign, file.text(line).to_vec())
                }).collect();
                prop_assert_eq!(&got, lines);
            }
        }
    }
}
