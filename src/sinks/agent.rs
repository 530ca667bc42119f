//! `--agent`: plain text for a coding agent, at the end (SPEC 14.2).
//!
//! A line that begins in the first column is diffwarden's own. What reviewers wrote stands behind
//! a label on one line, or is set in by two columns, so no answer can forge a line of ours.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::sync::Arc;

use diffwarden_actors::model::{Frame, RunArtifact};
use diffwarden_actors::sink::{RunFailure, RunOutcome, Sink};

use super::error_text::people_text;
use super::findings::{FindingView, integrity_views};
use super::foreign::Foreign;
use super::lanes::{LaneEnding, LaneView};
use super::output::write_all;
use super::progress::Progress;
use super::redact::Redactor;
use super::summary::{FIXTURE_NOTE, FailedView, Summary};

/// Prints the summary when the run is over; a failure goes to standard error.
pub(super) struct AgentSink<O, E> {
    out: O,
    err: E,
    progress: Progress,
    redactor: Arc<Redactor>,
}

impl<O, E> AgentSink<O, E> {
    pub(super) fn new(out: O, err: E, progress: Progress, redactor: Arc<Redactor>) -> Self {
        Self {
            out,
            err,
            progress,
            redactor,
        }
    }
}

impl<O: Write + Send, E: Write + Send> Sink for AgentSink<O, E> {
    fn event(&mut self, frame: &Frame) -> io::Result<()> {
        self.progress.show(frame, &mut self.err, &self.redactor);
        Ok(())
    }

    fn finish(mut self: Box<Self>, outcome: &RunOutcome) -> io::Result<()> {
        match outcome {
            RunOutcome::Finished(artifact) => {
                write_all(&mut self.out, &text(artifact, &self.redactor))
            }
            RunOutcome::Failed(failure) => {
                write_all(&mut self.err, &failure_text(failure, &self.redactor))
            }
        }
    }
}

/// Returns the summary of an artifact.
pub(super) fn text(artifact: &RunArtifact, redactor: &Redactor) -> String {
    let text = layout(&Summary::of(artifact, Foreign(redactor)));
    redactor.redact(&text).into_owned()
}

fn failure_text(failure: &RunFailure, redactor: &Redactor) -> String {
    let foreign = Foreign(redactor);
    let mut text = people_text(&failure.failure, foreign);
    push_findings(
        &mut text,
        "Integrity findings:",
        &integrity_views(&failure.integrity, foreign),
    );
    redactor.redact(&text).into_owned()
}

fn layout(summary: &Summary) -> String {
    let mut text = head(summary);
    push_list(&mut text, "Warnings:", &summary.warnings);
    push_failures(&mut text, &summary.failures);
    push_list(&mut text, "Not sent whole:", &summary.coverage);
    if summary.findings.is_empty() {
        push(&mut text, format_args!("\n{}", summary.no_findings));
    }
    let heading = match summary.lanes {
        None => "Findings:",
        Some(_) => "Merged findings:",
    };
    push_findings(&mut text, heading, &summary.findings);
    push_lanes(&mut text, summary.lanes.as_deref().unwrap_or_default());
    if !summary.explanation.is_empty() {
        push(&mut text, format_args!("\nOverall explanation:"));
        push_lines(&mut text, &summary.explanation);
    }
    text
}

fn head(summary: &Summary) -> String {
    let (title, answering) = match summary.lanes {
        None => ("Diffwarden Review", "Reviewer status"),
        Some(_) => ("Diffwarden Review Batch", "Lane status"),
    };
    let mut text = format!(
        "{title}\n\
         Target: {}\n\
         Verdict: {}\n\
         Confidence: {}\n\
         Findings: {}\n\
         Reviewers: {}\n\
         {answering}: {} passed, {} failed\n\
         Trust: {}\n",
        summary.target,
        summary.verdict,
        summary.confidence,
        summary.counts,
        summary.reviewers,
        summary.passed,
        summary.failed,
        summary.trust,
    );
    if summary.is_fixture {
        push(&mut text, format_args!("Note: {FIXTURE_NOTE}"));
    }
    text
}

fn push_failures(text: &mut String, failures: &[FailedView]) {
    if failures.is_empty() {
        return;
    }
    push(text, format_args!("\nFailed reviewers:"));
    for failed in failures {
        push(text, format_args!("- {}", failed.message));
        push_cause(text, failed);
    }
}

fn push_cause(text: &mut String, failed: &FailedView) {
    push(text, format_args!("  Code: {}", failed.kind));
    for advice in &failed.advice {
        push(text, format_args!("  {advice}"));
    }
}

/// Appends what each lane found, in short: the findings themselves stand above, with their lanes.
fn push_lanes(text: &mut String, lanes: &[LaneView]) {
    if lanes.is_empty() {
        return;
    }
    push(text, format_args!("\nLanes:"));
    for lane in lanes {
        push(text, format_args!("- {}", lane.name));
        push(text, format_args!("  Status: {}", lane.status()));
        match &lane.ending {
            LaneEnding::Reviewed(review) => {
                push(text, format_args!("  Verdict: {}", review.verdict));
                push(text, format_args!("  Findings: {}", review.counts));
                push(text, format_args!("  Reviewers: {}", review.reviewers));
                for failed in &review.failures {
                    push(text, format_args!("  Failed reviewer: {}", failed.message));
                    push_cause(text, failed);
                }
            }
            LaneEnding::Failed(failed) => {
                push(text, format_args!("  Error: {}", failed.message));
                push_cause(text, failed);
            }
        }
    }
}

fn push_findings(text: &mut String, heading: &str, findings: &[FindingView]) {
    if findings.is_empty() {
        return;
    }
    push(text, format_args!("\n{heading}"));
    for (index, finding) in findings.iter().enumerate() {
        let number = index + 1;
        push(
            text,
            format_args!("{number}. {} {}", finding.label(), finding.title),
        );
        push(text, format_args!("File: {}", finding.location));
        if let Some(doubt) = &finding.doubt {
            push(
                text,
                format_args!("Location: does not touch the change: {doubt}"),
            );
        }
        push(text, format_args!("Confidence: {}", finding.confidence));
        push(text, format_args!("Reviewers: {}", finding.reviewers));
        if let Some(lanes) = &finding.lanes {
            push(text, format_args!("Lanes: {lanes}"));
        }
        if !finding.body.is_empty() {
            push(text, format_args!("Body:"));
            push_lines(text, &finding.body);
        }
    }
}

fn push_list(text: &mut String, heading: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    push(text, format_args!("\n{heading}"));
    for item in items {
        push(text, format_args!("- {item}"));
    }
}

/// Appends foreign lines, set in.
fn push_lines(text: &mut String, lines: &[String]) {
    for line in lines {
        if line.is_empty() {
            text.push('\n');
        } else {
            push(text, format_args!("  {line}"));
        }
    }
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{line}").expect("a String takes everything");
}
