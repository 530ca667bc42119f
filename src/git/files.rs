//! Files of the work tree, read without ever following a link.
//!
//! The names come from git, the contents from whoever wrote the repository: every folder on the
//! way is opened as a real folder, and what is neither a file nor a link is not opened at all.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};

use diffwarden_actors::model::{Mode, RepoPath};
use rustix::fs::{AtFlags, FileType, Mode as Permissions, OFlags, Stat};
use rustix::io::Errno;

/// What lies at a path.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// A regular file with its contents.
    File { mode: Mode, contents: Vec<u8> },
    /// A regular file that is larger than asked for, in bytes; it was not read.
    Large { mode: Mode, size: u64 },
    /// A symbolic link with the text it holds.
    Link { target: Vec<u8> },
    /// Something that has no contents to show: a folder, a pipe, a socket, a device.
    Other,
}

/// A folder whose files are read by their paths below it.
#[derive(Debug)]
pub(super) struct Folder(OwnedFd);

impl Folder {
    pub(super) fn open(path: &std::path::Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::open(path, flags, Permissions::empty())?))
    }

    /// Reads what lies at `path`, when it has at most `limit` bytes.
    ///
    /// # Errors
    ///
    /// When there is nothing, or it may not be read; also when the path leaves the folder or
    /// leads through a link.
    pub(super) fn read(&self, path: &RepoPath, limit: u64) -> io::Result<Entry> {
        let mut components: Vec<&[u8]> = path.as_bytes().split(|&byte| byte == b'/').collect();
        let leaves = |name: &&[u8]| matches!(*name, b"" | b"." | b"..");
        if components.iter().any(leaves) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let name = components.pop().unwrap_or_default();
        let mut folder: Option<OwnedFd> = None;
        for component in components {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let parent = folder.as_ref().map_or(self.0.as_fd(), AsFd::as_fd);
            folder = Some(rustix::fs::openat(
                parent,
                component,
                flags,
                Permissions::empty(),
            )?);
        }
        read_entry(
            folder.as_ref().map_or(self.0.as_fd(), AsFd::as_fd),
            name,
            limit,
        )
    }
}

fn read_entry(folder: impl AsFd, name: &[u8], limit: u64) -> io::Result<Entry> {
    // Opening a device can already do something, so the kind is looked at first.
    let facts = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    match FileType::from_raw_mode(facts.st_mode) {
        FileType::Symlink => Ok(Entry::Link {
            target: rustix::fs::readlinkat(&folder, name, Vec::new())?.into_bytes(),
        }),
        FileType::RegularFile => read_file(folder, name, limit),
        _ => Ok(Entry::Other),
    }
}

fn read_file(folder: impl AsFd, name: &[u8], limit: u64) -> io::Result<Entry> {
    // Should the file have been swapped for a link or a pipe in the meantime, this neither
    // follows nor waits.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags | OFlags::NOCTTY, Permissions::empty())?;
    let facts = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
        return Ok(Entry::Other);
    }
    let (mode, size) = (mode_of(&facts), u64::try_from(facts.st_size).unwrap_or(0));
    if size > limit {
        return Ok(Entry::Large { mode, size });
    }
    // One byte more than the size, so that the end is seen without growing the buffer.
    let mut contents = Vec::with_capacity(usize::try_from(size).map_err(io::Error::other)? + 1);
    let read = File::from(file)
        .take(limit.saturating_add(1))
        .read_to_end(&mut contents)?;
    // The file may grow while it is read.
    if read as u64 > limit {
        return Ok(Entry::Large {
            mode,
            size: read as u64,
        });
    }
    Ok(Entry::File { mode, contents })
}

fn mode_of(facts: &Stat) -> Mode {
    Mode(if facts.st_mode & 0o100 == 0 {
        0o100_644
    } else {
        0o100_755
    })
}

/// Whether an error says that there is nothing at the path any more.
pub(super) fn is_gone(error: &io::Error) -> bool {
    let gone = [Errno::NOENT, Errno::NOTDIR, Errno::LOOP];
    error
        .raw_os_error()
        .is_some_and(|code| gone.iter().any(|errno| errno.raw_os_error() == code))
}

/// Whether git calls these contents binary: there is a NUL byte among the first 8,000.
pub(super) fn is_binary(contents: &[u8]) -> bool {
    contents[..contents.len().min(8000)].contains(&0)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn files_and_links_are_read_and_nothing_else() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        fs::create_dir_all(at("dir/sub")).unwrap();
        fs::write(at("dir/sub/file"), "text").unwrap();
        fs::set_permissions(at("dir/sub/file"), fs::Permissions::from_mode(0o755)).unwrap();
        symlink("/etc/hostname", at("link")).unwrap();
        symlink("dir", at("way")).unwrap();
        let permissions = Permissions::from_raw_mode(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), FileType::Fifo, permissions, 0).unwrap();

        let folder = Folder::open(temp.path()).unwrap();
        let read = |name: &str| folder.read(&name.into(), 4);
        let mode = Mode(0o100_755);
        let contents = b"text".to_vec();
        assert_eq!(
            read("dir/sub/file").unwrap(),
            Entry::File { mode, contents }
        );
        let target = b"/etc/hostname".to_vec();
        assert_eq!(read("link").unwrap(), Entry::Link { target });
        assert_eq!(read("pipe").unwrap(), Entry::Other);
        assert_eq!(read("dir").unwrap(), Entry::Other);
        assert_eq!(
            folder.read(&"dir/sub/file".into(), 3).unwrap(),
            Entry::Large { mode, size: 4 }
        );
        assert!(is_gone(&read("way/sub/file").unwrap_err()));
        assert!(is_gone(&read("none").unwrap_err()));
        for outside in [
            "../x",
            "dir/../../x",
            "/etc/hostname",
            "dir//sub/file",
            "",
            "dir/",
        ] {
            assert!(read(outside).is_err(), "{outside}");
        }
    }
}
