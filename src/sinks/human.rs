//! The display for people: lines as things happen, then the result (SPEC 14.1).
//!
//! Text is only ever appended, so it reads the same in a terminal, a log and a pipe.

use std::fmt::{Display, Write as _};
use std::io::{self, Write};
use std::sync::Arc;

use diffwarden_actors::model::{Frame, Priority, RunArtifact};
use diffwarden_actors::sink::{RunFailure, RunOutcome, Sink};

use super::error_text::people_text;
use super::findings::{FindingView, integrity_views};
use super::foreign::Foreign;
use super::lanes::{LaneEnding, LaneView, asked_in};
use super::output::{is_closed, write_all};
use super::progress::{event_text, title_lines};
use super::redact::Redactor;
use super::style::{Role, Style};
use super::summary::{FIXTURE_NOTE, FailedView, Summary, asked};
use super::wrap::push_wrapped;

/// Shows a run as it happens, and its result.
pub(super) struct HumanSink<O, E> {
    out: O,
    err: E,
    style: Style,
    redactor: Arc<Redactor>,
    /// Whether nobody reads standard output any more.
    is_closed: bool,
}

impl<O, E> HumanSink<O, E> {
    pub(super) fn new(out: O, err: E, style: Style, redactor: Arc<Redactor>) -> Self {
        Self {
            out,
            err,
            style,
            redactor,
            is_closed: false,
        }
    }
}

impl<O: Write + Send, E: Write + Send> Sink for HumanSink<O, E> {
    fn event(&mut self, frame: &Frame) -> io::Result<()> {
        if self.is_closed {
            return Ok(());
        }
        let text = event_text(frame, self.style, Foreign(&self.redactor));
        let written = text.map_or(Ok(()), |text| write_all(&mut self.out, &text));
        match written {
            // Somebody who has seen enough (`| head -1`) does not end the review, whose exit code
            // others wait for.
            Err(error) if is_closed(&error) => {
                self.is_closed = true;
                Ok(())
            }
            written => written,
        }
    }

    fn finish(mut self: Box<Self>, outcome: &RunOutcome) -> io::Result<()> {
        match outcome {
            RunOutcome::Finished(artifact) => {
                let text = result_text(artifact, self.style, &self.redactor);
                write_all(&mut self.out, &text)
            }
            RunOutcome::Failed(failure) => {
                let text = failure_text(failure, self.style, &self.redactor);
                let told = write_all(&mut self.out, &text);
                // The advice is for people, who may have closed standard output and not this.
                let text = people_text(&failure.failure, Foreign(&self.redactor));
                write_all(&mut self.err, &text)?;
                told
            }
        }
    }
}

/// Returns a saved artifact as `review show` prints it: what a run begins with, and its result.
pub(super) fn saved_text(artifact: &RunArtifact, style: Style, redactor: &Redactor) -> String {
    let foreign = Foreign(redactor);
    let mut text = match artifact {
        RunArtifact::Review(review) => {
            title_lines(&review.target, asked(review), None, style, foreign)
        }
        RunArtifact::Batch(batch) => {
            let asked = asked_in(batch).into_iter();
            title_lines(&batch.target, asked, Some(&batch.plan), style, foreign)
        }
    };
    text.push_str(&result_text(artifact, style, redactor));
    text
}

/// Returns the result of a run, with the blank line before it.
fn result_text(artifact: &RunArtifact, style: Style, redactor: &Redactor) -> String {
    let mut page = Page::new(style);
    page.result(&Summary::of(artifact, Foreign(redactor)));
    redactor.redact(&page.text).into_owned()
}

/// Returns what standard output says at the end of a run that has no artifact.
fn failure_text(failure: &RunFailure, style: Style, redactor: &Redactor) -> String {
    let foreign = Foreign(redactor);
    let mut page = Page::new(style);
    let label = style.paint(Role::Danger, "Review failed:");
    let message = foreign.line(&failure.failure.message);
    page.wrapped("Review failed: ".len(), "  ", label, &format!(" {message}"));
    let findings = integrity_views(&failure.integrity, foreign);
    if !findings.is_empty() {
        page.heading("Integrity findings");
        page.findings(&findings);
    }
    redactor.redact(&page.text).into_owned()
}

/// A text under construction.
struct Page {
    text: String,
    style: Style,
}

impl Page {
    fn new(style: Style) -> Self {
        Self {
            text: String::new(),
            style,
        }
    }

    fn result(&mut self, summary: &Summary) {
        self.heading(match summary.lanes {
            None => "Result",
            Some(_) => "Batch Result",
        });
        self.facts(summary);
        self.list("Warnings", Role::Warning, &summary.warnings);
        self.failures(&summary.failures);
        self.list("Not sent whole", Role::Muted, &summary.coverage);
        if summary.findings.is_empty() {
            self.line(format_args!("\n{}", summary.no_findings));
        } else {
            self.heading(match summary.lanes {
                None => "Findings",
                Some(_) => "Merged findings",
            });
            self.findings(&summary.findings);
        }
        for lane in summary.lanes.iter().flatten() {
            self.lane(lane);
        }
        if !summary.explanation.is_empty() {
            self.heading("Overall explanation");
            self.block("  ", &summary.explanation);
        }
    }

