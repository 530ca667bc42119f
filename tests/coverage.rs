//! What of a change reached the reviewers, and what a run fell short of, against the whole binary.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};

use crate::support::{Run, TestEnvironment};

/// A secret whose shape the scans know, put together here so that it stands in no file.
fn key() -> String {
    format!("ghp_{}", "x9Q2mB7tLr4KvN8sZd1WcH5yPj3GfA6eUo0T")
}

/// A change with a file for every way of being sent, and a `codex` that finds nothing.
fn one_of_each() -> TestEnvironment {
    let environment = TestEnvironment::new();
    environment.write("src/lib.rs", "pub fn one() -> u8 {\n    1\n}\n");
    environment.write("run.sh", "#!/bin/sh\n");
    environment.write("gone.txt", "gone\n");
    environment.commit("base");
    environment.git(&["checkout", "-q", "-b", "topic"]);
    environment.write("src/lib.rs", "pub fn one() -> u8 {\n    2\n}\n");
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(environment.repo().join("run.sh"), executable).expect("a mode");
    fs::remove_file(environment.repo().join("gone.txt")).expect("it is there");
    environment.write("logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    environment.write("src/key.rs", format!("const KEY: &str = \"{}\";\n", key()));
    environment.write("src/long.rs", "pub const LONG: u64 = 0;\n".repeat(20_000));
    environment.write("Cargo.lock", "[[package]]\nname = \"left-pad\"\n");
    environment.codex_finds(&[]);
    environment
}

const SENT: [(&str, &str); 7] = [
    ("Cargo.lock", "pruned"),
    ("gone.txt", "whole"),
    ("logo.png", "binary"),
    ("run.sh", "metadata"),
    ("src/key.rs", "masked"),
    ("src/lib.rs", "whole"),
    ("src/long.rs", "clipped"),
];

fn sent(coverage: &Value) -> BTreeMap<String, String> {
    let files = coverage["files"].as_array().expect("files");
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    files
        .iter()
        .map(|file| (text(&file["path"]), text(&file["sent"])))
        .collect()
}

fn expected() -> BTreeMap<String, String> {
    SENT.map(|(path, sent)| (path.to_owned(), sent.to_owned()))
        .into()
}

