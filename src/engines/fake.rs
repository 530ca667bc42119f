//! The fake reviewer: a fixture that needs neither configuration nor a process nor a model.
//!
//! It looks at nothing. It exists so that everything around an engine can be tried; every output
//! for people says that it is a fixture, `trust` says that nobody looked, and it runs only when it
//! is named. Its words and numbers are the ones that existing consumers test against.

use diffwarden_actors::engine::{
    Answer, Capabilities, CaptureMode, Engine, Payload, Place, Preflight, PreflightPass,
    ReviewRequest, Start,
};
use diffwarden_actors::model::{
    CheckStatus, Failure, PreflightCheck, PreflightReport, ReviewResult, Score, Verdict,
};
use serde_json::{Map, Value};

/// The engine of the `fake` reviewer.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fake;

impl Engine for Fake {
    fn preflight(&self, _place: &Place) -> Result<Preflight, Failure> {
        let check = |name: &str, detail: &str| PreflightCheck {
            name: name.to_owned(),
            status: CheckStatus::Passed,
            detail: detail.to_owned(),
        };
        Ok(Preflight::Known(PreflightPass {
            report: PreflightReport {
                checks: vec![
                    check("runtime", "The fake reviewer is part of diffwarden."),
                    check("readonly", "The fake reviewer touches no file."),
                ],
                metadata: metadata(),
            },
            capabilities: Capabilities::default(),
        }))
    }

    fn review(&self, request: &ReviewRequest) -> Result<Start, Failure> {
        let changed = request.target.changed_files.len();
        Ok(Start::InProcess(Box::new(move |_cancel| {
            Ok(answer(changed))
        })))
    }
}

fn metadata() -> Map<String, Value> {
    Map::from_iter([("readonlyCapability".to_owned(), "enforced".into())])
}

fn answer(changed: usize) -> Answer {
    Answer {
        payload: Payload::Review(ReviewResult {
            findings: Vec::new(),
            overall_correctness: Verdict::Correct.as_str().to_owned(),
            overall_explanation: format!("Fake reviewer inspected {changed} changed file(s)."),
            overall_confidence_score: Score(0.5),
        }),
        capture_mode: CaptureMode::NativeStructured,
        metadata: metadata(),
        usage: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_explanation_counts_the_files() {
        for (changed, part) in [(0, "0 changed file(s)"), (7, "7 changed file(s)")] {
            let Payload::Review(result) = answer(changed).payload else {
                panic!("the fake reviewer hands over a finished result");
            };
            assert!(result.overall_explanation.contains(part));
            assert_eq!(result.overall_correctness, "patch is correct");
            assert_eq!(result.findings, []);
        }
    }

    #[test]
    fn preflight_is_known_without_running_anything() {
        let place = Place {
            repo_root: "/repo".into(),
            run_dir: "/run".into(),
        };
        let Ok(Preflight::Known(pass)) = Fake.preflight(&place) else {
            panic!("the fake reviewer has nothing to probe");
        };
        assert_eq!(pass.report.checks.len(), 2);
    }
}
