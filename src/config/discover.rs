//! Where the config is (SPEC 15), and what its files say together.

use std::io;
use std::path::{Path, PathBuf};

use diffwarden_actors::model::{ErrorCode, Failure};
use serde_json::Value;

use super::model::Config;
use super::problem::Problems;
use super::read::{self, unreadable};
use super::trust::{Digest, Standing, TrustStore};
use super::{overlay, project, validate};
use crate::env::Environment;

const FILE_NAME: &str = "diffwarden.config.json";
pub(super) const OVERLAY_NAME: &str = "diffwarden.config.local.json";

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
    /// It lies there too, it says what only a user may say, and the user trusts its very content.
    TrustedProject,
    /// It is the user's own.
    User,
}

/// A config file that was found and not read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// The file.
    pub(super) path: PathBuf,
    /// The same, with every link resolved. Of a user config the path itself, which nobody trusts
    /// or distrusts.
    pub(super) real: PathBuf,
    /// Whose file it is.
    pub(super) kind: ConfigKind,
}

/// What a config file and its overlay say, not checked yet.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sources {
    /// Where it was found.
    pub(super) found: Found,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub(super) sha256: String,
    /// The overlay and what it says.
    pub(super) overlay: Option<(ConfigFile, Value)>,
    /// What both say together.
    pub(super) merged: Value,
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

/// Returns the path of the overlay beside a user config.
pub(super) fn overlay_path(user_config: &Path) -> PathBuf {
    user_config.with_file_name(OVERLAY_NAME)
}

/// Finds, reads and checks the config of a run: the first `diffwarden.config.json` from `cwd` up
/// to `repo_root` (in `cwd` alone outside a repository), else the user config with its overlay.
///
/// Both folders are resolved first, so a link to the working folder never leads above the
/// repository. A project config may say what the user trusts it to say.
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
    load_trusting(cwd, repo_root, None, environment)
}

/// Does what [`load`] does, and trusts a project config of the digest that was typed with
/// `--trust-project-config`.
///
/// # Errors
///
/// As [`load`], and with `invalid_cli` for what is no digest, also without a project config.
pub fn load_trusting(
    cwd: &Path,
    repo_root: Option<&Path>,
    trusted: Option<&str>,
    environment: &Environment,
) -> Result<Option<LoadedConfig>, Failure> {
    let digest = Digest::given(trusted, environment)?;
    match find(cwd, repo_root, environment)? {
        None => Ok(None),
        Some(found) => Sources::read(found)?
            .check(digest.as_ref(), environment)
            .map(Some),
    }
}

/// A project config that the user has just trusted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewlyTrusted {
    /// Where it lies, with every link resolved.
    pub path: PathBuf,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// The places of what it may say from now on, such as `reviewers[0].cliOptions.executable`.
    pub granted: Vec<String>,
}

/// Returns the path of the project config that a run would find, with every link resolved.
///
/// # Errors
///
/// Fails with `invalid_config` for a link that leads out of the repository, and with `invalid_cli`
/// when the working folder cannot be opened.
pub fn project_config_path(
    cwd: &Path,
    repo_root: Option<&Path>,
    environment: &Environment,
) -> Result<Option<PathBuf>, Failure> {
    let found = find(cwd, repo_root, environment)?;
    Ok(found
        .filter(|found| found.kind == ConfigKind::Project)
        .map(|found| found.real))
}

/// Returns the path of the config that a run would use, whoever it belongs to.
///
/// # Errors
///
/// As [`project_config_path`].
pub fn used_config_path(
    cwd: &Path,
    repo_root: Option<&Path>,
    environment: &Environment,
) -> Result<Option<PathBuf>, Failure> {
    Ok(find(cwd, repo_root, environment)?.map(|found| found.path))
}

/// Remembers that the user trusts what a project config says now. What is read once is what is
/// checked and remembered.
///
/// # Errors
///
/// Fails with `invalid_config` for a file that is wrong for everybody, and as [`TrustStore`] does.
pub fn trust_project_config(
    path: &Path,
    environment: &Environment,
) -> Result<NewlyTrusted, Failure> {
    let real = path
        .canonicalize()
        .map_err(|error| unreadable(path, &error))?;
    let (value, sha256) = read::value(&real)?;
    validate::validate(&value, ConfigKind::TrustedProject)
        .map_err(|problems| problems.into_failure(&real.display().to_string(), None))?;
    let granted = match validate::validate(&value, ConfigKind::Project) {
        Ok(_) => Vec::new(),
        Err(problems) => problems.0.into_iter().map(|problem| problem.at).collect(),
    };
    let mut store = TrustStore::read(environment)?;
    store.add(&real, &sha256);
    store.write()?;
    Ok(NewlyTrusted {
        path: real,
        sha256,
        granted,
    })
}

