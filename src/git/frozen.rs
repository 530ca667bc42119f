//! Whole trees: every file that a commit or the work tree holds, and its bytes as git stores them.
//!
//! No filter, no conversion of line ends and no attribute has a say in it. What must stay true: a
//! tree is listed up to a limit and never beyond it, however its folders repeat each other.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout};

use diffwarden_actors::model::{Failure, Mode, RepoPath, TargetKind};
use git2::{ObjectType, Oid};

use super::executable::{Git, Running, environment_failure};
use super::files::{Entry, Folder, is_gone};
use super::library::{Library, failure, oid};
use super::repository::{Repository, missing_git};
use super::resolve::{ResolveOptions, Resolved};
use super::untracked::{LIST, REPORTS, split_names};
use super::work_tree::unreadable_tree;

/// Longer paths are cut out of a listing: no system takes them, in bytes.
const LONGEST_PATH: usize = 3500;

/// A tree that can be written elsewhere.
#[derive(Debug)]
pub struct FrozenTree {
    /// What it holds, sorted by path, each path once.
    pub entries: Vec<FrozenEntry>,
    /// The paths that are too long for any system, or that may not be read.
    pub unusable: Vec<RepoPath>,
    /// The commit whose tree it is; `None` for that of the work tree.
    pub commit: Option<String>,
    store: Store,
}

/// Something in a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrozenEntry {
    /// Where.
    pub path: RepoPath,
    /// What.
    pub kind: FrozenKind,
    /// The name of its object; empty in the work tree.
    id: String,
}

/// What something in a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrozenKind {
    /// A regular file.
    File {
        /// Whether it may be run.
        is_executable: bool,
    },
    /// A symbolic link; its contents are where it leads.
    Link,
    /// A repository of its own, of which nothing is taken.
    Submodule,
}

/// The bytes of an entry.
#[derive(Debug, PartialEq, Eq)]
pub enum FrozenBlob {
    /// All of them.
    Contents(Vec<u8>),
    /// There are more than asked for; the number of bytes.
    TooLarge(u64),
    /// It has gone since the tree was listed.
    Gone,
}

/// Where the bytes are.
#[derive(Debug)]
enum Store {
    Library(PathBuf),
    Git(Git),
    WorkTree(PathBuf),
}

/// Reads entries, one after the other; each thread has its own.
pub struct FrozenReader(Reader);

enum Reader {
    Library(Library),
    Git(Batch),
    WorkTree(Folder),
}

/// A listing that fails when it becomes too long.
struct Listing {
    tree: FrozenTree,
    left: usize,
    limit: usize,
}

impl Repository {
    /// Lists the tree that a change leads to: a commit's, or the work tree's files as far as git
    /// knows them or would take them.
    ///
    /// # Errors
    ///
    /// When the tree has more than `limit` files and folders, or cannot be read.
    pub fn freeze(
        &self,
        resolved: &Resolved,
        options: &ResolveOptions,
        limit: usize,
    ) -> Result<FrozenTree, Failure> {
        let target = &resolved.target;
        let commit = match target.kind {
            TargetKind::Commit => target.commit_sha.as_deref(),
            TargetKind::Base if !resolved.has_work_tree => target.head_sha.as_deref(),
            _ => None,
        };
        let mut tree = match commit {
            Some(commit) => self.freeze_commit(commit, limit)?,
            None => self.freeze_work_tree(options, limit)?,
        };
        tree.entries.sort_by(|a, b| a.path.cmp(&b.path));
        tree.entries.dedup_by(|a, b| a.path == b.path);
        Ok(tree)
    }

    fn freeze_commit(&self, commit: &str, limit: usize) -> Result<FrozenTree, Failure> {
        let listing = |store| Listing::new(store, Some(commit.to_owned()), limit);
        match (Library::open_at(&self.git_dir), &self.git) {
            (Ok(library), _) => {
                let mut listing = listing(Store::Library(self.git_dir.clone()));
                library.list_tree(commit, &mut listing)?;
                Ok(listing.tree)
            }
            (Err(_), Some(git)) => {
                let mut listing = listing(Store::Git(git.clone()));
                git.list_tree(commit, &mut listing)?;
                Ok(listing.tree)
            }
            (Err(error), None) => Err(missing_git(error.message())),
        }
    }

    fn freeze_work_tree(
        &self,
        options: &ResolveOptions,
        limit: usize,
    ) -> Result<FrozenTree, Failure> {
        let mut listing = Listing::new(Store::WorkTree(self.root.clone()), None, limit);
        let folder =
            Folder::open(&self.root).map_err(|error| unreadable_tree(&self.root, &error))?;
        let tracked: BTreeSet<RepoPath> = self.tracked_paths()?.into_iter().collect();
        let untracked = self.untracked_paths()?.into_iter();
        let untracked = untracked.filter(|path| !self.is_excluded(path, options));
        let names = tracked.iter().cloned().chain(untracked);
        for path in names {
            // Only the kind is wanted now; the bytes are read when they are written.
            let kind = match folder.read(&path, 0) {
                Ok(Entry::File { mode, .. } | Entry::Large { mode, .. }) => file_kind(mode),
                Ok(Entry::Link { .. }) => FrozenKind::Link,
                // A folder in place of a file is a repository of its own; of pipes and devices
                // nothing is taken either.
                Ok(Entry::Other) => FrozenKind::Submodule,
                Err(error) if is_gone(&error) => continue,
                Err(_) => {
                    listing.tree.unusable.push(path);
                    continue;
                }
            };
            listing.add(path, kind, String::new())?;
        }
        Ok(listing.tree)
    }

