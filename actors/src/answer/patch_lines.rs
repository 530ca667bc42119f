//! What the patch shows of single lines, for naming findings and telling sides apart.

use std::collections::{HashMap, HashSet};

use crate::model::{FilePatch, LineKind, LineRange, Patch, RepoPath};

/// Which side of a diff a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The text before the change: the lines exist only as removed ones.
    Left,
    /// The text after the change.
    Right,
}

/// The lines that a patch shows of some files, by number.
#[derive(Debug, Default)]
pub struct PatchLines<'a> {
    files: HashMap<RepoPath, FileLines<'a>>,
}

/// Numbers are 1-based and ascend.
#[derive(Debug, Default)]
struct FileLines<'a> {
    new: Vec<(u32, &'a [u8])>,
    removed: Vec<(u32, &'a [u8])>,
}

impl<'a> PatchLines<'a> {
    /// Collects the lines of the files that are wanted.
    pub fn new(patch: &'a Patch, wanted: &HashSet<&RepoPath>) -> Self {
        let mut files: HashMap<RepoPath, FileLines<'a>> = HashMap::new();
        for file in &patch.files {
            if wanted.contains(file.path()) {
                files.entry(file.path().clone()).or_default().collect(file);
            }
        }
        for lines in files.values_mut() {
            lines.new.sort_by_key(|&(number, _)| number);
            lines.removed.sort_by_key(|&(number, _)| number);
        }
        Self { files }
    }

    /// Tells which side a range is about: the left one when none of its lines is shown on the new
    /// side and some line of the old side was removed there, else the right one.
    pub fn side(&self, path: &RepoPath, range: LineRange) -> Side {
        match self.files.get(path) {
            Some(file) if !touches(&file.new, range) && touches(&file.removed, range) => Side::Left,
            _ => Side::Right,
        }
    }

    /// Returns the text of a line, if the patch shows it.
    pub fn text(&self, path: &RepoPath, side: Side, line: u32) -> Option<&'a [u8]> {
        let file = self.files.get(path)?;
        let lines = match side {
            Side::Left => &file.removed,
            Side::Right => &file.new,
        };
        let index = lines.binary_search_by_key(&line, |&(number, _)| number);
        index.ok().map(|index| lines[index].1)
    }
}

impl<'a> FileLines<'a> {
    fn collect(&mut self, file: &'a FilePatch) {
        for hunk in file.hunks() {
            let (mut old, mut new) = (hunk.old_start, hunk.new_start);
            for line in &hunk.lines {
                let text = file.text(line);
                match line.kind {
                    LineKind::Context => {
                        self.new.push((new, text));
                        old = old.saturating_add(1);
                        new = new.saturating_add(1);
                    }
                    LineKind::Added => {
                        self.new.push((new, text));
                        new = new.saturating_add(1);
                    }
                    LineKind::Removed => {
                        self.removed.push((old, text));
                        old = old.saturating_add(1);
                    }
                }
            }
        }
    }
}

fn touches(lines: &[(u32, &[u8])], range: LineRange) -> bool {
    let first = lines.partition_point(|&(number, _)| number < range.start);
    lines
        .get(first)
        .is_some_and(|&(number, _)| number <= range.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::samples::file_patch;

    fn side(patch: &Patch, start: u32, end: u32) -> Side {
        let path = RepoPath::from("a");
        let lines = PatchLines::new(patch, &HashSet::from([&path]));
        lines.side(&path, LineRange { start, end })
    }

    #[test]
    fn lines_that_were_only_removed_are_on_the_left() {
        // Old lines 10 to 13 are gone; 9 and 14 are context, 9 and 10 on the new side.
        let shrunk = Patch {
            files: vec![file_patch("a", 9, 9, &[" i", "-j", "-k", "-l", "-m", " n"])],
        };
        assert_eq!(side(&shrunk, 12, 13), Side::Left);
        assert_eq!(side(&shrunk, 11, 20), Side::Left);
        for (start, end) in [(9, 9), (10, 13), (14, 14), (1, 2), (1, 100)] {
            assert_eq!(side(&shrunk, start, end), Side::Right, "{start}-{end}");
        }
        let mut deleted = file_patch("a", 1, 0, &["-x", "-y"]);
        deleted.new_path = None;
        let deleted = Patch {
            files: vec![deleted],
        };
        assert_eq!(side(&deleted, 1, 1), Side::Left);
        assert_eq!(side(&deleted, 9, 9), Side::Right);
        assert_eq!(side(&Patch::default(), 1, 1), Side::Right);
    }

    #[test]
    fn the_text_of_shown_lines_is_known() {
        let patch = Patch {
            files: vec![
                file_patch("a", 5, 6, &[" five", "-six", "+seven"]),
                file_patch("b", 1, 1, &["+b"]),
            ],
        };
        let (a, b) = (RepoPath::from("a"), RepoPath::from("b"));
        let lines = PatchLines::new(&patch, &HashSet::from([&a]));
        assert_eq!(lines.text(&a, Side::Right, 6), Some(&b"five"[..]));
        assert_eq!(lines.text(&a, Side::Right, 7), Some(&b"seven"[..]));
        assert_eq!(lines.text(&a, Side::Left, 6), Some(&b"six"[..]));
        assert_eq!(lines.text(&a, Side::Right, 8), None);
        assert_eq!(lines.text(&b, Side::Right, 1), None);
    }
}
