//! The result object as JSON spells it, before it is known to make sense.
//!
//! Every number is a float here, because JSON has one kind of number and engines write `2.0` for
//! `2`. The types also serve as a cheap filter while searching text: they nest to a fixed depth
//! and refuse unknown keys, so a misleading brace is given up after a few bytes.

use serde::Deserialize;

use super::schema::SchemaError;
use crate::model::{CodeLocation, Finding, LineRange, Priority, ReviewResult, Score};

/// The result object.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    findings: Vec<AnswerFinding>,
    overall_correctness: String,
    overall_explanation: String,
    overall_confidence_score: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerFinding {
    title: String,
    body: String,
    confidence_score: f64,
    priority: Option<f64>,
    code_location: Location,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Location {
    absolute_file_path: String,
    line_range: Range,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    start: f64,
    end: f64,
}

impl Answer {
    /// The keys of the result object; an object that starts with none of them is not one.
    pub(super) const KEYS: [&'static str; 4] = [
        "findings",
        "overall_correctness",
        "overall_explanation",
        "overall_confidence_score",
    ];

    /// Converts to the model, checking what JSON Schema cannot say.
    pub(super) fn into_result(self) -> Result<ReviewResult, SchemaError> {
        let findings = self.findings.into_iter().enumerate();
        Ok(ReviewResult {
            findings: findings
                .map(|(index, finding)| finding.into_finding(index))
                .collect::<Result<_, _>>()?,
            overall_correctness: self.overall_correctness,
            overall_explanation: self.overall_explanation,
            overall_confidence_score: Score(self.overall_confidence_score),
        })
    }
}

impl AnswerFinding {
    fn into_finding(self, index: usize) -> Result<Finding, SchemaError> {
        let Range { start, end } = self.code_location.line_range;
        let path = format!("findings[{index}].code_location.line_range");
        let line_range = LineRange {
            start: line_number(start, &format!("{path}.start"))?,
            end: line_number(end, &format!("{path}.end"))?,
        };
        if start > end {
            return Err(SchemaError::new(&path, "start is greater than end"));
        }
        Ok(Finding {
            title: self.title,
            body: self.body,
            confidence_score: Score(self.confidence_score),
            priority: self.priority.map(priority),
            code_location: CodeLocation {
                absolute_file_path: self.code_location.absolute_file_path,
                line_range,
            },
            anchor: None,
        })
    }
}

/// Converts a priority that the schema has already held to 0, 1, 2 or 3.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the schema allows 0, 1, 2 and 3 alone"
)]
fn priority(number: f64) -> Priority {
    Priority(number as u8)
}

/// Converts a line number. The schema has no largest one, so one that no file can have is the last
/// there is, and the check of its place judges the finding.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the number was checked to be whole and not below the type's range; above it, the \
              conversion stops at the type's largest number"
)]
fn line_number(number: f64, path: &str) -> Result<u32, SchemaError> {
    if number.fract() == 0.0 && number >= 1.0 {
        Ok(number as u32)
    } else {
        Err(SchemaError::new(path, "is not a line number"))
    }
}