    fn tracked_paths(&self) -> Result<Vec<RepoPath>, Failure> {
        if let Some(git) = &self.git {
            let listed = git.run(["ls-files", "--cached", "-z"])?.check()?;
            return Ok(split_names(&listed.output).collect());
        }
        let library = self.library.as_ref();
        let library = library.ok_or_else(|| missing_git("its index"))?;
        let index = library.0.index().map_err(failure)?;
        Ok(index
            .iter()
            .map(|entry| RepoPath::new(entry.path))
            .collect())
    }

    fn untracked_paths(&self) -> Result<Vec<RepoPath>, Failure> {
        if let Some(git) = &self.git {
            let listed = git.run(LIST)?.check()?;
            return Ok(split_names(&listed.output).collect());
        }
        let library = self.library.as_ref();
        let library = library.ok_or_else(|| missing_git("its work tree"))?;
        let mut options = git2::StatusOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true);
        let statuses = library.0.statuses(Some(&mut options)).map_err(failure)?;
        let new = statuses.iter().filter(|entry| entry.status().is_wt_new());
        let paths = new.map(|entry| RepoPath::new(entry.path_bytes()));
        Ok(paths
            .filter(|path| !path.as_bytes().starts_with(REPORTS))
            .collect())
    }
}

fn file_kind(mode: Mode) -> FrozenKind {
    FrozenKind::File {
        is_executable: mode.0 & 0o111 != 0,
    }
}

/// Returns what the mode of a tree's entry means; `None` for a folder.
fn kind_of(mode: u32) -> Option<FrozenKind> {
    match mode & 0o170_000 {
        0o040_000 => None,
        0o120_000 => Some(FrozenKind::Link),
        0o160_000 => Some(FrozenKind::Submodule),
        _ => Some(file_kind(Mode(mode))),
    }
}

impl Listing {
    fn new(store: Store, commit: Option<String>, limit: usize) -> Self {
        let tree = FrozenTree {
            entries: Vec::new(),
            unusable: Vec::new(),
            commit,
            store,
        };
        Self {
            tree,
            left: limit,
            limit,
        }
    }

    /// Counts a file or a folder.
    fn count(&mut self) -> Result<(), Failure> {
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            environment_failure(format!(
                "the reviewed tree has more than {} files and folders, too many for a snapshot",
                self.limit
            ))
            .hint("set `intake.maxSnapshotFiles` in the config, or pass --no-snapshot to have the checkout looked at instead")
        })?;
        Ok(())
    }

    fn add(&mut self, path: RepoPath, kind: FrozenKind, id: String) -> Result<(), Failure> {
        self.count()?;
        if path.as_bytes().len() > LONGEST_PATH {
            self.tree.unusable.push(path);
        } else {
            self.tree.entries.push(FrozenEntry { path, kind, id });
        }
        Ok(())
    }
}

impl Library {
    /// Walks a tree without recursion: how deep it is was somebody else's choice.
    fn list_tree(&self, commit: &str, listing: &mut Listing) -> Result<(), Failure> {
        let commit = self.0.find_commit(oid(commit)?).map_err(failure)?;
        let mut folders: Vec<(Vec<u8>, Oid)> = vec![(Vec::new(), commit.tree_id())];
        while let Some((prefix, id)) = folders.pop() {
            let tree = self.0.find_tree(id).map_err(failure)?;
            for entry in &tree {
                let mut path = prefix.clone();
                path.extend_from_slice(entry.name_bytes());
                let mode = u32::try_from(entry.filemode_raw()).unwrap_or_default();
                if let Some(kind) = kind_of(mode) {
                    listing.add(RepoPath::new(path), kind, entry.id().to_string())?;
                } else if path.len() > LONGEST_PATH {
                    listing.count()?;
                    listing.tree.unusable.push(RepoPath::new(path));
                } else {
                    listing.count()?;
                    path.push(b'/');
                    folders.push((path, entry.id()));
                }
            }
        }
        Ok(())
    }

    fn read_blob(&self, id: &str, limit: u64) -> Result<FrozenBlob, Failure> {
        let (id, objects) = (oid(id)?, self.0.odb().map_err(failure)?);
        let (size, kind) = objects.read_header(id).map_err(failure)?;
        if kind != ObjectType::Blob {
            return Err(broken(&id.to_string()));
        }
        if size as u64 > limit {
            return Ok(FrozenBlob::TooLarge(size as u64));
        }
        let object = objects.read(id).map_err(failure)?;
        Ok(FrozenBlob::Contents(object.data().to_vec()))
    }
}

