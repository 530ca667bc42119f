//! The contract of a run's end, case by case.

use super::*;
use crate::model::{InvalidLocation, TrustReason};
use crate::reviewer::failed_entry;
use crate::testing::{TestEngine, finding, plan, reviewer};

fn fails(id: &str, failure: &Failure) -> ReviewerEntry {
    failed_entry(&reviewer(id, TestEngine::content()), failure, None, 5)
}

fn boom() -> Failure {
    Failure::new(ErrorCode::ReviewerFailed, "boom").reason(Reason::Crash)
}

fn answers(id: &str, mode: ParseMode, valid_locations: bool) -> ReviewerEntry {
    let identity = fails(id, &boom()).identity().clone();
    let invalid = InvalidLocation {
        index: 0,
        reason: "outside".to_owned(),
    };
    ReviewerEntry::Success(Box::new(SuccessfulReviewer {
        identity: ReviewerIdentity {
            status: ReviewerStatus::Success,
            ..identity
        },
        result: ReviewResult {
            findings: vec![],
            overall_correctness: Verdict::Correct.as_str().to_owned(),
            overall_explanation: "looked at a.rs".to_owned(),
            overall_confidence_score: Score(0.5),
        },
        validation: ReviewValidation {
            parse_mode: mode,
            valid_schema: mode != ParseMode::FallbackText,
            findings_overlap_diff: valid_locations,
            valid_locations,
            invalid_locations: if valid_locations {
                vec![]
            } else {
                vec![invalid]
            },
            missing_title_prefix: vec![],
        },
        timing_ms: Some(5),
        raw_text: Some("raw".to_owned()),
        preflight: None,
        adapter_metadata: None,
        usage: None,
        sent: None,
    }))
}

fn good(id: &str) -> ReviewerEntry {
    answers(id, ParseMode::StrictJson, true)
}

fn strict() -> RunPlan {
    let mut plan = plan(vec![]);
    plan.policy.strict = true;
    plan
}

fn failed(plan: &RunPlan, entries: Vec<ReviewerEntry>) -> RunFailure {
    match conclude(plan, entries, None, 9) {
        RunOutcome::Failed(failed) => failed,
        RunOutcome::Finished(_) => panic!("the run has an artifact"),
    }
}

fn finished(plan: &RunPlan, entries: Vec<ReviewerEntry>) -> ReviewArtifact {
    match conclude(plan, entries, None, 9) {
        RunOutcome::Finished(artifact) => match artifact.as_ref() {
            RunArtifact::Review(artifact) => artifact.as_ref().clone(),
            RunArtifact::Batch(_) => panic!("one lane makes no batch"),
        },
        RunOutcome::Failed(failed) => panic!("the run failed: {}", failed.failure),
    }
}

#[test]
fn a_lone_reviewers_failure_is_the_runs_also_in_strict_mode() {
    let failure = Failure::new(ErrorCode::MissingAuth, "not logged in")
        .reason(Reason::Auth)
        .hint("log in")
        .recovery("run login");
    for plan in [plan(vec![]), strict()] {
        let failed = failed(&plan, vec![fails("a", &failure)]);
        assert_eq!(failed.failure, failure);
        assert_eq!(
            failed.reviewer,
            Some((ReviewerId("a".to_owned()), EngineName::Fake))
        );
    }
}

#[test]
fn when_everybody_fails_each_is_named_and_own_findings_are_kept() {
    let mut plan = plan(vec![]);
    plan.integrity = vec![finding("[P0] key")];
    let entries = vec![fails("a", &boom()), fails("b", &boom())];
    let failed = failed(&plan, entries);
    assert_eq!(
        failed.failure.message,
        "All reviewers failed: a: boom; b: boom"
    );
    assert_eq!(failed.failure.code, ErrorCode::ReviewerFailed);
    assert_eq!(failed.failure.exit_code(), 3);
    assert_eq!(failed.failure.reason, Some(Reason::Crash));
    assert_eq!(failed.reviewer, None);
    assert_eq!(failed.integrity, plan.integrity);
}

#[test]
fn a_partial_review_warns_after_the_warnings_of_the_plan() {
    let mut plan = plan(vec![]);
    plan.warnings = vec!["the tree is dirty".to_owned()];
    let artifact = finished(&plan, vec![good("a"), fails("b", &boom())]);
    assert_eq!(
        artifact.warnings,
        ["the tree is dirty", "Reviewer b failed: boom"]
    );
    assert_eq!(artifact.engine, None);
    assert_eq!(artifact.raw_text, None);
    assert!(
        artifact
            .trust
            .reasons
            .contains(&TrustReason::ReviewerFailed)
    );
}

