//! The four forms of output, the file, and what may stand on which stream.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Run, TestEnvironment, edit_finding, reply};

fn noisy() -> TestEnvironment {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(&json!([
        {"stderr": "noise on stderr\n"},
        {"stdout": "noise on stdout\n"},
        reply(&[edit_finding("[P1] Two is not one")]),
    ]));
    environment
}

fn assert_quiet(run: &Run) {
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(!run.stdout.contains("noise on stdout"), "{}", run.stdout);
    assert!(!run.stdout.contains('\u{1b}'), "{:?}", run.stdout);
    assert!(run.stdout.ends_with('\n'));
}

#[test]
fn json_is_one_object_and_nothing_else() {
    let run = noisy().review(&["--reviewer", "codex", "--json"]);
    assert_quiet(&run);
    assert_eq!(run.json()["schema_version"], 2);
}

#[test]
fn agent_text_is_the_result_and_nothing_else() {
    let run = noisy().review(&["--reviewer", "codex", "--agent"]);
    assert_quiet(&run);
    assert!(
        run.stdout
            .starts_with("Diffwarden Review\nTarget: uncommitted\n")
    );
    for line in [
        "\nVerdict: patch is incorrect\n",
        "\nFindings: 1 (P1 1)\n",
        "\nReviewers: codex\n",
        "src/lib.rs:2-2\n",
    ] {
        assert!(run.stdout.contains(line), "{line:?}: {}", run.stdout);
    }
}

#[test]
fn human_text_tells_the_run_and_then_the_result() {
    let run = noisy().review(&["--reviewer", "codex"]);
    assert_quiet(&run);
    let place = |text: &str| {
        run.stdout
            .find(text)
            .unwrap_or_else(|| panic!("{text:?}: {}", run.stdout))
    };
    let places = [
        "Target: uncommitted\n",
        "codex preflight passed",
        "codex reviewing\n",
        "codex finished",
        "Verdict: patch is incorrect\n",
        "Two is not one\n",
        "src/lib.rs:2-2",
    ]
    .map(place);
    assert!(places.is_sorted(), "{places:?}: {}", run.stdout);
}

#[test]
fn the_stream_tells_every_step_and_ends_with_what_json_prints() {
    let environment = noisy();
    let run = environment.review(&["--reviewer", "codex", "--ndjson"]);
    assert_quiet(&run);
    let frames = run.frames();
    let kinds: Vec<_> = frames.iter().filter_map(|it| it["type"].as_str()).collect();
    assert_eq!(
        kinds,
        [
            "run_started",
            "preflight_started",
            "preflight_finished",
            "reviewer_started",
            "reviewer_result",
            "final_result"
        ]
    );
    assert!(frames.iter().all(|frame| frame["schema_version"] == 2));
    let mut last = frames[5]["artifact"].clone();
    let mut printed = environment
        .review(&["--reviewer", "codex", "--json"])
        .json();
    for artifact in [&mut last, &mut printed] {
        artifact["timing_ms"] = Value::Null;
        artifact["reviewers"][0]["timing_ms"] = Value::Null;
    }
    assert_eq!(last, printed);
}

#[test]
fn the_file_holds_what_json_prints_whatever_is_printed() {
    let environment = noisy();
    let out = environment.path("review.json");
    let out_text = out.to_str().expect("a UTF-8 path");
    for mode in [&["--json"][..], &["--agent"], &["--ndjson"], &[]] {
        fs::remove_file(&out).ok();
        let args = [&["--reviewer", "codex", "--out", out_text], mode].concat();
        let run = environment.review(&args);
        assert_quiet(&run);
        let written = fs::read_to_string(&out).expect("a file");
        let artifact: Value = serde_json::from_str(&written).expect("JSON");
        assert_eq!(artifact["result"]["findings"][0]["priority"], 1, "{mode:?}");
        if mode == ["--json"] {
            assert_eq!(written, run.stdout);
        }
    }
    let names: Vec<_> = fs::read_dir(out.parent().expect("a folder"))
        .expect("the folder")
        .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok())
        .filter(|name| name.contains("review.json"))
        .collect();
    assert_eq!(names, ["review.json"]);
}

#[test]
fn a_failed_run_leaves_no_file_and_removes_an_older_artifact() {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(&json!([{"exit": 1}]));
    let out = environment.path("review.json");
    fs::write(&out, "{\"schema_version\": 2}\n").expect("an older artifact");
    let out_text = out.to_str().expect("a UTF-8 path");
    let run = environment.review(&["--reviewer", "codex", "--json", "--out", out_text]);
    assert_eq!(run.code, 3);
    assert!(!out.exists());
}

