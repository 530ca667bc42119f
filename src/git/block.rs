//! One file block of a patch while it is being read.

use diffwarden_actors::model::{Body, Change, FilePatch, Hunk, Line, LineKind, Mode, RepoPath};

use super::limits::{Budget, cost_of_hunk, cost_of_lines};
use super::quoting::{read_common_name, read_name, read_side};

/// The facts of one block. Header lines may come in any order; what is missing stays absent.
#[derive(Debug, Default)]
pub(super) struct Block {
    /// What follows `diff --git `; it names the file only where nothing else does.
    names: Vec<u8>,
    old_side: Option<Option<RepoPath>>,
    new_side: Option<Option<RepoPath>>,
    moved_from: Option<RepoPath>,
    moved_to: Option<RepoPath>,
    change: Option<Change>,
    old_mode: Option<Mode>,
    new_mode: Option<Mode>,
    old_id: Option<String>,
    new_id: Option<String>,
    similarity: Option<u8>,
    binary: bool,
    text: Text,
}

/// The lines of a block, or only their numbers once they are too many.
#[derive(Debug, Default)]
struct Text {
    hunks: Vec<Hunk>,
    content: Vec<u8>,
    bytes: u64,
    added: u64,
    removed: u64,
    cost: u64,
    oversize: bool,
}

impl Block {
    pub(super) fn new(names: &[u8]) -> Self {
        Self {
            names: names.to_vec(),
            ..Self::default()
        }
    }

    /// Takes in a header line. A header line of a kind that is not known is skipped, as git may
    /// add kinds; lines that look like contents are refused.
    pub(super) fn header(&mut self, line: &[u8]) -> Result<(), &'static str> {
        let broken = "a header line cannot be read";
        if let Some(text) = line.strip_prefix(b"--- ") {
            self.old_side = Some(read_side(text, b"a/").ok_or(broken)?);
        } else if let Some(text) = line.strip_prefix(b"+++ ") {
            self.new_side = Some(read_side(text, b"b/").ok_or(broken)?);
        } else if let Some(text) = line.strip_prefix(b"index ") {
            self.ids(text).ok_or(broken)?;
        } else if let Some(text) = line.strip_prefix(b"old mode ") {
            self.old_mode = Some(read_mode(text).ok_or(broken)?);
        } else if let Some(text) = line.strip_prefix(b"new mode ") {
            self.new_mode = Some(read_mode(text).ok_or(broken)?);
        } else if let Some(text) = line.strip_prefix(b"new file mode ") {
            self.change = Some(Change::Added);
            self.new_mode = Some(read_mode(text).ok_or(broken)?);
        } else if let Some(text) = line.strip_prefix(b"deleted file mode ") {
            self.change = Some(Change::Deleted);
            self.old_mode = Some(read_mode(text).ok_or(broken)?);
        } else if let Some(text) = line.strip_prefix(b"similarity index ") {
            self.similarity = Some(read_percent(text).ok_or(broken)?);
        } else if line.starts_with(b"Binary files ") || line == b"GIT binary patch" {
            self.binary = true;
        } else if matches!(line.first(), Some(b'+' | b'-' | b' ' | b'\\')) {
            return Err("contents stand where a header was expected");
        } else {
            self.moved(line).ok_or(broken)?;
        }
        Ok(())
    }

    fn moved(&mut self, line: &[u8]) -> Option<()> {
        let kinds = [
            (&b"rename from "[..], Change::Renamed),
            (b"copy from ", Change::Copied),
            (b"rename to ", Change::Renamed),
            (b"copy to ", Change::Copied),
        ];
        for (index, (start, change)) in kinds.into_iter().enumerate() {
            let Some(text) = line.strip_prefix(start) else {
                continue;
            };
            let path = RepoPath::new(read_name(text).filter(|name| !name.is_empty())?);
            self.change = Some(change);
            let side = if index < 2 {
                &mut self.moved_from
            } else {
                &mut self.moved_to
            };
            *side = Some(path);
        }
        Some(())
    }

    /// Reads `<old>..<new>` with the mode of both sides where it did not change.
    fn ids(&mut self, text: &[u8]) -> Option<()> {
        let text = std::str::from_utf8(text).ok()?;
        let (ids, mode) = match text.split_once(' ') {
            Some((ids, mode)) => (ids, Some(read_mode(mode.as_bytes())?)),
            None => (text, None),
        };
        let (old, new) = ids.split_once("..")?;
        let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_id(old) || !is_id(new) {
            return None;
        }
        self.old_id = Some(old.to_owned());
        self.new_id = Some(new.to_owned());
        if mode.is_some() {
            self.old_mode = mode;
            self.new_mode = mode;
        }
        Some(())
    }

    /// Opens a hunk without lines.
    pub(super) fn open_hunk(&mut self, hunk: Hunk, budget: &Budget) {
        self.text.cost = self.text.cost.saturating_add(cost_of_hunk(&hunk.section));
        if !self.text.over(budget) {
            self.text.hunks.push(hunk);
        }
    }

    /// Takes in a line of the open hunk; `skipped` bytes of it were too many to be kept.
    pub(super) fn line(&mut self, kind: LineKind, line: &[u8], skipped: u64, budget: &Budget) {
        self.text.line(kind, line, skipped, budget);
    }

    /// Notes that the last line has no newline.
    pub(super) fn no_newline(&mut self) {
        let last = self
            .text
            .hunks
            .last_mut()
            .and_then(|hunk| hunk.lines.last_mut());
        if let Some(line) = last {
            line.no_newline = true;
        }
    }

    /// Whether a hunk was opened.
    pub(super) fn has_text(&self) -> bool {
        self.text.oversize || !self.text.hunks.is_empty()
    }

    /// Returns the finished block; `None` when it says nothing, as for a file that only looks
    /// changed until it is compared.
    pub(super) fn finish(mut self, budget: &mut Budget) -> Result<Option<FilePatch>, &'static str> {
        let (old_path, new_path) = self.paths().ok_or("a file has no name")?;
        let change = match (self.change, &old_path, &new_path) {
            (Some(change), ..) => change,
            (None, None, _) => Change::Added,
            (None, _, None) => Change::Deleted,
            (None, ..) => Change::Modified,
        };
        let says_nothing = change == Change::Modified
            && !self.has_text()
            && !self.binary
            && self.old_mode == self.new_mode
            && self.old_id == self.new_id;
        if says_nothing {
            return Ok(None);
        }
        let mut text = std::mem::take(&mut self.text);
        let body = if text.oversize {
            budget.omitted(text.bytes, text.added, text.removed)
        } else if !text.hunks.is_empty() {
            budget.spend(text.cost);
            text.shrink();
            Body::Hunks(text.hunks)
        } else if self.binary {
            Body::Binary
        } else {
            Body::Unchanged
        };
        Ok(Some(FilePatch {
            old_path,
            new_path,
            change,
            old_mode: self.old_mode,
            new_mode: self.new_mode,
            old_id: self.old_id,
            new_id: self.new_id,
            similarity: self.similarity,
            body,
            content: text.content,
        }))
    }

    fn paths(&mut self) -> Option<(Option<RepoPath>, Option<RepoPath>)> {
        let (old, new) = match (self.moved_from.take(), self.moved_to.take()) {
            (Some(from), Some(to)) => (Some(from), Some(to)),
            _ => match (self.old_side.take(), self.new_side.take()) {
                (Some(old), Some(new)) => (old, new),
                _ => {
                    let name = read_common_name(&self.names)?;
                    (Some(name.clone()), Some(name))
                }
            },
        };
        let old = old.filter(|_| self.change != Some(Change::Added));
        let new = new.filter(|_| self.change != Some(Change::Deleted));
        (old.is_some() || new.is_some()).then_some((old, new))
    }
}

