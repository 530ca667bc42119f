//! Replays of what a real Codex printed (codex-cli 0.171.0 against a loopback model service).

use diffwarden_actors::engine::{Action, Captured, Dialogue, ExitKind, Payload};
use diffwarden_actors::model::{ErrorCode, Reason};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::dialogue::ExecDialogue;
use crate::engines::shared::replay::{
    Capture, End, Outcome, capture, check_all, check_listed, converse, failed, no_login, unfit,
};
use crate::engines::shared::testing::printed;

use End::{Structured, Text};
use ErrorCode::{MissingAuth, ReviewerFailed};
use ExitKind::{Code, Signal};
use Reason::{Auth, Crash, Environment, Model, Protocol, Quota, RateLimit};

/// Every capture: its name, how the process ended, what that amounts to.
const CAPTURES: &[Capture] = &[
    ("success", Code(0), Structured),
    ("success-codemode-model", Code(0), Structured),
    ("success-unknown-model-slug", Code(0), Structured),
    ("unknown-config-key", Code(0), Structured),
    ("builtin-ws-fallback", Code(0), Structured),
    ("readonly-tools", Code(0), Structured),
    ("readonly-codemode", Code(0), Structured),
    ("no-userns", Code(0), Structured),
    ("prose", Code(0), Text("I looked at the patch.")),
    ("fence", Code(0), Text("Here is my review.")),
    ("broken-json", Code(0), Text("{\"findings\": [")),
    ("review-base", Code(0), Text("One bug.")),
    ("review-custom-stdin", Code(0), Text("One bug.")),
    ("review-prose", Code(0), Text("I looked at the patch.")),
    ("review-findings-0", Code(0), Text("No issues found.")),
    ("review-findings-3", Code(0), Text("Two bugs.")),
    (
        "http401",
        Code(1),
        End::FailedEarly(MissingAuth, Some(Auth), "401 Unauthorized"),
    ),
    (
        "http403",
        Code(1),
        End::FailedEarly(MissingAuth, Some(Auth), "403 Forbidden"),
    ),
    (
        "noauth-builtin-401",
        Code(1),
        End::FailedEarly(MissingAuth, Some(Auth), "[redacted]"),
    ),
    ("no-env-key", Code(1), no_login("`MOCK_KEY`")),
    (
        "http404-unknown-model",
        Code(1),
        failed(Some(Model), "`no-such-model`"),
    ),
    (
        "review-failed",
        Code(1),
        failed(Some(Model), "`no-such-model`"),
    ),
    (
        "http400-schema",
        Code(1),
        failed(Some(Protocol), "Invalid schema"),
    ),
    ("http429", Code(1), failed(Some(RateLimit), "429")),
    ("usage-limit", Code(1), failed(Some(Quota), "8:20 PM")),
    ("quota", Code(1), failed(Some(Quota), "Quota exceeded")),
    ("http500", Code(1), failed(None, "high demand")),
    ("stream-cut", Code(1), failed(None, "stream closed before")),
    ("stream-failed", Code(1), failed(None, "mock failed")),
    ("incomplete", Code(1), failed(None, "max_output_tokens")),
    ("context-length", Code(1), failed(None, "context window")),
    (
        "no-network-bounded",
        Code(1),
        failed(Some(Environment), "Connection failed"),
    ),
    (
        "no-network-forever",
        Signal(15),
        failed(Some(Crash), "signal 15"),
    ),
    ("sigterm", Signal(15), failed(Some(Crash), "signal 15")),
    ("sigint", Code(1), failed(Some(Crash), "exit code 1")),
    ("usage-error", Code(2), unfit("--no-such-flag")),
    ("review-conflict", Code(2), unfit("--base")),
    ("not-git", Code(1), unfit("git repository")),
    ("empty-prompt", Code(1), failed(Some(Protocol), "No prompt")),
    (
        "prompt-too-large",
        Code(1),
        failed(None, "1048576 characters"),
    ),
    ("bad-schema-file", Code(1), unfit("bad.json")),
    ("unknown-feature", Code(1), unfit("nosuchfeature")),
    ("strict-config", Code(1), unfit("`nosuch`")),
    (
        "unknown-provider-key",
        Code(1),
        unfit("`model_providers.mock.nosuch`"),
    ),
    ("unknown-provider", Code(1), unfit("`nope`")),
];

fn ended(exit: ExitKind, stderr: &str, reply: Option<&[u8]>) -> Captured {
    Captured {
        outputs: vec![reply.map(<[u8]>::to_vec)],
        ..printed(exit, "", stderr)
    }
}

fn run(stdout: &str, captured: Captured) -> Outcome {
    let dialogue = ExecDialogue::new(Map::new(), false);
    converse(Box::new(dialogue), stdout, captured)
}

fn replay(name: &str, exit: ExitKind) -> Outcome {
    let [stdout, stderr, reply] =
        ["stdout", "stderr", "last"].map(|stream| capture("codex", name, stream));
    let reply = (!reply.is_empty()).then_some(reply.as_bytes());
    run(&stdout, ended(exit, &stderr, reply))
}

