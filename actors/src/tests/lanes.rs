//! Runs with focus lanes, the budget of the whole run, and what is kept of runs that end early.

use std::collections::BTreeMap;

use super::*;
use crate::model::{
    EngineName, LaneId, LaneKind, LaneStatus, ReviewBatchArtifact, ReviewLane, ReviewPlan,
    ReviewTarget,
};
use crate::plan::{LanePlan, ReviewerPlan};
use crate::prompt::{Prompt, PromptBuilder, PromptShape};

/// Returns a plan with an overview and as many focus lanes.
fn batch(focus: usize, reviewers: Vec<ReviewerPlan>) -> RunPlan {
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
        prompts: Arc::new(LanePrompts),
        ..plan(reviewers)
    }
}

/// Prompts that say which lane they are for.
struct LanePrompts;

impl PromptBuilder for LanePrompts {
    fn build(&self, lane: &ReviewLane, _: &PromptShape) -> Result<Arc<Prompt>, Failure> {
        Ok(Arc::new(Prompt {
            system: None,
            user: lane.id.to_string(),
            coverage: crate::model::Coverage::default(),
        }))
    }
}

/// Returns an engine that does by lane what `work` says.
fn by_lane(
    work: impl Fn(&str, &crate::engine::CancelToken) -> Result<Answer, Failure> + Send + Sync + 'static,
) -> TestEngine {
    let work = Arc::new(work);
    TestEngine::asking(move |request| {
        let (work, lane) = (Arc::clone(&work), request.prompt.user.clone());
        Ok(Start::InProcess(Box::new(move |token| work(&lane, token))))
    })
}

fn batch_of(seen: &Seen) -> &ReviewBatchArtifact {
    match &seen.outcome {
        RunOutcome::Finished(artifact) => match artifact.as_ref() {
            RunArtifact::Batch(batch) => batch,
            RunArtifact::Review(_) => panic!("lanes make a batch"),
        },
        RunOutcome::Failed(failed) => panic!("no artifact: {}", failed.failure),
    }
}

/// Returns the events of each lane; those of none stand under "".
fn by_lanes(seen: &Seen) -> BTreeMap<String, Vec<String>> {
    let mut stories: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for frame in &seen.frames {
        let lane = frame.lane().map(ToString::to_string).unwrap_or_default();
        stories.entry(lane).or_default().push(word(frame));
    }
    stories
}

/// Runs a plan; once `is_ready` has seen enough events, hours pass in no time.
async fn review_for_hours(
    plan: RunPlan,
    mut is_ready: impl FnMut(&str) -> bool + Send + 'static,
) -> Seen {
    tokio::time::pause();
    let (ready, mut begins) = tokio::sync::mpsc::unbounded_channel();
    let clock = async {
        begins.recv().await.unwrap();
        for _ in 0..1_000_000 {
            tokio::time::advance(Duration::from_secs(3600)).await;
            tokio::task::yield_now().await;
        }
    };
    let watch = move |frame: &Frame, _: &InterruptSender| {
        if is_ready(&word(frame)) {
            // The run may be over already.
            let _ = ready.send(());
        }
        Ok(())
    };
    tokio::select! {
        seen = review_watched(plan, watch) => seen,
        () = clock => panic!("the run never ends"),
    }
}

#[actix::test]
async fn each_lane_tells_its_own_story_and_the_batch_comes_first() {
    let seen = review(batch(1, vec![reviewer("a", TestEngine::content())])).await;
    assert_eq!(
        seen.story()[..5],
        ["batch of 2", "run of 1", "run of 1", "check a", "check a"]
    );
    let stories = by_lanes(&seen);
    assert_eq!(stories[""], ["batch of 2"]);
    for lane in ["overview", "focus-1"] {
        let expected = [
            "run of 1",
            "check a",
            "checked true a",
            "started a",
            "result a",
            "lane finished",
        ];
        assert_eq!(stories[lane], expected);
    }
    let batch = batch_of(&seen);
    assert_eq!(batch.lanes.len(), 2);
    assert_eq!(batch.result.overall_correctness, "patch is correct");
}

