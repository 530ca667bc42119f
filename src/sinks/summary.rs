//! What the texts for people and for agents show of an artifact: chosen, ordered, counted and safe
//! to print. The two sinks only lay it out.

use diffwarden_actors::answer::INTEGRITY_ID;
use diffwarden_actors::model::{
    Coverage, Degraded, DegradedKind, DegradedTopic, EngineName, FailedReviewer, MergedResult,
    ReviewArtifact, ReviewTarget, ReviewValidation, ReviewerEntry, ReviewerError, ReviewerId,
    RunArtifact, Sent, Trust, TrustReason, Verdict,
};
use serde::Serialize;

use super::error_text::advice;
use super::findings::{FindingView, confidence, counts, finding_views};
use super::foreign::Foreign;
use super::lanes::{LaneEnding, LaneView, asked_in};

/// What is said wherever the `fake` engine took part.
pub(super) const FIXTURE_NOTE: &str =
    "`fake` is a fixture for trying diffwarden out; it does not review anything";

/// How many paths of one kind are named.
const NAMED_PATHS: usize = 5;

/// Everything that both texts show.
pub(super) struct Summary {
    pub(super) target: String,
    pub(super) verdict: String,
    pub(super) confidence: String,
    /// The number of findings and of each priority.
    pub(super) counts: String,
    /// The names of the reviewers, or `none`.
    pub(super) reviewers: String,
    /// How many reviewers, or lanes where there are some, gave an answer.
    pub(super) passed: usize,
    /// How many did not.
    pub(super) failed: usize,
    pub(super) is_clean: bool,
    /// `clean` or why not.
    pub(super) trust: String,
    /// Whether a reviewer was no reviewer at all.
    pub(super) is_fixture: bool,
    pub(super) warnings: Vec<String>,
    /// The reviewers that failed; in a run with lanes each lane has its own.
    pub(super) failures: Vec<FailedView>,
    /// What was not sent whole, one line per kind.
    pub(super) coverage: Vec<String>,
    pub(super) findings: Vec<FindingView>,
    /// What to say when there are no findings.
    pub(super) no_findings: &'static str,
    /// The lines of the explanation; none when it is blank.
    pub(super) explanation: Vec<String>,
    /// The lanes; `None` in a run without.
    pub(super) lanes: Option<Vec<LaneView>>,
}

/// What artifacts of runs with and without lanes have in common.
struct Whole<'a> {
    target: &'a ReviewTarget,
    result: &'a MergedResult,
    validation: &'a ReviewValidation,
    warnings: &'a [String],
    degraded: &'a [Degraded],
    trust: &'a Trust,
    coverage: &'a Coverage,
}

/// A reviewer that failed.
pub(super) struct FailedView {
    /// Its name and message.
    pub(super) message: String,
    /// The error's code and, where there is one, its reason.
    pub(super) kind: String,
    /// What may help, one line each.
    pub(super) advice: Vec<String>,
}

impl Summary {
    /// Reads a summary off an artifact.
    pub(super) fn of(artifact: &RunArtifact, foreign: Foreign<'_>) -> Self {
        let whole = Self::of_whole(&Whole::of(artifact), foreign);
        match artifact {
            RunArtifact::Review(review) => {
                let failures = failures(review, foreign);
                Self {
                    reviewers: reviewer_names(asked(review), foreign),
                    passed: asked(review).count().saturating_sub(failures.len()),
                    failed: failures.len(),
                    is_fixture: has_fixture(review),
                    failures,
                    ..whole
                }
            }
            RunArtifact::Batch(batch) => {
                let lanes = LaneView::all(batch, foreign);
                let failed = lanes
                    .iter()
                    .filter(|lane| matches!(lane.ending, LaneEnding::Failed(_)))
                    .count();
                let mut reviews = batch.lanes.iter().filter_map(|lane| lane.artifact.as_ref());
                Self {
                    reviewers: reviewer_names(asked_in(batch).into_iter(), foreign),
                    passed: lanes.len() - failed,
                    failed,
                    is_fixture: reviews.any(|review| has_fixture(review)),
                    lanes: Some(lanes),
                    ..whole
                }
            }
        }
    }

    fn of_whole(whole: &Whole<'_>, foreign: Foreign<'_>) -> Self {
        let result = whole.result;
        Self {
            target: foreign.line(&whole.target.label()),
            verdict: foreign.line(&result.overall_correctness),
            confidence: confidence(result.overall_confidence_score),
            counts: counts(&result.findings),
            reviewers: String::new(),
            passed: 0,
            failed: 0,
            is_clean: whole.trust.clean,
            trust: trust_text(whole.trust),
            is_fixture: false,
            warnings: warnings(whole, foreign),
            failures: Vec::new(),
            coverage: coverage_lines(whole.coverage, foreign),
            findings: finding_views(result, whole.validation, foreign),
            no_findings: no_findings(whole),
            explanation: foreign.lines(&result.overall_explanation),
            lanes: None,
        }
    }
}

/// Returns the warnings, and after them what the result fell short of beyond that. What was not sent
/// is told file by file elsewhere.
fn warnings(whole: &Whole<'_>, foreign: Foreign<'_>) -> Vec<String> {
    let is_new = |it: &&Degraded| {
        it.kind != DegradedKind::Info
            && !matches!(it.topic, DegradedTopic::Clipping | DegradedTopic::Masking)
            && !whole.warnings.contains(&it.message)
    };
    let new = whole.degraded.iter().filter(is_new).map(|it| &it.message);
    let texts = whole.warnings.iter().chain(new);
    texts.map(|text| foreign.line(text)).collect()
}

