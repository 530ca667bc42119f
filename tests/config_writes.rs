//! Commands that write the user config: whole or not at all, nobody's change lost, and nothing but
//! the user config.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread;
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{Run, TestEnvironment};

/// Nobody's user on every system that runs these tests.
const NOBODY: u32 = 65534;

fn config_path(environment: &TestEnvironment) -> PathBuf {
    environment
        .home()
        .join(".config/diffwarden/diffwarden.config.json")
}

fn text(environment: &TestEnvironment) -> String {
    fs::read_to_string(config_path(environment)).expect("a config")
}

fn config(environment: &TestEnvironment) -> Value {
    serde_json::from_str(&text(environment)).expect("a config is JSON")
}

fn with_config(config: &Value) -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write_config(config);
    environment
}

/// Runs a command of plain words.
fn run(environment: &TestEnvironment, words: &str) -> Run {
    environment.run(&words.split(' ').collect::<Vec<_>>())
}

#[track_caller]
fn succeeds(environment: &TestEnvironment, words: &str) -> Run {
    let run = run(environment, words);
    assert_eq!(run.code, 0, "{words}: {}", run.stderr);
    run
}

/// Asserts that a command ends with 2, says this, and leaves the config as it is.
#[track_caller]
fn refused(environment: &TestEnvironment, words: &str, says: &[&str]) {
    let before = fs::read(config_path(environment)).ok();
    let run = run(environment, words);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{words}");
    for part in says {
        assert!(run.stderr.contains(part), "{words}: {}", run.stderr);
    }
    assert_eq!(fs::read(config_path(environment)).ok(), before, "{words}");
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    let name = |entry: std::io::Result<fs::DirEntry>| {
        entry
            .expect("an entry")
            .file_name()
            .to_string_lossy()
            .into_owned()
    };
    let mut names: Vec<_> = entries.map(name).collect();
    names.sort();
    names
}

/// Two reviewers, the first of them in the default set.
fn two() -> Value {
    json!({"defaultReviewerSet": "1", "reviewerSets": {"1": ["a"], "2": ["b", "a"]},
        "reviewers": [{"id": "a", "engine": "codex"}, {"id": "b", "engine": "claude", "maxBudgetUsd": 2}]})
}

#[test]
fn fifty_at_once_are_all_there() {
    let environment = TestEnvironment::new();
    let children: Vec<_> = (0..50)
        .map(|number| {
            let id = format!("r{number}");
            let mut command =
                environment.command(["reviewers", "add", "codex", "--set", "all", "--id", &id]);
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            command.spawn().expect("the binary runs")
        })
        .collect();
    for child in children {
        let run = Run::of(child.wait_with_output().expect("it ends"));
        assert_eq!(run.code, 0, "{}", run.stderr);
    }
    let config = config(&environment);
    let mut members: Vec<_> = config["reviewerSets"]["all"]
        .as_array()
        .expect("a set")
        .clone();
    let reviewers = config["reviewers"].as_array().expect("reviewers");
    let ids: Vec<_> = reviewers.iter().map(|entry| entry["id"].clone()).collect();
    assert_eq!(members, ids);
    members.sort_by_key(ToString::to_string);
    members.dedup();
    assert_eq!(members.len(), 50);
    let folder = config_path(&environment);
    assert_eq!(
        names(folder.parent().expect("a folder")),
        ["diffwarden.config.json"]
    );
    succeeds(&environment, "reviewers list");
}

