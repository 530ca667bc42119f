use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Finding, ReportedFinding, Score};

/// What one reviewer answers (SPEC 7.1).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewResult {
    /// The defects found, in the reviewer's order.
    pub findings: Vec<Finding>,
    /// The verdict; one of the texts of [`Verdict`].
    pub overall_correctness: String,
    /// The verdict's reasons in prose.
    pub overall_explanation: String,
    /// How sure the reviewer is of the verdict.
    pub overall_confidence_score: Score,
}

/// The merged answer of all reviewers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergedResult {
    /// The merged findings, in reviewer order.
    pub findings: Vec<ReportedFinding>,
    /// The verdict; one of the texts of [`Verdict`].
    pub overall_correctness: String,
    /// Each reviewer's explanation under its name.
    pub overall_explanation: String,
    /// The mean of the successful reviewers' scores.
    pub overall_confidence_score: Score,
}

/// The verdicts a review can end with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// No blocking defect was found.
    Correct,
    /// At least one defect was found.
    Incorrect,
    /// Nobody gave a verdict that could be read.
    Unknown,
}

impl Verdict {
    /// Returns the text that stands in `overall_correctness`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Correct => "patch is correct",
            Self::Incorrect => "patch is incorrect",
            Self::Unknown => "unknown",
        }
    }
}

/// How an answer became a [`ReviewResult`] (SPEC 7.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ParseMode {
    /// The whole text was the object.
    StrictJson,
    /// The object was found inside other text.
    ExtractedJson,
    /// A structured tool or native structured output handed it over.
    ToolOutput,
    /// No object was found; the text stands in `overall_explanation`.
    FallbackText,
}

/// What the checks of SPEC 13 said about a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewValidation {
    /// How the answer was read.
    pub parse_mode: ParseMode,
    /// Whether the answer fits the result schema.
    pub valid_schema: bool,
    /// Whether every finding touches a changed line.
    pub findings_overlap_diff: bool,
    /// Whether every finding's location holds.
    pub valid_locations: bool,
    /// The findings whose location does not hold; `index` counts from 0 in `findings`.
    pub invalid_locations: Vec<InvalidLocation>,
    /// Indexes of findings whose title lacks its `[Pn]` prefix (SPEC 13.7); left out when none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing_title_prefix: Vec<usize>,
    /// Indexes of findings whose title's `[Pn]` is not their priority, which alone counts for
    /// gates; left out when none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub title_priority_differs: Vec<usize>,
}

/// One finding whose location does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InvalidLocation {
    /// Position in `findings`, from 0.
    pub index: usize,
    /// Why, in a sentence.
    pub reason: String,
}
