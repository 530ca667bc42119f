//! Whole runs with engines that do what they are told, on the real actors.

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::engine::{
    Action, Answer, Captured, CommandSpec, Dialogue, Preflight, PreflightPass, Start,
};
use crate::model::{
    ErrorCode, Failure, Frame, Reason, ReviewArtifact, ReviewEvent, ReviewerEntry, RunArtifact,
    TrustReason,
};
use crate::plan::RunPlan;
use crate::sink::{Interrupt, InterruptSender, RunFailure, RunOutcome, SinkSet, interrupt_channel};
use crate::testing::{Recorder, TestEngine, answer, finding, plan, reviewer, until_cancelled};

mod lanes;
mod repair;

/// A run that is still going after this long never ends.
const LIMIT: Duration = Duration::from_secs(60);

struct Seen {
    outcome: RunOutcome,
    frames: Vec<Frame>,
}

impl Seen {
    fn artifact(&self) -> &ReviewArtifact {
        match &self.outcome {
            RunOutcome::Finished(artifact) => match artifact.as_ref() {
                RunArtifact::Review(artifact) => artifact,
                RunArtifact::Batch(_) => panic!("one lane makes no batch"),
            },
            RunOutcome::Failed(failed) => panic!("no artifact: {}", failed.failure),
        }
    }

    fn failed(&self) -> &RunFailure {
        match &self.outcome {
            RunOutcome::Failed(failed) => failed,
            RunOutcome::Finished(artifact) => panic!("an artifact: {artifact:?}"),
        }
    }

    /// Returns the events as short words, such as `started a`.
    fn story(&self) -> Vec<String> {
        self.frames.iter().map(word).collect()
    }

    /// Returns the events of one reviewer.
    fn story_of(&self, id: &str) -> Vec<String> {
        let suffix = format!(" {id}");
        let own = |word: &String| word.ends_with(&suffix);
        self.story().into_iter().filter(own).collect()
    }

    fn error_of(&self, id: &str) -> &crate::model::ReviewerError {
        self.frames
            .iter()
            .find_map(|frame| match &frame.event {
                ReviewEvent::ReviewerFailed {
                    reviewer_id, error, ..
                } if reviewer_id.0 == id => Some(error),
                _ => None,
            })
            .expect("no failure was published")
    }
}

fn word(frame: &Frame) -> String {
    match &frame.event {
        ReviewEvent::RunStarted { reviewers, .. } => format!("run of {}", reviewers.len()),
        ReviewEvent::PreflightStarted { reviewer_id } => format!("check {reviewer_id}"),
        ReviewEvent::PreflightFinished {
            reviewer_id, ok, ..
        } => format!("checked {ok} {reviewer_id}"),
        ReviewEvent::ReviewerStarted { reviewer_id } => format!("started {reviewer_id}"),
        ReviewEvent::ReviewerProgress { reviewer_id, .. } => format!("progress {reviewer_id}"),
        ReviewEvent::ReviewerResult { reviewer_id, .. } => format!("result {reviewer_id}"),
        ReviewEvent::ReviewerFailed { reviewer_id, .. } => format!("failed {reviewer_id}"),
        ReviewEvent::BatchStarted { plan, .. } => format!("batch of {}", plan.lanes.len()),
        ReviewEvent::LaneFinished { .. } => "lane finished".to_owned(),
        ReviewEvent::LaneFailed { .. } => "lane failed".to_owned(),
        ReviewEvent::FinalResult { .. } | ReviewEvent::Error { .. } => "terminal".to_owned(),
    }
}

/// Runs a plan; `watch` sees every frame as it is published.
async fn review_watched(
    plan: RunPlan,
    watch: impl FnMut(&Frame, &InterruptSender) -> io::Result<()> + Send + 'static,
) -> Seen {
    let (interrupts, receiver) = interrupt_channel();
    let frames = Arc::new(Mutex::new(Vec::new()));
    let (sender, mut watch) = (interrupts.clone(), watch);
    let recorder = Recorder {
        frames: Arc::clone(&frames),
        watch: Box::new(move |frame| watch(frame, &sender)),
    };
    let sinks = SinkSet::spawn(vec![Box::new(recorder)], interrupts);
    let run = crate::freeze_and_supervise(plan, sinks.publisher(), receiver);
    // Not a timer of the runtime: some tests stop its clock.
    let outcome = run.await;
    drop(sinks.finish(&outcome));
    let frames = frames.lock().unwrap().clone();
    Seen { outcome, frames }
}