#[test]
fn failures_are_told_where_the_reader_looks() {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(
        &json!([{"stderr": "engine noise\n"}, {"fail_turn": "model fell over"}, {"exit": 1}]),
    );
    let json = environment.review(&["--reviewer", "codex", "--json"]);
    assert_eq!(json.json()["error"]["code"], "reviewer_failed");
    let stream = environment.review(&["--reviewer", "codex", "--ndjson"]);
    let frames = stream.frames();
    let last = frames.last().expect("a terminal frame");
    assert_eq!(
        (&last["type"], &last["error"]["exit_code"]),
        (&json!("error"), &json!(3))
    );
    let terminal = |frame: &&Value| frame["type"] == "error" || frame["type"] == "final_result";
    assert_eq!(frames.iter().filter(terminal).count(), 1);
    let agent = environment.review(&["--reviewer", "codex", "--agent"]);
    assert_eq!(agent.stdout, "");
    let human = environment.review(&["--reviewer", "codex"]);
    for run in [json, stream, agent, human] {
        assert_eq!(run.code, 3);
        assert!(run.stderr.contains("model fell over"), "{}", run.stderr);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_output_is_an_error() {
    let environment = noisy();
    for mode in [&["--json"][..], &["--agent"], &["--ndjson"], &[]] {
        let args = [&["--reviewer", "codex"], mode].concat();
        let full = fs::OpenOptions::new()
            .write(true)
            .open("/dev/full")
            .expect("a full device");
        let output = environment.review_command(&args).stdout(full).output();
        let run = Run::of(output.expect("the binary runs"));
        assert_eq!(run.code, 3, "{mode:?}: {}", run.stderr);
        assert!(
            run.stderr.contains("could not be written"),
            "{mode:?}: {}",
            run.stderr
        );
        assert_eq!(
            environment.left_over(),
            [] as [std::path::PathBuf; 0],
            "{mode:?}"
        );
    }
}

#[test]
fn a_second_run_does_not_review_the_artifact_of_the_first() {
    let environment = TestEnvironment::with_edit();
    environment.commit("edit");
    environment.write("src/lib.rs", "pub fn one() -> u8 {\n    3\n}\n");
    // An untracked file of any other name is reviewed, and so is a tracked one.
    let args = ["--reviewer", "surface", "--json", "--out", "review.json"];
    for _ in 0..2 {
        let artifact = environment.review(&args).json();
        let files = &artifact["target"]["changed_files"];
        assert_eq!(*files, json!(["src/lib.rs"]));
    }
    let other = environment.review(&["--reviewer", "surface", "--json", "--out", "other.json"]);
    let files = &other.json()["target"]["changed_files"];
    assert_eq!(*files, json!(["review.json", "src/lib.rs"]));

    fs::remove_file(environment.repo().join("other.json")).expect("a file");
    environment.git(&["checkout", "--quiet", "src/lib.rs"]);
    let commit = [&args[..], &["--target", "commit:HEAD", "--require-clean"]].concat();
    for _ in 0..2 {
        let run = environment.review(&commit);
        assert_eq!(run.code, 0, "{}", run.json()["trust"]);
    }
    environment.commit("with the artifact");
    fs::write(
        environment.repo().join("review.json"),
        "{\"schema_version\": 2}",
    )
    .expect("a file");
    let run = environment.review(&commit);
    assert_eq!(run.json()["trust"]["reasons"], json!(["tree_differs"]));
}

#[test]
fn a_changed_file_named_by_mistake_is_not_replaced() {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(&json!([environment.record(), reply(&[])]));
    environment.write("new.rs", "fn two() {}\n");
    for name in ["new.rs", "src/lib.rs"] {
        let path = environment.repo().join(name);
        let before = fs::read_to_string(&path).expect("a source file");
        let run = environment.review(&["--reviewer", "codex", "--json", "--out", name]);
        assert_eq!(run.code, 2, "{}", run.stdout);
        let message = run.json()["error"]["message"].to_string();
        assert!(message.contains(name), "{message}");
        assert_eq!(fs::read_to_string(&path).expect("it stays"), before);
    }
    assert_eq!(environment.recorded("argv"), [] as [String; 0]);
}

#[test]
fn signs_of_life_are_told_only_when_asked_for() {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(&json!([
        {"event": {"type": "turn.started"}},
        {"event": {"type": "item.completed", "item": {"id": "1", "type": "command_execution"}}},
        reply(&[]),
    ]));
    for (flags, is_told) in [(&["--progress"][..], true), (&[], false)] {
        let args = [&["--reviewer", "codex", "--ndjson"], flags].concat();
        let frames = environment.review(&args).frames();
        let told = frames.iter().any(|it| it["type"] == "reviewer_progress");
        assert_eq!(told, is_told, "{frames:#?}");
    }
}
