//! Replays of whole conversations between diffwarden and a real Codex (codex-cli 0.171.0 against a
//! loopback model service). A line begins with `>` where diffwarden spoke, with `<` where Codex
//! did.

use std::fs;
use std::path::Path;

use diffwarden_actors::answer::parse_payload;
use diffwarden_actors::engine::{
    Action, Answer, CaptureMode, Captured, Dialogue, ExitKind, Payload,
};
use diffwarden_actors::model::{ErrorCode, Failure, ParseMode, Reason, ReviewResult};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::command;
use super::dialogue::ServerDialogue;
use super::schema;
use super::task::{Task, Wanted};

fn task(answer: Wanted) -> Task {
    Task {
        folder: Some("/repo".to_owned()),
        model: Some("gpt-5.5".to_owned()),
        effort: Some("high"),
        system: None,
        prompt: "the prompt".to_owned(),
        answer,
    }
}

fn structured() -> ServerDialogue {
    let asked = [
        ("resolvedModel", "gpt-5.5"),
        ("modelResolutionSource", "config"),
    ];
    let asked = asked.map(|(key, value)| (key.to_owned(), value.into()));
    let metadata = Map::from_iter(asked);
    ServerDialogue::new(task(Wanted::Json(schema())), metadata, false)
}

fn native() -> ServerDialogue {
    ServerDialogue::new(task(Wanted::Rendered), Map::new(), false)
}

fn capture(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/codex/app-server");
    fs::read_to_string(folder.join(format!("{name}.rpc"))).unwrap()
}

fn value(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// How a conversation came out.
#[derive(Debug)]
enum End {
    Answered(Answer),
    Failed(Failure),
    /// The child still runs.
    Open,
}

/// Feeds lines; returns what was said and how it came out.
fn converse<'a>(
    dialogue: &mut dyn Dialogue,
    lines: impl IntoIterator<Item = &'a str>,
) -> (Vec<Value>, End) {
    let mut said = Vec::new();
    for line in lines {
        for action in dialogue.on_line(line) {
            match action {
                Action::Write(line) => said.push(value(&line)),
                Action::Finish(answer) => return (said, End::Answered(*answer)),
                Action::Fail(failure) => return (said, End::Failed(*failure)),
                Action::Progress(_) | Action::CloseInput => {}
            }
        }
    }
    (said, End::Open)
}

/// Replays a capture, and holds what is said against what was said then.
fn replay(name: &str, dialogue: &mut ServerDialogue) -> End {
    let text = capture(name);
    let side = |sign| text.lines().filter_map(move |line| line.strip_prefix(sign));
    let (said, end) = converse(dialogue, side("< "));
    // The first line is the command's own.
    let recorded: Vec<Value> = side("> ").skip(1).map(value).collect();
    for (said, recorded) in said.iter().zip(&recorded) {
        let model = recorded.pointer("/params/model");
        if model.is_none_or(|model| model == "gpt-5.5") {
            assert_eq!(said, recorded, "{name}");
        }
    }
    assert_eq!(said.len(), 3, "{name}: {said:?}");
    end
}

fn answered(name: &str, mut dialogue: ServerDialogue) -> Answer {
    match replay(name, &mut dialogue) {
        End::Answered(answer) => answer,
        other => panic!("{name}: {other:?}"),
    }
}

#[test]
fn a_structured_turn_is_structured_output() {
    for (name, calls) in [("success", 0), ("readonly-tools", 1)] {
        let answer = answered(name, structured());
        let Payload::Structured(review) = answer.payload else {
            panic!("{name}: {:?}", answer.payload);
        };
        assert_eq!(review["overall_explanation"], "One bug.");
        assert_eq!(answer.capture_mode, CaptureMode::NativeStructured);
        assert_eq!(answer.metadata["resolvedModel"], "gpt-5.5");
        assert_eq!(answer.metadata["modelResolutionSource"], "provider-init");
        assert_eq!(answer.metadata["resolvedEffort"], "high");
        assert_eq!(answer.metadata["toolCalls"], calls, "{name}");
        assert!(!answer.metadata.contains_key("placeholders"));
        assert!(answer.usage.unwrap()["inputTokens"].as_u64() >= Some(100));
    }
}

