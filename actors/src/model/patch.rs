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

    /// Returns the lines a finding may touch, for every file whose lines the patch shows, as
    /// ascending runs: the added lines, and where lines were only removed, the lines on both sides
    /// of that place (by their new numbers) as well as those that are gone (by their old ones).
    ///
    /// A file without lines (binary, renamed without edits, too large) has no entry.
    pub fn changed_ranges(&self) -> BTreeMap<RepoPath, Vec<LineRange>> {
        let mut lines: BTreeMap<RepoPath, Vec<u32>> = BTreeMap::new();
        for file in &self.files {
            let lines = lines.entry(file.path().clone()).or_default();
            file.for_each_changed(|line| lines.push(line));
        }
        lines.retain(|_, lines| !lines.is_empty());
        let runs = lines
            .into_iter()
            .map(|(path, lines)| (path, runs_of(lines)));
        runs.collect()
    }
}

/// Joins lines, in any order, to runs.
fn runs_of(mut lines: Vec<u32>) -> Vec<LineRange> {
    lines.sort_unstable();
    let mut runs: Vec<LineRange> = Vec::new();
    for line in lines {
        match runs.last_mut() {
            Some(run) if line <= run.end.saturating_add(1) => run.end = line,
            _ => runs.push(LineRange {
                start: line,
                end: line,
            }),
        }
    }
    runs
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

    /// Calls `visit` with the new number of every added line, and for every run of removed lines
    /// that no added line is part of, with their old numbers and the new ones of the lines around
    /// them. Numbers come in no order, and can repeat.
    fn for_each_changed(&self, mut visit: impl FnMut(u32)) {
        for hunk in self.hunks() {
            let (mut old, mut new) = (hunk.old_start, hunk.new_start);
            // The context line before, until a changed line is seen.
            let mut before = None;
            let (mut first_removed, mut added) = (old, false);
            for line in &hunk.lines {
                match line.kind {
                    LineKind::Added => {
                        visit(new);
                        new = new.saturating_add(1);
                        added = true;
                    }
                    LineKind::Removed => old = old.saturating_add(1),
                    LineKind::Context => {
                        if first_removed < old && !added {
                            before.into_iter().chain([new]).for_each(&mut visit);
                            (first_removed..old).for_each(&mut visit);
                        }
                        before = Some(new);
                        (old, new) = (old.saturating_add(1), new.saturating_add(1));
                        (first_removed, added) = (old, false);
                    }
                }
            }
            if first_removed < old && !added {
                before.into_iter().for_each(&mut visit);
                (first_removed..old).for_each(&mut visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the runs of a hunk at line 10 of both sides whose lines have these signs.
    fn runs(signs: &str) -> Vec<(u32, u32)> {
        runs_at(10, signs)
    }

    /// The same, at a line of its own on the old side.
    fn runs_at(old_start: u32, signs: &str) -> Vec<(u32, u32)> {
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
            old_start,
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
        assert_eq!(runs("   -   "), [(12, 13)]);
        assert_eq!(runs("   "), []);
    }

    #[test]
    fn lines_that_are_only_gone_count_by_their_old_numbers_too() {
        assert_eq!(runs_at(40, "   ---   "), [(12, 13), (43, 45)]);
        assert_eq!(runs_at(40, "--"), [(40, 41)]);
        assert_eq!(runs_at(40, "-- "), [(10, 10), (40, 41)]);
        // Where others took their place, those are the changed lines.
        assert_eq!(runs_at(40, "   --+   "), [(13, 13)]);
        assert_eq!(runs_at(8, "   --   "), [(11, 13)]);
    }

    #[test]
    fn a_deleted_file_has_the_lines_it_had() {
        let line = Line {
            kind: LineKind::Removed,
            no_newline: false,
            start: 0,
            len: 0,
        };
        let path = RepoPath::from("gone");
        let file = FilePatch {
            old_path: Some(path.clone()),
            new_path: None,
            change: Change::Deleted,
            old_mode: None,
            new_mode: None,
            old_id: None,
            new_id: None,
            similarity: None,
            body: Body::Hunks(vec![Hunk {
                old_start: 1,
                old_lines: 3,
                new_start: 0,
                new_lines: 0,
                section: Vec::new(),
                lines: vec![line; 3],
            }]),
            content: Vec::new(),
        };
        let ranges = Patch { files: vec![file] }.changed_ranges();
        assert_eq!(ranges[&path], [LineRange { start: 1, end: 3 }]);
    }
}
