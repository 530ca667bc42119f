use proptest::prelude::*;

use super::*;
use crate::answer::locate::LocalDisk;
use crate::answer::samples::{finding, result};
use crate::answer::validate::validate;
use crate::model::{ParseMode, RepoPath};
use crate::plan::Scope;

const TITLE: &str = "[P1] Division by zero is no longer rejected";

fn scope() -> Scope {
    Scope {
        repo_root: "/no/such/repo".into(),
        real_root: "/no/such/real".into(),
        changed: Some(vec![RepoPath::from("src/math.js"), RepoPath::from("b")]),
        ..Scope::default()
    }
}

fn ids(names: &[&str]) -> Vec<ReviewerId> {
    names
        .iter()
        .map(|name| ReviewerId((*name).to_owned()))
        .collect()
}

/// Merges the answers of `alpha`, `beta` and so on.
fn merge(results: &[ReviewResult], integrity: &[Finding]) -> (Vec<MergedFinding>, Summary) {
    let scope = scope();
    let locator = Locator::new(&scope, &LocalDisk);
    let names = ids(&["alpha", "beta", "gamma"]);
    let check = |result| validate(result, ParseMode::ToolOutput, true, &locator);
    let validations: Vec<ReviewValidation> = results.iter().map(check).collect();
    let reviews: Vec<Review<'_>> = names
        .iter()
        .zip(results)
        .zip(&validations)
        .map(|((id, result), validation)| Review {
            id,
            result,
            validation,
        })
        .collect();
    let findings = merge_reviews(&reviews, results.len(), integrity, &locator);
    let summary = summarise_reviews(&reviews, results.len(), integrity);
    (findings, summary)
}

fn at(title: &str, start: u32, end: u32) -> Finding {
    finding(title, "/no/such/repo/src/math.js", start, end)
}

fn incorrect(explanation: &str, confidence: f64, findings: Vec<Finding>) -> ReviewResult {
    result("patch is incorrect", explanation, confidence, findings)
}

#[test]
fn the_same_finding_is_merged_and_the_first_words_stay() {
    let mut second = at("[P1] Division by  zero is no longer REJECTED ", 6, 6);
    second.body = "Other words.".to_owned();
    second.confidence_score = Score(0.3);
    for path in [
        "/no/such/repo/src/math.js",
        "src/math.js",
        "/no/such/real/./src//math.js",
    ] {
        second.code_location.absolute_file_path = path.to_owned();
        let (findings, summary) = merge(
            &[
                incorrect("alpha", 0.9, vec![at(TITLE, 6, 6)]),
                incorrect("beta", 0.2, vec![second.clone()]),
            ],
            &[],
        );
        assert_eq!(findings.len(), 1, "{path}");
        assert_eq!(findings[0].finding, at(TITLE, 6, 6));
        assert_eq!(findings[0].reviewer_ids, ids(&["alpha", "beta"]));
        assert_eq!(summary.overall_explanation, "alpha: alpha\n\nbeta: beta");
        assert_eq!(summary.overall_confidence_score, Score(0.55));
    }
}

#[test]
fn what_differs_in_the_key_stays_apart() {
    let other_priority = Finding {
        priority: None,
        ..at(TITLE, 6, 6)
    };
    let other_path = finding(TITLE, "b", 6, 6);
    let outside = finding(TITLE, "/else/src/math.js", 6, 6);
    let others = [
        at(TITLE, 6, 7),
        at(TITLE, 5, 6),
        at("[P1] Other", 6, 6),
        other_priority,
        other_path,
        outside,
    ];
    for other in others {
        let (findings, _) = merge(
            &[
                incorrect("", 1.0, vec![at(TITLE, 6, 6)]),
                incorrect("", 1.0, vec![other.clone()]),
            ],
            &[],
        );
        assert_eq!(findings.len(), 2);
        assert_eq!(findings[0].reviewer_ids, ids(&["alpha"]));
        assert_eq!(findings[1].reviewer_ids, ids(&["beta"]));
        assert_eq!(findings[1].finding, other);
    }
}

#[test]
fn one_reviewer_keeps_its_duplicates_and_many_do_not() {
    let twice = vec![at(TITLE, 6, 6), at(TITLE, 6, 6)];
    let alone = incorrect(" own words ", 0.7, twice.clone());
    let (findings, summary) = merge(std::slice::from_ref(&alone), &[]);
    assert_eq!(findings.len(), 2);
    assert_eq!(summary.overall_explanation, " own words ");
    assert_eq!(summary.overall_confidence_score, Score(0.7));
    let clean = result("patch is correct", "beta", 0.2, Vec::new());
    let (findings, _) = merge(&[alone, clean], &[]);
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].reviewer_ids, ids(&["alpha"]));
}

#[test]
fn a_lone_survivor_of_several_is_labelled() {
    let scope = scope();
    let locator = Locator::new(&scope, &LocalDisk);
    let result = result("patch is correct", " fine ", 0.8, vec![at(TITLE, 6, 6)]);
    let validation = validate(&result, ParseMode::StrictJson, true, &locator);
    let id = ReviewerId("alpha".to_owned());
    let review = Review {
        id: &id,
        result: &result,
        validation: &validation,
    };
    let several = summarise_reviews(&[review], 2, &[]);
    assert_eq!(several.overall_explanation, "alpha: fine");
    assert_eq!(several.overall_correctness, "patch is incorrect");
    let alone = summarise_reviews(&[review], 1, &[]);
    assert_eq!(alone.overall_explanation, " fine ");
    assert_eq!(alone.overall_correctness, "patch is correct");
}

