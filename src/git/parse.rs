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
mod tests;
