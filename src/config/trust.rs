//! Which project configs the user trusts: exact contents, each at its place.
//!
//! A project config comes with what is reviewed, so nothing in the repository can speak for it.
//! Its owner does, outside of the repository: with `diffwarden config trust`, which remembers the
//! path and the digest of the content in the user's state folder, or with a digest on the command
//! line or in a variable. What must stay true: another content is another file, and what cannot be
//! read trusts nothing.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use diffwarden_actors::model::{ErrorCode, Failure};
use serde::{Deserialize, Serialize};

use super::read;
use crate::env::Environment;

/// The flag that names the digest of a trusted content.
pub const TRUST_FLAG: &str = "--trust-project-config";
/// The variable that stands in for the flag.
pub const TRUST_VARIABLE: &str = "DIFFWARDEN_TRUST_PROJECT_CONFIG";

/// The file that remembers, below the user's state folder.
const STORE: &str = "diffwarden/trusted-project-configs.json";
const STORE_VERSION: u32 = 1;

/// The SHA-256 of a content, as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Digest(String);

impl TryFrom<String> for Digest {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let is_digest = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_digest {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err("a SHA-256 is 64 hexadecimal digits")
        }
    }
}

impl Digest {
    /// Reads the flag, else its variable; a blank variable is unset.
    ///
    /// # Errors
    ///
    /// Fails with `invalid_cli` for what is no digest.
    pub(super) fn given(
        typed: Option<&str>,
        environment: &Environment,
    ) -> Result<Option<Self>, Failure> {
        let (source, text) = match typed {
            Some(text) => (TRUST_FLAG, text.trim()),
            None => match environment.raw(TRUST_VARIABLE).map(|raw| raw.to_str()) {
                // Not UTF-8 is no digest either.
                Some(text) => (TRUST_VARIABLE, text.unwrap_or("?").trim()),
                None => return Ok(None),
            },
        };
        if text.is_empty() && source == TRUST_VARIABLE {
            return Ok(None);
        }
        Self::try_from(text.to_owned()).map(Some).map_err(|defect| {
            Failure::new(
                ErrorCode::InvalidCli,
                format!("the value of {source} is not the digest of a config: {defect}"),
            )
            .hint("`diffwarden config show` prints the digest of the project config")
        })
    }

    /// Whether this is the digest of a content.
    pub(super) fn is_of(&self, sha256: &str) -> bool {
        self.0 == sha256
    }
}

/// How a project config stands with the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// This very content is trusted.
    Trusted,
    /// Another content was trusted.
    Changed,
    /// Nobody ever trusted it.
    Unknown,
}

/// A content that is trusted at one place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    path: PathBuf,
    sha256: Digest,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredEntries {
    version: u32,
    trusted: Vec<Entry>,
}

/// What the user trusts, as remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustStore {
    path: PathBuf,
    entries: Vec<Entry>,
}

/// A remembered config and what became of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedConfig<'a> {
    /// Where it lies.
    pub path: &'a Path,
    /// The SHA-256 of the trusted content.
    pub sha256: &'a str,
    /// The content that lies there now; `None` when there is none.
    pub standing: Option<Standing>,
}

impl TrustStore {
    /// Reads what is remembered; a missing file remembers nothing.
    ///
    /// # Errors
    ///
    /// Fails with `invalid_config` when there is no place for it, or when the file is there and is
    /// not what this program writes.
    pub fn read(environment: &Environment) -> Result<Self, Failure> {
        let path = store_path(environment)?;
        let entries = match read::bytes(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(broken(&path, &error)),
            Ok(bytes) => {
                let stored: StoredEntries =
                    serde_json::from_slice(&bytes).map_err(|error| broken(&path, &error))?;
                if stored.version != STORE_VERSION {
                    return Err(broken(&path, &"it was written by another version"));
                }
                stored.trusted
            }
        };
        Ok(Self { path, entries })
    }

    /// Returns the file that remembers.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns how the content of a file stands. The path must be resolved.
    pub(super) fn standing(&self, path: &Path, sha256: &str) -> Standing {
        match self.entries.iter().find(|entry| entry.path == path) {
            Some(entry) if entry.sha256.is_of(sha256) => Standing::Trusted,
            Some(_) => Standing::Changed,
            None => Standing::Unknown,
        }
    }

    /// Returns every remembered config, in the order in which they were first trusted.
    pub fn configs(&self) -> impl Iterator<Item = TrustedConfig<'_>> {
        self.entries.iter().map(|entry| TrustedConfig {
            path: &entry.path,
            sha256: &entry.sha256.0,
            standing: read::digest_of(&entry.path)
                .ok()
                .map(|now| self.standing(&entry.path, &now)),
        })
    }

    /// Remembers a content, in place of another at the same path.
    pub(super) fn add(&mut self, path: &Path, sha256: &str) {
        let sha256 = Digest(sha256.to_owned());
        match self.entries.iter_mut().find(|entry| entry.path == path) {
            Some(entry) => entry.sha256 = sha256,
            None => self.entries.push(Entry {
                path: path.to_owned(),
                sha256,
            }),
        }
    }

    /// Forgets what is trusted at a path; returns whether anything was.
    pub fn remove(&mut self, path: &Path) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.path != path);
        self.entries.len() < before
    }

    /// Writes the file, whole or not at all, for the user's eyes alone.
    ///
    /// # Errors
    ///
    /// Fails with `reviewer_environment_failed` when it cannot be written, such as for a path that
    /// is not UTF-8.
    pub fn write(&self) -> Result<(), Failure> {
        self.put().map_err(|error| {
            Failure::new(
                ErrorCode::ReviewerEnvironmentFailed,
                format!("cannot write {}: {error}", self.path.display()),
            )
            .hint(format!("{TRUST_FLAG} trusts a config without a file"))
        })
    }

    fn put(&self) -> io::Result<()> {
        let stored = StoredEntries {
            version: STORE_VERSION,
            trusted: self.entries.clone(),
        };
        let text = serde_json::to_string_pretty(&stored)? + "\n";
        let folder = self.path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
        let mut file = tempfile::Builder::new()
            .prefix(".trusted-")
            .permissions(Permissions::from_mode(0o600))
            .tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        // A link is followed, so that a state folder of links keeps them.
        let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        file.persist(target)?;
        Ok(())
    }
}

