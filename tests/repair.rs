//! Answers that cannot be read: transcribed, asked for again, or kept as far as they fit; and waits
//! for a provider. All through the binary, with a real child for every request.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Run, TestEnvironment, edit_finding, finding, rate_limited, reply};

/// A word of the request to transcribe that no review has in its prompt.
const MENDING: &str = "transcriber";

const HALF: &str = "{\"findings\": [{\"title\": \"[P1] Two is not one\", \"body\": \"It";

/// A course of requests to one reviewer, and what came of it.
struct Course {
    environment: TestEnvironment,
    run: Run,
}

impl Course {
    /// Runs one reviewer that answers requests for a review in turn, the last of them for ever, and
    /// requests to transcribe always alike.
    fn run(reviews: &[Value], mending: &Value, args: &[&str]) -> Self {
        let environment = TestEnvironment::with_edit();
        let noted = |what: &str, steps: &Value| {
            let note = json!({"append": {"path": environment.path("asked"), "text": what}});
            let steps = steps
                .as_array()
                .cloned()
                .unwrap_or_else(|| vec![steps.clone()]);
            json!([vec![note, environment.record()], steps].concat())
        };
        let mut runs = vec![json!({"contains": MENDING, "steps": noted("repair", mending)})];
        for (position, review) in reviews.iter().enumerate() {
            let mut run = json!({"steps": noted("review", review)});
            if position + 1 < reviews.len() {
                run["times"] = json!(1);
            }
            runs.push(run);
        }
        environment.install_codex(&json!({ "runs": runs }));
        let args = [&["--reviewer", "codex", "--json"][..], args].concat();
        let run = environment.review(&args);
        assert_eq!(environment.left_over(), [] as [std::path::PathBuf; 0]);
        Self { environment, run }
    }

    /// Returns what the engine was asked, in order.
    fn asked(&self) -> Vec<String> {
        let asked = fs::read_to_string(self.environment.path("asked")).unwrap_or_default();
        asked.lines().map(str::to_owned).collect()
    }

    fn artifact(&self) -> Value {
        assert_eq!((self.run.code, self.run.stderr.as_str()), (0, ""));
        self.run.json()
    }

    fn error(&self) -> (i32, Value) {
        (self.run.code, self.run.json()["error"].clone())
    }
}

fn text(text: &str) -> Value {
    json!({ "text": text })
}

fn one_finding() -> Value {
    reply(&[edit_finding("[P1] Two is not one")])
}

/// An answer with a finding that fits and one that does not.
fn mixed() -> Value {
    let mut bad = edit_finding("[P1] Too urgent");
    bad["priority"] = json!(9);
    reply(&[edit_finding("[P1] Two is not one"), bad])
}

fn transcription(fixable: bool, confidence: &str, review: &Value) -> Value {
    json!({"reply": {"fixable": fixable, "confidence": confidence, "review": review}})
}

fn good_transcription() -> Value {
    transcription(true, "medium", &one_finding()["reply"])
}

fn labels(artifact: &Value) -> &Value {
    &artifact["reviewers"][0]["adapter_metadata"]
}

fn has_reason(artifact: &Value, reason: &str) -> bool {
    let reasons = artifact["trust"]["reasons"].as_array();
    reasons.expect("reasons").contains(&json!(reason))
}

#[test]
fn an_accepted_transcription_is_the_answer_and_says_so() {
    let course = Course::run(&[text(HALF)], &good_transcription(), &["--strict"]);
    assert_eq!(course.asked(), ["review", "repair"]);
    let artifact = course.artifact();
    let labels = labels(&artifact);
    assert_eq!(labels["captureMode"], "repaired");
    assert_eq!(labels["repairConfidence"], "medium");
    assert!(
        labels["repairFailureReason"]
            .as_str()
            .is_some_and(|it| !it.is_empty())
    );
    assert_eq!(labels.get("attempts"), None);
    assert_eq!(artifact["validation"]["parse_mode"], "tool-output");
    assert_eq!(artifact["validation"]["valid_schema"], true);
    assert_eq!(artifact["raw_text"], HALF);
    assert_eq!(
        artifact["result"]["findings"][0]["title"],
        "[P1] Two is not one"
    );
    assert_eq!(artifact["trust"], json!({"clean": true, "reasons": []}));
    // Both requests are paid for.
    assert_eq!(artifact["reviewers"][0]["usage"]["input_tokens"], 200);

    let prompts = course.environment.recorded("stdin");
    let (mending, reviews): (Vec<_>, Vec<_>) =
        prompts.iter().partition(|prompt| prompt.contains(MENDING));
    assert_eq!((mending.len(), reviews.len()), (1, 1));
    assert!(mending[0].contains(HALF), "{}", mending[0]);
    assert!(
        !mending[0].contains("+    2"),
        "the patch is none of its business"
    );
}

