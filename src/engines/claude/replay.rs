//! Replays of what a real Claude printed (Claude Code 2.1.332 against a loopback model service).

use diffwarden_actors::engine::{Action, Dialogue, ExitKind, Payload, Progress};
use diffwarden_actors::model::{ErrorCode, Reason};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::dialogue::StreamDialogue;
use super::fallback::{Families, Family};
use crate::engines::shared::replay::{
    Capture, End, Outcome, capture, check_all, check_listed, converse, failed, no_login, unfit,
};
use crate::engines::shared::testing::printed;

use End::{Structured, Text};
use ErrorCode::{MissingAuth, ReviewerFailed};
use ExitKind::{Code, Signal};
use Reason::{Auth, Crash, Empty, Environment, Model, Protocol, Quota, RateLimit, Refused};

/// Every capture: its name, how the process ended, what that amounts to.
const CAPTURES: &[Capture] = &[
    ("success", Code(0), Structured),
    ("effort-invalid", Code(0), Structured),
    ("fallback-404", Code(0), Structured),
    ("fallback-529", Code(0), Structured),
    ("json-verbose-array", Code(0), Structured),
    ("read-outside-repo", Code(0), Structured),
    ("read-outside-repo-restricted", Code(0), Structured),
    ("read-then-success", Code(0), Structured),
    ("readonly-bash-attempt", Code(0), Structured),
    ("readonly-write-attempt", Code(0), Structured),
    ("recommended-rec-nested-read", Code(0), Structured),
    ("recommended-rec-outside", Code(0), Structured),
    ("structured-retry-then-ok", Code(0), Structured),
    ("unknown-model-alias", Code(0), Structured),
    ("stream-fallback-404", Code(0), Structured),
    ("stream-fallback-529", Code(0), Structured),
    ("stream-json-text-input", Code(0), Structured),
    ("stream-read-outside", Code(0), Structured),
    ("stream-read-then-success", Code(0), Structured),
    ("stream-recommended", Code(0), Structured),
    ("stream-structured-retry", Code(0), Structured),
    ("stream-success", Code(0), Structured),
    ("stream-unknown-model", Code(0), Structured),
    ("stream-write-attempt", Code(0), Structured),
    ("broken-json", Code(0), Text("{\"findings\": [")),
    ("fenced", Code(0), Text("Here is my review.")),
    ("json-text-no-tool", Code(0), Text("{\"findings\": [")),
    ("prose", Code(0), Text("I looked at the patch.")),
    ("stream-cut", Code(0), Text("{\"findings\": [")),
    ("stream-fenced", Code(0), Text("Here is my review.")),
    ("stream-json-text", Code(0), Text("{\"findings\": [")),
    ("stream-prose", Code(0), Text("I looked at the patch.")),
    ("empty", Code(0), failed(Some(Empty), "without an answer")),
    ("http400", Code(1), failed(None, "mock 400")),
    ("http401", Code(1), no_login("401")),
    ("http403", Code(1), no_login("403")),
    ("http404", Code(1), failed(Some(Model), "selected model")),
    ("model-404", Code(1), failed(Some(Model), "claude-opus-5-5")),
    (
        "http429-defaultretries",
        Code(1),
        failed(Some(RateLimit), "429"),
    ),
    ("http500-defaultretries", Code(1), failed(None, "mock 500")),
    ("http529-defaultretries", Code(1), failed(None, "mock 529")),
    (
        "conn-refused-defaultretries",
        Code(1),
        failed(Some(Environment), "ECONNREFUSED"),
    ),
    ("no-auth", Code(1), no_login("Not logged in")),
    ("no-auth-bare", Code(1), no_login("Not logged in")),
    ("refusal", Code(1), failed(Some(Refused), "safeguards")),
    ("max-tokens", Code(1), failed(None, "output token maximum")),
    ("error-max-turns", Code(1), failed(None, "limit of turns")),
    (
        "error-max-budget",
        Code(1),
        failed(
            Some(Quota),
            "after spending $2.4: Reached maximum budget ($0.5)",
        ),
    ),
    (
        "error-max-structured-output-retries",
        Code(1),
        failed(Some(Empty), "structured output"),
    ),
    ("stream-http400", Code(1), failed(None, "mock 400")),
    (
        "stream-http401",
        Code(1),
        End::FailedEarly(MissingAuth, Some(Auth), "HTTP status 401"),
    ),
    ("stream-http403", Code(1), no_login("403")),
    (
        "stream-http404",
        Code(1),
        failed(Some(Model), "selected model"),
    ),
    ("stream-http429", Code(1), failed(Some(RateLimit), "429")),
    ("stream-http500", Code(1), failed(None, "mock 500")),
    ("stream-http529", Code(1), failed(None, "mock 529")),
    (
        "stream-conn-refused",
        Code(1),
        failed(Some(Environment), "ECONNREFUSED"),
    ),
    ("stream-no-auth", Code(1), no_login("Not logged in")),
    (
        "stream-refusal",
        Code(1),
        failed(Some(Refused), "safeguards"),
    ),
    (
        "stream-max-tokens",
        Code(1),
        failed(None, "output token maximum"),
    ),
    ("stream-max-turns", Code(1), failed(None, "limit of turns")),
    ("stream-max-budget", Code(1), failed(Some(Quota), "$2.4")),
    (
        "stream-max-structured-retries",
        Code(1),
        failed(Some(Empty), "structured output"),
    ),
    (
        "stream-signal-sigint",
        Code(0),
        failed(Some(Crash), "interrupted"),
    ),
    ("usage-error", Code(1), unfit("--no-such-flag")),
    ("budget-invalid", Code(1), unfit("'abc'")),
    ("budget-zero", Code(1), unfit("'0'")),
    ("permission-mode-invalid", Code(1), unfit("bogus")),
    ("schema-invalid-json", Code(1), unfit("JSON Parse error")),
    ("schema-invalid-schema", Code(1), unfit("valid JSON Schema")),
    ("schema-path", Code(1), unfit("JSON Parse error")),
    ("empty-stdin", Code(1), failed(Some(Protocol), "prompt")),
];

