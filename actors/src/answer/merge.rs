//! Several answers become one (SPEC 10).
//!
//! Findings are merged when file, line range, priority and normalised title are the same, and for
//! no other reason: what two reviewers word differently stays two findings. The first occurrence
//! keeps its words and its confidence. Nothing is dropped, and the order is that of the sources.

use std::collections::HashMap;

use super::locate::{Located, Locator};
use crate::model::{
    Anchor, Finding, LaneId, LineRange, Priority, ReviewResult, ReviewValidation, ReviewerId,
    Score, Verdict,
};

/// The id under which diffwarden reports what it found itself.
pub const INTEGRITY_ID: &str = "integrity";

/// One reviewer's answer.
#[derive(Debug, Clone, Copy)]
pub struct Review<'a> {
    /// Who answered.
    pub id: &'a ReviewerId,
    /// What.
    pub result: &'a ReviewResult,
    /// What the checks said about it.
    pub validation: &'a ReviewValidation,
}

/// A finding on its way into a merge.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeSource {
    /// Who reported it.
    pub reviewer_ids: Vec<ReviewerId>,
    /// The lane it comes from, in a batch.
    pub lane: Option<LaneId>,
    /// The finding.
    pub finding: Finding,
}

/// A finding of a merge.
#[derive(Debug, Clone, PartialEq)]
pub struct MergedFinding {
    /// The finding in the words of whoever reported it first.
    pub finding: Finding,
    /// Who reported it, in the order of the sources, each once.
    pub reviewer_ids: Vec<ReviewerId>,
    /// The lanes it comes from, in the order of the sources, each once.
    pub lane_ids: Vec<LaneId>,
    /// Where it points.
    pub located: Located,
}

/// What happens to findings that are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Duplicates {
    /// Each stays, as in the answer of a single reviewer.
    Keep,
    /// They become one.
    Merge,
}

/// Merges findings, in the order given.
pub fn merge_findings(
    sources: impl IntoIterator<Item = MergeSource>,
    duplicates: Duplicates,
    locator: &Locator<'_>,
) -> Vec<MergedFinding> {
    let mut merged: Vec<MergedFinding> = Vec::new();
    let mut seen: HashMap<Key, usize> = HashMap::new();
    for source in sources {
        let located = locator.locate(&source.finding);
        let next = merged.len();
        let index = match duplicates {
            Duplicates::Keep => next,
            Duplicates::Merge => *seen
                .entry(Key::of(&source.finding, &located))
                .or_insert(next),
        };
        if index == next {
            merged.push(MergedFinding {
                finding: source.finding,
                reviewer_ids: Vec::new(),
                lane_ids: Vec::new(),
                located,
            });
        }
        let target = &mut merged[index];
        add_missing(&mut target.reviewer_ids, source.reviewer_ids);
        add_missing(&mut target.lane_ids, source.lane);
    }
    merged
}

/// Merges the findings of a run: those of the reviewers in their order, then diffwarden's own.
///
/// `selected` is how many reviewers were asked. With one, its findings stay as they are.
pub fn merge_reviews(
    reviews: &[Review<'_>],
    selected: usize,
    integrity: &[Finding],
    locator: &Locator<'_>,
) -> Vec<MergedFinding> {
    let source = |id: &ReviewerId, finding: &Finding| MergeSource {
        reviewer_ids: vec![id.clone()],
        lane: None,
        finding: finding.clone(),
    };
    let own_id = ReviewerId(INTEGRITY_ID.to_owned());
    let reported = reviews.iter().flat_map(|review| {
        let findings = review.result.findings.iter();
        findings.map(move |finding| source(review.id, finding))
    });
    let own = integrity.iter().map(|finding| source(&own_id, finding));
    let duplicates = if selected == 1 {
        Duplicates::Keep
    } else {
        Duplicates::Merge
    };
    merge_findings(reported.chain(own), duplicates, locator)
}

/// One answer's share in a summary.
#[derive(Debug, Clone, PartialEq)]
pub struct Opinion<'a> {
    /// The name its explanation is put under: a reviewer's id or a lane's label.
    pub label: String,
    /// Its verdict.
    pub correctness: &'a str,
    /// Its explanation.
    pub explanation: &'a str,
    /// How sure it is.
    pub confidence: Score,
}

