//! The repository as libgit2 reads it: no process, and no code from a configuration is run.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use diffwarden_actors::model::{Failure, RepoPath};
use git2::{ErrorCode as Code, FileMode, ObjectType, Oid, Repository, Sort};

use super::executable::environment_failure;
use super::history::{History, MESSAGES, read_message};

/// A repository opened by libgit2.
pub(super) struct Library(pub(super) Repository);

impl History for Library {
    fn head(&self) -> Result<Option<String>, Failure> {
        match self.0.head() {
            Ok(head) => {
                let commit = head.peel_to_commit().map_err(failure)?;
                Ok(Some(commit.id().to_string()))
            }
            Err(error) if error.code() == Code::UnbornBranch => Ok(None),
            Err(error) => Err(failure(error)),
        }
    }

    fn branch(&self) -> Result<Option<String>, Failure> {
        let head = self.0.find_reference("HEAD").map_err(failure)?;
        let name = head
            .symbolic_target_bytes()
            .and_then(|name| name.strip_prefix(b"refs/heads/"));
        Ok(name.map(|name| String::from_utf8_lossy(name).into_owned()))
    }

    fn commit(&self, revision: &str) -> Result<Option<String>, Failure> {
        // What libgit2 cannot read, not find or not tell apart names no commit.
        let found = self
            .0
            .revparse_single(revision)
            .and_then(|object| object.peel_to_commit());
        Ok(found.ok().map(|commit| commit.id().to_string()))
    }

    fn references(&self, names: &[String]) -> Result<Vec<(String, String)>, Failure> {
        let found = names.iter().filter_map(|name| {
            let reference = self.0.find_reference(name).ok()?;
            let commit = reference.peel_to_commit().ok()?;
            Some((name.clone(), commit.id().to_string()))
        });
        Ok(found.collect())
    }

    fn merge_base(&self, one: &str, two: &str) -> Result<Option<String>, Failure> {
        match self.0.merge_base(oid(one)?, oid(two)?) {
            Ok(base) => Ok(Some(base.to_string())),
            Err(error) if error.code() == Code::NotFound => Ok(None),
            Err(error) => Err(failure(error)),
        }
    }

    fn raw_commit(&self, id: &str) -> Result<Vec<u8>, Failure> {
        let objects = self.0.odb().map_err(failure)?;
        let object = objects.read(oid(id)?).map_err(failure)?;
        Ok(object.data().to_vec())
    }

    fn messages(&self, base: &str, head: &str) -> Result<Vec<String>, Failure> {
        let mut walk = self.0.revwalk().map_err(failure)?;
        walk.set_sorting(Sort::TIME).map_err(failure)?;
        walk.push(oid(head)?).map_err(failure)?;
        walk.hide(oid(base)?).map_err(failure)?;
        walk.take(MESSAGES)
            .map(|id| {
                let commit = id.and_then(|id| self.0.find_commit(id)).map_err(failure)?;
                Ok(read_message(commit.message_raw_bytes()))
            })
            .collect()
    }

    fn blob(&self, commit: &str, path: &RepoPath, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
        self.entry(commit, path, limit, |_| true)
    }

    fn link(&self, commit: &str, path: &RepoPath, limit: u64) -> Result<Option<Vec<u8>>, Failure> {
        self.entry(commit, path, limit, |mode| {
            mode == i32::from(FileMode::Link)
        })
    }
}

impl Library {
    /// Returns the contents of a blob of a commit whose mode is wanted.
    fn entry(
        &self,
        commit: &str,
        path: &RepoPath,
        limit: u64,
        wanted: impl Fn(i32) -> bool,
    ) -> Result<Option<Vec<u8>>, Failure> {
        let commit = self.0.find_commit(oid(commit)?).map_err(failure)?;
        let tree = commit.tree().map_err(failure)?;
        let Ok(entry) = tree.get_path(Path::new(OsStr::from_bytes(path.as_bytes()))) else {
            return Ok(None);
        };
        if entry.kind() != Some(ObjectType::Blob) || !wanted(entry.filemode()) {
            return Ok(None);
        }
        let objects = self.0.odb().map_err(failure)?;
        let (size, _) = objects.read_header(entry.id()).map_err(failure)?;
        if size as u64 > limit {
            return Ok(None);
        }
        let blob = self.0.find_blob(entry.id()).map_err(failure)?;
        Ok(Some(blob.content().to_vec()))
    }

    /// Opens the repository that `folder` lies in, asking nothing of the environment.
    pub(super) fn open(folder: &Path) -> Result<Self, git2::Error> {
        let flags = git2::RepositoryOpenFlags::empty();
        let repository = Repository::open_ext(folder, flags, std::iter::empty::<&OsStr>())?;
        Ok(Self(repository))
    }

    /// Opens the repository whose folder with HEAD this is.
    pub(super) fn open_at(git_dir: &Path) -> Result<Self, git2::Error> {
        let flags = git2::RepositoryOpenFlags::NO_SEARCH;
        let repository = Repository::open_ext(git_dir, flags, std::iter::empty::<&OsStr>())?;
        Ok(Self(repository))
    }

    /// Reads the index, which every diff needs for attributes; some kinds of index fail.
    pub(super) fn index_opens(&self) -> Result<(), git2::Error> {
        self.0.index().map(drop)
    }
}

pub(super) fn oid(id: &str) -> Result<Oid, Failure> {
    Oid::from_str(id).map_err(failure)
}

/// Returns the failure for an error that is not the user's doing: a broken or unreadable object.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape that map_err wants"
)]
pub(super) fn failure(error: git2::Error) -> Failure {
    environment_failure(format!("cannot read the repository: {}", error.message()))
        .hint("run `git fsck` in the repository")
}
