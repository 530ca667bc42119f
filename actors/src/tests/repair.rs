//! Courses of more than one request: repairs, second reviews, waits, and what is told of them.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::*;
use crate::engine::{CancelToken, CaptureMode, Payload, Progress};
use crate::model::{ParseMode, SuccessfulReviewer};

fn text(text: impl Into<String>) -> Result<Answer, Failure> {
    Ok(Answer {
        payload: Payload::Text(text.into()),
        capture_mode: CaptureMode::Text,
        metadata: Map::from_iter([("readonlyCapability".to_owned(), "enforced".into())]),
        usage: Some(json!({ "input_tokens": 10 })),
    })
}

fn failure(reason: Reason) -> Result<Answer, Failure> {
    Err(Failure::new(ErrorCode::ReviewerFailed, format!("{reason:?}")).reason(reason))
}

fn limited(wait: Duration) -> Result<Answer, Failure> {
    Err(failure(Reason::RateLimit).unwrap_err().retry_after(wait))
}

fn review_object() -> Value {
    json!({
        "findings": [{
            "title": "[P1] Wrong",
            "body": "because",
            "confidence_score": 0.9,
            "priority": 1,
            "code_location": {
                "absolute_file_path": "/nowhere/repo/a.rs",
                "line_range": { "start": 1, "end": 1 }
            }
        }],
        "overall_correctness": "patch is incorrect",
        "overall_explanation": "looked",
        "overall_confidence_score": 0.5
    })
}

/// A review of one good finding and one that does not fit.
fn mixed() -> Value {
    let mut mixed = review_object();
    let mut bad = mixed["findings"][0].clone();
    bad["priority"] = json!(7);
    mixed["findings"].as_array_mut().unwrap().push(bad);
    mixed
}

fn repaired(confidence: &str) -> Result<Answer, Failure> {
    let review = review_object();
    text(json!({ "fixable": true, "confidence": confidence, "review": review }).to_string())
}

type Answers = Arc<Mutex<VecDeque<Result<Answer, Failure>>>>;

fn answers(of: Vec<Result<Answer, Failure>>) -> Answers {
    Arc::new(Mutex::new(of.into()))
}

fn next(answers: &Answers) -> Start {
    let answer = answers.lock().unwrap().pop_front();
    let answer = answer.expect("asked too often");
    Start::InProcess(Box::new(move |_: &CancelToken| answer))
}