#[actix::test]
async fn frames_name_their_lane_last_but_the_ends_of_lanes_first() {
    let seen = review(batch(1, vec![reviewer("a", TestEngine::content())])).await;
    for frame in &seen.frames {
        let text = serde_json::to_string(frame).unwrap();
        let (count, place) = (
            text.matches(r#""lane_id":"#).count(),
            text.find(r#""lane_id":"#),
        );
        match &frame.event {
            ReviewEvent::BatchStarted { .. } => assert_eq!(count, 0),
            ReviewEvent::LaneFinished { .. } => {
                let head = r#"{"schema_version":2,"type":"lane_finished","lane_id":"#;
                assert!(text.starts_with(head), "{text}");
            }
            _ => assert!(!text[place.unwrap()..].contains(','), "{text}"),
        }
    }
}

#[actix::test]
async fn a_failed_lane_is_kept_beside_the_others() {
    let engine = by_lane(|lane, _| match lane {
        "focus-1" => Err(Failure::new(ErrorCode::ReviewerFailed, "broke")),
        _ => Ok(answer(&["[P1] same"])),
    });
    let seen = review(batch(2, vec![reviewer("a", engine)])).await;
    let stories = by_lanes(&seen);
    assert_eq!(stories["focus-1"].last().unwrap(), "lane failed");
    let batch = batch_of(&seen);
    assert_eq!(batch.warnings, ["Lane focus-1 failed: broke"]);
    assert_eq!(batch.lanes[1].status, LaneStatus::Failed);
    let [finding] = batch.result.findings.as_slice() else {
        panic!("not merged");
    };
    let lanes: Vec<_> = finding.lane_ids.iter().flatten().map(|id| &id.0).collect();
    assert_eq!(lanes, ["overview", "focus-2"]);
}

#[actix::test]
async fn nothing_to_review_concludes_every_lane() {
    let mut plan = batch(1, vec![]);
    plan.doubts = vec![TrustReason::EmptyDiff];
    let seen = review(plan).await;
    let stories = by_lanes(&seen);
    assert_eq!(stories["overview"], ["run of 0", "lane finished"]);
    assert_eq!(stories["focus-1"], ["run of 0", "lane finished"]);
    assert_eq!(batch_of(&seen).trust.reasons, [TrustReason::EmptyDiff]);
}

#[actix::test]
async fn a_reviewer_is_checked_once_for_all_lanes_also_when_asked_twice() {
    let checks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&checks);
    let engine = TestEngine::content().checking(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(Preflight::Known(PreflightPass::default()))
    });
    let twice = reviewer("a", engine);
    let seen = review(batch(2, vec![twice.clone(), twice])).await;
    assert_eq!(checks.load(Ordering::SeqCst), 1);
    for lane in ["overview", "focus-1", "focus-2"] {
        let story = &by_lanes(&seen)[lane];
        let told = story.iter().filter(|word| *word == "checked true a");
        assert_eq!(told.count(), 2);
    }
}

#[actix::test]
async fn a_failed_preflight_is_shared_too() {
    let checks = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&checks);
    let engine = TestEngine::content().checking(move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Err(Failure::new(ErrorCode::MissingAuth, "not logged in"))
    });
    let seen = review(batch(1, vec![reviewer("a", engine)])).await;
    assert_eq!(checks.load(Ordering::SeqCst), 1);
    assert_eq!(
        seen.failed().failure.message,
        "All lanes failed: overview: not logged in; focus-1: not logged in"
    );
}

#[actix::test]
async fn reviewers_do_not_wait_for_each_others_preflight() {
    let (release, gate) = mpsc::channel::<()>();
    let (gate, release) = (Mutex::new(gate), Mutex::new(Some(release)));
    let slow = TestEngine::content().checking(move |_| {
        // Until the other one has answered in every lane.
        gate.lock().unwrap().recv().unwrap_err();
        Ok(Preflight::Known(PreflightPass::default()))
    });
    let reviewers = vec![
        reviewer("slow", slow),
        reviewer("fast", TestEngine::content()),
    ];
    let mut answers = 0;
    let watch = move |frame: &Frame, _: &InterruptSender| {
        answers += usize::from(word(frame) == "result fast");
        if answers == 2 {
            release.lock().unwrap().take();
        }
        Ok(())
    };
    let seen = tokio::time::timeout(LIMIT, review_watched(batch(1, reviewers), watch)).await;
    assert_eq!(batch_of(&seen.unwrap()).warnings, [] as [String; 0]);
}

#[actix::test]
async fn strict_mode_ends_the_lane_that_failed_and_no_other() {
    let good = by_lane(|lane, token| {
        if lane == "focus-1" {
            until_cancelled(token);
        }
        Ok(answer(&[]))
    });
    let bad = by_lane(|lane, _| match lane {
        "focus-1" => Err(Failure::new(ErrorCode::MissingAuth, "not logged in")),
        _ => Ok(answer(&[])),
    });
    let mut plan = batch(1, vec![reviewer("good", good), reviewer("bad", bad)]);
    plan.policy.strict = true;
    let seen = review(plan).await;
    let stories = by_lanes(&seen);
    assert_eq!(stories["overview"].last().unwrap(), "lane finished");
    assert_eq!(stories["focus-1"].last().unwrap(), "lane failed");
    assert_eq!(
        seen.failed().failure.message,
        "Lane failed in strict mode: focus-1: Reviewer failed in strict mode: bad: not logged in"
    );
}