/// Finds the config of a run.
pub(super) fn find(
    cwd: &Path,
    repo_root: Option<&Path>,
    environment: &Environment,
) -> Result<Option<Found>, Failure> {
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
            let kind = ConfigKind::Project;
            return Ok(Some(Found { path, real, kind }));
        }
    }
    match user {
        Some(path) if exists(&path)? => Ok(Some(Found {
            real: path.clone(),
            path,
            kind: ConfigKind::User,
        })),
        _ => Ok(None),
    }
}

/// Returns the project config that a run in `cwd` uses instead of the user config, if there is one.
///
/// # Errors
///
/// Fails with `invalid_cli` when the working folder cannot be opened.
pub fn shadowing_config(
    cwd: &Path,
    repo_root: Option<&Path>,
    environment: &Environment,
) -> Result<Option<PathBuf>, Failure> {
    let user = user_config_path(environment).and_then(|user| user.canonicalize().ok());
    let project = find_project(cwd, repo_root)?.map(|(path, _)| path);
    Ok(project.filter(|path| user.is_none() || path.canonicalize().ok() != user))
}

impl Sources {
    /// Reads a config file and the overlay beside it.
    pub(super) fn read(found: Found) -> Result<Self, Failure> {
        let (mut merged, sha256) = read::value(&found.path)?;
        let mut overlay = None;
        let local = overlay_path(&found.path);
        if found.kind == ConfigKind::User && exists(&local)? {
            let (value, sha256) = read::value(&local)?;
            merged = merge(merged, value.clone(), &local)?;
            let path = local;
            overlay = Some((ConfigFile { path, sha256 }, value));
        }
        Ok(Self {
            found,
            sha256,
            overlay,
            merged,
        })
    }

    /// Checks what was read, and whether it may say it.
    pub(super) fn check(
        self,
        digest: Option<&Digest>,
        environment: &Environment,
    ) -> Result<LoadedConfig, Failure> {
        let (config, kind) = match validate::validate(&self.merged, self.found.kind) {
            Ok(config) => (config, self.found.kind),
            Err(problems) if problems.has_refusals() => {
                let standing = self.standing(digest, environment)?;
                if standing != Standing::Trusted {
                    return Err(self.refusal(problems, Some(standing), environment));
                }
                let kind = ConfigKind::TrustedProject;
                let config = validate::validate(&self.merged, kind)
                    .map_err(|problems| self.refusal(problems, None, environment))?;
                (config, kind)
            }
            Err(problems) => return Err(self.refusal(problems, None, environment)),
        };
        Ok(LoadedConfig {
            path: self.found.path,
            sha256: self.sha256,
            kind,
            overlay: self.overlay.map(|(file, _)| file),
            config,
        })
    }

    /// Returns how the project config stands with the user.
    pub(super) fn standing(
        &self,
        digest: Option<&Digest>,
        environment: &Environment,
    ) -> Result<Standing, Failure> {
        match digest {
            Some(digest) if digest.is_of(&self.sha256) => Ok(Standing::Trusted),
            // Somebody had a content in mind, and this is another.
            Some(_) => Ok(Standing::Changed),
            None => Ok(TrustStore::read(environment)?.standing(&self.found.real, &self.sha256)),
        }
    }

    fn refusal(
        &self,
        problems: Problems,
        standing: Option<Standing>,
        environment: &Environment,
    ) -> Failure {
        let mut sources = self.found.path.display().to_string();
        if let Some((local, _)) = &self.overlay {
            sources = format!("{sources} (with {} laid over it)", local.path.display());
        }
        let hint = (self.found.kind == ConfigKind::Project).then(|| {
            let user_config = user_config_path(environment);
            project::hint(user_config.as_deref(), &self.sha256, standing)
        });
        problems.into_failure(&sources, hint)
    }
}

/// Returns the failure of a command that needs a config when there is none.
pub fn missing_config(environment: &Environment, what: &str) -> Failure {
    let cure = match user_config_path(environment) {
        Some(path) => format!("`diffwarden init` creates one at {}", path.display()),
        None => format!("create {FILE_NAME} at the root of the repository"),
    };
    Failure::new(
        ErrorCode::InvalidConfig,
        format!("{what} and there is no diffwarden config; {cure}"),
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
pub(super) fn exists(path: &Path) -> Result<bool, Failure> {
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

/// Lays an overlay over a base; a base of the wrong shape is left for the validation to name.
pub(super) fn merge(base: Value, local: Value, local_path: &Path) -> Result<Value, Failure> {
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

#[cfg(test)]
mod tests;
