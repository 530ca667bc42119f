//! Keeping reviewers from a change that could turn them against their user.

use std::sync::Arc;

use diffwarden_actors::model::{Degraded, DegradedTopic, Failure, Patch, TrustReason};
use diffwarden_actors::plan::ReviewerPlan;

use super::crew::Recruiting;
use crate::engines::capabilities;
use crate::engines::refused::Refused;
use crate::git::{Repository, Resolved};
use crate::intake::refuse::{self, Hazard};

/// How many old links and instruction files a warning names.
const NAMED: usize = 5;

/// What has to be said about a run's input.
#[derive(Default)]
pub(super) struct Verdict {
    pub(super) degraded: Vec<Degraded>,
    pub(super) doubts: Vec<TrustReason>,
}

/// Replaces the engine of every reviewer that must not be given this change, unless the user
/// allows it. A link that git does not know came with nobody's change: it is told, and the text
/// it holds is all that is sent of it. Reviewers inside diffwarden follow no link and take no orders.
pub(super) fn refuse(
    reviewers: &mut [ReviewerPlan],
    recruiting: &Recruiting<'_>,
) -> Result<Verdict, Failure> {
    let Recruiting {
        repository,
        resolved,
        patch,
        ..
    } = recruiting;
    let mut verdict = Verdict::default();
    if !reviewers.iter().any(is_engine) {
        return Ok(verdict);
    }
    let tree = repository.links(resolved)?;
    let (known, untracked) = patch.files.split_at(patch.files.len() - resolved.untracked);
    let links = refuse::unsafe_links(known, &|path| tree.read(path));
    let own = refuse::unsafe_links(untracked, &|path| tree.read(path));
    let is_frozen = recruiting.is_frozen;
    if !own.is_empty() && !is_frozen {
        verdict.doubts.push(TrustReason::UnsafeInput);
        let message = format!("of your own untracked files, {}", refuse::list(&own));
        let entry = Degraded::actionable(DegradedTopic::UnsafeInput, message);
        verdict.degraded.push(entry);
    }
    if !is_frozen {
        verdict.degraded.extend(old_links(repository, patch));
    }
    for reviewer in reviewers.iter_mut().filter(|reviewer| is_engine(reviewer)) {
        let names = capabilities::find(reviewer.engine_name, reviewer.transport)
            .map_or(&[][..], |row| row.instruction_files);
        let mut hazards = Vec::new();
        // Out of a snapshot they were left, links always and instructions unless they are wanted.
        if !is_frozen {
            hazards.extend(links.iter().cloned());
        }
        if !is_frozen || recruiting.allow_unsafe_input {
            hazards.extend(refuse::unsafe_instructions(patch, names));
        }
        verdict
            .degraded
            .extend(old_instructions(reviewer, names, patch, resolved));
        if hazards.is_empty() {
            continue;
        }
        verdict.doubts.push(TrustReason::UnsafeInput);
        if recruiting.allow_unsafe_input {
            let message = allowed(reviewer, &hazards);
            let entry = Degraded::warning(DegradedTopic::UnsafeInput, message);
            verdict.degraded.push(entry);
        } else {
            reviewer.engine = Arc::new(Refused(refuse::refusal(&hazards)));
        }
    }
    Ok(verdict)
}

fn is_engine(reviewer: &ReviewerPlan) -> bool {
    crate::snapshot::is_engine(reviewer.engine_name)
}

fn allowed(reviewer: &ReviewerPlan, hazards: &[Hazard]) -> String {
    format!(
        "reviewer {} was started although the change could turn it against you: {}",
        reviewer.id.0,
        refuse::list(hazards)
    )
}

/// Warns of links that were there before and that lead where an engine should not follow.
fn old_links(repository: &Repository, patch: &Patch) -> Option<Degraded> {
    let links = repository.tracked_links();
    let read_link = |path: &_| {
        links
            .iter()
            .find(|(at, _)| at == path)
            .map(|(_, target)| target.clone())
    };
    let is_changed = |path: &_| patch.files.iter().any(|file| file.path() == path);
    let unsafe_links = links.iter().filter(|(path, target)| {
        !is_changed(path) && refuse::lead(path, target, &read_link).is_some()
    });
    let mut names: Vec<String> = unsafe_links.map(|(path, _)| path.to_string()).collect();
    if names.is_empty() {
        return None;
    }
    let more = names.len().saturating_sub(NAMED);
    names.truncate(NAMED);
    let more = if more > 0 {
        format!(", and {more} more")
    } else {
        String::new()
    };
    let message = format!(
        "the repository holds symbolic links that leave it or lead into .git, which this change does not touch: {}{more}",
        names.join(", ")
    );
    Some(Degraded::info(DegradedTopic::UnsafeInput, message))
}

/// Warns of files that a reviewer takes orders from and that were there before.
fn old_instructions(
    reviewer: &ReviewerPlan,
    names: &[&str],
    patch: &Patch,
    resolved: &Resolved,
) -> Option<Degraded> {
    let old = refuse::old_instructions(patch, names, resolved.source.as_ref());
    (!old.is_empty()).then(|| {
        let names: Vec<String> = old.iter().map(ToString::to_string).collect();
        let message = format!(
            "reviewer {} also follows {} of the repository, which this change does not touch",
            reviewer.id.0,
            names.join(", ")
        );
        Degraded::info(DegradedTopic::UnsafeInput, message)
    })
}
