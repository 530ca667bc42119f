//! From a run's facts and its artifact to its report. Pure.

use std::time::SystemTime;

use diffwarden_actors::answer::INTEGRITY_ID;
use diffwarden_actors::model::{
    Finding, LaneArtifact, LaneId, LaneStatus, MergedResult, ReviewArtifact, ReviewBatchArtifact,
    ReviewTarget, ReviewerEntry, ReviewerStatus, RunArtifact,
};
use serde_json::{Map, Value};

use super::REPORT_SCHEMA_VERSION;
use super::shape::{
    ConfigReport, Counts, FindingReport, Invocation, InvocationReport, LaneReport, ProgramReport,
    Provenance, Report, ReportStorage, ReportedReviewer, Resolution, ReviewerSelection, Summary,
    TargetProvenance, TargetReport,
};
use crate::config::ReportMode;

/// What a report says beside the artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportFacts {
    /// What was typed; its lanes come from the artifact.
    pub invocation: Invocation<'static>,
    /// The config that was read.
    pub config: Option<ConfigReport>,
    /// Who was asked for, and who that was.
    pub selection: ReviewerSelection,
    /// Where and how reports are kept.
    pub storage: ReportStorage,
}

/// What makes one report different from every other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    /// A random UUID.
    pub run_id: String,
    /// When the report was made, in UTC.
    pub created_at: jiff::Timestamp,
}

impl Stamp {
    /// Returns a new one for a report that is made now.
    pub fn now() -> Self {
        // A clock that is set to a year which no calendar has counts as the epoch.
        let created_at = jiff::Timestamp::try_from(SystemTime::now()).unwrap_or_default();
        Self {
            run_id: uuid::Uuid::new_v4().to_string(),
            created_at,
        }
    }

    /// Returns the time as reports print it: `2026-01-02T03:04:05.678Z`.
    pub(super) fn time(&self) -> String {
        self.created_at
            .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
            .to_string()
    }
}

/// Builds the report of a run.
pub fn build_report<'a>(
    facts: &'a ReportFacts,
    stamp: &'a Stamp,
    artifact: &'a RunArtifact,
) -> Report<'a> {
    let whole = Whole::of(artifact);
    let mode = facts.storage.mode;
    let (reviewers, lanes) = match artifact {
        RunArtifact::Review(review) => (reviewers_of(review, None, mode), Vec::new()),
        RunArtifact::Batch(batch) => (
            batch
                .lanes
                .iter()
                .flat_map(|lane| reviewers_in(lane, mode))
                .collect(),
            batch.lanes.iter().map(lane_report).collect(),
        ),
    };
    Report {
        report_schema_version: REPORT_SCHEMA_VERSION,
        run_id: &stamp.run_id,
        created_at: stamp.time(),
        provenance: Provenance {
            diffwarden: ProgramReport {
                version: env!("CARGO_PKG_VERSION"),
            },
            invocation: invocation(facts, artifact),
            config: facts.config.as_ref(),
            reviewer_selection: &facts.selection,
            target: whole.target_provenance(),
        },
        invocation: InvocationReport {
            cwd: whole.cwd,
            target: target_report(whole.target),
            reporting: facts.storage,
        },
        summary: summary(&whole, &reviewers, &lanes),
        reviewers,
        lanes,
        artifact: (mode == ReportMode::Full).then_some(artifact),
    }
}

/// What artifacts of runs with and without lanes have in common.
struct Whole<'a> {
    cwd: &'a str,
    target: &'a ReviewTarget,
    result: &'a MergedResult,
    timing_ms: Option<u64>,
    patch_sha256: &'a str,
    patch_bytes: u64,
}

impl<'a> Whole<'a> {
    fn of(artifact: &'a RunArtifact) -> Self {
        match artifact {
            RunArtifact::Review(it) => Self {
                cwd: &it.cwd,
                target: &it.target,
                result: &it.result,
                timing_ms: it.timing_ms,
                patch_sha256: &it.coverage.patch_sha256,
                patch_bytes: it.coverage.patch_bytes,
            },
            RunArtifact::Batch(it) => Self {
                cwd: &it.cwd,
                target: &it.target,
                result: &it.result,
                timing_ms: it.timing_ms,
                patch_sha256: &it.coverage.patch_sha256,
                patch_bytes: it.coverage.patch_bytes,
            },
        }
    }

