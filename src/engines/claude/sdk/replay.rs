//! Replays of conversations with a real Claude (Claude Code 2.1.332 and a loopback model service;
//! ids, folders and the longer lists of the opening answer are shortened).

use diffwarden_actors::engine::{Action, Dialogue, ExitKind};
use diffwarden_actors::model::{ErrorCode, Reason};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::dialogue::ControlDialogue;
use super::frames;
use crate::engines::claude::dialogue::StreamDialogue;
use crate::engines::claude::fallback::{Families, Family};
use crate::engines::shared::replay::{
    Capture, End, Outcome, capture, check_all, check_listed, failed, no_login,
};
use crate::engines::shared::testing::printed;

use End::{FailedEarly, Structured, Text};
use ErrorCode::MissingAuth;
use ExitKind::Code;
use Reason::{Auth, Crash, Empty, Environment, Model, Quota, RateLimit, Refused};

/// Every conversation: its name, how the process ended, what that amounts to.
const CAPTURES: &[Capture] = &[
    ("success", Code(0), Structured),
    ("fallback-404", Code(0), Structured),
    ("fallback-529", Code(0), Structured),
    ("read-outside", Code(0), Structured),
    ("read-then-success", Code(0), Structured),
    ("structured-retry", Code(0), Structured),
    ("unknown-model", Code(0), Structured),
    ("write-attempt", Code(0), Structured),
    ("broken-json", Code(0), Text("{\"findings\": [")),
    ("repair-broken-json", Code(0), Text("{\"findings\": [")),
    ("fenced", Code(0), Text("Here is my review.")),
    ("json-text", Code(0), Text("{\"findings\": [")),
    ("prose", Code(0), Text("I looked at the patch.")),
    (
        "conn-refused",
        Code(1),
        failed(Some(Environment), "ECONNREFUSED"),
    ),
    ("http400", Code(1), failed(None, "mock 400")),
    (
        "http401",
        Code(1),
        FailedEarly(MissingAuth, Some(Auth), "HTTP status 401"),
    ),
    (
        "http401-complete",
        Code(1),
        FailedEarly(MissingAuth, Some(Auth), "HTTP status 401"),
    ),
    ("http403", Code(1), no_login("403")),
    ("http404", Code(1), failed(Some(Model), "selected model")),
    ("http429", Code(1), failed(Some(RateLimit), "429")),
    ("http500", Code(1), failed(None, "mock 500")),
    ("http529", Code(1), failed(None, "mock 529")),
    ("interrupt", Code(1), failed(Some(Crash), "interrupted")),
    ("max-budget", Code(1), failed(Some(Quota), "maxBudgetUsd")),
    (
        "max-structured-retries",
        Code(1),
        failed(Some(Empty), "structured output"),
    ),
    ("max-tokens", Code(1), failed(None, "output token maximum")),
    ("max-turns", Code(1), failed(None, "limit of turns")),
    ("no-auth", Code(1), no_login("Not logged in")),
    ("refusal", Code(1), failed(Some(Refused), "safeguards")),
    ("signal-sigint", Code(0), failed(Some(Crash), "interrupted")),
];

const NO_FAMILIES: Families = Families {
    model: None,
    fallback: None,
};

/// What a conversation did, and how it ended.
struct Course {
    written: Vec<String>,
    closed: bool,
    outcome: Outcome,
}

/// Holds a conversation over lines; the first failure of a line ends it, as the process owner does.
fn hold(families: Families, stdout: &str, exit: ExitKind) -> Course {
    let run = StreamDialogue::new(Map::new(), families);
    let mut dialogue = ControlDialogue::new("the message".to_owned(), run);
    let (mut written, mut closed) = (Vec::new(), false);
    for line in stdout.lines() {
        for action in dialogue.on_line(line) {
            match action {
                Action::Write(line) => written.push(line),
                Action::CloseInput => closed = true,
                Action::Fail(failure) => {
                    let outcome = Err((true, *failure));
                    return Course {
                        written,
                        closed,
                        outcome,
                    };
                }
                Action::Progress(_) => {}
                Action::Finish(_) => panic!("the process ends by itself"),
            }
        }
    }
    let outcome = Box::new(dialogue).on_exit(printed(exit, "", ""));
    Course {
        written,
        closed,
        outcome: outcome.map_err(|failure| (false, failure)),
    }
}

fn replay(families: Families, name: &str, exit: ExitKind) -> Course {
    hold(families, &capture("claude/sdk", name, "stdout"), exit)
}

#[test]
fn every_conversation_ends_as_it_should() {
    check_all(CAPTURES, |name, exit| {
        let course = replay(NO_FAMILIES, name, exit);
        assert_eq!(course.written, ["the message"], "{name}");
        let is_early = matches!(course.outcome, Err((true, _)));
        assert!(is_early != course.closed, "{name}");
        course.outcome
    });
    check_listed("claude/sdk", CAPTURES, &["catalog"]);
}

