//! Edits of `reviewerSets`.

use serde_json::{Map, Value};

use super::error::EditError;
use super::{Document, reviewers};
use crate::config::suggest;

const KEY: &str = "reviewerSets";

/// Adds a configured reviewer to a set, which is created when it is new, and returns the members.
/// Who is in the set already stays where it is.
///
/// # Errors
///
/// Fails when there is no such reviewer, and where the sets are of another type.
pub fn add_member(
    document: &mut Document,
    set: &str,
    reviewer: &str,
) -> Result<Vec<String>, EditError> {
    reviewers::require_reviewer(document, reviewer)?;
    let sets = document.entry(KEY).or_insert_with(|| Map::new().into());
    let sets = sets.as_object_mut().ok_or_else(sets_are_no_object)?;
    let members = sets
        .entry(set)
        .or_insert_with(|| Vec::<Value>::new().into());
    let members = members.as_array_mut().ok_or_else(|| set_is_no_array(set))?;
    if !members.iter().any(|member| is(member, reviewer)) {
        members.push(reviewer.into());
    }
    Ok(texts(members))
}

/// Removes a member from a set, however often it is in it, and returns the others. An empty set
/// stays.
///
/// # Errors
///
/// Fails when there is no such set or member, and where the sets are of another type.
pub fn remove_member(
    document: &mut Document,
    set: &str,
    member: &str,
) -> Result<Vec<String>, EditError> {
    let mut nothing = Map::new();
    let sets = match document.get_mut(KEY) {
        Some(Value::Object(sets)) => sets,
        Some(_) => return Err(sets_are_no_object()),
        None => &mut nothing,
    };
    if !sets.contains_key(set) {
        return Err(EditError::UnknownSet {
            set: set.to_owned(),
            meant: suggest::closest(set, sets.keys().map(String::as_str)).map(str::to_owned),
        });
    }
    let Some(Value::Array(members)) = sets.get_mut(set) else {
        return Err(set_is_no_array(set));
    };
    let before = members.len();
    members.retain(|each| !is(each, member));
    if members.len() == before {
        return Err(EditError::NotAMember {
            set: set.to_owned(),
            member: member.to_owned(),
        });
    }
    Ok(texts(members))
}

/// Returns the name that `defaultReviewerSet` has, if there is no such set or nobody is in it.
pub fn empty_default_set(document: &Document) -> Option<&str> {
    let name = document.get("defaultReviewerSet")?.as_str()?;
    let members = document.get(KEY).and_then(|sets| sets.get(name));
    let is_empty = match members {
        Some(Value::Array(members)) => members.is_empty(),
        Some(_) => false,
        None => true,
    };
    is_empty.then_some(name)
}

/// Removes a reviewer's id from every set and returns the sets that had it.
pub(super) fn prune(document: &mut Document, id: &str) -> Result<Vec<String>, EditError> {
    let sets = match document.get_mut(KEY) {
        Some(Value::Object(sets)) => sets,
        Some(_) => return Err(sets_are_no_object()),
        None => return Ok(Vec::new()),
    };
    let mut pruned = Vec::new();
    for (name, members) in sets {
        let Value::Array(members) = members else {
            return Err(set_is_no_array(name));
        };
        let before = members.len();
        members.retain(|member| !is(member, id));
        if members.len() < before {
            pruned.push(name.clone());
        }
    }
    Ok(pruned)
}

/// Returns every set and member.
pub(super) fn members_of_all(document: &Document) -> impl Iterator<Item = (&str, &str)> {
    let sets = document.get(KEY).and_then(Value::as_object);
    sets.into_iter().flatten().flat_map(|(name, members)| {
        let members = members.as_array().into_iter().flatten();
        members.filter_map(|member| Some((name.as_str(), member.as_str()?.trim())))
    })
}

/// Whether a member names somebody; the config is read without the spaces around a name.
fn is(member: &Value, name: &str) -> bool {
    member.as_str().is_some_and(|member| member.trim() == name)
}

fn texts(members: &[Value]) -> Vec<String> {
    let texts = members.iter().filter_map(Value::as_str);
    texts.map(|member| member.trim().to_owned()).collect()
}

fn sets_are_no_object() -> EditError {
    EditError::WrongType {
        at: KEY.to_owned(),
        expected: "an object",
    }
}

fn set_is_no_array(set: &str) -> EditError {
    EditError::WrongType {
        at: format!("{KEY}.{set}"),
        expected: "an array",
    }
}
