//! The artifact as text and as a file.
//!
//! `--out` has two moments. Before anything is spent, [`OutFile::prepare`] finds out whether the
//! file could be written, without creating anything: the folder may lie inside the repository
//! under review. When the run has an artifact, [`OutFile::commit`] replaces the file in one step.
//! When it has none, dropping the `OutFile` removes an artifact that an earlier run left there, so
//! nobody takes an old result for this run's.
//!
//! [`read_artifact`] reads such a file back for `review show`.

mod read;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{
    FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use diffwarden_actors::model::{ErrorCode, Failure, Reason, RunArtifact};
use rustix::fs::{Access, OFlags};
use rustix::io::Errno;

use crate::sinks::{Redactor, json};

pub use read::{parse_artifact, read_artifact};

/// Returns the artifact as `--json` prints it: two spaces of indent, a final line end, no secrets.
pub fn artifact_text(artifact: &RunArtifact, redactor: &Redactor) -> String {
    json::pretty(artifact, redactor).expect("an artifact holds nothing that JSON cannot say")
}

/// Returns the bytes of an artifact file, the same that `--json` prints.
pub fn write_artifact(artifact: &RunArtifact, redactor: &Redactor) -> Vec<u8> {
    artifact_text(artifact, redactor).into_bytes()
}

/// How many symbolic links in a row are followed to a file that does not exist yet.
const MOST_LINKS: usize = 40;

/// How much of an old file is read to see whether it is an artifact.
const HEAD: u64 = 4096;

/// How often a named pipe without a reader is tried.
const READER_TRIES: u32 = 50;

/// How long to wait between two tries.
const READER_WAIT: Duration = Duration::from_millis(20);

/// A file that will hold the artifact of this run, or nothing.
///
/// Dropping it without [`commit`](Self::commit) removes an old artifact in its place. Ending the
/// process skips drops, so this must go first.
#[derive(Debug)]
pub struct OutFile {
    /// As it was typed, for messages.
    shown: PathBuf,
    place: Place,
    is_committed: bool,
}

#[derive(Debug)]
enum Place {
    /// A file to replace as a whole; `old` is what lies there now.
    File {
        path: PathBuf,
        old: Option<Identity>,
    },
    /// A device or a pipe to write to.
    Stream(PathBuf),
}

/// Tells one file from another that took its name.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(metadata: &fs::Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
        }
    }
}

impl OutFile {
    /// Checks that an artifact can be written to `path`, relative to the process's folder. Nothing
    /// is created or changed.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidCli`] for a folder, for a file or folder that may not be written, and
    /// for a folder that does not exist.
    pub fn prepare(path: &Path) -> Result<Self, Failure> {
        let place = find_place(path).map_err(|why| {
            Failure::new(
                ErrorCode::InvalidCli,
                format!("cannot write the artifact to `{}`: {why}", path.display()),
            )
            .hint("give `--out` a file in an existing folder that you may write to")
        })?;
        Ok(Self {
            shown: path.to_owned(),
            place,
            is_committed: false,
        })
    }

    /// Returns the artifact of an earlier run that this one will replace: absolute, and without
    /// links. A source file that was named by mistake is none.
    pub fn old_artifact(&self) -> Option<PathBuf> {
        let Place::File { path, old: Some(_) } = &self.place else {
            return None;
        };
        let is_artifact = File::open(path).and_then(is_artifact);
        is_artifact.unwrap_or(false).then(|| path.clone())
    }