#[test]
fn the_sandbox_refused_the_writes_of_the_recorded_commands() {
    let text = capture("readonly-tools");
    let outputs: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("< "))
        .map(value)
        .filter(|message| message["method"] == "item/completed")
        .filter_map(|message| {
            let output = message.pointer("/params/item/aggregatedOutput")?;
            output.as_str().map(str::to_owned)
        })
        .collect();
    let [output] = &outputs[..] else {
        panic!("{outputs:?}");
    };
    assert_eq!(output.matches("Read-only file system").count(), 2);
    assert!(output.contains("pub fn sum"));
}

#[test]
fn prose_goes_on_as_text() {
    let answer = answered("prose", structured());
    let Payload::Text(text) = answer.payload else {
        panic!("{:?}", answer.payload);
    };
    assert!(text.starts_with("I looked at the patch."), "{text}");
    assert_eq!(answer.capture_mode, CaptureMode::Text);
}

#[test]
fn a_native_review_is_text_whose_gaps_are_labelled() {
    for (name, findings) in [("native", 1), ("native-prose", 0)] {
        let answer = answered(name, native());
        assert_eq!(answer.capture_mode, CaptureMode::Text);
        assert_eq!(
            answer.metadata["placeholders"],
            json!([
                "overall_correctness",
                "overall_confidence_score",
                "findings[].confidence_score",
            ])
        );
        assert_eq!(answer.usage, None);
        let parsed = parse_payload(answer.payload).unwrap();
        assert_eq!(parsed.parse_mode, ParseMode::FallbackText);
        assert!(!parsed.valid_schema);
        assert_eq!(parsed.problem, None, "{name}: nothing is repaired");
        assert_eq!(parsed.result.overall_correctness, "unknown");
        assert_eq!(parsed.result.findings.len(), findings, "{name}");
    }
}

#[test]
fn failures_have_the_server_s_own_kind() {
    use ErrorCode::{MissingAuth, ReviewerFailed};
    for (name, code, reason, part) in [
        (
            "http401",
            MissingAuth,
            Some(Reason::Auth),
            "401 Unauthorized",
        ),
        ("http429", ReviewerFailed, Some(Reason::RateLimit), "429"),
        ("http500", ReviewerFailed, None, "high demand"),
        (
            "usage-limit",
            ReviewerFailed,
            Some(Reason::Quota),
            "usage limit",
        ),
        (
            "http404-unknown-model",
            ReviewerFailed,
            Some(Reason::Model),
            "`no-such-model`",
        ),
        (
            "http400-schema",
            ReviewerFailed,
            Some(Reason::Protocol),
            "Invalid schema",
        ),
    ] {
        let End::Failed(failure) = replay(name, &mut structured()) else {
            panic!("{name}: no failure");
        };
        assert_eq!((failure.code, failure.reason), (code, reason), "{name}");
        assert!(failure.message.contains(part), "{name}: {failure}");
        assert!(failure.hint.is_some(), "{name}");
    }
    let End::Failed(failure) = replay("native-failed", &mut native()) else {
        panic!("no failure");
    };
    assert_eq!(failure.reason, Some(Reason::Model));
}

#[test]
fn refused_credentials_end_the_run_at_the_first_notice() {
    let text = capture("http401");
    let lines: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("< "))
        .take_while(|line| !line.contains("2/5"))
        .collect();
    let (_, end) = converse(&mut structured(), lines);
    assert!(matches!(end, End::Failed(failure) if failure.code == ErrorCode::MissingAuth));
}

