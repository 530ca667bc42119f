//! From an edit to the file: read, edit, check, write.

use std::path::{Path, PathBuf};

use diffwarden_actors::model::{ErrorCode, Failure};
use serde_json::Value;

use super::Document;
use super::error::EditError;
use super::guard::{self, Guard};
use super::layout::Layout;
use crate::config::discover::{self, ConfigKind, user_config_path};
use crate::config::model::Config;
use crate::config::read;
use crate::config::store::{self, Update};
use crate::config::validate;
use crate::env::Environment;

/// What a change is about, and what it may do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Intent {
    /// The reviewers that it writes.
    pub reviewers: Vec<String>,
    /// The sets that it writes.
    pub sets: Vec<String>,
    /// Whether it may begin a new file.
    pub may_create: bool,
    /// Whether it may leave nobody in the default set.
    pub may_empty_default_set: bool,
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written<T> {
    /// The user config.
    pub path: PathBuf,
    /// Whether it is a new file.
    pub created: bool,
    /// What the edit came to.
    pub answer: T,
    /// What the user should know besides, a sentence each without a full stop.
    pub notes: Vec<String>,
}

/// Edits the user config. The edit may be made several times, each time on what lies there; an
/// edit that changes nothing leaves the file as it is, byte by byte.
///
/// # Errors
///
/// Fails with a code of exit 2, and leaves everything as it was, when there is no file and none
/// may be created, when the file is not JSON, when the edit cannot be made, when its result is no
/// valid config (every problem is listed) or holds what an engine cannot honour, when it would
/// leave nobody in the default set, and when the file cannot be written.
pub fn change_user_config<T>(
    environment: &Environment,
    intent: &Intent,
    edit: impl Fn(&mut Document) -> Result<T, EditError>,
) -> Result<Written<T>, Failure> {
    let path = require_path(environment)?;
    store::update(&path, |old| {
        if old.is_none() && !intent.may_create {
            return Err(missing_user_config(&path));
        }
        let before = read_document(old, &path)?;
        let mut after = before.clone();
        let edited = edit(&mut after);
        let guard = Guard {
            path: &path,
            before: &before,
            after: &after,
        };
        // Where a file is wrong, that may be why nothing was found in it.
        let answer = edited.map_err(|error| match guard.defects_before() {
            Some(defects) => defects,
            None => error.into_failure(&path),
        })?;
        let notes = guard.check(intent, environment)?;
        let is_changed = old.is_none() || before != after;
        let layout = old.map_or_else(Layout::default, Layout::of);
        Ok(Update {
            answer: Written {
                path: path.clone(),
                created: old.is_none(),
                answer,
                notes,
            },
            bytes: is_changed.then(|| layout.render(&after)),
        })
    })
}

/// Creates the user config.
///
/// # Errors
///
/// Fails with a code of exit 2 when there is one, when the document is no valid config, and when
/// the file cannot be written.
pub fn create_user_config(
    environment: &Environment,
    document: &Document,
) -> Result<PathBuf, Failure> {
    let path = require_path(environment)?;
    store::update(&path, |old| {
        if old.is_some() {
            return Err(existing_user_config(&path));
        }
        let valid = guard::validate_document(document);
        valid.map_err(|problems| problems.into_refusal(&path.display().to_string()))?;
        Ok(Update {
            answer: path.clone(),
            bytes: Some(Layout::default().render(document)),
        })
    })
}

/// Reads the user config as it lies there, without its overlay, for whoever asks the user before
/// it is changed. `None` without a file.
///
/// # Errors
///
/// Fails with a code of exit 2 when the file cannot be read and when it is no valid config.
pub fn read_user_config(environment: &Environment) -> Result<Option<Config>, Failure> {
    let path = require_path(environment)?;
    if !discover::exists(&path)? {
        return Ok(None);
    }
    let (value, _) = read::value(&path)?;
    let valid = validate::validate(&value, ConfigKind::User);
    valid.map(Some).map_err(|problems| {
        problems
            .into_failure(&path.display().to_string(), None)
            .hint("nothing was changed; correct the file first")
    })
}

/// Reads the user config, of which there must be one; see [`read_user_config`].
///
/// # Errors
///
/// Fails with a code of exit 2, also when there is no file.
pub fn require_user_config(environment: &Environment) -> Result<Config, Failure> {
    let path = require_path(environment)?;
    read_user_config(environment)?.ok_or_else(|| missing_user_config(&path))
}

/// Refuses what [`create_user_config`] would refuse because there is a config, for whoever asks
/// the user before one is created.
///
/// # Errors
///
/// Fails with a code of exit 2 when there is one.
pub fn refuse_user_config(environment: &Environment) -> Result<(), Failure> {
    let path = require_path(environment)?;
    if discover::exists(&path)? {
        return Err(existing_user_config(&path));
    }
    Ok(())
}

fn require_path(environment: &Environment) -> Result<PathBuf, Failure> {
    user_config_path(environment).ok_or_else(|| {
        let message = "there is no home folder to have a config in";
        Failure::new(ErrorCode::InvalidConfig, message)
            .hint("set HOME or XDG_CONFIG_HOME to an absolute path")
    })
}

fn existing_user_config(path: &Path) -> Failure {
    let message = format!("a config already exists at {}", path.display());
    Failure::new(ErrorCode::InvalidCli, message)
        .hint("`diffwarden reviewers add <engine>` adds to it")
}

fn missing_user_config(path: &Path) -> Failure {
    Failure::new(
        ErrorCode::InvalidConfig,
        format!("there is no user config at {}", path.display()),
    )
    .hint("run `diffwarden init` or `diffwarden reviewers add <engine>` first")
}

/// Returns what a file says; without a file, nothing.
fn read_document(bytes: Option<&[u8]>, path: &Path) -> Result<Document, Failure> {
    let Some(bytes) = bytes else {
        return Ok(Document::new());
    };
    match read::parse(bytes, path)? {
        Value::Object(document) => Ok(document),
        other => {
            let problems = validate::validate(&other, ConfigKind::User).err();
            let sources = path.display().to_string();
            Err(problems.unwrap_or_default().into_failure(&sources, None))
        }
    }
}
