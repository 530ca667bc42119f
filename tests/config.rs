//! The configuration as the binary uses it: precedence, sets, and what a repository may not say.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Run, TestEnvironment, reply};

/// A configured reviewer with a model, an effort and a budget, and a `codex` that records its calls.
fn configured() -> TestEnvironment {
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[]);
    environment.write_config(&json!({
        "timeoutSeconds": 300,
        "reviewers": [
            {"id": "main", "engine": "codex", "transport": "cli", "profile": "deep",
             "model": "model-config", "effort": "low"},
            {"id": "off", "engine": "codex", "transport": "cli", "enabled": false},
        ],
        "reviewerSets": {"1": ["main"], "pair": ["main", "surface"], "ghosts": ["nobody"], "dark": ["off"]},
    }));
    environment
}

fn review_with(environment: &TestEnvironment, variables: &[(&str, &str)], args: &[&str]) -> Run {
    let mut command = environment.review_command(&[&["--json"], args].concat());
    command.envs(variables.iter().copied());
    Run::of(command.output().expect("the binary runs"))
}

/// Returns the arguments of the only call of the engine.
fn arguments(environment: &TestEnvironment) -> String {
    let calls = environment.recorded("argv");
    assert_eq!(calls.len(), 1, "{calls:?}");
    calls[0].clone()
}

#[test]
fn flags_win_over_variables_and_variables_over_the_config() {
    let variables = [
        ("DIFFWARDEN_MODEL", "model-env"),
        ("DIFFWARDEN_EFFORT", "high"),
    ];
    let flags = ["--model", "model-flag", "--effort", "xhigh"];
    for (variables, args, model, effort) in [
        (&[][..], &[][..], "model-config", "low"),
        (&variables, &[], "model-env", "high"),
        (
            &[("DIFFWARDEN_MODEL", " "), ("DIFFWARDEN_EFFORT", "")],
            &[],
            "model-config",
            "low",
        ),
        (&variables, &flags, "model-flag", "xhigh"),
    ] {
        let environment = configured();
        let run = review_with(&environment, variables, args);
        assert_eq!(
            (run.code, run.stderr.as_str()),
            (0, ""),
            "{variables:?} {args:?}"
        );
        let entry = run.json()["reviewers"][0].clone();
        assert_eq!(
            (&entry["id"], &entry["model"]),
            (&json!("main"), &json!(model))
        );
        assert_eq!(entry["effort"], effort);
        let argv = arguments(&environment);
        assert!(argv.contains(&format!("--model\n{model}\n")), "{argv}");
        assert!(
            argv.contains(&format!("model_reasoning_effort=\"{effort}\"")),
            "{argv}"
        );
    }
}

#[test]
fn budgets_follow_the_same_order() {
    let environment = configured();
    environment.install_codex(&json!({"probe": ["hang"], "runs": []}));
    let ends = |variables: &[(&str, &str)], args: &[&str]| {
        let run = review_with(&environment, variables, args);
        (run.code, run.json()["error"]["code"].clone())
    };
    assert_eq!(
        ends(&[("DIFFWARDEN_TIMEOUT_SECONDS", "0.2")], &[]),
        (3, json!("timeout"))
    );
    assert_eq!(
        ends(
            &[("DIFFWARDEN_TIMEOUT_SECONDS", "900")],
            &["--timeout", "0.2"]
        ),
        (3, json!("timeout"))
    );
    environment.write_config(&json!({
        "timeoutSeconds": 900,
        "reviewers": [{"id": "main", "engine": "codex", "timeoutSeconds": 0.2}],
        "reviewerSets": {"1": ["main"]},
    }));
    assert_eq!(ends(&[], &[]), (3, json!("timeout")));
}

