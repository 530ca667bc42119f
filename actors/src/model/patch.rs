use std::collections::BTreeMap;

use super::{LineRange, RepoPath};

/// What changed: one entry per file block of the diff, in the order git printed them.
///
/// Built by one parser from git's text, or from the contents of untracked files. Lines keep their
/// bytes, carriage returns included.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// The changed files. One path can appear twice: a type change is a deletion and an addition.
    pub files: Vec<FilePatch>,
}

/// One file block of a patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// The path before the change; `None` for an added file.
    pub old_path: Option<RepoPath>,
    /// The path after the change; `None` for a deleted file.
    pub new_path: Option<RepoPath>,
    /// What happened to the file as a whole.
    pub change: Change,
    /// The mode before, when the block names it.
    pub old_mode: Option<Mode>,
    /// The mode after, when the block names it.
    pub new_mode: Option<Mode>,
    /// The blob id before, as hexadecimal, when the block names it.
    pub old_id: Option<String>,
    /// The blob id after, as hexadecimal, when the block names it.
    pub new_id: Option<String>,
    /// How alike the two sides of a rename or copy are, in percent.
    pub similarity: Option<u8>,
    /// The change of the contents.
    pub body: Body,
    /// The bytes that the lines of the hunks refer to. For a new file that git calls binary, what it
    /// says in UTF-8, where it is text after all; else empty.
    pub content: Vec<u8>,
}

/// What happened to a file as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The file is new.
    Added,
    /// The file is gone.
    Deleted,
    /// Contents, mode or both changed.
    Modified,
    /// The file moved, with or without edits.
    Renamed,
    /// The file was copied, with or without edits.
    Copied,
}

/// How the contents of a file changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Not at all: a pure rename, a mode change, an empty file.
    Unchanged,
    /// Git calls it binary: no lines to show.
    Binary,
    /// Line by line.
    Hunks(Vec<Hunk>),
    /// The contents were not kept, for the reason given.
    Omitted {
        /// The size of the file, or of its changed lines with their context, in bytes.
        size: u64,
        /// Lines added; 0 when the file was not read at all.
        added: u64,
        /// Lines removed; 0 when the file was not read at all.
        removed: u64,
        /// Why, as a fragment that fits after "not shown: ".
        reason: String,
    },
    /// The path is unmerged, or a folder that holds another repository: there is only a note.
    Note(String),
}

/// A run of changed lines with its context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// First line of the old side, 1-based; 0 when the old side is empty.
    pub old_start: u32,
    /// Number of lines of the old side.
    pub old_lines: u32,
    /// First line of the new side, 1-based; 0 when the new side is empty.
    pub new_start: u32,
    /// Number of lines of the new side.
    pub new_lines: u32,
    /// The text after the second `@@`, without its leading blank.
    pub section: Vec<u8>,
    /// The lines, in order.
    pub lines: Vec<Line>,
}

/// A line of a hunk; its text lies in [`FilePatch::content`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Which side the line belongs to.
    pub kind: LineKind,
    /// Whether the file ends here without a newline.
    pub no_newline: bool,
    /// Offset of the text in [`FilePatch::content`], in bytes.
    pub start: u32,
    /// Length of the text in bytes, without the line feed.
    pub len: u32,
}

/// Which side of the diff a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// On both sides.
    Context,
    /// Only on the new side.
    Added,
    /// Only on the old side.
    Removed,
}

/// A file mode as git records it, such as `0o100644`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode(pub u32);

impl Mode {
    /// Whether this is a symbolic link.
    pub fn is_symlink(self) -> bool {
        self.0 == 0o120_000
    }

    /// Whether this is a submodule's commit.
    pub fn is_submodule(self) -> bool {
        self.0 == 0o160_000
    }
}

impl Patch {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the lines a finding may touch, for every file with added lines, as runs in new-file
    /// numbering: the added lines, and the lines on both sides of a place where lines were only
    /// removed.
    ///
    /// A file without added lines (deleted, binary, renamed without edits, only lines removed)
    /// has no entry.
    pub fn changed_ranges(&self) -> BTreeMap<RepoPath, Vec<LineRange>> {
        let mut ranges: BTreeMap<RepoPath, Vec<LineRange>> = BTreeMap::new();
        for file in &self.files {
            let Some(path) = &file.new_path else { continue };
            if file.counts().0 > 0 {
                let runs = ranges.entry(path.clone()).or_default();
                file.for_each_changed(|line| extend_runs(runs, line));
            }
        }
        ranges.retain(|_, runs| !runs.is_empty());
        ranges
    }
}

/// Takes in a line that comes after all those that were taken in before, or is the last of them.
fn extend_runs(runs: &mut Vec<LineRange>, line: u32) {
    match runs.last_mut() {
        Some(run) if (run.end..=run.end + 1).contains(&line) => run.end = line,
        _ => runs.push(LineRange {
            start: line,
            end: line,
        }),
    }
}

