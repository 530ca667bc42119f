//! The contract of a run's end, case by case.

use super::*;
use crate::answer::INTEGRITY_ID;
use crate::model::{
    DegradedKind, InvalidLocation, LaneId, LaneKind, ParseMode, ReviewBatchArtifact, ReviewPlan,
    ReviewResult, ReviewValidation, ReviewerEntry, ReviewerIdentity, ReviewerStatus, Score,
    SuccessfulReviewer, Verdict,
};
use crate::plan::LanePlan;
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
            title_priority_differs: vec![],
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

fn conclude(
    plan: &RunPlan,
    entries: Vec<ReviewerEntry>,
    interrupt: Option<Interrupt>,
) -> RunOutcome {
    let lane = conclude_lane(plan, entries, 9);
    conclude_run(plan, vec![lane], interrupt, 9)
}

fn failed(plan: &RunPlan, entries: Vec<ReviewerEntry>) -> RunFailure {
    match conclude(plan, entries, None) {
        RunOutcome::Failed(failed) => failed,
        RunOutcome::Finished(_) => panic!("the run has an artifact"),
    }
}

fn finished(plan: &RunPlan, entries: Vec<ReviewerEntry>) -> ReviewArtifact {
    match conclude(plan, entries, None) {
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

fn dirty() -> Degraded {
    Degraded::warning(DegradedTopic::WorkTree, "the tree is dirty")
}

/// What was told, as kind, topic and text.
fn told(degraded: &[Degraded]) -> Vec<(DegradedKind, DegradedTopic, &str)> {
    let told = degraded.iter();
    told.map(|it| (it.kind, it.topic, it.message.as_str()))
        .collect()
}

#[test]
fn a_partial_review_warns_after_the_warnings_of_the_plan() {
    let mut plan = plan(vec![]);
    plan.degraded = vec![dirty()];
    let artifact = finished(&plan, vec![good("a"), fails("b", &boom())]);
    assert_eq!(
        artifact.warnings,
        ["the tree is dirty", "Reviewer b failed: boom"]
    );
    use {DegradedKind::Warning, DegradedTopic::*};
    assert_eq!(
        told(&artifact.degraded),
        [
            (Warning, WorkTree, "the tree is dirty"),
            (Warning, ReviewerHealth, "Reviewer b failed: boom"),
        ]
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
            (INTEGRITY_ID, EngineName::Surface)
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
        (Interrupt::Signal(3), 131, "SIGQUIT"),
        (Interrupt::Signal(15), 143, "SIGTERM"),
        (Interrupt::Signal(1), 129, "SIGHUP"),
        (Interrupt::OutputClosed, 3, "output"),
    ];
    for (interrupt, exit_code, word) in cases {
        let entries = vec![good("a"), fails("b", &boom())];
        let RunOutcome::Failed(failed) = conclude(&strict(), entries, Some(interrupt)) else {
            panic!("an interrupted run has no artifact");
        };
        assert_eq!(failed.failure.code, ErrorCode::ReviewerFailed);
        assert_eq!(failed.failure.reason, Some(Reason::Interrupted));
        assert_eq!(failed.failure.exit_code(), exit_code);
        assert!(failed.failure.message.contains(word), "{}", failed.failure);
        assert_eq!(
            failed.partial, None,
            "strict mode keeps no part of a review"
        );
    }
}

#[test]
fn what_had_finished_of_an_interrupted_run_is_kept_if_anybody_had_answered() {
    let stopped = Failure::new(ErrorCode::ReviewerFailed, "stopped").reason(Reason::Interrupted);
    let interrupt = Some(Interrupt::Signal(2));
    let partial = |entries| match conclude(&plan(vec![]), entries, interrupt) {
        RunOutcome::Failed(failed) => failed.partial,
        RunOutcome::Finished(_) => panic!("an interrupted run has no artifact"),
    };
    let kept = partial(vec![good("a"), fails("b", &stopped)]).unwrap();
    let RunArtifact::Review(review) = kept.as_ref() else {
        panic!("one lane makes no batch");
    };
    assert_eq!(review.reviewers.len(), 2);
    assert!(review.trust.reasons.contains(&TrustReason::Interrupted));
    assert!(review.trust.reasons.contains(&TrustReason::ReviewerFailed));
    let all = partial(vec![good("a")]).unwrap();
    assert!(all.trust().reasons.contains(&TrustReason::Interrupted));
    assert_eq!(
        partial(vec![fails("a", &boom()), fails("b", &stopped)]),
        None
    );
    assert_eq!(partial(vec![]), None);
}

#[test]
fn reviewers_that_ran_out_of_the_runs_time_are_a_matter_of_trust() {
    let late = Failure::new(ErrorCode::Timeout, "over").reason(Reason::MaxTime);
    let artifact = finished(&plan(vec![]), vec![good("a"), fails("b", &late)]);
    assert!(artifact.trust.reasons.contains(&TrustReason::MaxTime));
    let failed = failed(&plan(vec![]), vec![fails("a", &late), fails("b", &late)]);
    assert_eq!(failed.failure.exit_code(), 3);
    assert_eq!(failed.failure.reason, Some(Reason::MaxTime));
}

#[test]
fn several_failures_keep_the_advice_they_share() {
    let with = |hint: &str| boom().hint(hint).recovery("run login");
    let joint = |second: &str| {
        let entries = vec![fails("a", &with("log in")), fails("b", &with(second))];
        failed(&plan(vec![]), entries).failure
    };
    assert_eq!(joint("log in").hint.as_deref(), Some("log in"));
    assert_eq!(joint("other").hint, None);
    assert_eq!(joint("other").recovery, ["run login"]);
}

/// Returns the plan of a batch with an overview and as many focus lanes.
fn batch(focus: usize) -> RunPlan {
    let texts: Vec<String> = (1..=focus).map(|number| format!("text {number}")).collect();
    let lanes = texts.iter().enumerate().map(|(at, text)| ReviewLane {
        id: LaneId(format!("focus-{}", at + 1)),
        kind: LaneKind::Focus,
        focus: Some(text.clone()),
    });
    let lanes: Vec<_> = [ReviewLane::overview()].into_iter().chain(lanes).collect();
    let lane_plan = |lane: &ReviewLane| LanePlan { lane: lane.clone() };
    RunPlan {
        lanes: lanes.iter().map(lane_plan).collect(),
        batch: Some(ReviewPlan {
            include_overview: true,
            focus: texts,
            lanes,
        }),
        ..plan(vec![])
    }
}

fn conclude_lanes(
    plan: &RunPlan,
    lanes: Vec<Vec<ReviewerEntry>>,
    interrupt: Option<Interrupt>,
) -> RunOutcome {
    let lanes = lanes
        .into_iter()
        .map(|entries| conclude_lane(plan, entries, 7));
    conclude_run(plan, lanes.collect(), interrupt, 9)
}

fn finished_batch(plan: &RunPlan, lanes: Vec<Vec<ReviewerEntry>>) -> ReviewBatchArtifact {
    let RunOutcome::Finished(artifact) = conclude_lanes(plan, lanes, None) else {
        panic!("the run failed");
    };
    match artifact.as_ref() {
        RunArtifact::Batch(batch) => batch.as_ref().clone(),
        RunArtifact::Review(_) => panic!("lanes make a batch"),
    }
}

fn failed_batch(plan: &RunPlan, lanes: Vec<Vec<ReviewerEntry>>) -> RunFailure {
    match conclude_lanes(plan, lanes, None) {
        RunOutcome::Failed(failed) => failed,
        RunOutcome::Finished(_) => panic!("the run has an artifact"),
    }
}

#[test]
fn a_batch_keeps_failed_lanes_and_says_so_first() {
    let mut plan = batch(2);
    plan.degraded = vec![dirty()];
    let lanes = vec![
        vec![good("a"), fails("b", &boom())],
        vec![fails("a", &boom()), fails("b", &boom())],
        vec![good("a"), good("b")],
    ];
    let batch = finished_batch(&plan, lanes);
    assert_eq!(
        batch.warnings,
        [
            "Lane focus-1 failed: All reviewers failed: a: boom; b: boom",
            "the tree is dirty",
            "Lane overview: Reviewer b failed: boom",
        ]
    );
    let topics: Vec<_> = batch.degraded.iter().map(|it| it.topic).collect();
    use DegradedTopic::{LaneHealth, ReviewerHealth, WorkTree};
    assert_eq!(topics, [LaneHealth, WorkTree, ReviewerHealth]);
    let texts: Vec<_> = batch.degraded.iter().map(|it| &it.message).collect();
    assert_eq!(texts, batch.warnings.iter().collect::<Vec<_>>());
    let reasons = &batch.trust.reasons;
    assert!(reasons.contains(&TrustReason::LaneFailed));
    assert!(reasons.contains(&TrustReason::ReviewerFailed));
    let lanes: Vec<_> = batch
        .lanes
        .iter()
        .map(|lane| {
            (
                lane.lane.id.0.as_str(),
                lane.status,
                lane.artifact.is_some(),
            )
        })
        .collect();
    assert_eq!(
        lanes,
        [
            ("overview", LaneStatus::Success, true),
            ("focus-1", LaneStatus::Failed, false),
            ("focus-2", LaneStatus::Success, true),
        ]
    );
    let error = batch.lanes[1].error.as_ref().unwrap();
    assert_eq!(error.reason, Some(Reason::Crash));
    assert_eq!(
        (batch.timing_ms, batch.lanes[1].timing_ms),
        (Some(9), Some(7))
    );
    assert_eq!(&batch.plan, plan.batch.as_ref().unwrap());
    assert!(
        batch
            .result
            .overall_explanation
            .contains("\n\nfocus-2 (text 2): a: looked at a.rs")
    );
}

#[test]
fn own_findings_stand_once_at_the_top_of_a_batch() {
    let mut plan = batch(1);
    plan.integrity = vec![finding("[P0] key")];
    let batch = finished_batch(&plan, vec![vec![good("a")], vec![good("a")]]);
    let [own] = batch.result.findings.as_slice() else {
        panic!("not one finding: {:?}", batch.result.findings);
    };
    assert_eq!(own.reviewer_ids, [ReviewerId(INTEGRITY_ID.to_owned())]);
    assert_eq!(own.lane_ids.as_deref(), Some(&[][..]));
    assert_eq!(batch.result.overall_correctness, "patch is incorrect");
    for lane in &batch.lanes {
        let artifact = lane.artifact.as_ref().unwrap();
        assert_eq!(artifact.reviewers.len(), 1);
        assert!(artifact.result.findings.is_empty());
        assert_eq!(artifact.engine, Some(EngineName::Fake));
    }
}

#[test]
fn one_lane_of_a_batch_is_a_batch() {
    let mut plan = batch(1);
    plan.lanes.remove(0);
    let artifact = finished_batch(&plan, vec![vec![good("a")]]);
    assert_eq!(artifact.lanes.len(), 1);
    assert_eq!(
        artifact.result.overall_explanation,
        "focus-1 (text 1): looked at a.rs"
    );
}

#[test]
fn when_all_lanes_fail_there_is_one_error() {
    let login = Failure::new(ErrorCode::MissingAuth, "not logged in").reason(Reason::Auth);
    let mut plan = batch(1);
    plan.integrity = vec![finding("[P0] key")];
    let lanes = || vec![vec![fails("a", &login)], vec![fails("a", &login)]];
    let failed = failed_batch(&plan, lanes());
    assert_eq!(
        failed.failure.message,
        "All lanes failed: overview: not logged in; focus-1: not logged in"
    );
    assert_eq!(failed.failure.code, ErrorCode::ReviewerFailed);
    assert_eq!(failed.failure.reason, Some(Reason::Auth));
    assert_eq!(failed.integrity.len(), 1);
}

#[test]
fn a_strict_batch_fails_by_the_cause_and_execution_comes_before_answers() {
    let mut plan = batch(2);
    plan.policy.strict = true;
    let misplaced = || vec![answers("a", ParseMode::StrictJson, false)];
    let failed = failed_batch(&plan, vec![vec![good("a")], misplaced(), vec![good("a")]]);
    assert_eq!(failed.failure.code, ErrorCode::ValidationFailed);
    assert_eq!(failed.failure.exit_code(), 4);
    let login = Failure::new(ErrorCode::MissingAuth, "not logged in").reason(Reason::Auth);
    let lanes = vec![vec![good("a")], misplaced(), vec![fails("a", &login)]];
    let failed = failed_batch(&plan, lanes);
    assert_eq!(failed.failure.code, ErrorCode::MissingAuth);
    assert_eq!(failed.failure.exit_code(), 3);
    let message = &failed.failure.message;
    assert!(message.starts_with("Lane failed in strict mode: focus-1: "));
    assert!(message.ends_with("; focus-2: not logged in"), "{message}");
    let all_good = vec![vec![good("a")], vec![good("a")], vec![good("a")]];
    finished_batch(&plan, all_good);
}

#[test]
fn an_interrupted_batch_keeps_the_lanes_that_had_finished() {
    let stopped = Failure::new(ErrorCode::ReviewerFailed, "stopped").reason(Reason::Interrupted);
    let lanes = vec![vec![good("a")], vec![fails("a", &stopped)]];
    let outcome = conclude_lanes(&batch(1), lanes, Some(Interrupt::Signal(15)));
    let RunOutcome::Failed(failed) = outcome else {
        panic!("an interrupted run has no artifact");
    };
    assert_eq!(failed.failure.exit_code(), 143);
    let partial = failed.partial.unwrap();
    let reasons = &partial.trust().reasons;
    assert!(reasons.contains(&TrustReason::Interrupted));
    assert!(reasons.contains(&TrustReason::LaneFailed));
}

#[test]
fn a_batch_without_reviewers_has_no_verdict() {
    let mut plan = batch(1);
    plan.doubts = vec![TrustReason::EmptyDiff];
    let batch = finished_batch(&plan, vec![vec![], vec![]]);
    assert_eq!(batch.result.overall_correctness, "unknown");
    assert_eq!(batch.result.overall_explanation, "");
    assert_eq!(batch.result.overall_confidence_score, Score(0.0));
    assert_eq!(batch.trust.reasons, [TrustReason::EmptyDiff]);
    assert_eq!(batch.degraded[0].message, "there was nothing to review");
    assert_eq!(batch.lanes.len(), 2);
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
