//! Collecting a change: who makes the patch, and what the other one is for.

use std::os::unix::ffi::OsStrExt as _;

use diffwarden_actors::model::{
    Degraded, DegradedTopic, Failure, FilePatch, RepoPath, TrustReason,
};

use super::encoded;
use super::files::{Entry, Folder};
use super::filters::mentions;
use super::limits::Budget;
use super::repository::{Repository, missing_git};
use super::resolve::ResolveOptions;
use super::untracked::read_untracked;
use super::work_tree::{Collected, Look, unreadable_tree};

/// A change with what has to be said about it.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) files: Vec<FilePatch>,
    pub(super) degraded: Vec<Degraded>,
    pub(super) doubts: Vec<TrustReason>,
    /// Whether the change ends in the work tree.
    pub(super) is_of_work_tree: bool,
    /// How many of the files, from the end, git does not know.
    pub(super) untracked: usize,
}

/// Returns what to say of the repository's own filters, which git was kept from running.
fn filters_off(warning: Option<String>) -> Vec<Degraded> {
    let entry = warning.map(|it| Degraded::warning(DegradedTopic::DiffSource, it));
    entry.into_iter().collect()
}

/// A look at the work tree that is under way.
pub(super) enum DirtyCheck {
    Git(Box<Look>),
    /// libgit2 looks when it is asked.
    Library,
}

impl Repository {
    /// Collects the change from a commit, or from nothing, to the work tree.
    pub(super) fn work_tree_draft(
        &self,
        base: Option<&str>,
        options: &ResolveOptions,
        budget: &mut Budget,
    ) -> Result<Draft, Failure> {
        let (collected, warning) = match (&self.git, &self.library) {
            (None, Some(library)) => {
                let made = library.work_tree_patch(base, budget)?;
                (made.map_err(|reason| missing_git(&reason))?, None)
            }
            _ => {
                let (git, warning) = self.hardened_git("its work tree")?;
                let base = base.unwrap_or(self.empty_tree());
                let look = git.start_look(base)?;
                (look.patch(&self.root, budget)?, warning)
            }
        };
        let Collected {
            mut files,
            untracked,
        } = collected;
        self.keep_text_of_work_tree(&mut files, base, budget);
        let untracked = untracked
            .into_iter()
            .filter(|path| !self.is_excluded(path, options));
        let added = read_untracked(&self.root, untracked, budget);
        let known = files.len();
        files.extend(added.map_err(|error| unreadable_tree(&self.root, &error))?);
        Ok(Draft {
            degraded: filters_off(warning),
            is_of_work_tree: true,
            untracked: files.len() - known,
            files,
            ..Draft::default()
        })
    }

    fn keep_text_of_work_tree(
        &self,
        files: &mut [FilePatch],
        base: Option<&str>,
        budget: &mut Budget,
    ) {
        let (Ok(folder), Ok(history)) = (Folder::open(&self.root), self.history()) else {
            return;
        };
        let read = |path: &RepoPath| match folder.read(path, encoded::FILE_LIMIT) {
            Ok(Entry::File { contents, .. }) => Some(contents),
            _ => None,
        };
        encoded::keep_text(files, budget, read, |path| {
            history.blob(base?, path, encoded::FILE_LIMIT).ok()?
        });
    }

    /// Collects the change from one commit, or from nothing, to another.
    pub(super) fn commit_draft(
        &self,
        old: Option<&str>,
        new: &str,
        budget: &mut Budget,
    ) -> Result<Draft, Failure> {
        let mut files = None;
        let mut reason = "libgit2 does not open it".to_owned();
        if let Some(library) = &self.library {
            // A driver of the repository's own could call text binary or bring a broken pattern, and
            // objects that a partial clone left out fail half way: git deals with both.
            if mentions(
                &self.configurations(),
                &[
                    "binary",
                    "funcname",
                    "wordregex",
                    "include",
                    "promisor",
                    "partialclone",
                ],
            ) {
                "its configuration has settings that only git follows".clone_into(&mut reason);
            } else {
                match library.commit_patch(old, new, budget)? {
                    Ok(made) => files = Some(made),
                    Err(why) => reason = why,
                }
            }
        }
        let (mut files, warning) = match files {
            Some(files) => (files, None),
            None => {
                let (git, warning) = self.hardened_git(&reason)?;
                let old = old.unwrap_or(self.empty_tree());
                (git.tree_patch(old, new, budget)?, warning)
            }
        };
        if let Ok(history) = self.history() {
            let blob = |commit: &str, path: &RepoPath| {
                history.blob(commit, path, encoded::FILE_LIMIT).ok()?
            };
            let read = |path: &RepoPath| blob(new, path);
            encoded::keep_text(&mut files, budget, read, |path| blob(old?, path));
        }
        Ok(Draft {
            files,
            degraded: filters_off(warning),
            ..Draft::default()
        })
    }

    /// Starts to look for what differs from HEAD; git does so while the patch is being made.
    pub(super) fn start_dirty_check(&self, head: Option<&str>) -> Result<DirtyCheck, Failure> {
        match (&self.git, &self.library) {
            (None, Some(_)) => Ok(DirtyCheck::Library),
            _ => {
                let (git, _) = self.hardened_git("its work tree")?;
                let head = head.unwrap_or(self.empty_tree());
                git.start_look(head).map(Box::new).map(DirtyCheck::Git)
            }
        }
    }

    /// Returns what differs from HEAD, without its text.
    pub(super) fn changes(&self, check: DirtyCheck) -> Result<Collected, Failure> {
        match (check, &self.library) {
            (DirtyCheck::Git(look), _) => look.changes(&self.root),
            (DirtyCheck::Library, Some(library)) => Ok(Collected {
                files: Vec::new(),
                untracked: library.dirty_paths()?,
            }),
            (DirtyCheck::Library, None) => Err(missing_git("its work tree")),
        }
    }

    /// Returns the paths that differ from HEAD, untracked ones included.
    pub(super) fn dirty_paths(
        &self,
        check: DirtyCheck,
        options: &ResolveOptions,
    ) -> Result<Vec<RepoPath>, Failure> {
        let Collected { files, untracked } = self.changes(check)?;
        let changed = files.iter().map(|file| file.path().clone());
        let untracked = untracked
            .into_iter()
            .filter(|path| !self.is_excluded(path, options));
        let mut paths: Vec<_> = changed.chain(untracked).collect();
        paths.dedup();
        Ok(paths)
    }

    /// Whether an untracked path is the one that is to be left out.
    pub(super) fn is_excluded(&self, path: &RepoPath, options: &ResolveOptions) -> bool {
        let excluded = options.exclude.as_deref();
        excluded
            .and_then(|excluded| excluded.strip_prefix(&self.root).ok())
            .is_some_and(|excluded| excluded.as_os_str().as_bytes() == path.as_bytes())
    }
}
