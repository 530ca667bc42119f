//! The one writer of config files.
//!
//! A file is changed in one step: whoever reads it, at any moment and whatever is killed meanwhile,
//! finds the old bytes or the new ones. Writers wait for each other by a lock on the folder, which
//! leaves nothing behind, and nobody's change is lost: a change starts from the bytes that lie
//! there, and they are compared again before they are replaced, because an editor knows no lock.
//!
//! A symbolic link stays one and its target is written. A file keeps its mode and its owner.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, Permissions, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _, fchown};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use diffwarden_actors::model::{ErrorCode, Failure};
use rustix::fs::Access;
use tempfile::NamedTempFile;

use super::read::{self, MOST_BYTES, unreadable};

/// How many symbolic links in a row are followed.
const MOST_LINKS: usize = 40;

/// How often a change is started anew because somebody else wrote the file meanwhile.
const MOST_TRIES: u32 = 16;

/// How long to wait for other writers, and between two looks.
const LOCK_PATIENCE: Duration = Duration::from_secs(30);
const LOCK_PAUSE: Duration = Duration::from_millis(5);

/// What a change comes to.
pub(super) struct Update<T> {
    /// What the caller wants to know about it.
    pub(super) answer: T,
    /// The new bytes; `None` leaves the file as it is.
    pub(super) bytes: Option<Vec<u8>>,
}

/// Changes a file. `change` is given the bytes that lie there, `None` without a file, and may be
/// asked several times; the last answer is the one that was written.
///
/// # Errors
///
/// Fails as `change` does, and with `invalid_config` when the file cannot be read or written. The
/// file is then what it was.
pub(super) fn update<T>(
    path: &Path,
    mut change: impl FnMut(Option<&[u8]>) -> Result<Update<T>, Failure>,
) -> Result<T, Failure> {
    let place = Place::find(path)?;
    if !place.folder.is_dir() {
        // A change that is refused creates no folder either.
        let update = change(None)?;
        if update.bytes.is_none() {
            return Ok(update.answer);
        }
        place.create_folder()?;
    }
    let _lock = place.lock()?;
    for _ in 0..MOST_TRIES {
        let old = place.read()?;
        let Update { answer, bytes } = change(old.as_deref())?;
        let Some(bytes) = bytes else {
            return Ok(answer);
        };
        if place.replace(old.as_deref(), &bytes)? {
            return Ok(answer);
        }
    }
    Err(place.unwritable("something else keeps changing it"))
}

/// Where a config file really lies.
struct Place<'a> {
    /// As it is spoken of.
    shown: &'a Path,
    /// The file, behind every link.
    file: PathBuf,
    folder: PathBuf,
    name: OsString,
}