#[test]
fn a_transcription_that_is_no_good_leads_to_one_second_review() {
    let review = &one_finding()["reply"];
    for mending in [
        transcription(true, "low", review),
        transcription(false, "high", &Value::Null),
        transcription(true, "high", &json!({"findings": []})),
        text("I would rather not."),
        json!(["abort"]),
        json!([{"fail_turn": "it fell over"}, {"exit": 1}]),
    ] {
        let course = Course::run(&[text("It returns two."), one_finding()], &mending, &[]);
        assert_eq!(course.asked(), ["review", "repair", "review"], "{mending}");
        let artifact = course.artifact();
        let labels = labels(&artifact);
        assert_eq!(labels["attempts"], 2, "{mending}");
        for name in ["firstAttemptFailureReason", "repairRejectedReason"] {
            let why = labels[name].as_str().unwrap_or_default();
            assert!(!why.is_empty(), "{name} with {mending}");
        }
        assert_ne!(labels["captureMode"], "repaired");
        assert_eq!(artifact["validation"]["valid_schema"], true);
        assert_eq!(
            artifact["result"]["findings"].as_array().map(Vec::len),
            Some(1)
        );
        assert_eq!(artifact["trust"]["clean"], true, "{}", artifact["trust"]);
    }
}

#[test]
fn a_transcription_that_says_something_else_is_not_taken_for_the_answer() {
    let whole = one_finding()["reply"].to_string();
    let broken = &whole[..whole.len() - 1];
    let clean = &reply(&[])["reply"];
    let mut other_verdict = one_finding()["reply"].clone();
    other_verdict["overall_correctness"] = json!("patch is correct");
    let more = reply(&[
        edit_finding("[P1] Two is not one"),
        edit_finding("[P0] Not said"),
    ]);
    for review in [clean, &other_verdict, &more["reply"]] {
        let mending = transcription(true, "high", review);
        let course = Course::run(&[text(broken), one_finding()], &mending, &[]);
        assert_eq!(course.asked(), ["review", "repair", "review"], "{review}");
        let artifact = course.artifact();
        let why = labels(&artifact)["repairRejectedReason"].to_string();
        assert!(why.contains("the transcription"), "{why}");
        let findings = artifact["result"]["findings"].as_array();
        assert_eq!(findings.map(Vec::len), Some(1));
    }
}

#[test]
fn prose_stays_prose_when_nothing_helps() {
    let mending = transcription(false, "high", &Value::Null);
    let answers = [text("It returns two."), text("It still returns two.")];
    let course = Course::run(&answers, &mending, &[]);
    assert_eq!(course.asked(), ["review", "repair", "review"]);
    let artifact = course.artifact();
    assert_eq!(artifact["validation"]["parse_mode"], "fallback-text");
    assert_eq!(artifact["raw_text"], "It still returns two.");
    assert!(has_reason(&artifact, "fallback_text"));
    let (exit, error) = Course::run(&answers, &mending, &["--strict"]).error();
    assert_eq!((exit, &error["code"]), (4, &json!("parse_failed")));
}

