//! Values that the tests of this folder share.

use serde_json::{Value, json};

use super::locate::Located;
use super::merge::MergedFinding;
use crate::model::{
    Body, Change, CodeLocation, Coverage, CoverageFile, EngineName, ErrorCode, FailedReviewer,
    Failure, FilePatch, Finding, Hunk, Line, LineKind, LineRange, ParseMode, Priority, RepoPath,
    ReviewResult, ReviewValidation, ReviewerEntry, ReviewerId, ReviewerIdentity, ReviewerStatus,
    Score, Sent, SuccessfulReviewer,
};

/// A fitting answer with one finding.
pub(super) fn answer() -> Value {
    json!({
        "findings": [{
            "title": "[P1] Division by zero is no longer rejected",
            "body": "When b is 0 the function now returns Infinity instead of throwing.",
            "confidence_score": 0.9,
            "priority": 1,
            "code_location": {
                "absolute_file_path": "/repo/src/math.js",
                "line_range": { "start": 6, "end": 6 }
            }
        }],
        "overall_correctness": "patch is incorrect",
        "overall_explanation": "Looked at every hunk.",
        "overall_confidence_score": 0.8
    })
}

/// A fitting answer without findings.
pub(super) fn clean_answer() -> Value {
    json!({
        "findings": [],
        "overall_correctness": "patch is correct",
        "overall_explanation": "Looked at every hunk.",
        "overall_confidence_score": 0.8
    })
}

/// A finding at a place.
pub(super) fn finding(title: &str, path: &str, start: u32, end: u32) -> Finding {
    Finding {
        title: title.to_owned(),
        body: "Because.".to_owned(),
        confidence_score: Score(0.5),
        priority: Some(Priority(2)),
        code_location: CodeLocation {
            absolute_file_path: path.to_owned(),
            line_range: LineRange { start, end },
        },
        anchor: None,
    }
}

/// A result with these findings.
pub(super) fn result(
    verdict: &str,
    explanation: &str,
    confidence: f64,
    findings: Vec<Finding>,
) -> ReviewResult {
    ReviewResult {
        findings,
        overall_correctness: verdict.to_owned(),
        overall_explanation: explanation.to_owned(),
        overall_confidence_score: Score(confidence),
    }
}

/// A modified file with one hunk; every line starts with its sign.
pub(super) fn file_patch(path: &str, old_start: u32, new_start: u32, text: &[&str]) -> FilePatch {
    let mut content = Vec::new();
    let mut lines = Vec::new();
    for line in text {
        let (sign, line) = line.split_at(1);
        lines.push(Line {
            kind: match sign {
                "+" => LineKind::Added,
                "-" => LineKind::Removed,
                _ => LineKind::Context,
            },
            no_newline: false,
            start: u32::try_from(content.len()).unwrap(),
            len: u32::try_from(line.len()).unwrap(),
        });
        content.extend_from_slice(line.as_bytes());
    }
    let count = |gone| lines.iter().filter(|line| line.kind != gone).count();
    let (old, new) = (count(LineKind::Added), count(LineKind::Removed));
    FilePatch {
        old_path: Some(RepoPath::from(path)),
        new_path: Some(RepoPath::from(path)),
        change: Change::Modified,
        old_mode: None,
        new_mode: None,
        old_id: None,
        new_id: None,
        similarity: None,
        body: Body::Hunks(vec![Hunk {
            old_start,
            old_lines: u32::try_from(old).unwrap(),
            new_start,
            new_lines: u32::try_from(new).unwrap(),
            section: Vec::new(),
            lines,
        }]),
        content,
    }
}

/// Findings as they come out of a merge, each with its reviewers separated by commas; all on existing paths.
pub(super) fn merged(findings: &[(&str, Finding)]) -> Vec<MergedFinding> {
    let one = |(names, finding): &(&str, Finding)| MergedFinding {
        finding: finding.clone(),
        reviewer_ids: names.split(',').map(|n| ReviewerId(n.to_owned())).collect(),
        lane_ids: Vec::new(),
        located: Located {
            path: Some(RepoPath::from(
                finding.code_location.absolute_file_path.as_str(),
            )),
            problem: None,
        },
    };
    findings.iter().map(one).collect()
}

/// Who a reviewer is.
fn identity(id: &str, engine: EngineName, status: ReviewerStatus) -> ReviewerIdentity {
    ReviewerIdentity {
        id: ReviewerId(id.to_owned()),
        engine,
        status,
        transport: None,
        profile: None,
        provider: None,
        model: None,
        effort: None,
    }
}

/// The entry of a reviewer that answered with this explanation.
pub(super) fn answered(id: &str, engine: EngineName, mode: ParseMode, text: &str) -> ReviewerEntry {
    success(
        id,
        engine,
        mode,
        result("patch is correct", text, 0.5, vec![]),
    )
}

/// The entry of a reviewer that answered.
pub(super) fn success(
    id: &str,
    engine: EngineName,
    mode: ParseMode,
    r: ReviewResult,
) -> ReviewerEntry {
    ReviewerEntry::Success(Box::new(SuccessfulReviewer {
        identity: identity(id, engine, ReviewerStatus::Success),
        result: r,
        validation: ReviewValidation {
            parse_mode: mode,
            valid_schema: mode != ParseMode::FallbackText,
            findings_overlap_diff: true,
            valid_locations: true,
            invalid_locations: Vec::new(),
            missing_title_prefix: Vec::new(),
            title_priority_differs: Vec::new(),
        },
        timing_ms: None,
        raw_text: None,
        preflight: None,
        adapter_metadata: None,
        usage: None,
        sent: None,
    }))
}

/// The entry of a reviewer that read everything and found nothing.
pub(super) fn good(id: &str) -> ReviewerEntry {
    answered(
        id,
        EngineName::Codex,
        ParseMode::ToolOutput,
        "Looked at it.",
    )
}

/// The entry of a reviewer that was too slow.
pub(super) fn failed() -> ReviewerEntry {
    let failure = Failure::new(ErrorCode::Timeout, "too slow");
    ReviewerEntry::Failed(Box::new(FailedReviewer {
        identity: identity("b", EngineName::Claude, ReviewerStatus::Failed),
        preflight: None,
        error: failure.to_error(None),
        timing_ms: None,
    }))
}

/// A coverage of these files.
pub(super) fn coverage(files: &[(&str, Sent)]) -> Coverage {
    let file = |&(path, sent): &(&str, Sent)| CoverageFile {
        path: path.to_owned(),
        sent,
        added: 1,
        removed: 0,
        reason: (sent != Sent::Whole).then(|| format!("{sent:?}")),
    };
    Coverage {
        files: files.iter().map(file).collect(),
        patch_bytes: 10,
        patch_sha256: "00".to_owned(),
    }
}