async fn review(plan: RunPlan) -> Seen {
    tokio::time::timeout(LIMIT, review_watched(plan, |_, _| Ok(())))
        .await
        .expect("the run hangs")
}

fn failing(message: &'static str) -> TestEngine {
    TestEngine::working(move |_| Err(Failure::new(ErrorCode::MissingAuth, message)))
}

#[actix::test]
async fn events_come_as_they_happen_and_entries_in_the_order_asked_for() {
    let (release, gate) = mpsc::channel::<()>();
    let (gate, release) = (Mutex::new(gate), Mutex::new(Some(release)));
    let slow = TestEngine::working(move |_| {
        // Until the other one has answered, seen from the outside.
        gate.lock().unwrap().recv().unwrap_err();
        Ok(answer(&["[P1] slow"]))
    });
    let plan = plan(vec![
        reviewer("slow", slow),
        reviewer("fast", TestEngine::content()),
    ]);
    let watch = move |frame: &Frame, _: &InterruptSender| {
        if word(frame) == "result fast" {
            release.lock().unwrap().take();
        }
        Ok(())
    };
    let seen = review_watched(plan, watch).await;
    let story = seen.story();
    assert_eq!(story[..3], ["run of 2", "check slow", "check fast"]);
    assert_eq!(
        seen.story_of("slow"),
        [
            "check slow",
            "checked true slow",
            "started slow",
            "result slow"
        ]
    );
    assert_eq!(story.last().unwrap(), "result slow");
    assert!(!story.contains(&"terminal".to_owned()));
    let artifact = seen.artifact();
    let ids: Vec<_> = artifact
        .reviewers
        .iter()
        .map(|e| &e.identity().id.0)
        .collect();
    assert_eq!(ids, ["slow", "fast"]);
    assert_eq!(artifact.engine, None);
    let ReviewerEntry::Success(entry) = &artifact.reviewers[0] else {
        panic!("slow failed");
    };
    let metadata = entry.adapter_metadata.as_ref().unwrap();
    assert_eq!(metadata["captureMode"], "native-structured");
}

#[actix::test]
async fn nothing_to_review_starts_nobody() {
    let mut plan = plan(vec![]);
    plan.doubts = vec![TrustReason::EmptyDiff];
    let seen = review(plan).await;
    assert_eq!(seen.story(), ["run of 0"]);
    let artifact = seen.artifact();
    assert!(artifact.reviewers.is_empty());
    assert_eq!(artifact.result.overall_correctness, "unknown");
    assert_eq!(artifact.trust.reasons, [TrustReason::EmptyDiff]);
}

#[actix::test]
async fn a_partial_review_is_a_review_with_a_warning() {
    let seen = review(plan(vec![
        reviewer("good", TestEngine::content()),
        reviewer("bad", failing("not logged in")),
    ]))
    .await;
    assert_eq!(
        seen.artifact().warnings,
        ["Reviewer bad failed: not logged in"]
    );
    assert_eq!(seen.error_of("bad").code, ErrorCode::MissingAuth);
}

#[actix::test]
async fn a_failed_preflight_is_final_and_told_at_once() {
    let engine = TestEngine::content()
        .checking(|_| Err(Failure::new(ErrorCode::MissingRequirement, "not installed")));
    let seen = review(plan(vec![reviewer("a", engine)])).await;
    assert_eq!(
        seen.story(),
        ["run of 1", "check a", "checked false a", "failed a"]
    );
    let failed = seen.failed();
    assert_eq!(failed.failure.code, ErrorCode::MissingRequirement);
    assert_eq!(failed.reviewer.as_ref().unwrap().0.0, "a");
}

