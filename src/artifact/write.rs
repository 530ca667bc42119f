//! The ways in which an artifact is written: as a whole, over an old file, or to a stream.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::Path;
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;

/// How often a named pipe without a reader is tried.
const READER_TRIES: u32 = 50;

/// How long to wait between two tries.
const READER_WAIT: Duration = Duration::from_millis(20);

/// Replaces a file in one step: whoever reads it finds the old content or the new one. If this
/// process is killed in between, a `.name.diffwarden-…` file stays beside it.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
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
pub(super) fn is_about_the_folder(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::PermissionDenied
            | io::ErrorKind::ResourceBusy
            | io::ErrorKind::CrossesDevices
            | io::ErrorKind::InvalidFilename
    )
}

/// Writes over a file where it lies; half an artifact does not stay.
pub(super) fn overwrite(path: &Path, bytes: &[u8]) -> io::Result<()> {
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

pub(super) fn append(path: &Path, bytes: &[u8]) -> io::Result<()> {
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