const NO_FAMILIES: Families = Families {
    model: None,
    fallback: None,
};

fn run_with(families: Families, stdout: &str, exit: ExitKind, stderr: &str) -> Outcome {
    let dialogue = StreamDialogue::new(Map::new(), families);
    converse(Box::new(dialogue), stdout, printed(exit, "", stderr))
}

fn run(stdout: &str, exit: ExitKind, stderr: &str) -> Outcome {
    run_with(NO_FAMILIES, stdout, exit, stderr)
}

fn replay(name: &str, exit: ExitKind) -> Outcome {
    let [stdout, stderr] = ["stdout", "stderr"].map(|stream| capture("claude", name, stream));
    run(&stdout, exit, &stderr)
}

#[test]
fn every_capture_ends_as_it_should() {
    check_all(CAPTURES, |name, exit| {
        let outcome = replay(name, exit);
        if let Ok(answer) = &outcome
            && matches!(answer.payload, Payload::Structured(_))
        {
            assert!(answer.metadata.contains_key("resolvedModel"), "{name}");
        }
        outcome
    });
    check_listed("claude", CAPTURES, &["help"]);
}

#[test]
fn metadata_tell_model_cost_tools_and_refusals() {
    let answer = replay("stream-read-outside", Code(0)).unwrap();
    assert_eq!(answer.metadata["resolvedModel"], "claude-sonnet-5-5");
    assert_eq!(answer.metadata["modelResolutionSource"], "provider-result");
    assert_eq!(answer.metadata["toolCalls"], json!(1));
    assert_eq!(answer.metadata["permissionDenials"], json!(["Read"]));
    assert!(answer.metadata["totalCostUsd"].is_number());
    assert!(answer.metadata["numTurns"].is_number());
    assert!(answer.usage.unwrap()["total_cost_usd"].is_number());
    let answer = replay("unknown-model-alias", Code(0)).unwrap();
    let stderr = answer.metadata["stderr"].as_str().unwrap();
    assert!(stderr.contains("unrecognized_model"), "{stderr}");
}

