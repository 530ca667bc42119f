use proptest::prelude::*;
use serde_json::json;

use super::*;

/// An artifact as the specification alone describes it.
fn plain() -> Value {
    let finding = json!({
        "title": "[P1] Zero", "body": "When b is 0.", "confidence_score": 0.9, "priority": 1,
        "code_location": {
            "absolute_file_path": "/repo/a.js", "line_range": { "start": 6, "end": 6 },
        },
    });
    let validation = json!({
        "parse_mode": "tool-output", "valid_schema": true, "findings_overlap_diff": true,
        "valid_locations": true, "invalid_locations": [],
    });
    let result = json!({
        "findings": [finding], "overall_correctness": "patch is incorrect",
        "overall_explanation": "Looked.", "overall_confidence_score": 0.8,
    });
    let mut merged = result.clone();
    merged["findings"][0]["reviewer_ids"] = json!(["codex"]);
    json!({
        "schema_version": 2,
        "engine": "codex",
        "reviewers": [{
            "id": "codex", "engine": "codex", "status": "success", "transport": "cli",
            "result": result, "validation": validation, "timing_ms": 5,
            "adapter_metadata": { "anything": { "goes": [1] } }, "usage": { "tokens": 3 },
        }],
        "cwd": "/repo",
        "target": {
            "kind": "uncommitted", "repo_root": "/repo", "diff_command": "git diff",
            "changed_files": ["a.js"],
        },
        "result": merged,
        "validation": validation,
    })
}

fn batch() -> Value {
    let mut batch = plain();
    let fields = batch.as_object_mut().unwrap();
    fields.remove("engine");
    fields.remove("reviewers");
    batch["kind"] = json!("batch");
    batch["result"]["findings"][0]["lane_ids"] = json!(["overview"]);
    let lanes = [
        json!({ "id": "overview", "kind": "overview" }),
        json!({ "id": "focus-1", "kind": "focus", "focus": "x" }),
    ];
    batch["plan"] = json!({ "include_overview": true, "focus": ["x"], "lanes": lanes });
    let mut lanes = lanes;
    lanes[0]["status"] = json!("success");
    lanes[0]["artifact"] = plain();
    lanes[1]["status"] = json!("failed");
    lanes[1]["error"] = json!({ "code": "timeout", "message": "late", "exit_code": 3 });
    batch["lanes"] = json!(lanes);
    batch
}

fn parse(value: &Value) -> Result<RunArtifact, Failure> {
    parse_artifact("`x.json`", value.to_string().as_bytes())
}

fn refused(value: &Value) -> String {
    let failure = parse(value).unwrap_err();
    assert_eq!(failure.exit_code(), 2);
    assert!(failure.message.starts_with("`x.json` is not a Review"));
    failure.message
}

