//! What is said of a reviewer that gave no answer.

use crate::model::{
    ErrorCode, FailedReviewer, Failure, PreflightReport, Reason, ReviewerEntry, ReviewerId,
    ReviewerIdentity, ReviewerStatus,
};
use crate::plan::ReviewerPlan;

/// Returns the failure of a reviewer whose own time did not suffice.
pub(crate) fn timed_out(phase: &str, id: &ReviewerId) -> Failure {
    Failure::new(
        ErrorCode::Timeout,
        format!("Reviewer timed out during {phase}: {id}"),
    )
    .reason(Reason::Timeout)
    .hint("Give it more time with --timeout, or review a smaller change.")
}

/// Returns the failure of a reviewer that the run's own time did not suffice for.
pub(crate) fn out_of_time(when: &str) -> Failure {
    Failure::new(
        ErrorCode::Timeout,
        format!("The time of the whole run was over {when}"),
    )
    .reason(Reason::MaxTime)
    .hint("Give the run more time with --max-time, or ask fewer reviewers.")
}

/// Returns the entry of a reviewer that failed.
pub(crate) fn failed_entry(
    reviewer: &ReviewerPlan,
    failure: &Failure,
    preflight: Option<PreflightReport>,
    timing_ms: u64,
) -> ReviewerEntry {
    ReviewerEntry::Failed(Box::new(FailedReviewer {
        identity: identity(reviewer, ReviewerStatus::Failed),
        preflight,
        error: failure.to_error(None),
        timing_ms: Some(timing_ms),
    }))
}

/// Returns who a reviewer is.
pub(super) fn identity(reviewer: &ReviewerPlan, status: ReviewerStatus) -> ReviewerIdentity {
    ReviewerIdentity {
        id: reviewer.id.clone(),
        engine: reviewer.engine_name,
        status,
        transport: reviewer.transport,
        profile: reviewer.profile.clone(),
        provider: reviewer.provider.clone(),
        model: reviewer.model.clone(),
        effort: reviewer.effort.clone(),
    }
}
