//! What the texts for people and for agents show of an artifact: chosen, ordered, counted and safe
//! to print. The two sinks only lay it out.

use std::cmp::Reverse;
use std::collections::HashMap;

use diffwarden_actors::model::{
    Anchor, Coverage, EngineName, FailedReviewer, Finding, MergedResult, Priority, ReportedFinding,
    ReviewArtifact, ReviewTarget, ReviewValidation, ReviewerEntry, ReviewerError, ReviewerId,
    RunArtifact, Score, Sent, Trust, TrustReason, Verdict,
};
use serde::Serialize;

use super::error_text::advice;
use super::foreign::Foreign;
use super::lanes::{LaneEnding, LaneView, asked_in};

/// What is said wherever the `fake` engine took part.
pub(super) const FIXTURE_NOTE: &str =
    "`fake` is a fixture for trying diffwarden out; it does not review anything";

/// The name under which diffwarden's own findings have an entry among the reviewers.
const INTEGRITY: &str = "integrity";

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

/// A finding.
pub(super) struct FindingView {
    pub(super) priority: Option<Priority>,
    pub(super) title: String,
    /// Path, first and last line, and what it is about when it is not about lines.
    pub(super) location: String,
    pub(super) confidence: String,
    pub(super) reviewers: String,
    pub(super) lanes: Option<String>,
    pub(super) body: Vec<String>,
    /// Why the location does not hold.
    pub(super) doubt: Option<String>,
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
            warnings: lines_of(whole.warnings, foreign),
            failures: Vec::new(),
            coverage: coverage_lines(whole.coverage, foreign),
            findings: finding_views(result, whole.validation, foreign),
            no_findings: no_findings(whole),
            explanation: foreign.lines(&result.overall_explanation),
            lanes: None,
        }
    }
}

