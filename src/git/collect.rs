//! Collecting a change: who makes the patch, and what the other one is for.

use diffwarden_actors::model::{Failure, FilePatch, RepoPath, TrustReason};

use super::encoded;
use super::executable::Running;
use super::files::{Entry, Folder};
use super::filters::mentions;
use super::limits::Budget;
use super::repository::{Repository, missing_git};
use super::untracked::read_untracked;
use super::work_tree::{Collected, dirty_paths, unreadable_tree};

/// A change with what has to be said about it.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) files: Vec<FilePatch>,
    pub(super) warnings: Vec<String>,
    pub(super) doubts: Vec<TrustReason>,
}

/// A look at the work tree that is under way.
pub(super) enum DirtyCheck {
    Git(Running),
    /// libgit2 looks when it is asked.
    Library,
}

impl Repository {
    /// Collects the change from a commit, or from nothing, to the work tree.
    pub(super) fn work_tree_draft(
        &self,
        base: Option<&str>,
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
                (git.work_tree_patch(base, budget)?, warning)
            }
        };
        let Collected {
            mut files,
            untracked,
            mut warnings,
        } = collected;
        self.keep_text_of_work_tree(&mut files, budget);
        let added = read_untracked(&self.root, untracked, budget);
        files.extend(added.map_err(|error| unreadable_tree(&self.root, &error))?);
        warnings.extend(warning);
        Ok(Draft {
            files,
            warnings,
            ..Draft::default()
        })
    }

    fn keep_text_of_work_tree(&self, files: &mut [FilePatch], budget: &mut Budget) {
        if let Ok(folder) = Folder::open(&self.root) {
            encoded::keep_text(files, budget, |path| {
                match folder.read(path, encoded::FILE_LIMIT) {
                    Ok(Entry::File { contents, .. }) => Some(contents),
                    _ => None,
                }
            });
        }
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
            // A driver of the repository's own could call text binary, and objects that a
            // partial clone left out fail half way: git deals with both.
            if mentions(
                &self.configurations(),
                &["binary", "include", "promisor", "partialclone"],
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
            encoded::keep_text(&mut files, budget, |path| {
                history.blob(new, path, encoded::FILE_LIMIT).ok()?
            });
        }
        Ok(Draft {
            files,
            warnings: warning.into_iter().collect(),
            ..Draft::default()
        })
    }

    /// Starts to look for changes in the work tree; git does so while the patch is being made.
    pub(super) fn start_dirty_check(&self) -> Result<DirtyCheck, Failure> {
        match (&self.git, &self.library) {
            (None, Some(_)) => Ok(DirtyCheck::Library),
            _ => {
                let (git, _) = self.hardened_git("its work tree")?;
                git.start_status().map(DirtyCheck::Git)
            }
        }
    }

    pub(super) fn dirty_paths(&self, check: DirtyCheck) -> Result<Vec<RepoPath>, Failure> {
        match (check, &self.library) {
            (DirtyCheck::Git(status), _) => dirty_paths(status),
            (DirtyCheck::Library, Some(library)) => library.dirty_paths(),
            (DirtyCheck::Library, None) => Err(missing_git("its work tree")),
        }
    }
}