#[test]
fn the_verdict_follows_findings_then_doubt() {
    let clean = |confidence| result("patch is correct", "x", confidence, Vec::new());
    let with = |verdict: &str| result(verdict, "x", 0.5, Vec::new());
    let found = result("patch is correct", "a", 1.0, vec![at(TITLE, 6, 6)]);
    let cases: [(Vec<ReviewResult>, &str, f64); 6] = [
        (vec![], "unknown", 0.0),
        (vec![clean(0.8), clean(0.4)], "patch is correct", 0.6),
        (vec![found, clean(0.5)], "patch is incorrect", 0.75),
        (vec![clean(0.8), with("unknown")], "unknown", 0.65),
        (vec![clean(0.8), with("looks fine")], "unknown", 0.65),
        (
            vec![with("unknown"), with("patch is incorrect")],
            "patch is incorrect",
            0.5,
        ),
    ];
    for (results, verdict, confidence) in cases {
        let (_, summary) = merge(&results, &[]);
        assert_eq!(summary.overall_correctness, verdict, "{results:?}");
        let difference = summary.overall_confidence_score.0 - confidence;
        assert!(difference.abs() < 1e-12, "{results:?}");
    }
}

#[test]
fn own_findings_come_last_and_count_for_the_verdict_alone() {
    let clean = result("patch is correct", "x", 0.8, Vec::new());
    let found = incorrect("y", 0.4, vec![at("[P1] a", 1, 1)]);
    let own = [at("[P0] A key was added", 3, 3), at("[P1] a", 1, 1)];
    let (findings, summary) = merge(&[clean.clone(), found], &own);
    let names: Vec<_> = findings.iter().map(|f| f.reviewer_ids.clone()).collect();
    assert_eq!(names, [ids(&["beta", "integrity"]), ids(&["integrity"])]);
    assert!((summary.overall_confidence_score.0 - 0.6).abs() < 1e-12);
    assert_eq!(summary.overall_explanation, "alpha: x\n\nbeta: y");

    let (findings, summary) = merge(&[clean], &own);
    assert_eq!(findings.len(), 2);
    assert_eq!(summary.overall_correctness, "patch is incorrect");
    assert_eq!(summary.overall_confidence_score, Score(0.8));
    assert_eq!(summary.overall_explanation, "x");

    let (findings, summary) = merge(&[], &own);
    assert_eq!(findings.len(), 2);
    assert_eq!(summary.overall_correctness, "patch is incorrect");
    assert_eq!(summary.overall_confidence_score, Score(0.0));
}

#[test]
fn findings_without_lines_differ_by_what_they_are_about() {
    let about = |anchor| Finding {
        anchor: Some(anchor),
        ..finding("[P1] Hidden text", "", 1, 1)
    };
    let own = [about(Anchor::Branch), about(Anchor::CommitMessage)];
    assert_eq!(merge(&[], &own).0.len(), 2);
}

#[test]
fn lanes_are_collected_beside_reviewers() {
    let scope = scope();
    let locator = Locator::new(&scope, &LocalDisk);
    let lane = |name: &str| LaneId(name.to_owned());
    let source = |reviewers: &[&str], name: &str| MergeSource {
        reviewer_ids: ids(reviewers),
        lane: Some(lane(name)),
        finding: at(TITLE, 6, 6),
    };
    let sources = [
        source(&["beta"], "overview"),
        source(&["alpha", "beta"], "focus-1"),
        source(&["alpha"], "focus-1"),
    ];
    let merged = merge_findings(sources, Duplicates::Merge, &locator);
    assert_eq!(merged.len(), 1);
    assert_eq!(merged[0].reviewer_ids, ids(&["beta", "alpha"]));
    assert_eq!(merged[0].lane_ids, [lane("overview"), lane("focus-1")]);
}

fn findings() -> impl Strategy<Value = Vec<Finding>> {
    let one = (0_usize..3, 0_usize..3, 1_u32..4).prop_map(|(title, path, start)| {
        let title = ["[P1] a", "[P1]  A", "[P2] b"][title];
        let path = ["src/math.js", "/no/such/repo/src/math.js", "elsewhere"][path];
        finding(title, path, start, start)
    });
    proptest::collection::vec(one, 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn merging_is_deterministic_ordered_and_loses_nothing(
        alpha in findings(),
        beta in findings(),
    ) {
        let results = [incorrect("", 0.5, alpha.clone()), incorrect("", 0.5, beta.clone())];
        let (merged, _) = merge(&results, &[]);
        prop_assert_eq!(&merged, &merge(&results, &[]).0);

        let scope = scope();
        let locator = Locator::new(&scope, &LocalDisk);
        let key = |finding: &Finding| Key::of(finding, &locator.locate(finding));
        let mut first_seen = Vec::new();
        for (id, finding) in alpha.iter().map(|f| ("alpha", f)).chain(beta.iter().map(|f| ("beta", f))) {
            let holder = merged.iter().find(|m| key(&m.finding) == key(finding));
            let holder = holder.expect("every finding is in the merge");
            prop_assert!(holder.reviewer_ids.contains(&ReviewerId(id.to_owned())));
            if !first_seen.iter().any(|f: &&Finding| key(f) == key(finding)) {
                first_seen.push(finding);
            }
        }
        let order: Vec<&Finding> = merged.iter().map(|m| &m.finding).collect();
        prop_assert_eq!(order, first_seen);
    }
}
