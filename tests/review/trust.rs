//! Answers that are not what was asked for, and what is said about how far to trust a result.

use serde_json::{Value, json};

use super::trust_reasons;
use crate::support::{TestEnvironment, edit_finding, reply};

const HALF: &str = "{\"findings\": [{\"title\": \"[P1] Two is not one\", \"body\": \"It";

fn answered(text: &str) -> TestEnvironment {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(&json!([{"text": text}]));
    environment
}

#[test]
fn prose_and_half_an_object_stay_text() {
    for text in ["The patch is correct; there is nothing to say.", HALF] {
        let environment = answered(text);
        let run = environment.review(&["--reviewer", "codex", "--json"]);
        let artifact = run.json();
        assert_eq!((run.code, run.stderr.as_str()), (0, ""));
        assert_eq!(artifact["validation"]["parse_mode"], "fallback-text");
        assert_eq!(artifact["validation"]["valid_schema"], false);
        // A verdict is never read from words.
        assert_eq!(artifact["result"]["overall_correctness"], "unknown");
        assert_eq!(artifact["result"]["overall_explanation"], text);
        assert_eq!(artifact["raw_text"], text);
        assert!(
            trust_reasons(&artifact).contains(&"fallback_text"),
            "{}",
            artifact["trust"]
        );
        assert_eq!(
            environment
                .review(&["--reviewer", "codex", "--require-clean"])
                .code,
            1
        );
        let strict = environment.review(&["--reviewer", "codex", "--json", "--strict"]);
        assert_eq!(strict.code, 4, "{}", strict.stdout);
        assert_eq!(strict.json()["error"]["code"], "parse_failed");
    }
}

#[test]
fn an_object_in_prose_is_found() {
    let Value::Object(step) = reply(&[edit_finding("[P1] Two is not one")]) else {
        panic!("a step is an object");
    };
    let text = format!("Here it is:\n```json\n{}\n```\nDone.", step["reply"]);
    let artifact = answered(&text)
        .review(&["--reviewer", "codex", "--json"])
        .json();
    assert_eq!(artifact["validation"]["parse_mode"], "extracted-json");
    assert_eq!(
        artifact["result"]["findings"][0]["title"],
        "[P1] Two is not one"
    );
    assert_eq!(trust_reasons(&artifact), [] as [&str; 0]);
}

#[test]
fn a_reviewer_that_looked_at_nothing_is_no_full_review() {
    let environment = TestEnvironment::with_edit();
    let run = environment.review(&["--reviewer", "fake", "--json"]);
    let artifact = run.json();
    assert_eq!(run.code, 0);
    assert_eq!(artifact["engine"], "fake");
    assert_eq!(artifact["trust"]["clean"], false);
    assert!(
        artifact["warnings"].to_string().contains("only the fake"),
        "{artifact}"
    );
    let human = environment.review(&["--reviewer", "fake"]);
    assert!(human.stdout.contains("fixture"), "{}", human.stdout);
}

#[test]
fn the_scans_alone_are_a_review_without_an_engine() {
    let environment = TestEnvironment::with_edit();
    environment.write(
        "src/lib.rs",
        "pub fn one() -> u8 {\n    2 // \u{202e}1\n}\n",
    );
    let run = environment.review(&["--reviewer", "surface", "--json"]);
    let artifact = run.json();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(artifact["engine"], "surface");
    assert_eq!(artifact["reviewers"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        artifact["result"]["findings"][0]["reviewer_ids"],
        json!(["surface"])
    );
}

#[test]
fn a_repository_inside_the_change_is_not_taken_for_reviewed() {
    let environment = TestEnvironment::with_edit();
    environment.write("vendor/secret.py", "x\n");
    environment.git(&["init", "--quiet", "vendor"]);
    let run = environment.review(&["--reviewer", "surface", "--json", "--require-clean"]);
    let artifact = run.json();
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_eq!(trust_reasons(&artifact), ["clipped"]);
    let files = artifact["coverage"]["files"].as_array().expect("files");
    let vendor = files.iter().find(|file| file["path"] == "vendor/");
    let reason = vendor.expect("an entry")["reason"].as_str();
    assert!(
        reason.is_some_and(|it| it.ends_with("is not looked into")),
        "{reason:?}"
    );
    assert!(
        artifact["warnings"].to_string().contains("vendor/"),
        "{artifact}"
    );
}

#[test]
fn a_finding_beside_a_deletion_is_valid() {
    let environment = TestEnvironment::new();
    let lines: Vec<_> = (1..=60).map(|n| format!("line {n}\n")).collect();
    environment.write("src/lib.rs", lines.concat());
    environment.commit("base");
    let mut edited = lines;
    edited[49] = "FIFTY\n".to_owned();
    edited.remove(9);
    environment.write("src/lib.rs", edited.concat());
    // The tenth line is gone; the ninth and what was the eleventh remain beside the gap.
    for (line, code) in [(9, 0), (10, 0), (49, 0), (8, 4), (11, 4), (48, 4)] {
        let mut finding = edit_finding("[P2] Gone");
        finding["code_location"]["line_range"] = json!({"start": line, "end": line});
        environment.codex_finds(&[finding]);
        let run = environment.review(&["--reviewer", "codex", "--json", "--strict"]);
        assert_eq!(run.code, code, "{line}: {}", run.stdout);
    }
}

#[test]
fn a_tree_that_changes_during_the_run_is_told() {
    let environment = TestEnvironment::with_edit();
    environment.codex_reviewers(&[
        (
            "alpha",
            json!([{"write_file": {"path": "src/new.rs", "text": "fn new() {}\n"}}, reply(&[])]),
        ),
        ("beta", json!([reply(&[])])),
    ]);
    let run = environment.review(&["--json"]);
    let artifact = run.json();
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(trust_reasons(&artifact), ["tree_changed"]);
    assert!(
        artifact["warnings"].to_string().contains("src/new.rs"),
        "{artifact}"
    );
}

#[test]
fn the_output_of_the_run_in_the_tree_is_no_change_of_it() {
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[]);
    let frames = environment.repo().join("frames");
    let mut command = environment.review_command(&["--reviewer", "codex", "--ndjson"]);
    let file = std::fs::File::create(&frames).expect("a file");
    let status = command.stdout(file).status().expect("the binary runs");
    assert!(status.success());
    let text = std::fs::read_to_string(&frames).expect("frames");
    let last: Value = serde_json::from_str(text.lines().last().expect("a frame")).expect("JSON");
    assert_eq!(trust_reasons(&last["artifact"]), [] as [&str; 0]);
}

