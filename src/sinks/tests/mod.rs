//! What the sinks print: artifacts to try them on, and a way to run them.

mod anything;
mod batches;
mod hostile;
mod streams;
mod texts;

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use diffwarden_actors::model::{
    EngineName, ErrorCode, Failure, Frame, Reason, ReviewArtifact, ReviewEvent, ReviewerEntry,
    ReviewerId, ReviewerSummary,
};
use diffwarden_actors::sink::{RunFailure, RunOutcome};
use serde_json::{Value, json};

use super::*;

/// A writer whose content outlives the sink that owns it.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a sink and returns what it wrote to the two streams.
fn written(options: SinkOptions, frames: &[Frame], outcome: &RunOutcome) -> (String, String) {
    let (out, err) = (Shared::default(), Shared::default());
    let mut sink = sink_for(options, out.clone(), err.clone());
    for frame in frames {
        sink.event(frame).unwrap();
    }
    sink.finish(outcome).unwrap();
    (out.text(), err.text())
}

fn options(mode: OutputMode) -> SinkOptions {
    SinkOptions {
        mode,
        style: Style::PLAIN,
        progress: None,
        redactor: Arc::default(),
    }
}

fn shown(artifact: &ReviewArtifact, mode: OutputMode) -> String {
    shown_run(&artifact.clone().into(), mode)
}

fn shown_run(artifact: &RunArtifact, mode: OutputMode) -> String {
    render_artifact(artifact, mode, Style::PLAIN, &Redactor::default())
}

fn finished(artifact: ReviewArtifact) -> RunOutcome {
    RunOutcome::Finished(Arc::new(artifact.into()))
}

fn validation(mode: &str) -> Value {
    json!({
        "parse_mode": mode, "valid_schema": mode != "fallback-text", "findings_overlap_diff": true,
        "valid_locations": true, "invalid_locations": [],
    })
}

/// An artifact of one reviewer, `codex`, that found nothing.
fn clean() -> Value {
    let result = json!({
        "findings": [], "overall_correctness": "patch is correct",
        "overall_explanation": "Looked at every hunk.", "overall_confidence_score": 0.5,
    });
    json!({
        "schema_version": 2,
        "engine": "codex",
        "reviewers": [{
            "id": "codex", "engine": "codex", "status": "success", "transport": "cli",
            "result": result, "validation": validation("strict-json"), "timing_ms": 149,
        }],
        "cwd": ".",
        "target": {
            "kind": "base", "repo_root": "/repo", "base_ref": "main",
            "diff_command": "git diff", "changed_files": ["src/math.js"],
        },
        "result": result,
        "validation": validation("strict-json"),
        "trust": { "clean": true, "reasons": [] },
        "coverage": { "files": [], "patch_bytes": 0, "patch_sha256": "" },
        "timing_ms": 200,
    })
}

fn finding(title: &str, body: &str, priority: Option<u8>, path: &str, lines: (u32, u32)) -> Value {
    let mut finding = json!({
        "id": "f", "title": title, "body": body, "confidence_score": 0.9,
        "code_location": {
            "absolute_file_path": path, "line_range": { "start": lines.0, "end": lines.1 },
        },
        "reviewer_ids": ["codex"],
    });
    if let Some(priority) = priority {
        finding["priority"] = priority.into();
    }
    finding
}

fn with_findings(findings: Vec<Value>) -> Value {
    let mut artifact = clean();
    artifact["result"]["overall_correctness"] = "patch is incorrect".into();
    artifact["result"]["findings"] = findings.into();
    artifact
}

fn read(artifact: Value) -> ReviewArtifact {
    serde_json::from_value(artifact).unwrap()
}