#[test]
fn what_was_offered_and_who_served_is_told() {
    let families = Families {
        model: Some(Family::Opus),
        fallback: Some(Family::Sonnet),
    };
    for (name, used) in [("fallback-529", "true"), ("fallback-404", "true")] {
        let course = replay(families, name, Code(0));
        let metadata = course.outcome.unwrap().metadata;
        assert_eq!(metadata["fallbackModelUsed"], used, "{name}");
    }
    let metadata = replay(NO_FAMILIES, "read-outside", Code(0))
        .outcome
        .unwrap()
        .metadata;
    assert_eq!(metadata["permissionDenials"], json!(["Read"]));
    let offered = json!(["Glob", "Grep", "Read", "StructuredOutput"]);
    assert_eq!(metadata["offeredTools"], offered);
}

fn opened() -> String {
    json!({"type": "control_response", "response": {
        "subtype": "success", "request_id": frames::REQUEST, "response": {},
    }})
    .to_string()
}

#[test]
fn the_message_waits_for_the_answer_and_is_sent_once() {
    let other = opened().replace(frames::REQUEST, "other");
    let code = Code(0);
    assert!(hold(NO_FAMILIES, &other, code).written.is_empty());
    let twice = format!("{}\n{}", opened(), opened());
    assert_eq!(hold(NO_FAMILIES, &twice, code).written, ["the message"]);
}

#[test]
fn a_refused_beginning_ends_the_conversation() {
    let refused = json!({"type": "control_response", "response": {
        "subtype": "error", "request_id": frames::REQUEST, "error": "no\nschema sk-ant-FAKE",
    }});
    let course = hold(NO_FAMILIES, &refused.to_string(), Code(0));
    let (is_early, failure) = course.outcome.unwrap_err();
    assert!(is_early && course.written.is_empty());
    assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
    assert!(
        failure.message.ends_with("no schema [redacted]"),
        "{failure}"
    );
}

#[test]
fn a_result_that_says_one_thing_twice_ends_the_conversation() {
    let result = r#"{"type":"result","structured_output":{"findings":[1],"findings":[]}}"#;
    let course = hold(NO_FAMILIES, result, Code(0));
    let (is_early, failure) = course.outcome.unwrap_err();
    assert!(is_early, "Claude would wait for another message");
    assert_eq!(failure.reason, Some(Reason::Protocol));
    assert!(failure.message.contains("`findings` twice"), "{failure}");
}

#[test]
fn whatever_claude_asks_for_is_refused() {
    let asked = json!({
        "type": "control_request",
        "request_id": "req_9",
        "request": {"subtype": "can_use_tool", "tool_name": "Bash"},
    });
    let course = hold(NO_FAMILIES, &asked.to_string(), Code(0));
    let [refusal] = &course.written[..] else {
        panic!("{:?}", course.written);
    };
    let refusal: Value = serde_json::from_str(refusal).unwrap();
    assert_eq!(refusal["response"]["request_id"], "req_9");
    assert_eq!(refusal["response"]["subtype"], "error");
}

#[test]
fn a_tool_that_is_not_for_reading_ends_the_run() {
    let init = |tools: Value| {
        let init = json!({"type": "system", "subtype": "init", "tools": tools});
        let course = hold(NO_FAMILIES, &init.to_string(), Code(0));
        course.outcome.unwrap_err()
    };
    let (is_early, failure) = init(json!(["Read", "Bash"]));
    assert!(is_early);
    assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
    assert!(failure.message.contains("Bash"), "{failure}");
    assert!(!init(json!(["Read", "DeferredToolPlaceholder"])).0);
}

fn any_line() -> impl Strategy<Value = String> {
    let kinds = "(result|system|assistant|control_response|control_request|x)";
    let subtypes = "(success|error|init|api_retry|x)";
    (kinds, subtypes, any::<Option<bool>>(), ".{0,30}").prop_map(|(kind, subtype, flag, said)| {
        json!({
            "type": kind,
            "subtype": subtype,
            "is_error": flag,
            "result": said,
            "request_id": flag,
            "tools": [said, flag],
            "response": {"subtype": subtype, "request_id": frames::REQUEST, "error": said},
            "message": {"content": [said]},
        })
        .to_string()
    })
}

proptest! {
    #[test]
    fn any_lines_come_to_an_end(
        lines in proptest::collection::vec(prop_oneof![any_line(), ".{0,60}".boxed()], 0..12),
        exit in prop_oneof![
            (-1..3).prop_map(ExitKind::Code),
            (1..16).prop_map(ExitKind::Signal),
        ],
    ) {
        let course = hold(NO_FAMILIES, &lines.join("\n"), exit);
        let messages = course.written.iter().filter(|line| *line == "the message");
        prop_assert!(messages.count() <= 1);
        if exit != Code(0) {
            prop_assert!(course.outcome.is_err());
        }
        if let Err((_, failure)) = course.outcome {
            prop_assert!(failure.message.chars().count() < 700);
        }
    }
}