#[test]
fn a_cancelled_turn_is_interrupted_and_the_input_closed() {
    let text = capture("interrupt");
    let (before, after) = text.split_once("> {\"id\":4,").unwrap();
    let lines = before.lines().filter_map(|line| line.strip_prefix("< "));
    let mut dialogue = structured();
    let (said, end) = converse(&mut dialogue, lines);
    assert!(matches!(end, End::Open) && said.len() == 3, "{end:?}");
    let recorded = format!("{{\"id\":4,{}", after.lines().next().unwrap());
    let [Action::Write(line), Action::CloseInput] = &dialogue.on_cancel()[..] else {
        panic!("{:?}", dialogue.on_cancel());
    };
    assert_eq!(value(line), value(&recorded));
    assert_eq!(structured().on_cancel(), [Action::CloseInput]);
}

#[test]
fn a_native_review_is_interrupted_in_its_inner_turn() {
    let text = capture("native");
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("< "))
        .take_while(|line| !line.contains("exitedReviewMode"));
    let mut dialogue = native();
    converse(&mut dialogue, lines);
    let inner = text
        .lines()
        .filter_map(|line| line.strip_prefix("< "))
        .map(value)
        .find(|message| message["method"] == "turn/started")
        .unwrap();
    let Some(Action::Write(line)) = dialogue.on_cancel().into_iter().next() else {
        panic!("nothing to interrupt");
    };
    assert_eq!(
        value(&line)["params"]["turnId"],
        inner["params"]["turn"]["id"]
    );
}

/// Lines up to the point at which the work has started.
fn opened() -> [String; 3] {
    [
        json!({"id": command::INITIALIZE, "result": {}}),
        json!({"id": 2, "result": {"thread": {"id": "t"}, "model": "m"}}),
        json!({"id": 3, "result": {"turn": {"id": "u"}}}),
    ]
    .map(|line| line.to_string())
}

fn completed(thread: &str, turn: &str, text: &str) -> String {
    json!({"method": "turn/completed", "params": {"threadId": thread, "turn": {
        "id": turn, "status": "completed",
        "items": [{"type": "agentMessage", "text": text}],
    }}})
    .to_string()
}

fn run(dialogue: &mut ServerDialogue, more: &[String]) -> End {
    let opened = opened();
    let lines = opened.iter().chain(more).map(String::as_str);
    converse(dialogue, lines).1
}

#[test]
fn turns_of_others_and_noise_change_nothing() {
    let more = [
        "noise".to_owned(),
        "{\"id\":".to_owned(),
        json!({"method": "brand/new", "params": 7}).to_string(),
        json!({"error": {"code": -32600, "message": "late"}}).to_string(),
        json!({"id": 9, "error": {"code": -32600}}).to_string(),
        completed("other", "u", "no"),
        completed("t", "other", "no"),
        completed("t", "u", "yes"),
    ];
    let End::Answered(answer) = run(&mut structured(), &more) else {
        panic!("there is an answer");
    };
    assert_eq!(answer.payload, Payload::Text("yes".to_owned()));
}

#[test]
fn requests_of_the_server_are_answered_at_once() {
    let mut dialogue = structured();
    run(&mut dialogue, &[]);
    let asked = json!({"id": 0, "method": "item/commandExecution/requestApproval", "params": {}});
    let (said, _) = converse(&mut dialogue, [asked.to_string().as_str()]);
    assert_eq!(said, [json!({"id": 0, "result": {"decision": "decline"}})]);
}

#[test]
fn a_thread_that_may_do_more_is_not_used() {
    for (opened, reason) in [
        (
            json!({"sandbox": {"type": "dangerFullAccess"}}),
            Reason::Environment,
        ),
        (
            json!({"sandbox": {"type": "readOnly", "networkAccess": true}}),
            Reason::Environment,
        ),
        (json!({"approvalPolicy": "on-request"}), Reason::Environment),
        (
            json!({"instructionSources": ["/repo/AGENTS.md"]}),
            Reason::UnsafeInput,
        ),
    ] {
        let mut result = opened;
        result["thread"] = json!({"id": "t"});
        let hello = json!({"id": 1, "result": {}}).to_string();
        let reply = json!({"id": 2, "result": result}).to_string();
        let (said, end) = converse(&mut structured(), [hello.as_str(), &reply]);
        assert_eq!(said.len(), 2, "nothing is told to that thread");
        let End::Failed(failure) = end else {
            panic!("{reply}");
        };
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        assert_eq!(failure.reason, Some(reason), "{reply}");
    }
}

