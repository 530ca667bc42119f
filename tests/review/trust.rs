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