#[actix::test]
async fn no_more_than_the_limit_run_at_a_time() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let engine = || {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        TestEngine::working(move |_| {
            let running = now.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(running, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(10));
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(answer(&[]))
        })
    };
    let ids = ["a", "b", "c", "d", "e", "f"];
    let mut plan = plan(ids.iter().map(|id| reviewer(id, engine())).collect());
    plan.policy.max_concurrency = 2;
    let seen = review(plan).await;
    assert_eq!(seen.artifact().reviewers.len(), 6);
    assert!(most.load(Ordering::SeqCst) <= 2);
}

#[actix::test]
async fn strict_mode_stops_the_others_at_the_first_failure() {
    let ran = Arc::new(AtomicBool::new(false));
    let witness = Arc::clone(&ran);
    let waiting = TestEngine::working(move |_| {
        witness.store(true, Ordering::SeqCst);
        Ok(answer(&[]))
    });
    let mut plan = plan(vec![
        reviewer("endless", TestEngine::endless()),
        reviewer("bad", failing("boom")),
        reviewer("waiting", waiting),
    ]);
    plan.policy.strict = true;
    plan.policy.max_concurrency = 2;
    plan.integrity = vec![finding("[P0] A key")];
    let seen = review(plan).await;
    let failed = seen.failed();
    assert_eq!(
        failed.failure.message,
        "Reviewer failed in strict mode: bad: boom"
    );
    assert_eq!(failed.failure.exit_code(), 3);
    assert_eq!(failed.integrity.len(), 1);
    for stopped in ["endless", "waiting"] {
        assert_eq!(seen.error_of(stopped).reason, Some(Reason::Interrupted));
    }
    assert!(!ran.load(Ordering::SeqCst));
}

/// An hour passes in no time: the clock is stopped, and moved by hand once the engine is at work.
#[actix::test]
async fn the_budget_counts_from_the_permit_and_covers_preflight_and_run() {
    tokio::time::pause();
    for phase in ["preflight", "run"] {
        let (begun, mut begins) = tokio::sync::mpsc::unbounded_channel();
        // Preflight has no token to look at, so it holds out until the test lets go.
        let (release, gate) = mpsc::channel::<()>();
        let gate = Mutex::new(gate);
        let engine = if phase == "run" {
            TestEngine::working(move |token| {
                begun.send(()).unwrap();
                until_cancelled(token);
                Ok(answer(&[]))
            })
        } else {
            TestEngine::content().checking(move |_| {
                begun.send(()).unwrap();
                gate.lock().unwrap().recv().unwrap_err();
                Ok(Preflight::Known(PreflightPass::default()))
            })
        };
        let mut slow = reviewer("slow", engine);
        slow.timeout = Some(Duration::from_secs(3600));
        let clock = async {
            begins.recv().await.unwrap();
            for _ in 0..1_000_000 {
                tokio::time::advance(Duration::from_secs(3600)).await;
                tokio::task::yield_now().await;
            }
        };
        let seen = tokio::select! {
            seen = review_watched(plan(vec![slow]), |_, _| Ok(())) => seen,
            () = clock => panic!("the budget never ends"),
        };
        drop(release);
        let failure = &seen.failed().failure;
        assert_eq!(failure.code, ErrorCode::Timeout);
        assert_eq!(failure.reason, Some(Reason::Timeout));
        assert_eq!(
            failure.message,
            format!("Reviewer timed out during {phase}: slow")
        );
    }
}

