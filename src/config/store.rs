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
mod tests {
    use std::os::unix::fs::symlink;
    use std::sync::Barrier;

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    /// Writes these bytes, whatever lies there.
    fn put(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
        update(path, |_| {
            Ok(Update {
                answer: (),
                bytes: Some(bytes.to_vec()),
            })
        })
    }

    #[test]
    fn a_new_file_comes_with_its_folder_and_nothing_else() {
        let top = folder();
        let path = top.path().join("a/b/c.json");
        put(&path, b"{}\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"{}\n");
        assert_eq!(names(path.parent().unwrap()), ["c.json"]);
        let mode = fs::metadata(top.path().join("a")).unwrap().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn a_refused_or_empty_change_creates_nothing() {
        let top = folder();
        let path = top.path().join("a/c.json");
        let refusal = Failure::new(ErrorCode::InvalidCli, "no");
        assert_eq!(
            update(&path, |_| Err::<Update<()>, _>(refusal.clone())),
            Err(refusal)
        );
        let nothing = |old: Option<&[u8]>| {
            assert_eq!(old, None);
            Ok(Update {
                answer: 7,
                bytes: None,
            })
        };
        assert_eq!(update(&path, nothing), Ok(7));
        assert!(names(top.path()).is_empty());
    }

    #[test]
    fn a_change_of_somebody_else_is_not_lost() {
        let top = folder();
        let path = top.path().join("c.json");
        fs::write(&path, "1").unwrap();
        let mut seen = Vec::new();
        update(&path, |old| {
            seen.push(old.map(<[u8]>::to_vec));
            if seen.len() == 1 {
                // An editor that knows no lock.
                fs::write(&path, "2").unwrap();
            }
            let bytes = Some([old.unwrap_or_default(), b"+"].concat());
            Ok(Update { answer: (), bytes })
        })
        .unwrap();
        assert_eq!(seen, [Some(b"1".to_vec()), Some(b"2".to_vec())]);
        assert_eq!(fs::read(&path).unwrap(), b"2+");
        assert_eq!(names(top.path()), ["c.json"]);
    }

    #[test]
    fn a_file_that_appears_is_not_replaced_unseen() {
        let top = folder();
        let path = top.path().join("c.json");
        let mut tries = 0;
        let made = update(&path, |old| {
            tries += 1;
            if old.is_some() {
                return Err(Failure::new(ErrorCode::InvalidCli, "it exists"));
            }
            fs::write(&path, "theirs").unwrap();
            Ok(Update {
                answer: (),
                bytes: Some(b"ours".to_vec()),
            })
        });
        assert_eq!(made.unwrap_err().message, "it exists");
        assert_eq!((tries, fs::read(&path).unwrap()), (2, b"theirs".to_vec()));
    }

    #[test]
    fn a_file_that_never_rests_is_given_up() {
        let top = folder();
        let path = top.path().join("c.json");
        let mut round = 0;
        let failure = update(&path, |_| {
            round += 1;
            fs::write(&path, round.to_string()).unwrap();
            Ok(Update {
                answer: (),
                bytes: Some(b"ours".to_vec()),
            })
        })
        .unwrap_err();
        assert!(failure.message.contains("keeps changing"), "{failure}");
        assert_eq!(fs::read(&path).unwrap(), round.to_string().as_bytes());
    }

    #[test]
    fn links_stay_links_and_files_keep_their_mode() {
        let top = folder();
        let target = top.path().join("dot.json");
        fs::write(&target, "{}").unwrap();
        fs::set_permissions(&target, Permissions::from_mode(0o640)).unwrap();
        let middle = top.path().join("middle");
        let link = top.path().join("c.json");
        symlink("dot.json", &middle).unwrap();
        symlink(&middle, &link).unwrap();
        put(&link, b"[1]").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"[1]");
        assert_eq!(fs::metadata(&target).unwrap().mode() & 0o7777, 0o640);
        assert_eq!(fs::read_link(&link).unwrap(), middle);
        assert_eq!(names(top.path()), ["c.json", "dot.json", "middle"]);
    }

    #[test]
    fn a_link_to_nothing_is_filled_where_its_folder_exists() {
        let top = folder();
        let link = top.path().join("c.json");
        symlink("dot.json", &link).unwrap();
        put(&link, b"{}").unwrap();
        assert_eq!(fs::read(top.path().join("dot.json")).unwrap(), b"{}");

        let lost = top.path().join("lost.json");
        symlink("gone/dot.json", &lost).unwrap();
        let failure = put(&lost, b"{}").unwrap_err();
        assert!(failure.message.contains("does not exist"), "{failure}");
        let circle = top.path().join("circle.json");
        symlink("circle.json", &circle).unwrap();
        let failure = put(&circle, b"{}").unwrap_err();
        assert!(failure.message.contains("circle"), "{failure}");
    }

    #[test]
    fn what_is_no_file_is_left_alone() {
        let top = folder();
        let failure = put(top.path(), b"{}").unwrap_err();
        assert!(failure.message.contains("not a regular file"), "{failure}");
        let file = top.path().join("file");
        fs::write(&file, "").unwrap();
        let failure = put(&file.join("below/c.json"), b"{}").unwrap_err();
        assert!(failure.message.contains("cannot be created"), "{failure}");
        assert_eq!(failure.exit_code(), 2);
        let large = vec![b' '; usize::try_from(MOST_BYTES).unwrap() + 1];
        let failure = put(&file, &large).unwrap_err();
        assert!(failure.message.contains("larger than"), "{failure}");
        assert_eq!(names(top.path()), ["file"]);
    }

    #[test]
    fn leftovers_of_killed_writers_go_and_other_files_stay() {
        let top = folder();
        for name in [
            ".c.json.diffwarden-Ab12",
            ".d.json.diffwarden-Ab12",
            ".c.json.swp",
        ] {
            fs::write(top.path().join(name), "half").unwrap();
        }
        put(&top.path().join("c.json"), b"{}").unwrap();
        assert_eq!(
            names(top.path()),
            [".c.json.swp", ".d.json.diffwarden-Ab12", "c.json"]
        );
    }

    #[test]
    fn writers_at_the_same_time_wait_for_each_other() {
        let top = folder();
        let path = top.path().join("c.json");
        let start = Barrier::new(16);
        let append = || {
            start.wait();
            update(&path, |old| {
                let bytes = Some([old.unwrap_or_default(), b"x"].concat());
                Ok(Update { answer: (), bytes })
            })
        };
        thread::scope(|scope| {
            let writers: Vec<_> = (0..16).map(|_| scope.spawn(append)).collect();
            for writer in writers {
                writer.join().unwrap().unwrap();
            }
        });
        assert_eq!(fs::read(&path).unwrap(), [b'x'; 16]);
    }
}
