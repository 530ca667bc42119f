use schemars::JsonSchema;
use serde::Serialize;

use super::{
    ARTIFACT_SCHEMA_VERSION, EngineName, Finding, LaneId, ReviewArtifact, ReviewPlan, ReviewTarget,
    ReviewerEntry, ReviewerError, ReviewerId, RunArtifact,
};

/// One line of the event stream (SPEC 14.4).
///
/// What happens within a lane of a batch carries the lane as its last key.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Frame {
    /// Always [`ARTIFACT_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// What happened.
    #[serde(flatten)]
    pub event: ReviewEvent,
    /// The lane it happened in; only in a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane_id: Option<LaneId>,
}

impl Frame {
    /// Wraps an event of a run without lanes.
    pub fn new(event: ReviewEvent) -> Self {
        Self {
            schema_version: ARTIFACT_SCHEMA_VERSION,
            event,
            lane_id: None,
        }
    }

    /// Wraps an event of one lane.
    pub fn in_lane(lane_id: LaneId, event: ReviewEvent) -> Self {
        Self {
            lane_id: Some(lane_id),
            ..Self::new(event)
        }
    }

    /// Returns the lane it is about, also where the event itself names it.
    pub fn lane(&self) -> Option<&LaneId> {
        match &self.event {
            ReviewEvent::LaneFinished { lane_id, .. } | ReviewEvent::LaneFailed { lane_id, .. } => {
                Some(lane_id)
            }
            _ => self.lane_id.as_ref(),
        }
    }
}

/// What happened, as the stream tells it. A stream ends with exactly one terminal event.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ReviewEvent {
    /// A run with focus lanes begins; each lane then tells its own `run_started`.
    BatchStarted {
        /// The working folder, as it was given.
        cwd: String,
        /// What is reviewed.
        target: ReviewTarget,
        /// Who reviews it, in every lane.
        reviewers: Vec<ReviewerSummary>,
        /// The lanes.
        plan: ReviewPlan,
    },
    /// A lane ended with an artifact. Provisional: only the final artifact counts.
    LaneFinished {
        /// Which.
        lane_id: LaneId,
        /// Its artifact.
        artifact: Box<ReviewArtifact>,
        /// Time of the lane, in milliseconds.
        timing_ms: u64,
    },
    /// A lane ended without one.
    LaneFailed {
        /// Which.
        lane_id: LaneId,
        /// Why.
        error: ReviewerError,
        /// Time of the lane, in milliseconds.
        timing_ms: u64,
    },
    /// The target is resolved and reviewers are about to be checked.
    RunStarted {
        /// The working folder, as it was given.
        cwd: String,
        /// What is reviewed.
        target: ReviewTarget,
        /// Who reviews it.
        reviewers: Vec<ReviewerSummary>,
    },
    /// A reviewer's preflight begins.
    PreflightStarted {
        /// Whose.
        reviewer_id: ReviewerId,
    },
    /// A reviewer's preflight ended.
    PreflightFinished {
        /// Whose.
        reviewer_id: ReviewerId,
        /// Whether the reviewer can run.
        ok: bool,
        /// How long it took, in milliseconds.
        timing_ms: u64,
    },
    /// A reviewer begins to review.
    ReviewerStarted {
        /// Which.
        reviewer_id: ReviewerId,
    },
    /// A reviewer shows signs of life; only in streams that asked for it, and at most about once a
    /// second. Absent counts are unknown.
    ReviewerProgress {
        /// Which.
        reviewer_id: ReviewerId,
        /// Model turns so far.
        #[serde(skip_serializing_if = "Option::is_none")]
        turns: Option<u64>,
        /// Tool calls so far.
        #[serde(skip_serializing_if = "Option::is_none")]
        tools: Option<u64>,
        /// Tokens so far.
        #[serde(skip_serializing_if = "Option::is_none")]
        tokens: Option<u64>,
        /// Time from its permit to this sign of life, in milliseconds.
        elapsed_ms: u64,
    },
    /// A reviewer answered. Provisional: only the final artifact counts.
    ReviewerResult {
        /// Which.
        reviewer_id: ReviewerId,
        /// Always true.
        provisional: bool,
        /// Its entry.
        artifact: Box<ReviewerEntry>,
    },
    /// A reviewer failed.
    ReviewerFailed {
        /// Which.
        reviewer_id: ReviewerId,
        /// Why.
        error: ReviewerError,
        /// Time from its permit to its failure, in milliseconds.
        timing_ms: u64,
    },
    /// Terminal: the run's artifact.
    FinalResult {
        /// The artifact.
        artifact: RunArtifact,
    },
    /// Terminal: the run has no artifact.
    Error {
        /// Why.
        error: ReviewerError,
        /// What diffwarden itself found; kept when every reviewer fails.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        integrity: Vec<Finding>,
    },
}

impl ReviewEvent {
    /// Whether this event ends the stream.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::FinalResult { .. } | Self::Error { .. })
    }
}

/// A selected reviewer, as `run_started` lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReviewerSummary {
    /// Its name.
    pub id: ReviewerId,
    /// Its engine.
    pub engine: EngineName,
}
