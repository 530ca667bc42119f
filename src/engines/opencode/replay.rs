//! Replays of what a real OpenCode 1.18.33 printed against a loopback model service.

use std::fs;
use std::path::Path;

use diffwarden_actors::engine::{Answer, Dialogue, ExitKind, Payload};
use diffwarden_actors::model::{ErrorCode, Failure, Reason};
use proptest::prelude::*;
use serde_json::{Map, json};

use super::dialogue::RunDialogue;
use crate::engines::cli::tests::printed;

use ErrorCode::{MissingAuth, ReviewerEnvironmentFailed, ReviewerFailed};
use ExitKind::{Code, Signal};
use Reason::{Auth, Crash, Environment, Model, Protocol, RateLimit, Refused};

/// What a run amounts to: text that begins like this, or a failure whose message holds this.
#[derive(Debug, Clone, Copy)]
enum End {
    Text(&'static str),
    Failed(ErrorCode, Option<Reason>, &'static str),
}

use End::{Failed, Text};

const REVIEW: End = Text("{\"findings\": [{\"title\": \"[P1] Off-by-one");

const fn failed(reason: Option<Reason>, part: &'static str) -> End {
    Failed(ReviewerFailed, reason, part)
}

const fn unfit(part: &'static str) -> End {
    Failed(ReviewerEnvironmentFailed, Some(Environment), part)
}

/// Every capture: its name, how the process ended, what that amounts to.
const CAPTURES: &[(&str, ExitKind, End)] = &[
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
    (
        "http401",
        Code(1),
        Failed(MissingAuth, Some(Auth), "mock 401"),
    ),
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

fn capture(name: &str, ending: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/opencode");
    fs::read_to_string(folder.join(format!("{name}.{ending}"))).unwrap_or_default()
}

fn ended(stdout: &str, stderr: &str, exit: ExitKind) -> Result<Answer, Failure> {
    let mut dialogue = RunDialogue::new(Map::new());
    for line in stdout.lines() {
        dialogue.on_line(line);
    }
    Box::new(dialogue).on_exit(printed(exit, "", stderr))
}

fn text_of(answer: &Answer) -> &str {
    match &answer.payload {
        Payload::Text(text) => text,
        other => panic!("opencode answers in text, not {other:?}"),
    }
}

#[test]
fn every_capture_amounts_to_what_happened() {
    for &(name, exit, end) in CAPTURES {
        let (stdout, stderr) = (capture(name, "stdout"), capture(name, "stderr"));
        assert!(!(stdout.is_empty() && stderr.is_empty()), "{name}");
        match (end, ended(&stdout, &stderr, exit)) {
            (Text(start), Ok(answer)) => {
                let text = text_of(&answer);
                assert!(text.starts_with(start), "{name}: {text}");
            }
            (Failed(code, reason, part), Err(failure)) => {
                let kind = (failure.code, failure.reason);
                assert_eq!(kind, (code, reason), "{name}: {failure}");
                assert!(failure.message.contains(part), "{name}: {failure}");
            }
            (_, other) => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn chatter_is_no_part_of_the_answer_and_steps_are_summed() {
    let answer = ended(&capture("interim-text", "stdout"), "", Code(0)).unwrap();
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
    let stdout = capture("success-json", "stdout");
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