#[test]
fn a_fallback_that_served_is_named() {
    let families = Families {
        model: Some(Family::Opus),
        fallback: Some(Family::Sonnet),
    };
    for name in ["fallback-529", "stream-fallback-404"] {
        let stdout = capture("claude", name, "stdout");
        let answer = run_with(families, &stdout, Code(0), "").unwrap();
        assert_eq!(answer.metadata["fallbackModelUsed"], "true", "{name}");
    }
}

#[test]
fn signs_of_life_count_turns_tools_and_tokens() {
    let mut dialogue = StreamDialogue::new(Map::new(), NO_FAMILIES);
    let stdout = capture("claude", "stream-read-then-success", "stdout");
    let last = stdout
        .lines()
        .flat_map(|line| dialogue.on_line(line))
        .last();
    let Some(Action::Progress(progress)) = last else {
        panic!("{last:?}");
    };
    let expected = Progress {
        turns: Some(2),
        tools: Some(1),
        tokens: Some(300),
    };
    assert_eq!(progress, expected);
}

fn init(source: &str) -> String {
    json!({"type": "system", "subtype": "init", "model": "m", "apiKeySource": source}).to_string()
}

fn retry(status: u64, error: &str) -> String {
    json!({"type": "system", "subtype": "api_retry", "error_status": status, "error": error})
        .to_string()
}

const DONE: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"ok"}"#;

#[test]
fn a_login_is_given_one_chance_to_be_renewed_and_a_key_none() {
    let refusal = retry(401, "authentication_failed");
    let is_ended = |lines: &[&str]| match run(&lines.join("\n"), Code(0), "") {
        Ok(_) => false,
        Err((early, failure)) => {
            assert_eq!(failure.code, MissingAuth);
            early
        }
    };
    assert!(is_ended(&[&init("ANTHROPIC_API_KEY"), &refusal, DONE]));
    assert!(!is_ended(&[&init("none"), &refusal, DONE]));
    assert!(is_ended(&[&init("none"), &refusal, &refusal, DONE]));
    let busy = retry(529, "overloaded");
    assert!(!is_ended(&[&init("ANTHROPIC_API_KEY"), &busy, &busy, DONE]));
}

#[test]
fn a_run_without_a_record_or_with_a_bad_end_is_a_failure() {
    for (stdout, exit, reason) in [
        ("", Code(0), Empty),
        (" \n", Code(0), Empty),
        ("a plain answer", Code(0), Protocol),
        (&init("none"), Code(0), Protocol),
        (DONE, Code(1), Crash),
        (DONE, Signal(15), Crash),
        ("", Signal(9), Crash),
        ("", Code(97), Crash),
    ] {
        let (early, failure) = run(stdout, exit, "boom sk-ant-FAKE").unwrap_err();
        assert!(!early);
        assert_eq!(failure.code, ReviewerFailed);
        assert_eq!(failure.reason, Some(reason), "{stdout} {exit:?}");
        assert!(!failure.message.contains("sk-ant"), "{failure}");
    }
}

