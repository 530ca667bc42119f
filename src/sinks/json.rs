//! `--json`: the artifact, or one error object, at the end (SPEC 14.3).

use std::io::{self, Write};
use std::sync::Arc;

use diffwarden_actors::model::Frame;
use diffwarden_actors::sink::{RunOutcome, Sink};
use serde::Serialize;

use super::error_text::object_text;
use super::output::write_all;
use super::progress::Progress;
use super::redact::Redactor;
use crate::artifact::artifact_text;

/// Returns a value as every JSON output of diffwarden looks: two spaces of indent, a final line
/// end, no secrets.
///
/// # Errors
///
/// Fails for a value that JSON cannot say, such as a map whose keys are no text.
pub(crate) fn pretty(value: &impl Serialize, redactor: &Redactor) -> serde_json::Result<String> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(redactor.redact_json(&text).into_owned())
}

/// Prints one JSON object when the run is over.
pub(super) struct JsonSink<O, E> {
    out: O,
    err: E,
    progress: Progress,
    redactor: Arc<Redactor>,
}

impl<O, E> JsonSink<O, E> {
    pub(super) fn new(out: O, err: E, progress: Progress, redactor: Arc<Redactor>) -> Self {
        Self {
            out,
            err,
            progress,
            redactor,
        }
    }
}

impl<O: Write + Send, E: Write + Send> Sink for JsonSink<O, E> {
    fn event(&mut self, frame: &Frame) -> io::Result<()> {
        self.progress.show(frame, &mut self.err, &self.redactor);
        Ok(())
    }

    fn finish(mut self: Box<Self>, outcome: &RunOutcome) -> io::Result<()> {
        let text = match outcome {
            RunOutcome::Finished(artifact) => artifact_text(artifact, &self.redactor),
            RunOutcome::Failed(failure) => object_text(failure, &self.redactor),
        };
        write_all(&mut self.out, &text)
    }
}