impl FilePatch {
    /// Returns the path that names this file now: the new one, or the old one when it is deleted.
    ///
    /// # Panics
    ///
    /// Never for a block made by the parser: every block has at least one side.
    pub fn path(&self) -> &RepoPath {
        self.new_path
            .as_ref()
            .or(self.old_path.as_ref())
            .expect("a file block has a path on at least one side")
    }

    /// Whether either side is a submodule, so that only a commit's name changed here.
    pub fn is_submodule(&self) -> bool {
        [self.old_mode, self.new_mode]
            .into_iter()
            .flatten()
            .any(Mode::is_submodule)
    }

    /// Returns the hunks, none for a file without line changes.
    pub fn hunks(&self) -> &[Hunk] {
        match &self.body {
            Body::Hunks(hunks) => hunks,
            _ => &[],
        }
    }

    /// Returns the bytes of a line, without its line feed.
    pub fn text(&self, line: &Line) -> &[u8] {
        let start = line.start as usize;
        self.content
            .get(start..start + line.len as usize)
            .unwrap_or_default()
    }

    /// Calls `visit` with the new-side number (1-based) and bytes of every added line.
    pub fn for_each_added(&self, mut visit: impl FnMut(u32, &[u8])) {
        for hunk in self.hunks() {
            let mut number = hunk.new_start;
            for line in &hunk.lines {
                match line.kind {
                    LineKind::Added => {
                        visit(number, self.text(line));
                        number += 1;
                    }
                    LineKind::Context => number += 1,
                    LineKind::Removed => {}
                }
            }
        }
    }

    /// Returns how many lines were added and removed, also for contents that were counted but
    /// not kept.
    pub fn counts(&self) -> (u64, u64) {
        if let Body::Omitted { added, removed, .. } = self.body {
            return (added, removed);
        }
        let lines = self.hunks().iter().flat_map(|hunk| &hunk.lines);
        lines.fold((0, 0), |(added, removed), line| match line.kind {
            LineKind::Added => (added + 1, removed),
            LineKind::Removed => (added, removed + 1),
            LineKind::Context => (added, removed),
        })
    }

    /// Calls `visit` with the new-side number of every added line, and of the lines around every
    /// run of removed lines that no added line is part of. Numbers never go down, and can repeat.
    fn for_each_changed(&self, mut visit: impl FnMut(u32)) {
        for hunk in self.hunks() {
            let mut number = hunk.new_start;
            // The context line before, until a changed line is seen.
            let mut before = None;
            let (mut removed, mut added) = (false, false);
            for line in &hunk.lines {
                match line.kind {
                    LineKind::Added => {
                        visit(number);
                        number += 1;
                        added = true;
                    }
                    LineKind::Removed => removed = true,
                    LineKind::Context => {
                        if removed && !added {
                            before.into_iter().chain([number]).for_each(&mut visit);
                        }
                        (removed, added) = (false, false);
                        before = Some(number);
                        number += 1;
                    }
                }
            }
            if removed && !added {
                before.into_iter().for_each(&mut visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the runs of a hunk at new line 10 whose lines have these signs.
    fn runs(signs: &str) -> Vec<(u32, u32)> {
        let lines = signs.chars().map(|sign| Line {
            kind: match sign {
                '+' => LineKind::Added,
                '-' => LineKind::Removed,
                _ => LineKind::Context,
            },
            no_newline: false,
            start: 0,
            len: 0,
        });
        let hunk = Hunk {
            old_start: 10,
            old_lines: 0,
            new_start: 10,
            new_lines: 0,
            section: Vec::new(),
            lines: lines.collect(),
        };
        let path = RepoPath::from("a");
        let file = FilePatch {
            old_path: Some(path.clone()),
            new_path: Some(path.clone()),
            change: Change::Modified,
            old_mode: None,
            new_mode: None,
            old_id: None,
            new_id: None,
            similarity: None,
            body: Body::Hunks(vec![hunk]),
            content: Vec::new(),
        };
        let ranges = Patch { files: vec![file] }.changed_ranges();
        let runs = ranges.get(&path).into_iter().flatten();
        runs.map(|run| (run.start, run.end)).collect()
    }

    #[test]
    fn added_lines_count_and_so_do_the_neighbours_of_lines_that_are_only_gone() {
        assert_eq!(runs("   ++   "), [(13, 14)]);
        assert_eq!(runs("   -+   "), [(13, 13)]);
        assert_eq!(runs("   +-   -   "), [(13, 13), (16, 17)]);
        assert_eq!(runs("+ - - +"), [(10, 14)]);
        assert_eq!(runs("-   + "), [(10, 10), (13, 13)]);
        assert_eq!(runs("+   -"), [(10, 10), (13, 13)]);
        // Without an added line there is nothing to miss: any line will do.
        assert_eq!(runs("   -   "), []);
    }
}
