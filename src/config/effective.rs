//! What holds at a place: the files, their values, what a review would use, and all that is wrong.

use std::path::{Path, PathBuf};

use diffwarden_actors::model::Failure;

use super::discover::{self, ConfigKind, Found, LoadedConfig, Sources, user_config_path};
use super::origin::{self, Setting, Wishes};
use super::overrides::{Overrides, SelectionFlags};
use super::select::{check_set, select_reviewers};
use super::trust::{Digest, Standing};
use crate::env::Environment;

/// Where to look, and what was typed.
#[derive(Debug, Clone, Default)]
pub struct Inquiry {
    /// The working folder.
    pub cwd: PathBuf,
    /// The root of the repository around it.
    pub repo_root: Option<PathBuf>,
    /// The flags of a review.
    pub flags: SelectionFlags,
    /// `--jobs`.
    pub jobs: Option<usize>,
    /// `--trust-project-config`.
    pub trusted: Option<String>,
}

/// The answer to an [`Inquiry`].
#[derive(Debug, Clone, PartialEq)]
pub struct EffectiveConfig {
    /// The files that have a say, or would have one if they existed.
    pub files: Vec<ExaminedFile>,
    /// What the files say, with defaults; nothing when they are wrong.
    pub settings: Vec<Setting>,
    /// What a review would use; nothing when it could not start.
    pub run: Vec<Setting>,
    /// What keeps a review from starting.
    pub problems: Vec<Failure>,
    /// What is strange, and keeps nobody from anything.
    pub notes: Vec<String>,
}

/// A file that has a say, or would have one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExaminedFile {
    /// Where it lies.
    pub path: PathBuf,
    /// What it is.
    pub role: FileRole,
    /// What became of it.
    pub state: FileState,
    /// The SHA-256 of its bytes, if they were read.
    pub sha256: Option<String>,
    /// How a project config stands with the user.
    pub standing: Option<Standing>,
}

/// What a config file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileRole {
    /// The config of the repository.
    Project,
    /// The config of the user.
    User,
    /// The overlay of the user config.
    Overlay,
}

/// What became of a config file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileState {
    /// It is used.
    Used,
    /// It is there, and not used.
    Unused,
    /// It is not there.
    Missing,
}

impl EffectiveConfig {
    /// Looks at everything and runs nothing.
    ///
    /// # Errors
    ///
    /// Fails with exit code 2 for a working folder that cannot be opened, and for flags and
    /// variables that cannot be read.
    pub fn examine(inquiry: &Inquiry, environment: &Environment) -> Result<Self, Failure> {
        let overrides = Overrides::parse(&inquiry.flags, environment)?;
        let digest = Digest::given(inquiry.trusted.as_deref(), environment)?;
        let mut answer = Self {
            files: Vec::new(),
            settings: Vec::new(),
            run: Vec::new(),
            problems: Vec::new(),
            notes: Vec::new(),
        };
        let found = discover::find(&inquiry.cwd, inquiry.repo_root.as_deref(), environment);
        let sources = found.and_then(|found| found.map(Sources::read).transpose());
        match sources {
            Err(failure) => {
                answer.list_files(None, digest.as_ref(), environment);
                answer.problems.push(failure);
            }
            Ok(None) => {
                answer.list_files(None, digest.as_ref(), environment);
                answer.settings = origin::settings(None, None);
                answer.plan(inquiry, &overrides, None, environment);
            }
            Ok(Some(sources)) => {
                answer.list_files(Some(&sources), digest.as_ref(), environment);
                match sources.clone().check(digest.as_ref(), environment) {
                    Err(failure) => answer.problems.push(failure),
                    Ok(loaded) => {
                        answer.settings = origin::settings(Some(&sources), Some(&loaded.config));
                        answer.plan(inquiry, &overrides, Some(&loaded), environment);
                    }
                }
            }
        }
        Ok(answer)
    }

    /// Says what a review would use. Without a config, one that names nobody has nothing to be
    /// wrong yet.
    fn plan(
        &mut self,
        inquiry: &Inquiry,
        overrides: &Overrides,
        loaded: Option<&LoadedConfig>,
        environment: &Environment,
    ) {
        for set in loaded.map_or(&[][..], |loaded| &loaded.config.reviewer_sets) {
            self.notes.extend(check_set(set, environment, loaded));
        }
        if loaded.is_none() && overrides.requested.is_empty() {
            self.notes
                .push("there is no config, so a review has to name its reviewers".to_owned());
            return;
        }
        let wishes = Wishes {
            flags: &inquiry.flags,
            overrides,
            jobs: inquiry.jobs,
        };
        match select_reviewers(&inquiry.flags, environment, loaded) {
            Ok(selected) => self.run = origin::run_settings(&wishes, &selected, &self.settings),
            Err(failure) => self.problems.push(failure),
        }
    }

    fn list_files(
        &mut self,
        sources: Option<&Sources>,
        digest: Option<&Digest>,
        environment: &Environment,
    ) {
        let project = sources.filter(|sources| sources.found.kind == ConfigKind::Project);
        if let Some(sources) = project {
            let standing = sources.standing(digest, environment);
            self.notes
                .extend(standing.as_ref().err().map(|it| it.message.clone()));
            self.files.push(ExaminedFile {
                standing: Some(standing.unwrap_or(Standing::Unknown)),
                ..examined(
                    &sources.found.path,
                    FileRole::Project,
                    Some(&sources.sha256),
                )
            });
        }
        let Some(user) = user_config_path(environment) else {
            return;
        };
        let own = sources.filter(|sources| sources.found.kind == ConfigKind::User);
        let own = own.map(|sources| (&sources.found, &sources.sha256));
        let (path, sha256) = match own {
            Some((Found { path, .. }, sha256)) => (path.clone(), Some(sha256)),
            None => (user, None),
        };
        self.files
            .push(examined(&path, FileRole::User, sha256.map(String::as_str)));
        let overlay = sources.and_then(|sources| sources.overlay.as_ref());
        match overlay {
            Some((file, _)) => {
                let sha256 = Some(file.sha256.as_str());
                self.files
                    .push(examined(&file.path, FileRole::Overlay, sha256));
            }
            None => self.list_unused_overlay(&discover::overlay_path(&path), &path),
        }
    }

    fn list_unused_overlay(&mut self, overlay: &Path, base: &Path) {
        if overlay.symlink_metadata().is_err() {
            return;
        }
        if base.symlink_metadata().is_err() {
            self.notes.push(format!(
                "the overlay {} is not used, because there is no config to lay it over",
                overlay.display()
            ));
        }
        self.files.push(examined(overlay, FileRole::Overlay, None));
    }
}

/// Returns a file that was read when its digest is known, and else one that was not.
fn examined(path: &Path, role: FileRole, sha256: Option<&str>) -> ExaminedFile {
    let state = match (sha256, path.symlink_metadata()) {
        (Some(_), _) => FileState::Used,
        (None, Ok(_)) => FileState::Unused,
        (None, Err(_)) => FileState::Missing,
    };
    ExaminedFile {
        path: path.to_owned(),
        role,
        state,
        sha256: sha256.map(str::to_owned),
        standing: None,
    }
}
