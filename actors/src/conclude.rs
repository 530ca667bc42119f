//! From the entries of everybody to the outcome of the run. Pure, but for `tree`.
//!
//! Each lane is concluded by itself; a run without lanes of its own has one, and its outcome is the
//! lane's. The order of the questions is the contract: was the run interrupted, did a lane fail in
//! strict mode, did all of them; only then is there an artifact.

mod batch;
mod lane;
mod tree;

use std::sync::Arc;

pub(crate) use self::lane::conclude_lane;
pub(crate) use self::tree::tell_tree_changes;

use crate::model::{
    Degraded, DegradedTopic, EngineName, ErrorCode, Failure, LaneArtifact, LaneStatus, Reason,
    ReviewArtifact, ReviewLane, ReviewerId, RunArtifact, Trust, TrustReason,
};
use crate::plan::RunPlan;
use crate::sink::{Interrupt, RunFailure, RunOutcome};

/// How one lane ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LaneOutcome {
    /// Its artifact, or why it has none.
    pub(crate) result: Result<Box<ReviewArtifact>, Cause>,
    /// What speaks against reading it as a full review, also when it has no artifact.
    pub(crate) trust: Trust,
    /// How many of its reviewers answered.
    pub(crate) answered: usize,
    /// Its time, in milliseconds.
    pub(crate) timing_ms: u64,
}

/// Why there is no artifact, and whose doing it is when it is one reviewer's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Cause {
    pub(crate) failure: Failure,
    pub(crate) reviewer: Option<Box<(ReviewerId, EngineName)>>,
}

impl From<Failure> for Cause {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            reviewer: None,
        }
    }
}

impl LaneOutcome {
    /// Returns the outcome of a lane whose own machinery failed.
    pub(crate) fn failed(failure: Failure, timing_ms: u64) -> Self {
        Self {
            result: Err(failure.into()),
            trust: Trust::from_reasons([]),
            answered: 0,
            timing_ms,
        }
    }

    /// Returns what a batch says about it.
    pub(crate) fn to_artifact(&self, lane: &ReviewLane) -> LaneArtifact {
        let error = self.result.as_ref().err().map(|cause| {
            let who = cause.reviewer.as_deref();
            cause
                .failure
                .to_error(who.map(|(id, engine)| (id, *engine)))
        });
        LaneArtifact {
            lane: lane.clone(),
            status: match error {
                None => LaneStatus::Success,
                Some(_) => LaneStatus::Failed,
            },
            artifact: self.result.as_ref().ok().cloned(),
            error,
            timing_ms: Some(self.timing_ms),
        }
    }
}

/// Makes the outcome. `lanes` holds one outcome per lane, in the order of the plan.
pub(crate) fn conclude_run(
    plan: &RunPlan,
    lanes: Vec<LaneOutcome>,
    interrupt: Option<Interrupt>,
    timing_ms: u64,
) -> RunOutcome {
    if let Some(interrupt) = interrupt {
        let is_worth_keeping = !plan.policy.strict && lanes.iter().any(|lane| lane.answered > 0);
        let partial = is_worth_keeping.then(|| partial_artifact(plan, lanes, timing_ms));
        return RunOutcome::Failed(RunFailure {
            partial: partial.flatten().map(Arc::new),
            ..failed(plan, interrupted(interrupt).into())
        });
    }
    match artifact(plan, lanes, timing_ms) {
        Ok(artifact) => RunOutcome::Finished(Arc::new(artifact)),
        Err(cause) => RunOutcome::Failed(failed(plan, cause)),
    }
}

fn artifact(
    plan: &RunPlan,
    mut lanes: Vec<LaneOutcome>,
    timing_ms: u64,
) -> Result<RunArtifact, Cause> {
    if let Some(asked) = &plan.batch {
        let batch = batch::conclude(plan, asked, lanes, timing_ms)?;
        return Ok(RunArtifact::Batch(Box::new(batch)));
    }
    let only = lanes.pop().expect("a run without lanes of its own has one");
    only.result.map(RunArtifact::Review)
}

/// Returns what had finished when the run was ended from outside.
fn partial_artifact(
    plan: &RunPlan,
    lanes: Vec<LaneOutcome>,
    timing_ms: u64,
) -> Option<RunArtifact> {
    let mut artifact = artifact(plan, lanes, timing_ms).ok()?;
    let message = "the run was ended from outside before everybody had finished";
    let entry = Degraded::warning(DegradedTopic::Time, message);
    add_doubt(&mut artifact, TrustReason::Interrupted, entry);
    Some(artifact)
}

/// Adds what speaks against a finished artifact, and what it was.
fn add_doubt(artifact: &mut RunArtifact, doubt: TrustReason, entry: Degraded) {
    let (trust, degraded) = match artifact {
        RunArtifact::Batch(batch) => (&mut batch.trust, &mut batch.degraded),
        RunArtifact::Review(review) => (&mut review.trust, &mut review.degraded),
    };
    degraded.push(entry);
    let known = std::mem::take(&mut trust.reasons);
    *trust = Trust::from_reasons(known.into_iter().chain([doubt]));
}

fn failed(plan: &RunPlan, cause: Cause) -> RunFailure {
    RunFailure {
        failure: cause.failure,
        reviewer: cause.reviewer.map(|it| *it),
        integrity: plan.integrity.clone(),
        partial: None,
    }
}

/// Returns the failure of a run that was ended from outside.
pub(crate) fn interrupted(interrupt: Interrupt) -> Failure {
    let failure = match interrupt {
        Interrupt::Signal(number) => {
            let name = match number {
                1 => "SIGHUP".to_owned(),
                2 => "SIGINT".to_owned(),
                3 => "SIGQUIT".to_owned(),
                15 => "SIGTERM".to_owned(),
                other => format!("signal {other}"),
            };
            let mut failure = Failure::new(
                ErrorCode::ReviewerFailed,
                format!("the review was interrupted by {name}"),
            );
            failure.exit_code = u8::try_from(number).ok().and_then(|n| n.checked_add(128));
            failure
        }
        Interrupt::OutputClosed => Failure::new(
            ErrorCode::ReviewerFailed,
            "the review was ended because its output is closed or full",
        ),
    };
    failure.reason(Reason::Interrupted)
}

/// Returns one failure that names each of several and keeps what they have in common.
fn join_failures(title: &str, named: impl IntoIterator<Item = (String, Failure)>) -> Failure {
    let (names, failures): (Vec<_>, Vec<_>) = named.into_iter().unzip();
    let list: Vec<_> = names
        .iter()
        .zip(&failures)
        .map(|(name, failure)| format!("{name}: {failure}"))
        .collect();
    let mut joint = Failure::new(
        ErrorCode::ReviewerFailed,
        format!("{title}: {}", list.join("; ")),
    );
    if let Some((first, others)) = failures.split_first() {
        let agree = |same: fn(&Failure, &Failure) -> bool| others.iter().all(|it| same(first, it));
        if agree(|a, b| a.reason == b.reason) {
            joint.reason = first.reason;
        }
        if agree(|a, b| a.hint == b.hint) {
            joint.hint.clone_from(&first.hint);
        }
        if agree(|a, b| a.recovery == b.recovery) {
            joint.recovery.clone_from(&first.recovery);
        }
    }
    joint
}

#[cfg(test)]
mod tests;
