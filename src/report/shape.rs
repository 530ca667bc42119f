//! What a report file says. Field order is the order that is printed; absent values are left out.

use std::collections::BTreeSet;

use diffwarden_actors::model::{
    Anchor, CodeLocation, EngineName, LaneId, LaneKind, LaneStatus, ReviewPlan, ReviewerError,
    ReviewerId, ReviewerStatus, RunArtifact, Score, TargetKind, Transport,
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::config::ReportMode;

/// One run, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Report<'a> {
    /// Always [`REPORT_SCHEMA_VERSION`](super::REPORT_SCHEMA_VERSION).
    pub report_schema_version: u32,
    /// A random UUID.
    pub run_id: &'a str,
    /// When the report was made: RFC 3339, UTC, milliseconds.
    pub created_at: String,
    /// How the run came about.
    pub provenance: Provenance<'a>,
    /// What was reviewed, and how it is kept.
    pub invocation: InvocationReport<'a>,
    /// Every reviewer; in a batch those of every lane, in lane order.
    pub reviewers: Vec<ReportedReviewer<'a>>,
    /// The numbers of the run.
    pub summary: Summary<'a>,
    /// The lanes of a batch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<LaneReport<'a>>,
    /// The artifact; not in metadata mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<&'a RunArtifact>,
}

/// How a run came about.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Provenance<'a> {
    /// This program.
    pub diffwarden: ProgramReport,
    /// What was typed.
    pub invocation: Invocation<'a>,
    /// The config that was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<&'a ConfigReport>,
    /// Who was asked for, and who that was.
    pub reviewer_selection: &'a ReviewerSelection,
    /// The patch.
    pub target: TargetProvenance<'a>,
}

/// This program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProgramReport {
    /// Its version.
    pub version: &'static str,
}

/// What was typed. The lanes are those of the run's plan.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
pub struct Invocation<'a> {
    /// `--target`.
    pub target: String,
    /// `--reviewer`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reviewers: Vec<String>,
    /// `--reviewer-set`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer_set: Option<String>,
    /// `--model`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// `--effort`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// `--timeout`, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<serde_json::Number>,
    /// `--strict`.
    pub strict: bool,
    /// `--fail-on-findings`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_on_findings: Option<String>,
    /// The same as `output_mode`; older readers look here.
    pub format: &'static str,
    /// `human`, `agent`, `json` or `ndjson`.
    pub output_mode: &'static str,
    /// `--focus`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<&'a [String]>,
    /// Whether a batch has an overview lane.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_overview: Option<bool>,
    /// The lanes of a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub review_plan: Option<&'a ReviewPlan>,
}

/// A config that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConfigReport {
    /// The file.
    pub path: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// Who was asked for, and who that was.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct ReviewerSelection {
    /// The set that was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewer_set: Option<String>,
    /// The specs that were asked for, or those of the set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requested_reviewers: Vec<String>,
    /// The reviewers they stand for.
    pub resolved_reviewers: Vec<String>,
}

/// The patch, which itself is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TargetProvenance<'a> {
    /// The SHA-256 of the whole patch in its canonical form; absent where there is no patch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_sha256: Option<&'a str>,
    /// Its size in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_bytes: Option<u64>,
    /// Always false.
    pub patch_persisted: bool,
}

/// What was reviewed, and how it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct InvocationReport<'a> {
    /// The working folder, as it was given.
    pub cwd: &'a str,
    /// The target.
    pub target: TargetReport<'a>,
    /// Where and how reports are kept.
    pub reporting: ReportStorage,
}

/// The target of a run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the fields are those of the artifact's target")]
pub struct TargetReport<'a> {
    pub kind: TargetKind,
    pub repo_root: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_ref: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_sha: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_sha: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit_sha: Option<&'a str>,
    /// The artifact calls them `instructions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_instructions: Option<&'a str>,
    pub diff_command: &'a str,
    pub changed_files: &'a [String],
}

/// Where and how reports are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportStorage {
    /// Where.
    pub scope: StorageScope,
    /// How much.
    #[serde(serialize_with = "serialize_mode")]
    #[schemars(with = "String")]
    pub mode: ReportMode,
}

