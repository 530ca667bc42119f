//! Symbolic links of the reviewed tree.

use std::path::Path;

use diffwarden_actors::model::{Failure, RepoPath, TargetKind};

use super::files::{Entry, Folder};
use super::history::History;
use super::repository::Repository;
use super::resolve::Resolved;

/// No path on any system is longer than this, in bytes.
const TARGET_LIMIT: u64 = 64 << 10;

/// The mode of a symbolic link in the index.
const LINK_MODE: u32 = 0o120_000;

/// The tree after a change, as far as its links go.
pub struct TreeLinks<'a>(Tree<'a>);

enum Tree<'a> {
    Work(Option<Folder>),
    Commit(&'a dyn History, &'a str),
}

impl Repository {
    /// Returns the links of the tree that `resolved` leads to: a commit's, or the work tree's.
    ///
    /// # Errors
    ///
    /// `missing_requirement` when nothing here can read the repository.
    pub fn links<'a>(&'a self, resolved: &'a Resolved) -> Result<TreeLinks<'a>, Failure> {
        let target = &resolved.target;
        let commit = match target.kind {
            TargetKind::Commit => target.commit_sha.as_deref(),
            TargetKind::Base if !resolved.has_work_tree => target.head_sha.as_deref(),
            _ => None,
        };
        Ok(TreeLinks(match commit {
            Some(commit) => Tree::Commit(self.history()?, commit),
            None => Tree::Work(Folder::open(Path::new(&target.repo_root)).ok()),
        }))
    }

    /// Returns every link in the index, with the text it holds in the work tree; none where only
    /// git can read the index.
    pub fn tracked_links(&self) -> Vec<(RepoPath, Vec<u8>)> {
        let index = self
            .library
            .as_ref()
            .and_then(|library| library.0.index().ok());
        let Some(index) = index else {
            return Vec::new();
        };
        let tree = TreeLinks(Tree::Work(Folder::open(&self.root).ok()));
        let entries = index.iter().filter(|entry| entry.mode == LINK_MODE);
        let links = entries.filter_map(|entry| {
            let path = RepoPath::new(entry.path);
            let target = tree.read(&path)?;
            Some((path, target))
        });
        links.collect()
    }
}

impl TreeLinks<'_> {
    /// Returns the text of the link at a path, `None` where there is no link.
    pub fn read(&self, path: &RepoPath) -> Option<Vec<u8>> {
        match &self.0 {
            Tree::Work(folder) => match folder.as_ref()?.read(path, 0).ok()? {
                Entry::Link { target } => Some(target),
                _ => None,
            },
            Tree::Commit(history, commit) => history.link(commit, path, TARGET_LIMIT).ok()?,
        }
    }
}
