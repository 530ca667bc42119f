use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Coverage, Degraded, EngineName, LineRange, MergedResult, ReviewTarget, ReviewValidation,
    ReviewerEntry, ReviewerId, Trust,
};

/// The version of the artifact and of the event frames.
pub const ARTIFACT_SCHEMA_VERSION: u32 = 2;

/// The complete result of a run without focus lanes (SPEC 7.3).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewArtifact {
    /// Always [`ARTIFACT_SCHEMA_VERSION`].
    pub schema_version: u32,
    /// The engine, when exactly one reviewer was selected and succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineName>,
    /// Every selected reviewer, in the order asked for.
    #[serde(default)]
    pub reviewers: Vec<ReviewerEntry>,
    /// The working folder, as it was given.
    pub cwd: String,
    /// What was reviewed.
    pub target: ReviewTarget,
    /// The merged answer.
    pub result: MergedResult,
    /// The parsed text, when there is one reviewer and its answer was text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_text: Option<String>,
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
    /// The frozen copy of the reviewed tree that the reviewers looked at; absent when they looked
    /// at the work tree itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<Snapshot>,
    /// Time of the whole run, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing_ms: Option<u64>,
}

/// A frozen copy of the reviewed tree, as it was written for one run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// The commit whose tree it is; absent when it is that of the work tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_sha: Option<String>,
    /// How many files and links were written.
    pub files: u64,
    /// The size of all of them, in bytes.
    pub bytes: u64,
    /// The paths of the tree that are not in it because they could harm a reviewer or could not be
    /// written, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
}

/// Findings of at least two reviewers that overlap or lie at most three lines apart.
///
/// A cluster only points at findings; it never drops or rewords one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cluster {
    /// The path, relative to the root where it could be mapped.
    pub path: String,
    /// From the first line of any member to the last.
    pub line_range: LineRange,
    /// Ids of the findings, in the order of `result.findings`.
    pub members: Vec<String>,
    /// Who reported at least one of them, in reviewer order.
    pub reported_by: Vec<ReviewerId>,
}
