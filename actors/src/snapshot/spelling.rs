//! How paths of the snapshot are spelled outside the engines: as paths of the repository.
//!
//! The place of a snapshot is a long name that is made up for one run, so wherever it stands it
//! means that place, and its text can be replaced without knowing what is around it.

use serde_json::{Map, Value};

use crate::engine::{Answer, Payload, PreflightPass};
use crate::model::{Failure, Finding, ReviewResult};
use crate::plan::RunPlan;
use crate::process::Halt;

/// Replaces the place of the snapshot by that of the repository.
#[derive(Debug, Clone, Default)]
pub(crate) struct Spelling {
    /// What is replaced and by what, outside JSON text.
    plain: Option<(String, String)>,
    /// The same in text that is, or may be, JSON.
    quoted: Vec<(String, String)>,
}

impl Spelling {
    /// Returns the spelling of a run's paths; without a snapshot nothing is replaced.
    pub(crate) fn of(plan: &RunPlan) -> Self {
        let Some(snapshot) = &plan.snapshot else {
            return Self::default();
        };
        let tree = snapshot.tree().to_string_lossy().into_owned();
        Self::new(tree, plan.scope.repo_root.to_string_lossy().into_owned())
    }

    fn new(tree: String, root: String) -> Self {
        let mut quoted = vec![(within_json(&tree), within_json(&root))];
        if quoted[0].0 != tree {
            quoted.push((tree.clone(), quoted[0].1.clone()));
        }
        Self {
            plain: Some((tree, root)),
            quoted,
        }
    }

    /// Respells an answer.
    pub(crate) fn answer(&self, answer: &mut Answer) {
        if self.plain.is_none() {
            return;
        }
        match &mut answer.payload {
            Payload::Structured(value) => self.value(value),
            Payload::Text(text) => self.json_text(text),
            Payload::Review(review) => self.review(review),
            Payload::Rendered { text, result } => {
                self.text(text);
                self.review(result);
            }
        }
        self.map(&mut answer.metadata);
        if let Some(usage) = &mut answer.usage {
            self.value(usage);
        }
    }

    /// Respells what preflight found.
    pub(crate) fn preflight(&self, pass: &mut PreflightPass) {
        for check in &mut pass.report.checks {
            self.text(&mut check.detail);
        }
        self.map(&mut pass.report.metadata);
    }

    /// Respells why a task ended.
    pub(crate) fn halt(&self, halt: Halt) -> Halt {
        match halt {
            Halt::Failed(failure) => Halt::Failed(self.failure(failure)),
            Halt::Deadline | Halt::Stopped => halt,
        }
    }

    fn failure(&self, mut failure: Failure) -> Failure {
        let advice = failure.recovery.iter_mut().chain(&mut failure.hint);
        for text in advice.chain([&mut failure.message]) {
            self.text(text);
        }
        failure
    }

    fn review(&self, review: &mut ReviewResult) {
        self.text(&mut review.overall_explanation);
        for finding in &mut review.findings {
            let Finding {
                title,
                body,
                code_location,
                ..
            } = finding;
            for text in [title, body, &mut code_location.absolute_file_path] {
                self.text(text);
            }
        }
    }

    fn map(&self, map: &mut Map<String, Value>) {
        map.values_mut().for_each(|value| self.value(value));
    }

    /// Values come from parsers that bound their depth.
    fn value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(map) => self.map(map),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&self, text: &mut String) {
        replace(text, self.plain.as_slice());
    }

    fn json_text(&self, text: &mut String) {
        replace(text, &self.quoted);
    }
}

fn replace(text: &mut String, spellings: &[(String, String)]) {
    for (from, to) in spellings {
        if text.contains(from) {
            *text = text.replace(from, to);
        }
    }
}

/// Returns a text as it stands between the quotes of a JSON string.
fn within_json(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::engine::CaptureMode;
    use crate::model::ErrorCode;

    const TREE: &str = "/tmp/diffwarden-1-abcd1234/tree";

    fn spelling(root: &str) -> Spelling {
        Spelling::new(TREE.to_owned(), root.to_owned())
    }

    fn answer(payload: Payload) -> Answer {
        Answer {
            payload,
            capture_mode: CaptureMode::Text,
            metadata: Map::new(),
            usage: None,
        }
    }

    #[test]
    fn every_text_of_an_answer_is_respelled() {
        let value = json!({"a": [{"path": format!("{TREE}/x.rs")}], "n": 1});
        let mut structured = answer(Payload::Structured(value));
        structured.metadata.insert("cwd".to_owned(), TREE.into());
        structured.usage = Some(json!([TREE]));
        spelling("/repo").answer(&mut structured);
        let expected = json!({"a": [{"path": "/repo/x.rs"}], "n": 1});
        assert_eq!(structured.payload, Payload::Structured(expected));
        assert_eq!(structured.metadata["cwd"], "/repo");
        assert_eq!(structured.usage, Some(json!(["/repo"])));
    }

    #[test]
    fn text_that_is_json_stays_json_whatever_the_repository_is_called() {
        let root = "/home/it's \"here\"\\";
        let text = json!({"path": format!("{TREE}/x.rs")}).to_string();
        let mut answer = answer(Payload::Text(text));
        spelling(root).answer(&mut answer);
        let Payload::Text(text) = answer.payload else {
            panic!("a text stays a text");
        };
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(value["path"], format!("{root}/x.rs"));
    }

    #[test]
    fn a_rendered_review_is_respelled_in_its_text_and_in_its_findings() {
        let result: ReviewResult = serde_json::from_value(json!({
            "findings": [{
                "title": "[P1] A",
                "body": format!("see {TREE}/a.rs"),
                "confidence_score": 0.5,
                "priority": 1,
                "code_location": {
                    "absolute_file_path": format!("{TREE}/a.rs"),
                    "line_range": {"start": 1, "end": 1},
                },
            }],
            "overall_correctness": "patch is incorrect",
            "overall_explanation": TREE,
            "overall_confidence_score": 0.5,
        }))
        .unwrap();
        let text = format!("{TREE}/a.rs:1-1");
        let mut answer = answer(Payload::Rendered { text, result });
        spelling("/repo").answer(&mut answer);
        let Payload::Rendered { text, result } = answer.payload else {
            panic!("a rendered review stays one");
        };
        assert_eq!(text, "/repo/a.rs:1-1");
        let finding = &result.findings[0];
        assert_eq!(finding.code_location.absolute_file_path, "/repo/a.rs");
        assert_eq!(finding.body, "see /repo/a.rs");
        assert_eq!(result.overall_explanation, "/repo");
    }

    #[test]
    fn failures_are_respelled_and_without_a_snapshot_nothing_is() {
        let failure = Failure::new(ErrorCode::ReviewerFailed, format!("no {TREE}/a"))
            .hint(format!("look at {TREE}"));
        let halt = spelling("/repo").halt(Halt::Failed(failure.clone()));
        let Halt::Failed(respelled) = halt else {
            panic!("a failure stays a failure");
        };
        assert_eq!(respelled.message, "no /repo/a");
        assert_eq!(respelled.hint.as_deref(), Some("look at /repo"));
        assert_eq!(
            Spelling::default().halt(Halt::Failed(failure.clone())),
            Halt::Failed(failure)
        );
    }
}
