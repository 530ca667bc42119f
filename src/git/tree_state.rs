//! What HEAD, the index and the work tree hold at one moment, to see later whether they changed.
//!
//! A reviewer only reads. One that writes all the same, or a user who goes on working, makes a
//! review of something that is no longer there. What must stay true: a look at the tree that git
//! itself takes (`git status` renews what the index remembers of every file) is no change.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use diffwarden_actors::model::{Failure, RepoPath};

use super::collect::DirtyCheck;
use super::repository::Repository;
use super::work_tree::{Collected, Staged};

/// The state of a work tree, as far as it differs from HEAD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeState {
    /// The commit and the branch of HEAD.
    head: (Option<String>, Option<String>),
    marks: BTreeMap<RepoPath, Mark>,
}

/// A file of the machine, by device and number.
pub type FileId = (u64, u64);

/// What tells one state of a path from another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Mark {
    /// Modes and objects of a change that is staged, as git prints them.
    staged: Option<Vec<u8>>,
    /// Mode and object of each block of the change from HEAD; what was not read has no object.
    changed: Vec<(Option<u32>, Option<String>)>,
    /// The facts about a file whose contents git does not know.
    unknown: Option<Facts>,
}

/// Size, time of the last change in nanoseconds, number and mode; `None` when nothing is there.
type Facts = Option<(u64, i64, u64, u32)>;

impl Repository {
    /// Returns the state of HEAD, the index and the work tree. Files that git ignores, the insides
    /// of submodules and the `written` files are no part of it.
    ///
    /// # Errors
    ///
    /// When the repository cannot be read.
    pub fn fingerprint(&self, written: &[FileId]) -> Result<TreeState, Failure> {
        let history = self.history()?;
        let head = (history.head()?, history.branch()?);
        let check = self.start_dirty_check(head.0.as_deref())?;
        let staged = match &check {
            DirtyCheck::Git(look) => Some(look.start_staged()?),
            DirtyCheck::Library => None,
        };
        let mut marks: BTreeMap<RepoPath, Mark> = BTreeMap::new();
        let Collected { files, untracked } = self.changes(check)?;
        for file in files {
            let mark = marks.entry(file.path().clone()).or_default();
            if file.new_id.is_none() {
                mark.unknown = Some(facts(&self.root, file.path()));
            }
            mark.changed
                .push((file.new_mode.map(|mode| mode.0), file.new_id));
        }
        for path in untracked {
            let facts = facts(&self.root, &path);
            marks.entry(path).or_default().unknown = Some(facts);
        }
        for (facts, path) in staged.map_or(Ok(Vec::new()), Staged::finish)? {
            marks.entry(path).or_default().staged = Some(facts);
        }
        marks.retain(|path, _| !is_one_of(written, &self.root, path));
        Ok(TreeState { head, marks })
    }
}

impl TreeState {
    /// Returns the paths whose state is another than it was before, sorted. A moved HEAD is one of
    /// them.
    pub fn changes_since(&self, before: &Self) -> Vec<RepoPath> {
        let head = (self.head != before.head).then(|| RepoPath::from(".git/HEAD"));
        let is_other = |path: &&RepoPath| self.marks.get(*path) != before.marks.get(*path);
        let known = before.marks.keys();
        let new = self.marks.keys();
        let new = new.filter(|path| !before.marks.contains_key(*path));
        let mut paths: Vec<_> = known.chain(new).filter(is_other).cloned().collect();
        paths.extend(head);
        paths.sort_unstable();
        paths
    }
}

/// Returns the files that this process's own output goes to: the shell may have put one of them
/// into the work tree.
pub fn own_outputs() -> Vec<FileId> {
    let (out, err) = (std::io::stdout(), std::io::stderr());
    let duplicates = [
        out.as_fd().try_clone_to_owned(),
        err.as_fd().try_clone_to_owned(),
    ];
    let known = duplicates.into_iter().flatten();
    known
        .filter_map(|file| File::from(file).metadata().ok())
        .map(|facts| (facts.dev(), facts.ino()))
        .collect()
}

fn facts(root: &Path, path: &RepoPath) -> Facts {
    let facts = at(root, path).symlink_metadata().ok()?;
    let time = facts.mtime().saturating_mul(1_000_000_000);
    Some((
        facts.size(),
        time.saturating_add(facts.mtime_nsec()),
        facts.ino(),
        facts.mode(),
    ))
}

fn is_one_of(files: &[FileId], root: &Path, path: &RepoPath) -> bool {
    let facts = at(root, path).symlink_metadata();
    facts.is_ok_and(|facts| files.contains(&(facts.dev(), facts.ino())))
}

fn at(root: &Path, path: &RepoPath) -> std::path::PathBuf {
    root.join(std::ffi::OsStr::from_bytes(path.as_bytes()))
}
