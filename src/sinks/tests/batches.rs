//! The texts and frames of runs with focus lanes.

use diffwarden_actors::model::{LaneId, LaneStatus, ReviewBatchArtifact};
use insta::assert_snapshot;

use super::*;

/// Three lanes: an overview in which one of two reviewers failed, a focus with a finding of its
/// own, and a focus that failed.
pub(super) fn batch() -> ReviewBatchArtifact {
    let mut zero = finding(
        "[P1] Zero",
        "When b is 0.",
        Some(1),
        "/repo/src/math.js",
        (6, 6),
    );
    let mut only = finding("[P2] Only here", "", Some(2), "/repo/src/math.js", (9, 9));
    let overview = serde_json::to_value(partial()).unwrap();
    let focused = with_findings(vec![zero.clone(), only.clone()]);
    zero["lane_ids"] = json!(["overview", "focus-1"]);
    only["lane_ids"] = json!(["focus-1"]);
    let mut batch = with_findings(vec![zero, only]);
    let fields = batch.as_object_mut().unwrap();
    fields.remove("engine");
    fields.remove("reviewers");
    batch["kind"] = "batch".into();
    batch["result"]["overall_explanation"] =
        "overview: Looked.\n\nfocus-1 (error handling): Looked too.".into();
    batch["warnings"] = json!(["Lane focus-2 failed: late"]);
    batch["trust"] = json!({ "clean": false, "reasons": ["reviewer_failed", "lane_failed"] });
    let lanes = [
        json!({ "id": "overview", "kind": "overview" }),
        json!({ "id": "focus-1", "kind": "focus", "focus": "error handling" }),
        json!({ "id": "focus-2", "kind": "focus", "focus": "time\nzones" }),
    ];
    batch["plan"] = json!({
        "include_overview": true, "focus": ["error handling", "time\nzones"], "lanes": lanes,
    });
    let mut lanes = lanes;
    for (lane, artifact) in lanes.iter_mut().zip([overview, focused]) {
        lane["status"] = "success".into();
        lane["artifact"] = artifact;
    }
    lanes[2]["status"] = "failed".into();
    lanes[2]["error"] = json!({
        "code": "timeout", "message": "late", "exit_code": 3, "reason": "timeout",
        "hint": "raise --timeout",
    });
    batch["lanes"] = json!(lanes);
    serde_json::from_value(batch).unwrap()
}

fn run() -> RunArtifact {
    RunArtifact::Batch(Box::new(batch()))
}

