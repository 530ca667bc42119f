//! Reviews that go well.

use serde_json::{Value, json};

use super::trust_reasons;
use crate::support::{TestEnvironment, edit_finding, finding, reply};

#[test]
fn a_finding_comes_back_with_everything_around_it() {
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[edit_finding("[P1] Two is not one")]);
    let run = environment.review(&["--reviewer", "codex", "--json"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let artifact = run.json();
    let file = environment.repo().join("src/lib.rs");
    assert_eq!(artifact["schema_version"], 2);
    assert_eq!(artifact["engine"], "codex");
    assert_eq!(artifact["target"]["kind"], "uncommitted");
    assert_eq!(artifact["target"]["changed_files"], json!(["src/lib.rs"]));
    let [found] = &artifact["result"]["findings"].as_array().expect("findings")[..] else {
        panic!("one finding: {artifact}");
    };
    assert_eq!(found["title"], "[P1] Two is not one");
    assert_eq!(found["reviewer_ids"], json!(["codex"]));
    assert_eq!(
        found["code_location"],
        json!({"absolute_file_path": file, "line_range": {"start": 2, "end": 2}})
    );
    assert_eq!(
        artifact["result"]["overall_correctness"],
        "patch is incorrect"
    );
    assert_eq!(artifact["validation"]["parse_mode"], "tool-output");
    assert_eq!(artifact["validation"]["valid_locations"], true);
    assert_eq!(trust_reasons(&artifact), [] as [&str; 0]);
    assert_eq!(
        artifact["coverage"]["files"],
        json!([{"path": "src/lib.rs", "sent": "whole", "added": 1, "removed": 1}])
    );
    assert_eq!(
        artifact["coverage"]["patch_sha256"].as_str().map(str::len),
        Some(64)
    );
    let entry = &artifact["reviewers"][0];
    assert_eq!(
        (&entry["status"], &entry["transport"]),
        (&json!("success"), &json!("cli"))
    );
    assert_eq!(entry["preflight"]["metadata"]["version"], "0.171.0");
    assert_eq!(entry["usage"]["input_tokens"], 100);
    assert_eq!(environment.left_over(), [] as [std::path::PathBuf; 0]);
}

#[test]
fn what_a_reviewer_is_sent_holds_the_patch_and_names_the_target() {
    let environment = TestEnvironment::with_edit();
    environment.write("notes.txt", "untracked\n");
    environment.codex_finds(&[]);
    let artifact = environment
        .review(&["--reviewer", "codex", "--json"])
        .json();
    let prompts = environment.recorded("stdin");
    let [prompt] = &prompts[..] else {
        panic!("one call, not {}", prompts.len());
    };
    for line in [
        "-    1\n",
        "+    2\n",
        "+untracked\n",
        "The target is uncommitted",
    ] {
        assert!(prompt.contains(line), "{line:?}: {prompt}");
    }
    assert_eq!(
        artifact["target"]["changed_files"],
        json!(["notes.txt", "src/lib.rs"])
    );
}

#[test]
fn a_finding_beside_the_change_is_kept_and_marked() {
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[finding("[P2] Elsewhere", 2, "src/lib.rs", (900, 900))]);
    let run = environment.review(&["--reviewer", "codex", "--json"]);
    let artifact = run.json();
    assert_eq!(run.code, 0);
    assert_eq!(artifact["result"]["findings"][0]["title"], "[P2] Elsewhere");
    let validation = &artifact["validation"];
    assert_eq!(validation["valid_locations"], false);
    assert_eq!(validation["invalid_locations"][0]["index"], 0);
    let run = environment.review(&["--reviewer", "codex", "--json", "--strict"]);
    assert_eq!(run.code, 4);
    assert_eq!(run.json()["error"]["code"], "validation_failed");
}