#[test]
fn a_request_that_is_refused_or_not_understood_ends_the_run() {
    let refused = json!({"id": 1, "error": {"code": -32600, "message": "no"}});
    let unread = json!({"error": {"code": -32700, "message": "parse error"}});
    let nameless = json!({"id": 2, "result": {}});
    let hello = json!({"id": 1, "result": {}});
    for lines in [vec![refused], vec![unread], vec![hello, nameless]] {
        let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
        let (_, end) = converse(&mut structured(), lines.iter().map(String::as_str));
        let End::Failed(failure) = end else {
            panic!("{lines:?}");
        };
        assert_eq!(failure.reason, Some(Reason::Protocol));
    }
}

#[test]
fn only_a_completed_turn_with_words_is_an_answer() {
    let ended = |status: &str| {
        json!({"method": "turn/completed", "params": {"turn": {"status": status}}}).to_string()
    };
    for (line, reason) in [
        (completed("t", "u", " \n"), Some(Reason::Empty)),
        (ended("completed"), Some(Reason::Empty)),
        (ended("interrupted"), Some(Reason::Crash)),
        (ended("brandNew"), Some(Reason::Protocol)),
        (ended("failed"), None),
    ] {
        let End::Failed(failure) = run(&mut structured(), std::slice::from_ref(&line)) else {
            panic!("{line}");
        };
        assert_eq!(failure.reason, reason, "{line}");
    }
    let no_review = completed("t", "u", "Reviewer failed to output a response.");
    let end = run(&mut native(), &[no_review]);
    assert!(matches!(end, End::Failed(failure) if failure.reason == Some(Reason::Empty)));
}

#[test]
fn an_end_without_an_answer_is_a_failure() {
    let end = |more: Option<&[String]>, exit, stderr: &str| {
        let mut dialogue = structured();
        if let Some(more) = more {
            run(&mut dialogue, more);
        }
        let captured = Captured {
            exit,
            stdout: String::new(),
            stderr: stderr.to_owned(),
            outputs: Vec::new(),
        };
        Box::new(dialogue).on_exit(captured).unwrap_err()
    };
    let told = json!({"method": "error", "params": {"willRetry": false, "error": {
        "message": "m", "codexErrorInfo": "modelNotFound",
    }}})
    .to_string();
    let reason = |failure: Failure| failure.reason;
    let signal = end(None, ExitKind::Signal(9), "");
    assert_eq!(reason(signal), Some(Reason::Crash));
    let early = end(
        None,
        ExitKind::Code(1),
        "Error: Model provider `x` not found",
    );
    assert_eq!(early.code, ErrorCode::ReviewerEnvironmentFailed);
    let silent = end(None, ExitKind::Code(0), "");
    assert_eq!(reason(silent), Some(Reason::Protocol));
    let late = end(Some(&[]), ExitKind::Code(3), "");
    assert_eq!(reason(late), Some(Reason::Crash));
    let known = end(Some(&[told]), ExitKind::Code(1), "");
    assert_eq!(reason(known), Some(Reason::Model));
}

