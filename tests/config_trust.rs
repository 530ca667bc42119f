//! Project configs that say more than a repository may, and the user who trusts them.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Run, TestEnvironment};

const CONFIG: &str = "diffwarden.config.json";

/// A repository whose config names a program of its choice, one that works.
fn daring() -> TestEnvironment {
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[]);
    let program = environment.bin().join("codex");
    let config = json!({
        "reviewers": [
            {"id": "theirs", "engine": "codex", "cliOptions": {"executable": program}}
        ],
        "reviewerSets": {"1": ["theirs"]},
    });
    environment.write(CONFIG, config.to_string());
    environment
}

fn error(run: &Run) -> Value {
    assert_eq!(run.code, 2, "{} {}", run.stdout, run.stderr);
    run.json()["error"].clone()
}

/// Returns the digest that a refusal names.
fn digest(environment: &TestEnvironment) -> String {
    let run = environment.review(&["--json"]);
    let error = error(&run);
    let recovery = error.to_string();
    let (_, rest) = recovery
        .split_once("--trust-project-config ")
        .unwrap_or_else(|| panic!("no digest: {recovery}"));
    assert!(recovery.contains("diffwarden config trust"), "{recovery}");
    rest.chars().take(64).collect()
}

fn is_reviewed(environment: &TestEnvironment) -> bool {
    let run = environment.review(&["--json"]);
    run.code == 0 && run.json()["reviewers"][0]["id"] == "theirs"
}

#[test]
fn a_trusted_content_is_used_until_a_byte_of_it_changes() {
    let environment = daring();
    assert!(!is_reviewed(&environment));
    let run = environment.run(&["config", "trust"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(
        run.stdout.contains("reviewers[0].cliOptions.executable"),
        "{}",
        run.stdout
    );
    assert!(is_reviewed(&environment));

    let path = environment.repo().join(CONFIG);
    let text = fs::read_to_string(&path).expect("a config");
    fs::write(&path, format!("{text}\n")).expect("a changed config");
    let changed = environment.review(&["--json"]);
    assert!(error(&changed).to_string().contains("not the content"));
    let list = environment
        .run(&["config", "trust", "--list", "--json"])
        .json();
    assert_eq!(list["trusted"][0]["state"], "changed", "{list}");
    fs::write(&path, text).expect("the old config");
    assert!(is_reviewed(&environment));

    let removed = environment.run(&["config", "trust", "--remove"]);
    assert_eq!(removed.code, 0, "{}", removed.stderr);
    assert!(!is_reviewed(&environment));
    assert_eq!(environment.run(&["config", "trust", "--remove"]).code, 2);
    let list = environment
        .run(&["config", "trust", "--list", "--json"])
        .json();
    assert_eq!(list["trusted"], json!([]));
}

#[test]
fn the_trust_ends_at_the_path() {
    let environment = daring();
    assert_eq!(environment.run(&["config", "trust"]).code, 0);
    let text = fs::read(environment.repo().join(CONFIG)).expect("a config");
    environment.write(&format!("src/{CONFIG}"), text);
    let cwd = environment.repo().join("src");
    let run = environment.review(&["--json", "--cwd", cwd.to_str().expect("UTF-8")]);
    error(&run);
    // A file that is gone can be forgotten by its name.
    fs::remove_file(environment.repo().join(CONFIG)).expect("it was there");
    let run = environment.run(&["config", "trust", "--remove", CONFIG]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn a_digest_stands_in_where_nobody_can_answer() {
    let environment = daring();
    let digest = digest(&environment);
    let flag = environment.review(&["--json", "--trust-project-config", &digest]);
    assert_eq!(flag.code, 0, "{}", flag.stdout);
    let with_variable = |value: &str, args: &[&str]| {
        let mut command = environment.command(args);
        command.env("DIFFWARDEN_TRUST_PROJECT_CONFIG", value);
        Run::of(command.output().expect("the binary runs"))
    };
    assert_eq!(with_variable(&digest, &["review", "--json"]).code, 0);
    assert_eq!(with_variable(&digest, &["reviewers", "list"]).code, 0);
    let other = "0".repeat(64);
    error(&with_variable(&other, &["review", "--json"]));
    let nonsense = with_variable("yes", &["review", "--json"]);
    assert!(
        error(&nonsense)
            .to_string()
            .contains("DIFFWARDEN_TRUST_PROJECT_CONFIG")
    );
    // Nothing was remembered.
    error(&environment.review(&["--json"]));
}

#[test]
fn trust_excuses_neither_mistakes_nor_secrets_nor_programs_of_the_repository() {
    let environment = TestEnvironment::with_edit();
    environment.write(CONFIG, r#"{"colour": 1}"#);
    let wrong = environment.run(&["config", "trust"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.stderr.contains("colour"), "{}", wrong.stderr);

    let secret = "sk-proj-abcdefghijklmnop1234";
    let config = json!({"reviewers": [
        {"id": "a", "engine": "pi", "providerOptions": {"apiKey": secret}}
    ]});
    environment.write(CONFIG, config.to_string());
    let wrong = environment.run(&["config", "trust"]);
    assert_eq!(wrong.code, 2);
    assert!(!wrong.stderr.contains(secret), "{}", wrong.stderr);

    let trap = environment.repo().join("trap");
    environment.write_trap(&trap);
    let config = json!({
        "reviewers": [{"id": "a", "engine": "codex", "cliOptions": {"executable": trap}}],
        "reviewerSets": {"1": ["a"]},
    });
    environment.write(CONFIG, config.to_string());
    assert_eq!(environment.run(&["config", "trust"]).code, 0);
    assert_ne!(environment.review(&["--json"]).code, 0);
    assert!(!environment.trace().exists());
}

#[test]
fn the_users_own_config_needs_no_trust() {
    let environment = TestEnvironment::with_edit();
    environment.write_config(&json!({}));
    let run = environment.run(&["config", "trust"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("needs no trust"), "{}", run.stderr);
}

#[test]
fn a_broken_memory_trusts_nothing_and_stops_only_who_needs_it() {
    let environment = daring();
    let digest = digest(&environment);
    let folder = environment.home().join(".local/state/diffwarden");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("trusted-project-configs.json"), "[]").expect("a broken memory");
    let run = environment.review(&["--json"]);
    assert!(error(&run).to_string().contains("trusted-project-configs"));
    let args = ["--json", "--trust-project-config", &digest];
    assert_eq!(environment.review(&args).code, 0);
    environment.write(CONFIG, r#"{"reviewerSets": {"1": ["fake"]}}"#);
    assert_eq!(environment.review(&["--json"]).code, 0);
}