#[actix::test]
async fn engines_have_a_limit_of_their_own() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running, peak) = (Arc::clone(&now), Arc::clone(&most));
    let busy = TestEngine::working(move |_| {
        peak.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(5));
        running.fetch_sub(1, Ordering::SeqCst);
        Ok(answer(&[]))
    });
    let mut codex = reviewer("codex", busy);
    codex.engine_name = EngineName::Codex;
    let other = reviewer("other", TestEngine::content());
    let mut plan = batch(3, vec![codex.clone(), other, codex]);
    plan.policy.max_concurrency_per_engine = Some(1);
    let seen = review(plan).await;
    assert_eq!(batch_of(&seen).lanes.len(), 4);
    assert_eq!(most.load(Ordering::SeqCst), 1);
}

#[actix::test]
async fn when_the_runs_time_is_over_what_has_finished_is_the_result() {
    let mut plan = plan(vec![
        reviewer("fast", TestEngine::content()),
        reviewer("slow", TestEngine::endless()),
        reviewer("waiting", TestEngine::content()),
    ]);
    plan.policy.max_concurrency = 1;
    plan.policy.max_time = Some(Duration::from_secs(3600));
    let seen = review_for_hours(plan, |word| word == "started slow").await;
    let artifact = seen.artifact();
    assert!(artifact.trust.reasons.contains(&TrustReason::MaxTime));
    for id in ["slow", "waiting"] {
        let error = seen.error_of(id);
        assert_eq!(error.code, ErrorCode::Timeout, "{id}");
        assert_eq!(error.reason, Some(Reason::MaxTime), "{id}");
    }
    assert_eq!(
        seen.story_of("waiting"),
        ["check waiting", "failed waiting"]
    );
}

#[actix::test]
async fn when_nobody_has_finished_in_the_runs_time_the_run_has_failed() {
    let mut slow = reviewer("slow", TestEngine::endless());
    slow.timeout = Some(Duration::from_secs(36_000));
    let mut plan = batch(1, vec![slow]);
    plan.policy.max_time = Some(Duration::from_secs(3600));
    let mut started = 0;
    let seen = review_for_hours(plan, move |word| {
        started += usize::from(word == "started slow");
        started == 2
    })
    .await;
    let failure = &seen.failed().failure;
    assert_eq!(failure.code, ErrorCode::ReviewerFailed);
    assert_eq!(failure.reason, Some(Reason::MaxTime));
    assert_eq!(failure.exit_code(), 3);
}

#[actix::test]
async fn a_reviewers_own_budget_stays_its_own_under_the_runs() {
    let mut slow = reviewer("slow", TestEngine::endless());
    slow.timeout = Some(Duration::from_secs(3600));
    let mut plan = plan(vec![slow]);
    plan.policy.max_time = Some(Duration::from_secs(36_000));
    let seen = review_for_hours(plan, |word| word == "started slow").await;
    assert_eq!(seen.failed().failure.reason, Some(Reason::Timeout));
}

#[actix::test]
async fn what_had_finished_when_a_signal_or_a_closed_output_came_is_kept() {
    for closes in [false, true] {
        let mut plan = batch(
            1,
            vec![reviewer(
                "a",
                by_lane(|lane, token| {
                    if lane == "focus-1" {
                        until_cancelled(token);
                    }
                    Ok(answer(&["[P1] found"]))
                }),
            )],
        );
        plan.policy.max_concurrency = 1;
        let mut results = 0;
        let seen = review_watched(plan, move |frame, interrupts| {
            results += usize::from(word(frame) == "result a");
            match (results, word(frame).as_str(), closes) {
                (1, "started a", true) => Err(io::ErrorKind::BrokenPipe.into()),
                (1, "started a", false) => {
                    interrupts.send(Interrupt::Signal(2)).unwrap();
                    Ok(())
                }
                _ => Ok(()),
            }
        })
        .await;
        let failed = seen.failed();
        let code = if closes { 3 } else { 130 };
        assert_eq!(failed.failure.exit_code(), code);
        let partial = failed.partial.as_ref().expect("one lane had finished");
        assert_eq!(partial.result().findings.len(), 1);
        let reasons = &partial.trust().reasons;
        assert!(reasons.contains(&TrustReason::Interrupted));
        assert!(reasons.contains(&TrustReason::LaneFailed));
    }
}

/// The target is resolved once, before the run: every lane tells the same.
#[actix::test]
async fn every_lane_reviews_the_same_target() {
    let seen = review(batch(2, vec![reviewer("a", TestEngine::content())])).await;
    let targets = seen.frames.iter().filter_map(|frame| match &frame.event {
        ReviewEvent::RunStarted { target, .. } | ReviewEvent::BatchStarted { target, .. } => {
            Some(target)
        }
        _ => None,
    });
    let targets: Vec<&ReviewTarget> = targets.collect();
    assert_eq!(targets.len(), 4);
    assert!(targets.windows(2).all(|pair| pair[0] == pair[1]));
}
