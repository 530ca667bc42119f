use std::fmt;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// A path inside the repository, relative to its root, as the bytes git keeps.
///
/// Git paths are bytes, not text. They stay bytes until something is printed; JSON and terminals
/// get the lossy text of [`fmt::Display`].
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String")]
pub struct RepoPath(Vec<u8>);

impl RepoPath {
    /// Wraps the bytes of a path as git reports it (forward slashes, no leading slash).
    pub fn new(bytes: impl Into<Vec<u8>>) -> Self {
        Self(bytes.into())
    }

    /// Returns the path's bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the path's last component.
    pub fn file_name(&self) -> &[u8] {
        self.0
            .rsplit(|&byte| byte == b'/')
            .next()
            .unwrap_or(&self.0)
    }

    /// Returns where this path lies under `root`.
    pub fn under(&self, root: &Path) -> PathBuf {
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            root.join(std::ffi::OsStr::from_bytes(&self.0))
        }
        #[cfg(not(unix))]
        {
            root.join(String::from_utf8_lossy(&self.0).as_ref())
        }
    }
}

impl fmt::Display for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.0))
    }
}

impl fmt::Debug for RepoPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&String::from_utf8_lossy(&self.0), f)
    }
}

impl From<&str> for RepoPath {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl Serialize for RepoPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
