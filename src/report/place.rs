//! Where reports go, and writing them.
//!
//! A report lies at `<folder>/YYYY/MM/DD/<time>-<run id>.json`, is complete or absent, and never
//! replaces another. Inside the reviewed repository every step of the way must be a real folder: a
//! symbolic link there comes with the change and could lead anywhere.

use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use diffwarden_actors::model::{ErrorCode, Failure, Reason, RunArtifact};
use rustix::fs::Access;

use super::build::{ReportFacts, Stamp, build_report};
use super::shape::{ReportStorage, StorageScope};
use crate::config::{ConfigKind, LoadedConfig, ReportMode, ReportScope, ReportingSettings};
use crate::env::Environment;
use crate::sinks::{Redactor, json};

/// What the command line says about reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportFlags {
    /// `--report` or `--no-report`.
    pub enabled: Option<bool>,
    /// `--report-dir`, relative to the working folder of the review.
    pub dir: Option<PathBuf>,
    /// `--report-scope`.
    pub scope: Option<ReportScope>,
    /// `--report-mode`.
    pub mode: Option<ReportMode>,
}

/// Where the reports of a run go, and how much they hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reporting {
    folder: PathBuf,
    /// The folder that reports must not leave, for places that the reviewed repository has a hand
    /// in.
    within: Option<PathBuf>,
    storage: ReportStorage,
}

impl Reporting {
    /// Decides whether a run writes a report, and where. Flags beat the config.
    ///
    /// `cwd` is the working folder of the review, `repo_root` the root of its repository.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidCli`] when the place cannot be told.
    pub fn resolve(
        flags: &ReportFlags,
        config: Option<&LoadedConfig>,
        (cwd, repo_root): (&Path, &Path),
        env: &Environment,
    ) -> Result<Option<Self>, Failure> {
        let none = ReportingSettings::default();
        let settings = config.map_or(&none, |loaded| &loaded.config.reporting);
        if !flags.enabled.or(settings.enabled).unwrap_or(false) {
            return Ok(None);
        }
        let mode = flags.mode.or(settings.mode).unwrap_or(ReportMode::Full);
        let scope = flags
            .scope
            .or(settings.scope)
            .unwrap_or(ReportScope::Global);
        let is_project = config.is_some_and(|loaded| loaded.kind == ConfigKind::Project);
        let (scope, folder, within) = match (&flags.dir, &settings.dir, scope) {
            (None, Some(dir), _) if is_project => {
                let root = resolved(repo_root)?;
                (
                    StorageScope::CustomDir,
                    resolved(cwd)?.join(dir),
                    Some(root),
                )
            }
            (Some(dir), _, _) | (None, Some(dir), _) => {
                (StorageScope::CustomDir, cwd.join(dir), None)
            }
            (None, None, ReportScope::Repo) => {
                let root = resolved(repo_root)?;
                (
                    StorageScope::Repo,
                    root.join(".diffwarden/reports"),
                    Some(root),
                )
            }
            (None, None, ReportScope::Global) => (StorageScope::Global, state_folder(env)?, None),
        };
        Ok(Some(Self {
            folder: std::path::absolute(&folder).map_err(|error| misplaced(&folder, &error))?,
            within,
            storage: ReportStorage { scope, mode },
        }))
    }