#[test]
fn a_lone_answer_stands_at_the_top_whatever_diffwarden_found() {
    let mut plan = plan(vec![]);
    for integrity in [vec![], vec![finding("[P0] key")]] {
        plan.integrity = integrity;
        let artifact = finished(&plan, vec![good("a")]);
        assert_eq!(artifact.engine, Some(EngineName::Fake));
        assert_eq!(artifact.raw_text.as_deref(), Some("raw"));
        assert_eq!(artifact.timing_ms, Some(9));
    }
}

#[test]
fn own_findings_get_the_last_entry_and_come_last() {
    let mut plan = plan(vec![]);
    plan.integrity = vec![finding("[P0] key")];
    let artifact = finished(&plan, vec![good("a"), good("b")]);
    let ids: Vec<_> = artifact
        .reviewers
        .iter()
        .map(|entry| (entry.identity().id.0.as_str(), entry.identity().engine))
        .collect();
    assert_eq!(
        ids,
        [
            ("a", EngineName::Fake),
            ("b", EngineName::Fake),
            ("integrity", EngineName::Surface)
        ]
    );
    let last = artifact.result.findings.last().unwrap();
    assert_eq!(last.finding, plan.integrity[0]);
    assert_eq!(last.reviewer_ids, [ReviewerId("integrity".to_owned())]);
    assert_eq!(artifact.result.overall_correctness, "patch is incorrect");
}

#[test]
fn strict_mode_names_the_causes_and_not_those_that_were_stopped() {
    let stopped = Failure::new(ErrorCode::ReviewerFailed, "stopped").reason(Reason::Interrupted);
    let entries = vec![fails("a", &stopped), fails("b", &boom()), good("c")];
    let failed = failed(&strict(), entries);
    assert_eq!(
        failed.failure.message,
        "Reviewer failed in strict mode: b: boom"
    );
    assert_eq!(failed.failure.exit_code(), 3);
}

#[test]
fn strict_mode_refuses_unread_answers_before_bad_locations() {
    let misplaced = answers("a", ParseMode::StrictJson, false);
    let prose = answers("b", ParseMode::FallbackText, true);
    let failure = failed(&strict(), vec![misplaced.clone(), prose.clone()]).failure;
    assert_eq!(failure.code, ErrorCode::ParseFailed);
    let failure = failed(&strict(), vec![misplaced.clone(), good("b")]);
    assert_eq!(failure.failure.code, ErrorCode::ValidationFailed);
    assert_eq!(failure.failure.exit_code(), 4);
    assert_eq!(failure.reviewer.unwrap().0.0, "a");
    finished(&plan(vec![]), vec![misplaced, prose]);
    finished(&strict(), vec![good("a"), good("b")]);
}

#[test]
fn an_interrupt_wins_over_everything() {
    let cases = [
        (Interrupt::Signal(2), 130, "SIGINT"),
        (Interrupt::Signal(15), 143, "SIGTERM"),
        (Interrupt::Signal(1), 129, "SIGHUP"),
        (Interrupt::OutputClosed, 3, "output"),
    ];
    for (interrupt, exit_code, word) in cases {
        let entries = vec![good("a"), fails("b", &boom())];
        let RunOutcome::Failed(failed) = conclude(&strict(), entries, Some(interrupt), 9) else {
            panic!("an interrupted run has no artifact");
        };
        assert_eq!(failed.failure.code, ErrorCode::ReviewerFailed);
        assert_eq!(failed.failure.reason, Some(Reason::Interrupted));
        assert_eq!(failed.failure.exit_code(), exit_code);
        assert!(failed.failure.message.contains(word), "{}", failed.failure);
    }
}

#[test]
fn nothing_to_review_is_an_empty_artifact_in_strict_mode_too() {
    let mut plan = strict();
    plan.doubts = vec![TrustReason::AllPruned];
    let artifact = finished(&plan, vec![]);
    assert!(artifact.reviewers.is_empty());
    assert!(artifact.result.findings.is_empty());
    assert_eq!(artifact.result.overall_correctness, "unknown");
    assert_eq!(artifact.result.overall_confidence_score, Score(0.0));
    assert_eq!(artifact.trust.reasons, [TrustReason::AllPruned]);
    assert!(!artifact.trust.clean);
}