impl Text {
    fn line(&mut self, kind: LineKind, text: &[u8], skipped: u64, budget: &Budget) {
        match kind {
            LineKind::Added => self.added += 1,
            LineKind::Removed => self.removed += 1,
            LineKind::Context => {}
        }
        let length = (text.len() as u64).saturating_add(skipped);
        self.bytes = self.bytes.saturating_add(length).saturating_add(1);
        self.cost = self.cost.saturating_add(cost_of_lines(1, length));
        if self.over(budget) {
            return;
        }
        let (Ok(start), Ok(len)) = (self.content.len().try_into(), text.len().try_into()) else {
            return self.drop_lines();
        };
        self.content.extend_from_slice(text);
        if let Some(hunk) = self.hunks.last_mut() {
            hunk.lines.push(Line {
                kind,
                no_newline: false,
                start,
                len,
            });
        }
    }

    fn over(&mut self, budget: &Budget) -> bool {
        if !self.oversize && self.cost > budget.allowance() {
            self.drop_lines();
        }
        self.oversize
    }

    fn drop_lines(&mut self) {
        self.oversize = true;
        self.hunks = Vec::new();
        self.content = Vec::new();
    }

    fn shrink(&mut self) {
        self.content.shrink_to_fit();
        self.hunks.shrink_to_fit();
        for hunk in &mut self.hunks {
            hunk.lines.shrink_to_fit();
        }
    }
}

fn read_mode(text: &[u8]) -> Option<Mode> {
    let text = std::str::from_utf8(text).ok()?;
    (text.len() <= 6 && text.bytes().all(|digit| digit.is_ascii_digit()))
        .then(|| u32::from_str_radix(text, 8).ok().map(Mode))?
}

fn read_percent(text: &[u8]) -> Option<u8> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('%')?;
    text.parse().ok().filter(|percent| *percent <= 100)
}
