//! The process environment, read once.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// A snapshot of the environment. Everything that depends on a variable takes one of these, so
/// tests choose what is set and nothing changes half way through a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// Reads the environment of this process.
    pub fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// Returns every variable and its value, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// Returns the value of a variable, also when it is not UTF-8 or blank.
    pub fn raw(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// Returns the value of a variable as trimmed text; `None` when unset, blank or not UTF-8.
    pub fn text(&self, name: &str) -> Option<&str> {
        let text = self.raw(name)?.to_str()?.trim();
        (!text.is_empty()).then_some(text)
    }

    /// Returns a variable that names a folder; `None` when unset, blank or relative. A relative
    /// path would mean a different folder in every working folder, an untrusted one included.
    pub fn absolute_path(&self, name: &str) -> Option<PathBuf> {
        let path = PathBuf::from(self.raw(name)?);
        path.is_absolute().then_some(path)
    }

    /// Returns every variable, for a child process that gets exactly this environment.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// Returns the home folder: `HOME` when it is absolute, else what the system's user database
    /// says.
    pub fn home(&self) -> Option<PathBuf> {
        self.absolute_path("HOME")
            .or_else(|| directories::BaseDirs::new().map(|dirs| dirs.home_dir().to_path_buf()))
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self(
            pairs
                .into_iter()
                .map(|(k, v)| (k.into(), v.into()))
                .collect(),
        )
    }
}