/// What an engine was asked, and where.
#[derive(Default, Clone)]
struct Asked(Arc<Mutex<Vec<(&'static str, PathBuf)>>>);

impl Asked {
    fn note(&self, what: &'static str, folder: &Path) {
        self.0.lock().unwrap().push((what, folder.to_owned()));
    }

    fn words(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().iter().map(|asked| asked.0).collect()
    }

    fn folders(&self) -> BTreeSet<PathBuf> {
        let asked = self.0.lock().unwrap();
        asked.iter().map(|asked| asked.1.clone()).collect()
    }
}

/// Gives these answers to reviews and repairs alike, in turn.
fn scripted(of: Vec<Result<Answer, Failure>>) -> (TestEngine, Asked) {
    let asked = Asked::default();
    let (to_ask, to_mend) = (asked.clone(), asked.clone());
    let for_reviews = answers(of);
    let for_repairs = Arc::clone(&for_reviews);
    let engine = TestEngine::asking(move |request| {
        to_ask.note("review", &request.place.run_dir);
        Ok(next(&for_reviews))
    })
    .mending(move |request| {
        assert!(request.prompt.starts_with("transcribe, because "));
        assert_eq!(request.schema, crate::answer::repair_schema());
        to_mend.note("repair", &request.place.run_dir);
        Ok(next(&for_repairs))
    });
    (engine, asked)
}

async fn course(of: Vec<Result<Answer, Failure>>, strict: bool) -> (Seen, Vec<&'static str>) {
    let (engine, asked) = scripted(of);
    let mut plan = plan(vec![reviewer("a", engine)]);
    plan.policy.strict = strict;
    let seen = review(plan).await;
    let (words, folders) = (asked.words(), asked.folders());
    assert_eq!(folders.len(), words.len(), "a folder was used twice");
    assert!(folders.iter().all(|folder| !folder.exists()));
    (seen, words)
}

impl Seen {
    fn only(&self) -> &SuccessfulReviewer {
        let [ReviewerEntry::Success(entry)] = self.artifact().reviewers.as_slice() else {
            panic!("one reviewer succeeds");
        };
        entry
    }

    fn labels(&self) -> &Map<String, Value> {
        self.only().adapter_metadata.as_ref().unwrap()
    }

    fn label(&self, name: &str) -> &str {
        self.labels()[name].as_str().unwrap()
    }
}

#[actix::test]
async fn an_accepted_repair_is_labelled_and_keeps_the_original() {
    let malformed = "{\"findings\": [";
    let (seen, asked) = course(vec![text(malformed), repaired("medium")], true).await;
    assert_eq!(asked, ["review", "repair"]);
    let entry = seen.only();
    assert_eq!(entry.result.findings.len(), 1);
    assert_eq!(entry.validation.parse_mode, ParseMode::ToolOutput);
    assert!(entry.validation.valid_schema);
    assert_eq!(entry.raw_text.as_deref(), Some(malformed));
    assert_eq!(entry.usage, Some(json!({ "input_tokens": 20 })));
    assert_eq!(seen.label("captureMode"), "repaired");
    assert_eq!(seen.label("repairConfidence"), "medium");
    assert!(seen.label("repairFailureReason").contains("EOF"));
    let keys: Vec<_> = seen.labels().keys().collect();
    assert_eq!(
        keys,
        [
            "captureMode",
            "repairConfidence",
            "repairFailureReason",
            "readonlyCapability"
        ]
    );
    assert_eq!(
        seen.story_of("a"),
        ["check a", "checked true a", "started a", "result a"]
    );
}

#[actix::test]
async fn a_refused_repair_leads_to_one_labelled_second_review() {
    for refused in [
        repaired("low"),
        text("no"),
        failure(Reason::Auth),
        failure(Reason::Empty),
    ] {
        let answers = vec![text("prose"), refused, text(review_object().to_string())];
        let (seen, asked) = course(answers, false).await;
        assert_eq!(asked, ["review", "repair", "review"]);
        assert_eq!(seen.labels()["attempts"], 2);
        assert_eq!(seen.label("captureMode"), "text");
        assert!(!seen.label("firstAttemptFailureReason").is_empty());
        assert!(!seen.label("repairRejectedReason").is_empty());
        assert!(!seen.labels().contains_key("repairConfidence"));
        assert_eq!(seen.only().result.findings.len(), 1);
        assert!(seen.only().validation.valid_schema);
    }
}

#[actix::test]
async fn prose_twice_is_kept_as_text() {
    let answers = || vec![text("first"), repaired("low"), text("second")];
    let (seen, _) = course(answers(), false).await;
    let entry = seen.only();
    assert_eq!(entry.result.overall_explanation, "second");
    assert_eq!(entry.validation.parse_mode, ParseMode::FallbackText);
    assert_eq!(seen.labels()["attempts"], 2);
    let reasons = &seen.artifact().trust.reasons;
    assert!(reasons.contains(&TrustReason::FallbackText));

    let (seen, _) = course(answers(), true).await;
    assert_eq!(seen.failed().failure.code, ErrorCode::ParseFailed);
    assert_eq!(seen.failed().failure.exit_code(), 4);
}

#[actix::test]
async fn findings_that_fit_are_salvaged_when_nothing_else_helps() {
    for (first, second) in [
        (text(mixed().to_string()), text("prose")),
        (text("prose"), text(mixed().to_string())),
        (text(mixed().to_string()), text(mixed().to_string())),
        (text(mixed().to_string()), failure(Reason::Crash)),
        (failure(Reason::Empty), text(mixed().to_string())),
    ] {
        let mut answers = vec![first, repaired("low"), second];
        if answers[0].is_err() {
            // There is nothing to transcribe.
            drop(answers.remove(1));
        }
        let (seen, _) = course(answers, false).await;
        let entry = seen.only();
        assert_eq!(entry.result.findings.len(), 1);
        assert_eq!(entry.result.overall_correctness, "patch is incorrect");
        assert_eq!(entry.validation.parse_mode, ParseMode::FallbackText);
        assert!(!entry.validation.valid_schema);
        assert_eq!(entry.raw_text, Some(mixed().to_string()));
        let counts = json!({ "kept": 1, "dropped": 1 });
        assert_eq!(seen.labels()["salvaged"], counts);
        assert_eq!(seen.labels()["attempts"], 2);
        let artifact = seen.artifact();
        assert_eq!(artifact.result.findings.len(), 1);
        assert!(artifact.trust.reasons.contains(&TrustReason::Salvaged));
    }
}

#[actix::test]
async fn nothing_is_salvaged_in_strict_mode_or_when_an_answer_fits() {
    let answers = vec![
        text(mixed().to_string()),
        repaired("low"),
        text(mixed().to_string()),
    ];
    let (seen, _) = course(answers, true).await;
    assert_eq!(seen.failed().failure.code, ErrorCode::ParseFailed);

    let answers = vec![
        text(mixed().to_string()),
        repaired("low"),
        text(review_object().to_string()),
    ];
    let (seen, _) = course(answers, false).await;
    assert!(!seen.labels().contains_key("salvaged"));
}

#[actix::test]
async fn an_empty_answer_is_asked_for_once_more() {
    let (seen, asked) = course(vec![text(" "), text(review_object().to_string())], false).await;
    assert_eq!(asked, ["review", "review"]);
    assert_eq!(seen.labels()["attempts"], 2);

    let (seen, asked) = course(vec![failure(Reason::Empty), text("")], false).await;
    assert_eq!(asked, ["review", "review"]);
    let failed = &seen.failed().failure;
    assert_eq!(failed.reason, Some(Reason::Empty));
    assert!(failed.message.contains("second attempt"), "{failed}");
}

#[actix::test]
async fn failed_engines_and_wrong_places_are_neither_repaired_nor_asked_again() {
    for reason in [
        Reason::Auth,
        Reason::Quota,
        Reason::RateLimit,
        Reason::Timeout,
        Reason::Crash,
        Reason::Refused,
        Reason::Protocol,
    ] {
        let (seen, asked) = course(vec![failure(reason)], false).await;
        assert_eq!(asked, ["review"]);
        assert_eq!(seen.failed().failure.reason, Some(reason));
    }
    let mut elsewhere = review_object();
    let range = json!({ "start": 90, "end": 91 });
    elsewhere["findings"][0]["code_location"]["line_range"] = range;
    let (seen, asked) = course(vec![text(elsewhere.to_string())], false).await;
    assert_eq!(asked, ["review"]);
    assert!(!seen.only().validation.valid_locations);
    assert!(!seen.labels().contains_key("attempts"));
}

#[actix::test]
async fn an_engine_that_cannot_repair_is_asked_again() {
    let answers = answers(vec![text("prose"), text(review_object().to_string())]);
    let engine = TestEngine::asking(move |_| Ok(next(&answers)));
    let seen = review(plan(vec![reviewer("a", engine)])).await;
    assert_eq!(seen.labels()["attempts"], 2);
    assert!(!seen.labels().contains_key("repairRejectedReason"));
}

/// An engine that says prose and never ends its repair; it tells when that has begun.
fn hanging_in_repair(begun: tokio::sync::mpsc::UnboundedSender<()>) -> TestEngine {
    let answers = answers(vec![text("prose")]);
    TestEngine::asking(move |_| Ok(next(&answers))).mending(move |_| {
        let begun = begun.clone();
        Ok(Start::InProcess(Box::new(move |token| {
            begun.send(()).unwrap();
            until_cancelled(token);
            text("late")
        })))
    })
}

#[actix::test]
async fn the_budget_covers_the_repair_and_what_was_said_is_kept() {
    tokio::time::pause();
    let (begun, mut begins) = tokio::sync::mpsc::unbounded_channel();
    let mut slow = reviewer("a", hanging_in_repair(begun));
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
    assert_eq!(seen.only().result.overall_explanation, "prose");
    assert!(seen.label("repairRejectedReason").contains("timed out"));
}

#[actix::test]
async fn an_interrupt_during_a_repair_is_an_interrupt() {
    let (begun, mut begins) = tokio::sync::mpsc::unbounded_channel();
    let plan = plan(vec![reviewer("a", hanging_in_repair(begun))]);
    let seen = review_watched(plan, move |frame, interrupts| {
        if word(frame) == "started a" {
            begins.blocking_recv().unwrap();
            interrupts.send(Interrupt::Signal(2)).unwrap();
        }
        Ok(())
    })
    .await;
    assert_eq!(seen.failed().failure.exit_code(), 130);
    assert_eq!(seen.error_of("a").reason, Some(Reason::Interrupted));
}

/// Moves a stopped clock, again and again, until the run has ended.
async fn in_no_time(plan: RunPlan) -> Seen {
    tokio::time::pause();
    let clock = async {
        loop {
            tokio::time::advance(Duration::from_millis(100)).await;
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        seen = review_watched(plan, |_, _| Ok(())) => seen,
        () = clock => unreachable!("a clock never ends"),
    }
}

#[actix::test]
async fn a_rate_limited_reviewer_waits_once_as_told_and_lends_its_permit() {
    let wait = Duration::from_secs(60);
    let (engine, asked) = scripted(vec![limited(wait), text("prose"), repaired("high")]);
    let mut plan = plan(vec![
        reviewer("limited", engine),
        reviewer("other", TestEngine::content()),
    ]);
    plan.policy.max_concurrency = 1;
    let seen = in_no_time(plan).await;
    assert_eq!(asked.words(), ["review", "review", "repair"]);
    let story = seen.story();
    let place = |word: &str| story.iter().position(|known| known == word).unwrap();
    assert!(
        place("started other") < place("result limited"),
        "{story:?}"
    );
    let ReviewerEntry::Success(entry) = &seen.artifact().reviewers[0] else {
        panic!("the wait helped");
    };
    let labels = entry.adapter_metadata.as_ref().unwrap();
    assert_eq!(labels["rateLimitWaitMs"], 60_000);
    assert!(!labels.contains_key("attempts"));
    assert!(entry.timing_ms.unwrap() >= 60_000);
}

#[actix::test]
async fn a_wait_that_does_not_fit_or_does_not_help_is_the_failure_it_was() {
    let minute = Duration::from_secs(60);
    for (wait, budget, asks) in [
        (60 * minute, Some(60 * minute), 1),
        (minute, Some(100_000 * minute), 2),
        (3 * minute, None, 1),
    ] {
        let (engine, asked) = scripted(vec![limited(wait), limited(wait)]);
        let mut limited = reviewer("a", engine);
        limited.timeout = budget;
        let seen = in_no_time(plan(vec![limited])).await;
        tokio::time::resume();
        assert_eq!(asked.words().len(), asks, "{wait:?} of {budget:?}");
        assert_eq!(seen.failed().failure.reason, Some(Reason::RateLimit));
    }
}

struct Lively;

impl Dialogue for Lively {
    fn on_line(&mut self, _: &str) -> Vec<Action> {
        vec![Action::Progress(Progress {
            tools: Some(3),
            ..Progress::default()
        })]
    }

    fn on_exit(self: Box<Self>, _: Captured) -> Result<Answer, Failure> {
        text(review_object().to_string())
    }
}

#[actix::test]
async fn signs_of_life_are_events_only_when_asked_for() {
    for progress in [false, true] {
        let engine = TestEngine::asking(|request| {
            let mut command = CommandSpec::new("/bin/sh", &request.place.run_dir);
            command.args = vec!["-c".into(), "echo; echo; echo".into()];
            let dialogue = Box::new(Lively);
            Ok(Start::Process { command, dialogue })
        });
        let mut plan = plan(vec![reviewer("a", engine)]);
        plan.policy.progress = progress;
        let seen = review(plan).await;
        let told = seen.frames.iter().find_map(|frame| match &frame.event {
            ReviewEvent::ReviewerProgress { tools, .. } => Some(*tools),
            _ => None,
        });
        assert_eq!(told, progress.then_some(Some(3)));
    }
}