/// Where reports are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StorageScope {
    /// In the user's state folder.
    Global,
    /// In the reviewed repository.
    Repo,
    /// In a folder that was named.
    CustomDir,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands fields over by reference"
)]
fn serialize_mode<S: serde::Serializer>(
    mode: &ReportMode,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match mode {
        ReportMode::Full => "full",
        ReportMode::Metadata => "metadata",
    })
}

/// One reviewer's run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReportedReviewer<'a> {
    /// Its name.
    pub id: &'a ReviewerId,
    /// Its engine.
    pub engine: EngineName,
    /// How the engine was reached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// The profile it was selected by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<&'a str>,
    /// The provider it routes through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<&'a str>,
    /// The model asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<&'a str>,
    /// Which model was used, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_resolution: Option<Resolution<'a>>,
    /// The effort asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<&'a str>,
    /// Which effort was used, as far as it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort_resolution: Option<Resolution<'a>>,
    /// How its run ended.
    pub status: ReviewerStatus,
    /// How long it took, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// Tokens and cost, as the engine reports them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<&'a Value>,
    /// What the adapter recorded about the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter_metadata: Option<&'a Map<String, Value>>,
    /// What preflight learned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preflight_metadata: Option<&'a Map<String, Value>>,
    /// How many findings it has.
    pub finding_count: usize,
    /// How many of each priority.
    pub finding_counts_by_priority: Counts,
    /// Its findings.
    pub findings: Vec<FindingReport<'a>>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a ReviewerError>,
    /// The lane it ran in; only in a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane_id: Option<&'a LaneId>,
}

/// What became of a value that was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Resolution<'a> {
    /// What was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<&'a str>,
    /// What was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved: Option<&'a str>,
    /// How that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'a str>,
}

/// Findings of each priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[expect(missing_docs, reason = "the fields are the priorities")]
pub struct Counts {
    pub p0: usize,
    pub p1: usize,
    pub p2: usize,
    pub p3: usize,
    pub unspecified: usize,
}

/// A finding.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FindingReport<'a> {
    /// Its title.
    pub title: &'a str,
    /// Its text; not in metadata mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<&'a str>,
    /// How sure the reviewer is.
    pub confidence_score: Score,
    /// How urgent it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Where it is.
    pub code_location: &'a CodeLocation,
    /// What it is about when it is not about lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<Anchor>,
}

/// The numbers of a run. Findings are those of the merged result.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Summary<'a> {
    /// How many reviewers ran; in a batch over all lanes.
    pub reviewer_count: usize,
    /// How many answered.
    pub successful_reviewer_count: usize,
    /// How many failed.
    pub failed_reviewer_count: usize,
    /// How many findings the merged result has.
    pub finding_count: usize,
    /// How many of each priority.
    pub finding_counts_by_priority: Counts,
    /// The files they are in, sorted.
    pub files_with_findings: BTreeSet<&'a str>,
    /// How many files the change touches.
    pub changed_file_count: usize,
    /// Time of the whole run, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// The verdict.
    pub overall_correctness: &'a str,
    /// How sure of it the reviewers are.
    pub overall_confidence_score: Score,
    /// How many lanes a batch has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lane_count: Option<usize>,
    /// How many of them have an artifact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub successful_lane_count: Option<usize>,
    /// How many have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed_lane_count: Option<usize>,
}

/// How a lane of a batch ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct LaneReport<'a> {
    /// Its name.
    pub id: &'a LaneId,
    /// What it looked for.
    pub kind: LaneKind,
    /// Its focus text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<&'a str>,
    /// With or without an artifact.
    pub status: LaneStatus,
    /// Time of the lane, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elapsed_ms: Option<u64>,
    /// How many findings it has.
    pub finding_count: usize,
    /// How many of each priority.
    pub finding_counts_by_priority: Counts,
    /// Its verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall_correctness: Option<&'a str>,
    /// How sure of it its reviewers are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall_confidence_score: Option<Score>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<&'a ReviewerError>,
}