/// Returns the places of every object in a value, outside of what engines fill as they like.
fn objects(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.push(at.to_owned());
            for (key, field) in fields {
                if !matches!(key.as_str(), "adapter_metadata" | "usage") {
                    objects(field, &format!("{at}/{key}"), found);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                objects(item, &format!("{at}/{index}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn what_the_specification_describes_reads_and_prints_as_it_is() {
    for value in [plain(), batch()] {
        let artifact = parse(&value).unwrap();
        assert_eq!(serde_json::to_value(&artifact).unwrap(), value);
    }
    let text = format!("\u{feff}{}\n", plain());
    assert!(parse_artifact("x", text.as_bytes()).is_ok());
}

#[test]
fn fields_that_the_specification_lacks_may_be_absent() {
    let mut value = plain();
    value.as_object_mut().unwrap().remove("reviewers");
    let RunArtifact::Review(review) = parse(&value).unwrap() else {
        unreachable!("it has no kind");
    };
    assert!(review.reviewers.is_empty());
    assert!(review.trust.is_unstated() && review.coverage.is_unstated());
}

#[test]
fn an_unknown_key_is_refused_wherever_it_stands() {
    for whole in [plain(), batch()] {
        let mut places = Vec::new();
        objects(&whole, "", &mut places);
        assert!(places.len() > 10, "{places:?}");
        for place in places {
            for extra in [json!(null), json!([]), json!({ "deep": 1 })] {
                let mut value = whole.clone();
                value.pointer_mut(&place).unwrap()["surprise"] = extra;
                let message = refused(&value);
                assert!(
                    message.ends_with("surprise: unknown key"),
                    "{place}: {message}"
                );
            }
        }
    }
}

#[test]
fn a_refusal_names_the_place() {
    let cases = [
        (
            "/reviewers/0/transport",
            json!("sdk"),
            "reviewers[0].transport: unknown variant `sdk`",
        ),
        (
            "/reviewers/0/result/findings/0/priority",
            json!(7),
            "findings[0].priority: a priority",
        ),
        (
            "/result/overall_confidence_score",
            json!(2),
            "result.overall_confidence_score: a conf",
        ),
        (
            "/reviewers/0/status",
            json!("failed"),
            "reviewers[0]: a reviewer that failed",
        ),
        (
            "/target/kind",
            json!("moon"),
            "target.kind: unknown variant `moon`",
        ),
        (
            "/target/changed_files",
            json!("a"),
            "target.changed_files: invalid type",
        ),
        (
            "/result/findings/0/code_location/line_range/end",
            json!(5),
            "result.findings[0].code_location.line_range: lines count from 1",
        ),
    ];
    for (place, wrong, words) in cases {
        let mut value = plain();
        *value.pointer_mut(place).unwrap() = wrong;
        let message = refused(&value);
        assert!(message.contains(words), "{message}");
    }
    let mut value = batch();
    value["lanes"][0]["artifact"]["reviewers"][0]["engine"] = json!("hal");
    let message = refused(&value);
    assert!(message.contains("lanes[0].artifact.reviewers[0].engine: unknown variant `hal`"));
    let mut value = batch();
    value["lanes"][0]["artifact"]["schema_version"] = json!(1);
    assert!(refused(&value).ends_with("lanes[0].artifact.schema_version is 1"));
}

#[test]
fn other_files_are_told_apart() {
    for (value, words) in [
        (json!({"schema_version": 1}), "schema_version is 1"),
        (json!({"schema_version": "2"}), "schema_version is \"2\""),
        (json!({}), "schema_version is missing"),
        (
            json!({"schema_version": 1, "error": {}}),
            "made no artifact",
        ),
        (json!({"report_schema_version": 3}), "it is a report"),
        (
            json!({"schema_version": 2, "kind": "heap"}),
            "kind is \"heap\"",
        ),
        (json!([1]), "ReviewArtifact"),
        (json!("x"), "invalid type"),
        (json!({"schema_version": 2}), "missing field `cwd`"),
    ] {
        let message = refused(&value);
        assert!(message.contains(words), "{message}");
    }
    for text in [
        "",
        "{",
        "no",
        "{}\n{}",
        "\u{0}",
        "{\"schema_version\": 2, \"cwd\": \"\\ud800\"}",
    ] {
        let failure = parse_artifact("x", text.as_bytes()).unwrap_err();
        assert_eq!(failure.exit_code(), 2, "{text}");
    }
    let failure = parse_artifact("x", b"{}\n{}").unwrap_err();
    assert!(failure.message.contains("not JSON") && failure.message.contains("line 2"));
}

#[test]
fn a_refusal_does_not_repeat_megabytes() {
    let mut value = plain();
    value["engine"] = json!("é".repeat(1_000_000));
    assert!(refused(&value).len() < 2000);
}

#[test]
fn what_nests_without_end_is_refused() {
    let mut text = plain().to_string();
    text.truncate(text.len() - 1);
    text.push_str(",\"warnings\":");
    text.push_str(&"[".repeat(1_000_000));
    assert!(parse_artifact("x", text.as_bytes()).is_err());
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for path in [folder.path().join("none.json"), folder.path().to_owned()] {
        let failure = read_artifact(&path).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.message.contains(path.to_str().unwrap()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn no_file_makes_it_panic(
        cut in 0_usize..3000,
        byte in any::<u8>(),
        is_batch in any::<bool>(),
    ) {
        let value = if is_batch { batch() } else { plain() };
        let mut bytes = value.to_string().into_bytes();
        let at = cut % bytes.len();
        bytes[at] = byte;
        drop(parse_artifact("x", &bytes));
        drop(parse_artifact("x", &bytes[..at]));
    }
}