/// Kind and topic of every entry.
fn told(artifact: &Value) -> Vec<(String, String)> {
    let entries = artifact["degraded"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    entries
        .iter()
        .map(|entry| (text(&entry["kind"]), text(&entry["topic"])))
        .collect()
}

fn pairs(told: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(kind, topic): &(&str, &str)| ((*kind).to_owned(), (*topic).to_owned());
    told.iter().map(owned).collect()
}

const UNSENT: [(&str, &str); 4] = [
    ("actionable", "clipping"),
    ("warning", "masking"),
    ("info", "pruning"),
    ("info", "binary"),
];

fn review(environment: &TestEnvironment, args: &[&str]) -> Run {
    let run = environment.review(&[args, &["--reviewer", "codex", "--json"]].concat());
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    run
}

#[test]
fn every_file_of_every_target_is_told_as_it_was_sent() {
    let environment = one_of_each();
    let uncommitted = review(&environment, &[]).json();
    assert_eq!(sent(&uncommitted["coverage"]), expected());
    assert_eq!(told(&uncommitted), pairs(&UNSENT));
    environment.commit("all of it");
    let digest = |artifact: &Value| artifact["coverage"]["patch_sha256"].clone();
    let mut digests = Vec::new();
    for target in ["base:main", "commit:HEAD"] {
        let artifact = review(&environment, &["--target", target]).json();
        assert_eq!(sent(&artifact["coverage"]), expected(), "{target}");
        assert_eq!(told(&artifact), pairs(&UNSENT), "{target}");
        digests.push(digest(&artifact));
        let lines = artifact["coverage"]["files"].as_array().expect("files");
        let long = lines.iter().find(|it| it["path"] == "src/long.rs");
        assert_eq!(long.expect("it is there")["added"], 20_000);
    }
    assert_eq!(digests[0], digests[1], "one change has one digest");

    // Nothing is sent of instructions, so nothing can be told of it.
    let custom = review(&environment, &["--target", "custom:look at it"]).json();
    assert!(sent(&custom["coverage"]).is_empty(), "{custom}");
}

#[test]
fn a_batch_tells_it_once_and_the_lanes_of_their_own() {
    let environment = one_of_each();
    let args = ["--focus", "errors", "--focus", "tests", "--snapshot"];
    let batch = review(&environment, &args).json();
    assert_eq!(sent(&batch["coverage"]), expected());
    assert_eq!(told(&batch), pairs(&UNSENT));
    assert_eq!(batch["snapshot"]["files"], 6, "{}", batch["snapshot"]);
    for lane in batch["lanes"].as_array().expect("lanes") {
        assert_eq!(sent(&lane["artifact"]["coverage"]), expected());
    }
}

#[test]
fn the_scans_read_everything_and_a_reviewer_tells_of_what_it_lacks() {
    let environment = one_of_each();
    let run = environment.review(&["--reviewer", "surface", "--json"]);
    let alone = run.json();
    let files = sent(&alone["coverage"]);
    for (path, as_sent) in SENT {
        let is_text = !matches!(as_sent, "binary" | "metadata");
        let read = if is_text { "whole" } else { as_sent };
        assert_eq!(files[path], read, "{path}");
    }
    let both = ["--reviewer", "surface", "--reviewer", "codex", "--json"];
    let artifact = environment.review(&both).json();
    assert_eq!(sent(&artifact["coverage"]), expected());
    let of = |engine: &str| {
        let entries = artifact["reviewers"].as_array().expect("reviewers");
        let entry = entries.iter().find(|it| it["engine"] == engine);
        entry.expect("it reviewed")["sent"].clone()
    };
    assert_eq!(of("surface"), Value::Null);
    let short = sent(&json!({"files": of("codex")}));
    let names: Vec<&str> = short.keys().map(String::as_str).collect();
    assert_eq!(names, ["Cargo.lock", "src/key.rs", "src/long.rs"]);
}

#[test]
fn a_failed_reviewer_and_prose_are_shortfalls_in_every_form() {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(&json!([{"text": "Looks good to me."}]));
    let both = ["--reviewer", "codex", "--reviewer", "gemini"];
    let run = environment.review(&[&both[..], &["--json", "--out", "saved.json"]].concat());
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    let wanted = [
        ("warning", "answers"),
        ("info", "answers"),
        ("actionable", "reviewer-health"),
    ];
    assert_eq!(told(&run.json()), pairs(&wanted), "{}", run.stdout);
    let saved = fs::read(environment.repo().join("saved.json")).expect("an artifact");
    let saved: Value = serde_json::from_slice(&saved).expect("JSON");
    assert_eq!(told(&saved), pairs(&wanted));
    let shown = environment.run(&["review", "show", "saved.json", "--json"]);
    assert_eq!(told(&shown.json()), pairs(&wanted));
    for form in [&["--agent"][..], &[]] {
        let text = environment.run(&[&["review", "show", "saved.json"], form].concat());
        let prose = "Reviewer codex answered in prose, of which nothing could be checked";
        assert_eq!(text.stdout.matches(prose).count(), 1, "{}", text.stdout);
        let failed = text.stdout.matches("Reviewer gemini failed").count();
        assert_eq!(failed, 1, "{}", text.stdout);
    }
}

#[test]
fn an_empty_change_is_told() {
    let environment = TestEnvironment::with_edit();
    environment.git(&["checkout", "-q", "--", "."]);
    let artifact = review(&environment, &[]).json();
    assert_eq!(told(&artifact), pairs(&[("warning", "diff-source")]));
    assert_eq!(
        artifact["degraded"][0]["message"],
        "there was nothing to review"
    );
}