#[test]
fn reviewers_are_chosen_by_flag_variable_and_default_set() {
    for (variables, args, ids) in [
        (&[][..], &[][..], &["main"][..]),
        (
            &[("DIFFWARDEN_REVIEWER_SET", "pair")],
            &[],
            &["main", "surface"],
        ),
        (
            &[("DIFFWARDEN_REVIEWERS", "surface, main")],
            &[],
            &["surface", "main"],
        ),
        (
            &[("DIFFWARDEN_REVIEWER_SET", "pair")],
            &["--reviewer", "main"],
            &["main"],
        ),
        (&[], &["--reviewer-set", "pair"], &["main", "surface"]),
        (&[], &["--reviewer", "codex:deep"], &["main"]),
        (&[], &["--reviewer", "codex"], &["codex"]),
    ] {
        let run = review_with(&configured(), variables, args);
        assert_eq!(run.code, 0, "{variables:?} {args:?}: {}", run.stderr);
        let artifact = run.json();
        let reviewers = artifact["reviewers"].as_array().expect("reviewers");
        let found: Vec<_> = reviewers.iter().map(|entry| &entry["id"]).collect();
        assert_eq!(found, ids, "{variables:?} {args:?}");
    }
}

#[test]
fn choices_that_cannot_be_meant_are_refused_before_anything_runs() {
    let environment = configured();
    for (variables, args, needle) in [
        (&[][..], &["--reviewer-set", "nosuch"][..], "nosuch"),
        (&[], &["--reviewer-set", "ghosts"], "nobody"),
        (&[], &["--reviewer-set", "dark"], "off"),
        (&[], &["--reviewer", "off"], "off"),
        (&[], &["--reviewer", "codex:shallow"], "shallow"),
        (&[], &["--reviewer-set", "pair", "--model", "m"], "--model"),
        (&[("DIFFWARDEN_EFFORT", "huge")], &[], "huge"),
        (&[("DIFFWARDEN_TIMEOUT_SECONDS", "soon")], &[], "soon"),
        (
            &[("DIFFWARDEN_REVIEWERS", "main,,surface")],
            &[],
            "DIFFWARDEN_REVIEWERS",
        ),
        (
            &[
                ("DIFFWARDEN_REVIEWERS", "main"),
                ("DIFFWARDEN_REVIEWER_SET", "pair"),
            ],
            &[],
            "DIFFWARDEN_REVIEWER_SET",
        ),
    ] {
        let run = review_with(&environment, variables, args);
        assert_eq!(run.code, 2, "{variables:?} {args:?}: {}", run.stdout);
        let message = run.json()["error"]["message"].to_string();
        assert!(
            message.contains(needle),
            "{variables:?} {args:?}: {message}"
        );
    }
    assert_eq!(environment.recorded("argv"), [] as [&str; 0]);
}

#[test]
fn every_problem_of_a_config_is_listed_with_its_place() {
    let environment = TestEnvironment::with_edit();
    environment.write_config(&json!({
        "reviewers": [{"id": "a", "engine": "codex", "colour": 1}, {"id": "b", "engine": "nosuch"}],
        "timeoutSeconds": -1,
    }));
    let run = review_with(&environment, &[], &["--reviewer", "a"]);
    let error = run.json()["error"].clone();
    assert_eq!((run.code, &error["code"]), (2, &json!("invalid_config")));
    for place in [
        "reviewers[0]",
        "colour",
        "reviewers[1].engine",
        "timeoutSeconds",
    ] {
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|it| it.contains(place)),
            "{place}: {error}"
        );
    }
}

fn project_config(environment: &TestEnvironment, config: &Value) {
    environment.write("diffwarden.config.json", config.to_string());
}

