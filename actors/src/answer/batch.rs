//! The last step of a run with lanes: what they found becomes one answer (SPEC 7.3.1).
//!
//! The rules are those of several reviewers, with lanes in their place. What must stay true: the
//! findings of lanes stay in lane order, and diffwarden's own come last and belong to no lane.

use super::conclude::{Conclusion, Ground, finish};
use super::merge::{Duplicates, INTEGRITY_ID, MergeSource, Opinion, merge_findings, summarise};
use crate::model::{Finding, MergedResult, ReviewLane, ReviewValidation, ReviewerId};

/// What one lane came to.
#[derive(Debug, Clone, Copy)]
pub struct LaneReview<'a> {
    /// The lane.
    pub lane: &'a ReviewLane,
    /// The answers of its reviewers, merged.
    pub result: &'a MergedResult,
    /// What the checks said about them.
    pub validation: &'a ReviewValidation,
}

/// Merges what the successful lanes came to, given in lane order, and diffwarden's own findings.
///
/// `order` lists the reviewers as they were asked for.
pub fn conclude_batch(
    lanes: &[LaneReview<'_>],
    integrity: &[Finding],
    order: Vec<ReviewerId>,
    ground: Ground<'_>,
) -> Conclusion {
    let reported = lanes.iter().flat_map(|lane| {
        lane.result.findings.iter().map(|reported| MergeSource {
            reviewer_ids: reported.reviewer_ids.clone(),
            lane: Some(lane.lane.id.clone()),
            finding: reported.finding.clone(),
        })
    });
    let own = integrity.iter().map(|finding| MergeSource {
        reviewer_ids: vec![ReviewerId(INTEGRITY_ID.to_owned())],
        lane: None,
        finding: finding.clone(),
    });
    let merged = merge_findings(reported.chain(own), Duplicates::Merge, ground.locator);
    let lane_ids: Vec<_> = merged.iter().map(|it| it.lane_ids.clone()).collect();
    let opinions: Vec<_> = lanes.iter().map(opinion).collect();
    let summary = summarise(&opinions, !merged.is_empty());
    let validations = lanes.iter().map(|lane| lane.validation);
    let mut conclusion = finish(merged, summary, validations, order, ground);
    for (finding, lane_ids) in conclusion.result.findings.iter_mut().zip(lane_ids) {
        finding.lane_ids = Some(lane_ids);
    }
    conclusion
}

fn opinion<'a>(lane: &LaneReview<'a>) -> Opinion<'a> {
    let id = &lane.lane.id;
    Opinion {
        label: match &lane.lane.focus {
            Some(focus) => format!("{id} ({focus})"),
            None => id.to_string(),
        },
        correctness: &lane.result.overall_correctness,
        explanation: &lane.result.overall_explanation,
        confidence: lane.result.overall_confidence_score,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::locate::{LocalDisk, Locator};
    use crate::answer::samples::{file_patch, finding};
    use crate::model::{LaneId, LaneKind, ParseMode, Patch, RepoPath, ReportedFinding, Score};
    use crate::plan::Scope;
    use crate::source::SourceReader;

    struct Nothing;

    impl SourceReader for Nothing {
        fn line(&self, _: &RepoPath, _: u32) -> Option<Vec<u8>> {
            None
        }
    }

    fn lanes() -> Vec<ReviewLane> {
        let focus = |number: usize, text: &str| ReviewLane {
            id: LaneId(format!("focus-{number}")),
            kind: LaneKind::Focus,
            focus: Some(text.to_owned()),
        };
        vec![
            ReviewLane::overview(),
            focus(1, "errors"),
            focus(2, "state"),
        ]
    }

    fn found(reviewers: &[&str], finding: Finding) -> ReportedFinding {
        ReportedFinding {
            id: "of the lane".to_owned(),
            finding,
            reviewer_ids: reviewers
                .iter()
                .map(|id| ReviewerId((*id).to_owned()))
                .collect(),
            lane_ids: None,
        }
    }

    fn result(verdict: &str, score: f64, findings: Vec<ReportedFinding>) -> MergedResult {
        MergedResult {
            findings,
            overall_correctness: verdict.to_owned(),
            overall_explanation: format!(" says {score} "),
            overall_confidence_score: Score(score),
        }
    }

    fn validation(parse_mode: ParseMode) -> ReviewValidation {
        ReviewValidation {
            parse_mode,
            valid_schema: true,
            findings_overlap_diff: true,
            valid_locations: true,
            invalid_locations: vec![],
            missing_title_prefix: vec![],
            title_priority_differs: vec![],
        }
    }

    fn run(results: &[MergedResult], integrity: &[Finding]) -> Conclusion {
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
        let ground = Ground {
            locator: &locator,
            patch: &patch,
            source: &Nothing,
        };
        let (lanes, checked) = (lanes(), validation(ParseMode::StrictJson));
        let reviews: Vec<_> = lanes
            .iter()
            .zip(results)
            .map(|(lane, result)| LaneReview {
                lane,
                result,
                validation: &checked,
            })
            .collect();
        let order = ["alpha", "beta"].map(|name| ReviewerId(name.to_owned()));
        conclude_batch(&reviews, integrity, order.into(), ground)
    }

    fn names(finding: &ReportedFinding) -> (String, String) {
        let reviewers: Vec<_> = finding
            .reviewer_ids
            .iter()
            .map(ToString::to_string)
            .collect();
        let lanes: Vec<_> = finding
            .lane_ids
            .iter()
            .flatten()
            .map(ToString::to_string)
            .collect();
        (reviewers.join(","), lanes.join(","))
    }

    #[test]
    fn the_same_finding_of_several_lanes_is_one_with_all_names() {
        let same = || finding("[P1] zero", "a", 5, 5);
        let other = finding("[P2] only here", "b", 1, 1);
        let results = [
            result("patch is incorrect", 1.0, vec![found(&["beta"], same())]),
            result(
                "patch is incorrect",
                0.5,
                vec![found(&["alpha", "beta"], same()), found(&["alpha"], other)],
            ),
            result("patch is correct", 0.0, vec![]),
        ];
        let conclusion = run(&results, &[finding("[P0] key", "a", 5, 5)]);
        let named: Vec<_> = conclusion.result.findings.iter().map(names).collect();
        let expected = [
            ("beta,alpha", "overview,focus-1"),
            ("alpha", "focus-1"),
            ("integrity", ""),
        ];
        assert_eq!(named, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
        let bad: Vec<_> = conclusion
            .validation
            .invalid_locations
            .iter()
            .map(|bad| bad.index)
            .collect();
        assert_eq!(bad, [1]);
        assert_eq!(conclusion.validation.parse_mode, ParseMode::StrictJson);
        assert_eq!(conclusion.result.overall_correctness, "patch is incorrect");
        assert_eq!(conclusion.result.overall_confidence_score, Score(0.5));
        assert_eq!(
            conclusion.result.overall_explanation,
            "overview: says 1\n\nfocus-1 (errors): says 0.5\n\nfocus-2 (state): says 0"
        );
    }

    #[test]
    fn findings_of_two_lanes_and_two_reviewers_lie_in_one_cluster() {
        let results = [
            result(
                "patch is incorrect",
                1.0,
                vec![found(&["alpha"], finding("[P1] x", "a", 5, 5))],
            ),
            result(
                "patch is incorrect",
                1.0,
                vec![found(&["beta"], finding("[P1] y", "a", 6, 6))],
            ),
        ];
        let conclusion = run(&results, &[]);
        let members: Vec<_> = conclusion
            .result
            .findings
            .iter()
            .map(|finding| finding.id.clone())
            .collect();
        assert_eq!(conclusion.clusters.len(), 1);
        assert_eq!(conclusion.clusters[0].members, members);
        assert!(!members.contains(&"of the lane".to_owned()));
    }

    #[test]
    fn lanes_that_agree_that_all_is_well_say_so() {
        let good = || result("patch is correct", 1.0, vec![]);
        let verdict = |results: &[MergedResult], own: &[Finding]| {
            run(results, own).result.overall_correctness
        };
        assert_eq!(verdict(&[good(), good()], &[]), "patch is correct");
        let unsure = result("unknown", 1.0, vec![]);
        assert_eq!(verdict(&[good(), unsure], &[]), "unknown");
        assert_eq!(verdict(&[], &[]), "unknown");
        let own = [finding("[P0] key", "a", 5, 5)];
        assert_eq!(verdict(&[good()], &own), "patch is incorrect");
    }
}