/// Held as long as nobody else may write; `None` where the file system has no locks.
struct Lock(#[expect(dead_code, reason = "the lock ends when the folder is closed")] Option<File>);

impl<'a> Place<'a> {
    fn find(path: &'a Path) -> Result<Self, Failure> {
        let file = behind_links(path).ok_or_else(|| {
            let circle = io::Error::other("it is a circle of symbolic links");
            unreadable(path, &circle)
        })?;
        match (file.parent(), file.file_name()) {
            (Some(folder), Some(name)) => Ok(Self {
                shown: path,
                folder: folder.to_owned(),
                name: name.to_owned(),
                file,
            }),
            _ => Err(unreadable(path, &io::Error::other("it names a folder"))),
        }
    }

    /// Creates the folder for a new file. Behind a link it is somebody else's to create.
    fn create_folder(&self) -> Result<(), Failure> {
        if self.file != self.shown {
            return Err(self.unwritable(format!(
                "it is a link into the folder {}, which does not exist",
                self.folder.display()
            )));
        }
        DirBuilder::new()
            .recursive(true)
            // As the XDG specification asks.
            .mode(0o700)
            .create(&self.folder)
            .map_err(|error| {
                let folder = self.folder.display();
                self.unwritable(format!("the folder {folder} cannot be created: {error}"))
            })
    }

    /// Waits until nobody else writes.
    fn lock(&self) -> Result<Lock, Failure> {
        let folder = File::open(&self.folder).map_err(|error| {
            let folder = self.folder.display();
            self.unwritable(format!("the folder {folder} cannot be opened: {error}"))
        })?;
        let deadline = Instant::now() + LOCK_PATIENCE;
        loop {
            match folder.try_lock() {
                Ok(()) => {
                    self.remove_leftovers();
                    return Ok(Lock(Some(folder)));
                }
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    thread::sleep(LOCK_PAUSE);
                }
                Err(TryLockError::WouldBlock) => {
                    let waited = LOCK_PATIENCE.as_secs();
                    return Err(self.unwritable(format!(
                        "another program has been writing it for {waited} seconds"
                    )));
                }
                Err(TryLockError::Error(error)) => {
                    tracing::warn!(%error, "this folder cannot be locked; only the bytes are compared");
                    return Ok(Lock(None));
                }
            }
        }
    }

    /// Returns the start of the names of new files that do not have their place yet.
    fn prefix(&self) -> OsString {
        let mut prefix = OsString::from(".");
        prefix.push(&self.name);
        prefix.push(".diffwarden-");
        prefix
    }

    /// Removes what writers left that were killed. Under the lock nobody else is at work.
    fn remove_leftovers(&self) {
        let prefix = self.prefix();
        let is_leftover = |name: &OsStr| {
            name.as_encoded_bytes()
                .starts_with(prefix.as_encoded_bytes())
        };
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            if is_leftover(&entry.file_name()) {
                fs::remove_file(entry.path()).ok();
            }
        }
    }

    fn read(&self) -> Result<Option<Vec<u8>>, Failure> {
        match read::bytes(&self.file) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unreadable(self.shown, &error)),
        }
    }

    /// Replaces the file if it still holds `old`, and returns whether it did.
    fn replace(&self, old: Option<&[u8]>, new: &[u8]) -> Result<bool, Failure> {
        if new.len() as u64 > MOST_BYTES {
            return Err(self.unwritable(format!("it would be larger than {MOST_BYTES} bytes")));
        }
        // The folder decides who may replace a file, but a file that is protected is meant to stay.
        if old.is_some() && rustix::fs::access(&self.file, Access::WRITE_OK).is_err() {
            return Err(self.unwritable("it may not be written"));
        }
        let fresh = self
            .write_beside(new)
            .map_err(|error| self.unwritable(self.reason(&error)))?;
        if self.read()?.as_deref() != old {
            return Ok(false);
        }
        let placed = match old {
            Some(_) => fresh.persist(&self.file),
            None => fresh.persist_noclobber(&self.file),
        };
        match placed {
            Ok(_) => {
                // The name itself is safe only when the folder is written; not every system can.
                File::open(&self.folder)
                    .and_then(|folder| folder.sync_all())
                    .ok();
                Ok(true)
            }
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(self.unwritable(self.reason(&error.error))),
        }
    }

    /// Writes the bytes to a new file in the same folder, down to the disk.
    fn write_beside(&self, bytes: &[u8]) -> io::Result<NamedTempFile> {
        let mut fresh = tempfile::Builder::new()
            .prefix(&self.prefix())
            // The mode of any new file; the system takes the umask off.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(&self.folder)?;
        if let Ok(old) = fs::metadata(&self.file) {
            // Only the administrator can, and only then it matters.
            fchown(fresh.as_file(), Some(old.uid()), Some(old.gid())).ok();
            fresh.as_file().set_permissions(old.permissions())?;
        }
        fresh.write_all(bytes)?;
        fresh.as_file().sync_all()?;
        Ok(fresh)
    }

    fn reason(&self, error: &io::Error) -> String {
        match error.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                format!("the folder {} may not be written", self.folder.display())
            }
            // What `tempfile` adds is the random name.
            _ => error
                .get_ref()
                .and_then(std::error::Error::source)
                .map_or_else(|| error.to_string(), ToString::to_string),
        }
    }

    fn unwritable(&self, why: impl Into<String>) -> Failure {
        let why = why.into();
        Failure::new(
            ErrorCode::InvalidConfig,
            format!("cannot write the config at {}: {why}", self.shown.display()),
        )
        .hint("nothing was changed")
    }
}

/// Follows links to a file, whether it exists or not.
fn behind_links(path: &Path) -> Option<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(link) = fs::read_link(&path) else {
            return Some(path);
        };
        path.pop();
        path.push(link);
    }
    None
}

#[cfg(test)]
mod tests;
