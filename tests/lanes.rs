//! Runs with `--focus`, through the binary: the plan, the lanes, and what is kept of them.

mod interrupted;
mod turns;

use std::fs;

use serde_json::{Value, json};

use crate::support::{TestEnvironment, edit_finding, finding, reply, terminal_frames};

/// Installs a `codex` that does the steps of the focus it is asked about, else those of the
/// overview.
fn by_lane(focus: &[(&str, Value)], overview: &Value) -> TestEnvironment {
    let environment = TestEnvironment::with_edit();
    environment.install_codex(&lane_script(focus, overview));
    environment
}

fn lane_script(focus: &[(&str, Value)], overview: &Value) -> Value {
    let focus = focus
        .iter()
        .map(|(text, steps)| json!({"contains": text, "steps": steps}));
    let overview = json!({ "steps": overview });
    json!({"runs": focus.chain([overview]).collect::<Vec<_>>()})
}

fn fell_over() -> Value {
    json!([{"fail_turn": "it fell over"}, {"exit": 1}])
}

fn finds(titles: &[&str]) -> Value {
    let findings: Vec<_> = titles.iter().map(|title| edit_finding(title)).collect();
    json!([reply(&findings)])
}

fn reasons(artifact: &Value) -> Vec<&str> {
    let reasons = artifact["trust"]["reasons"].as_array().expect("reasons");
    reasons.iter().filter_map(Value::as_str).collect()
}

/// Returns the merged findings: title, lanes and reviewers.
fn merged(batch: &Value) -> Vec<[Value; 3]> {
    let findings = batch["result"]["findings"].as_array().expect("findings");
    findings
        .iter()
        .map(|it| ["title", "lane_ids", "reviewer_ids"].map(|key| it[key].clone()))
        .collect()
}

#[test]
fn every_lane_is_a_review_of_its_own_and_their_findings_are_merged() {
    let environment = TestEnvironment::with_edit();
    let record = environment.record();
    let far = finding("[P2] Far away", 2, "src/lib.rs", (2, 3));
    environment.install_codex(&lane_script(
        &[
            (
                "errors of sockets",
                json!([record, reply(&[edit_finding("[P1] two is NOT one"), far])]),
            ),
            ("colour names", json!([record, reply(&[])])),
        ],
        &json!([record, reply(&[edit_finding("[P1] Two is not one")])]),
    ));
    let focus = ["--focus", " errors of sockets ", "--focus", "colour names"];
    let run = environment.review(&[&["--reviewer", "codex", "--json"][..], &focus].concat());
    let batch = run.json();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(batch["schema_version"], 2);
    assert_eq!(batch["kind"], "batch");
    assert_eq!(
        batch["plan"],
        json!({
            "include_overview": true,
            "focus": ["errors of sockets", "colour names"],
            "lanes": [
                {"id": "overview", "kind": "overview"},
                {"id": "focus-1", "kind": "focus", "focus": "errors of sockets"},
                {"id": "focus-2", "kind": "focus", "focus": "colour names"},
            ],
        })
    );
    let counts: Vec<_> = batch["lanes"]
        .as_array()
        .expect("lanes")
        .iter()
        .map(|lane| {
            let artifact = &lane["artifact"];
            assert_eq!(lane["status"], "success");
            assert_eq!(artifact["target"], batch["target"]);
            assert_eq!(artifact["reviewers"][0]["id"], "codex");
            (
                lane["id"].as_str(),
                artifact["result"]["findings"].as_array().map(Vec::len),
            )
        })
        .collect();
    assert_eq!(
        counts,
        [
            (Some("overview"), Some(1)),
            (Some("focus-1"), Some(2)),
            (Some("focus-2"), Some(0)),
        ]
    );
    assert_eq!(
        merged(&batch),
        [
            [
                json!("[P1] Two is not one"),
                json!(["overview", "focus-1"]),
                json!(["codex"]),
            ],
            [json!("[P2] Far away"), json!(["focus-1"]), json!(["codex"]),],
        ]
    );
    assert_eq!(batch["result"]["overall_correctness"], "patch is incorrect");
    assert_eq!(reasons(&batch), [] as [&str; 0]);
    check_prompts(&environment);
}

