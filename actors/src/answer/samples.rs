//! Values that the tests of this folder share.

use serde_json::{Value, json};

use crate::model::{CodeLocation, Finding, LineRange, Priority, ReviewResult, Score};

/// A fitting answer with one finding.
pub(super) fn answer() -> Value {
    json!({
        "findings": [{
            "title": "[P1] Division by zero is no longer rejected",
            "body": "When b is 0 the function now returns Infinity instead of throwing.",
            "confidence_score": 0.9,
            "priority": 1,
            "code_location": {
                "absolute_file_path": "/repo/src/math.js",
                "line_range": { "start": 6, "end": 6 }
            }
        }],
        "overall_correctness": "patch is incorrect",
        "overall_explanation": "Looked at every hunk.",
        "overall_confidence_score": 0.8
    })
}

/// A fitting answer without findings.
pub(super) fn clean_answer() -> Value {
    json!({
        "findings": [],
        "overall_correctness": "patch is correct",
        "overall_explanation": "Looked at every hunk.",
        "overall_confidence_score": 0.8
    })
}

/// A finding at a place.
pub(super) fn finding(title: &str, path: &str, start: u32, end: u32) -> Finding {
    Finding {
        title: title.to_owned(),
        body: "Because.".to_owned(),
        confidence_score: Score(0.5),
        priority: Some(Priority(2)),
        code_location: CodeLocation {
            absolute_file_path: path.to_owned(),
            line_range: LineRange { start, end },
        },
        anchor: None,
    }
}

/// A result with these findings.
pub(super) fn result(
    verdict: &str,
    explanation: &str,
    confidence: f64,
    findings: Vec<Finding>,
) -> ReviewResult {
    ReviewResult {
        findings,
        overall_correctness: verdict.to_owned(),
        overall_explanation: explanation.to_owned(),
        overall_confidence_score: Score(confidence),
    }
}
