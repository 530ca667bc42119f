use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LaneId, ReviewerId, Score};

/// How urgent a finding is: 0 blocks a release, 3 is a detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(transparent)]
pub struct Priority(#[schemars(range(min = 0, max = 3))] pub u8);

/// An inclusive range of lines, 1-based.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, JsonSchema)]
pub struct LineRange {
    /// First line.
    #[schemars(range(min = 1))]
    pub start: u32,
    /// Last line; never before `start`.
    #[schemars(range(min = 1))]
    pub end: u32,
}

impl LineRange {
    /// Whether the two ranges share a line.
    pub fn overlaps(self, other: Self) -> bool {
        self.start <= other.end && self.end >= other.start
    }
}

/// Where a finding points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CodeLocation {
    /// The path as the reviewer wrote it; absolute when it followed the output contract.
    #[schemars(length(min = 1))]
    pub absolute_file_path: String,
    /// The lines concerned, in the numbering of the new side.
    pub line_range: LineRange,
}

/// What a finding without a line of code points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Anchor {
    /// The path of the file itself.
    Path,
    /// The message of the reviewed commit.
    CommitMessage,
    /// The name of the current branch.
    Branch,
}

/// One defect, as a reviewer reports it (SPEC 7.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// A short title, which should begin with `[P0]` to `[P3]`.
    #[schemars(length(min = 1))]
    pub title: String,
    /// Why it is a defect and when it happens.
    pub body: String,
    /// How sure the reviewer is.
    pub confidence_score: Score,
    /// How urgent it is; absent when the reviewer did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Where it is.
    pub code_location: CodeLocation,
    /// Set when the finding is about something that has no lines; its range is then 1-1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
}

/// A finding of the merged result: the first reporter's words and everybody's names.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReportedFinding {
    /// Stable name of the finding: path, title and anchored code, never the line number. Blank in
    /// a saved artifact that has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The finding in the words of whoever reported it first.
    #[serde(flatten)]
    pub finding: Finding,
    /// Who reported it, in reviewer order.
    pub reviewer_ids: Vec<ReviewerId>,
    /// The lanes it came from; only in a batch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lane_ids: Option<Vec<LaneId>>,
}
