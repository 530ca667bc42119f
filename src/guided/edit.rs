//! Editing a configured reviewer.

use diffwarden_actors::model::Failure;

use super::fields::{Scope, edit_fields};
use super::{Leave, Prompter, choose, tell, unless_back};
use crate::config::edit::{Change, ReviewerDraft, ReviewerPatch};
use crate::config::{Config, ConfiguredReviewer};

/// Lets the user choose a reviewer, unless `id` names one, and edit it, and commits what changed.
///
/// # Errors
///
/// Returns [`Leave`] when nothing was committed, also because nothing was changed.
pub fn edit<W>(
    prompter: &mut dyn Prompter,
    config: &Config,
    id: Option<&str>,
    mut commit: impl FnMut(&str, &ReviewerPatch) -> Result<W, Failure>,
) -> Result<W, Leave> {
    if let Some(entry) = id.and_then(|id| config.reviewer(id)) {
        return edit_one(prompter, entry, &mut commit);
    }
    let mut start = 0;
    loop {
        let entries = config.reviewers.iter().enumerate();
        let options = entries.map(|(at, entry)| (label(entry), at)).collect();
        start = choose(prompter, "Which reviewer?", options, start)?;
        let written = edit_one(prompter, &config.reviewers[start], &mut commit);
        if let Some(written) = unless_back(written)? {
            return Ok(written);
        }
    }
}

fn edit_one<W>(
    prompter: &mut dyn Prompter,
    entry: &ConfiguredReviewer,
    commit: &mut impl FnMut(&str, &ReviewerPatch) -> Result<W, Failure>,
) -> Result<W, Leave> {
    let before = draft(entry);
    let mut after = before.clone();
    let scope = Scope::Configured {
        efforts: entry.effort_catalog.as_deref(),
    };
    loop {
        edit_fields(prompter, &mut after, &scope, "✓ save")?;
        let patch = difference(&before, &after);
        if patch.is_empty() {
            return Err(Leave::Quit);
        }
        match commit(&entry.id, &patch) {
            Ok(written) => return Ok(written),
            Err(failure) => tell(prompter, &failure),
        }
    }
}

/// Returns a configured reviewer as the editor's start.
fn draft(entry: &ConfiguredReviewer) -> ReviewerDraft {
    ReviewerDraft {
        id: entry.id.clone(),
        engine: entry.engine,
        transport: entry.transport,
        provider: entry.provider.clone(),
        model: entry.model.clone(),
        effort: entry.effort,
        disabled: !entry.enabled,
    }
}

/// Returns what changed: a value that is gone is cleared, so that the default holds.
fn difference(before: &ReviewerDraft, after: &ReviewerDraft) -> ReviewerPatch {
    ReviewerPatch {
        transport: change(&before.transport, &after.transport),
        provider: Change::Keep,
        model: change(&before.model, &after.model),
        effort: change(&before.effort, &after.effort),
        enabled: (before.disabled != after.disabled).then_some(!after.disabled),
    }
}

fn change<T: Clone + PartialEq>(before: &Option<T>, after: &Option<T>) -> Change<T> {
    match after {
        _ if before == after => Change::Keep,
        Some(value) => Change::Set(value.clone()),
        None => Change::Clear,
    }
}

/// Returns the line of a reviewer in a list.
pub(super) fn label(entry: &ConfiguredReviewer) -> String {
    let off = if entry.enabled { "" } else { ", off" };
    format!("{} ({}{off})", entry.id, entry.capability().label())
}