    /// Writes the artifact. A file is replaced as a whole and keeps its mode; a symbolic link
    /// stays one. Where the folder allows no replacement, the file is overwritten instead.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::ReviewerEnvironmentFailed`] when the file cannot be written after all, as on a
    /// full disk. What lay there before is then removed if it was an artifact.
    pub fn commit(mut self, bytes: &[u8]) -> Result<(), Failure> {
        let written = match &self.place {
            Place::File { path, .. } => match replace(path, bytes) {
                Err(error) if is_about_the_folder(&error) => overwrite(path, bytes),
                result => result,
            },
            Place::Stream(path) => append(path, bytes),
        };
        written.map_err(|error| {
            Failure::new(
                ErrorCode::ReviewerEnvironmentFailed,
                format!(
                    "cannot write the artifact to `{}`: {error}",
                    self.shown.display()
                ),
            )
            .reason(Reason::Environment)
        })?;
        self.is_committed = true;
        Ok(())
    }

    /// Gives the file up: this run has no artifact, and an older one does not stay in its place.
    pub fn abandon(self) {
        drop(self);
    }
}

impl Drop for OutFile {
    fn drop(&mut self) {
        if let Place::File {
            path,
            old: Some(old),
        } = &self.place
            && !self.is_committed
            && remove_stale(path, old).is_err()
        {
            tracing::warn!(path = %path.display(), "an older artifact could not be removed");
        }
    }
}

/// Finds what `path` stands for, or says why nothing can be written there.
fn find_place(path: &Path) -> Result<Place, String> {
    let path = std::path::absolute(path).map_err(|error| error.to_string())?;
    let metadata = match fs::metadata(&path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return find_new_file(path),
        Err(error) => return Err(error.to_string()),
    };
    let kind = metadata.file_type();
    if kind.is_dir() {
        return Err("it is a folder".to_owned());
    }
    let is_stream = is_open_file(&path) || kind.is_char_device() || kind.is_fifo();
    if !is_stream && !kind.is_file() {
        return Err("it is neither a file nor a pipe".to_owned());
    }
    if !may(&path, Access::WRITE_OK) {
        return Err("it may not be written".to_owned());
    }
    if is_stream {
        return Ok(Place::Stream(path));
    }
    let path = fs::canonicalize(&path).map_err(|error| error.to_string())?;
    let old = Some(Identity::of(&metadata));
    Ok(Place::File { path, old })
}

/// Whether a path names a file that is already open. That may be a regular file, and replacing it
/// would take it away from whoever opened it.
fn is_open_file(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"]
        .iter()
        .any(|start| path.starts_with(start))
}

/// Finds where a file that does not exist yet would be created.
fn find_new_file(mut path: PathBuf) -> Result<Place, String> {
    for _ in 0..MOST_LINKS {
        let Ok(link) = fs::read_link(&path) else {
            return check_folder(path);
        };
        path.pop();
        path.push(link);
    }
    Err("it is a circle of symbolic links".to_owned())
}

fn check_folder(path: PathBuf) -> Result<Place, String> {
    let names_a_folder = path.as_os_str().as_encoded_bytes().ends_with(b"/");
    let (Some(folder), Some(_), false) = (path.parent(), path.file_name(), names_a_folder) else {
        return Err("it names a folder".to_owned());
    };
    if !folder.is_dir() {
        return Err(format!("the folder `{}` does not exist", folder.display()));
    }
    if !may(folder, Access::WRITE_OK | Access::EXEC_OK) {
        return Err(format!(
            "the folder `{}` may not be written",
            folder.display()
        ));
    }
    Ok(Place::File { path, old: None })
}

fn may(path: &Path, access: Access) -> bool {
    rustix::fs::access(path, access).is_ok()
}

/// Replaces a file in one step: whoever reads it finds the old content or the new one. If this
/// process is killed in between, a `.name.diffwarden-…` file stays beside it.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".diffwarden-");
    let mut file = tempfile::Builder::new()
        .prefix(&prefix)
        // The mode of any new file; the system takes the umask off.
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)?;
    if let Ok(old) = fs::metadata(path) {
        file.as_file().set_permissions(old.permissions())?;
    }
    file.write_all(bytes)?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    // The name itself is safe only when the folder is written; not every system can do it.
    File::open(folder).and_then(|folder| folder.sync_all()).ok();
    Ok(())
}