#[test]
fn every_capture_ends_as_it_should() {
    check_all(CAPTURES, replay);
    let others = ["help-exec", "help-sandbox", "sandbox-no-userns"];
    check_listed("codex", CAPTURES, &others);
}

#[test]
fn metadata_counts_tools_and_keeps_warnings_and_standard_error() {
    let answer = replay("readonly-tools", Code(0)).unwrap();
    assert_eq!(answer.metadata["toolCalls"], json!(3));
    let stderr = answer.metadata["stderr"].as_str().unwrap();
    assert!(stderr.contains("patch rejected"), "{stderr}");
    assert_eq!(answer.usage.unwrap()["input_tokens"], json!(700));

    let answer = replay("success-unknown-model-slug", Code(0)).unwrap();
    let warnings = answer.metadata["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].as_str().unwrap().contains("`mock-model`"));
    assert!(!answer.metadata.contains_key("stderr"));
}

#[test]
fn long_standard_error_is_cut_and_keys_in_it_are_blanked() {
    let stderr = format!(
        "WARNING: proceeding, even though we could not create PATH aliases: x\nsk-abc {}\n",
        "é".repeat(3_000)
    );
    let answer = run(
        "{\"type\":\"turn.completed\"}",
        ended(Code(0), &stderr, Some(b"prose")),
    )
    .unwrap();
    let kept = answer.metadata["stderr"].as_str().unwrap();
    assert!(kept.starts_with("[redacted] é"), "{kept}");
    assert_eq!(kept.chars().count(), 2_003);
    assert!(kept.ends_with("..."));
}

/// Lines of a run whose turn ended well.
const DONE: &str = "{\"type\":\"turn.started\"}\n{\"type\":\"turn.completed\",\"usage\":{}}";

#[test]
fn a_run_without_a_final_record_or_an_answer_is_a_failure() {
    let message =
        "{\"type\":\"item.completed\",\"item\":{\"type\":\"agent_message\",\"text\":\"ok\"}}";
    let started = "{\"type\":\"turn.started\"}";
    for (stdout, exit, reply, reason) in [
        ("", Code(0), None, Reason::Empty),
        ("noise", Code(0), Some(" \n"), Reason::Empty),
        (DONE, Code(0), None, Reason::Empty),
        (DONE, Code(0), Some("\u{feff}\n"), Reason::Empty),
        (started, Code(0), None, Reason::Protocol),
        (started, Code(0), Some("answer"), Reason::Protocol),
        (message, Code(0), Some("answer"), Reason::Protocol),
        (
            "{\"type\":\"thread.started\"}",
            Code(0),
            Some("answer"),
            Reason::Protocol,
        ),
        (
            &format!("{started}\n{message}"),
            Code(0),
            None,
            Reason::Protocol,
        ),
        (DONE, Code(1), Some("answer"), Reason::Crash),
        (DONE, Signal(9), Some("answer"), Reason::Crash),
        ("", Code(1), Some("answer"), Reason::Crash),
    ] {
        let (early, failure) = run(stdout, ended(exit, "", reply.map(str::as_bytes))).unwrap_err();
        assert!(!early);
        assert_eq!(
            failure.code,
            ErrorCode::ReviewerFailed,
            "{stdout} {reply:?}"
        );
        assert_eq!(failure.reason, Some(reason), "{stdout} {reply:?}");
    }
}

#[test]
fn the_last_message_stands_in_for_a_missing_reply_file() {
    let message = |text: &str| json!({"type": "item.completed", "item": {"type": "agent_message", "text": text}});
    let stdout = format!("{}\n{}\n{DONE}", message("first"), message("second"));
    for reply in [None, Some(&b""[..]), Some(&b" \n"[..])] {
        let answer = run(&stdout, ended(Code(0), "", reply)).unwrap();
        assert_eq!(answer.payload, Payload::Text("second".to_owned()));
    }
    let answer = run(&stdout, ended(Code(0), "", Some(b"third"))).unwrap();
    assert_eq!(answer.payload, Payload::Text("third".to_owned()));
}

#[test]
fn a_filled_reply_file_is_enough_when_nothing_is_told_of_the_turn_and_that_is_said() {
    for stdout in [
        "",
        "noise\n",
        "{\"type\":\"log\"}",
        "{\"type\":\"item.updated\",\"item\":{}}",
    ] {
        let answer = run(stdout, ended(Code(0), "", Some(b"a \xff b"))).unwrap();
        assert_eq!(answer.payload, Payload::Text("a \u{fffd} b".to_owned()));
        let warnings = answer.metadata["warnings"].to_string();
        assert!(warnings.contains("nothing of its turn"), "{warnings}");
    }
    let answer = run(DONE, ended(Code(0), "", Some(b"answer"))).unwrap();
    assert!(!answer.metadata.contains_key("warnings"));
}

#[test]
fn what_is_said_twice_is_no_answer_and_half_a_pair_is_mended() {
    let message = |text: &str| {
        let line = r#"{"type":"item.completed","item":{"type":"agent_message","text":T}}"#;
        line.replace('T', text)
    };
    let done = |line: &str, reply: Option<&str>| {
        let reply = reply.map(str::as_bytes);
        run(&format!("{line}\n{DONE}"), ended(Code(0), "", reply))
    };
    // A line that says two things leaves nothing to rely on, the reply file included.
    let twice = message("\"a\",\"text\":\"b\"");
    for reply in [None, Some("c")] {
        let (_, failure) = done(&twice, reply).unwrap_err();
        assert_eq!(failure.reason, Some(Reason::Protocol));
        assert!(failure.message.contains("`text` twice"), "{failure}");
    }
    // In the answer itself it stays text, which no parser takes for a review.
    let answer = r#"{"findings":[1],"findings":[],"overall_correctness":"patch is correct",
        "overall_explanation":"x","overall_confidence_score":1}"#;
    let payload = done("", Some(answer)).unwrap().payload;
    assert_eq!(payload, Payload::Text(answer.to_owned()));
    let payload = done(&message(r#""a \ud83d b""#), None).unwrap().payload;
    assert_eq!(payload, Payload::Text("a \u{fffd} b".to_owned()));
    let review = r#"{"findings":[],"overall_correctness":"patch is correct",
        "overall_explanation":"\udc00","overall_confidence_score":1}"#;
    let Payload::Structured(value) = done("", Some(review)).unwrap().payload else {
        panic!("a review is structured");
    };
    assert_eq!(value["overall_explanation"], "\u{fffd}");
}

#[test]
fn failures_are_not_read_out_of_what_is_quoted() {
    let stderr = "panic while reviewing src/login page: index 403 out of range\n";
    let (_, failure) = run("", ended(Code(1), stderr, None)).unwrap_err();
    assert_eq!(failure.code, ErrorCode::ReviewerFailed);
    assert_eq!(failure.reason, Some(Reason::Crash));
    let message = json!({"type": "item.completed", "item": {
        "type": "agent_message",
        "text": "Reconnecting... 1/5 (unexpected status 401 Unauthorized: no, url: http://x)",
    }});
    let answer = run(&format!("{message}\n{DONE}"), ended(Code(0), "", None)).unwrap();
    assert!(matches!(answer.payload, Payload::Text(_)));
}

#[test]
fn a_keyring_out_of_reach_is_explained() {
    let mut dialogue = ExecDialogue::new(Map::new(), true);
    let line = json!({
        "type": "error",
        "message": "Reconnecting... 1/5 (unexpected status 401 Unauthorized: no, url: https://x)",
    });
    let actions = dialogue.on_line(&line.to_string());
    let [Action::Fail(failure)] = actions.as_slice() else {
        panic!("{actions:?}");
    };
    assert!(failure.recovery[0].contains("keyring"), "{failure:?}");
    assert!(failure.message.ends_with("url: https://x"), "{failure}");
}

#[test]
fn errors_of_the_service_are_told_apart() {
    for (message, code, reason) in [
        (
            r#"{"error":{"message":"no","code":"insufficient_quota"}}"#,
            ReviewerFailed,
            Some(Reason::Quota),
        ),
        (
            r#"{"detail":"The 'x' model is not supported when using Codex with a ChatGPT account."}"#,
            ReviewerFailed,
            Some(Reason::Model),
        ),
        (
            "Incomplete response returned, reason: content_filter",
            ReviewerFailed,
            Some(Reason::Refused),
        ),
        (
            "unexpected status 404 Not Found: x, url: http://x",
            ReviewerFailed,
            Some(Reason::Environment),
        ),
        (
            "unexpected status 503 Unavailable: 401",
            ReviewerFailed,
            None,
        ),
        (
            "something about a login and an API key",
            ReviewerFailed,
            None,
        ),
        ("", ReviewerFailed, None),
    ] {
        let line = json!({"type": "turn.failed", "error": {"message": message}});
        let (_, failure) = run(&line.to_string(), ended(Code(1), "", None)).unwrap_err();
        assert_eq!((failure.code, failure.reason), (code, reason), "{message}");
    }
}

fn any_event() -> impl Strategy<Value = String> {
    let kinds = "(turn\\.(started|completed|failed)|item\\.completed|error|thread\\.started|x)";
    (kinds, ".{0,40}", "(agent_message|error|command_execution|)").prop_map(|(kind, said, item)| {
        let mut event = json!({"type": kind, "message": said});
        event["item"] = json!({"type": item, "text": said, "message": 1});
        event["error"] = Value::from(said);
        event.to_string()
    })
}

proptest! {
    #[test]
    fn any_lines_come_to_an_end(
        lines in proptest::collection::vec(prop_oneof![any_event(), ".{0,60}".boxed()], 0..12),
        exit in prop_oneof![(-1..4).prop_map(Code), (1..16).prop_map(Signal)],
        stderr in ".{0,200}",
        reply in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..60)),
    ) {
        let outcome = run(&lines.join("\n"), ended(exit, &stderr, reply.as_deref()));
        if exit != Code(0) {
            prop_assert!(outcome.is_err());
        }
        if let Err((_, failure)) = outcome {
            prop_assert!(failure.message.chars().count() < 700);
        }
    }
}