#[test]
fn a_kill_at_any_moment_leaves_the_old_file_or_the_new_one() {
    let environment = with_config(&two());
    let start = Instant::now();
    succeeds(&environment, "reviewers edit a --model first");
    let whole = start.elapsed();
    let mut killed = 0;
    for round in 0..40_u32 {
        let before = config(&environment);
        let model = format!("m{round}");
        let mut command = environment.command(["reviewers", "edit", "a", "--model", &model]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("the binary runs");
        // Spread over the time that a command takes; it writes near the end.
        thread::sleep(whole * (round + 4) / 44);
        child.kill().expect("a signal");
        killed += u32::from(!child.wait().expect("it ends").success());
        let after = config(&environment);
        let mut new = before.clone();
        new["reviewers"][0]["model"] = json!(model);
        assert!(after == before || after == new, "{after:#}");
    }
    assert!(killed > 0, "no round was quick enough");
    // Who comes next finds no lock and takes leftovers away.
    succeeds(&environment, "reviewers edit a --model last");
    let folder = config_path(&environment);
    assert_eq!(
        names(folder.parent().expect("a folder")),
        ["diffwarden.config.json"]
    );
}

#[test]
fn a_link_stays_and_its_target_is_written_with_its_mode() {
    let environment = TestEnvironment::new();
    let target = environment.home().join("dot.json");
    fs::write(&target, "{}\n").expect("a file");
    fs::set_permissions(&target, Permissions::from_mode(0o640)).expect("a mode");
    let link = config_path(&environment);
    fs::create_dir_all(link.parent().expect("a folder")).expect("a folder");
    symlink("../../dot.json", &link).expect("a link");
    let run = succeeds(&environment, "reviewers add codex --json");
    assert_eq!(run.json()["path"], json!(link));
    assert_eq!(
        fs::read_link(&link).expect("a link"),
        Path::new("../../dot.json")
    );
    assert_eq!(
        fs::metadata(&target).expect("a file").mode() & 0o7777,
        0o640
    );
    assert_eq!(
        config(&environment),
        json!({"reviewers": [{"id": "codex", "engine": "codex"}]})
    );
}

#[test]
fn a_file_keeps_its_layout_and_one_that_need_not_change_keeps_every_byte() {
    let environment = with_config(&json!({}));
    let path = config_path(&environment);
    let before = "\u{feff}{\r\n\t\"$schema\": \"x\",\r\n\t\"reviewers\": [\r\n\t\t{\r\n\t\t\t\"engine\": \"pi\",\r\n\t\t\t\"sdkOptions\": {\r\n\t\t\t\t\"new\": 1.5\r\n\t\t\t},\r\n\t\t\t\"id\": \"a\",\r\n\t\t\t\"model\": \"m\"\r\n\t\t}\r\n\t],\r\n\t\"readonly\": true\r\n}\r\n";
    fs::write(&path, before).expect("a config");
    succeeds(&environment, "reviewers edit a --model m2");
    assert_eq!(text(&environment), before.replace("\"m\"", "\"m2\""));

    let odd = "{\"reviewers\":[ {\"id\":\"a\",\"engine\":\"pi\"}],\n\n   \"reviewerSets\":{\"1\":[\"a\"]}}";
    fs::write(&path, odd).expect("a config");
    succeeds(&environment, "reviewers set add 1 a");
    succeeds(&environment, "reviewers edit a --enabled");
    succeeds(&environment, "reviewers add pi --id a");
    assert_eq!(text(&environment), odd);
}

#[test]
fn only_the_user_config_is_written_and_what_hides_it_is_told() {
    let environment = with_config(&two());
    let overlay = config_path(&environment).with_file_name("diffwarden.config.local.json");
    let local = r#"{"reviewers": [{"id": "a", "model": "local"}], "reviewerSets": {"2": ["b"]}}"#;
    fs::write(&overlay, local).expect("an overlay");
    environment.write("diffwarden.config.json", "{}");
    let run = succeeds(&environment, "reviewers edit a --model base --json");
    assert_eq!(run.json()["reviewer"]["model"], "base");
    let notes: Vec<&str> = run.stderr.lines().collect();
    assert_eq!(notes.len(), 2, "{notes:?}");
    assert!(
        notes[0].starts_with("Note: ") && notes[0].contains("config.local.json"),
        "{notes:?}"
    );
    assert!(
        notes[1].contains("project config") && notes[1].contains("repo/"),
        "{notes:?}"
    );
    assert_eq!(config(&environment)["reviewers"][0]["model"], "base");
    assert!(
        succeeds(&environment, "reviewers set remove 2 b")
            .stderr
            .contains("reviewer set 2")
    );
    assert_eq!(fs::read_to_string(&overlay).expect("an overlay"), local);
    let project = environment.repo().join("diffwarden.config.json");
    assert_eq!(fs::read_to_string(project).expect("a project config"), "{}");

    // Without the base's entry the overlay's would be half a reviewer.
    refused(
        &environment,
        "reviewers remove a --force",
        &["config.local.json", "`engine` is missing"],
    );
    // The folder to look in is that of --cwd.
    let home = environment.home();
    let home = home.to_str().expect("a UTF-8 path");
    let run = environment.run(&["reviewers", "add", "pi", "--cwd", home]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    refused(
        &environment,
        "reviewers add pi --cwd /no/such/folder",
        &["/no/such/folder"],
    );
}

#[test]
fn the_default_set_is_never_left_empty_unawares() {
    let environment = with_config(&two());
    refused(&environment, "reviewers remove a", &["`1`", "--force"]);
    refused(
        &environment,
        "reviewers set remove 1 a",
        &["`1`", "--force"],
    );
    succeeds(&environment, "reviewers set remove 1 a --force");
    assert_eq!(config(&environment)["reviewerSets"]["1"], json!([]));
    let run = succeeds(&environment, "reviewers remove b --force --json");
    assert_eq!(run.json()["prunedFromSets"], json!(["2"]));
    assert_eq!(config(&environment)["defaultReviewerSet"], "1");

    // Nobody named the set that runs by default.
    let environment = with_config(
        &json!({"reviewers": [{"id": "a", "engine": "pi", "profile": "p"}],
        "reviewerSets": {"1": ["a"], "2": ["pi:p"]}}),
    );
    let run = succeeds(&environment, "reviewers remove a");
    assert!(
        run.stderr.contains("nobody is left in reviewer set 1"),
        "{}",
        run.stderr
    );
    assert!(run.stderr.contains("still names pi:p"), "{}", run.stderr);
    assert!(config(&environment).get("defaultReviewerSet").is_none());
}

#[test]
fn what_an_engine_cannot_honour_is_not_written() {
    let environment = with_config(&json!({"reviewers": [
        {"id": "a", "engine": "codex", "modelCatalog": ["m"]},
        {"id": "b", "engine": "claude", "maxBudgetUsd": 2},
        {"id": "g", "engine": "gemini", "effort": "high"}
    ]}));
    for (words, says) in [
        ("reviewers edit a --transport sdk", "no sdk transport"),
        ("reviewers edit a --model other", "modelCatalog"),
        ("reviewers add codex --id c --model=-x", "a dash"),
        ("reviewers edit a --effort huge", "huge"),
        (
            "reviewers edit b --transport app-server",
            "no app-server transport",
        ),
        (
            "reviewers add gemini --effort low",
            "cannot be given an effort",
        ),
        ("reviewers add gemini --provider p", "provider"),
        (
            "reviewers add antigravity --model m",
            "cannot be given a model",
        ),
        ("reviewers add codex --id b", "cannot honour maxBudgetUsd"),
        ("reviewers add codex --id fake", "inside diffwarden"),
        (
            "reviewers add codex --id codex:deep",
            "reads as engine:profile",
        ),
        ("reviewers add codx", "did you mean `codex`?"),
        ("reviewers add surface", "--reviewer surface"),
    ] {
        refused(&environment, words, &[says]);
    }
    // What was wrong before is no reason to refuse another change, and can be mended.
    succeeds(&environment, "reviewers edit g --disabled");
    refused(
        &environment,
        "reviewers add gemini --id g2 --effort low",
        &["an effort"],
    );
}

#[test]
fn secrets_are_refused_and_not_repeated() {
    let environment = with_config(&two());
    let secret = "sk-proj-abcdefghijklmnop1234";
    for words in [
        format!("reviewers edit a --model {secret}"),
        format!("reviewers add pi --provider {secret}"),
        format!("reviewers add pi --id {secret}"),
    ] {
        let before = text(&environment);
        for mode in ["", " --json"] {
            let run = run(&environment, &format!("{words}{mode}"));
            assert_eq!(run.code, 2, "{words}");
            assert!(run.stderr.contains("looks like a secret"), "{}", run.stderr);
            assert!(
                !format!("{}{}", run.stdout, run.stderr).contains(secret),
                "{words}"
            );
        }
        assert_eq!(text(&environment), before);
    }
}

#[test]
fn an_invalid_config_is_refused_with_every_problem_unless_the_command_mends_it() {
    let environment = with_config(&json!({"reviewerz": [], "timeoutSeconds": 0}));
    let problems = &["`reviewerz`", "timeoutSeconds", "nothing was changed"];
    refused(&environment, "reviewers add codex", problems);
    refused(&environment, "reviewers edit codex --model m", problems);
    fs::write(config_path(&environment), "{\"reviewers\": [").expect("a config");
    refused(&environment, "reviewers add codex", &["Invalid JSON"]);
    fs::write(config_path(&environment), "[]").expect("a config");
    refused(&environment, "reviewers add codex", &["expected an object"]);

    let twin = json!({"id": "a", "engine": "codex"});
    environment.write_config(
        &json!({"reviewers": [twin, twin, {"id": "b", "engine": "pi", "effort": "wild"}]}),
    );
    refused(&environment, "reviewers remove a", &["effort"]);
    refused(
        &environment,
        "reviewers edit b --effort low",
        &["duplicate reviewer id"],
    );
    environment
        .write_config(&json!({"reviewers": [{"id": "b", "engine": "pi", "effort": "wild"}]}));
    succeeds(&environment, "reviewers edit b --effort low");
    environment.write_config(&json!({"reviewers": [twin, twin]}));
    succeeds(&environment, "reviewers remove a");
    assert_eq!(config(&environment), json!({"reviewers": []}));
}

#[test]
fn a_folder_or_file_that_may_not_be_written_is_told() {
    let environment = with_config(&two());
    let path = config_path(&environment);
    let folder = path.parent().expect("a folder");
    let as_nobody = |words: &str| {
        let mut command = environment.command(words.split(' '));
        // The administrator may write everywhere, so somebody else has to try.
        if rustix::process::geteuid().is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
        Run::of(command.output().expect("the binary runs"))
    };
    let top = environment.home();
    let top = top.parent().expect("a folder");
    fs::set_permissions(top, Permissions::from_mode(0o755)).expect("a mode");
    fs::set_permissions(folder, Permissions::from_mode(0o555)).expect("a mode");
    fs::set_permissions(&path, Permissions::from_mode(0o666)).expect("a mode");
    let before = text(&environment);
    let refused = as_nobody("reviewers edit a --model m");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("may not be written"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains(folder.to_str().expect("UTF-8")),
        "{}",
        refused.stderr
    );

    fs::set_permissions(folder, Permissions::from_mode(0o777)).expect("a mode");
    fs::set_permissions(&path, Permissions::from_mode(0o444)).expect("a mode");
    let refused = as_nobody("reviewers edit a --model m");
    assert_eq!(refused.code, 2, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("it may not be written"),
        "{}",
        refused.stderr
    );
    assert_eq!(text(&environment), before);
    assert_eq!(names(folder), ["diffwarden.config.json"]);
    fs::set_permissions(folder, Permissions::from_mode(0o755)).expect("a mode");
}

#[test]
fn init_creates_one_config_and_never_replaces_one() {
    let environment = TestEnvironment::new();
    let children: Vec<_> = (0..8)
        .map(|_| {
            let mut command = environment.command(["init"]);
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().expect("the binary runs")
        })
        .collect();
    let codes = children
        .into_iter()
        .map(|mut child| child.wait().expect("it ends").code());
    let created = codes.filter(|code| *code == Some(0)).count();
    assert_eq!(created, 1);
    refused(&environment, "init", &["exists"]);
    refused(&environment, "init --interactive", &["--interactive"]);
    fs::write(config_path(&environment), "not JSON").expect("a file");
    refused(&environment, "init", &["exists"]);
    succeeds(&with_config(&json!({})), "reviewers list");
}

#[test]
fn what_needs_a_terminal_or_a_name_says_so() {
    let environment = with_config(&two());
    for (words, says) in [
        ("reviewers add", "TTY"),
        ("reviewers add --json", "needs an engine"),
        ("reviewers add --interactive", "TTY"),
        ("reviewers add codex --interactive", "--interactive"),
        ("reviewers edit", "TTY"),
        ("reviewers edit a", "--transport"),
        ("reviewers edit --model m", "needs an id"),
        ("reviewers edit a --enabled --disabled", "--disabled"),
        ("reviewers remove", "TTY"),
        ("reviewers edit aa --model m", "`aa`"),
        ("reviewers remove zz", "`zz`"),
        ("reviewers set add deep zz", "`zz`"),
        ("reviewers set remove 3 a", "`3`"),
        ("reviewers set remove 1 b", "`b`"),
    ] {
        let before = text(&environment);
        let run = run(&environment, words);
        assert_eq!(run.code, 2, "{words}");
        assert!(run.stderr.contains(says), "{words}: {}", run.stderr);
        assert_eq!(text(&environment), before, "{words}");
    }
    let empty = TestEnvironment::new();
    for words in [
        "reviewers edit a --model m",
        "reviewers remove a",
        "reviewers set add 1 a",
    ] {
        refused(&empty, words, &["no user config", "diffwarden init"]);
    }
    assert!(!empty.home().join(".config").exists());
}
