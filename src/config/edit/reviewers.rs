//! Edits of `reviewers`.

use diffwarden_actors::model::EngineName;
use serde_json::Value;

use super::draft::{ReviewerDraft, ReviewerPatch};
use super::error::EditError;
use super::{Document, sets};
use crate::config::suggest;

const KEY: &str = "reviewers";

/// What adding a reviewer came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddAction {
    /// It is new.
    Added,
    /// It was there, and the draft was laid over it.
    Updated,
}

/// What removing a reviewer came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The sets that had its id, in the order of the file.
    pub pruned_from: Vec<String>,
    /// The members of sets that named it as engine and profile. They stay, and name nobody.
    pub stale: Vec<Stale>,
}

/// A member of a set that stands for no reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stale {
    /// The set.
    pub set: String,
    /// The member.
    pub spec: String,
}

/// Adds a reviewer, or lays it over the one that has its id: what the draft says wins, everything
/// else stays.
///
/// # Errors
///
/// Fails where `reviewers` is no array.
pub fn add_reviewer(
    document: &mut Document,
    draft: &ReviewerDraft,
) -> Result<AddAction, EditError> {
    let entries = entries(document)?;
    let fresh = draft.to_entry();
    if let Some(entry) = entries.iter_mut().find_map(|entry| of_id(entry, &draft.id)) {
        entry.extend(fresh);
        return Ok(AddAction::Updated);
    }
    entries.push(Value::Object(fresh));
    Ok(AddAction::Added)
}

/// Changes the reviewer of this id and returns its entry.
///
/// # Errors
///
/// Fails when there is none, and where `reviewers` is no array.
pub fn edit_reviewer(
    document: &mut Document,
    id: &str,
    patch: &ReviewerPatch,
) -> Result<Document, EditError> {
    require_reviewer(document, id)?;
    let entry = entries(document)?
        .iter_mut()
        .find_map(|entry| of_id(entry, id));
    let entry = entry.expect("there is a reviewer of this id");
    patch.apply(entry);
    Ok(entry.clone())
}

/// Removes the reviewer of this id, and its id from every set.
///
/// # Errors
///
/// Fails when there is none, and where `reviewers` or a set is of another type.
pub fn remove_reviewer(document: &mut Document, id: &str) -> Result<Removed, EditError> {
    require_reviewer(document, id)?;
    let mut profiles = Vec::new();
    entries(document)?.retain_mut(|entry| {
        let entry = of_id(entry, id);
        profiles.extend(entry.as_deref().and_then(profile_spec));
        entry.is_none()
    });
    let pruned_from = sets::prune(document, id)?;
    let stale = sets::members_of_all(document)
        .filter(|(_, member)| profiles.iter().any(|spec| spec == member))
        .map(|(set, spec)| Stale {
            set: set.to_owned(),
            spec: spec.to_owned(),
        })
        .collect();
    Ok(Removed { pruned_from, stale })
}

/// Fails unless there is a reviewer of this id.
pub(super) fn require_reviewer(document: &Document, id: &str) -> Result<(), EditError> {
    let ids: Vec<&str> = match document.get(KEY) {
        Some(Value::Array(entries)) => entries
            .iter()
            .filter_map(|entry| entry.get("id")?.as_str())
            .collect(),
        Some(_) => return Err(wrong_type()),
        None => Vec::new(),
    };
    if ids.contains(&id) {
        return Ok(());
    }
    Err(EditError::UnknownReviewer {
        id: id.to_owned(),
        meant: suggest::closest(id, ids).map(str::to_owned),
    })
}

fn entries(document: &mut Document) -> Result<&mut Vec<Value>, EditError> {
    match document
        .entry(KEY)
        .or_insert_with(|| Value::Array(Vec::new()))
    {
        Value::Array(entries) => Ok(entries),
        _ => Err(wrong_type()),
    }
}

fn wrong_type() -> EditError {
    EditError::WrongType {
        at: KEY.to_owned(),
        expected: "an array",
    }
}

/// Returns an entry if it has this id.
fn of_id<'a>(entry: &'a mut Value, id: &str) -> Option<&'a mut Document> {
    let entry = entry.as_object_mut()?;
    (entry.get("id")?.as_str()? == id).then_some(entry)
}

/// Returns the spec that selects an entry by its engine and profile.
fn profile_spec(entry: &Document) -> Option<String> {
    let engine = EngineName::parse(entry.get("engine")?.as_str()?)?;
    Some(format!("{engine}:{}", entry.get("profile")?.as_str()?))
}
