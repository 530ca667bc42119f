//! The private folder of one engine task.
//!
//! A [`RunDir`] is a guard: whoever holds it owns the folder, and it is gone when the guard is, on
//! every path. It never lies inside the reviewed repository (its contents would show up as changes
//! and be read as such) and nobody else can look into it.
//!
//! Two things tell a stale folder from a live one: the pid in its name, and a lock on the folder
//! itself, which the kernel drops with its owner and which also holds between containers that share
//! a temp folder but not their process numbers.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use rustix::fs::{Access, FlockOperation, flock};

use crate::model::{ErrorCode, Failure, Reason};

const PREFIX: &str = "diffwarden-";
const RANDOM_LENGTH: usize = 8;

/// A private folder (mode 0700) that ends with its task.
#[derive(Debug)]
pub(crate) struct RunDir {
    path: PathBuf,
    /// Holds the lock that marks the folder as in use; closed on `exec`, so engines do not inherit
    /// it. `None` on file systems without locks.
    _lock: Option<File>,
}

impl RunDir {
    /// Creates a folder under the first suitable parent: `XDG_RUNTIME_DIR`, `TMPDIR`, `/tmp`.
    ///
    /// # Errors
    ///
    /// Fails when no parent outside `repo_root` can be written to.
    pub(crate) fn create(repo_root: &Path) -> Result<Self, Failure> {
        Self::create_under(&candidates(|name| std::env::var_os(name)), repo_root)
    }

    /// Creates the folder at a place that was chosen before.
    ///
    /// # Errors
    ///
    /// Fails when something lies there by now, or when the parent is not writable any more.
    pub(crate) fn create_at(path: &Path) -> Result<Self, Failure> {
        fs::DirBuilder::new()
            .mode(0o700)
            .create(path)
            .map_err(|error| unwritable(path, &error))?;
        Ok(Self::hold(path.to_owned()))
    }

    /// Becomes the owner of a folder that was just created.
    fn hold(path: PathBuf) -> Self {
        let lock = File::open(&path)
            .ok()
            .filter(|folder| flock(folder, FlockOperation::NonBlockingLockShared).is_ok());
        Self { path, _lock: lock }
    }

    fn create_under(candidates: &[Candidate], repo_root: &Path) -> Result<Self, Failure> {
        let mut refusals = Vec::new();
        for candidate in candidates {
            let made = suitable(candidate, repo_root)
                .and_then(|parent| make(&parent).map_err(|error| error.to_string()));
            match made {
                Ok(run_dir) => return Ok(run_dir),
                Err(why) => refusals.push(format!("{}: {why}", candidate.path.display())),
            }
        }
        Err(nowhere(&refusals))
    }

    /// Returns where the folder is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folder off the runtime's thread, and returns once it is gone.
    pub(crate) async fn remove(self) {
        // A panic in there would have been reported by the panic hook; the folder is swept later.
        drop(tokio::task::spawn_blocking(move || drop(self)).await);
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        if let Err(error) = remove_tree(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "a private folder could not be removed");
        }
    }
}

/// Chooses a place for a private folder that may become large, and creates nothing. Temporary
/// folders come first: `XDG_RUNTIME_DIR` mostly lies in memory and is not meant for large files.
///
/// # Errors
///
/// Fails when there is no suitable parent outside `repo_root`.
pub(crate) fn choose_roomy(repo_root: &Path) -> Result<PathBuf, Failure> {
    let mut candidates = candidates(|name| std::env::var_os(name));
    candidates.sort_by_key(|candidate| candidate.owned);
    let mut refusals = Vec::new();
    for candidate in candidates {
        let writable = suitable(&candidate, repo_root).and_then(|parent| {
            let access = Access::WRITE_OK | Access::EXEC_OK;
            let allowed = rustix::fs::access(&parent, access);
            allowed.map(|()| parent).map_err(|error| error.to_string())
        });
        match writable {
            Ok(parent) => return Ok(parent.join(made_up_name())),
            Err(why) => refusals.push(format!("{}: {why}", candidate.path.display())),
        }
    }
    Err(nowhere(&refusals))
}

/// Returns a name that nobody can foresee.
fn made_up_name() -> String {
    const LETTERS: &[u8; 36] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    let mut number = RandomState::new().hash_one(std::process::id());
    let mut random = String::with_capacity(RANDOM_LENGTH);
    for _ in 0..RANDOM_LENGTH {
        let letter = usize::try_from(number % 36).unwrap_or_default();
        random.push(char::from(LETTERS[letter]));
        number /= 36;
    }
    format!("{PREFIX}{}-{random}", std::process::id())
}