/// Returns an answer in JSON without findings that explains itself like this.
fn clean_answer(explanation: &str) -> Value {
    let mut answer = reply(&[])["reply"].clone();
    answer["overall_explanation"] = json!(explanation);
    answer
}

#[test]
fn a_clean_answer_of_somebody_who_saw_nothing_is_no_full_review() {
    for explanation in [
        "I cannot help with that request.",
        "The diff is empty, so there is nothing to review.",
        "I have not reviewed the changes.",
        "",
        "<the reasons for the verdict in one to three sentences>",
    ] {
        let environment = answered(&clean_answer(explanation).to_string());
        let args = ["--reviewer", "codex", "--json", "--require-clean"];
        let run = environment.review(&args);
        assert_eq!(run.code, 1, "{explanation}: {}", run.stdout);
        assert_eq!(trust_reasons(&run.json()), ["vacuous_answer"]);
    }
}

#[test]
fn a_refusal_is_a_failure() {
    let environment = answered("I'm sorry, but I can't assist with this.");
    let run = environment.review(&["--reviewer", "codex", "--json"]);
    assert_eq!(run.code, 3, "{}", run.stdout);
    let error = &run.json()["error"];
    assert_eq!(error["code"], "reviewer_failed");
    assert_eq!(error["reason"], "refused");
}

#[test]
fn an_answer_that_says_its_findings_twice_is_not_read() {
    let mut text = reply(&[edit_finding("[P0] Two is not one")])["reply"].to_string();
    text.insert_str(text.len() - 1, ",\"findings\":[]");
    let environment = answered(&text);
    let run = environment.review(&["--reviewer", "codex", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let artifact = run.json();
    assert_eq!(artifact["validation"]["parse_mode"], "fallback-text");
    assert_eq!(artifact["result"]["overall_correctness"], "unknown");
    assert!(trust_reasons(&artifact).contains(&"fallback_text"));
    let strict = environment.review(&["--reviewer", "codex", "--strict"]);
    assert_eq!(strict.code, 4, "{}", strict.stderr);
}

#[test]
fn one_line_number_that_no_file_has_costs_no_finding() {
    let mut far = edit_finding("[P1] Far");
    far["code_location"]["line_range"] = json!({"start": 9, "end": 4_294_967_296_u64});
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[edit_finding("[P1] Two is not one"), far]);
    let artifact = environment
        .review(&["--reviewer", "codex", "--json"])
        .json();
    assert_eq!(artifact["result"]["findings"].as_array().unwrap().len(), 2);
    assert_eq!(artifact["validation"]["valid_schema"], true);
    assert_eq!(artifact["validation"]["invalid_locations"][0]["index"], 1);
}

#[test]
fn a_reply_without_an_event_is_taken_and_marked_and_one_of_a_cut_turn_is_not() {
    let environment = TestEnvironment::with_edit();
    let text = reply(&[])["reply"].to_string();
    environment.codex_does(&json!([{"last_message": text}]));
    let run = environment.review(&["--reviewer", "codex", "--json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let warnings = run.json()["reviewers"][0]["adapter_metadata"]["warnings"].to_string();
    assert!(warnings.contains("nothing of its turn"), "{warnings}");

    let started = json!({"event": {"type": "thread.started", "thread_id": "x"}});
    environment.codex_does(&json!([started, {"last_message": text}]));
    let run = environment.review(&["--reviewer", "codex", "--json"]);
    assert_eq!(run.code, 3, "{}", run.stdout);
    assert_eq!(run.json()["error"]["reason"], "protocol");
}

#[test]
fn the_fixture_beside_a_failure_is_nobody_who_looked() {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(&json!([{"fail_turn": "no"}]));
    let args = ["--reviewer", "fake", "--reviewer", "codex", "--json"];
    let run = environment.review(&args);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let artifact = run.json();
    let reasons = trust_reasons(&artifact);
    assert!(reasons.contains(&"vacuous_answer"), "{reasons:?}");
}
