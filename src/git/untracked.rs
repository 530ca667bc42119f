//! Patches of files that git does not know yet.

use std::io;
use std::path::Path;

use diffwarden_actors::model::{Body, Change, FilePatch, Hunk, Line, LineKind, Mode, RepoPath};

use super::encoded;
use super::files::{Entry, Folder, is_binary, is_gone};
use super::limits::{Budget, cost_of_hunk, cost_of_lines};
use super::unread;

/// Arguments that list the untracked files of the whole work tree, each name ended by a NUL.
/// Reports of earlier runs are never reviewed.
pub(super) const LIST: [&str; 5] = [
    "ls-files",
    "--others",
    "--exclude-standard",
    "-z",
    "--exclude=.diffwarden/reports/**",
];

/// Where reports lie, for listings that are not made by git.
pub(super) const REPORTS: &[u8] = b".diffwarden/reports/";

/// Reads untracked files one after the other and returns each as an added file.
///
/// A file that is gone by now has no block. One that cannot be read keeps its place, with the
/// reason: leaving it out would hide a file by taking a permission away.
pub(super) fn read_untracked(
    root: &Path,
    names: impl IntoIterator<Item = RepoPath>,
    budget: &mut Budget,
) -> io::Result<Vec<FilePatch>> {
    let folder = Folder::open(root)?;
    Ok(names
        .into_iter()
        .filter_map(|path| read_one(&folder, path, budget))
        .collect())
}

/// Splits a listing whose names are ended by NUL.
pub(super) fn split_names(list: &[u8]) -> impl Iterator<Item = RepoPath> {
    list.split(|&byte| byte == 0)
        .filter(|name| !name.is_empty())
        .map(RepoPath::new)
}

fn read_one(folder: &Folder, path: RepoPath, budget: &mut Budget) -> Option<FilePatch> {
    if path.as_bytes().ends_with(b"/") {
        return Some(unread::block(path, Change::Added, unread::NESTED));
    }
    let file = match folder.read(&path, budget.allowance()) {
        Ok(Entry::File { mode, contents }) => whole_file(path, mode, contents, budget),
        Ok(Entry::Link { target }) => whole_file(path, Mode(0o120_000), target, budget),
        Ok(Entry::Large { mode, size }) => {
            added(path, Some(mode), budget.omitted(size, 0, 0), Vec::new())
        }
        Ok(Entry::Other) => return None,
        Err(error) if is_gone(&error) => return None,
        Err(error) => {
            let reason = format!("the file cannot be read: {error}");
            unread::block(path, Change::Added, reason)
        }
    };
    Some(file)
}

/// Returns the block of a new file with these contents.
fn whole_file(path: RepoPath, mode: Mode, contents: Vec<u8>, budget: &mut Budget) -> FilePatch {
    if contents.is_empty() {
        return added(path, Some(mode), Body::Unchanged, contents);
    }
    if is_binary(&contents) {
        let text = encoded::text_within(&contents, budget);
        return added(path, Some(mode), Body::Binary, text);
    }
    let size = contents.len() as u64;
    let ends = contents.iter().filter(|&&byte| byte == b'\n').count();
    let count = ends + usize::from(contents.last() != Some(&b'\n'));
    let cost = cost_of_lines(count as u64, size) + cost_of_hunk(b"");
    let hunk = (cost <= budget.allowance())
        .then(|| whole_hunk(&contents, count))
        .flatten();
    let Some(hunk) = hunk else {
        let body = budget.omitted(size, count as u64, 0);
        return added(path, Some(mode), body, Vec::new());
    };
    budget.spend(cost);
    added(path, Some(mode), Body::Hunks(vec![hunk]), contents)
}

