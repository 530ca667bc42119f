//! Where a run's events and outcome go: one sink per output mode.
//!
//! A sink owns its writers and nothing else. Foreign words pass through `foreign` (redacted, then
//! made safe to look at) before they are laid out for people; JSON is redacted as it is written.
//! Only `output` touches the standard streams.

mod agent;
mod error_text;
mod findings;
mod foreign;
mod human;
pub(crate) mod json;
mod lanes;
mod ndjson;
pub mod output;
mod progress;
pub mod redact;
pub mod sanitize;
mod secrets;
mod sheet;
mod style;
mod summary;
mod wrap;

use std::io::Write;
use std::sync::Arc;

use diffwarden_actors::model::RunArtifact;
use diffwarden_actors::sink::Sink;

pub use error_text::ErrorObject;
pub use foreign::Foreign;
pub use redact::Redactor;
pub use style::Style;

pub(crate) use sheet::{Cell, Sheet};
pub(crate) use style::Role;

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputMode {
    /// Text for people, as it happens.
    #[default]
    Human,
    /// Text for a coding agent, at the end (`--agent`).
    Agent,
    /// The artifact as one JSON object, at the end (`--json`).
    Json,
    /// One JSON frame per line, as it happens (`--ndjson`).
    Ndjson,
}

/// How to print, decided before the run.
#[derive(Debug, Clone)]
pub struct SinkOptions {
    /// The mode.
    pub mode: OutputMode,
    /// How to print to standard output.
    pub style: Style,
    /// How to print progress to standard error in the modes that say nothing until the end;
    /// `None` for no progress (see [`output::stderr_style`]).
    pub progress: Option<Style>,
    /// Takes secrets out of everything that is written.
    pub redactor: Arc<Redactor>,
}

/// Builds the sink of a mode over the two streams.
pub fn sink_for<O, E>(options: SinkOptions, out: O, err: E) -> Box<dyn Sink>
where
    O: Write + Send + 'static,
    E: Write + Send + 'static,
{
    let SinkOptions {
        mode,
        style,
        progress,
        redactor,
    } = options;
    let silent_until_the_end = matches!(mode, OutputMode::Agent | OutputMode::Json);
    let progress = progress::Progress::new(progress.filter(|_| silent_until_the_end));
    match mode {
        OutputMode::Human => Box::new(human::HumanSink::new(out, err, style, redactor)),
        OutputMode::Agent => Box::new(agent::AgentSink::new(out, err, progress, redactor)),
        OutputMode::Json => Box::new(json::JsonSink::new(out, err, progress, redactor)),
        OutputMode::Ndjson => Box::new(ndjson::NdjsonSink::new(out, redactor)),
    }
}

/// Returns a finished artifact as `review show` prints it. There is no event stream to replay, so
/// NDJSON gives its terminal frame alone.
pub fn render_artifact(
    artifact: &RunArtifact,
    mode: OutputMode,
    style: Style,
    redactor: &Redactor,
) -> String {
    match mode {
        OutputMode::Human => human::saved_text(artifact, style, redactor),
        OutputMode::Agent => agent::text(artifact, redactor),
        OutputMode::Json => crate::artifact::artifact_text(artifact, redactor),
        OutputMode::Ndjson => ndjson::final_line(artifact, redactor),
    }
}

#[cfg(test)]
mod tests;