impl Git {
    fn list_tree(&self, commit: &str, listing: &mut Listing) -> Result<(), Failure> {
        let mut running = self.start(["ls-tree", "-r", "-t", "-z", "--full-tree", commit])?;
        let mut output = running.output();
        loop {
            // `<mode> <kind> <id>`, TAB, the name, NUL.
            let mut record = Vec::new();
            let read = output.read_until(0, &mut record);
            if read.map_err(|error| unreadable(&error))? == 0 {
                break;
            }
            record.pop();
            let tab = record.iter().position(|&byte| byte == b'\t');
            let (facts, name) = record.split_at(tab.ok_or_else(|| broken(commit))?);
            let facts = String::from_utf8_lossy(facts);
            let mut facts = facts.split(' ');
            let mode = facts
                .next()
                .and_then(|mode| u32::from_str_radix(mode, 8).ok());
            match kind_of(mode.ok_or_else(|| broken(commit))?) {
                Some(kind) => {
                    let id = facts.nth(1).unwrap_or_default().to_owned();
                    listing.add(RepoPath::new(&name[1..]), kind, id)?;
                }
                None => listing.count()?,
            }
        }
        running.finish()?.check().map(drop)
    }
}

impl FrozenTree {
    /// Returns a reader of the bytes, for one thread.
    ///
    /// # Errors
    ///
    /// When the repository cannot be opened again.
    pub fn reader(&self) -> Result<FrozenReader, Failure> {
        Ok(FrozenReader(match &self.store {
            Store::Library(git_dir) => Reader::Library(Library::open_at(git_dir).map_err(failure)?),
            Store::Git(git) => Reader::Git(Batch::start(git)?),
            Store::WorkTree(root) => {
                let folder = Folder::open(root).map_err(|error| unreadable_tree(root, &error))?;
                Reader::WorkTree(folder)
            }
        }))
    }
}

impl FrozenReader {
    /// Reads an entry that has at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn read(&mut self, entry: &FrozenEntry, limit: u64) -> Result<FrozenBlob, Failure> {
        match &mut self.0 {
            Reader::Library(library) => library.read_blob(&entry.id, limit),
            Reader::Git(batch) => batch.read(&entry.id, limit),
            Reader::WorkTree(folder) => {
                let is_link = entry.kind == FrozenKind::Link;
                Ok(match folder.read(&entry.path, limit) {
                    Ok(Entry::File { contents, .. }) if !is_link => FrozenBlob::Contents(contents),
                    Ok(Entry::Link { target }) if is_link => FrozenBlob::Contents(target),
                    Ok(Entry::Large { size, .. }) if !is_link => FrozenBlob::TooLarge(size),
                    // It is something else by now.
                    Ok(_) => FrozenBlob::Gone,
                    Err(error) if is_gone(&error) => FrozenBlob::Gone,
                    Err(error) => {
                        let path = Path::new(&entry.path.to_string()).to_owned();
                        return Err(unreadable_tree(&path, &error));
                    }
                })
            }
        }
    }
}

/// A git that prints one object after the other.
struct Batch {
    /// Dropped first: without questions git ends.
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    _running: Running,
}

impl Batch {
    fn start(git: &Git) -> Result<Self, Failure> {
        let (mut running, questions) = git.start_asking(["cat-file", "--batch"])?;
        Ok(Self {
            questions,
            answers: running.output(),
            _running: running,
        })
    }

    fn read(&mut self, id: &str, limit: u64) -> Result<FrozenBlob, Failure> {
        let asked = self.questions.write_all(format!("{id}\n").as_bytes());
        asked.map_err(|error| unreadable(&error))?;
        let mut head = String::new();
        let read = self.answers.read_line(&mut head);
        read.map_err(|error| unreadable(&error))?;
        // `<id> blob <size>`, or `<id> missing`.
        let mut words = head.trim_end().split(' ').skip(1);
        let (kind, size) = (words.next(), words.next());
        let size = size.and_then(|size| size.parse::<u64>().ok());
        let (Some("blob"), Some(size)) = (kind, size) else {
            return Err(broken(id));
        };
        let mut answer = (&mut self.answers).take(size + 1);
        if size > limit {
            let skipped = std::io::copy(&mut answer, &mut std::io::sink());
            skipped.map_err(|error| unreadable(&error))?;
            return Ok(FrozenBlob::TooLarge(size));
        }
        let mut contents = Vec::new();
        let read = answer.read_to_end(&mut contents);
        read.map_err(|error| unreadable(&error))?;
        if contents.pop() != Some(b'\n') || contents.len() as u64 != size {
            return Err(broken(id));
        }
        Ok(FrozenBlob::Contents(contents))
    }
}

fn unreadable(error: &std::io::Error) -> Failure {
    environment_failure(format!("cannot read what git prints: {error}"))
}

fn broken(id: &str) -> Failure {
    environment_failure(format!("cannot read the object {id} of the repository")).hint(
        "run `git fsck` in the repository; a partial clone needs the objects of the commit fetched",
    )
}