#[actix::test]
async fn a_panic_anywhere_in_an_engine_is_that_reviewers_failure() {
    struct Panicking;
    impl Dialogue for Panicking {
        fn on_line(&mut self, _: &str) -> Vec<Action> {
            panic!("boom in a line")
        }

        fn on_exit(self: Box<Self>, _: Captured) -> Result<Answer, Failure> {
            unreachable!("it panicked before")
        }
    }
    let child = TestEngine::asking(|request| {
        let mut command = CommandSpec::new("/bin/sh", &request.place.run_dir);
        command.args = vec!["-c".into(), "echo line; sleep 600".into()];
        let dialogue = Box::new(Panicking);
        Ok(Start::Process { command, dialogue })
    });
    let judge = TestEngine::content().checking(|_| {
        Ok(Preflight::Probe {
            commands: vec![],
            judge: Box::new(|_| panic!("boom in a judge")),
        })
    });
    let seen = review(plan(vec![
        reviewer(
            "check",
            TestEngine::content().checking(|_| panic!("boom in preflight")),
        ),
        reviewer("judge", judge),
        reviewer("ask", TestEngine::asking(|_| panic!("boom in review"))),
        reviewer("work", TestEngine::working(|_| panic!("boom in work"))),
        reviewer("line", child),
        reviewer("fine", TestEngine::content()),
    ]))
    .await;
    for id in ["check", "judge", "ask", "work", "line"] {
        let error = seen.error_of(id);
        assert_eq!(error.code, ErrorCode::ReviewerFailed, "{id}");
        assert_eq!(error.reason, Some(Reason::Crash), "{id}");
    }
    assert_eq!(seen.artifact().warnings.len(), 5);
    assert!(matches!(
        seen.artifact().reviewers[5],
        ReviewerEntry::Success(_)
    ));
}

#[actix::test]
async fn probes_run_side_by_side_and_are_judged_in_order() {
    // Each waits for the other's file, so one after the other would never end.
    let engine = TestEngine::content().checking(|place| {
        let probe = |own: &str, other: &str| {
            let mut command = CommandSpec::new("/bin/sh", &place.run_dir);
            let text =
                format!("touch {own}; until test -e {other}; do sleep 0.01; done; echo {own}");
            command.args = vec!["-c".into(), text.into()];
            command
        };
        Ok(Preflight::Probe {
            commands: vec![probe("a", "b"), probe("b", "a")],
            judge: Box::new(|captured| {
                let texts: Vec<_> = captured.iter().map(|c| c.stdout.as_str()).collect();
                assert_eq!(texts, ["a\n", "b\n"]);
                Ok(PreflightPass::default())
            }),
        })
    });
    let seen = review(plan(vec![reviewer("a", engine)])).await;
    assert_eq!(seen.artifact().reviewers.len(), 1);
}

#[actix::test]
async fn a_probe_that_cannot_start_ends_the_others() {
    let engine = TestEngine::content().checking(|place| {
        let mut hanging = CommandSpec::new("/bin/sh", &place.run_dir);
        hanging.args = vec!["-c".into(), "trap '' TERM; sleep 600".into()];
        Ok(Preflight::Probe {
            commands: vec![hanging, CommandSpec::new("/no/such/program", "/")],
            judge: Box::new(|_| panic!("there is nothing to judge")),
        })
    });
    let seen = review(plan(vec![reviewer("a", engine)])).await;
    assert_eq!(seen.failed().failure.code, ErrorCode::MissingRequirement);
}

#[actix::test]
async fn the_private_folders_are_gone_before_the_outcome_is_published() {
    type Folders = Arc<Mutex<Vec<PathBuf>>>;
    let note = |folders: &Folders, path: &std::path::Path| {
        assert!(path.is_dir());
        std::fs::write(path.join("secret"), "x").unwrap();
        folders.lock().unwrap().push(path.to_owned());
    };
    let (good_folders, bad_folders) = (Folders::default(), Folders::default());
    let (checked, asked) = (good_folders.clone(), good_folders.clone());
    let good = TestEngine::asking(move |request| {
        note(&asked, &request.place.run_dir);
        Ok(Start::InProcess(Box::new(|_| Ok(answer(&[])))))
    })
    .checking(move |place| {
        note(&checked, &place.run_dir);
        Ok(Preflight::Known(PreflightPass::default()))
    });
    let crashed = bad_folders.clone();
    let bad = TestEngine::asking(move |request| {
        note(&crashed, &request.place.run_dir);
        panic!("boom")
    });
    let plan = plan(vec![reviewer("good", good), reviewer("bad", bad)]);
    // Per outcome: how many folders its own reviewer had, and how many of them are left. The
    // other reviewer may still be at work.
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let found = outcomes.clone();
    review_watched(plan, move |frame, _| {
        let word = word(frame);
        let folders = match word.as_str() {
            "result good" => &good_folders,
            "failed bad" => &bad_folders,
            _ => return Ok(()),
        };
        let folders = folders.lock().unwrap();
        let left = folders.iter().filter(|path| path.exists()).count();
        found.lock().unwrap().push((word, folders.len(), left));
        Ok(())
    })
    .await;
    let mut outcomes = outcomes.lock().unwrap().clone();
    outcomes.sort();
    assert_eq!(
        outcomes,
        [("failed bad".into(), 1, 0), ("result good".into(), 2, 0)]
    );
}

