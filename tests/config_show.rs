//! `config show`, `config schema` and `config path`: what holds here and where it comes from.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Run, TestEnvironment};

fn show(environment: &TestEnvironment, variables: &[(&str, &str)], args: &[&str]) -> Run {
    let mut command = environment.command([&["config", "show", "--json"], args].concat());
    command.envs(variables.iter().copied());
    Run::of(command.output().expect("the binary runs"))
}

/// Returns the value of a key and who set it.
fn setting(shown: &Value, list: &str, key: &str) -> (Value, String) {
    let settings = shown[list].as_array().expect("a list");
    let found = settings.iter().find(|setting| setting["key"] == key);
    let found = found.unwrap_or_else(|| panic!("{key}: {shown:#}"));
    let origin = &found["origin"];
    let by = origin.get("name").unwrap_or(&origin["kind"]);
    (found["value"].clone(), by.as_str().unwrap_or("").to_owned())
}

fn layered() -> TestEnvironment {
    let environment = TestEnvironment::with_edit();
    environment.write_config(&json!({
        "timeoutSeconds": 300,
        "reporting": {"scope": "repo"},
        "reviewers": [
            {"id": "main", "engine": "codex", "model": "base", "effort": "low"},
            {"id": "second", "engine": "claude", "transport": "cli",
             "cliOptions": {"executable": "claude", "other": "hunter2"}},
        ],
        "reviewerSets": {"1": ["main"], "ghosts": ["nobody"]},
    }));
    let overlay = json!({
        "reporting": {"mode": "metadata"},
        "reviewers": [{"id": "main", "model": "local"}],
    });
    let folder = environment.home().join(".config/diffwarden");
    let path = folder.join("diffwarden.config.local.json");
    fs::write(path, overlay.to_string()).expect("an overlay");
    environment
}