#[test]
fn a_config_in_the_repository_chooses_reviewers_instead_of_the_users() {
    let environment = configured();
    project_config(
        &environment,
        &json!({
            "reviewers": [{"id": "theirs", "engine": "codex", "model": "model-project"}],
            "reviewerSets": {"1": ["theirs"]},
        }),
    );
    let run = review_with(&environment, &[], &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(run.json()["reviewers"][0]["id"], "theirs");
    assert!(arguments(&environment).contains("--model\nmodel-project\n"));
    // The user's reviewers are not known then; nothing is merged.
    assert_eq!(
        review_with(&environment, &[], &["--reviewer", "main"]).code,
        2
    );
}

#[test]
fn a_config_in_the_repository_names_no_program_path_or_address() {
    for options in [
        json!({"engine": "codex", "cliOptions": {"executable": "/bin/sh"}}),
        json!({"engine": "codex", "transport": "app-server", "appServerOptions": {"codexHome": "/tmp"}}),
        json!({"engine": "codex", "cliOptions": {"webSearch": "enabled"}}),
    ] {
        let environment = TestEnvironment::with_edit();
        environment.codex_finds(&[]);
        let trap = environment.repo().join("trap");
        environment.write_trap(&trap);
        let mut reviewer = options.clone();
        reviewer["id"] = json!("theirs");
        if reviewer["cliOptions"]["executable"].is_string() {
            reviewer["cliOptions"]["executable"] = json!(trap);
        }
        project_config(
            &environment,
            &json!({"reviewers": [reviewer], "reviewerSets": {"1": ["theirs"]}}),
        );
        let run = review_with(&environment, &[], &[]);
        let error = run.json()["error"].clone();
        assert_eq!(
            (run.code, &error["code"]),
            (2, &json!("invalid_config")),
            "{options}"
        );
        assert!(
            error["message"]
                .as_str()
                .is_some_and(|it| it.contains("reviewers[0]")),
            "{error}"
        );
        assert!(!environment.trace().exists());
        assert_eq!(environment.recorded("argv"), [] as [&str; 0]);
    }
}

#[test]
fn a_broken_config_of_the_repository_does_not_fall_back_to_the_users() {
    let environment = configured();
    environment.write("diffwarden.config.json", "{\"reviewers\": [");
    let run = review_with(&environment, &[], &[]);
    assert_eq!(
        (run.code, &run.json()["error"]["code"]),
        (2, &json!("invalid_config"))
    );
}

#[test]
fn reviewers_are_listed_without_their_options_and_without_running_them() {
    let environment = configured();
    fs::remove_file(environment.bin().join("codex")).expect("it was there");
    environment.write_trap(&environment.bin().join("codex"));
    let run = environment.run(&["reviewers", "list", "--json"]);
    let list = run.json();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let ids: Vec<_> = list["reviewers"]
        .as_array()
        .expect("reviewers")
        .iter()
        .map(|it| &it["id"])
        .collect();
    assert_eq!(ids, ["main", "off"]);
    assert_eq!(list["reviewerSets"]["pair"], json!(["main", "surface"]));
    assert!(!run.stdout.contains("cliOptions"));
    assert!(!environment.trace().exists());
    let text = environment.run(&["reviewers", "list"]);
    assert!(
        text.stdout.contains("main") && text.stderr.is_empty(),
        "{}",
        text.stdout
    );
}

#[test]
fn concurrency_is_bounded_by_the_config() {
    let environment = TestEnvironment::with_edit();
    let slow = json!([{"sleep_ms": 200}, reply(&[])]);
    environment.codex_reviewers(&[("alpha", slow), ("beta", json!([reply(&[])]))]);
    let path = environment
        .home()
        .join(".config/diffwarden/diffwarden.config.json");
    let mut config: Value =
        serde_json::from_slice(&fs::read(&path).expect("a config")).expect("JSON");
    config["maxConcurrency"] = json!(1);
    environment.write_config(&config);
    let frames = environment.review(&["--ndjson"]).frames();
    let order: Vec<_> = frames
        .iter()
        .filter(|frame| frame["type"] == "reviewer_started" || frame["type"] == "reviewer_result")
        .map(|frame| format!("{} {}", frame["type"], frame["reviewer_id"]).replace('"', ""))
        .collect();
    assert_eq!(
        order,
        [
            "reviewer_started alpha",
            "reviewer_result alpha",
            "reviewer_started beta",
            "reviewer_result beta"
        ]
    );
}
