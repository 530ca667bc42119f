//! `--ndjson`: one frame per line, as it happens (SPEC 14.4).

use std::io::{self, Write};
use std::sync::Arc;

use diffwarden_actors::model::{Frame, ReviewEvent, RunArtifact};
use diffwarden_actors::sink::{RunOutcome, Sink};

use super::error_text::error_frame;
use super::json::escape_active;
use super::output::write_all;
use super::redact::Redactor;

/// Writes every event as a line of JSON and ends with exactly one terminal frame.
pub(super) struct NdjsonSink<O> {
    out: O,
    redactor: Arc<Redactor>,
}

impl<O> NdjsonSink<O> {
    pub(super) fn new(out: O, redactor: Arc<Redactor>) -> Self {
        Self { out, redactor }
    }
}

impl<O: Write + Send> Sink for NdjsonSink<O> {
    fn event(&mut self, frame: &Frame) -> io::Result<()> {
        debug_assert!(
            !frame.event.is_terminal(),
            "`finish` writes terminal frames"
        );
        write_all(&mut self.out, &line(frame, &self.redactor))
    }

    fn finish(mut self: Box<Self>, outcome: &RunOutcome) -> io::Result<()> {
        let text = match outcome {
            RunOutcome::Finished(artifact) => final_line(artifact, &self.redactor),
            RunOutcome::Failed(failure) => line(&error_frame(failure), &self.redactor),
        };
        write_all(&mut self.out, &text)
    }
}

/// Returns the terminal frame of an artifact as a line.
pub(super) fn final_line(artifact: &RunArtifact, redactor: &Redactor) -> String {
    let artifact = artifact.clone();
    line(&Frame::new(ReviewEvent::FinalResult { artifact }), redactor)
}

/// Returns a frame as one line with its end.
pub(super) fn line(frame: &Frame, redactor: &Redactor) -> String {
    let json = serde_json::to_string(frame).expect("a frame holds nothing that JSON cannot say");
    let mut text = escape_active(&redactor.redact_json(&json)).into_owned();
    text.push('\n');
    text
}