/// Each focus is told to its lane alone, and the patch to all.
fn check_prompts(environment: &TestEnvironment) {
    let prompts = environment.recorded("stdin");
    assert_eq!(prompts.len(), 3);
    for (text, count) in [
        ("errors of sockets\n", 1),
        ("colour names\n", 1),
        ("+    2\n", 3),
    ] {
        let with = prompts.iter().filter(|prompt| prompt.contains(text));
        assert_eq!(with.count(), count, "{text}");
    }
}

#[test]
fn who_wants_an_overview_says_so_and_flags_beat_the_config() {
    let environment = by_lane(&[], &finds(&[]));
    let config = |include: bool| json!({"reviewPlan": {"includeOverview": include}});
    for (config, flags, lanes) in [
        (None, &[][..], &["overview", "focus-1"][..]),
        (None, &["--no-overview"], &["focus-1"]),
        (Some(config(false)), &[], &["focus-1"]),
        (
            Some(config(false)),
            &["--overview"],
            &["overview", "focus-1"],
        ),
        (Some(config(true)), &["--no-overview"], &["focus-1"]),
    ] {
        if let Some(mut config) = config.clone() {
            config["reviewers"] = json!([{"id": "codex", "engine": "codex"}]);
            environment.write_config(&config);
        }
        let args = [
            &["--reviewer", "codex", "--json", "--focus", "odd errors"][..],
            flags,
        ]
        .concat();
        let run = environment.review(&args);
        let batch = run.json();
        assert_eq!(run.code, 0, "{config:?} {flags:?}: {}", run.stderr);
        let names: Vec<_> = batch["lanes"]
            .as_array()
            .expect("lanes")
            .iter()
            .filter_map(|lane| lane["id"].as_str())
            .collect();
        assert_eq!(names, lanes, "{config:?} {flags:?}");
        assert_eq!(
            batch["plan"]["include_overview"],
            lanes.contains(&"overview")
        );
    }
}

#[test]
fn lanes_that_make_no_sense_start_nobody() {
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[]);
    for (args, words) in [
        (
            &["--focus", "x", "--overview", "--no-overview"][..],
            "--no-overview",
        ),
        (&["--overview"], "--focus"),
        (&["--no-overview"], "--focus"),
        (&["--focus", " "], "--focus"),
        (
            &["--focus", "x", "--target", "custom:look around"],
            "custom:",
        ),
        (&["--focus", "x", "--jobs", "0"], "--jobs"),
        (&["--focus", "x", "--max-time", "soon"], "--max-time"),
    ] {
        let run = environment.review(&[&["--reviewer", "codex", "--ndjson"][..], args].concat());
        assert_eq!(run.code, 2, "{args:?}: {}", run.stdout);
        assert!(run.stderr.contains(words), "{args:?}: {}", run.stderr);
        let frames = run.frames();
        assert_eq!(frames.len(), 1, "{args:?}");
        assert_eq!(frames[0]["error"]["code"], "invalid_cli", "{args:?}");
    }
    assert_eq!(environment.recorded("argv"), [] as [&str; 0]);
}

#[test]
fn a_failed_lane_is_kept_beside_the_others_and_told_first() {
    let environment = by_lane(
        &[("odd errors", fell_over())],
        &finds(&["[P1] Two is not one"]),
    );
    let args = ["--reviewer", "codex", "--focus", "odd errors"];
    let run = environment.review(&[&args[..], &["--json"]].concat());
    let batch = run.json();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let failed = &batch["lanes"][1];
    assert_eq!(
        (&failed["id"], &failed["status"]),
        (&json!("focus-1"), &json!("failed"))
    );
    assert_eq!(failed["error"]["code"], "reviewer_failed");
    assert_eq!(failed.get("artifact"), None);
    let warning = batch["warnings"][0].as_str().unwrap_or_default();
    assert!(warning.starts_with("Lane focus-1 failed: "), "{warning}");
    assert!(
        reasons(&batch).contains(&"lane_failed"),
        "{}",
        batch["trust"]
    );
    assert_eq!(
        batch["result"]["findings"][0]["lane_ids"],
        json!(["overview"])
    );
    let gated = environment.review(&[&args[..], &["--require-clean"]].concat());
    assert_eq!(gated.code, 1);
}

