//! Replays of what a real Gemini CLI 0.61.0 printed against a loopback model service.

use diffwarden_actors::engine::{Answer, ExitKind, Payload};
use diffwarden_actors::model::{ErrorCode, Failure, Reason};
use proptest::prelude::*;
use serde_json::{Map, json};

use super::dialogue::StreamDialogue;
use crate::engines::shared::replay::{
    Capture, End, capture, check_all, check_listed, converse, failed, no_login, unfit,
};
use crate::engines::shared::testing::printed;

use End::Text;
use ErrorCode::ReviewerFailed;
use ExitKind::{Code, Signal};
use Reason::{Crash, Model, Protocol, RateLimit};

const REVIEW: End = Text("{\"findings\": [{\"title\": \"[P1] Off-by-one");

/// Every capture: its name, how the process ended, what that amounts to.
const CAPTURES: &[Capture] = &[
    ("success-stream", Code(0), REVIEW),
    ("prose-stream", Code(0), Text("I looked at the patch.")),
    ("fence-stream", Code(0), Text("Here is my review.")),
    ("broken-stream", Code(0), Text("{\"findings\": [")),
    ("tools-multiturn", Code(0), REVIEW),
    ("attack-policy", Code(0), REVIEW),
    ("bad-policy-file", Code(0), unfit("badpolicy.toml")),
    ("http401-stream", Code(145), no_login("mock 401")),
    (
        "http404-model-stream",
        Code(148),
        failed(Some(Model), "does not exist"),
    ),
    (
        "http429-stream",
        Code(173),
        failed(Some(RateLimit), ": mock 429"),
    ),
    (
        "http500-stream",
        Code(244),
        failed(None, "has a fault: mock 500"),
    ),
    (
        "no-auth-stream",
        Code(41),
        no_login("Please set an Auth method"),
    ),
    ("key-missing-stream", Code(41), no_login("GEMINI_API_KEY")),
    ("unknown-flag", Code(1), unfit("bogus-flag")),
    ("bad-choice", Code(1), unfit("Invalid values:")),
    ("empty-stdin", Code(42), failed(Some(Protocol), "prompt")),
    ("untrusted-no-skip-trust", Code(55), unfit("trusted")),
    (
        "empty-mcp-allowlist-crash",
        Code(1),
        failed(Some(Crash), "Invalid policy rule"),
    ),
];

fn ended(stdout: &str, stderr: &str, exit: ExitKind) -> Result<Answer, Failure> {
    let dialogue = Box::new(StreamDialogue::new(Map::new()));
    converse(dialogue, stdout, printed(exit, "", stderr)).map_err(|(_, failure)| failure)
}

fn text_of(answer: Answer) -> String {
    match answer.payload {
        Payload::Text(text) => text,
        other => panic!("gemini answers in text, not {other:?}"),
    }
}

#[test]
fn every_capture_ends_as_it_should() {
    check_all(CAPTURES, |name, exit| {
        let [stdout, stderr] = ["stdout", "stderr"].map(|stream| capture("gemini", name, stream));
        ended(&stdout, &stderr, exit).map_err(|failure| (false, failure))
    });
    check_listed("gemini", CAPTURES, &["help"]);
}

#[test]
fn chatter_before_a_tool_call_is_no_part_of_the_answer() {
    let stdout = capture("gemini", "tools-multiturn", "stdout");
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
    let stdout = capture("gemini", "success-stream", "stdout");
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

#[test]
fn what_is_said_twice_is_no_answer_and_half_a_pair_is_mended() {
    let said = |content: &str| {
        let message = r#"{"type":"message","role":"assistant","delta":true,"content":C}"#;
        let done = r#"{"type":"result","status":"success"}"#;
        format!("{}\n{done}", message.replace('C', content))
    };
    let twice = said(r#""a","content":"b""#);
    for stdout in [twice.as_str(), twice.lines().next().unwrap()] {
        let failure = ended(stdout, "", Code(0)).unwrap_err();
        assert_eq!(failure.reason, Some(Protocol));
        assert!(failure.message.contains("`content` twice"), "{failure}");
    }
    let answer = ended(&said(r#""a \ud83d b""#), "", Code(0)).unwrap();
    assert_eq!(text_of(answer), "a \u{fffd} b");
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
