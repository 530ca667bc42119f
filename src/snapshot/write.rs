//! Writing a judged tree.
//!
//! Folders come first, then files on several threads, then links. What must stay true: as long as
//! files are written there is no link to follow, a file is only ever created and never opened, and
//! a link is never made where a folder had to be; so nothing is written outside.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{DirBuilder, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use diffwarden_actors::engine::CancelToken;
use diffwarden_actors::model::{
    Degraded, DegradedTopic, ErrorCode, Failure, Reason, RepoPath, Snapshot,
};
use diffwarden_actors::snapshot::{TreeWriter, Written};

use super::judge::{Judged, LeftOut, Why};
use crate::git::{FrozenBlob, FrozenEntry, FrozenKind};

/// How many files a thread takes at a time.
const PORTION: usize = 64;
/// More threads than this wait for each other's folders.
const MOST_THREADS: usize = 8;
/// How many left-out paths a warning names.
const NAMED: usize = 5;

/// Writes one judged tree.
#[derive(Debug)]
pub struct Writer {
    judged: Judged,
    /// The bytes of all files together that may be written.
    limit: u64,
}

/// What the threads that write share.
struct Progress<'a> {
    folder: &'a Path,
    files: Vec<&'a FrozenEntry>,
    next: AtomicUsize,
    written: AtomicU64,
    /// The bytes that have been asked for.
    bytes: AtomicU64,
    left_out: Mutex<LeftOut>,
    failure: Mutex<Option<Failure>>,
    cancel: &'a CancelToken,
}

impl TreeWriter for Writer {
    fn write(&self, folder: &Path, cancel: &CancelToken) -> Result<Written, Failure> {
        let folders = self.make_folders(folder)?;
        let wanted = self.wanted();
        let files = wanted.filter(|entry| matches!(entry.kind, FrozenKind::File { .. }));
        let progress = Progress {
            folder,
            files: files.collect(),
            next: AtomicUsize::new(0),
            written: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            left_out: Mutex::new(self.judged.left_out.clone()),
            failure: Mutex::new(None),
            cancel,
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let portions = progress.files.len().div_ceil(PORTION);
        std::thread::scope(|scope| {
            for _ in 1..cores.min(MOST_THREADS).min(portions) {
                // Without another thread this one does it all.
                let spawned =
                    std::thread::Builder::new().spawn_scoped(scope, || self.write_files(&progress));
                drop(spawned);
            }
            self.write_files(&progress);
        });
        let Progress {
            written,
            bytes,
            left_out,
            failure,
            ..
        } = progress;
        if let Some(failure) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(failure);
        }
        let mut left_out = left_out
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        let mut files = written.into_inner();
        files += self.make_links(folder, &mut left_out)?;
        close_folders(&folders);
        let record = Snapshot {
            commit_sha: self.judged.tree.commit.clone(),
            files,
            bytes: bytes.into_inner(),
            removed: left_out.keys().map(ToString::to_string).collect(),
        };
        Ok(Written {
            record,
            degraded: told(&left_out),
        })
    }
}

impl Writer {
    /// Creates a writer that writes at most `limit` bytes.
    pub fn new(judged: Judged, limit: u64) -> Self {
        Self { judged, limit }
    }

    fn wanted(&self) -> impl Iterator<Item = &FrozenEntry> {
        let entries = self.judged.tree.entries.iter();
        entries.filter(|entry| !self.judged.left_out.contains_key(&entry.path))
    }

