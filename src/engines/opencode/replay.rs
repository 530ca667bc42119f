//! Replays of what a real OpenCode 1.18.33 printed against a loopback model service.

use diffwarden_actors::engine::{Answer, ExitKind, Payload};
use diffwarden_actors::model::{ErrorCode, Failure, Reason};
use proptest::prelude::*;
use serde_json::{Map, json};

use super::dialogue::RunDialogue;
use crate::engines::shared::replay::{
    Capture, End, capture, check_all, check_listed, converse, failed, no_login, unfit,
};
use crate::engines::shared::testing::printed;

use End::Text;
use ErrorCode::ReviewerFailed;
use ExitKind::{Code, Signal};
use Reason::{Crash, Environment, Model, Protocol, RateLimit, Refused};

const REVIEW: End = Text("{\"findings\": [{\"title\": \"[P1] Off-by-one");

/// Every capture: its name, how the process ended, what that amounts to.
const CAPTURES: &[Capture] = &[
    ("success-json", Code(0), REVIEW),
    ("prose", Code(0), Text("I looked at the patch.")),
    ("fenced", Code(0), Text("Here is my review.")),
    ("truncated-json", Code(0), Text("{\"findings\": [")),
    ("interim-text", Code(0), REVIEW),
    ("readonly-denied", Code(0), REVIEW),
    ("ask-rejected-continues", Code(0), REVIEW),
    (
        "ask-rejected-turn-ends",
        Code(0),
        failed(Some(Protocol), "without a final step"),
    ),
    ("unknown-agent", Code(0), unfit("\"nosuch\" not found")),
    ("http401", Code(1), no_login("mock 401")),
    ("http429", Code(1), failed(Some(RateLimit), "mock 429")),
    ("http500", Code(1), failed(None, "has a fault: mock 500")),
    (
        "conn-refused",
        Code(1),
        failed(Some(Environment), "Cannot connect to API"),
    ),
    (
        "unknown-model-logs",
        Code(1),
        failed(Some(Model), "Model not found: mock/nope."),
    ),
    (
        "no-auth-logs",
        Code(1),
        failed(Some(Model), "anthropic/claude-sonnet-4-5"),
    ),
    ("usage-error", Code(1), unfit("options of a review")),
    ("empty-prompt", Code(1), failed(Some(Protocol), "prompt")),
];

fn ended(stdout: &str, stderr: &str, exit: ExitKind) -> Result<Answer, Failure> {
    let dialogue = Box::new(RunDialogue::new(Map::new()));
    converse(dialogue, stdout, printed(exit, "", stderr)).map_err(|(_, failure)| failure)
}

fn text_of(answer: &Answer) -> &str {
    match &answer.payload {
        Payload::Text(text) => text,
        other => panic!("opencode answers in text, not {other:?}"),
    }
}

#[test]
fn every_capture_ends_as_it_should() {
    check_all(CAPTURES, |name, exit| {
        let [stdout, stderr] = ["stdout", "stderr"].map(|stream| capture("opencode", name, stream));
        ended(&stdout, &stderr, exit).map_err(|failure| (false, failure))
    });
    check_listed("opencode", CAPTURES, &["run-help", "models-verbose"]);
}

#[test]
fn chatter_is_no_part_of_the_answer_and_steps_are_summed() {
    let answer = ended(&capture("opencode", "interim-text", "stdout"), "", Code(0)).unwrap();
    assert!(!text_of(&answer).contains("Let me look"));
    assert_eq!(answer.metadata["toolCalls"], json!(1));
    assert_eq!(answer.metadata["inputTokens"], json!(200));
    let usage = answer.usage.unwrap();
    assert_eq!(
        (&usage["steps"], &usage["tokens"]["output"]),
        (&json!(2), &json!(100))
    );
}

#[test]
fn without_a_step_that_stops_nothing_is_an_answer() {
    let stdout = capture("opencode", "success-json", "stdout");
    let lines: Vec<_> = stdout.lines().collect();
    let cut = lines[..lines.len() - 1].join("\n");
    let filtered = stdout.replace("\"reason\":\"stop\"", "\"reason\":\"content-filter\"");
    let limited = stdout.replace("\"reason\":\"stop\"", "\"reason\":\"length\"");
    for (stdout, exit, reason) in [
        (cut.as_str(), Code(0), Some(Protocol)),
        ("", Code(0), Some(Protocol)),
        (&stdout, Signal(15), Some(Crash)),
        (&stdout, Code(1), Some(Crash)),
        (&filtered, Code(0), Some(Refused)),
        (&limited, Code(0), None),
        (lines[lines.len() - 1], Code(0), Some(Reason::Empty)),
    ] {
        let failure = ended(stdout, "", exit).unwrap_err();
        assert_eq!((failure.code, failure.reason), (ReviewerFailed, reason));
    }
}

#[test]
fn what_is_said_twice_is_no_answer_and_half_a_pair_is_mended() {
    let said = |text: &str| {
        let part = r#"{"type":"text","part":{"messageID":"m","text":T}}"#.replace('T', text);
        let step = r#"{"type":"step_finish","part":{"messageID":"m","reason":"stop"}}"#;
        format!("{part}\n{step}")
    };
    let failure = ended(&said(r#""a","text":"b""#), "", Code(0)).unwrap_err();
    assert_eq!(failure.reason, Some(Protocol));
    assert!(failure.message.contains("`text` twice"), "{failure}");
    let answer = ended(&said(r#""a \ud83d b""#), "", Code(0)).unwrap();
    assert_eq!(text_of(&answer), "a \u{fffd} b");
}

proptest! {
    #[test]
    fn any_lines_end_in_an_answer_or_a_failure(
        lines in proptest::collection::vec(
            prop_oneof![
                ".{0,40}",
                "\\{\"type\":\"(text|tool_use|step_start|step_finish|error)\",\"part\":\\{\
                 \"messageID\":\"m\",\"text\":(\"x\"|3),\"reason\":(\"stop\"|\"tool-calls\"|1),\
                 \"tokens\":(\\{\\}|\\{\"input\":18446744073709551615\\})\\}\\}",
            ],
            0..8,
        ),
        code in 0..256,
    ) {
        match ended(&lines.join("\n"), "", Code(code)) {
            Ok(answer) => {
                prop_assert_eq!(code, 0);
                prop_assert!(!text_of(&answer).is_empty());
            }
            Err(failure) => prop_assert!(!failure.message.is_empty()),
        }
    }
}
