//! The seam between the run and the pure functions of [`crate::answer`]: everything the actors ask
//! about an answer is asked here.

use crate::engine::Payload;
use crate::model::{
    Cluster, Failure, Finding, MergedResult, ParseMode, ReportedFinding, ReviewResult,
    ReviewValidation, ReviewerEntry, ReviewerId, Score, SuccessfulReviewer, Trust, TrustReason,
    Verdict,
};
use crate::plan::{RunPlan, Scope};

/// An answer that has been read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parsed {
    pub(crate) result: ReviewResult,
    pub(crate) parse_mode: ParseMode,
    pub(crate) valid_schema: bool,
    pub(crate) raw_text: Option<String>,
}

/// Reads an engine's raw material.
pub(crate) fn parse(payload: Payload) -> Result<Parsed, Failure> {
    let (read, text) = match payload {
        Payload::Review(result) => (Some((result, ParseMode::ToolOutput)), None),
        Payload::Structured(value) => {
            let text = value.to_string();
            let read = serde_json::from_value(value).ok();
            (read.map(|r| (r, ParseMode::ToolOutput)), Some(text))
        }
        Payload::Text(text) => {
            let read = serde_json::from_str(&text).ok();
            (read.map(|r| (r, ParseMode::StrictJson)), Some(text))
        }
    };
    Ok(match read {
        Some((result, parse_mode)) => Parsed {
            result,
            parse_mode,
            valid_schema: true,
            raw_text: text.filter(|_| parse_mode != ParseMode::ToolOutput),
        },
        None => {
            let text = text.unwrap_or_default();
            Parsed {
                result: ReviewResult {
                    findings: Vec::new(),
                    overall_correctness: Verdict::Unknown.as_str().to_owned(),
                    overall_explanation: text.clone(),
                    overall_confidence_score: Score(0.0),
                },
                parse_mode: ParseMode::FallbackText,
                valid_schema: false,
                raw_text: Some(text),
            }
        }
    })
}

/// Checks where the findings point (SPEC 13).
pub(crate) fn validate(
    _result: &ReviewResult,
    parse_mode: ParseMode,
    valid_schema: bool,
    _scope: &Scope,
) -> ReviewValidation {
    ReviewValidation {
        parse_mode,
        valid_schema,
        findings_overlap_diff: true,
        valid_locations: true,
        invalid_locations: Vec::new(),
        missing_title_prefix: Vec::new(),
    }
}

/// Merges the answers in reviewer order; what diffwarden itself found comes last and counts for
/// the verdict alone.
pub(crate) fn merge(
    plan: &RunPlan,
    answers: &[&SuccessfulReviewer],
    integrity: &[Finding],
    integrity_id: &ReviewerId,
) -> MergedResult {
    let reported = answers
        .iter()
        .flat_map(|answer| {
            answer
                .result
                .findings
                .iter()
                .map(|f| (&answer.identity.id, f))
        })
        .chain(integrity.iter().map(|finding| (integrity_id, finding)));
    let findings: Vec<_> = reported
        .enumerate()
        .map(|(index, (id, finding))| ReportedFinding {
            id: index.to_string(),
            finding: finding.clone(),
            reviewer_ids: vec![id.clone()],
            lane_ids: None,
        })
        .collect();
    let says = |verdict: Verdict| {
        answers
            .iter()
            .any(|answer| answer.result.overall_correctness == verdict.as_str())
    };
    let verdict = if !findings.is_empty() || says(Verdict::Incorrect) {
        Verdict::Incorrect
    } else if answers.is_empty() || says(Verdict::Unknown) {
        Verdict::Unknown
    } else {
        Verdict::Correct
    };
    let scores = answers.iter().map(|a| a.result.overall_confidence_score.0);
    let explanations = answers.iter().map(|answer| {
        let text = &answer.result.overall_explanation;
        if plan.reviewers.len() == 1 {
            text.clone()
        } else {
            format!("{}: {}", answer.identity.id, text.trim())
        }
    });
    MergedResult {
        findings,
        overall_correctness: verdict.as_str().to_owned(),
        overall_explanation: explanations.collect::<Vec<_>>().join("\n\n"),
        #[expect(clippy::cast_precision_loss, reason = "there are few reviewers")]
        overall_confidence_score: Score(scores.sum::<f64>() / answers.len().max(1) as f64),
    }
}

/// Groups findings of several reviewers about the same place.
pub(crate) fn clusters(_plan: &RunPlan, _merged: &MergedResult) -> Vec<Cluster> {
    Vec::new()
}

/// Says whether the result may be read as a full review.
pub(crate) fn assess(plan: &RunPlan, entries: &[ReviewerEntry]) -> Trust {
    let doubts = entries.iter().filter_map(|entry| match entry {
        ReviewerEntry::Failed(_) => Some(TrustReason::ReviewerFailed),
        ReviewerEntry::Success(entry) if entry.validation.parse_mode == ParseMode::FallbackText => {
            Some(TrustReason::FallbackText)
        }
        ReviewerEntry::Success(_) => None,
    });
    Trust::from_reasons(plan.doubts.iter().copied().chain(doubts))
}