#[actix::test]
async fn the_first_signal_asks_everybody_and_ends_the_run() {
    let mut plan = plan(vec![
        reviewer("running", TestEngine::endless()),
        reviewer("waiting", TestEngine::content()),
    ]);
    plan.policy.max_concurrency = 1;
    let seen = review_watched(plan, |frame, interrupts| {
        if word(frame) == "started running" {
            interrupts.send(Interrupt::Signal(15)).unwrap();
        }
        Ok(())
    })
    .await;
    let failure = &seen.failed().failure;
    assert_eq!(failure.code, ErrorCode::ReviewerFailed);
    assert_eq!(failure.reason, Some(Reason::Interrupted));
    assert_eq!(failure.exit_code(), 143);
    for id in ["running", "waiting"] {
        assert_eq!(seen.error_of(id).reason, Some(Reason::Interrupted));
    }
}

#[actix::test]
async fn the_second_signal_does_not_wait_for_the_grace() {
    let stubborn = TestEngine::working(|token| {
        until_cancelled(token);
        std::thread::sleep(Duration::from_millis(300));
        Ok(answer(&[]))
    });
    let mut plan = plan(vec![reviewer("stubborn", stubborn)]);
    plan.policy.grace = Duration::from_secs(3600);
    let seen = review_watched(plan, |frame, interrupts| {
        if word(frame) == "started stubborn" {
            interrupts.send(Interrupt::Signal(2)).unwrap();
            interrupts.send(Interrupt::Signal(2)).unwrap();
        }
        Ok(())
    })
    .await;
    assert_eq!(seen.failed().failure.exit_code(), 130);
}

#[actix::test]
async fn a_closed_output_ends_the_run() {
    let plan = plan(vec![reviewer("a", TestEngine::endless())]);
    let seen = review_watched(plan, |frame, _| match word(frame).as_str() {
        "started a" => Err(io::ErrorKind::BrokenPipe.into()),
        _ => Ok(()),
    })
    .await;
    let failure = &seen.failed().failure;
    assert_eq!(failure.reason, Some(Reason::Interrupted));
    assert_eq!(failure.exit_code(), 3);
}

#[test]
fn the_door_runs_a_system_and_does_not_wait_for_hung_work() {
    let (_hold, gate) = mpsc::channel::<()>();
    let gate = Mutex::new(gate);
    let hung = TestEngine::working(move |_| {
        // Deaf to the token; ends with the test.
        let _ = gate.lock().unwrap().recv();
        Ok(answer(&[]))
    });
    let mut hung = reviewer("hung", hung);
    hung.timeout = Some(Duration::from_millis(50));
    let plan = plan(vec![hung, reviewer("fine", TestEngine::content())]);
    let (interrupts, receiver) = interrupt_channel();
    let sinks = SinkSet::spawn(vec![], interrupts);
    let outcome = crate::run(plan, &sinks, receiver);
    sinks.finish(&outcome).unwrap();
    let seen = Seen {
        outcome,
        frames: vec![],
    };
    assert_eq!(
        seen.artifact().warnings,
        ["Reviewer hung failed: Reviewer timed out during run: hung"]
    );
}
