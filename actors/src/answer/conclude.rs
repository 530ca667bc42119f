//! The last step of a lane, or of a run without: merged findings with names, checks and clusters.

use std::collections::HashSet;

use super::cluster::find_clusters;
use super::fingerprint::name_findings;
use super::locate::Locator;
use super::merge::{
    INTEGRITY_ID, MergedFinding, Review, Summary, merge_reviews, summarise_reviews,
};
use super::patch_lines::PatchLines;
use super::validate::{common_reading, validate_located};
use crate::model::{
    Cluster, Finding, MergedResult, Patch, RepoPath, ReportedFinding, ReviewValidation, ReviewerId,
};
use crate::source::SourceReader;

/// The facts about the change that findings are held against.
#[derive(Clone, Copy)]
pub struct Ground<'a> {
    /// Maps and checks locations.
    pub locator: &'a Locator<'a>,
    /// The change itself.
    pub patch: &'a Patch,
    /// The reviewed revision's text.
    pub source: &'a dyn SourceReader,
}

/// What the answers of a run come to.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// The merged answer.
    pub result: MergedResult,
    /// What the checks say about it.
    pub validation: ReviewValidation,
    /// Findings of several reviewers about the same place.
    pub clusters: Vec<Cluster>,
}

/// Merges the answers of a run, given in reviewer order, and diffwarden's own findings.
///
/// `selected` is how many reviewers were asked, whether or not they answered.
pub fn conclude(
    reviews: &[Review<'_>],
    selected: usize,
    integrity: &[Finding],
    ground: Ground<'_>,
) -> Conclusion {
    let merged = merge_reviews(reviews, selected, integrity, ground.locator);
    let summary = summarise_reviews(reviews, selected, integrity);
    let order = reviews.iter().map(|review| review.id.clone()).collect();
    let validations = reviews.iter().map(|review| review.validation);
    finish(merged, summary, validations, order, ground)
}

/// Names, checks and clusters merged findings. `order` lists the reviewers as they were asked for.
pub(super) fn finish<'a>(
    merged: Vec<MergedFinding>,
    summary: Summary,
    validations: impl IntoIterator<Item = &'a ReviewValidation>,
    mut order: Vec<ReviewerId>,
    ground: Ground<'_>,
) -> Conclusion {
    let (parse_mode, valid_schema) = common_reading(validations);
    let validation = validate_located(
        merged.iter().map(|m| (&m.finding, &m.located)),
        parse_mode,
        valid_schema,
        ground.locator.is_diff_backed(),
    );
    order.push(ReviewerId(INTEGRITY_ID.to_owned()));
    let wanted: HashSet<&RepoPath> = merged
        .iter()
        .filter_map(|m| m.located.path.as_ref())
        .collect();
    let lines = PatchLines::new(ground.patch, &wanted);
    let ids = name_findings(&merged, &lines, ground.source);
    let clusters = find_clusters(&merged, &ids, &lines, &order);
    Conclusion {
        result: MergedResult {
            findings: report(merged, ids),
            overall_correctness: summary.overall_correctness,
            overall_explanation: summary.overall_explanation,
            overall_confidence_score: summary.overall_confidence_score,
        },
        validation,
        clusters,
    }
}

fn report(merged: Vec<MergedFinding>, ids: Vec<String>) -> Vec<ReportedFinding> {
    let named = ids.into_iter().zip(merged);
    named
        .map(|(id, merged)| ReportedFinding {
            id,
            finding: merged.finding,
            reviewer_ids: merged.reviewer_ids,
            lane_ids: None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::locate::LocalDisk;
    use crate::answer::samples::{file_patch, finding, result};
    use crate::answer::validate::validate;
    use crate::model::{ParseMode, ReviewResult};
    use crate::plan::Scope;

    struct Nothing;

    impl SourceReader for Nothing {
        fn line(&self, _: &RepoPath, _: u32) -> Option<Vec<u8>> {
            None
        }
    }

    fn run(results: &[ReviewResult], selected: usize, integrity: &[Finding]) -> Conclusion {
        let patch = Patch {
            files: vec![file_patch("a", 4, 4, &[" four", "+five", " six"])],
        };
        let scope = Scope {
            repo_root: "/no/such/repo".into(),
            real_root: "/no/such/repo".into(),
            changed: Some(vec![RepoPath::from("a")]),
            added: patch.changed_ranges(),
        };
        let locator = Locator::new(&scope, &LocalDisk);
        let ids = ["alpha", "beta"].map(|name| ReviewerId(name.to_owned()));
        let check = |r| validate(r, ParseMode::StrictJson, true, &locator);
        let validations: Vec<_> = results.iter().map(check).collect();
        let reviews: Vec<Review<'_>> = (0..results.len())
            .map(|at| Review {
                id: &ids[at],
                result: &results[at],
                validation: &validations[at],
            })
            .collect();
        let ground = Ground {
            locator: &locator,
            patch: &patch,
            source: &Nothing,
        };
        conclude(&reviews, selected, integrity, ground)
    }

    #[test]
    fn checks_refer_to_the_merged_list() {
        let alpha = result(
            "patch is incorrect",
            "x",
            0.5,
            vec![finding("[P1] a", "a", 5, 5), finding("[P1] b", "b", 1, 1)],
        );
        let beta = result(
            "patch is incorrect",
            "y",
            0.5,
            vec![finding("[P1] A", "a", 5, 5), finding("c", "a", 9, 9)],
        );
        let conclusion = run(&[alpha, beta], 2, &[finding("[P0] key", "a", 6, 6)]);
        let titles: Vec<_> = conclusion
            .result
            .findings
            .iter()
            .map(|f| f.finding.title.as_str())
            .collect();
        assert_eq!(titles, ["[P1] a", "[P1] b", "c", "[P0] key"]);
        let bad: Vec<_> = conclusion
            .validation
            .invalid_locations
            .iter()
            .map(|bad| bad.index)
            .collect();
        assert_eq!(bad, [1, 2, 3]);
        assert_eq!(conclusion.validation.missing_title_prefix, [2]);
        assert_eq!(conclusion.validation.parse_mode, ParseMode::StrictJson);
        let cluster = &conclusion.clusters[0];
        let ids: Vec<_> = [0, 2, 3]
            .map(|at: usize| conclusion.result.findings[at].id.clone())
            .into();
        assert_eq!(cluster.members, ids);
        assert_eq!(cluster.reported_by.len(), 3);
    }

    #[test]
    fn one_reviewer_keeps_its_own_validation() {
        let twice = vec![finding("t", "b", 1, 1), finding("t", "b", 1, 1)];
        let alone = result("patch is incorrect", "x", 0.5, twice);
        let conclusion = run(std::slice::from_ref(&alone), 1, &[]);
        assert_eq!(conclusion.result.findings.len(), 2);
        assert_eq!(conclusion.validation.invalid_locations.len(), 2);
        assert_ne!(
            conclusion.result.findings[0].id,
            conclusion.result.findings[1].id
        );
        assert_eq!(conclusion.clusters, []);
    }

    #[test]
    fn a_run_without_reviewers_has_no_verdict() {
        let conclusion = run(&[], 0, &[]);
        assert_eq!(
            serde_json::to_value(&conclusion.result).unwrap(),
            serde_json::json!({
                "findings": [],
                "overall_correctness": "unknown",
                "overall_explanation": "",
                "overall_confidence_score": 0
            })
        );
        assert!(conclusion.validation.valid_locations);
    }
}
