//! What the texts show of findings: ordered, counted and safe to print.

use std::cmp::Reverse;
use std::collections::HashMap;

use diffwarden_actors::answer::INTEGRITY_ID;
use diffwarden_actors::model::{
    Anchor, Finding, MergedResult, Priority, ReportedFinding, ReviewValidation, Score,
};

use super::foreign::Foreign;
use super::summary::names;

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
            reviewers: INTEGRITY_ID.to_owned(),
            ..FindingView::of(finding, None, foreign)
        })
        .collect()
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
pub(super) fn confidence(score: Score) -> String {
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
}
