//! Files as they were before the change.

use std::cell::Cell;

use diffwarden_actors::model::RepoPath;

use super::history::History;
use super::library::Library;
use super::repository::Repository;
use super::resolve::Resolved;

/// A file above this size is not read, in bytes. What is looked at stands near the top of files
/// that people could have written.
const FILE_LIMIT: u64 = 1 << 20;
/// How many files are read where each costs two processes.
const READS_BY_GIT: u32 = 64;

/// The side before a change.
pub struct Before<'a> {
    commit: Option<&'a str>,
    reader: Reader<'a>,
}

enum Reader<'a> {
    Library(&'a Library),
    /// A repository that libgit2 was not asked to open for the review itself, because variables
    /// say where its index lies. Its objects are the same.
    Own(Library),
    Git(&'a dyn History, Cell<u32>),
    Nobody,
}

impl Repository {
    /// Returns a reader of the files before the change; there are none before the first commit.
    pub fn before<'a>(&'a self, resolved: &'a Resolved) -> Before<'a> {
        let reader = match (&self.library, &self.git) {
            (Some(library), _) => Reader::Library(library),
            (None, git) => match (Library::open_at(&self.git_dir), git) {
                (Ok(library), _) => Reader::Own(library),
                (Err(_), Some(git)) => Reader::Git(git, Cell::new(READS_BY_GIT)),
                (Err(_), None) => Reader::Nobody,
            },
        };
        Before {
            commit: resolved.before.as_deref(),
            reader,
        }
    }
}

impl Before<'_> {
    /// Returns the contents of a regular file of at most 1 MiB; `None` when there was none, or it
    /// cannot be read cheaply.
    pub fn read(&self, path: &RepoPath) -> Option<Vec<u8>> {
        let commit = self.commit?;
        let history: &dyn History = match &self.reader {
            Reader::Library(library) => *library,
            Reader::Own(library) => library,
            Reader::Git(git, left) => {
                left.set(left.get().checked_sub(1)?);
                *git
            }
            Reader::Nobody => return None,
        };
        history.blob(commit, path, FILE_LIMIT).ok()?
    }
}