    /// Checks that a report could be written, before anything is spent on a run. Nothing is created.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidCli`] when the folder of reports is none, may not be written, or could
    /// not be created.
    pub fn check(&self) -> Result<(), Failure> {
        let misplaced = |error: &io::Error| misplaced(&self.folder, error);
        for folder in self.folder.ancestors() {
            match fs::metadata(folder) {
                // A report needs the last folder that exists for the first one that does not.
                Ok(metadata) if metadata.is_dir() => {
                    let needed = Access::WRITE_OK | Access::EXEC_OK;
                    return rustix::fs::access(folder, needed)
                        .map_err(|error| misplaced(&error.into()));
                }
                Ok(_) => return Err(misplaced(&io::ErrorKind::NotADirectory.into())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
                Err(error) => return Err(misplaced(&error)),
            }
        }
        Ok(())
    }

    /// Returns where and how reports are kept, for [`ReportFacts`].
    pub fn storage(&self) -> ReportStorage {
        self.storage
    }

    /// Writes the report of a run and returns its path.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::ReviewerEnvironmentFailed`] when it cannot be written. Then nothing of it is
    /// left.
    pub fn write(
        &self,
        facts: &ReportFacts,
        artifact: &RunArtifact,
        redactor: &Redactor,
    ) -> Result<PathBuf, Failure> {
        let stamp = Stamp::now();
        let report = build_report(facts, &stamp, artifact);
        let text =
            json::pretty(&report, redactor).expect("a report holds nothing that JSON cannot say");
        let path = self.folder.join(name_of(&stamp));
        self.put(&path, text.as_bytes()).map_err(|error| {
            Failure::new(
                ErrorCode::ReviewerEnvironmentFailed,
                format!("cannot write the report to `{}`: {error}", path.display()),
            )
            .reason(Reason::Environment)
            .hint("name another folder with --report-dir, or leave it out with --no-report")
        })?;
        Ok(path)
    }

    fn put(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        match &self.within {
            Some(within) => create_inside(within, folder)?,
            None => DirBuilder::new()
                .recursive(true)
                .mode(self.mode(0o777))
                .create(folder)?,
        }
        let mut file = tempfile::Builder::new()
            .prefix(".report-")
            .permissions(Permissions::from_mode(self.mode(0o666)))
            .tempfile_in(folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist_noclobber(path)?;
        Ok(())
    }

    /// Returns the mode of a new file or folder, before the system takes the umask off. The state
    /// folder is the user's alone; other places are shared as their owner likes.
    fn mode(&self, open: u32) -> u32 {
        match self.storage.scope {
            StorageScope::Global => open & 0o700,
            StorageScope::Repo | StorageScope::CustomDir => open,
        }
    }
}

fn resolved(folder: &Path) -> Result<PathBuf, Failure> {
    folder
        .canonicalize()
        .map_err(|error| misplaced(folder, &error))
}

fn misplaced(folder: &Path, error: &io::Error) -> Failure {
    let folder = folder.display();
    Failure::new(
        ErrorCode::InvalidCli,
        format!("`{folder}` is no folder for reports: {error}"),
    )
    .hint("name another one with --report-dir")
}

/// Returns the folder of reports that no repository has. A relative `XDG_STATE_HOME` would point
/// into the working folder and is ignored.
fn state_folder(env: &Environment) -> Result<PathBuf, Failure> {
    let state = env
        .absolute_path("XDG_STATE_HOME")
        .or_else(|| env.home().map(|home| home.join(".local/state")));
    let state = state.ok_or_else(|| {
        Failure::new(
            ErrorCode::InvalidCli,
            "there is no folder for reports: neither XDG_STATE_HOME nor HOME is set",
        )
        .hint("name one with --report-dir, or leave the report out with --no-report")
    })?;
    Ok(state.join("diffwarden/reports"))
}

/// Returns the path of a report below the folder of reports.
fn name_of(stamp: &Stamp) -> String {
    let day = stamp.created_at.strftime("%Y/%m/%d");
    let time = stamp.time().replace(':', "-");
    format!("{day}/{time}-{}.json", stamp.run_id)
}

/// Creates a folder and its parents below `root`, which is resolved, without following a link on
/// the way.
fn create_inside(root: &Path, folder: &Path) -> io::Result<()> {
    let outside = || io::Error::other("it lies outside of the repository");
    let below = folder.strip_prefix(root).map_err(|_| outside())?;
    let mut at = root.to_owned();
    for part in below.components() {
        let Component::Normal(name) = part else {
            return Err(outside());
        };
        at.push(name);
        match fs::create_dir(&at) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !fs::symlink_metadata(&at)?.is_dir() {
                    let at = at.display();
                    return Err(io::Error::other(format!("`{at}` is not a folder")));
                }
            }
            created => created?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