#[test]
fn agent_text_of_a_batch() {
    assert_snapshot!(shown_run(&run(), OutputMode::Agent), @r"
    Diffwarden Review Batch
    Target: base:main
    Verdict: patch is incorrect
    Confidence: 0.50
    Findings: 2 (P1 1, P2 1)
    Reviewers: alpha, beta
    Lane status: 2 passed, 1 failed
    Trust: not clean (reviewer_failed, lane_failed)

    Warnings:
    - Lane focus-2 failed: late

    Merged findings:
    1. P1 [P1] Zero
    File: /repo/src/math.js:6-6
    Confidence: 0.90
    Reviewers: codex
    Lanes: overview, focus-1
    Body:
      When b is 0.
    2. P2 [P2] Only here
    File: /repo/src/math.js:9-9
    Confidence: 0.90
    Reviewers: codex
    Lanes: focus-1

    Lanes:
    - overview
      Status: success
      Verdict: patch is incorrect
      Findings: 3 (P1 1, P2 1, Unspecified 1)
      Reviewers: alpha, beta
      Failed reviewer: beta: not logged in
      Code: missing_auth, auth
      Hint: run `claude login`
      Try: set ANTHROPIC_API_KEY
    - focus-1: error handling
      Status: success
      Verdict: patch is incorrect
      Findings: 2 (P1 1, P2 1)
      Reviewers: codex
    - focus-2: time zones
      Status: failed
      Error: late
      Code: timeout, timeout
      Hint: raise --timeout

    Overall explanation:
      overview: Looked.

      focus-1 (error handling): Looked too.
    ");
}

#[test]
fn human_text_of_a_batch() {
    assert_snapshot!(shown_run(&run(), OutputMode::Human), @r"
    diffwarden review batch
    Target: base:main
    Reviewers: alpha, beta
    Lanes: overview, focus-1: error handling, focus-2: time zones

    Batch Result
    Verdict: patch is incorrect
    Confidence: 0.50
    Findings: 2 (P1 1, P2 1)
    Lanes: 2 passed, 1 failed
    Trust: not clean (reviewer_failed, lane_failed)

    Warnings
    - Lane focus-2 failed: late

    Merged findings
    - P1 [P1] Zero
      /repo/src/math.js:6-6 · codex · lanes overview, focus-1
      When b is 0.
    - P2 [P2] Only here
      /repo/src/math.js:9-9 · codex · lanes focus-1

    Lane overview
    Status: success
    Verdict: patch is incorrect
    Findings: 3 (P1 1, P2 1, Unspecified 1)
    Reviewers: alpha, beta
    Failed: beta: not logged in
      missing_auth, auth
      Hint: run `claude login`
      Try: set ANTHROPIC_API_KEY
    - P1 [P1] Zero
      /repo/src/math.js:6-6 · codex
      When b is 0.
    - P2 [P2] Another thing
      /repo/src/math.js:9-12 · alpha, integrity
      First.

          code
      Last.
    - P? No priority
      /repo/a.js:1-1 · codex
      Location: does not touch the change: Finding path is not in changed files: /repo/a.js

    Lane focus-1: error handling
    Status: success
    Verdict: patch is incorrect
    Findings: 2 (P1 1, P2 1)
    Reviewers: codex
    - P1 [P1] Zero
      /repo/src/math.js:6-6 · codex
      When b is 0.
    - P2 [P2] Only here
      /repo/src/math.js:9-9 · codex

    Lane focus-2: time zones
    Status: failed
    Error: late
      timeout, timeout
      Hint: raise --timeout

    Overall explanation
      overview: Looked.

      focus-1 (error handling): Looked too.
    ");
}

#[test]
fn json_of_a_batch_reads_back() {
    let text = shown_run(&run(), OutputMode::Json);
    assert!(text.starts_with("{\n  \"schema_version\": 2,\n  \"kind\": \"batch\",\n"));
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value["lanes"][2]["status"], "failed");
    assert_eq!(serde_json::from_str::<RunArtifact>(&text).unwrap(), run());
    let line = shown_run(&run(), OutputMode::Ndjson);
    let frame: Value = serde_json::from_str(&line).unwrap();
    assert_eq!(frame["type"], "final_result");
    assert_eq!(frame["artifact"], value);
}

#[test]
fn a_lane_without_artifact_and_error_is_a_failed_one() {
    let mut batch = batch();
    batch.lanes[0].artifact = None;
    batch.lanes[0].status = LaneStatus::Failed;
    let text = shown_run(&RunArtifact::Batch(Box::new(batch)), OutputMode::Agent);
    assert!(
        text.contains("\nLane status: 1 passed, 2 failed\n"),
        "{text}"
    );
    assert!(
        text.contains("\n- overview\n  Status: failed\n  Error: no reason"),
        "{text}"
    );
}

#[test]
fn a_fixture_in_a_lane_is_named() {
    let mut batch = batch();
    let artifact = batch.lanes[1].artifact.as_mut().unwrap();
    let ReviewerEntry::Success(entry) = &mut artifact.reviewers[0] else {
        unreachable!("the fixture's reviewer succeeded");
    };
    entry.identity.engine = EngineName::Fake;
    let text = shown_run(&RunArtifact::Batch(Box::new(batch)), OutputMode::Human);
    assert!(text.contains("\nNote: `fake` is a fixture"));
}

/// Returns the frames of a batch whose lanes begin, and of which one ends well.
fn lane_frames() -> [Frame; 6] {
    let batch = batch();
    let reviewers = vec![ReviewerSummary {
        id: ReviewerId("codex".to_owned()),
        engine: EngineName::Codex,
    }];
    let started = ReviewEvent::RunStarted {
        cwd: batch.cwd.clone(),
        target: batch.target.clone(),
        reviewers: reviewers.clone(),
    };
    let lane = |name: &str, event| Frame {
        lane_id: Some(LaneId(name.to_owned())),
        ..Frame::new(event)
    };
    [
        Frame::new(ReviewEvent::BatchStarted {
            cwd: batch.cwd.clone(),
            target: batch.target.clone(),
            reviewers,
            plan: batch.plan.clone(),
        }),
        lane("overview", started.clone()),
        lane("focus-2", started),
        lane(
            "overview",
            ReviewEvent::PreflightStarted {
                reviewer_id: ReviewerId("codex".to_owned()),
            },
        ),
        lane(
            "overview",
            ReviewEvent::LaneFinished {
                lane_id: LaneId("overview".to_owned()),
                artifact: batch.lanes[0].artifact.clone().unwrap(),
                timing_ms: 1200,
            },
        ),
        lane(
            "focus-2",
            ReviewEvent::LaneFailed {
                lane_id: LaneId("focus-2".to_owned()),
                error: batch.lanes[2].error.clone().unwrap(),
                timing_ms: 60_000,
            },
        ),
    ]
}

#[test]
fn people_and_programs_see_lanes_begin_and_end() {
    let frames = lane_frames();
    let outcome = RunOutcome::Finished(Arc::new(run()));
    let (out, err) = written(options(OutputMode::Human), &frames, &outcome);
    assert_eq!(err, "");
    let (steps, _) = out.split_once("\n\nBatch Result\n").unwrap();
    assert_snapshot!(steps, @r"
    diffwarden review batch
    Target: base:main
    Reviewers: codex
    Lanes: overview, focus-1: error handling, focus-2: time zones
    • Lane overview started
    • Lane focus-2 started
    • [overview] codex preflight
    ✓ Lane overview finished (1.2s)
    ✗ Lane focus-2 failed (60.0s): late
    ");

    let (out, _) = written(options(OutputMode::Ndjson), &frames, &outcome);
    let lines: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let told: Vec<_> = lines
        .iter()
        .map(|line| (line["type"].as_str().unwrap(), line["lane_id"].as_str()))
        .collect();
    assert_eq!(
        told,
        [
            ("batch_started", None),
            ("run_started", Some("overview")),
            ("run_started", Some("focus-2")),
            ("preflight_started", Some("overview")),
            ("lane_finished", Some("overview")),
            ("lane_failed", Some("focus-2")),
            ("final_result", None),
        ]
    );
}
