//! `review show` and `--report`, through the binary.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{TestEnvironment, reply};

/// A repository with `saved.json`, an artifact that the binary has written.
fn with_saved() -> TestEnvironment {
    let environment = TestEnvironment::with_edit();
    let run = environment.run(&["review", "--reviewer", "fake", "--out", "saved.json"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    environment
}

#[test]
fn a_saved_artifact_is_shown_in_every_form_but_events() {
    let environment = with_saved();
    let human = environment.run(&["review", "show", "saved.json"]);
    assert_eq!((human.code, human.stderr.as_str()), (0, ""));
    assert!(
        human
            .stdout
            .starts_with("diffwarden review\nTarget: uncommitted\n")
    );
    let agent = environment.run(&["review", "show", "saved.json", "--agent"]);
    assert!(agent.stdout.starts_with("Diffwarden Review\n"));
    let saved = std::fs::read_to_string(environment.repo().join("saved.json")).unwrap();
    for args in [
        ["review", "show", "saved.json", "--json"],
        ["review", "--json", "show", "saved.json"],
        ["review", "show", "--json", "saved.json"],
    ] {
        let run = environment.run(&args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args:?}");
        assert_eq!(run.stdout, saved, "{args:?}");
    }
}

#[test]
fn what_does_not_go_with_show_is_refused() {
    let environment = with_saved();
    for (args, words) in [
        (&["review", "show"][..], "<PATH>"),
        (
            &["review", "--target", "base:main", "show", "saved.json"],
            "--target",
        ),
        (&["review", "--strict", "show", "saved.json"], "--strict"),
        (
            &[
                "review",
                "--agent",
                "show",
                "saved.json",
                "--agent",
                "--json",
            ],
            "--agent",
        ),
        (&["review", "show", "none.json"], "none.json"),
        (&["review", "show", "."], "`.`"),
        (&["review", "show", "src/lib.rs"], "not JSON"),
        (
            &["review", "show", "saved.json", "other.json"],
            "other.json",
        ),
    ] {
        let run = environment.run(args);
        assert_eq!(run.code, 2, "{args:?}: {}", run.stderr);
        let said = format!("{}{}", run.stdout, run.stderr);
        assert!(said.contains(words), "{args:?}: {said}");
    }
    let run = environment.run(&["review", "--json", "show", "none.json"]);
    assert_eq!(run.json()["error"]["code"], "invalid_cli");
    let run = environment.run(&["review", "show", "saved.json", "--ndjson"]);
    assert_eq!(run.code, 2);
    assert_eq!(run.frames()[0]["type"], "error");
    assert!(run.stderr.contains("--ndjson"));
}

#[test]
fn a_hostile_file_is_shown_as_words() {
    let environment = with_saved();
    let path = environment.repo().join("saved.json");
    let mut saved: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    saved["result"]["overall_explanation"] = "\u{1b}[2Jx\u{9b}31m\u{202e}y".into();
    environment.write("saved.json", saved.to_string());
    for form in [&["--agent"][..], &["--json"], &[]] {
        let args = [&["review", "show", "saved.json"], form].concat();
        let run = environment.run(&args);
        assert_eq!(run.code, 0, "{}", run.stderr);
        let active = ['\u{1b}', '\u{9b}', '\u{202e}'];
        assert!(!run.stdout.contains(active), "{form:?}: {:?}", run.stdout);
    }
    saved["\u{1b}[31mextra"] = 1.into();
    environment.write("saved.json", saved.to_string());
    let run = environment.run(&["review", "show", "saved.json"]);
    assert_eq!(run.code, 2);
    assert!(
        run.stderr.contains("\\u{1b}[31mextra: unknown key"),
        "{}",
        run.stderr
    );
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .map(|entry| entry.expect("a readable entry").path())
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

#[test]
fn reports_are_kept_of_reviews_and_not_reviewed() {
    let environment = TestEnvironment::with_edit();
    let reports = environment.repo().join(".diffwarden/reports");
    let review = [
        "review",
        "--reviewer",
        "fake",
        "--json",
        "--report",
        "--report-scope",
        "repo",
    ];
    let first = environment.run(&review);
    assert_eq!(first.code, 0, "{}", first.stderr);
    let [path] = &files_below(&reports)[..] else {
        panic!("one run, one report");
    };
    let report: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    assert_eq!(report["report_schema_version"], 3);
    assert_eq!(report["artifact"], first.json());
    assert_eq!(report["provenance"]["invocation"]["output_mode"], "json");
    let coverage = &first.json()["coverage"];
    assert_eq!(
        report["provenance"]["target"]["diff_sha256"],
        coverage["patch_sha256"]
    );

    let second = environment.run(&review);
    let changed = &second.json()["target"]["changed_files"];
    assert_eq!(*changed, serde_json::json!(["src/lib.rs"]));
    assert_eq!(files_below(&reports).len(), 2);

    let none = [&review[..], &["--no-report"]].concat();
    assert_eq!(environment.run(&none).code, 0);
    let failed = [&review[..], &["--target", "base:nowhere"]].concat();
    assert_eq!(environment.run(&failed).code, 2);
    assert_eq!(files_below(&reports).len(), 2);
}

#[test]
fn a_report_that_cannot_be_written_after_all_is_an_error_beside_the_result() {
    let environment = TestEnvironment::with_edit();
    let folder = environment.path("reports");
    // Something takes the folder's place while the run goes on.
    environment.codex_does(&json!([
        {"write_file": {"path": folder, "text": ""}},
        reply(&[]),
    ]));
    let folder = folder.to_str().expect("a UTF-8 path");
    let args = [
        "--reviewer",
        "codex",
        "--json",
        "--report",
        "--report-dir",
        folder,
    ];
    let run = environment.review(&args);
    assert_eq!(run.code, 3);
    assert_eq!(run.json()["schema_version"], 2);
    assert!(run.stderr.contains(folder), "{}", run.stderr);
}
