//! What an engine finds in its run folder before it starts, and leaves there when it ends.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, symlink};
use std::path::{Component, Path, PathBuf};

use rustix::fs::OFlags;

use crate::engine::PlacedFile;
use crate::model::{ErrorCode, Failure, Reason};

/// Writes files (mode 0600) and makes links in the run folder.
///
/// Commands of one task may ask for the same file: it is written once.
pub(super) fn place(
    run_dir: &Path,
    files: &[PlacedFile],
    links: &[(PathBuf, PathBuf)],
) -> Result<(), Failure> {
    for file in files {
        inside(run_dir, &file.name)
            .and_then(|path| write_file(&path, &file.contents))
            .map_err(|error| unplaced(&file.name, &error))?;
    }
    for (name, target) in links {
        inside(run_dir, name)
            .and_then(|path| make_link(&path, target))
            .map_err(|error| unplaced(name, &error))?;
    }
    Ok(())
}

/// Reads files of the run folder back; `None` for one that is missing or no plain file.
///
/// Links are not followed: the engine could point one at a file that nobody offered it.
pub(super) fn read_back(
    run_dir: &Path,
    names: &[PathBuf],
    max_bytes: usize,
) -> Result<Vec<Option<Vec<u8>>>, Failure> {
    let read = |name: &PathBuf| {
        let Ok(Some(file)) = inside(run_dir, name).and_then(|path| open_plain(&path)) else {
            return Ok(None);
        };
        let mut contents = Vec::new();
        let limit = u64::try_from(max_bytes).unwrap_or(u64::MAX);
        let read = file
            .take(limit.saturating_add(1))
            .read_to_end(&mut contents);
        match read {
            Ok(_) if contents.len() > max_bytes => Err(too_large(name, max_bytes)),
            Ok(_) => Ok(Some(contents)),
            Err(error) => Err(Failure::new(
                ErrorCode::ReviewerFailed,
                format!(
                    "the engine's file {} could not be read: {error}",
                    name.display()
                ),
            )
            .reason(Reason::Environment)),
        }
    };
    names.iter().map(read).collect()
}

/// Returns where `name` lies in the run folder; only plain relative names are accepted.
fn inside(run_dir: &Path, name: &Path) -> io::Result<PathBuf> {
    let plain = name
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    if plain && name.file_name().is_some() {
        Ok(run_dir.join(name))
    } else {
        Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the name leaves the private folder",
        ))
    }
}

fn write_file(path: &Path, contents: &[u8]) -> io::Result<()> {
    make_parents(path)?;
    let created = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match created {
        Ok(mut file) => file.write_all(contents),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let mut present = Vec::new();
            if let Some(file) = open_plain(path)? {
                file.take(contents.len() as u64 + 1)
                    .read_to_end(&mut present)?;
            }
            if present == contents {
                Ok(())
            } else {
                Err(error)
            }
        }
        Err(error) => Err(error),
    }
}

fn make_link(path: &Path, target: &Path) -> io::Result<()> {
    make_parents(path)?;
    match symlink(target, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            if path.read_link().is_ok_and(|present| present == target) {
                Ok(())
            } else {
                Err(error)
            }
        }
        made => made,
    }
}

fn make_parents(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |parent| {
        DirBuilder::new().recursive(true).mode(0o700).create(parent)
    })
}

/// Opens a plain file without following a link and without waiting for the writer of a pipe.
fn open_plain(path: &Path) -> io::Result<Option<File>> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(flags.cast_signed())
        .open(path)?;
    Ok(file.metadata()?.is_file().then_some(file))
}

fn unplaced(name: &Path, error: &io::Error) -> Failure {
    Failure::new(
        ErrorCode::ReviewerEnvironmentFailed,
        format!(
            "{} could not be placed in the engine's private folder: {error}",
            name.display()
        ),
    )
    .reason(Reason::Environment)
}

fn too_large(name: &Path, max_bytes: usize) -> Failure {
    Failure::new(
        ErrorCode::ReviewerFailed,
        format!(
            "the engine's file {} is larger than {max_bytes} bytes",
            name.display()
        ),
    )
    .reason(Reason::OutputLimit)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    use super::*;

    fn file(name: &str, contents: &str) -> PlacedFile {
        PlacedFile {
            name: name.into(),
            contents: contents.into(),
        }
    }

    #[test]
    fn places_private_files_and_links_once() {
        let dir = tempfile::tempdir().unwrap();
        let files = [file("home/config.toml", "x")];
        let links = [("home/auth.json".into(), "/etc/hostname".into())];
        place(dir.path(), &files, &links).unwrap();
        place(dir.path(), &files, &links).unwrap();
        let mode = |name: &str| dir.path().join(name).symlink_metadata().unwrap().mode() & 0o777;
        assert_eq!(mode("home/config.toml"), 0o600);
        assert_eq!(mode("home"), 0o700);
        assert_eq!(
            dir.path().join("home/auth.json").read_link().unwrap(),
            Path::new("/etc/hostname")
        );
        let failure = place(dir.path(), &[file("home/config.toml", "y")], &[]).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
    }

    #[test]
    fn names_cannot_leave_the_folder() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["../x", "/tmp/x", "a/../../x", "", "."] {
            assert!(
                place(dir.path(), &[file(name, "x")], &[]).is_err(),
                "{name}"
            );
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }

    #[test]
    fn reads_plain_files_back_within_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("answer"), "12345").unwrap();
        symlink("/etc/passwd", dir.path().join("link")).unwrap();
        fs::create_dir(dir.path().join("folder")).unwrap();
        let names = ["answer", "link", "missing", "folder", "../x"].map(PathBuf::from);
        let read = read_back(dir.path(), &names, 5).unwrap();
        assert_eq!(read, [Some(b"12345".to_vec()), None, None, None, None]);
        let failure = read_back(dir.path(), &names, 4).unwrap_err();
        assert_eq!(failure.reason, Some(Reason::OutputLimit));
    }
}