/// Two reviewers, one of which failed, with something to say about everything.
fn partial() -> ReviewArtifact {
    let mut artifact = with_findings(vec![
        finding("No priority", "", None, "/repo/a.js", (1, 1)),
        finding(
            "[P2] Another thing",
            "First.\n\n    code\nLast.\n",
            Some(2),
            "/repo/src/math.js",
            (9, 12),
        ),
        finding(
            "[P1] Zero",
            "When b is 0.",
            Some(1),
            "/repo/src/math.js",
            (6, 6),
        ),
    ]);
    artifact["reviewers"][0]["id"] = "alpha".into();
    artifact["reviewers"].as_array_mut().unwrap().push(json!({
        "id": "beta", "engine": "claude", "status": "failed", "transport": "cli",
        "error": {
            "code": "missing_auth", "message": "not logged in", "exit_code": 3, "reason": "auth",
            "recovery": ["set ANTHROPIC_API_KEY"], "hint": "run `claude login`",
        },
    }));
    artifact["result"]["findings"][1]["reviewer_ids"] = json!(["alpha", "integrity"]);
    artifact["result"]["overall_explanation"] = "alpha: Two paragraphs.\n\nSecond.".into();
    artifact["validation"]["invalid_locations"] = json!([
        { "index": 0, "reason": "Finding path is not in changed files: /repo/a.js" },
    ]);
    artifact["warnings"] = json!(["Reviewer beta failed: not logged in"]);
    artifact["trust"] = json!({ "clean": false, "reasons": ["reviewer_failed", "clipped"] });
    let mut files: Vec<_> = (0..7)
        .map(|n| json!({ "path": format!("lock{n}"), "sent": "pruned", "added": 1, "removed": 0 }))
        .collect();
    files.push(json!({ "path": "big\n.js", "sent": "clipped", "added": 9, "removed": 0 }));
    artifact["coverage"]["files"] = files.into();
    read(artifact)
}

fn frames() -> Vec<Frame> {
    let artifact = partial();
    let id = |name: &str| ReviewerId(name.to_owned());
    let [ReviewerEntry::Success(_), ReviewerEntry::Failed(failed)] = &artifact.reviewers[..] else {
        unreachable!("the fixture has one of each");
    };
    let preflight = |name: &str, ok| ReviewEvent::PreflightFinished {
        reviewer_id: id(name),
        ok,
        timing_ms: 149,
    };
    [
        ReviewEvent::RunStarted {
            cwd: artifact.cwd.clone(),
            target: artifact.target.clone(),
            reviewers: vec![
                ReviewerSummary {
                    id: id("alpha"),
                    engine: EngineName::Fake,
                },
                ReviewerSummary {
                    id: id("beta"),
                    engine: EngineName::Claude,
                },
            ],
        },
        ReviewEvent::PreflightStarted {
            reviewer_id: id("alpha"),
        },
        preflight("alpha", true),
        preflight("beta", false),
        ReviewEvent::ReviewerFailed {
            reviewer_id: id("beta"),
            error: failed.error.clone(),
            timing_ms: 61_000,
        },
        ReviewEvent::ReviewerStarted {
            reviewer_id: id("alpha"),
        },
        ReviewEvent::ReviewerResult {
            reviewer_id: id("alpha"),
            provisional: true,
            artifact: Box::new(artifact.reviewers[0].clone()),
        },
    ]
    .into_iter()
    .map(Frame::new)
    .collect()
}

fn failed() -> RunOutcome {
    RunOutcome::Failed(RunFailure {
        failure: Failure::new(
            ErrorCode::ReviewerFailed,
            "All reviewers failed: a: x\nb: y",
        )
        .reason(Reason::Crash)
        .hint("run `diffwarden doctor`")
        .recovery("try again"),
        reviewer: None,
        integrity: vec![
            serde_json::from_value(json!({
                "title": "[P0] A key", "body": "", "confidence_score": 1, "priority": 0,
                "code_location": {
                    "absolute_file_path": "/repo/.env", "line_range": { "start": 3, "end": 3 },
                },
            }))
            .unwrap(),
        ],
        partial: None,
    })
}