#[test]
fn findings_that_fit_are_kept_of_an_answer_that_does_not() {
    let mending = transcription(true, "low", &one_finding()["reply"]);
    let course = Course::run(&[mixed()], &mending, &[]);
    assert_eq!(course.asked(), ["review", "repair", "review"]);
    let artifact = course.artifact();
    assert_eq!(
        labels(&artifact)["salvaged"],
        json!({"kept": 1, "dropped": 1})
    );
    assert_eq!(
        artifact["result"]["findings"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(artifact["validation"]["parse_mode"], "fallback-text");
    assert_eq!(artifact["validation"]["valid_schema"], false);
    assert!(has_reason(&artifact, "salvaged"), "{}", artifact["trust"]);
    let (exit, error) = Course::run(&[mixed()], &mending, &["--strict"]).error();
    assert_eq!((exit, &error["code"]), (4, &json!("parse_failed")));
}

#[test]
fn a_finding_in_a_wrong_place_is_never_a_reason_to_ask_again() {
    let outside = reply(&[finding("[P1] Elsewhere", 1, "src/none.rs", (900, 901))]);
    let course = Course::run(std::slice::from_ref(&outside), &good_transcription(), &[]);
    assert_eq!(course.asked(), ["review"]);
    let artifact = course.artifact();
    assert_eq!(artifact["result"]["findings"][0]["title"], "[P1] Elsewhere");
    assert_eq!(labels(&artifact).get("attempts"), None);
    let strict = Course::run(&[outside], &good_transcription(), &["--strict"]);
    assert_eq!(strict.asked(), ["review"]);
    let (exit, error) = strict.error();
    assert_eq!((exit, &error["code"]), (4, &json!("validation_failed")));
}

#[test]
fn a_failed_engine_is_not_asked_again() {
    for (steps, code) in [
        (json!(["abort"]), "reviewer_failed"),
        (
            json!([{"fail_turn": "it fell over"}, {"exit": 1}]),
            "reviewer_failed",
        ),
        (
            json!([{"fail_turn": "unexpected status 401 Unauthorized"}, {"exit": 1}]),
            "missing_auth",
        ),
    ] {
        let course = Course::run(&[steps, one_finding()], &good_transcription(), &[]);
        assert_eq!(course.asked(), ["review"]);
        let (exit, error) = course.error();
        assert_eq!((exit, &error["code"]), (3, &json!(code)));
    }
}

#[test]
fn an_answer_without_a_word_is_asked_for_once_more() {
    let course = Course::run(&[text(""), one_finding()], &good_transcription(), &[]);
    assert_eq!(course.asked(), ["review", "review"]);
    let artifact = course.artifact();
    assert_eq!(labels(&artifact)["attempts"], 2);
    let course = Course::run(&[text("")], &good_transcription(), &[]);
    assert_eq!(course.asked(), ["review", "review"]);
    let (exit, error) = course.error();
    assert_eq!((exit, &error["reason"]), (3, &json!("empty")));
}

#[test]
fn everything_that_is_asked_shares_one_budget() {
    let course = Course::run(
        &[text("It returns two.")],
        &json!(["hang"]),
        &["--timeout", "3"],
    );
    assert_eq!(course.asked(), ["review", "repair"]);
    // What was said before the time was over is kept.
    let artifact = course.artifact();
    assert_eq!(artifact["raw_text"], "It returns two.");
    assert!(has_reason(&artifact, "fallback_text"));
    let why = labels(&artifact)["repairRejectedReason"].as_str();
    assert!(why.is_some_and(|it| it.contains("timed out")), "{why:?}");
}

#[test]
fn a_provider_is_waited_for_once() {
    let limited = || json!(rate_limited("50ms"));
    let course = Course::run(&[limited(), one_finding()], &good_transcription(), &[]);
    assert_eq!(course.asked(), ["review", "review"]);
    let artifact = course.artifact();
    assert_eq!(labels(&artifact)["rateLimitWaitMs"], 50);
    assert_eq!(labels(&artifact).get("attempts"), None);
    assert_eq!(artifact["trust"]["clean"], true);

    let course = Course::run(&[limited()], &good_transcription(), &[]);
    assert_eq!(course.asked(), ["review", "review"]);
    let (exit, error) = course.error();
    assert_eq!((exit, &error["reason"]), (3, &json!("rate_limit")));
}

#[test]
fn a_wait_that_does_not_fit_the_budget_is_not_begun() {
    for (wait, args) in [("2 minutes", &["--timeout", "30"][..]), ("3 minutes", &[])] {
        let course = Course::run(
            &[json!(rate_limited(wait)), one_finding()],
            &json!([]),
            args,
        );
        assert_eq!(course.asked(), ["review"], "{wait}");
        let (exit, error) = course.error();
        assert_eq!((exit, &error["reason"]), (3, &json!("rate_limit")));
    }
}

#[test]
fn who_waits_lets_others_go_first() {
    let environment = TestEnvironment::with_edit();
    let order = environment.path("order");
    let note = |name: &str| json!({"append": {"path": order, "text": name}});
    environment.codex_reviewers(&[("alpha", json!([])), ("beta", json!([]))]);
    let [refusal, exit] = rate_limited("300ms");
    environment.install_codex(&json!({"runs": [
        {"contains": "model-alpha", "times": 1, "steps": [note("alpha"), refusal, exit]},
        {"contains": "model-alpha", "steps": [note("alpha again"), reply(&[])]},
        {"contains": "model-beta", "steps": [note("beta"), reply(&[])]},
    ]}));
    let run = environment.review(&["--jobs", "1", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let order = fs::read_to_string(order).expect("somebody was asked");
    assert_eq!(
        order.lines().collect::<Vec<_>>(),
        ["alpha", "beta", "alpha again"]
    );
}
