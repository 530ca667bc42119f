//! The artifact as text and as a file.
//!
//! `--out` has two moments. Before anything is spent, [`OutFile::prepare`] finds out whether the
//! file could be written, without creating anything: the folder may lie inside the repository
//! under review. When the run has an artifact, [`OutFile::commit`] replaces the file in one step.
//! When it has none, dropping the `OutFile` removes an artifact that an earlier run left there, so
//! nobody takes an old result for this run's.
//!
//! [`read_artifact`] reads such a file back for `review show`.

mod place;
mod read;
mod write;

use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use diffwarden_actors::model::{ErrorCode, Failure, Reason, RepoPath, RunArtifact};

use self::place::{Place, find_place, is_artifact, remove_stale};
use self::write::{append, is_about_the_folder, overwrite, replace};
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

    /// Checks that the artifact will not take the place of a changed file: what is under review is
    /// often nowhere else. `root` is the root of the work tree, without links.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidCli`] when a file among `changed` would be replaced, unless it is an
    /// artifact or empty.
    pub fn spare(&self, root: &Path, changed: &[RepoPath]) -> Result<(), Failure> {
        let Place::File { path, old: Some(_) } = &self.place else {
            return Ok(());
        };
        let is_changed = path.strip_prefix(root).is_ok_and(|path| {
            let path = path.as_os_str().as_bytes();
            changed.iter().any(|changed| changed.as_bytes() == path)
        });
        let is_empty = fs::metadata(path).is_ok_and(|metadata| metadata.len() == 0);
        if !is_changed || is_empty || self.old_artifact().is_some() {
            return Ok(());
        }
        Err(Failure::new(
            ErrorCode::InvalidCli,
            format!(
                "cannot write the artifact to `{}`: it is part of the change under review",
                self.shown.display()
            ),
        )
        .hint("give `--out` another file, or move that one away"))
    }

    /// Tells a device or a pipe, which may block whoever writes to it, from a file: the first of
    /// the two, or the second.
    pub fn stream_or_file(self) -> (Option<Self>, Option<Self>) {
        match self.place {
            Place::Stream(_) => (Some(self), None),
            Place::File { .. } => (None, Some(self)),
        }
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

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
    use std::thread;

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

    #[test]
    fn a_changed_file_is_spared_unless_it_is_an_artifact() {
        let folder = folder();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir(root.join("src")).unwrap();
        let path = root.join("src/main.rs");
        let link = root.join("link");
        symlink("src/main.rs", &link).unwrap();
        let changed = [RepoPath::from("a"), RepoPath::from("src/main.rs")];
        let spare = |path: &Path| OutFile::prepare(path).unwrap().spare(&root, &changed);
        assert_eq!(spare(&path), Ok(()));
        for (content, is_refused) in [("fn main() {}", true), ("", false), (OLD, false)] {
            fs::write(&path, content).unwrap();
            for path in [&path, &link] {
                assert_eq!(spare(path).is_err(), is_refused, "{content}");
                assert_eq!(OutFile::prepare(path).unwrap().spare(&root, &[]), Ok(()));
            }
            fs::write(&path, "x").unwrap();
        }
        assert_eq!(spare(Path::new("/dev/null")), Ok(()));
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
