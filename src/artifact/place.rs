//! What lies at the place of an artifact before the run, and what may be done with it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::Access;

/// How many symbolic links in a row are followed to a file that does not exist yet.
const MOST_LINKS: usize = 40;

/// How much of an old file is read to see whether it is an artifact.
const HEAD: u64 = 4096;

#[derive(Debug)]
pub(super) enum Place {
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
pub(super) struct Identity {
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

/// Finds what `path` stands for, or says why nothing can be written there.
pub(super) fn find_place(path: &Path) -> Result<Place, String> {
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

/// Removes the file that lay here before the run, if it still does and is an artifact; a source
/// file named by mistake is left alone.
pub(super) fn remove_stale(path: &Path, old: &Identity) -> io::Result<()> {
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

pub(super) fn is_artifact(file: File) -> io::Result<bool> {
    let mut head = Vec::new();
    file.take(HEAD).read_to_end(&mut head)?;
    let head = String::from_utf8_lossy(&head);
    Ok(head.trim_start().starts_with('{') && head.contains("\"schema_version\""))
}
