//! Where the config is (SPEC 15), and reading it.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use diffwarden_actors::model::{ErrorCode, Failure};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::model::Config;
use super::problem::Problems;
use super::{overlay, validate};
use crate::env::Environment;

const FILE_NAME: &str = "diffwarden.config.json";
const OVERLAY_NAME: &str = "diffwarden.config.local.json";

/// A config larger than this is no config.
const MOST_BYTES: u64 = 1 << 20;

/// A config that was found, read and checked.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedConfig {
    /// The file.
    pub path: PathBuf,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// Whose file it is.
    pub kind: ConfigKind,
    /// The overlay that was laid over it; only ever beside a user config.
    pub overlay: Option<ConfigFile>,
    /// What both say together.
    pub config: Config,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigFile {
    /// The file.
    pub path: PathBuf,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// Whose config file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigKind {
    /// It lies in the reviewed repository, or in the working folder outside of one: not trusted.
    Project,
    /// It is the user's own.
    User,
}

/// Returns the path of the user config, whether it exists or not: below `XDG_CONFIG_HOME` when
/// that is absolute, else below `~/.config`. A relative `XDG_CONFIG_HOME` would point into the
/// working folder and is ignored. `None` without a home folder.
pub fn user_config_path(environment: &Environment) -> Option<PathBuf> {
    let base = environment
        .absolute_path("XDG_CONFIG_HOME")
        .or_else(|| Some(environment.home()?.join(".config")))?;
    Some(base.join("diffwarden").join(FILE_NAME))
}

/// Finds, reads and checks the config of a run: the first `diffwarden.config.json` from `cwd` up
/// to `repo_root` (in `cwd` alone outside a repository), else the user config with its overlay.
///
/// Both folders are resolved first, so a link to the working folder never leads above the
/// repository.
///
/// # Errors
///
/// Fails with `invalid_config`, naming the file and every problem in it, and with `invalid_cli`
/// when the working folder cannot be opened.
pub fn load(
    cwd: &Path,
    repo_root: Option<&Path>,
    environment: &Environment,
) -> Result<Option<LoadedConfig>, Failure> {
    let user = user_config_path(environment);
    if let Some((path, limit)) = find_project(cwd, repo_root)? {
        let real = path
            .canonicalize()
            .map_err(|error| unreadable(&path, &error))?;
        let own = user.as_deref().and_then(|user| user.canonicalize().ok());
        if own.as_ref() != Some(&real) {
            if !real.starts_with(&limit) {
                return Err(link_outside(&path));
            }
            return load_file(path, ConfigKind::Project, user.as_deref()).map(Some);
        }
    }
    match user {
        Some(path) if exists(&path)? => load_file(path, ConfigKind::User, None).map(Some),
        _ => Ok(None),
    }
}

/// Returns the failure of a command that needs a config when there is none.
pub fn missing_config(environment: &Environment, what: &str) -> Failure {
    let place = match user_config_path(environment) {
        Some(path) => format!("at {}", path.display()),
        None => format!("as {FILE_NAME} at the root of the repository"),
    };
    Failure::new(
        ErrorCode::InvalidCli,
        format!("{what} and there is no diffwarden config; create an initial one {place}"),
    )
    .hint("`diffwarden review --reviewer surface` needs no config")
}

/// Returns the project config and the folder it must stay in, if there is one.
fn find_project(
    cwd: &Path,
    repo_root: Option<&Path>,
) -> Result<Option<(PathBuf, PathBuf)>, Failure> {
    let cwd = cwd.canonicalize().map_err(|error| {
        Failure::new(
            ErrorCode::InvalidCli,
            format!("cannot open the working folder {}: {error}", cwd.display()),
        )
    })?;
    let root = repo_root
        .and_then(|root| root.canonicalize().ok())
        .filter(|root| cwd.starts_with(root));
    let limit = root.unwrap_or_else(|| cwd.clone());
    for folder in cwd.ancestors() {
        let path = folder.join(FILE_NAME);
        if exists(&path)? {
            return Ok(Some((path, limit)));
        }
        if folder == limit {
            break;
        }
    }
    Ok(None)
}

/// Whether there is anything of that name; a link that leads nowhere counts, and fails when read.
fn exists(path: &Path) -> Result<bool, Failure> {
    match path.symlink_metadata() {
        Ok(_) => Ok(true),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(unreadable(path, &error)),
    }
}

fn load_file(
    path: PathBuf,
    kind: ConfigKind,
    user_config: Option<&Path>,
) -> Result<LoadedConfig, Failure> {
    let (mut value, sha256) = read(&path)?;
    let mut sources = path.display().to_string();
    let mut overlay = None;
    let local = path.with_file_name(OVERLAY_NAME);
    if kind == ConfigKind::User && exists(&local)? {
        let (local_value, sha256) = read(&local)?;
        value = merge(value, local_value, &local)?;
        sources = format!("{sources} (with {} laid over it)", local.display());
        overlay = Some(ConfigFile {
            path: local,
            sha256,
        });
    }
    let config = validate::validate(&value, kind)
        .map_err(|problems| problems.into_failure(&sources, user_config))?;
    Ok(LoadedConfig {
        path,
        sha256,
        kind,
        overlay,
        config,
    })
}

/// Lays an overlay over a base; a base of the wrong shape is left for the validation to name.
fn merge(base: Value, local: Value, local_path: &Path) -> Result<Value, Failure> {
    match (base, local) {
        (Value::Object(base), Value::Object(local)) => {
            Ok(Value::Object(overlay::merge(base, local)))
        }
        (base, Value::Object(_)) => Ok(base),
        _ => {
            let mut problems = Problems::default();
            problems.add("", "expected an object");
            Err(problems.into_failure(&local_path.display().to_string(), None))
        }
    }
}

/// Reads and parses a file, and returns the digest of its bytes.
fn read(path: &Path) -> Result<(Value, String), Failure> {
    let bytes = read_bytes(path).map_err(|error| unreadable(path, &error))?;
    let digest = Sha256::digest(&bytes);
    // Editors on some systems start UTF-8 files with a byte-order mark.
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let value = serde_json::from_slice(text).map_err(|error| {
        Failure::new(
            ErrorCode::InvalidConfig,
            format!("Invalid JSON in config at {}: {error}", path.display()),
        )
    })?;
    Ok((value, hex(&digest)))
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
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

fn hex(digest: &[u8]) -> String {
    use std::fmt::Write as _;
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("writing to a string succeeds");
        text
    })
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(
        ErrorCode::InvalidConfig,
        format!("cannot read the config at {}: {error}", path.display()),
    )
}

fn link_outside(path: &Path) -> Failure {
    Failure::new(
        ErrorCode::InvalidConfig,
        format!(
            "the project config at {} is a link to a file outside the repository",
            path.display()
        ),
    )
    .hint("replace the link by a file")
}
