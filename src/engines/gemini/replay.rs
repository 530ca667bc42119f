//! Replays of what a real Gemini CLI 0.61.0 printed against a loopback model service.

use std::fs;
use std::path::Path;

use diffwarden_actors::engine::{Answer, Dialogue, ExitKind, Payload};
use diffwarden_actors::model::{ErrorCode, Failure, Reason};
use proptest::prelude::*;
use serde_json::{Map, json};

use super::dialogue::StreamDialogue;
use crate::engines::cli::tests::printed;

use ErrorCode::{MissingAuth, ReviewerEnvironmentFailed, ReviewerFailed};
use ExitKind::{Code, Signal};
use Reason::{Auth, Crash, Environment, Model, Protocol, RateLimit};

/// What a run amounts to: text that begins like this, or a failure whose message holds this.
#[derive(Debug, Clone, Copy)]
enum End {
    Text(&'static str),
    Failed(ErrorCode, Option<Reason>, &'static str),
}

use End::{Failed, Text};

const REVIEW: End = Text("{\"findings\": [{\"title\": \"[P1] Off-by-one");

/// Every capture: its name, how the process ended, what that amounts to.
const CAPTURES: &[(&str, ExitKind, End)] = &[
    ("success-stream", Code(0), REVIEW),
    ("prose-stream", Code(0), Text("I looked at the patch.")),
    ("fence-stream", Code(0), Text("Here is my review.")),
    ("broken-stream", Code(0), Text("{\"findings\": [")),
    ("tools-multiturn", Code(0), REVIEW),
    ("attack-policy", Code(0), REVIEW),
    (
        "bad-policy-file",
        Code(0),
        Failed(
            ReviewerEnvironmentFailed,
            Some(Environment),
            "badpolicy.toml",
        ),
    ),
    (
        "http401-stream",
        Code(145),
        Failed(MissingAuth, Some(Auth), "mock 401"),
    ),
    (
        "http404-model-stream",
        Code(148),
        Failed(ReviewerFailed, Some(Model), "does not exist"),
    ),
    (
        "http429-stream",
        Code(173),
        Failed(ReviewerFailed, Some(RateLimit), ": mock 429"),
    ),
    (
        "http500-stream",
        Code(244),
        Failed(ReviewerFailed, None, "has a fault: mock 500"),
    ),
    (
        "no-auth-stream",
        Code(41),
        Failed(MissingAuth, Some(Auth), "Please set an Auth method"),
    ),
    (
        "key-missing-stream",
        Code(41),
        Failed(MissingAuth, Some(Auth), "GEMINI_API_KEY"),
    ),
    (
        "unknown-flag",
        Code(1),
        Failed(ReviewerEnvironmentFailed, Some(Environment), "bogus-flag"),
    ),
    (
        "bad-choice",
        Code(1),
        Failed(
            ReviewerEnvironmentFailed,
            Some(Environment),
            "Invalid values:",
        ),
    ),
    (
        "empty-stdin",
        Code(42),
        Failed(ReviewerFailed, Some(Protocol), "prompt"),
    ),
    (
        "untrusted-no-skip-trust",
        Code(55),
        Failed(ReviewerEnvironmentFailed, Some(Environment), "trusted"),
    ),
    (
        "empty-mcp-allowlist-crash",
        Code(1),
        Failed(ReviewerFailed, Some(Crash), "Invalid policy rule"),
    ),
];

fn capture(name: &str, ending: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/gemini");
    fs::read_to_string(folder.join(format!("{name}.{ending}"))).unwrap_or_default()
}

fn ended(stdout: &str, stderr: &str, exit: ExitKind) -> Result<Answer, Failure> {
    let mut dialogue = StreamDialogue::new(Map::new());
    for line in stdout.lines() {
        dialogue.on_line(line);
    }
    Box::new(dialogue).on_exit(printed(exit, "", stderr))
}

fn text_of(answer: Answer) -> String {
    match answer.payload {
        Payload::Text(text) => text,
        other => panic!("gemini answers in text, not {other:?}"),
    }
}

#[test]
fn every_capture_amounts_to_what_happened() {
    for &(name, exit, end) in CAPTURES {
        let (stdout, stderr) = (capture(name, "stdout"), capture(name, "stderr"));
        assert!(!(stdout.is_empty() && stderr.is_empty()), "{name}");
        match (end, ended(&stdout, &stderr, exit)) {
            (Text(start), Ok(answer)) => {
                let text = text_of(answer);
                assert!(text.starts_with(start), "{name}: {text}");
            }
            (Failed(code, reason, part), Err(failure)) => {
                assert_eq!(
                    (failure.code, failure.reason),
                    (code, reason),
                    "{name}: {failure}"
                );
                assert!(failure.message.contains(part), "{name}: {failure}");
                assert!(!failure.message.contains("256-color"), "{name}: {failure}");
            }
            (_, other) => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn chatter_before_a_tool_call_is_no_part_of_the_answer() {
    let stdout = capture("tools-multiturn", "stdout");
    let answer = ended(&stdout, "", Code(0)).unwrap();
    assert_eq!(answer.metadata["toolCalls"], json!(2));
    assert_eq!(answer.metadata["inputTokens"], json!(300));
    assert_eq!(answer.metadata["outputTokens"], json!(150));
    assert_eq!(answer.metadata["resolvedModel"], json!("mock"));
    assert_eq!(answer.usage.as_ref().unwrap()["total_tokens"], json!(450));
    assert!(!text_of(answer).contains("I will read"));
}

#[test]
fn without_a_final_record_nothing_is_an_answer() {
    let stdout = capture("success-stream", "stdout");
    let lines: Vec<_> = stdout.lines().collect();
    let cut = lines[..lines.len() - 1].join("\n");
    for (stdout, exit, reason) in [
        (cut.as_str(), Code(0), Protocol),
        ("", Code(0), Protocol),
        (&stdout, Signal(15), Crash),
        (&stdout, Code(1), Crash),
        (
            "{\"type\":\"result\",\"status\":\"success\"}",
            Code(0),
            Reason::Empty,
        ),
    ] {
        let failure = ended(stdout, "", exit).unwrap_err();
        assert_eq!(
            (failure.code, failure.reason),
            (ReviewerFailed, Some(reason))
        );
    }
}

#[test]
fn marks_in_quoted_names_are_taken_out() {
    let message = json!({"type": "message", "role": "assistant", "delta": true,
        "content": "the decorator @\u{2060}property"});
    let stdout = format!("{message}\n{{\"type\":\"result\",\"status\":\"success\"}}");
    let answer = ended(&stdout, "", Code(0)).unwrap();
    assert_eq!(text_of(answer), "the decorator @property");
}

proptest! {
    #[test]
    fn any_lines_end_in_an_answer_or_a_failure(
        lines in proptest::collection::vec(
            prop_oneof![
                ".{0,40}",
                "\\{\"type\":\"(message|tool_use|tool_result|result|init)\",\"role\":\"assistant\",\
                 \"content\":(\"x\"|3),\"status\":(\"success\"|\"error\"|1),\"stats\":(\\{\\}|2)\\}",
            ],
            0..8,
        ),
        code in 0..256,
    ) {
        match ended(&lines.join("\n"), "", Code(code)) {
            Ok(answer) => {
                prop_assert_eq!(code, 0);
                prop_assert!(!text_of(answer).is_empty());
            }
            Err(failure) => prop_assert!(!failure.message.is_empty()),
        }
    }
}