    /// Makes every folder that something lies in, the outer ones first, and returns them.
    fn make_folders(&self, folder: &Path) -> Result<Vec<PathBuf>, Failure> {
        let mut needed: BTreeSet<&[u8]> = BTreeSet::new();
        for entry in self.wanted() {
            let path = entry.path.as_bytes();
            if entry.kind == FrozenKind::Submodule {
                needed.insert(path.strip_suffix(b"/").unwrap_or(path));
            }
            let ends = path.iter().enumerate().rev();
            for (end, _) in ends.filter(|(_, byte)| **byte == b'/') {
                if !needed.insert(&path[..end]) {
                    break;
                }
            }
        }
        let mut made = Vec::with_capacity(needed.len());
        for path in needed {
            let path = folder.join(OsStr::from_bytes(path));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => made.push(path),
                // What lies in it is left out in its turn.
                Err(error) if is_impossible(&error) => {}
                Err(error) => return Err(unwritable(&error)),
            }
        }
        Ok(made)
    }

    fn write_files(&self, progress: &Progress<'_>) {
        let mut reader = match self.judged.tree.reader() {
            Ok(reader) => reader,
            Err(failure) => return progress.fail(failure),
        };
        loop {
            let start = progress.next.fetch_add(PORTION, Ordering::Relaxed);
            let Some(files) = progress.files.get(start..) else {
                return;
            };
            for entry in files.iter().take(PORTION) {
                if progress.cancel.is_cancelled() {
                    return progress.fail(unfinished());
                }
                let left = self
                    .limit
                    .saturating_sub(progress.bytes.load(Ordering::Relaxed));
                let outcome = match reader.read(entry, left) {
                    Ok(FrozenBlob::Contents(contents)) => progress.write(entry, &contents),
                    Ok(FrozenBlob::TooLarge(_)) => Err(self.too_large()),
                    // As if it had gone before the tree was listed.
                    Ok(FrozenBlob::Gone) => Ok(()),
                    Err(failure) => Err(failure),
                };
                if let Err(failure) = outcome {
                    return progress.fail(failure);
                }
                // Several threads may have had the same room in mind.
                if progress.bytes.load(Ordering::Relaxed) > self.limit {
                    return progress.fail(self.too_large());
                }
            }
        }
    }

    fn make_links(&self, folder: &Path, left_out: &mut LeftOut) -> Result<u64, Failure> {
        let mut made = 0;
        for (path, target) in &self.judged.links {
            let place = folder.join(OsStr::from_bytes(path.as_bytes()));
            match std::os::unix::fs::symlink(OsStr::from_bytes(target), place) {
                Ok(()) => made += 1,
                Err(error) if is_impossible(&error) => {
                    left_out.insert(path.clone(), Why::Unwritable);
                }
                Err(error) => return Err(unwritable(&error)),
            }
        }
        Ok(made)
    }

    fn too_large(&self) -> Failure {
        Failure::new(
            ErrorCode::ReviewerEnvironmentFailed,
            format!(
                "the reviewed tree has more than {} bytes, too many for a snapshot",
                self.limit
            ),
        )
        .reason(Reason::Environment)
        .hint("set `intake.maxSnapshotBytes` in the config, or pass --no-snapshot to have the checkout looked at instead")
    }
}

impl Progress<'_> {
    fn write(&self, entry: &FrozenEntry, contents: &[u8]) -> Result<(), Failure> {
        // Nobody is to change what the others read.
        let mode = match entry.kind {
            FrozenKind::File {
                is_executable: true,
            } => 0o500,
            _ => 0o400,
        };
        self.bytes
            .fetch_add(contents.len() as u64, Ordering::Relaxed);
        let path = self.folder.join(OsStr::from_bytes(entry.path.as_bytes()));
        let created = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(path);
        match created.and_then(|mut file| file.write_all(contents)) {
            Ok(()) => {
                self.written.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(error) if is_impossible(&error) => {
                self.leave_out(&entry.path);
                Ok(())
            }
            Err(error) => Err(unwritable(&error)),
        }
    }

    fn leave_out(&self, path: &RepoPath) {
        let mut left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner);
        left_out.insert(path.clone(), Why::Unwritable);
    }

    /// Keeps the first failure and ends the other threads.
    fn fail(&self, failure: Failure) {
        let mut first = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert(failure);
        self.next.store(usize::MAX / 2, Ordering::Relaxed);
    }
}

/// Whether an error says that this name cannot exist here, or not beside another of the tree.
fn is_impossible(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errors = [
        Errno::EXIST,
        Errno::ISDIR,
        Errno::NOTDIR,
        Errno::NOENT,
        Errno::NAMETOOLONG,
        Errno::INVAL,
        Errno::ILSEQ,
    ];
    let code = error.raw_os_error();
    errors
        .iter()
        .any(|errno| Some(errno.raw_os_error()) == code)
}

/// Makes folders unchangeable, the inner ones first. It only keeps honest programs from mistakes,
/// so one that stays open is no failure.
fn close_folders(folders: &[PathBuf]) {
    for folder in folders.iter().rev() {
        std::fs::set_permissions(folder, Permissions::from_mode(0o500)).ok();
    }
}

fn unwritable(error: &io::Error) -> Failure {
    Failure::new(
        ErrorCode::ReviewerEnvironmentFailed,
        format!("the snapshot of the reviewed tree cannot be written: {error}"),
    )
    .reason(Reason::Environment)
    .hint("set TMPDIR to a folder with room for the tree, or pass --no-snapshot to have the checkout looked at instead")
}

/// Returns the failure of a writer that was told to give up; whoever told it says why.
fn unfinished() -> Failure {
    Failure::new(
        ErrorCode::ReviewerFailed,
        "the snapshot was not finished, as the run was ended",
    )
    .reason(Reason::Interrupted)
}

/// Tells what is missing from the snapshot.
fn told(left_out: &LeftOut) -> Option<Degraded> {
    if left_out.is_empty() {
        return None;
    }
    let mut named: Vec<String> = left_out
        .iter()
        .take(NAMED)
        .map(|(path, why)| format!("{path} ({why})"))
        .collect();
    if left_out.len() > NAMED {
        named.push(format!("and {} more", left_out.len() - NAMED));
    }
    let message = format!(
        "reviewers do not see these paths, which were left out of the snapshot of the reviewed tree: {}",
        named.join(", ")
    );
    Some(Degraded::warning(DegradedTopic::Snapshot, message))
}

#[cfg(test)]
mod tests;
