//! The history of reviews: what a report says, through the binary.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Run, TestEnvironment, edit_finding, reply};

/// Returns every file below a folder, in no order.
fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .flat_map(|path| {
            if path.is_dir() {
                files_below(&path)
            } else {
                vec![path]
            }
        })
        .collect()
}

fn only_report(folder: &Path) -> (PathBuf, Value) {
    let files = files_below(folder);
    let [path] = files.as_slice() else {
        panic!("one run, one report: {files:?}");
    };
    let text = fs::read_to_string(path).expect("a file");
    (path.clone(), serde_json::from_str(&text).expect("JSON"))
}

fn with_finding() -> TestEnvironment {
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[edit_finding("[P1] Two is not one")]);
    environment
}

#[test]
fn a_report_of_a_batch_tells_of_every_lane() {
    let environment = with_finding();
    let reports = environment.path("reports");
    let folder = reports.to_str().expect("a UTF-8 path");
    let args = ["--reviewer", "codex", "--focus", "errors", "--json"];
    let report = ["--report", "--report-dir", folder];
    let run = environment.review(&[&args[..], &report].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let (path, report) = only_report(&reports);
    assert_eq!(report["artifact"], run.json());
    assert_eq!(
        report["provenance"]["invocation"]["focus"],
        json!(["errors"])
    );
    assert_eq!(
        report["provenance"]["invocation"]["review_plan"],
        run.json()["plan"]
    );
    assert_eq!(
        report["invocation"]["reporting"],
        json!({"scope": "custom-dir", "mode": "full"})
    );
    assert_eq!(report["summary"]["lane_count"], 2);
    assert_eq!(report["summary"]["finding_counts_by_priority"]["p1"], 1);
    let lanes = report["reviewers"].as_array().expect("reviewers");
    let lanes: Vec<_> = lanes.iter().map(|it| it["lane_id"].clone()).collect();
    assert_eq!(lanes, ["overview", "focus-1"]);
    // Its place and name tell when it was made.
    let day = report["created_at"].as_str().and_then(|it| it.get(..10));
    let day = day.expect("a date").replace('-', "/");
    assert!(path.starts_with(reports.join(day)), "{path:?}");
    let name = path
        .file_stem()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    assert!(
        name.ends_with(report["run_id"].as_str().expect("an id")),
        "{name}"
    );
}

#[test]
fn a_report_of_metadata_holds_no_text_of_a_finding() {
    let environment = with_finding();
    let reports = environment.path("reports");
    let folder = reports.to_str().expect("a UTF-8 path");
    for args in [
        &["--reviewer", "codex"][..],
        &["--reviewer", "codex", "--focus", "errors"],
    ] {
        let report = [
            "--report",
            "--report-dir",
            folder,
            "--report-mode",
            "metadata",
        ];
        let run = environment.review(&[args, &report].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        let (path, report) = only_report(&reports);
        let text = report.to_string();
        assert_eq!(report.get("artifact"), None);
        for secret in ["It returns two.", "was read with its callers", "+    2"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        assert_eq!(report["summary"]["finding_count"], 1);
        fs::remove_file(path).expect("a file");
    }
}

#[test]
fn the_history_is_the_users_alone_and_the_config_can_ask_for_it() {
    let environment = with_finding();
    environment.write_config(&json!({
        "reviewers": [{"id": "mine", "engine": "codex"}],
        "reviewerSets": {"1": ["mine"]},
        "reporting": {"enabled": true},
    }));
    assert_eq!(environment.review(&["--no-report"]).code, 0);
    let history = environment.home().join(".local/state/diffwarden/reports");
    assert_eq!(files_below(&history), [] as [PathBuf; 0]);
    assert_eq!(environment.review(&[]).code, 0);
    let (path, report) = only_report(&history);
    let mode = |path: &Path| {
        fs::metadata(path)
            .expect("it is there")
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(path.parent().expect("a folder")), 0o700);
    assert_eq!(
        report["provenance"]["reviewer_selection"]["reviewer_set"],
        "1"
    );
    assert_eq!(
        report["provenance"]["config"]["sha256"]
            .as_str()
            .map(str::len),
        Some(64)
    );
    // A second run adds a report and replaces none.
    assert_eq!(environment.review(&[]).code, 0);
    assert_eq!(files_below(&history).len(), 2);
}

#[test]
fn a_gate_has_a_report_and_a_failed_run_has_none() {
    let environment = with_finding();
    let reports = environment.path("reports");
    let folder = reports.to_str().expect("a UTF-8 path");
    let args = ["--reviewer", "codex", "--report", "--report-dir", folder];
    let gated = environment.review(&[&args[..], &["--fail-on-findings", "P1"]].concat());
    assert_eq!(gated.code, 1);
    let (path, report) = only_report(&reports);
    assert_eq!(report["provenance"]["invocation"]["fail_on_findings"], "P1");
    environment.codex_does(&json!([{"fail_turn": "it fell over"}, {"exit": 1}]));
    assert_eq!(environment.review(&args).code, 3);
    assert_eq!(files_below(&reports), [path]);
}

#[test]
fn a_place_that_cannot_hold_a_report_is_told_before_anything_is_spent() {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(&json!([environment.record(), reply(&[])]));
    fs::write(environment.path("file"), "").expect("a file");
    let mut command = environment.review_command(&["--reviewer", "codex", "--report", "--json"]);
    command.env("XDG_STATE_HOME", environment.path("file"));
    let run = Run::of(command.output().expect("the binary runs"));
    assert_eq!(run.code, 2, "{}", run.stdout);
    assert_eq!(run.json()["error"]["code"], "invalid_cli");
    assert_eq!(environment.recorded("argv"), [] as [String; 0]);
}

#[test]
fn a_report_keeps_no_secret() {
    let environment = TestEnvironment::with_edit();
    let key = ["ghp", "_", &"aB3dE5gH7j".repeat(4)[..36]].concat();
    let mut leak = edit_finding("[P1] Two is not one");
    leak["body"] = format!("The key {key} is in the code.").into();
    environment.codex_does(&json!([reply(&[leak])]));
    let reports = environment.path("reports");
    let folder = reports.to_str().expect("a UTF-8 path");
    let args = [
        "--reviewer",
        "codex",
        "--report",
        "--report-dir",
        folder,
        "--json",
    ];
    let run = environment.review(&args);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let (_, report) = only_report(&reports);
    assert!(!report.to_string().contains(&key), "{report:#}");
    assert_eq!(report["artifact"], run.json());
}