fn nowhere(refusals: &[String]) -> Failure {
    Failure::new(
        ErrorCode::ReviewerEnvironmentFailed,
        format!(
            "no place for private files outside the reviewed repository ({})",
            refusals.join("; ")
        ),
    )
    .reason(Reason::Environment)
    .hint("Set TMPDIR to a writable folder outside the repository.")
}

/// Returns the failure for a private folder that cannot be written to.
pub(crate) fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(
        ErrorCode::ReviewerEnvironmentFailed,
        format!(
            "cannot create the private folder {}: {error}",
            path.display()
        ),
    )
    .reason(Reason::Environment)
    .hint("Set TMPDIR to a writable folder outside the repository.")
}

/// Removes folders that runs of this user left behind when they were killed.
pub(crate) fn sweep_stale() {
    for candidate in candidates(|name| std::env::var_os(name)) {
        sweep(&candidate.path);
    }
}

/// A possible parent.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Candidate {
    path: PathBuf,
    /// Whether the folder has to belong to this user alone, as `XDG_RUNTIME_DIR` is specified to.
    owned: bool,
}

fn candidates(env: impl Fn(&str) -> Option<OsString>) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut add = |path: PathBuf, owned| {
        // A relative folder would be looked up from the reviewed repository.
        if path.is_absolute() && !found.iter().any(|c: &Candidate| c.path == path) {
            found.push(Candidate { path, owned });
        }
    };
    if let Some(path) = env("XDG_RUNTIME_DIR") {
        add(path.into(), true);
    }
    if let Some(path) = env("TMPDIR") {
        add(path.into(), false);
    }
    add("/tmp".into(), false);
    found
}

/// Returns the candidate's real path, or why it will not do.
fn suitable(candidate: &Candidate, repo_root: &Path) -> Result<PathBuf, String> {
    let real = candidate.path.canonicalize().map_err(|e| e.to_string())?;
    let metadata = real.metadata().map_err(|e| e.to_string())?;
    if !metadata.is_dir() {
        return Err("not a folder".to_owned());
    }
    if candidate.owned && metadata.uid() != own_uid() {
        return Err("belongs to another user".to_owned());
    }
    let repository = repo_root
        .canonicalize()
        .unwrap_or_else(|_| repo_root.to_owned());
    if real.starts_with(repository) {
        return Err("inside the reviewed repository".to_owned());
    }
    Ok(real)
}

fn make(parent: &Path) -> io::Result<RunDir> {
    let path = tempfile::Builder::new()
        .prefix(&format!("{PREFIX}{}-", std::process::id()))
        .rand_bytes(RANDOM_LENGTH)
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(parent)?
        .keep();
    Ok(RunDir::hold(path))
}

/// Removes a tree, also when it holds read-only folders or something still writes into it.
fn remove_tree(path: &Path) -> io::Result<()> {
    let mut outcome = Ok(());
    // A killed process may be between two system calls for a moment; its last file appears after
    // the folder was listed.
    for pause_ms in [0, 5, 20, 80] {
        thread::sleep(Duration::from_millis(pause_ms));
        outcome = match fs::remove_dir_all(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                open_folders(path);
                Err(error)
            }
            _ => return Ok(()),
        };
    }
    outcome
}

/// Makes every folder of a tree listable and writable again. Links are not followed.
fn open_folders(path: &Path) {
    let is_folder = path.symlink_metadata().is_ok_and(|m| m.is_dir());
    if !is_folder || fs::set_permissions(path, Permissions::from_mode(0o700)).is_err() {
        return;
    }
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        open_folders(&entry.path());
    }
}

fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let Some(pid) = owner(&entry.file_name()) else {
            continue;
        };
        let path = entry.path();
        let ours = path
            .symlink_metadata()
            .is_ok_and(|m| m.is_dir() && m.uid() == own_uid());
        if ours && !is_alive(pid) && !is_locked(&path) {
            tracing::debug!(path = %path.display(), "removing what a killed run left behind");
            if let Err(error) = remove_tree(&path) {
                tracing::warn!(path = %path.display(), %error, "a stale folder could not be removed");
            }
        }
    }
}

/// Returns the pid in a run folder's name; `None` for any other name.
fn owner(name: &OsStr) -> Option<i32> {
    let (pid, random) = name.to_str()?.strip_prefix(PREFIX)?.split_once('-')?;
    let well_formed = pid.bytes().all(|byte| byte.is_ascii_digit())
        && random.len() == RANDOM_LENGTH
        && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
    pid.parse().ok().filter(|&pid| well_formed && pid > 0)
}

fn is_alive(pid: i32) -> bool {
    // A process of another user answers EPERM: alive.
    rustix::process::Pid::from_raw(pid)
        .is_some_and(|pid| rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH))
}

fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|folder| {
        flock(&folder, FlockOperation::NonBlockingLockExclusive)
            == Err(rustix::io::Errno::WOULDBLOCK)
    })
}

fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn plain(path: &Path) -> Candidate {
        Candidate {
            path: path.to_owned(),
            owned: false,
        }
    }

    #[test]
    fn is_private_and_ends_with_its_guard_also_when_read_only() {
        let parent = tempfile::tempdir().unwrap();
        let repo = tempfile::tempdir().unwrap();
        let run_dir = RunDir::create_under(&[plain(parent.path())], repo.path()).unwrap();
        let path = run_dir.path().to_owned();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
        fs::create_dir_all(path.join("a/b")).unwrap();
        fs::write(path.join("a/b/c"), "x").unwrap();
        fs::set_permissions(path.join("a/b"), Permissions::from_mode(0o500)).unwrap();
        fs::set_permissions(path.join("a"), Permissions::from_mode(0o000)).unwrap();
        drop(run_dir);
        assert!(!path.exists());
    }

    #[test]
    fn removal_leaves_what_links_point_at() {
        let parent = tempfile::tempdir().unwrap();
        let other = tempfile::tempdir().unwrap();
        fs::write(other.path().join("credential"), "x").unwrap();
        let run_dir = RunDir::create_under(&[plain(parent.path())], Path::new("/nowhere")).unwrap();
        symlink(other.path(), run_dir.path().join("folder")).unwrap();
        symlink(
            other.path().join("credential"),
            run_dir.path().join("credential"),
        )
        .unwrap();
        drop(run_dir);
        assert!(other.path().join("credential").exists());
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn skips_missing_parents_and_those_inside_the_repository() {
        let repo = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let inside = repo.path().join("tmp");
        fs::create_dir(&inside).unwrap();
        // A link from outside into the repository does not help either.
        let link = outside.path().join("link");
        symlink(&inside, &link).unwrap();
        let places = [
            plain(&repo.path().join("missing")),
            plain(&inside),
            plain(&link),
            plain(outside.path()),
        ];
        let run_dir = RunDir::create_under(&places, repo.path()).unwrap();
        assert_eq!(
            run_dir.path().parent().unwrap(),
            outside.path().canonicalize().unwrap()
        );

        let failure = RunDir::create_under(&places[..3], repo.path()).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        assert_eq!(failure.reason, Some(Reason::Environment));
        assert!(
            failure.message.contains("inside the reviewed repository"),
            "{failure}"
        );
    }

    #[test]
    fn parents_are_tried_in_order_and_relative_ones_never() {
        let named = |pairs: &'static [(&str, &str)]| {
            candidates(|name| {
                let pair = pairs.iter().find(|(key, _)| *key == name)?;
                Some(pair.1.into())
            })
            .into_iter()
            .map(|c| (c.path.to_str().unwrap().to_owned(), c.owned))
            .collect::<Vec<_>>()
        };
        let tmp = ("/tmp".to_owned(), false);
        assert_eq!(named(&[]), std::slice::from_ref(&tmp));
        assert_eq!(
            named(&[("XDG_RUNTIME_DIR", "run"), ("TMPDIR", "")]),
            std::slice::from_ref(&tmp)
        );
        assert_eq!(
            named(&[("XDG_RUNTIME_DIR", "/run/user/1"), ("TMPDIR", "/var/tmp")]),
            [
                ("/run/user/1".to_owned(), true),
                ("/var/tmp".to_owned(), false),
                tmp
            ]
        );
    }

    #[test]
    fn a_sweep_takes_only_what_dead_runs_left() {
        let parent = tempfile::tempdir().unwrap();
        let dead = 0x7fff_fff0_u32; // Above every kernel's limit.
        let make_dir = |name: String| {
            let path = parent.path().join(name);
            fs::create_dir(&path).unwrap();
            path
        };
        let stale = make_dir(format!("{PREFIX}{dead}-abcd1234"));
        fs::write(stale.join("prompt"), "x").unwrap();
        let alive = make_dir(format!("{PREFIX}{}-abcd1234", std::process::id()));
        let foreign = make_dir("diffwarden-notes".to_owned());
        let lookalike = make_dir(format!("{PREFIX}{dead}-abcd-234"));
        let locked = make_dir(format!("{PREFIX}{dead}-locked12"));
        let lock = File::open(&locked).unwrap();
        flock(&lock, FlockOperation::NonBlockingLockShared).unwrap();
        let file = parent.path().join(format!("{PREFIX}{dead}-file1234"));
        fs::write(&file, "x").unwrap();
        let link = parent.path().join(format!("{PREFIX}{dead}-link1234"));
        symlink(&foreign, &link).unwrap();

        sweep(parent.path());

        assert!(!stale.exists());
        for kept in [&alive, &foreign, &lookalike, &locked, &file, &link] {
            assert!(kept.exists(), "{}", kept.display());
        }
    }
}
