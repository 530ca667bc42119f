//! What an artifact says about a work tree that changed while it was reviewed.

use std::sync::Arc;

use super::add_doubt;
use crate::model::{Degraded, DegradedTopic, Failure, RunArtifact, TrustReason};
use crate::plan::RunPlan;
use crate::sink::RunOutcome;

/// How many paths the warning names.
const NAMED: usize = 10;

/// Looks at the work tree after the run, and says in the artifact what changed. A run without an
/// artifact has nothing that could be taken for a full review.
pub(crate) fn tell_tree_changes(plan: &RunPlan, outcome: RunOutcome) -> RunOutcome {
    let (Some(tree), RunOutcome::Finished(artifact)) = (&plan.tree, &outcome) else {
        return outcome;
    };
    let Some(warning) = warning(tree.changed_paths()) else {
        return outcome;
    };
    let mut artifact = RunArtifact::clone(artifact);
    let entry = Degraded::warning(DegradedTopic::WorkTree, warning.clone());
    add_doubt(&mut artifact, TrustReason::TreeChanged, entry);
    match &mut artifact {
        RunArtifact::Batch(batch) => batch.warnings.push(warning),
        RunArtifact::Review(review) => review.warnings.push(warning),
    }
    RunOutcome::Finished(Arc::new(artifact))
}

/// A tree that cannot be looked at is not taken for one that did not change.
fn warning(changed: Result<Vec<String>, Failure>) -> Option<String> {
    let changed = match changed {
        Ok(changed) if changed.is_empty() => return None,
        Ok(changed) => changed,
        Err(failure) => {
            return Some(format!(
                "whether the work tree changed during the review is not known: {failure}"
            ));
        }
    };
    let mut names = changed[..changed.len().min(NAMED)].join(", ");
    if changed.len() > NAMED {
        names.push_str(&format!(", and {} more", changed.len() - NAMED));
    }
    Some(format!("the work tree changed during the review: {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ErrorCode;

    #[test]
    fn the_first_paths_are_named_and_doubt_is_no_silence() {
        assert_eq!(warning(Ok(Vec::new())), None);
        let paths = (1..=12).map(|number| format!("f{number}")).collect();
        let text = warning(Ok(paths)).unwrap();
        assert!(text.ends_with(": f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, and 2 more"));
        let failure = Failure::new(ErrorCode::ReviewerEnvironmentFailed, "gone");
        assert!(warning(Err(failure)).unwrap().contains("gone"));
    }
}