/// What several answers come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The verdict.
    pub overall_correctness: String,
    /// The explanation.
    pub overall_explanation: String,
    /// The confidence.
    pub overall_confidence_score: Score,
}

/// Sums up several answers: incorrect when anybody says so or anything was found, else unknown
/// when anybody gave no verdict, else correct; the confidence is the mean.
pub fn summarise(opinions: &[Opinion<'_>], has_findings: bool) -> Summary {
    let says = |verdict: Verdict| move |opinion: &Opinion| opinion.correctness == verdict.as_str();
    let verdict = if has_findings || opinions.iter().any(says(Verdict::Incorrect)) {
        Verdict::Incorrect
    } else if !opinions.is_empty() && opinions.iter().all(says(Verdict::Correct)) {
        Verdict::Correct
    } else {
        Verdict::Unknown
    };
    let explanations: Vec<String> = opinions
        .iter()
        .map(|opinion| format!("{}: {}", opinion.label, opinion.explanation.trim()))
        .collect();
    Summary {
        overall_correctness: verdict.as_str().to_owned(),
        overall_explanation: explanations.join("\n\n"),
        overall_confidence_score: mean(opinions),
    }
}

/// Sums up a run. With one reviewer its own words stand, but for the verdict when diffwarden
/// itself found something.
pub fn summarise_reviews(
    reviews: &[Review<'_>],
    selected: usize,
    integrity: &[Finding],
) -> Summary {
    if let ([review], 1) = (reviews, selected) {
        let result = review.result;
        let verdict = if integrity.is_empty() {
            &result.overall_correctness
        } else {
            Verdict::Incorrect.as_str()
        };
        return Summary {
            overall_correctness: verdict.to_owned(),
            overall_explanation: result.overall_explanation.clone(),
            overall_confidence_score: result.overall_confidence_score,
        };
    }
    let has_findings = reviews.iter().any(|r| !r.result.findings.is_empty());
    let opinions: Vec<Opinion<'_>> = reviews
        .iter()
        .map(|review| Opinion {
            label: review.id.to_string(),
            correctness: &review.result.overall_correctness,
            explanation: &review.result.overall_explanation,
            confidence: review.result.overall_confidence_score,
        })
        .collect();
    summarise(&opinions, has_findings || !integrity.is_empty())
}

/// What makes two findings the same. Findings without lines also differ by what they are about.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    path: String,
    line_range: LineRange,
    priority: Option<Priority>,
    title: String,
    anchor: Option<Anchor>,
}

impl Key {
    fn of(finding: &Finding, located: &Located) -> Self {
        Self {
            path: path_text(finding, located),
            line_range: finding.code_location.line_range,
            priority: finding.priority,
            title: normalise_title(&finding.title),
            anchor: finding.anchor,
        }
    }
}

/// Returns the path relative to the root, or as it was given when it does not lie there.
pub(super) fn path_text(finding: &Finding, located: &Located) -> String {
    match &located.path {
        Some(path) => path.to_string(),
        None => finding.code_location.absolute_file_path.clone(),
    }
}

/// Returns a title without differences of case and blanks.
pub(super) fn normalise_title(title: &str) -> String {
    let words: Vec<&str> = title.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

fn add_missing<T: PartialEq>(list: &mut Vec<T>, items: impl IntoIterator<Item = T>) {
    for item in items {
        if !list.contains(&item) {
            list.push(item);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "nobody asks 2^53 reviewers")]
fn mean(opinions: &[Opinion<'_>]) -> Score {
    if opinions.is_empty() {
        return Score(0.0);
    }
    let sum: f64 = opinions.iter().map(|opinion| opinion.confidence.0).sum();
    Score(sum / opinions.len() as f64)
}

#[cfg(test)]
mod tests;
