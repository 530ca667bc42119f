//! A failure without an artifact, as each mode shows it (SPEC 6).

use std::fmt::Write as _;

use diffwarden_actors::model::{Failure, Finding, Frame, ReviewEvent, ReviewerError};
use diffwarden_actors::sink::RunFailure;
use schemars::JsonSchema;
use serde::Serialize;

use super::OutputMode;
use super::foreign::Foreign;
use super::redact::Redactor;
use super::{json, ndjson};

/// The version of the error object.
const ERROR_SCHEMA_VERSION: u32 = 1;

/// What `--json` prints when there is no artifact (SPEC 6).
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ErrorObject {
    /// Always 1.
    pub schema_version: u32,
    /// Why.
    pub error: ReviewerError,
    /// What diffwarden itself found; kept when every reviewer fails.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub integrity: Vec<Finding>,
}

/// Returns a failure that no run reports, in a mode's own form and with its final line end.
pub(super) fn failure_text(mode: OutputMode, failure: &Failure, redactor: &Redactor) -> String {
    let failure = RunFailure::from(failure.clone());
    match mode {
        OutputMode::Json => object_text(&failure, redactor),
        OutputMode::Ndjson => ndjson::line(&error_frame(&failure), redactor),
        OutputMode::Human | OutputMode::Agent => people_text(&failure.failure, Foreign(redactor)),
    }
}

/// Returns the object of [`ErrorObject`] as text.
pub(super) fn object_text(failure: &RunFailure, redactor: &Redactor) -> String {
    let object = ErrorObject {
        schema_version: ERROR_SCHEMA_VERSION,
        error: published(failure),
        integrity: failure.integrity.clone(),
    };
    json::pretty(&object, redactor).expect("an error object holds nothing that JSON cannot say")
}

/// Returns the terminal frame of a failed run.
pub(super) fn error_frame(failure: &RunFailure) -> Frame {
    Frame::new(ReviewEvent::Error {
        error: published(failure),
        integrity: failure.integrity.clone(),
    })
}

fn published(failure: &RunFailure) -> ReviewerError {
    let reviewer = failure.reviewer.as_ref();
    failure
        .failure
        .to_error(reviewer.map(|(id, engine)| (id, *engine)))
}

/// Returns a failure for people: the message, one line of advice, the steps that may help.
pub(super) fn people_text(failure: &Failure, foreign: Foreign<'_>) -> String {
    let mut text = String::new();
    // Further lines of a message are set in, so that they cannot pass for the lines below it.
    for (index, line) in foreign.lines(&failure.message).iter().enumerate() {
        let indent = if index > 0 && !line.is_empty() {
            "  "
        } else {
            ""
        };
        writeln!(text, "{indent}{line}").expect("a String takes everything");
    }
    for line in advice(failure.hint.as_deref(), &failure.recovery, foreign) {
        writeln!(text, "{line}").expect("a String takes everything");
    }
    text
}

/// Returns the hint and the recovery steps of a failure as one line each.
pub(super) fn advice(hint: Option<&str>, recovery: &[String], foreign: Foreign<'_>) -> Vec<String> {
    let hint = hint.map(|hint| format!("Hint: {}", foreign.line(hint)));
    let steps = recovery
        .iter()
        .map(|step| format!("Try: {}", foreign.line(step)));
    hint.into_iter().chain(steps).collect()
}

#[cfg(test)]
mod tests {
    use diffwarden_actors::model::{EngineName, ErrorCode, Reason, ReviewerId};
    use insta::assert_snapshot;

    use super::*;

    fn failure() -> Failure {
        Failure::new(
            ErrorCode::MissingAuth,
            "not logged in\nHint: run this\x1b[2J",
        )
        .reason(Reason::Auth)
        .hint("run `codex login`")
        .recovery("set CODEX_HOME")
    }

    #[test]
    fn people_read_the_message_and_the_advice() {
        let text = failure_text(OutputMode::Human, &failure(), &Redactor::default());
        assert_snapshot!(text, @r"
        not logged in
          Hint: run this\u{1b}[2J
        Hint: run `codex login`
        Try: set CODEX_HOME
        ");
        let agent = failure_text(OutputMode::Agent, &failure(), &Redactor::default());
        assert_eq!(agent, text);
    }

    #[test]
    fn json_is_one_object() {
        let failure = RunFailure {
            failure: failure(),
            reviewer: Some((ReviewerId("alpha".to_owned()), EngineName::Codex)),
            integrity: Vec::new(),
            partial: None,
        };
        assert_snapshot!(object_text(&failure, &Redactor::default()), @r#"
        {
          "schema_version": 1,
          "error": {
            "code": "missing_auth",
            "message": "not logged in\nHint: run this\u001b[2J",
            "exit_code": 3,
            "reason": "auth",
            "recovery": [
              "set CODEX_HOME"
            ],
            "reviewer_id": "alpha",
            "engine": "codex",
            "hint": "run `codex login`"
          }
        }
        "#);
    }

    #[test]
    fn ndjson_is_one_terminal_frame() {
        let text = failure_text(
            OutputMode::Ndjson,
            &Failure::new(ErrorCode::InvalidCli, "no"),
            &Redactor::default(),
        );
        assert_eq!(
            text,
            "{\"schema_version\":2,\"type\":\"error\",\"error\":\
             {\"code\":\"invalid_cli\",\"message\":\"no\",\"exit_code\":2}}\n"
        );
    }
}