    fn target_provenance(&self) -> TargetProvenance<'a> {
        let has_patch = self.target.is_diff_backed();
        TargetProvenance {
            diff_sha256: has_patch.then_some(self.patch_sha256),
            diff_bytes: has_patch.then_some(self.patch_bytes),
            patch_persisted: false,
        }
    }
}

fn invocation<'a>(facts: &'a ReportFacts, artifact: &'a RunArtifact) -> Invocation<'a> {
    let typed: Invocation<'a> = facts.invocation.clone();
    match artifact {
        RunArtifact::Review(_) => typed,
        RunArtifact::Batch(batch) => {
            let ReviewBatchArtifact { plan, .. } = batch.as_ref();
            Invocation {
                focus: Some(&plan.focus),
                include_overview: Some(plan.include_overview),
                review_plan: Some(plan),
                ..typed
            }
        }
    }
}

fn target_report(target: &ReviewTarget) -> TargetReport<'_> {
    TargetReport {
        kind: target.kind,
        repo_root: &target.repo_root,
        base_ref: target.base_ref.as_deref(),
        base_sha: target.base_sha.as_deref(),
        head_sha: target.head_sha.as_deref(),
        commit_sha: target.commit_sha.as_deref(),
        custom_instructions: target.instructions.as_deref(),
        diff_command: &target.diff_command,
        changed_files: &target.changed_files,
    }
}

fn reviewers_in(lane: &LaneArtifact, mode: ReportMode) -> Vec<ReportedReviewer<'_>> {
    let artifact = lane.artifact.as_deref();
    artifact.map_or_else(Vec::new, |it| reviewers_of(it, Some(&lane.lane.id), mode))
}

fn reviewers_of<'a>(
    artifact: &'a ReviewArtifact,
    lane_id: Option<&'a LaneId>,
    mode: ReportMode,
) -> Vec<ReportedReviewer<'a>> {
    let entries = artifact.reviewers.iter();
    entries
        .map(|entry| reviewer(entry, lane_id, mode))
        .collect()
}

fn reviewer<'a>(
    entry: &'a ReviewerEntry,
    lane_id: Option<&'a LaneId>,
    mode: ReportMode,
) -> ReportedReviewer<'a> {
    let identity = entry.identity();
    let (timing_ms, preflight, findings) = match entry {
        ReviewerEntry::Success(it) => (it.timing_ms, &it.preflight, it.result.findings.as_slice()),
        ReviewerEntry::Failed(it) => (it.timing_ms, &it.preflight, [].as_slice()),
    };
    let (usage, adapter_metadata, error) = match entry {
        ReviewerEntry::Success(it) => (it.usage.as_ref(), it.adapter_metadata.as_ref(), None),
        ReviewerEntry::Failed(it) => (None, None, Some(&it.error)),
    };
    let preflight_metadata = preflight.as_ref().map(|report| &report.metadata);
    // The run knows better than preflight what was used.
    let known = [adapter_metadata, preflight_metadata];
    ReportedReviewer {
        id: &identity.id,
        engine: identity.engine,
        transport: identity.transport,
        profile: identity.profile.as_deref(),
        provider: identity.provider.as_deref(),
        model: identity.model.as_deref(),
        model_resolution: resolution(
            known,
            ["requestedModel", "resolvedModel", "modelResolutionSource"],
        ),
        effort: identity.effort.as_deref(),
        effort_resolution: resolution(
            known,
            [
                "requestedEffort",
                "resolvedEffort",
                "effortResolutionSource",
            ],
        ),
        status: identity.status,
        elapsed_ms: timing_ms,
        usage,
        adapter_metadata,
        preflight_metadata,
        finding_count: findings.len(),
        finding_counts_by_priority: counts(findings.iter()),
        findings: findings.iter().map(|it| finding(it, mode)).collect(),
        error,
        lane_id,
    }
}

