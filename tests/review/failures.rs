//! Engines that fail, and what is said about it.

use serde_json::{Value, json};

use super::trust_reasons;
use crate::support::{Run, TestEnvironment, edit_finding, is_alive, reply, wait_until};

/// Runs one reviewer whose engine does these steps.
fn review_with(steps: &Value) -> (TestEnvironment, Run) {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(steps);
    let run = environment.review(&["--reviewer", "codex", "--json"]);
    assert_eq!(environment.left_over(), [] as [std::path::PathBuf; 0]);
    (environment, run)
}

fn assert_fails(steps: &Value, code: &str, reason: Option<&str>) -> Value {
    let (_, run) = review_with(steps);
    let error = run.json()["error"].clone();
    assert_eq!(run.code, 3, "{steps}: {}", run.stdout);
    assert_eq!(error["code"], code, "{steps}: {error}");
    assert_eq!(
        error.get("reason").and_then(Value::as_str),
        reason,
        "{steps}: {error}"
    );
    assert_eq!(error["reviewer_id"], "codex", "{steps}: {error}");
    error
}

#[test]
fn an_answer_that_says_nothing_is_a_failure() {
    for nothing in ["", "  \n\t"] {
        assert_fails(
            &json!([{"text": nothing}]),
            "reviewer_failed",
            Some("empty"),
        );
    }
    // Ended with success, and without a word.
    let (_, run) = review_with(&json!([{"exit": 0}]));
    assert_eq!(run.code, 3, "{}", run.stdout);
}

#[test]
fn a_sandbox_that_does_not_work_fails_before_anything_is_sent() {
    let environment = TestEnvironment::with_edit();
    // This Codex knows `codex sandbox`, and no command runs in it.
    environment.install_codex(&json!({
        "help": "Usage: codex exec [OPTIONS]\n\
                 Usage: codex sandbox [OPTIONS] [COMMAND]...\n\
                 --json --output-schema --output-last-message --sandbox --ephemeral --cd\n",
        "runs": [{"steps": [environment.record(), reply(&[edit_finding("[P1] x")])]}],
    }));
    let run = environment.review(&["--reviewer", "codex", "--json"]);
    let error = run.json()["error"].clone();
    assert_eq!(run.code, 3, "{}", run.stdout);
    assert_eq!(error["code"], "reviewer_environment_failed", "{error}");
    assert_eq!(error["reason"], "environment", "{error}");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("read-only sandbox"), "{error}");
    assert!(error["hint"].is_string(), "{error}");
    assert!(environment.recorded("stdin").is_empty());
}

#[test]
fn a_refused_login_is_told_apart_and_says_what_to_do() {
    let error = assert_fails(
        &json!([
            {"fail_turn": "unexpected status 401 Unauthorized: Incorrect API key provided, url: http://127.0.0.1/v1/responses"},
            {"exit": 1},
        ]),
        "missing_auth",
        Some("auth"),
    );
    let hint = error["hint"].as_str().unwrap_or_default();
    assert!(hint.contains("codex login"), "{error}");
}

#[test]
fn text_about_a_login_is_not_a_refused_login() {
    // The words stand in an answer and not in the engine's own channel.
    let (_, run) =
        review_with(&json!([{"text": "401 Unauthorized: the login form lost its token."}]));
    assert_eq!(run.code, 0, "{}", run.stdout);
}

#[test]
fn an_end_by_signal_is_a_crash_whatever_was_said_before() {
    assert_fails(&json!(["abort"]), "reviewer_failed", Some("crash"));
    assert_fails(
        &json!([{"event": {"type": "turn.started"}}, {"stderr": "stack overflow\n"}, "abort"]),
        "reviewer_failed",
        Some("crash"),
    );
}

#[test]
fn an_exit_code_is_told_with_what_the_engine_said() {
    let error = assert_fails(
        &json!([{"stderr": "disk on fire\n"}, {"exit": 7}]),
        "reviewer_failed",
        Some("crash"),
    );
    let message = error["message"].as_str().unwrap_or_default();
    assert!(
        message.contains('7') && message.contains("disk on fire"),
        "{error}"
    );
}

#[test]
fn a_missing_executable_says_where_it_was_looked_for_and_how_to_get_it() {
    let environment = TestEnvironment::with_edit();
    let mut command = environment.review_command(&["--reviewer", "codex", "--json"]);
    environment.hide_other_programs(&mut command);
    let run = Run::of(command.output().expect("the binary runs"));
    let error = &run.json()["error"];
    assert_eq!(run.code, 3);
    assert_eq!(error["code"], "missing_requirement");
    let bin = environment.bin().display().to_string();
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|it| it.contains(&bin)),
        "{error}"
    );
    assert!(
        error["hint"]
            .as_str()
            .is_some_and(|it| it.contains("npm install")),
        "{error}"
    );
}

