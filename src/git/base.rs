//! What a branch is compared with: HEAD's merge-base with the one the user named.

use diffwarden_actors::model::Failure;

use super::history::{History, shallow_boundary};
use super::repository::{Repository, user_failure};
use super::resolve::UNSHALLOW;
use super::revision::{find_commit, is_reference_name};

/// The two ends of a `base:` target.
pub(super) struct Base {
    /// The commit of HEAD.
    pub(super) head: String,
    /// Its merge-base with the named branch.
    pub(super) base: String,
    /// Said when another reading of the name would give a newer merge-base.
    pub(super) warning: Option<String>,
}

/// Finds both ends. There is never a guess: no merge-base is a failure, not a diff of two tips.
pub(super) fn resolve_base(repository: &Repository, branch: &str) -> Result<Base, Failure> {
    let history = repository.history()?;
    let head = history.head()?.ok_or_else(|| {
        user_failure("HEAD has no commit yet, so there is nothing to compare with a branch")
            .hint("review what is there with `--target uncommitted`")
    })?;
    let tip = find_commit(history, branch).map_err(|failure| advise(history, branch, failure))?;
    let Some(base) = history.merge_base(&head, &tip)? else {
        return Err(no_merge_base(repository, branch));
    };
    let warning = newer_counterpart(history, branch, &head, &base)?;
    Ok(Base {
        head,
        base,
        warning,
    })
}

/// Adds the remote branch of the same name to the failure, when there is one.
fn advise(history: &dyn History, branch: &str, failure: Failure) -> Failure {
    if failure.hint.is_some() || !is_reference_name(branch) {
        return failure;
    }
    let remote = [format!("refs/remotes/origin/{branch}")];
    match history.references(&remote) {
        Ok(found) if !found.is_empty() => failure.hint(format!(
            "there is no local branch `{branch}`, but a remote one: use `base:origin/{branch}`"
        )),
        _ => failure.hint(
            "name a branch of this clone; in CI the base branch may have to be fetched first",
        ),
    }
}

fn no_merge_base(repository: &Repository, branch: &str) -> Failure {
    if shallow_boundary(&repository.common_dir).is_empty() {
        user_failure(format!(
            "HEAD and `{branch}` have no merge base: their histories have no commit in common"
        ))
        .hint("name the branch that this one was started from")
    } else {
        user_failure(format!(
            "HEAD and `{branch}` have no merge base in this clone, which is shallow: the commit they share was not fetched"
        ))
        .hint(UNSHALLOW)
    }
}

/// Compares a branch with its counterpart on `origin`, or the other way round. A stale local
/// branch puts other people's commits into the review; a stale remote one, one's own old ones.
fn newer_counterpart(
    history: &dyn History,
    branch: &str,
    head: &str,
    base: &str,
) -> Result<Option<String>, Failure> {
    let short = branch.strip_prefix("refs/heads/").unwrap_or(branch);
    if !is_reference_name(short) {
        return Ok(None);
    }
    let (local, other, counterpart) = match short.strip_prefix("origin/") {
        Some(local) => (local, local.to_owned(), format!("refs/heads/{local}")),
        None => (
            short,
            format!("origin/{short}"),
            format!("refs/remotes/origin/{short}"),
        ),
    };
    let both = [
        format!("refs/heads/{local}"),
        format!("refs/remotes/origin/{local}"),
    ];
    let found = history.references(&both)?;
    let tip = found.iter().find(|(name, _)| *name == counterpart);
    let (2, Some((_, tip))) = (found.len(), tip) else {
        return Ok(None);
    };
    let Some(theirs) = history.merge_base(head, tip)? else {
        return Ok(None);
    };
    if theirs == base {
        return Ok(None);
    }
    // Both are ancestors of HEAD; the newer one has the other behind it.
    let newer = if history.merge_base(&theirs, base)?.as_deref() == Some(base) {
        &*other
    } else {
        short
    };
    Ok(Some(format!(
        "`{short}` and `{other}` have different merge-bases with HEAD; that of `{newer}` is newer, and `{short}` was used{}",
        if newer == short {
            ""
        } else {
            ": commits that are already there may be reviewed again"
        }
    )))
}