/// Whether a file could not be replaced for reasons that do not keep it from being written: the
/// folder is not ours, the file is a mount point, there is no room for a longer name.
fn is_about_the_folder(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ResourceBusy
            | io::ErrorKind::CrossesDevices
            | io::ErrorKind::InvalidFilename
    )
}

/// Writes over a file where it lies; half an artifact does not stay.
fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    if written.is_err() {
        file.set_len(0).and_then(|()| fs::remove_file(path)).ok();
    }
    written
}

fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
    open_stream(path)?.write_all(bytes)
}

/// Opens a stream. A named pipe that nobody reads would keep the program waiting for ever, so its
/// reader gets a moment to come.
fn open_stream(path: &Path) -> io::Result<File> {
    let mut tries = READER_TRIES;
    loop {
        let opened = OpenOptions::new()
            .append(true)
            .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
            .open(path);
        match opened {
            Ok(file) => {
                // From here on a slow reader is waited for.
                let flags = rustix::fs::fcntl_getfl(&file)?;
                rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
                return Ok(file);
            }
            Err(error) if Errno::from_io_error(&error) == Some(Errno::NXIO) => {
                tries -= 1;
                if tries == 0 {
                    let nobody = "nobody reads from this pipe";
                    return Err(io::Error::new(error.kind(), nobody));
                }
                thread::sleep(READER_WAIT);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Removes the file that lay here before the run, if it still does and is an artifact; a source
/// file named by mistake is left alone.
fn remove_stale(path: &Path, old: &Identity) -> io::Result<()> {
    let Ok(file) = File::open(path) else {
        return Ok(());
    };
    let is_same = Identity::of(&file.metadata()?) == *old;
    if is_same && is_artifact(file)? {
        // Where the folder does not let a file go, an empty one is no result either.
        fs::remove_file(path).or_else(|_| OpenOptions::new().write(true).open(path)?.set_len(0))?;
    }
    Ok(())
}

fn is_artifact(file: File) -> io::Result<bool> {
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head)?;
    let head = String::from_utf8_lossy(&head);
    Ok(head.trim_start().starts_with('{') && head.contains("\"schema_version\""))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const OLD: &str = "{\n  \"schema_version\": 2, \"old\": true }\n";

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().unwrap()
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    fn refusal(path: &Path) -> String {
        let failure = OutFile::prepare(path).unwrap_err();
        assert_eq!(failure.code, ErrorCode::InvalidCli);
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.message.contains(&path.display().to_string()));
        failure.message
    }

    #[test]
    fn preparing_creates_nothing_and_committing_leaves_one_file() {
        let folder = folder();
        let path = folder.path().join("r.json");
        let out = OutFile::prepare(&path).unwrap();
        assert!(names(folder.path()).is_empty());
        out.commit(b"{}\n").unwrap();
        assert_eq!(names(folder.path()), ["r.json"]);
        assert_eq!(fs::read(&path).unwrap(), b"{}\n");
    }

    #[test]
    fn an_old_file_is_replaced_and_keeps_its_mode() {
        let folder = folder();
        let path = folder.path().join("r.json");
        fs::write(&path, OLD).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let out = OutFile::prepare(&path).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), OLD);
        out.commit(b"{}\n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"{}\n");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }

    #[test]
    fn a_run_without_an_artifact_removes_an_old_one() {
        let folder = folder();
        let path = folder.path().join("r.json");
        fs::write(&path, OLD).unwrap();
        OutFile::prepare(&path).unwrap().abandon();
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn what_is_no_artifact_is_never_removed() {
        let folder = folder();
        let path = folder.path().join("main.rs");
        fs::write(&path, "fn main() {}").unwrap();
        drop(OutFile::prepare(&path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "fn main() {}");
    }

    #[test]
    fn a_file_that_took_the_name_meanwhile_is_not_removed() {
        let folder = folder();
        let path = folder.path().join("r.json");
        fs::write(&path, OLD).unwrap();
        let out = OutFile::prepare(&path).unwrap();
        // Another run replaced it.
        let other = folder.path().join("other");
        fs::write(&other, OLD).unwrap();
        fs::rename(&other, &path).unwrap();
        drop(out);
        assert!(path.exists());
    }

    #[test]
    fn links_are_followed_also_to_nothing() {
        let folder = folder();
        let target = folder.path().join("target.json");
        let link = folder.path().join("link.json");
        let chain = folder.path().join("chain.json");
        symlink("target.json", &link).unwrap();
        symlink(&link, &chain).unwrap();
        for content in ["first", "second"] {
            OutFile::prepare(&chain)
                .unwrap()
                .commit(content.as_bytes())
                .unwrap();
            assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(fs::read_to_string(&target).unwrap(), content);
        }
    }

    #[test]
    fn what_cannot_be_written_is_refused_before_the_run() {
        let folder = folder();
        assert!(refusal(folder.path()).contains("folder"));
        assert!(refusal(&folder.path().join("no/such/r.json")).contains("does not exist"));
        assert!(refusal(&folder.path().join("new/")).contains("names a folder"));
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        refusal(&file.join("r.json"));
        let circle = folder.path().join("circle");
        symlink("circle", &circle).unwrap();
        refusal(&circle);
        let socket = folder.path().join("socket");
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        refusal(&socket);
        assert!(OutFile::prepare(Path::new("")).is_err());
    }

    #[test]
    fn devices_are_written_to_and_stay() {
        OutFile::prepare(Path::new("/dev/null"))
            .unwrap()
            .commit(b"{}")
            .unwrap();
        drop(OutFile::prepare(Path::new("/dev/null")).unwrap());
        assert!(
            fs::metadata("/dev/null")
                .unwrap()
                .file_type()
                .is_char_device()
        );
    }

    #[test]
    fn a_pipe_is_written_to_when_somebody_reads_and_refused_when_nobody_does() {
        let folder = folder();
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let failure = OutFile::prepare(&path).unwrap().commit(b"{}").unwrap_err();
        assert_eq!(failure.exit_code(), 3);
        assert!(failure.message.contains("nobody reads"), "{failure}");

        // More than a pipe holds: the reader is waited for.
        let bytes = vec![b'x'; 1 << 20];
        let reader = {
            let path = path.clone();
            thread::spawn(move || fs::read(path).unwrap())
        };
        OutFile::prepare(&path).unwrap().commit(&bytes).unwrap();
        assert_eq!(reader.join().unwrap().len(), bytes.len());
    }

    #[test]
    fn only_an_old_artifact_is_one_that_is_replaced() {
        let folder = folder();
        let path = folder.path().join("r.json");
        assert_eq!(OutFile::prepare(&path).unwrap().old_artifact(), None);
        fs::write(&path, "fn main() {}").unwrap();
        assert_eq!(OutFile::prepare(&path).unwrap().old_artifact(), None);
        fs::write(&path, OLD).unwrap();
        let real = path.canonicalize().unwrap();
        let link = folder.path().join("link.json");
        symlink("r.json", &link).unwrap();
        for way in [path, link] {
            let out = OutFile::prepare(&way).unwrap();
            assert_eq!(out.old_artifact().as_ref(), Some(&real));
            out.commit(OLD.as_bytes()).unwrap();
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_an_error_of_the_surroundings() {
        let out = OutFile::prepare(Path::new("/dev/full")).unwrap();
        let failure = out.commit(b"{}").unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        assert_eq!(failure.exit_code(), 3);
    }

    #[test]
    fn a_name_too_long_for_a_neighbour_is_written_directly() {
        let folder = folder();
        let path = folder.path().join("n".repeat(250));
        OutFile::prepare(&path).unwrap().commit(b"{}").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"{}");
        assert_eq!(names(folder.path()).len(), 1);
    }
}