impl<'a> Whole<'a> {
    fn of(artifact: &'a RunArtifact) -> Self {
        match artifact {
            RunArtifact::Review(review) => Self {
                target: &review.target,
                result: &review.result,
                validation: &review.validation,
                warnings: &review.warnings,
                degraded: &review.degraded,
                trust: &review.trust,
                coverage: &review.coverage,
            },
            RunArtifact::Batch(batch) => Self {
                target: &batch.target,
                result: &batch.result,
                validation: &batch.validation,
                warnings: &batch.warnings,
                degraded: &batch.degraded,
                trust: &batch.trust,
                coverage: &batch.coverage,
            },
        }
    }
}

impl FailedView {
    fn of(failed: &FailedReviewer, foreign: Foreign<'_>) -> Self {
        let error = Self::of_error(&failed.error, foreign);
        Self {
            message: format!("{}: {}", foreign.line(&failed.identity.id.0), error.message),
            ..error
        }
    }

    /// Reads an error without saying whose it is.
    pub(super) fn of_error(error: &ReviewerError, foreign: Foreign<'_>) -> Self {
        let reason = error.reason.map(|reason| spelling(&reason));
        Self {
            message: foreign.line(&error.message),
            kind: names(
                std::iter::once(spelling(&error.code)).chain(reason),
                "unknown",
            ),
            advice: advice(error.hint.as_deref(), &error.recovery, foreign),
        }
    }

    /// Returns what to say of a failure that the artifact says nothing about.
    pub(super) fn unexplained() -> Self {
        Self {
            message: "no reason is given".to_owned(),
            kind: "unknown".to_owned(),
            advice: Vec::new(),
        }
    }
}

/// Returns the names of the reviewers that were asked, in the order asked for.
pub(super) fn asked(artifact: &ReviewArtifact) -> impl Iterator<Item = &ReviewerId> {
    artifact
        .reviewers
        .iter()
        .map(|entry| &entry.identity().id)
        .filter(|id| id.0 != INTEGRITY_ID)
}

/// Returns the names of reviewers, or `none`.
pub(super) fn reviewer_names<'a>(
    ids: impl Iterator<Item = &'a ReviewerId>,
    foreign: Foreign<'_>,
) -> String {
    names(ids.map(|id| foreign.line(&id.0)), "none")
}

/// Returns the reviewers that failed.
pub(super) fn failures(artifact: &ReviewArtifact, foreign: Foreign<'_>) -> Vec<FailedView> {
    let entries = artifact.reviewers.iter().filter_map(failure_of);
    entries
        .map(|failed| FailedView::of(failed, foreign))
        .collect()
}

/// Whether a reviewer of the run was no reviewer at all.
fn has_fixture(artifact: &ReviewArtifact) -> bool {
    let mut entries = artifact.reviewers.iter();
    entries.any(|entry| entry.identity().engine == EngineName::Fake)
}

fn failure_of(entry: &ReviewerEntry) -> Option<&FailedReviewer> {
    match entry {
        ReviewerEntry::Failed(failed) => Some(failed),
        ReviewerEntry::Success(_) => None,
    }
}

fn trust_text(trust: &Trust) -> String {
    if trust.clean {
        return "clean".to_owned();
    }
    if trust.is_unstated() {
        return "not stated".to_owned();
    }
    let reasons = names(trust.reasons.iter().map(spelling), "no reason given");
    format!("not clean ({reasons})")
}

/// A review that found nothing must not look like one that could not be read or had nothing to read.
fn no_findings(whole: &Whole<'_>) -> &'static str {
    let reasons = &whole.trust.reasons;
    let is_unknown = whole.result.overall_correctness == Verdict::Unknown.as_str();
    if reasons.contains(&TrustReason::EmptyDiff) {
        "Nothing to review: the target has no changes."
    } else if reasons.contains(&TrustReason::AllPruned) {
        "Nothing to review: every changed file is generated."
    } else if is_unknown && reasons.contains(&TrustReason::FallbackText) {
        "No findings could be read from the answers; see the explanation."
    } else {
        "No findings."
    }
}

fn coverage_lines(coverage: &Coverage, foreign: Foreign<'_>) -> Vec<String> {
    let kinds = [
        (Sent::Clipped, "clipped"),
        (Sent::Masked, "masked"),
        (Sent::Pruned, "pruned"),
    ];
    kinds
        .into_iter()
        .filter_map(|(sent, label)| {
            let mut paths = coverage.files.iter().filter(|file| file.sent == sent);
            let named = paths.by_ref().take(NAMED_PATHS);
            let named = names(named.map(|file| foreign.name(&file.path)), "");
            let more = paths.count();
            match (named.is_empty(), more) {
                (true, _) => None,
                (false, 0) => Some(format!("{label}: {named}")),
                (false, more) => Some(format!("{label}: {named} and {more} more")),
            }
        })
        .collect()
}

/// Joins names by commas; `none` when there are none.
pub(super) fn names(names: impl Iterator<Item = String>, none: &str) -> String {
    let names: Vec<_> = names.collect();
    if names.is_empty() {
        none.to_owned()
    } else {
        names.join(", ")
    }
}

/// Returns how the contract spells a value of one of its closed lists.
fn spelling(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        other => unreachable!("closed lists are spelled as strings, not {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_spelled_as_in_the_contract() {
        assert_eq!(spelling(&TrustReason::FallbackText), "fallback_text");
        assert_eq!(
            spelling(&diffwarden_actors::model::Reason::MaxTime),
            "max_time"
        );
    }
}