#[test]
fn every_value_has_its_origin() {
    let environment = layered();
    let variables = [
        ("DIFFWARDEN_EFFORT", "high"),
        ("DIFFWARDEN_TIMEOUT_SECONDS", "1.5"),
    ];
    let run = show(&environment, &variables, &["--jobs", "3"]);
    let shown = run.json();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{shown:#}");
    assert_eq!(shown["problems"], json!([]));
    for (list, key, value, by) in [
        ("settings", "timeoutSeconds", json!(300), "user"),
        ("settings", "maxConcurrency", json!(8), "default"),
        ("settings", "reporting.scope", json!("repo"), "user"),
        ("settings", "reporting.mode", json!("metadata"), "overlay"),
        ("settings", "reporting.enabled", json!(false), "default"),
        ("settings", "reviewerSets.1", json!(["main"]), "user"),
        (
            "settings",
            "reviewers[main].model",
            json!("local"),
            "overlay",
        ),
        ("settings", "reviewers[main].effort", json!("low"), "user"),
        (
            "settings",
            "reviewers[second].cliOptions.executable",
            json!("claude"),
            "user",
        ),
        ("run", "reviewers", json!(["main"]), "default"),
        ("run", "maxConcurrency", json!(3), "--jobs"),
        ("run", "reviewers[main].transport", json!("cli"), "default"),
        ("run", "reviewers[main].model", json!("local"), "overlay"),
        (
            "run",
            "reviewers[main].effort",
            json!("high"),
            "DIFFWARDEN_EFFORT",
        ),
        (
            "run",
            "reviewers[main].timeoutSeconds",
            json!(1.5),
            "DIFFWARDEN_TIMEOUT_SECONDS",
        ),
    ] {
        let expected = (value, by.to_owned());
        assert_eq!(setting(&shown, list, key), expected, "{list} {key}");
    }
    assert!(!run.stdout.contains("hunter2"), "{}", run.stdout);
    assert!(shown["notes"].to_string().contains("ghosts"), "{shown:#}");
}

#[test]
fn flags_win_and_are_named() {
    let shown = show(
        &layered(),
        &[("DIFFWARDEN_REVIEWERS", "main")],
        &["--reviewer", "second", "--model", "m", "--timeout", "60"],
    )
    .json();
    for (key, value, by) in [
        ("reviewers", json!(["second"]), "--reviewer"),
        ("reviewers[second].model", json!("m"), "--model"),
        ("reviewers[second].effort", json!("high"), "default"),
        ("reviewers[second].transport", json!("cli"), "user"),
        ("reviewers[second].timeoutSeconds", json!(60), "--timeout"),
    ] {
        assert_eq!(setting(&shown, "run", key), (value, by.to_owned()), "{key}");
    }
}

#[test]
fn the_files_that_have_a_say_are_named() {
    let environment = layered();
    environment.write(
        "diffwarden.config.json",
        r#"{"reviewerSets": {"1": ["fake"]}}"#,
    );
    let shown = show(&environment, &[], &[]).json();
    let files: Vec<_> = shown["files"]
        .as_array()
        .expect("files")
        .iter()
        .map(|file| (&file["role"], &file["state"]))
        .collect();
    assert_eq!(
        json!(files),
        json!([
            ["project", "used"],
            ["user", "unused"],
            ["overlay", "unused"]
        ])
    );
    assert_eq!(shown["files"][0]["trust"], "untrusted");
    assert_eq!(
        setting(&shown, "settings", "reviewerSets.1"),
        (json!(["fake"]), "project".to_owned())
    );
    let text = environment.run(&["config", "show"]);
    assert!(
        text.stdout
            .contains("reviewerSets.1 = [\"fake\"]  [project config]"),
        "{}",
        text.stdout
    );
    let path = environment.run(&["config", "path"]);
    assert_eq!(
        path.stdout.trim_end(),
        environment
            .repo()
            .join("diffwarden.config.json")
            .to_str()
            .expect("UTF-8")
    );
}

#[test]
fn without_a_config_the_defaults_hold() {
    let environment = TestEnvironment::with_edit();
    let run = show(&environment, &[], &[]);
    let shown = run.json();
    assert_eq!(run.code, 0, "{shown:#}");
    assert_eq!(shown["run"], json!([]));
    assert_eq!(shown["files"][0]["state"], "missing");
    let expected = (json!(true), "default".to_owned());
    assert_eq!(
        setting(&shown, "settings", "reviewPlan.includeOverview"),
        expected
    );
    let shown = show(&environment, &[], &["--reviewer", "codex"]).json();
    let expected = (json!(["codex"]), "--reviewer".to_owned());
    assert_eq!(setting(&shown, "run", "reviewers"), expected);
    let path = environment.run(&["config", "path"]).stdout;
    assert!(
        path.trim_end()
            .ends_with(".config/diffwarden/diffwarden.config.json")
    );
}

#[test]
fn what_is_wrong_is_listed_and_repeated_nowhere() {
    let environment = TestEnvironment::with_edit();
    let secret = "sk-proj-abcdefghijklmnop1234";
    environment.write_config(&json!({
        "timeoutSeconds": -1,
        "reviewers": [{"id": "a", "engine": "pi", "providerOptions": {"apiKeyEnv": secret}}],
    }));
    let run = show(&environment, &[], &[]);
    let shown = run.json();
    assert_eq!(run.code, 2);
    assert_eq!(shown["problems"][0]["code"], "invalid_config");
    let message = shown["problems"][0]["message"].to_string();
    for at in ["timeoutSeconds", "reviewers[0].providerOptions.apiKeyEnv"] {
        assert!(message.contains(at), "{message}");
    }
    assert_eq!(shown["settings"], json!([]));
    assert!(!run.stdout.contains(secret));
    let text = environment.run(&["config", "show"]);
    assert_eq!(text.code, 2);
    assert!(text.stdout.contains("Problems") && !text.stdout.contains(secret));

    environment.write_config(&json!({"reviewerSets": {"1": ["nobody"]}}));
    let run = show(&environment, &[], &[]);
    assert_eq!(run.code, 2);
    assert!(
        run.json()["problems"][0]["message"]
            .to_string()
            .contains("nobody")
    );
}

#[test]
fn keys_in_the_environment_are_never_shown() {
    let environment = TestEnvironment::with_edit();
    let key = "sk-proj-qrstuvwxyzabcdef5678";
    let variables = [("DIFFWARDEN_MODEL", key), ("OPENAI_API_KEY", key)];
    for args in [&["--reviewer", "codex"][..], &["--reviewer", "nobody"]] {
        let run = show(&environment, &variables, args);
        assert!(
            !run.stdout.contains(key) && !run.stderr.contains(key),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn the_schema_is_printed() {
    let run = TestEnvironment::new().run(&["config", "schema"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(
        run.stdout,
        include_str!("../docs/schemas/config.schema.json")
    );
}
