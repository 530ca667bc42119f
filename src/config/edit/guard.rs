//! What is asked of an edited config before it is written.

use std::path::{Path, PathBuf};

use diffwarden_actors::model::{ErrorCode, Failure};
use serde_json::Value;

use super::write::Intent;
use super::{Document, sets};
use crate::config::discover::{self, ConfigKind, OVERLAY_NAME};
use crate::config::model::Config;
use crate::config::overrides::Overrides;
use crate::config::problem::Problems;
use crate::config::read;
use crate::config::resolve::Reviewer;
use crate::config::{overlay, validate};
use crate::engines::{self, Host};
use crate::env::Environment;

/// A document before and after an edit.
pub(super) struct Guard<'a> {
    pub(super) path: &'a Path,
    pub(super) before: &'a Document,
    pub(super) after: &'a Document,
}

impl Guard<'_> {
    /// Checks that the edited config may be written, and returns what the user should know.
    pub(super) fn check(
        &self,
        intent: &Intent,
        environment: &Environment,
    ) -> Result<Vec<String>, Failure> {
        let before = validate_document(self.before);
        let after = match (validate_document(self.after), &before) {
            (Ok(after), _) => after,
            // The change mends nothing, and what is wrong was wrong before.
            (Err(problems), Err(_)) => return Err(self.invalid(problems)),
            (Err(problems), Ok(_)) => {
                return Err(problems.into_refusal(&self.path.display().to_string()));
            }
        };
        for id in &intent.reviewers {
            check_honoured(id, before.as_ref().ok(), &after, environment)?;
        }
        if !intent.may_empty_default_set {
            refuse_empty_default_set(self.after, self.path)?;
        }
        let mut notes = match self.overlay()? {
            Some((path, overlay)) => self.check_overlaid(&path, &overlay, intent)?,
            None => Vec::new(),
        };
        notes.extend(before.ok().and_then(|before| note_emptied(&before, &after)));
        Ok(notes)
    }

    /// Returns the failure that lists what was wrong before the edit, if anything was.
    pub(super) fn defects_before(&self) -> Option<Failure> {
        let problems = validate_document(self.before).err()?;
        Some(self.invalid(problems))
    }

    fn invalid(&self, problems: Problems) -> Failure {
        problems
            .into_failure(&self.path.display().to_string(), None)
            .hint("nothing was changed; correct the file first")
    }

    /// Returns the overlay of this machine. One that cannot be read is told by whatever reads the
    /// config next; it is no reason to leave the base as it is.
    fn overlay(&self) -> Result<Option<(PathBuf, Document)>, Failure> {
        let path = self.path.with_file_name(OVERLAY_NAME);
        if !discover::exists(&path)? {
            return Ok(None);
        }
        match read::value(&path) {
            Ok((Value::Object(overlay), _)) => Ok(Some((path, overlay))),
            _ => Ok(None),
        }
    }

    /// Checks what this machine will see: the edited base with its overlay.
    fn check_overlaid(
        &self,
        path: &Path,
        local: &Document,
        intent: &Intent,
    ) -> Result<Vec<String>, Failure> {
        let sees = |base: &Document| overlay::merge(base.clone(), local.clone());
        let (before, after) = (sees(self.before), sees(self.after));
        if let Err(problems) = validate_document(&after)
            && validate_document(&before).is_ok()
        {
            let sources = format!(
                "{} (with {} laid over it)",
                self.path.display(),
                path.display()
            );
            return Err(problems.into_refusal(&sources));
        }
        if !intent.may_empty_default_set && sets::empty_default_set(&before).is_none() {
            refuse_empty_default_set(&after, self.path)?;
        }
        Ok(overlaid_notes(path, local, intent))
    }
}

/// Checks a document as a user config.
pub(super) fn validate_document(document: &Document) -> Result<Config, Problems> {
    validate::validate(&Value::Object(document.clone()), ConfigKind::User)
}

/// Refuses what the engine of a reviewer cannot honour over its transport (SPEC 5.2). What it
/// could not honour before is no reason to refuse another change.
fn check_honoured(
    id: &str,
    before: Option<&Config>,
    after: &Config,
    environment: &Environment,
) -> Result<(), Failure> {
    let defect = |config: &Config| {
        let entry = config.reviewer(id)?;
        let settings = Reviewer::Configured(entry).settings(&Overrides::default(), None);
        let checked = settings.and_then(|settings| {
            if !entry.capability().built {
                return Ok(());
            }
            let host = Host {
                env: environment.clone(),
                repo_root: None,
            };
            engines::build(&settings, &host).map(drop)
        });
        checked.err()
    };
    match defect(after) {
        Some(failure) if before.and_then(defect).as_ref() != Some(&failure) => {
            Err(failure.recovery("nothing was changed"))
        }
        _ => Ok(()),
    }
}

fn refuse_empty_default_set(document: &Document, path: &Path) -> Result<(), Failure> {
    let Some(set) = sets::empty_default_set(document) else {
        return Ok(());
    };
    Err(Failure::new(
        ErrorCode::InvalidCli,
        format!(
            "this leaves nobody in `{set}`, the default reviewer set, in {}",
            path.display()
        ),
    )
    .hint("pass --force to do it all the same, or let defaultReviewerSet name another set first"))
}

/// Tells that nobody is left in the set that runs by default without being named so.
fn note_emptied(before: &Config, after: &Config) -> Option<String> {
    let name = after.default_set_name();
    let has_members = |config: &Config| config.set(name).is_some_and(|set| !set.members.is_empty());
    let is_emptied = has_members(before) && !has_members(after);
    (is_emptied && after.default_reviewer_set.is_none())
        .then(|| format!("nobody is left in reviewer set {name}, which runs by default"))
}

/// Tells what of the change this machine will not see.
fn overlaid_notes(path: &Path, local: &Document, intent: &Intent) -> Vec<String> {
    let has_entry = |id: &String| {
        let entries = local.get("reviewers").and_then(Value::as_array);
        let mut entries = entries.into_iter().flatten();
        entries.any(|entry| entry.get("id").and_then(Value::as_str) == Some(id))
    };
    let has_set = |set: &String| {
        let sets = local.get("reviewerSets").and_then(Value::as_object);
        sets.is_some_and(|sets| sets.contains_key(set))
    };
    let reviewers = intent.reviewers.iter().filter(|id| has_entry(id));
    let sets = intent.sets.iter().filter(|set| has_set(set));
    reviewers
        .map(|id| format!("reviewer {id}"))
        .chain(sets.map(|set| format!("reviewer set {set}")))
        .map(|what| {
            format!(
                "{} says something about {what} too, and wins on this machine",
                path.display()
            )
        })
        .collect()
}