/// Returns the hunk that adds every line of `contents`; `None` above 4 GiB.
fn whole_hunk(contents: &[u8], count: usize) -> Option<Hunk> {
    let mut lines = Vec::with_capacity(count);
    let mut start = 0;
    for text in contents.split_inclusive(|&byte| byte == b'\n') {
        let ended = text.last() == Some(&b'\n');
        lines.push(Line {
            kind: LineKind::Added,
            no_newline: !ended,
            start: u32::try_from(start).ok()?,
            len: u32::try_from(text.len() - usize::from(ended)).ok()?,
        });
        start += text.len();
    }
    Some(Hunk {
        old_start: 0,
        old_lines: 0,
        new_start: 1,
        new_lines: u32::try_from(count).ok()?,
        section: Vec::new(),
        lines,
    })
}

fn added(path: RepoPath, mode: Option<Mode>, body: Body, content: Vec<u8>) -> FilePatch {
    FilePatch {
        old_path: None,
        new_path: Some(path),
        change: Change::Added,
        old_mode: None,
        new_mode: mode,
        old_id: None,
        new_id: None,
        similarity: None,
        body,
        content,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::git::limits::ReadLimits;

    fn read(root: &Path, names: &[&str], limits: ReadLimits) -> Vec<FilePatch> {
        let names = names.iter().map(|name| RepoPath::from(*name));
        read_untracked(root, names, &mut Budget::new(&limits)).unwrap()
    }

    #[test]
    fn every_kind_of_file_becomes_the_block_git_would_make_of_it() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        fs::write(at("text"), "one\r\n\nlast").unwrap();
        fs::write(at("empty"), "").unwrap();
        fs::write(at("binary"), "a\0b\n").unwrap();
        symlink("../secret", at("link")).unwrap();
        let names = ["text", "empty", "binary", "link", "gone", "nested/"];
        let files = read(temp.path(), &names, ReadLimits::default());

        let kinds: Vec<_> = files
            .iter()
            .map(|file| (file.path().to_string(), &file.body))
            .collect();
        let Body::Hunks(hunks) = kinds[0].1 else {
            panic!("{kinds:?}")
        };
        let lines: Vec<_> = hunks[0]
            .lines
            .iter()
            .map(|line| files[0].text(line))
            .collect();
        assert_eq!(lines, [&b"one\r"[..], b"", b"last"]);
        assert!(hunks[0].lines[2].no_newline);
        assert_eq!((hunks[0].new_start, hunks[0].new_lines), (1, 3));
        assert_eq!(kinds[1], ("empty".into(), &Body::Unchanged));
        assert_eq!(kinds[2], ("binary".into(), &Body::Binary));
        assert_eq!(files[3].new_mode, Some(Mode(0o120_000)));
        assert_eq!(files[3].text(&files[3].hunks()[0].lines[0]), b"../secret");
        assert_eq!(kinds[4].0, "nested/");
        assert!(matches!(kinds[4].1, Body::Omitted { size: 0, .. }));
    }

    #[test]
    fn what_is_too_large_keeps_its_place_and_its_numbers() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("large"), "x".repeat(101)).unwrap();
        fs::write(temp.path().join("blank"), "\n".repeat(50)).unwrap();
        let limits = ReadLimits {
            max_file_bytes: 100,
            max_patch_bytes: 1000,
        };
        let files = read(temp.path(), &["large", "blank"], limits);
        assert!(matches!(
            &files[0].body,
            Body::Omitted {
                size: 101,
                added: 0,
                ..
            }
        ));
        assert!(matches!(
            &files[1].body,
            Body::Omitted {
                size: 50,
                added: 50,
                ..
            }
        ));
    }

    #[test]
    fn the_whole_patch_has_a_limit_too() {
        let temp = tempfile::tempdir().unwrap();
        for name in ["a", "b", "c"] {
            fs::write(temp.path().join(name), "text\n".repeat(20)).unwrap();
        }
        let limits = ReadLimits {
            max_file_bytes: 1000,
            max_patch_bytes: 1000,
        };
        let files = read(temp.path(), &["a", "b", "c"], limits);
        assert_eq!(files[1].counts(), (20, 0));
        assert_eq!(files[2].counts(), (20, 0));
        let Body::Omitted { reason, .. } = &files[2].body else {
            panic!("kept")
        };
        assert!(reason.contains("as a whole"), "{reason}");
    }
}