#[test]
fn a_result_in_a_native_text_is_taken_unless_a_finding_quotes_it() {
    let review = json!({
        "findings": [], "overall_correctness": "patch is correct",
        "overall_explanation": "Fine.", "overall_confidence_score": 1,
    });
    let payload = |text: String| match run(&mut native(), &[completed("t", "u", &text)]) {
        End::Answered(answer) => answer.payload,
        other => panic!("{other:?}"),
    };
    for text in [review.to_string(), format!("Here it is: {review}")] {
        assert_eq!(payload(text.clone()), Payload::Text(text));
    }
    let quoting = format!("Bad.\n\nReview comment:\n\n- [P1] x — /a:1-1\n  {review}");
    let Payload::Rendered { result, .. } = payload(quoting) else {
        panic!("the finding counts");
    };
    assert_eq!(result.findings.len(), 1);
    let mangled = format!("Bad.\n\nReview comment:\n\n- [P1] x at /a\n  {review}");
    let Payload::Rendered { result, .. } = payload(mangled) else {
        panic!("a block that cannot be read is no reason to believe what it quotes");
    };
    assert_eq!(result.findings, []);
}

#[test]
fn another_model_in_place_of_the_chosen_one_is_told() {
    let rerouted = json!({"method": "model/rerouted", "params": {
        "threadId": "t", "turnId": "u", "fromModel": "m", "toModel": "m2", "reason": "x",
    }})
    .to_string();
    let end = run(&mut structured(), &[rerouted, completed("t", "u", "ok")]);
    let End::Answered(answer) = end else {
        panic!("{end:?}");
    };
    assert_eq!(answer.metadata["resolvedModel"], "m2");
    assert_eq!(answer.metadata["modelResolutionSource"], "provider-result");
    assert!(answer.metadata["warnings"].to_string().contains("m2"));
}

fn any_message() -> impl Strategy<Value = String> {
    let methods = prop::sample::select(vec![
        "turn/completed",
        "turn/started",
        "item/completed",
        "error",
        "thread/tokenUsage/updated",
        "model/rerouted",
        "warning",
        "item/tool/call",
    ]);
    let status = "(completed|failed|interrupted|x)";
    let kind = "(agentMessage|exitedReviewMode|commandExecution)";
    let text = "(Review comment:\n- x — /a:1-1|\\{\"findings\":|[a-z ]{0,9})";
    let ids = (prop::option::of(0_u64..5), any::<bool>(), "(t|u|v)");
    (methods, status, kind, text, ids).prop_map(|(method, status, kind, text, (id, bare, name))| {
        let item = json!({"type": kind, "text": text, "review": text});
        let mut message = json!({"params": {
            "threadId": name, "turnId": name, "item": item, "message": text,
            "turn": {"id": name, "status": status, "items": [item], "error": item},
            "tokenUsage": {"total": {"inputTokens": 1}}, "toModel": text, "fromModel": text,
            "error": {"message": text, "codexErrorInfo": {"a": {"httpStatusCode": 401}}},
            "willRetry": bare,
        }});
        if !bare {
            message["method"] = method.into();
        }
        if let Some(id) = id {
            message["id"] = id.into();
            message["result"] = json!({"thread": {"id": name}, "turn": {"id": name}});
        }
        message.to_string()
    })
}

proptest! {
    #[test]
    fn any_lines_come_to_an_end(
        lines in prop::collection::vec(prop_oneof![any_message(), ".{0,60}".boxed()], 0..14),
        is_native in any::<bool>(),
        starts in any::<bool>(),
        code in -1..3,
    ) {
        let mut dialogue = if is_native { native() } else { structured() };
        let opened = opened();
        let opened = opened.iter().map(String::as_str).filter(|_| starts);
        let lines = opened.chain(lines.iter().map(String::as_str));
        let (said, end) = converse(&mut dialogue, lines);
        for line in said {
            prop_assert!(line.is_object());
        }
        prop_assert!(!dialogue.on_cancel().is_empty());
        if let End::Answered(answer) = end {
            let result: Option<ReviewResult> = parse_payload(answer.payload)
                .ok()
                .map(|parsed| parsed.result);
            prop_assert!(result.is_none_or(|result| result.overall_confidence_score.0 <= 1.0));
        }
        let captured = Captured {
            exit: ExitKind::Code(code),
            stdout: String::new(),
            stderr: String::new(),
            outputs: Vec::new(),
        };
        prop_assert!(Box::new(dialogue).on_exit(captured).is_err());
    }
}
