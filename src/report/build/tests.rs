use insta::assert_json_snapshot;
use serde_json::json;

use super::*;
use crate::report::StorageScope;

fn finding(title: &str, priority: Option<u8>, path: &str) -> Value {
    let mut finding = json!({
        "title": title, "body": "Its body.", "confidence_score": 0.9,
        "code_location": { "absolute_file_path": path, "line_range": { "start": 6, "end": 6 } },
    });
    if let Some(priority) = priority {
        finding["priority"] = json!(priority);
    }
    finding
}

fn review() -> ReviewArtifact {
    let findings = [
        finding("[P1] b", Some(1), "/repo/b.js"),
        finding("[P3] a", Some(3), "/repo/a.js"),
        finding("b again", None, "/repo/b.js"),
    ];
    let validation = json!({
        "parse_mode": "tool-output", "valid_schema": true, "findings_overlap_diff": true,
        "valid_locations": true, "invalid_locations": [],
    });
    let result = json!({
        "findings": findings, "overall_correctness": "patch is incorrect",
        "overall_explanation": "Looked.", "overall_confidence_score": 0.8,
    });
    let answer = |id: &str| {
        json!({
            "id": id, "engine": "codex", "status": "success", "transport": "cli", "model": "m1",
            "result": result, "validation": validation, "timing_ms": 5, "usage": { "tokens": 3 },
            "preflight": { "checks": [], "metadata": { "requestedModel": "m0" } },
            "adapter_metadata": {
                "requestedModel": "m1", "resolvedModel": "m1-2", "modelResolutionSource": "requested",
            },
        })
    };
    let mut integrity = answer("integrity");
    integrity["engine"] = json!("surface");
    let artifact = json!({
        "schema_version": 2,
        "reviewers": [answer("alpha"), {
            "id": "beta", "engine": "claude", "status": "failed", "effort": "high",
            "preflight": { "checks": [], "metadata": { "requestedEffort": "high" } },
            "error": { "code": "missing_auth", "message": "not logged in", "exit_code": 3 },
        }, integrity],
        "cwd": ".",
        "target": {
            "kind": "base", "repo_root": "/repo", "base_ref": "main", "diff_command": "git diff",
            "changed_files": ["a.js", "b.js"],
        },
        "result": result,
        "validation": validation,
        "trust": { "clean": false, "reasons": ["reviewer_failed"] },
        "coverage": { "files": [], "patch_bytes": 272, "patch_sha256": "50770aef" },
        "timing_ms": 9,
    });
    serde_json::from_value(artifact).unwrap()
}

fn batch() -> ReviewBatchArtifact {
    let review = serde_json::to_value(review()).unwrap();
    let mut batch = review.clone();
    batch.as_object_mut().unwrap().remove("reviewers");
    batch["kind"] = json!("batch");
    let lanes = [
        json!({ "id": "overview", "kind": "overview" }),
        json!({ "id": "focus-1", "kind": "focus", "focus": "errors" }),
    ];
    batch["plan"] = json!({ "include_overview": true, "focus": ["errors"], "lanes": lanes });
    let mut lanes = lanes;
    lanes[0]["status"] = json!("success");
    lanes[0]["artifact"] = review;
    lanes[0]["timing_ms"] = json!(7);
    lanes[1]["status"] = json!("failed");
    lanes[1]["error"] = json!({ "code": "timeout", "message": "late", "exit_code": 3 });
    batch["lanes"] = json!(lanes);
    serde_json::from_value(batch).unwrap()
}

fn facts(mode: ReportMode) -> ReportFacts {
    ReportFacts {
        invocation: Invocation {
            target: "base:main".to_owned(),
            reviewer_set: Some("deep".to_owned()),
            timeout_seconds: "2.5".parse().ok(),
            fail_on_findings: Some("P1".to_owned()),
            format: "json",
            output_mode: "json",
            ..Invocation::default()
        },
        config: Some(ConfigReport {
            path: "/home/me/config.json".to_owned(),
            sha256: "4e6d".to_owned(),
        }),
        selection: ReviewerSelection {
            reviewer_set: Some("deep".to_owned()),
            requested_reviewers: vec!["alpha".to_owned(), "claude:x".to_owned()],
            resolved_reviewers: vec!["alpha".to_owned(), "beta".to_owned()],
        },
        storage: ReportStorage {
            scope: StorageScope::Repo,
            mode,
        },
    }
}

fn stamp() -> Stamp {
    Stamp {
        run_id: "11111111-2222-4333-8444-555555555555".to_owned(),
        created_at: jiff::Timestamp::from_millisecond(1_767_323_045_678).unwrap(),
    }
}

fn report(artifact: &RunArtifact, mode: ReportMode) -> Value {
    let (facts, stamp) = (facts(mode), stamp());
    let mut report = serde_json::to_value(build_report(&facts, &stamp, artifact)).unwrap();
    report["provenance"]["diffwarden"]["version"] = json!("0.0.0");
    report
}

#[test]
fn a_report_of_metadata_has_no_texts() {
    assert_json_snapshot!(report(&review().into(), ReportMode::Metadata));
}

#[test]
fn a_full_report_holds_the_artifact_and_the_bodies() {
    let artifact = RunArtifact::from(review());
    let report = report(&artifact, ReportMode::Full);
    assert_eq!(report["artifact"], serde_json::to_value(&artifact).unwrap());
    assert_eq!(report["reviewers"][0]["findings"][0]["body"], "Its body.");
    assert_eq!(report["invocation"]["reporting"]["mode"], "full");
}

#[test]
fn a_report_of_a_batch_names_its_lanes() {
    let artifact = RunArtifact::Batch(Box::new(batch()));
    let report = report(&artifact, ReportMode::Full);
    assert_eq!(report["artifact"]["kind"], "batch");
    let invocation = &report["provenance"]["invocation"];
    assert_eq!(invocation["focus"], json!(["errors"]));
    assert_eq!(invocation["include_overview"], true);
    assert_eq!(invocation["review_plan"]["lanes"][1]["id"], "focus-1");
    let lanes: Vec<_> = report["reviewers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["lane_id"].as_str().unwrap())
        .collect();
    assert_eq!(lanes, ["overview"; 3]);
    assert_json_snapshot!(json!({ "summary": report["summary"], "lanes": report["lanes"] }));
}

#[test]
fn a_custom_target_has_instructions_and_no_patch() {
    let mut review = review();
    review.target.kind = diffwarden_actors::model::TargetKind::Custom;
    review.target.instructions = Some("look here".to_owned());
    let report = report(&review.into(), ReportMode::Full);
    let target = &report["invocation"]["target"];
    assert_eq!(target["custom_instructions"], "look here");
    assert!(target.get("instructions").is_none());
    assert_eq!(
        report["provenance"]["target"],
        json!({ "patch_persisted": false })
    );
}

#[test]
fn stamps_differ_and_tell_the_time_as_javascript_does() {
    let (one, other) = (Stamp::now(), Stamp::now());
    assert_ne!(one.run_id, other.run_id);
    assert_eq!(one.run_id.len(), 36);
    assert_eq!(stamp().time(), "2026-01-02T03:04:05.678Z");
    let whole = Stamp {
        created_at: jiff::Timestamp::from_second(0).unwrap(),
        ..stamp()
    };
    assert_eq!(whole.time(), "1970-01-01T00:00:00.000Z");
}
