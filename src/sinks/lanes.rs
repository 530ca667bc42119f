//! What the texts show of each lane of a run with focus lanes.

use diffwarden_actors::model::{
    LaneArtifact, ReviewArtifact, ReviewBatchArtifact, ReviewLane, ReviewerId,
};

use super::findings::{FindingView, counts, finding_views};
use super::foreign::Foreign;
use super::summary::{self, FailedView};

/// A lane.
pub(super) struct LaneView {
    /// Its id, and its focus text behind a colon.
    pub(super) name: String,
    pub(super) ending: LaneEnding,
}

/// How a lane ended.
pub(super) enum LaneEnding {
    Reviewed(LaneReview),
    Failed(FailedView),
}

/// What a lane found. Warnings, trust and coverage are told once, for the whole run.
pub(super) struct LaneReview {
    pub(super) verdict: String,
    /// The number of findings and of each priority.
    pub(super) counts: String,
    pub(super) reviewers: String,
    pub(super) failures: Vec<FailedView>,
    pub(super) findings: Vec<FindingView>,
}

impl LaneView {
    /// Returns every lane of a batch, in its order.
    pub(super) fn all(batch: &ReviewBatchArtifact, foreign: Foreign<'_>) -> Vec<Self> {
        let lanes = batch.lanes.iter();
        lanes.map(|lane| Self::of(lane, foreign)).collect()
    }

    fn of(lane: &LaneArtifact, foreign: Foreign<'_>) -> Self {
        let ending = match (&lane.artifact, &lane.error) {
            (Some(artifact), _) => LaneEnding::Reviewed(LaneReview::of(artifact, foreign)),
            (None, Some(error)) => LaneEnding::Failed(FailedView::of_error(error, foreign)),
            (None, None) => LaneEnding::Failed(FailedView::unexplained()),
        };
        Self {
            name: lane_name(&lane.lane, foreign),
            ending,
        }
    }

    /// Returns the word for how the lane ended, as artifacts spell it.
    pub(super) fn status(&self) -> &'static str {
        match self.ending {
            LaneEnding::Reviewed(_) => "success",
            LaneEnding::Failed(_) => "failed",
        }
    }
}

impl LaneReview {
    fn of(artifact: &ReviewArtifact, foreign: Foreign<'_>) -> Self {
        let result = &artifact.result;
        Self {
            verdict: foreign.line(&result.overall_correctness),
            counts: counts(&result.findings),
            reviewers: summary::reviewer_names(summary::asked(artifact), foreign),
            failures: summary::failures(artifact, foreign),
            findings: finding_views(result, &artifact.validation, foreign),
        }
    }
}

/// Returns a lane's id, and its focus text behind a colon.
pub(super) fn lane_name(lane: &ReviewLane, foreign: Foreign<'_>) -> String {
    let id = foreign.line(&lane.id.0);
    match &lane.focus {
        Some(focus) => format!("{id}: {}", foreign.line(focus)),
        None => id,
    }
}

/// Returns the reviewers that every lane was asked to have, as the first lane with an artifact
/// names them.
pub(super) fn asked_in(batch: &ReviewBatchArtifact) -> Vec<&ReviewerId> {
    let mut artifacts = batch
        .lanes
        .iter()
        .filter_map(|lane| lane.artifact.as_deref());
    artifacts
        .next()
        .map(|artifact| summary::asked(artifact).collect())
        .unwrap_or_default()
}