impl<'a> Whole<'a> {
    fn of(artifact: &'a RunArtifact) -> Self {
        match artifact {
            RunArtifact::Review(review) => Self {
                target: &review.target,
                result: &review.result,
                validation: &review.validation,
                warnings: &review.warnings,
                trust: &review.trust,
                coverage: &review.coverage,
            },
            RunArtifact::Batch(batch) => Self {
                target: &batch.target,
                result: &batch.result,
                validation: &batch.validation,
                warnings: &batch.warnings,
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

impl FindingView {
    fn of(finding: &Finding, doubt: Option<&str>, foreign: Foreign<'_>) -> Self {
        Self {
            priority: finding.priority,
            title: foreign.line(&finding.title),
            location: location(finding, foreign),
            confidence: confidence(finding.confidence_score),
            reviewers: String::new(),
            lanes: None,
            body: foreign.lines(&finding.body),
            doubt: doubt.map(|reason| foreign.line(reason)),
        }
    }

    /// Returns `P0` to `P3`, or `P?` when the reviewer did not say.
    pub(super) fn label(&self) -> String {
        self.priority
            .map_or_else(|| "P?".to_owned(), |priority| format!("P{}", priority.0))
    }
}

/// Returns the findings that diffwarden itself made in a run that has no artifact.
pub(super) fn integrity_views(findings: &[Finding], foreign: Foreign<'_>) -> Vec<FindingView> {
    let mut findings: Vec<_> = findings.iter().collect();
    findings.sort_by_cached_key(|finding| order(finding));
    findings
        .into_iter()
        .map(|finding| FindingView {
            reviewers: INTEGRITY.to_owned(),
            ..FindingView::of(finding, None, foreign)
        })
        .collect()
}

/// Returns the names of the reviewers that were asked, in the order asked for.
pub(super) fn asked(artifact: &ReviewArtifact) -> impl Iterator<Item = &ReviewerId> {
    artifact
        .reviewers
        .iter()
        .map(|entry| &entry.identity().id)
        .filter(|id| id.0 != INTEGRITY)
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

/// Returns the findings in the order of texts, each with what speaks against its location.
pub(super) fn finding_views(
    result: &MergedResult,
    validation: &ReviewValidation,
    foreign: Foreign<'_>,
) -> Vec<FindingView> {
    let invalid = validation.invalid_locations.iter();
    let doubts: HashMap<_, _> = invalid
        .map(|invalid| (invalid.index, invalid.reason.as_str()))
        .collect();
    let mut findings: Vec<_> = result.findings.iter().enumerate().collect();
    findings.sort_by_cached_key(|(_, reported)| order(&reported.finding));
    findings
        .into_iter()
        .map(|(index, reported)| reported_view(reported, doubts.get(&index).copied(), foreign))
        .collect()
}

fn reported_view(
    reported: &ReportedFinding,
    doubt: Option<&str>,
    foreign: Foreign<'_>,
) -> FindingView {
    let lanes = reported.lane_ids.iter().flatten();
    let lanes = names(lanes.map(|lane| foreign.line(&lane.0)), "");
    FindingView {
        reviewers: names(
            reported.reviewer_ids.iter().map(|id| foreign.line(&id.0)),
            "none",
        ),
        lanes: (!lanes.is_empty()).then_some(lanes),
        ..FindingView::of(&reported.finding, doubt, foreign)
    }
}

type Order = (u8, Folded, u32, u32, Folded);
type Folded = (String, Reverse<String>);

/// The order of findings in text: priority (none last), path, first line, last line, title.
fn order(finding: &Finding) -> Order {
    let range = finding.code_location.line_range;
    (
        finding.priority.map_or(u8::MAX, |priority| priority.0),
        folded(&finding.code_location.absolute_file_path),
        range.start,
        range.end,
        folded(&finding.title),
    )
}

/// Text compares without case first; between equals lower case comes first.
fn folded(text: &str) -> Folded {
    (text.to_lowercase(), Reverse(text.to_owned()))
}

fn location(finding: &Finding, foreign: Foreign<'_>) -> String {
    let path = foreign.name(&finding.code_location.absolute_file_path);
    let range = finding.code_location.line_range;
    let subject = match finding.anchor {
        None => "",
        Some(Anchor::Path) => " (the file's name)",
        Some(Anchor::CommitMessage) => " (the commit message)",
        Some(Anchor::Branch) => " (the branch's name)",
    };
    format!("{path}:{}-{}{subject}", range.start, range.end)
}

/// Returns the number of findings, and of each priority when there are any.
pub(super) fn counts(findings: &[ReportedFinding]) -> String {
    count_text(findings.iter().map(|one| one.finding.priority))
}

fn count_text(priorities: impl Iterator<Item = Option<Priority>>) -> String {
    let mut classes = [0_usize; 5];
    for priority in priorities {
        let class = priority.map_or(4, |priority| usize::from(priority.0.min(3)));
        classes[class] += 1;
    }
    let labels = ["P0", "P1", "P2", "P3", "Unspecified"];
    let present = labels.iter().zip(classes).filter(|(_, count)| *count > 0);
    let present = names(present.map(|(label, count)| format!("{label} {count}")), "");
    let total: usize = classes.iter().sum();
    match total {
        0 => "0".to_owned(),
        _ => format!("{total} ({present})"),
    }
}

/// Returns a score with two decimals; what lies exactly between two goes up, as in JavaScript's
/// `toFixed`.
fn confidence(score: Score) -> String {
    let hundredths = score.0 * 100.0;
    // Only multiples of an eighth can be exact ties in binary; other products are rounded already
    // and merely look like one.
    let is_tie = (score.0 * 8.0).fract() == 0.0 && hundredths.fract() == 0.5;
    let score = if is_tie {
        hundredths.ceil() / 100.0
    } else {
        score.0
    };
    format!("{score:.2}")
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

fn lines_of(texts: &[String], foreign: Foreign<'_>) -> Vec<String> {
    texts.iter().map(|text| foreign.line(text)).collect()
}

/// Joins names by commas; `none` when there are none.
fn names(names: impl Iterator<Item = String>, none: &str) -> String {
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
    fn ties_round_up() {
        let shown = |score| confidence(Score(score));
        assert_eq!(shown(0.125), "0.13");
        assert_eq!(shown(0.375), "0.38");
        assert_eq!(shown(0.625), "0.63");
        assert_eq!(shown(0.875), "0.88");
    }

    #[test]
    fn what_only_looks_like_a_tie_rounds_to_the_nearest() {
        let shown = |score| confidence(Score(score));
        // 1.005 and 0.145 lie below the tie in binary, 0.455 above it.
        assert_eq!(shown(1.005), "1.00");
        assert_eq!(shown(0.145), "0.14");
        assert_eq!(shown(0.455), "0.46");
        assert_eq!(shown(0.0), "0.00");
        assert_eq!(shown(1.0), "1.00");
        assert_eq!(shown(0.84), "0.84");
        assert_eq!(shown(2.0 / 3.0), "0.67");
    }

    #[test]
    fn counts_leave_out_what_is_not_there() {
        let priorities = [Some(1), Some(0), None, Some(1)].map(|one| one.map(Priority));
        assert_eq!(
            count_text(priorities.into_iter()),
            "4 (P0 1, P1 2, Unspecified 1)"
        );
        assert_eq!(count_text(std::iter::empty()), "0");
    }

    #[test]
    fn lower_case_comes_first_between_equals() {
        let mut paths = ["b.js", "B.js", "a.js", "_x.js"];
        paths.sort_by_cached_key(|path| folded(path));
        assert_eq!(paths, ["_x.js", "a.js", "b.js", "B.js"]);
    }

    #[test]
    fn values_are_spelled_as_in_the_contract() {
        assert_eq!(spelling(&TrustReason::FallbackText), "fallback_text");
        assert_eq!(
            spelling(&diffwarden_actors::model::Reason::MaxTime),
            "max_time"
        );
    }
}
