//! Names of commits as users type them.

use diffwarden_actors::model::Failure;

use super::history::{History, candidates};
use super::repository::user_failure;

/// Returns the commit that a name stands for, tags followed.
///
/// A range, an option, a file of a commit and an unknown name are no commits. A short name that
/// stands for several references with different commits is refused: git would pick the tag and
/// only warn.
pub(super) fn find_commit(history: &dyn History, name: &str) -> Result<String, Failure> {
    let unusable = name.starts_with(['-', '^']) || name.contains("..");
    if unusable || name.chars().any(char::is_control) {
        return Err(
            user_failure(format!("`{name}` is not the name of one commit"))
                .hint("name a branch, a tag or a commit; ranges and options are not taken"),
        );
    }
    if let Some([one, two, ..]) = meanings(history, name)?.get(..2) {
        return Err(user_failure(format!(
            "`{name}` is ambiguous: it stands for {} and {}, which are different commits",
            one.0, two.0
        ))
        .hint(format!("write the full name, such as `{}`", two.0)));
    }
    history
        .commit(name)?
        .ok_or_else(|| user_failure(format!("`{name}` is not a commit of this repository")))
}

/// Returns the references a short name could stand for, the first of each commit.
fn meanings(history: &dyn History, name: &str) -> Result<Vec<(String, String)>, Failure> {
    if !is_reference_name(name) {
        return Ok(Vec::new());
    }
    let mut found: Vec<(String, String)> = Vec::new();
    for (reference, commit) in history.references(&candidates(name))? {
        if found.iter().all(|(_, known)| *known != commit) {
            found.push((reference, commit));
        }
    }
    Ok(found)
}

/// Whether a name could be a reference, with nothing in it that walks from one commit to another.
pub(super) fn is_reference_name(name: &str) -> bool {
    !name.is_empty()
        && !name.contains("@{")
        && !name.contains("//")
        && !name.starts_with(['/', '-'])
        && !name.ends_with(['/', '.'])
        && !name.contains(['~', '^', ':', '?', '*', '[', '\\', ' '])
        && !name.chars().any(char::is_control)
}
