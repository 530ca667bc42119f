//! From the outcomes of the lanes to the artifact of a batch (SPEC 7.3.1).

use super::{Cause, LaneOutcome, join_failures};
use crate::answer::{self, Ground, LaneReview, LocalDisk, Locator};
use crate::model::{
    ARTIFACT_SCHEMA_VERSION, BatchKind, Coverage, Degraded, DegradedTopic, ErrorCode, Failure,
    ReviewBatchArtifact, ReviewLane, ReviewPlan, Trust, TrustReason,
};
use crate::plan::RunPlan;

/// Makes the artifact, or says why there is none.
pub(super) fn conclude(
    plan: &RunPlan,
    asked: &ReviewPlan,
    lanes: Vec<LaneOutcome>,
    timing_ms: u64,
) -> Result<ReviewBatchArtifact, Cause> {
    let lanes: Vec<_> = plan.lanes.iter().map(|it| &it.lane).zip(lanes).collect();
    if let Some(failure) = strict_failure(plan, &lanes).or_else(|| total_failure(&lanes)) {
        return Err(failure.into());
    }
    let locator = Locator::new(&plan.scope, &LocalDisk);
    let ground = Ground {
        locator: &locator,
        patch: &plan.patch,
        source: plan.source.as_ref(),
    };
    let reviewers = plan.reviewers.iter().map(|it| it.id.clone()).collect();
    let reviews: Vec<_> = reviews(&lanes).collect();
    let conclusion = answer::conclude_batch(&reviews, &plan.integrity, reviewers, ground);
    let artifacts = lanes
        .iter()
        .filter_map(|(_, outcome)| outcome.result.as_ref().ok());
    let received = artifacts.map(|artifact| artifact.coverage.files.as_slice());
    let coverage = answer::worst_coverage(&plan.coverage, received);
    Ok(ReviewBatchArtifact {
        schema_version: ARTIFACT_SCHEMA_VERSION,
        kind: BatchKind::Batch,
        cwd: plan.cwd.clone(),
        target: plan.target.as_ref().clone(),
        plan: asked.clone(),
        result: conclusion.result,
        validation: conclusion.validation,
        warnings: warnings(plan, &lanes),
        degraded: degraded(plan, &lanes, &coverage),
        trust: trust(&lanes),
        coverage,
        clusters: conclusion.clusters,
        snapshot: plan.snapshot_record(),
        timing_ms: Some(timing_ms),
        lanes: lanes
            .iter()
            .map(|(lane, outcome)| outcome.to_artifact(lane))
            .collect(),
    })
}

/// Strict mode: one failed lane is enough. Code and exit code are those of the cause: of the first
/// lane that could not be made, else of the first whose answers are not good enough.
fn strict_failure(plan: &RunPlan, lanes: &[(&ReviewLane, LaneOutcome)]) -> Option<Failure> {
    if !plan.policy.strict {
        return None;
    }
    let failed = failures(lanes);
    let is_doubt = |failure: &Failure| {
        matches!(
            failure.code,
            ErrorCode::ParseFailed | ErrorCode::ValidationFailed
        )
    };
    let cause = failed
        .iter()
        .find(|(_, it)| !is_doubt(it))
        .or(failed.first());
    let cause = cause.map(|&(_, failure)| failure)?;
    Some(Failure {
        message: joint("Lane failed in strict mode", &failed).message,
        ..cause.clone()
    })
}

fn total_failure(lanes: &[(&ReviewLane, LaneOutcome)]) -> Option<Failure> {
    let failed = failures(lanes);
    (!failed.is_empty() && failed.len() == lanes.len()).then(|| joint("All lanes failed", &failed))
}

fn joint(title: &str, failed: &[(&ReviewLane, &Failure)]) -> Failure {
    let named = failed
        .iter()
        .map(|&(lane, failure)| (lane.id.to_string(), failure.clone()));
    join_failures(title, named)
}

fn failures<'a>(lanes: &'a [(&ReviewLane, LaneOutcome)]) -> Vec<(&'a ReviewLane, &'a Failure)> {
    let failed = lanes.iter().filter_map(|(lane, outcome)| {
        let cause = outcome.result.as_ref().err()?;
        Some((*lane, &cause.failure))
    });
    failed.collect()
}

/// Returns what the lanes came to, without those in which there was nobody to ask.
fn reviews<'a>(lanes: &'a [(&ReviewLane, LaneOutcome)]) -> impl Iterator<Item = LaneReview<'a>> {
    lanes.iter().filter_map(|(lane, outcome)| {
        let artifact = outcome.result.as_ref().ok()?;
        (!artifact.reviewers.is_empty()).then_some(LaneReview {
            lane,
            result: &artifact.result,
            validation: &artifact.validation,
        })
    })
}

/// Failed lanes first, then what holds for the whole run, then what single lanes say.
fn warnings(plan: &RunPlan, lanes: &[(&ReviewLane, LaneOutcome)]) -> Vec<String> {
    let failed = failures(lanes)
        .into_iter()
        .map(|(lane, failure)| format!("Lane {} failed: {failure}", lane.id));
    let said = lanes.iter().flat_map(|(lane, outcome)| {
        let artifact = outcome.result.as_ref().ok();
        let warnings = artifact.into_iter().flat_map(|artifact| &artifact.warnings);
        warnings.map(move |warning| format!("Lane {}: {warning}", lane.id))
    });
    failed
        .chain(plan.degraded.iter().map(|it| it.message.clone()))
        .chain(said)
        .collect()
}

/// In the same order: failed lanes, the whole run, single lanes.
fn degraded(
    plan: &RunPlan,
    lanes: &[(&ReviewLane, LaneOutcome)],
    coverage: &Coverage,
) -> Vec<Degraded> {
    let failed = failures(lanes).into_iter().map(|(lane, failure)| {
        let message = format!("Lane {} failed: {failure}", lane.id);
        answer::degraded_by_failure(DegradedTopic::LaneHealth, failure.code, message)
    });
    let said = lanes.iter().flat_map(|(lane, outcome)| {
        let artifact = outcome.result.as_ref().ok();
        let entries = artifact.map_or(&[][..], |artifact| &artifact.reviewers);
        answer::shortfalls(entries)
            .into_iter()
            .map(move |it| Degraded {
                message: format!("Lane {}: {}", lane.id, it.message),
                ..it
            })
    });
    failed
        .chain(plan.known_shortfalls())
        .chain(answer::unsent(coverage))
        .chain(said)
        .collect()
}

fn trust(lanes: &[(&ReviewLane, LaneOutcome)]) -> Trust {
    let failed = lanes.iter().any(|(_, outcome)| outcome.result.is_err());
    let reasons = lanes.iter().flat_map(|(_, outcome)| &outcome.trust.reasons);
    let reasons = reasons
        .copied()
        .chain(failed.then_some(TrustReason::LaneFailed));
    Trust::from_reasons(reasons)
}