/// Reads what became of a value off the metadata, the most telling first.
fn resolution<'a>(
    known: [Option<&'a Map<String, Value>>; 2],
    [requested, resolved, source]: [&str; 3],
) -> Option<Resolution<'a>> {
    known.into_iter().flatten().find_map(|metadata| {
        let text = |key: &str| metadata.get(key).and_then(Value::as_str);
        let found = Resolution {
            requested: text(requested),
            resolved: text(resolved),
            source: text(source),
        };
        let is_known = found
            .requested
            .or(found.resolved)
            .or(found.source)
            .is_some();
        is_known.then_some(found)
    })
}

fn finding(finding: &Finding, mode: ReportMode) -> FindingReport<'_> {
    FindingReport {
        title: &finding.title,
        body: (mode == ReportMode::Full).then_some(finding.body.as_str()),
        confidence_score: finding.confidence_score,
        priority: finding.priority.map(|priority| priority.0),
        code_location: &finding.code_location,
        anchor: finding.anchor,
    }
}

fn counts<'a>(findings: impl Iterator<Item = &'a Finding>) -> Counts {
    let mut counts = Counts::default();
    for finding in findings {
        let count = match finding.priority.map(|priority| priority.0) {
            Some(0) => &mut counts.p0,
            Some(1) => &mut counts.p1,
            Some(2) => &mut counts.p2,
            Some(_) => &mut counts.p3,
            None => &mut counts.unspecified,
        };
        *count += 1;
    }
    counts
}

fn summary<'a>(
    whole: &Whole<'a>,
    reviewers: &[ReportedReviewer<'_>],
    lanes: &[LaneReport<'_>],
) -> Summary<'a> {
    let merged = whole
        .result
        .findings
        .iter()
        .map(|reported| &reported.finding);
    // diffwarden's own findings have an entry, but nobody who could be counted.
    let asked = reviewers.iter().filter(|entry| entry.id.0 != INTEGRITY_ID);
    let failed = asked
        .clone()
        .filter(|entry| entry.status == ReviewerStatus::Failed);
    let (asked, failed) = (asked.count(), failed.count());
    let lost = lanes
        .iter()
        .filter(|lane| lane.status == LaneStatus::Failed)
        .count();
    let in_batch = |count: usize| (!lanes.is_empty()).then_some(count);
    Summary {
        reviewer_count: asked,
        successful_reviewer_count: asked - failed,
        failed_reviewer_count: failed,
        finding_count: whole.result.findings.len(),
        finding_counts_by_priority: counts(merged.clone()),
        files_with_findings: merged
            .map(|finding| finding.code_location.absolute_file_path.as_str())
            .collect(),
        changed_file_count: whole.target.changed_files.len(),
        elapsed_ms: whole.timing_ms,
        overall_correctness: &whole.result.overall_correctness,
        overall_confidence_score: whole.result.overall_confidence_score,
        lane_count: in_batch(lanes.len()),
        successful_lane_count: in_batch(lanes.len() - lost),
        failed_lane_count: in_batch(lost),
    }
}

fn lane_report(lane: &LaneArtifact) -> LaneReport<'_> {
    let result = lane.artifact.as_deref().map(|artifact| &artifact.result);
    let findings = result.map_or([].as_slice(), |result| &result.findings);
    LaneReport {
        id: &lane.lane.id,
        kind: lane.lane.kind,
        focus: lane.lane.focus.as_deref(),
        status: lane.status,
        elapsed_ms: lane.timing_ms,
        finding_count: findings.len(),
        finding_counts_by_priority: counts(findings.iter().map(|reported| &reported.finding)),
        overall_correctness: result.map(|result| result.overall_correctness.as_str()),
        overall_confidence_score: result.map(|result| result.overall_confidence_score),
        error: lane.error.as_ref(),
    }
}

#[cfg(test)]
mod tests;