/// Returns the file that remembers. A relative `XDG_STATE_HOME` would point into the working
/// folder and is ignored.
fn store_path(environment: &Environment) -> Result<PathBuf, Failure> {
    let state = environment
        .absolute_path("XDG_STATE_HOME")
        .or_else(|| Some(environment.home()?.join(".local/state")));
    state.map(|state| state.join(STORE)).ok_or_else(|| {
        Failure::new(
            ErrorCode::InvalidConfig,
            "there is no place to remember trusted configs: neither XDG_STATE_HOME nor HOME is set",
        )
        .hint(format!("{TRUST_FLAG} trusts a config without a file"))
    })
}

fn broken(path: &Path, defect: &dyn std::fmt::Display) -> Failure {
    Failure::new(
        ErrorCode::InvalidConfig,
        format!(
            "cannot read which project configs are trusted from {}: {defect}",
            path.display()
        ),
    )
    .hint("remove that file, and trust again what you trust")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ONE: &str = "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356";

    fn world() -> (tempfile::TempDir, Environment) {
        let home = tempfile::tempdir().unwrap();
        let environment = [("HOME", home.path())].into_iter().collect();
        (home, environment)
    }

    #[test]
    fn digests_are_read_strictly() {
        let given = |typed: Option<&str>, variable: &str| {
            Digest::given(typed, &[(TRUST_VARIABLE, variable)].into_iter().collect())
        };
        let one = Some(Digest(ONE.to_owned()));
        let upper = ONE.to_ascii_uppercase();
        assert_eq!(given(Some(&upper), "nonsense"), Ok(one.clone()));
        assert_eq!(given(None, &format!(" {ONE}\n")), Ok(one));
        assert_eq!(given(None, " "), Ok(None));
        assert_eq!(Digest::given(None, &Environment::default()), Ok(None));
        for wrong in ["", "ca3d", &ONE.replace('c', "g"), &format!("{ONE}00")] {
            let failure = given(Some(wrong), "").unwrap_err();
            assert_eq!(failure.exit_code(), 2);
            assert!(failure.message.contains(TRUST_FLAG), "{failure}");
        }
        let failure = given(None, "yes").unwrap_err();
        assert!(failure.message.contains(TRUST_VARIABLE), "{failure}");
    }

    #[test]
    fn what_is_remembered_is_read_again() {
        let (home, environment) = world();
        let file = home.path().join("c.json");
        fs::write(&file, "{}\n").unwrap();
        let mut store = TrustStore::read(&environment).unwrap();
        assert_eq!(store.standing(&file, ONE), Standing::Unknown);
        store.add(&file, &"0".repeat(64));
        store.write().unwrap();
        let mut store = TrustStore::read(&environment).unwrap();
        assert_eq!(store.standing(&file, ONE), Standing::Changed);
        store.add(&file, ONE);
        store.add(Path::new("/gone"), ONE);
        store.write().unwrap();

        let mut store = TrustStore::read(&environment).unwrap();
        assert_eq!(store.standing(&file, ONE), Standing::Trusted);
        let standings: Vec<_> = store.configs().map(|config| config.standing).collect();
        assert_eq!(standings, [Some(Standing::Trusted), None]);
        fs::write(&file, "{ }\n").unwrap();
        assert_eq!(
            store.configs().next().unwrap().standing,
            Some(Standing::Changed)
        );
        let mode = fs::metadata(store.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let folder = store.path().parent().unwrap();
        assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "nothing is left");

        assert!(store.remove(&file) && !store.remove(&file));
        store.write().unwrap();
        let store = TrustStore::read(&environment).unwrap();
        assert_eq!(store.standing(&file, ONE), Standing::Unknown);
    }

    #[test]
    fn a_relative_state_folder_is_ignored() {
        let (home, _) = world();
        let environment: Environment = [
            ("HOME", home.path().to_owned()),
            ("XDG_STATE_HOME", PathBuf::from("state")),
        ]
        .into_iter()
        .collect();
        let store = TrustStore::read(&environment).unwrap();
        assert_eq!(store.path(), home.path().join(".local/state").join(STORE));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_broken_store_trusts_nothing(text in r#"(\{"version":[0-2],"trusted":\[(\{"path":"/[a-z]","sha256":"[0-9a-f]{3}"\})?)?[\]\}]{0,2}"#) {
            let (_home, environment) = world();
            let path = store_path(&environment).unwrap();
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
            match TrustStore::read(&environment) {
                Ok(store) => prop_assert_eq!(store.entries.len(), 0),
                Err(failure) => prop_assert_eq!(failure.exit_code(), 2),
            }
        }
    }
}
