//! Lines of the reviewed revision.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use diffwarden_actors::model::RepoPath;
use diffwarden_actors::source::SourceReader;

use super::executable::Git;
use super::files::{Entry, Folder, is_binary};
use super::history::History;
use super::library::Library;

/// A file above this size has no lines here, in bytes.
const FILE_LIMIT: u64 = 8 << 20;

/// Reads whole files of a revision.
trait Files: Send {
    fn read(&mut self, path: &RepoPath) -> Option<Vec<u8>>;
}

/// Answers for lines, keeping the file that was asked for last: questions come file by file.
struct CachedSource(Mutex<Cache>);

struct Cache {
    files: Box<dyn Files>,
    last: Option<(RepoPath, Option<Lines>)>,
}

/// A file and where its lines start.
struct Lines {
    contents: Vec<u8>,
    starts: Vec<usize>,
}

impl SourceReader for CachedSource {
    fn line(&self, path: &RepoPath, line: u32) -> Option<Vec<u8>> {
        let mut cache = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Cache { files, last } = &mut *cache;
        if last.as_ref().is_none_or(|(cached, _)| cached != path) {
            let contents = files.read(path).filter(|contents| !is_binary(contents));
            *last = Some((path.clone(), contents.map(Lines::new)));
        }
        let (_, lines) = last.as_ref()?;
        lines.as_ref()?.get(line).map(<[u8]>::to_vec)
    }
}

impl Lines {
    fn new(contents: Vec<u8>) -> Self {
        let ends = memchr::memchr_iter(b'\n', &contents);
        let mut starts: Vec<usize> = std::iter::once(0).chain(ends.map(|at| at + 1)).collect();
        if starts.last() == Some(&contents.len()) {
            starts.pop();
        }
        Self { contents, starts }
    }

    fn get(&self, line: u32) -> Option<&[u8]> {
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        let start = *self.starts.get(index)?;
        let end = self
            .starts
            .get(index + 1)
            .copied()
            .unwrap_or(self.contents.len());
        let text = self.contents.get(start..end)?;
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        Some(text.strip_suffix(b"\r").unwrap_or(text))
    }
}

/// Returns a reader of the work tree's files. Links are not followed: a link is one line, the
/// text it holds, as in a patch.
pub(super) fn work_tree_source(root: &Path) -> impl SourceReader + use<> {
    CachedSource::new(WorkTreeFiles {
        root: root.to_owned(),
        folder: None,
    })
}

/// Returns a reader of a commit's files, by libgit2 where that opens the repository.
pub(super) fn commit_source(
    root: &Path,
    git: Option<Git>,
    commit: &str,
) -> impl SourceReader + use<> {
    CachedSource::new(CommitFiles {
        root: root.to_owned(),
        git,
        library: None,
        commit: commit.to_owned(),
    })
}

impl CachedSource {
    fn new(files: impl Files + 'static) -> Self {
        Self(Mutex::new(Cache {
            files: Box::new(files),
            last: None,
        }))
    }
}

struct WorkTreeFiles {
    root: PathBuf,
    /// The root once it is open.
    folder: Option<Folder>,
}

impl Files for WorkTreeFiles {
    fn read(&mut self, path: &RepoPath) -> Option<Vec<u8>> {
        // The repository's own administration is not part of its contents.
        let mut components = path.as_bytes().split(|&byte| byte == b'/');
        if components.any(|name| name.eq_ignore_ascii_case(b".git")) {
            return None;
        }
        if self.folder.is_none() {
            self.folder = Some(Folder::open(&self.root).ok()?);
        }
        match self.folder.as_ref()?.read(path, FILE_LIMIT).ok()? {
            Entry::File { contents, .. } => Some(contents),
            Entry::Link { target } => Some(target),
            Entry::Large { .. } | Entry::Other => None,
        }
    }
}

struct CommitFiles {
    root: PathBuf,
    git: Option<Git>,
    library: Option<Library>,
    commit: String,
}

impl Files for CommitFiles {
    fn read(&mut self, path: &RepoPath) -> Option<Vec<u8>> {
        if path.as_bytes().contains(&0) {
            return None;
        }
        // Without git the repository was opened by libgit2; it is opened again because a handle
        // belongs to one thread at a time.
        let history: &dyn History = match (&self.git, &mut self.library) {
            (Some(git), _) => git,
            (None, Some(library)) => library,
            (None, library) => library.insert(Library::open(&self.root).ok()?),
        };
        history.blob(&self.commit, path, FILE_LIMIT).ok()?
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn lines_are_counted_from_one_and_lose_their_end() {
        let lines = Lines::new(b"one\r\n\nthree".to_vec());
        let got: Vec<_> = (0..5).map(|line| lines.get(line)).collect();
        assert_eq!(
            got,
            [None, Some(&b"one"[..]), Some(b""), Some(b"three"), None]
        );
        assert_eq!(Lines::new(b"one\n".to_vec()).get(2), None);
        assert_eq!(Lines::new(Vec::new()).get(1), None);
    }

    #[test]
    fn the_work_tree_is_read_without_links_and_without_its_administration() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("root");
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join(".git/config"), "secret\n").unwrap();
        fs::write(temp.path().join("secret"), "secret\n").unwrap();
        fs::write(root.join("a"), "1\n2\n").unwrap();
        fs::write(root.join("b"), "x\0y\n").unwrap();
        symlink("../secret", root.join("link")).unwrap();
        symlink("..", root.join("way")).unwrap();
        let source = work_tree_source(&root);
        let line = |path: &str, line| source.line(&path.into(), line);
        assert_eq!(line("a", 2), Some(b"2".to_vec()));
        assert_eq!(line("a", 3), None);
        assert_eq!(line("link", 1), Some(b"../secret".to_vec()));
        for hidden in [
            "b",
            "way/secret",
            ".git/config",
            ".GIT/config",
            "../secret",
            "none",
        ] {
            assert_eq!(line(hidden, 1), None, "{hidden}");
        }
    }
}