#[test]
fn what_is_said_twice_is_no_answer_and_half_a_pair_is_mended() {
    let record = |answer: &str| {
        format!(r#"{{"type":"result","subtype":"success","structured_output":{answer}}}"#)
    };
    let twice = record(r#"{"findings":[1],"findings":[]}"#);
    // Also where another record follows that could be taken for the answer.
    for stdout in [twice.clone(), format!("{twice}\n{DONE}")] {
        let (early, failure) = run(&stdout, Code(0), "").unwrap_err();
        assert!(!early);
        assert_eq!(
            (failure.code, failure.reason),
            (ReviewerFailed, Some(Protocol))
        );
        assert!(failure.message.contains("`findings` twice"), "{failure}");
    }
    let (_, failure) = run(&twice, Code(3), "boom").unwrap_err();
    assert_eq!(failure.reason, Some(Crash));
    let mended = run(&record(r#"{"a":"x \ud83d"}"#), Code(0), "").unwrap();
    let expected = Payload::Structured(json!({"a": "x \u{fffd}"}));
    assert_eq!(mended.payload, expected);
}

#[test]
fn errors_are_told_apart_by_claude_s_own_channel() {
    for (record, reason) in [
        (
            json!({"api_error_type": "billing_error", "result": "x"}),
            Some(Quota),
        ),
        (json!({"api_error_status": 402, "result": "x"}), Some(Quota)),
        (json!({"result": "Credit balance is too low"}), Some(Quota)),
        (json!({"result": "Prompt is too long"}), None),
        (json!({"result": "quoted: Not logged in, 401, quota"}), None),
        (json!({"errors": ["server overloaded"]}), None),
        (json!({}), None),
    ] {
        let mut line = record.clone();
        line["type"] = "result".into();
        line["is_error"] = true.into();
        let (_, failure) = run(&line.to_string(), Code(1), "").unwrap_err();
        assert_eq!(
            (failure.code, failure.reason),
            (ReviewerFailed, reason),
            "{record}"
        );
    }
}

#[test]
fn a_limit_that_is_used_up_is_no_request_to_slow_down() {
    let event = json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}});
    let record = json!({"type": "result", "is_error": true, "api_error_status": 429});
    let (_, failure) = run(&format!("{event}\n{record}"), Code(1), "").unwrap_err();
    assert_eq!(failure.reason, Some(Quota));
}

#[test]
fn failures_are_not_read_out_of_what_a_model_says() {
    let said = json!({"type": "assistant", "message": {"content": [
        {"type": "text", "text": "{\"type\":\"result\",\"is_error\":true,\"api_error_status\":401}"},
    ]}});
    let answer = run(&format!("{said}\n{DONE}"), Code(0), "").unwrap();
    assert_eq!(answer.payload, Payload::Text("ok".to_owned()));
}

#[test]
fn thinking_in_spite_of_the_effort_off_is_recorded() {
    let asked = Map::from_iter([("resolvedEffort".to_owned(), "thinking-disabled".into())]);
    let done = |thought: u64| {
        let usage = json!({"m": {"thinkingTokens": thought}});
        json!({"type": "result", "result": "ok", "modelUsage": usage}).to_string()
    };
    for (thought, expected) in [(0, None), (9, Some("model-unsupported"))] {
        let dialogue = StreamDialogue::new(asked.clone(), NO_FAMILIES);
        let answer =
            converse(Box::new(dialogue), &done(thought), printed(Code(0), "", "")).unwrap();
        let dropped = answer.metadata.get("effortDropped").and_then(Value::as_str);
        assert_eq!(dropped, expected);
    }
}

fn any_message() -> impl Strategy<Value = String> {
    let kinds = "(result|system|assistant|user|rate_limit_event|x)";
    let subtypes = "(success|init|api_retry|error_during_execution|error_max_budget_usd|x)";
    (kinds, subtypes, any::<Option<bool>>(), ".{0,40}", any::<Option<u16>>()).prop_map(
        |(kind, subtype, is_error, said, status)| {
            json!({
                "type": kind,
                "subtype": subtype,
                "is_error": is_error,
                "result": said,
                "error": said,
                "errors": [said, 1],
                "api_error_status": status,
                "error_status": status,
                "message": {"id": said, "content": [{"type": said}], "usage": {"input_tokens": status}},
                "modelUsage": {said.clone(): status},
                "permission_denials": [said, {"tool_name": said}],
            })
            .to_string()
        },
    )
}

proptest! {
    #[test]
    fn any_lines_come_to_an_end(
        lines in proptest::collection::vec(prop_oneof![any_message(), ".{0,60}".boxed()], 0..12),
        exit in prop_oneof![(-1..4).prop_map(Code), (1..16).prop_map(Signal)],
        stderr in ".{0,200}",
    ) {
        let outcome = run(&lines.join("\n"), exit, &stderr);
        if exit != Code(0) {
            prop_assert!(outcome.is_err());
        }
        if let Err((_, failure)) = outcome {
            prop_assert!(failure.message.chars().count() < 700);
        }
    }
}
