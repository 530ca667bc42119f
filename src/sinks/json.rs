//! `--json`: the artifact, or one error object, at the end (SPEC 14.3).

use std::borrow::Cow;
use std::fmt::Write as _;
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
    Ok(escape_active(&redactor.redact_json(&text)).into_owned())
}

/// Escapes the characters that JSON allows inside a string although a terminal obeys them, they
/// turn the order of letters around, or some readers end a line there (Python's `splitlines`,
/// JavaScript before 2019). They can stand in strings alone, so the value stays the same.
pub(super) fn escape_active(json: &str) -> Cow<'_, str> {
    if !json.contains(is_active) {
        return Cow::Borrowed(json);
    }
    let mut escaped = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if is_active(c) {
            write!(escaped, "\\u{:04x}", u32::from(c)).expect("a String takes everything");
        } else {
            escaped.push(c);
        }
    }
    Cow::Owned(escaped)
}

fn is_active(c: char) -> bool {
    matches!(
        c,
        '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        let json = escape_active("{\"a\":\"x\u{2028}y\u{85}z\u{2029}\u{9b}\u{7f}\u{202e}\"}");
        assert_eq!(
            json,
            "{\"a\":\"x\\u2028y\\u0085z\\u2029\\u009b\\u007f\\u202e\"}"
        );
        let value: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["a"], "x\u{2028}y\u{85}z\u{2029}\u{9b}\u{7f}\u{202e}");
    }

    proptest! {
        #[test]
        fn escaping_keeps_the_value(text in any::<String>()) {
            let value = serde_json::json!({ &text: [&text] });
            let json = value.to_string();
            let escaped = escape_active(&json);
            prop_assert!(!escaped.chars().any(char::is_control));
            prop_assert_eq!(serde_json::from_str::<Value>(&escaped).unwrap(), value);
        }
    }
}
