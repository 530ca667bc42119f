//! The least of [`crate::answer`] that a run cannot do without, under the same names and
//! signatures, so that the actors can be built and tested by themselves.
//!
//! Whoever brings the two together deletes this file and names `answer` where `judgement` is named.

use std::marker::PhantomData;

use crate::engine::Payload;
use crate::model::{
    Cluster, Coverage, CoverageFile, Failure, Finding, MergedResult, ParseMode, Patch,
    ReportedFinding, ReviewResult, ReviewValidation, ReviewerEntry, ReviewerId, Score, Trust,
    TrustReason, Verdict,
};
use crate::plan::Scope;
use crate::source::SourceReader;

pub(crate) const INTEGRITY_ID: &str = "integrity";

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parsed {
    pub(crate) result: ReviewResult,
    pub(crate) parse_mode: ParseMode,
    pub(crate) valid_schema: bool,
    pub(crate) raw_text: Option<String>,
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the real function refuses empty answers"
)]
pub(crate) fn parse_payload(payload: Payload) -> Result<Parsed, Failure> {
    let text = match payload {
        Payload::Review(result) => {
            return Ok(Parsed {
                result,
                parse_mode: ParseMode::ToolOutput,
                valid_schema: true,
                raw_text: None,
            });
        }
        Payload::Structured(value) => value.to_string(),
        Payload::Text(text) => text,
    };
    let read = serde_json::from_str(&text).ok();
    let (parse_mode, valid_schema) = match read {
        Some(_) => (ParseMode::StrictJson, true),
        None => (ParseMode::FallbackText, false),
    };
    let prose = || ReviewResult {
        findings: Vec::new(),
        overall_correctness: Verdict::Unknown.as_str().to_owned(),
        overall_explanation: text.clone(),
        overall_confidence_score: Score(0.0),
    };
    Ok(Parsed {
        result: read.unwrap_or_else(prose),
        parse_mode,
        valid_schema,
        raw_text: Some(text),
    })
}

pub(crate) struct LocalDisk;

pub(crate) struct Locator<'a>(PhantomData<&'a Scope>);

impl<'a> Locator<'a> {
    pub(crate) fn new(_: &'a Scope, _: &'a LocalDisk) -> Self {
        Self(PhantomData)
    }
}

pub(crate) fn validate(
    _: &ReviewResult,
    parse_mode: ParseMode,
    valid_schema: bool,
    _: &Locator<'_>,
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

#[expect(dead_code, reason = "the real function reads all of it")]
pub(crate) struct Ground<'a> {
    pub(crate) locator: &'a Locator<'a>,
    pub(crate) patch: &'a Patch,
    pub(crate) source: &'a dyn SourceReader,
}

pub(crate) struct Review<'a> {
    pub(crate) id: &'a ReviewerId,
    pub(crate) result: &'a ReviewResult,
    pub(crate) validation: &'a ReviewValidation,
}

pub(crate) struct Conclusion {
    pub(crate) result: MergedResult,
    pub(crate) validation: ReviewValidation,
    pub(crate) clusters: Vec<Cluster>,
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the real function takes it by value"
)]
pub(crate) fn conclude(
    reviews: &[Review<'_>],
    _selected: usize,
    integrity: &[Finding],
    ground: Ground<'_>,
) -> Conclusion {
    let own = ReviewerId(INTEGRITY_ID.to_owned());
    let answered = reviews
        .iter()
        .flat_map(|review| review.result.findings.iter().map(|f| (review.id, f)));
    let findings: Vec<_> = answered
        .chain(integrity.iter().map(|finding| (&own, finding)))
        .enumerate()
        .map(|(index, (id, finding))| ReportedFinding {
            id: index.to_string(),
            finding: finding.clone(),
            reviewer_ids: vec![id.clone()],
            lane_ids: None,
        })
        .collect();
    let verdict = match (findings.is_empty(), reviews.is_empty()) {
        (false, _) => Verdict::Incorrect,
        (true, true) => Verdict::Unknown,
        (true, false) => Verdict::Correct,
    };
    let result = MergedResult {
        findings,
        overall_correctness: verdict.as_str().to_owned(),
        overall_explanation: String::new(),
        overall_confidence_score: Score(0.0),
    };
    let validation = match reviews {
        [only] => only.validation.clone(),
        _ => {
            let nothing = ReviewResult {
                findings: Vec::new(),
                overall_correctness: String::new(),
                overall_explanation: String::new(),
                overall_confidence_score: Score(0.0),
            };
            validate(&nothing, ParseMode::ToolOutput, true, ground.locator)
        }
    };
    Conclusion {
        result,
        validation,
        clusters: Vec::new(),
    }
}

pub(crate) fn assess(
    entries: &[ReviewerEntry],
    _: &Coverage,
    doubts: impl IntoIterator<Item = TrustReason>,
) -> Trust {
    let failed = entries.iter().filter_map(|entry| match entry {
        ReviewerEntry::Failed(_) => Some(TrustReason::ReviewerFailed),
        ReviewerEntry::Success(_) => None,
    });
    Trust::from_reasons(failed.chain(doubts))
}

pub(crate) fn worst_coverage<'a>(
    best: &Coverage,
    _: impl IntoIterator<Item = &'a [CoverageFile]>,
) -> Coverage {
    best.clone()
}

pub(crate) fn shortfall(_: &Coverage, _: &Coverage) -> Option<Vec<CoverageFile>> {
    None
}