#[test]
fn what_one_reviewer_of_a_lane_lacks_is_a_warning_of_that_lane() {
    let environment = TestEnvironment::with_edit();
    environment.codex_reviewers(&[("alpha", finds(&[])), ("beta", fell_over())]);
    let batch = environment
        .review(&["--json", "--focus", "odd errors"])
        .json();
    let warnings = batch["warnings"].as_array().expect("warnings");
    let warnings: Vec<_> = warnings.iter().filter_map(Value::as_str).collect();
    for lane in ["overview", "focus-1"] {
        let start = format!("Lane {lane}: Reviewer beta failed: ");
        assert!(
            warnings.iter().any(|it| it.starts_with(&start)),
            "{warnings:?}"
        );
    }
    assert_eq!(reasons(&batch), ["reviewer_failed"]);
}

#[test]
fn when_every_lane_fails_the_run_has_failed() {
    let environment = by_lane(&[], &fell_over());
    let run = environment.review(&["--reviewer", "codex", "--focus", "odd errors", "--ndjson"]);
    assert_eq!(run.code, 3, "{}", run.stdout);
    let frames = run.frames();
    let terminal = terminal_frames(&frames);
    assert_eq!(terminal.len(), 1, "{frames:?}");
    let error = &terminal[0]["error"];
    assert_eq!(error["code"], "reviewer_failed");
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("All lanes failed: "), "{message}");
    assert!(
        message.contains("overview: ") && message.contains("focus-1: "),
        "{message}"
    );
    let ends = frames.iter().filter(|frame| frame["type"] == "lane_failed");
    assert_eq!(ends.count(), 2);
}

#[test]
fn strict_mode_takes_no_failed_lane_and_ends_by_its_cause() {
    let doubtful = json!([{"text": "It returns two."}]);
    let outside = json!([reply(&[finding(
        "[P1] Elsewhere",
        1,
        "src/none.rs",
        (9, 9)
    )])]);
    for (steps, exit, code) in [
        (fell_over(), 3, "reviewer_failed"),
        (doubtful, 4, "parse_failed"),
        (outside, 4, "validation_failed"),
    ] {
        let environment = by_lane(&[("odd errors", steps)], &finds(&[]));
        let args = [
            "--reviewer",
            "codex",
            "--focus",
            "odd errors",
            "--strict",
            "--ndjson",
        ];
        let run = environment.review(&args);
        assert_eq!(run.code, exit, "{}", run.stdout);
        let frames = run.frames();
        let terminal = terminal_frames(&frames);
        assert_eq!(terminal.len(), 1, "{frames:?}");
        let error = &terminal[0]["error"];
        assert_eq!(error["code"], code, "{error}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(
            message.starts_with("Lane failed in strict mode: focus-1: "),
            "{message}"
        );
    }
}

#[test]
fn the_order_of_ends_changes_nothing() {
    let mut artifacts = Vec::new();
    let environment = TestEnvironment::with_edit();
    for (overview, focus) in [(0, 150), (150, 0)] {
        let steps =
            |delay: u64, title: &str| json!([{"sleep_ms": delay}, reply(&[edit_finding(title)])]);
        let script = lane_script(
            &[("odd errors", steps(focus, "[P1] TWO is not one"))],
            &steps(overview, "[P1] Two is not one"),
        );
        environment.install_codex(&script);
        let args = ["--reviewer", "codex", "--focus", "odd errors", "--json"];
        let mut batch = environment.review(&args).json();
        batch["timing_ms"] = json!(0);
        for lane in batch["lanes"].as_array_mut().expect("lanes") {
            lane["timing_ms"] = json!(0);
            lane["artifact"]["timing_ms"] = json!(0);
            lane["artifact"]["reviewers"][0]["timing_ms"] = json!(0);
        }
        artifacts.push(batch);
    }
    assert_eq!(artifacts[0], artifacts[1]);
}

#[test]
fn an_engine_is_looked_at_once_for_all_lanes() {
    let environment = TestEnvironment::with_edit();
    let probes = environment.path("probes");
    environment.install_codex(&json!({
        "probe": [{"append": {"path": probes, "text": "asked"}}],
        "runs": [{"steps": finds(&[])}],
    }));
    let args = [
        "--reviewer",
        "codex",
        "--focus",
        "a",
        "--focus",
        "b",
        "--json",
    ];
    assert_eq!(environment.review(&args).code, 0);
    // For its version, for its options, and twice for its sandbox.
    let asked = fs::read_to_string(probes).expect("somebody asked");
    assert_eq!(asked.lines().count(), 4);
}
