//! What belongs to the change and cannot be read.
//!
//! A file that changed and was not read must not be missing from the patch, and must not end the
//! review of all the others. It has a block that says why there are no lines, so that the coverage
//! names it and the result is not taken for a full review.

use std::collections::HashSet;
use std::fs::{FileType, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use diffwarden_actors::model::{Body, Change, FilePatch, RepoPath};
use rustix::fs::{Access, AtFlags, CWD};

use super::files::is_gone;
use super::repository::list;

/// Why a folder with a repository of its own has no lines.
pub(super) const NESTED: &str =
    "an untracked folder that holds another repository is not looked into";

/// Returns the block of a path that was not read, for this reason.
pub(super) fn block(path: RepoPath, change: Change, reason: impl Into<String>) -> FilePatch {
    FilePatch {
        old_path: (change != Change::Added).then(|| path.clone()),
        new_path: Some(path),
        change,
        old_mode: None,
        new_mode: None,
        old_id: None,
        new_id: None,
        similarity: None,
        body: Body::Omitted {
            size: 0,
            added: 0,
            removed: 0,
            reason: reason.into(),
        },
        content: Vec::new(),
    }
}

/// Returns why git could not read what lies at a path, if there is a reason.
pub(super) fn obstacle(root: &Path, path: &RepoPath) -> Option<String> {
    let place = place(root, path);
    let facts = match place.symlink_metadata() {
        Ok(facts) => facts,
        Err(error) if is_gone(&error) => return None,
        Err(error) => return Some(cannot_be_read(&error)),
    };
    if let Some(kind) = odd_kind(facts.file_type()) {
        return Some(format!(
            "in its place there is {kind}, which has no contents to show"
        ));
    }
    if !facts.is_file() {
        return None;
    }
    let access = rustix::fs::accessat(CWD, &place, Access::READ_OK, AtFlags::EACCESS);
    access.err().map(|error| cannot_be_read(&error.into()))
}

/// Puts deletions right that are none: git takes a file below a folder that it may not enter for
/// deleted, and says nothing of a repository that took the place of a file.
pub(super) fn correct_deletions(root: &Path, files: &mut Vec<FilePatch>) {
    let added: HashSet<RepoPath> = files
        .iter()
        .filter_map(|file| file.new_path.clone())
        .collect();
    let mut nested = Vec::new();
    for file in files
        .iter_mut()
        .filter(|file| file.change == Change::Deleted)
    {
        let path = file.path().clone();
        match place(root, &path).symlink_metadata() {
            Err(error) if !is_gone(&error) => {
                *file = block(path, Change::Modified, cannot_be_read(&error));
            }
            Ok(facts) if is_repository(root, &path, &facts) && !added.contains(&path) => {
                let path = RepoPath::new([path.as_bytes(), b"/"].concat());
                nested.push(block(path, Change::Added, NESTED));
            }
            _ => {}
        }
    }
    files.extend(nested);
}

/// Reads from git's warnings which folders it could not look into for untracked files, and puts
/// them in the order of their names; git's is that of the disk.
pub(super) fn closed_folders(message: &str) -> impl Iterator<Item = FilePatch> {
    let lines = message.lines();
    let opening = "warning: could not open directory '";
    let mut folders: Vec<_> = lines
        .filter_map(|line| line.strip_prefix(opening))
        .collect();
    folders.sort_unstable();
    folders.into_iter().map(|rest| {
        let (path, reason) = rest.rsplit_once("': ").unwrap_or((rest, "no reason given"));
        let reason = format!("the folder cannot be opened: {reason}");
        block(RepoPath::from(path), Change::Added, reason)
    })
}

/// Names what was not read.
pub(super) fn warning(files: &[FilePatch]) -> Option<String> {
    let unread: Vec<_> = files
        .iter()
        .filter_map(|file| match &file.body {
            Body::Omitted {
                size: 0, reason, ..
            } => Some(format!("{} ({reason})", file.path())),
            _ => None,
        })
        .collect();
    (!unread.is_empty()).then(|| format!("not reviewed: {}", list(unread.iter())))
}

fn is_repository(root: &Path, path: &RepoPath, facts: &Metadata) -> bool {
    facts.is_dir() && place(root, path).join(".git").symlink_metadata().is_ok()
}

fn place(root: &Path, path: &RepoPath) -> PathBuf {
    root.join(std::ffi::OsStr::from_bytes(path.as_bytes()))
}

fn odd_kind(kind: FileType) -> Option<&'static str> {
    if kind.is_fifo() {
        Some("a pipe")
    } else if kind.is_socket() {
        Some("a socket")
    } else if kind.is_block_device() || kind.is_char_device() {
        Some("a device")
    } else {
        None
    }
}

fn cannot_be_read(error: &io::Error) -> String {
    format!("it cannot be read: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(file: &FilePatch) -> &str {
        match &file.body {
            Body::Omitted { reason, .. } => reason,
            body => panic!("{body:?}"),
        }
    }

    #[test]
    fn folders_that_git_could_not_open_are_named() {
        let message = "warning: could not open directory 'it's: odd/': Permission denied\n\
                       warning: something else\n\
                       warning: could not open directory 'cut off";
        let files: Vec<_> = closed_folders(message).collect();
        let named: Vec<_> = files
            .iter()
            .map(|file| (file.path().to_string(), reason(file)))
            .collect();
        assert_eq!(
            named,
            [
                (
                    "cut off".to_owned(),
                    "the folder cannot be opened: no reason given"
                ),
                (
                    "it's: odd/".to_owned(),
                    "the folder cannot be opened: Permission denied"
                ),
            ]
        );
        let warning = warning(&files).unwrap();
        assert!(warning.contains("it's: odd/ ("), "{warning}");
    }

    #[test]
    fn what_is_a_file_a_link_or_gone_is_no_obstacle() {
        let temp = tempfile::tempdir().unwrap();
        std::fs::write(temp.path().join("file"), "x").unwrap();
        std::os::unix::fs::symlink("/dev/null", temp.path().join("link")).unwrap();
        let socket = std::os::unix::net::UnixListener::bind(temp.path().join("socket")).unwrap();
        for name in ["file", "link", "gone", "file/below"] {
            assert_eq!(obstacle(temp.path(), &name.into()), None, "{name}");
        }
        let found = obstacle(temp.path(), &"socket".into()).unwrap();
        assert!(found.contains("a socket"), "{found}");
        drop(socket);
    }
}
