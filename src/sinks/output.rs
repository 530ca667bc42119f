//! The one module that touches the standard streams.
//!
//! Each write takes the stream's lock for itself and lets it go again: a sink's thread that held
//! it while a pipe is full would keep everybody else from saying that it is full.

use std::io::{self, IsTerminal as _, Write};
use std::time::Duration;

use diffwarden_actors::model::Failure;
use serde::Serialize;

use super::redact::Redactor;
use super::style::Style;
use super::{OutputMode, error_text, json};
use crate::env::Environment;

/// How long to wait before a non-blocking stream that is full is tried again.
const RETRY: Duration = Duration::from_millis(5);

/// Standard output.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stdout;

/// Standard error.
#[derive(Debug, Clone, Copy, Default)]
pub struct Stderr;

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        patiently(|| io::stdout().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        patiently(|| io::stdout().flush())
    }
}

impl Write for Stderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        patiently(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        patiently(|| io::stderr().flush())
    }
}

/// Repeats a write while the stream is full. The parent may have made the terminal or pipe
/// non-blocking (Node does), and then "full" arrives as an error although nothing is wrong.
fn patiently<T>(mut write: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match write() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::sleep(RETRY),
            result => return result,
        }
    }
}

/// Whether an error of an output means that its reader went away, which is a normal end, and not
/// that something is wrong, such as a full disk.
pub fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::BrokenPipe
}

/// Decides how to print to standard output.
pub fn stdout_style(environment: &Environment) -> Style {
    let is_terminal = io::stdout().is_terminal();
    Style::decide(environment, is_terminal, terminal_width(is_terminal))
}

/// Decides how to print to standard error; `None` when it is no terminal, where progress would
/// only fill a log.
pub fn stderr_style(environment: &Environment) -> Option<Style> {
    let is_terminal = io::stderr().is_terminal();
    is_terminal.then(|| Style::decide(environment, true, terminal_width(true)))
}

fn terminal_width(is_terminal: bool) -> Option<usize> {
    // `crossterm::terminal::size` would start `tput` when the system does not say.
    let size = is_terminal.then(crossterm::terminal::window_size)?.ok()?;
    (size.columns > 0).then_some(usize::from(size.columns))
}

/// Prints text that is ready, such as diffwarden's own help or what
/// [`render_artifact`](super::render_artifact) returns, to standard output.
///
/// # Errors
///
/// Fails when the output is closed (see [`is_closed`]) or full.
pub fn print_text(text: &str) -> io::Result<()> {
    write_all(&mut Stdout, text)
}

/// Prints text that holds foreign words to standard output. Each of them must have gone through
/// [`Foreign`](super::Foreign).
///
/// # Errors
///
/// Fails when the output is closed (see [`is_closed`]) or full.
pub fn print_report(text: &str, redactor: &Redactor) -> io::Result<()> {
    write_all(&mut Stdout, &redactor.redact(text))
}

/// Prints a value as JSON to standard output, with two spaces of indent and a final line end.
///
/// # Errors
///
/// Fails when the output is closed (see [`is_closed`]) or full, and for a value that JSON cannot
/// say.
pub fn print_json(value: &impl Serialize, redactor: &Redactor) -> io::Result<()> {
    write_all(&mut Stdout, &json::pretty(value, redactor)?)
}

/// Prints a note for people to standard error. Foreign words in it must have gone through
/// [`Foreign`](super::Foreign). That nobody can read it is no reason to stop, and there is no
/// place left to say so.
pub fn print_note(text: &str, redactor: &Redactor) {
    write_all(&mut Stderr, &redactor.redact(text)).ok();
}

/// Prints a failure that happened before there was a run to report it: as one JSON object or one
/// terminal frame on standard output in the JSON modes, else as text on standard error.
///
/// # Errors
///
/// Fails when the output is closed (see [`is_closed`]) or full.
pub fn print_error(mode: OutputMode, failure: &Failure, redactor: &Redactor) -> io::Result<()> {
    let text = error_text::failure_text(mode, failure, redactor);
    match mode {
        OutputMode::Json | OutputMode::Ndjson => write_all(&mut Stdout, &text),
        OutputMode::Human | OutputMode::Agent => write_all(&mut Stderr, &text),
    }
}

/// Ends the process, whatever its other threads do: what they have said is said, and they may
/// wait for readers that never come.
pub(crate) fn end(code: u8) -> ! {
    #[expect(
        clippy::exit,
        reason = "a signal ends the program while its main thread may be waiting"
    )]
    std::process::exit(i32::from(code))
}

/// Writes a whole text and flushes it.
pub(super) fn write_all(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_stream_is_tried_again() {
        let mut answers = vec![Ok(3), Err(io::ErrorKind::WouldBlock.into())];
        let written = patiently(|| answers.pop().unwrap());
        assert_eq!(written.unwrap(), 3);
    }

    #[test]
    fn other_errors_are_told_at_once() {
        let error = patiently(|| Err::<usize, _>(io::ErrorKind::BrokenPipe.into())).unwrap_err();
        assert!(is_closed(&error));
        let error = patiently(|| Err::<usize, _>(io::ErrorKind::StorageFull.into())).unwrap_err();
        assert!(!is_closed(&error));
    }
}
