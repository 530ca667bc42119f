use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Cluster, Coverage, Degraded, MergedResult, ReviewArtifact, ReviewLane, ReviewTarget,
    ReviewValidation, ReviewerError, Snapshot, Trust,
};

/// The complete result of a run (SPEC 7.3.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum RunArtifact {
    /// Of a run with focus lanes.
    Batch(Box<ReviewBatchArtifact>),
    /// Of a run without.
    Review(Box<ReviewArtifact>),
}

/// The result of a run with focus lanes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewBatchArtifact {
    /// Always `ARTIFACT_SCHEMA_VERSION`.
    pub schema_version: u32,
    /// Always `batch`.
    pub kind: BatchKind,
    /// The working folder, as it was given.
    pub cwd: String,
    /// What was reviewed, by every lane.
    pub target: ReviewTarget,
    /// The lanes that were asked for.
    pub plan: ReviewPlan,
    /// The merged answer of the lanes that succeeded.
    pub result: MergedResult,
    /// What the checks said about the merged answer.
    pub validation: ReviewValidation,
    /// What a reader should know before trusting the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// What did not run, was left out, or counts for less than it seems.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub degraded: Vec<Degraded>,
    /// Whether this may be read as a full review.
    #[serde(default, skip_serializing_if = "Trust::is_unstated")]
    pub trust: Trust,
    /// What of the patch reached the reviewers.
    #[serde(default, skip_serializing_if = "Coverage::is_unstated")]
    pub coverage: Coverage,
    /// Findings of several reviewers about the same place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clusters: Vec<Cluster>,
    /// The frozen copy of the reviewed tree that the reviewers of every lane looked at; absent when
    /// they looked at the work tree itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Snapshot>,
    /// Time of the whole run, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing_ms: Option<u64>,
    /// Every lane, in the order of the plan.
    pub lanes: Vec<LaneArtifact>,
}

/// Tells a batch from other artifacts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BatchKind {
    /// The only kind.
    Batch,
}

/// The lanes of a batch, as they were asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewPlan {
    /// Whether there is an overview lane.
    pub include_overview: bool,
    /// The focus texts, in order.
    pub focus: Vec<String>,
    /// The lanes: the overview first, then one for each focus.
    pub lanes: Vec<ReviewLane>,
}

/// How one lane of a batch ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LaneArtifact {
    /// The lane.
    #[serde(flatten)]
    pub lane: ReviewLane,
    /// With or without an artifact.
    pub status: LaneStatus,
    /// Its artifact, when it succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub artifact: Option<Box<ReviewArtifact>>,
    /// Why it failed, when it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ReviewerError>,
    /// Time of the lane, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing_ms: Option<u64>,
}

/// Whether a lane has an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LaneStatus {
    /// It has.
    Success,
    /// It has not.
    Failed,
}

impl RunArtifact {
    /// Returns the merged answer, for gates.
    pub fn result(&self) -> &MergedResult {
        match self {
            Self::Review(artifact) => &artifact.result,
            Self::Batch(batch) => &batch.result,
        }
    }

    /// Returns whether it may be read as a full review.
    pub fn trust(&self) -> &Trust {
        match self {
            Self::Review(artifact) => &artifact.trust,
            Self::Batch(batch) => &batch.trust,
        }
    }
}

impl From<ReviewArtifact> for RunArtifact {
    fn from(artifact: ReviewArtifact) -> Self {
        Self::Review(Box::new(artifact))
    }
}