#[test]
fn an_executable_that_is_too_old_is_an_unfit_environment() {
    let environment = TestEnvironment::with_edit();
    environment.install_codex(&json!({
        "help": "Usage: codex exec [OPTIONS]\n  --json\n",
        "runs": [{"steps": [reply(&[])]}],
    }));
    let run = environment.review(&["--reviewer", "codex", "--json"]);
    let error = &run.json()["error"];
    assert_eq!(run.code, 3);
    assert_eq!(error["code"], "reviewer_environment_failed");
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|it| it.contains("--output-schema")),
        "{error}"
    );
}

#[test]
fn a_budget_ends_the_engine_with_all_it_started() {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(&json!([
        environment.record(),
        "ignore_signals",
        {"record_grandchild": environment.path("recorded")},
        "hang",
    ]));
    let run = environment.review(&["--reviewer", "codex", "--json", "--timeout", "4"]);
    let error = &run.json()["error"];
    assert_eq!(run.code, 3, "{}", run.stdout);
    assert_eq!(
        (&error["code"], &error["reason"]),
        (&json!("timeout"), &json!("timeout"))
    );
    for what in ["argv", "grandchild"] {
        assert_eq!(environment.recorded_pids(what).len(), 1, "{what}");
        for pid in environment.recorded_pids(what) {
            // A killed orphan is not gone at once; one that was spared lives for an hour.
            wait_until(&format!("{what} {pid} is gone"), || !is_alive(pid));
        }
    }
    assert_eq!(environment.left_over(), [] as [std::path::PathBuf; 0]);
}

#[test]
fn a_budget_covers_the_preflight_too() {
    let environment = TestEnvironment::with_edit();
    environment.install_codex(&json!({"probe": ["hang"], "runs": []}));
    let run = environment.review(&["--reviewer", "codex", "--json", "--timeout", "0.3"]);
    let error = &run.json()["error"];
    assert_eq!((run.code, &error["code"]), (3, &json!("timeout")));
    assert!(
        error["message"]
            .as_str()
            .is_some_and(|it| it.contains("preflight")),
        "{error}"
    );
}

#[test]
fn one_of_several_may_fail() {
    let environment = TestEnvironment::with_edit();
    environment.codex_reviewers(&[
        (
            "alpha",
            json!([reply(&[edit_finding("[P1] Two is not one")])]),
        ),
        (
            "beta",
            json!([{"fail_turn": "beta fell over"}, {"exit": 1}]),
        ),
    ]);
    let run = environment.review(&["--json"]);
    let artifact = run.json();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(artifact["reviewers"][0]["status"], "success");
    assert_eq!(artifact["reviewers"][1]["status"], "failed");
    assert_eq!(artifact["reviewers"][1]["error"]["code"], "reviewer_failed");
    assert_eq!(
        artifact["result"]["findings"][0]["reviewer_ids"],
        json!(["alpha"])
    );
    let warnings = artifact["warnings"].as_array().expect("warnings");
    assert!(
        warnings.iter().any(|it| it
            .as_str()
            .is_some_and(|it| it.starts_with("Reviewer beta failed:"))),
        "{warnings:?}"
    );
    assert_eq!(trust_reasons(&artifact), ["reviewer_failed"]);
    assert_eq!(environment.review(&["--json", "--require-clean"]).code, 1);

    let strict = environment.review(&["--json", "--strict"]);
    assert_eq!(strict.code, 3);
    let message = strict.json()["error"]["message"].clone();
    assert!(
        message
            .as_str()
            .is_some_and(|it| it.contains("beta fell over")),
        "{message}"
    );
}

#[test]
fn all_of_several_failing_is_one_error_that_names_them() {
    let environment = TestEnvironment::with_edit();
    environment.codex_reviewers(&[
        (
            "alpha",
            json!([{"fail_turn": "alpha fell over"}, {"exit": 1}]),
        ),
        ("beta", json!([{"text": ""}])),
    ]);
    let run = environment.review(&["--json"]);
    let error = &run.json()["error"];
    assert_eq!((run.code, &error["code"]), (3, &json!("reviewer_failed")));
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("All reviewers failed"), "{message}");
    assert!(
        message.contains("alpha: ") && message.contains("beta: "),
        "{message}"
    );
}

#[test]
fn a_failed_preflight_does_not_keep_others_from_reviewing() {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(&json!([reply(&[])]));
    environment.write_config(&json!({
        "reviewers": [
            {"id": "absent", "engine": "codex", "transport": "cli",
             "cliOptions": {"executable": environment.path("nowhere/codex")}},
            {"id": "present", "engine": "codex", "transport": "cli"},
        ],
        "reviewerSets": {"1": ["absent", "present"]},
    }));
    let run = environment.review(&["--json"]);
    let artifact = run.json();
    assert_eq!(run.code, 0);
    assert_eq!(
        artifact["reviewers"][0]["error"]["code"],
        "missing_requirement"
    );
    assert_eq!(artifact["reviewers"][1]["status"], "success");
}
