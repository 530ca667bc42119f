//! The command line: help, version, usage errors and where they are printed.

use std::fs;

use crate::support::{Run, TestEnvironment};

#[test]
fn bare_call_prints_help_and_succeeds() {
    let run = TestEnvironment::new().run(&[]);
    assert_eq!(run.code, 0);
    assert!(run.stdout.contains("Usage: diffwarden"), "{}", run.stdout);
    assert!(run.stdout.ends_with('\n'), "{:?}", run.stdout);
    assert!(!run.stdout.ends_with("\n\n"), "{:?}", run.stdout);
    assert_eq!(run.stderr, "");
}

#[test]
fn a_usage_error_leaves_no_older_artifact() {
    let environment = TestEnvironment::with_edit();
    let out = environment.path("review.json");
    let path = out.to_str().expect("a UTF-8 path");
    let joined = format!("--out={path}");
    for args in [&["--nope", "--out", path][..], &[&joined, "--timeout"]] {
        fs::write(&out, "{\"schema_version\": 2}").expect("an older artifact");
        assert_eq!(environment.review(args).code, 2, "{args:?}");
        assert!(!out.exists(), "{args:?}");
    }
    // The artifact that is to be shown is not one that would be written.
    fs::write(&out, "{\"schema_version\": 2}").expect("an older artifact");
    assert_eq!(environment.review(&["show", path, "--nope"]).code, 2);
    assert_eq!(environment.review(&["show", path, "--out", path]).code, 2);
    fs::write(environment.path("main.rs"), "fn main() {}").expect("a source file");
    let source = environment.path("main.rs");
    let args = ["--nope", "--out", source.to_str().expect("a UTF-8 path")];
    assert_eq!(environment.review(&args).code, 2);
    assert!(out.exists() && source.exists());
}

#[test]
fn version_is_the_bare_number_of_the_package() {
    let run = TestEnvironment::new().run(&["--version"]);
    assert_eq!(run.code, 0);
    assert_eq!(run.stdout, concat!(env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn help_fits_eighty_columns_and_documents_exit_codes_and_streams() {
    let environment = TestEnvironment::new();
    let mut command = environment.command(["review", "--help"]);
    let run = Run::of(command.env("COLUMNS", "80").output().expect("runs"));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    for needed in [
        "Exit codes:",
        "one JSON object on stdout",
        "uncommitted",
        "--fail-on-findings",
    ] {
        assert!(run.stdout.contains(needed), "{needed}: {}", run.stdout);
    }
    for code in ["129  ", "130  ", "131  ", "143  "] {
        assert!(run.stdout.contains(code), "{code}: {}", run.stdout);
    }
    let widest = run.stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}");
    // What stands behind the options is laid out by hand, and no narrower screen breaks it there.
    let after = run.stdout.split_once("Targets:").map(|it| it.1);
    let after = after.expect("targets are documented");
    let mut wide = environment.command(["review", "--help"]);
    let wide = Run::of(wide.env("COLUMNS", "200").output().expect("runs"));
    assert!(wide.stdout.ends_with(after), "{}", run.stdout);
}

#[test]
fn usage_errors_end_with_two_and_say_what_is_wrong() {
    let environment = TestEnvironment::with_edit();
    let cases: &[(&[&str], &str)] = &[
        (&["frobnicate"], "frobnicate"),
        (&["review", "--nope"], "--nope"),
        (&["review", "--target"], "--target"),
        (&["review", "--agent", "--agent"], "--agent"),
        (
            &["review", "--target", "nonsense", "--reviewer", "fake"],
            "nonsense",
        ),
        (
            &["review", "--target", "commit:", "--reviewer", "fake"],
            "commit",
        ),
        (
            &["review", "--fail-on-findings", "P9", "--reviewer", "fake"],
            "P9",
        ),
        (
            &["review", "--reviewer", "fake", "--reviewer-set", "1"],
            "--reviewer-set",
        ),
        (
            &["review", "--reviewer", "fake", "--timeout", "0"],
            "timeout",
        ),
        (
            &["review", "--reviewer", "fake", "--timeout", "nan"],
            "timeout",
        ),
        (
            &["review", "--reviewer", "fake", "--effort", "huge"],
            "huge",
        ),
        (
            &["review", "--reviewer", "fake", "--cwd", "/no/such/folder"],
            "/no/such/folder",
        ),
        (
            &["review", "--reviewer", "fake", "--out", "no/such/r.json"],
            "no/such",
        ),
        (&["review"], "config"),
        (&["doctor"], "config"),
    ];
    for (args, needle) in cases {
        let run = environment.run(args);
        assert_eq!(run.code, 2, "{args:?}: {}", run.stderr);
        assert_eq!(run.stdout, "", "{args:?}");
        assert!(run.stderr.contains(needle), "{args:?}: {}", run.stderr);
    }
}

#[test]
fn usage_errors_are_json_where_json_was_asked_for() {
    let environment = TestEnvironment::with_edit();
    for args in [
        &["review", "--json", "--nope"][..],
        &["review", "--json", "--agent"],
        &[
            "review",
            "--json",
            "--target",
            "nonsense",
            "--reviewer",
            "fake",
        ],
        &["review", "--json", "--reviewer", "nobody"],
        &[
            "review",
            "--json",
            "--reviewer",
            "fake",
            "--out",
            "no/such/r.json",
        ],
    ] {
        let run = environment.run(args);
        let error = run.json();
        assert_eq!(run.code, 2, "{args:?}");
        assert_eq!(error["schema_version"], 1, "{args:?}");
        assert!(
            error["error"]["code"]
                .as_str()
                .is_some_and(|code| code.starts_with("invalid_")),
            "{args:?}: {error}"
        );
    }
}

#[test]
fn an_event_stream_ends_with_one_error_frame_even_before_the_run() {
    let environment = TestEnvironment::with_edit();
    for args in [
        &["review", "--ndjson", "--nope"][..],
        &[
            "review",
            "--ndjson",
            "--target",
            "base:nowhere",
            "--reviewer",
            "fake",
        ],
        &["review", "--ndjson", "--reviewer", "nobody"],
    ] {
        let run = environment.run(args);
        assert_eq!(run.code, 2, "{args:?}");
        let frames = run.frames();
        assert_eq!(frames.len(), 1, "{args:?}: {frames:?}");
        assert_eq!(frames[0]["type"], "error");
        assert_eq!(frames[0]["schema_version"], 2);
        assert_eq!(frames[0]["error"]["exit_code"], 2);
    }
}

#[test]
fn a_gate_that_is_not_built_is_refused_and_not_ignored() {
    let environment = TestEnvironment::with_edit();
    let run = environment.review(&["--reviewer", "surface", "--enforce", "--json"]);
    assert_eq!(run.code, 2, "{}", run.stdout);
    let error = &run.json()["error"];
    assert_eq!(error["code"], "invalid_cli");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("not built yet"), "{message}");
}