#[test]
fn targets_choose_what_is_sent() {
    let environment = TestEnvironment::with_edit();
    environment.commit("second");
    environment.git(&["switch", "--quiet", "--create", "topic"]);
    environment.write("src/lib.rs", "pub fn one() -> u8 {\n    3\n}\n");
    environment.commit("third");
    environment.codex_finds(&[edit_finding("[P1] Three")]);
    let head = environment.git(&["rev-parse", "HEAD"]);
    let base = environment.git(&["rev-parse", "main"]);
    for (target, line) in [("base:main", "+    3"), ("commit:HEAD~1", "+    2")] {
        let run = environment.review(&["--target", target, "--reviewer", "codex", "--json"]);
        assert_eq!(run.code, 0, "{target}: {}", run.stderr);
        let artifact = run.json();
        assert_eq!(artifact["validation"]["valid_locations"], true, "{target}");
        let sent = environment.recorded("stdin");
        assert!(sent.iter().any(|prompt| prompt.contains(line)), "{target}");
        if target == "base:main" {
            assert_eq!(artifact["target"]["head_sha"], Value::from(head.as_str()));
            assert_eq!(artifact["target"]["base_sha"], Value::from(base.as_str()));
            assert_eq!(trust_reasons(&artifact), [] as [&str; 0]);
        } else {
            // The tree holds a later version than the one under review, which was read in a
            // snapshot of its own commit.
            assert_eq!(artifact["target"]["commit_sha"], Value::from(base.as_str()));
            assert_eq!(trust_reasons(&artifact), [] as [&str; 0]);
        }
    }
    let in_the_tree = environment.review(&[
        "--target",
        "commit:HEAD~1",
        "--no-snapshot",
        "--reviewer",
        "codex",
        "--json",
    ]);
    assert_eq!(trust_reasons(&in_the_tree.json()), ["tree_differs"]);
}

#[test]
fn a_custom_target_has_instructions_and_no_patch() {
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[finding("[P3] Old code", 3, "src/lib.rs", (1, 1))]);
    let run = environment.review(&[
        "--target",
        "custom:Look at the numbers.",
        "--reviewer",
        "codex",
        "--json",
    ]);
    let artifact = run.json();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(artifact["target"]["kind"], "custom");
    assert_eq!(artifact["target"]["instructions"], "Look at the numbers.");
    assert_eq!(artifact["target"]["changed_files"], json!([]));
    assert_eq!(artifact["validation"]["valid_locations"], true);
    assert_eq!(trust_reasons(&artifact), [] as [&str; 0]);
    let prompts = environment.recorded("stdin");
    assert!(prompts[0].contains("Look at the numbers."));
    assert!(!prompts[0].contains("```diff") && !prompts[0].contains("+    2"));
}

#[test]
fn nothing_to_review_starts_no_engine() {
    let environment = TestEnvironment::with_edit();
    environment.commit("all of it");
    environment.codex_finds(&[edit_finding("[P1] Never said")]);
    let run = environment.review(&["--reviewer", "codex", "--json"]);
    let artifact = run.json();
    assert_eq!(run.code, 0);
    assert_eq!(artifact["reviewers"], json!([]));
    assert_eq!(artifact["result"]["findings"], json!([]));
    assert_eq!(artifact["result"]["overall_correctness"], "unknown");
    assert_eq!(artifact["result"]["overall_confidence_score"], 0);
    assert_eq!(trust_reasons(&artifact), ["empty_diff"]);
    let frames = environment
        .review(&["--reviewer", "codex", "--ndjson"])
        .frames();
    let kinds: Vec<_> = frames.iter().map(|frame| &frame["type"]).collect();
    assert_eq!(kinds, ["run_started", "final_result"]);
    let gated = environment.review(&["--reviewer", "codex", "--require-clean", "--json"]);
    assert_eq!(gated.code, 1);
    assert_eq!(environment.recorded("argv"), [] as [&str; 0]);
}

#[test]
fn gates_end_with_one_and_still_print_the_artifact() {
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[edit_finding("[P1] Two is not one")]);
    for (level, code) in [("P0", 0), ("P1", 1), ("p2", 1), ("P3", 1)] {
        let out = environment.path("gate.json");
        let run = environment.review(&[
            "--reviewer",
            "codex",
            "--json",
            "--fail-on-findings",
            level,
            "--out",
            out.to_str().expect("a UTF-8 path"),
        ]);
        assert_eq!(run.code, code, "{level}");
        assert_eq!(run.json()["result"]["findings"][0]["priority"], 1);
        assert_eq!(std::fs::read_to_string(out).expect("a file"), run.stdout);
    }
    environment.codex_does(&json!([reply(&[])]));
    let run = environment.review(&["--reviewer", "codex", "--fail-on-findings", "P3"]);
    assert_eq!(run.code, 0);
    let run = environment.review(&["--reviewer", "codex", "--require-clean"]);
    assert_eq!(run.code, 0);
}

#[test]
fn a_finding_without_a_priority_meets_no_gate() {
    let environment = TestEnvironment::with_edit();
    let mut unranked = edit_finding("Two is not one");
    unranked
        .as_object_mut()
        .expect("an object")
        .remove("priority");
    environment.codex_finds(&[unranked]);
    let run = environment.review(&["--reviewer", "codex", "--json", "--fail-on-findings", "P3"]);
    let artifact = run.json();
    assert_eq!(run.code, 0);
    assert_eq!(artifact["result"]["findings"][0].get("priority"), None);
}
