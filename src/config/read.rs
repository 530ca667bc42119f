//! Reading a config file: its bytes, their digest, and the JSON in them.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

use diffwarden_actors::model::{ErrorCode, Failure};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::json;

/// U+FEFF in UTF-8.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A config larger than this is no config.
pub(super) const MOST_BYTES: u64 = 1 << 20;

/// Reads and parses a file, and returns the digest of its bytes.
pub(super) fn value(path: &Path) -> Result<(Value, String), Failure> {
    let bytes = bytes(path).map_err(|error| unreadable(path, &error))?;
    Ok((parse(&bytes, path)?, hex(&bytes)))
}

/// Parses the bytes of a file.
pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Value, Failure> {
    // Editors on some systems start UTF-8 files with a byte-order mark.
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    json::parse(text).map_err(|error| {
        Failure::new(
            ErrorCode::InvalidConfig,
            format!("Invalid JSON in config at {}: {error}", path.display()),
        )
    })
}

/// Reads the bytes of a regular file of bounded size.
pub(super) fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    // Asked before opening, because opening a pipe would wait for a writer.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other(format!(
            "it is larger than {MOST_BYTES} bytes"
        )));
    }
    Ok(bytes)
}

/// Returns the SHA-256 of a file's bytes, in hexadecimal.
pub(super) fn digest_of(path: &Path) -> io::Result<String> {
    bytes(path).map(|bytes| hex(&bytes))
}

/// Returns the failure of a config that cannot be read.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(
        ErrorCode::InvalidConfig,
        format!("cannot read the config at {}: {error}", path.display()),
    )
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    let digest = Sha256::digest(bytes);
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string succeeds");
        text
    })
}