    fn facts(&mut self, summary: &Summary) {
        let style = self.style;
        self.verdict(&summary.verdict);
        self.line(format_args!("Confidence: {}", summary.confidence));
        self.line(format_args!("Findings: {}", summary.counts));
        let answering = match summary.lanes {
            None => "Reviewers",
            Some(_) => "Lanes",
        };
        self.line(format_args!(
            "{answering}: {} passed, {} failed",
            summary.passed, summary.failed
        ));
        let trust = if summary.is_clean {
            Role::Success
        } else {
            Role::Warning
        };
        self.line(format_args!(
            "Trust: {}",
            style.paint(trust, &summary.trust)
        ));
        if summary.is_fixture {
            let note = style.paint(Role::Warning, FIXTURE_NOTE);
            self.line(format_args!("Note: {note}"));
        }
    }

    fn failures(&mut self, failures: &[FailedView]) {
        if failures.is_empty() {
            return;
        }
        self.heading("Failed reviewers");
        for failed in failures {
            self.failure("-", failed);
        }
    }

    /// Appends a failure behind a label.
    fn failure(&mut self, label: &str, failed: &FailedView) {
        let mark = self.style.paint(Role::Danger, label);
        self.wrapped(label.len(), "  ", mark, &format!(" {}", failed.message));
        let kind = self.style.paint(Role::Muted, &failed.kind);
        self.line(format_args!("  {kind}"));
        self.block("  ", &failed.advice);
    }

    fn verdict(&mut self, verdict: &str) {
        let role = match verdict {
            "patch is correct" => Role::Success,
            "patch is incorrect" => Role::Danger,
            _ => Role::Warning,
        };
        let verdict = self.style.paint(role, verdict);
        self.line(format_args!("Verdict: {verdict}"));
    }

    /// Appends a lane as a review of its own; what holds for the whole run is not told again.
    fn lane(&mut self, lane: &LaneView) {
        self.heading(&format!("Lane {}", lane.name));
        self.line(format_args!("Status: {}", lane.status()));
        let review = match &lane.ending {
            LaneEnding::Reviewed(review) => review,
            LaneEnding::Failed(failed) => return self.failure("Error:", failed),
        };
        self.verdict(&review.verdict);
        self.line(format_args!("Findings: {}", review.counts));
        self.line(format_args!("Reviewers: {}", review.reviewers));
        for failed in &review.failures {
            self.failure("Failed:", failed);
        }
        if review.findings.is_empty() {
            self.line("No lane findings.");
        }
        self.findings(&review.findings);
    }

    fn findings(&mut self, findings: &[FindingView]) {
        for finding in findings {
            self.finding(finding);
        }
    }

    fn finding(&mut self, finding: &FindingView) {
        let style = self.style;
        let label = finding.label();
        let lead = format!("- {}", style.paint(priority_role(finding.priority), &label));
        let columns = "- ".len() + label.len();
        self.wrapped(columns, "  ", lead, &format!(" {}", finding.title));
        let mut place = format!("  {} · {}", finding.location, finding.reviewers);
        if let Some(lanes) = &finding.lanes {
            place.push_str(" · lanes ");
            place.push_str(lanes);
        }
        self.line(style.paint(Role::Muted, place));
        if let Some(doubt) = &finding.doubt {
            let mark = style.paint(Role::Warning, "  Location:");
            let doubt = format!(" does not touch the change: {doubt}");
            self.wrapped("  Location:".len(), "  ", mark, &doubt);
        }
        self.block("  ", &finding.body);
    }

    /// Appends a blank line and a heading.
    fn heading(&mut self, heading: &str) {
        let heading = self.style.paint(Role::Heading, heading);
        self.line(format_args!("\n{heading}"));
    }

    fn list(&mut self, heading: &str, role: Role, items: &[String]) {
        if items.is_empty() {
            return;
        }
        self.heading(heading);
        for item in items {
            let mark = self.style.paint(role, "-");
            self.wrapped(1, "  ", mark, &format!(" {item}"));
        }
    }

    /// Appends lines behind an indent, wrapped.
    fn block(&mut self, indent: &str, lines: &[String]) {
        for line in lines {
            if line.is_empty() {
                self.text.push('\n');
            } else {
                self.wrapped(indent.len(), indent, indent, line);
            }
        }
    }

    /// Appends a lead of so many columns and a text behind it, wrapped, and a line end.
    fn wrapped(&mut self, columns: usize, indent: &str, lead: impl Display, text: &str) {
        write!(self.text, "{lead}").expect("a String takes everything");
        push_wrapped(&mut self.text, text, columns, indent, self.style.width);
        self.text.push('\n');
    }

    fn line(&mut self, line: impl Display) {
        writeln!(self.text, "{line}").expect("a String takes everything");
    }
}

fn priority_role(priority: Option<Priority>) -> Role {
    match priority {
        Some(Priority(0 | 1)) => Role::Danger,
        Some(Priority(2)) => Role::Warning,
        Some(Priority(_)) => Role::Accent,
        None => Role::Muted,
    }
}
