//! What is happening, one line per step. Lines are only ever added: no cursor moves, no raw mode.

use std::io::Write;

use diffwarden_actors::model::{
    EngineName, Frame, ReviewEvent, ReviewPlan, ReviewTarget, ReviewerEntry, ReviewerId,
    ReviewerSummary,
};

use super::foreign::Foreign;
use super::lanes::lane_name;
use super::output::write_all;
use super::redact::Redactor;
use super::style::{Role, Style};
use super::summary::{FIXTURE_NOTE, reviewer_names};

/// Progress on standard error, for modes that use standard output only at the end.
pub(super) struct Progress {
    /// `None` when nobody looks.
    style: Option<Style>,
}

impl Progress {
    /// Shows progress in this style, or none at all.
    pub(super) fn new(style: Option<Style>) -> Self {
        Self { style }
    }

    /// Shows an event. A standard error that cannot be written to must not end a run, so nothing
    /// more is shown from then on.
    pub(super) fn show(&mut self, frame: &Frame, err: &mut impl Write, redactor: &Redactor) {
        let Some(style) = self.style else {
            return;
        };
        if let Some(text) = event_text(frame, style, Foreign(redactor))
            && write_all(err, &text).is_err()
        {
            self.style = None;
        }
    }
}

/// Returns what an event looks like, line end included; nothing for a terminal event.
pub(super) fn event_text(frame: &Frame, style: Style, foreign: Foreign<'_>) -> Option<String> {
    let lane = frame.lane().map(|lane| foreign.line(&lane.0));
    let place = lane.as_ref().map(|lane| format!("[{lane}] "));
    let place = place.unwrap_or_default();
    let step = |role, mark: &str, id: &ReviewerId, what: &str| {
        let mark = style.paint(role, mark);
        format!("{mark} {place}{} {what}\n", foreign.line(&id.0))
    };
    let lane_step = |role, mark: &str, what: &str| {
        let mark = style.paint(role, mark);
        let lane = lane.as_deref().unwrap_or("without a name");
        format!("{mark} Lane {lane} {what}\n")
    };
    Some(match &frame.event {
        ReviewEvent::BatchStarted {
            target,
            reviewers,
            plan,
            ..
        } => head(target, reviewers, Some(plan), style, foreign),
        // The head of the batch has said what a lane reviews, and who does.
        ReviewEvent::RunStarted { .. } if lane.is_some() => lane_step(Role::Muted, "•", "started"),
        ReviewEvent::RunStarted {
            target, reviewers, ..
        } => head(target, reviewers, None, style, foreign),
        ReviewEvent::PreflightStarted { reviewer_id } => {
            step(Role::Muted, "•", reviewer_id, "preflight")
        }
        ReviewEvent::PreflightFinished {
            reviewer_id,
            ok: true,
            timing_ms,
        } => {
            let what = format!("preflight passed ({})", seconds(*timing_ms));
            step(Role::Success, "✓", reviewer_id, &what)
        }
        ReviewEvent::PreflightFinished {
            reviewer_id,
            ok: false,
            timing_ms,
        } => {
            let what = format!("preflight failed ({})", seconds(*timing_ms));
            step(Role::Danger, "✗", reviewer_id, &what)
        }
        ReviewEvent::ReviewerStarted { reviewer_id } => {
            step(Role::Accent, "→", reviewer_id, "reviewing")
        }
        ReviewEvent::ReviewerResult {
            reviewer_id,
            artifact,
            ..
        } => step(Role::Success, "✓", reviewer_id, &finished(artifact)),
        ReviewEvent::ReviewerFailed {
            reviewer_id,
            error,
            timing_ms,
        } => {
            let message = foreign.line(&error.message);
            let what = format!("failed ({}): {message}", seconds(*timing_ms));
            step(Role::Danger, "✗", reviewer_id, &what)
        }
        ReviewEvent::LaneFinished { timing_ms, .. } => {
            let what = format!("finished ({})", seconds(*timing_ms));
            lane_step(Role::Success, "✓", &what)
        }
        ReviewEvent::LaneFailed {
            error, timing_ms, ..
        } => {
            let message = foreign.line(&error.message);
            let what = format!("failed ({}): {message}", seconds(*timing_ms));
            lane_step(Role::Danger, "✗", &what)
        }
        ReviewEvent::ReviewerProgress { .. }
        | ReviewEvent::FinalResult { .. }
        | ReviewEvent::Error { .. } => return None,
    })
}

/// Returns the lines that a run begins with.
fn head(
    target: &ReviewTarget,
    reviewers: &[ReviewerSummary],
    plan: Option<&ReviewPlan>,
    style: Style,
    foreign: Foreign<'_>,
) -> String {
    let ids = reviewers.iter().map(|reviewer| &reviewer.id);
    let mut text = title_lines(target, ids, plan, style, foreign);
    if reviewers.iter().any(|one| one.engine == EngineName::Fake) {
        let note = style.paint(Role::Warning, FIXTURE_NOTE);
        text.push_str(&format!("Note: {note}\n"));
    }
    text
}

/// Returns the lines that say what is reviewed, by whom and in which lanes.
pub(super) fn title_lines<'a>(
    target: &ReviewTarget,
    reviewers: impl Iterator<Item = &'a ReviewerId>,
    plan: Option<&ReviewPlan>,
    style: Style,
    foreign: Foreign<'_>,
) -> String {
    let title = match plan {
        None => "diffwarden review",
        Some(_) => "diffwarden review batch",
    };
    let mut text = format!(
        "{}\nTarget: {}\nReviewers: {}\n",
        style.paint(Role::Heading, title),
        foreign.line(&target.label()),
        reviewer_names(reviewers, foreign),
    );
    if let Some(plan) = plan {
        let lanes = plan.lanes.iter().map(|lane| lane_name(lane, foreign));
        let lanes: Vec<_> = lanes.collect();
        text.push_str(&format!("Lanes: {}\n", lanes.join(", ")));
    }
    text
}

fn finished(entry: &ReviewerEntry) -> String {
    let timing = match entry {
        ReviewerEntry::Success(entry) => entry.timing_ms,
        ReviewerEntry::Failed(entry) => entry.timing_ms,
    };
    timing.map_or_else(
        || "finished".to_owned(),
        |timing| format!("finished ({})", seconds(timing)),
    )
}

/// Returns milliseconds as seconds with one decimal: `0.1s`.
fn seconds(milliseconds: u64) -> String {
    let tenths = milliseconds.saturating_add(50) / 100;
    format!("{}.{}s", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[test]
    fn times_are_rounded_to_tenths() {
        let shown = [0, 49, 50, 949, 950, 61_000].map(seconds);
        assert_eq!(shown, ["0.0s", "0.0s", "0.1s", "0.9s", "1.0s", "61.0s"]);
        assert!(!seconds(u64::MAX).is_empty());
    }

    struct Broken(usize);

    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_broken_standard_error_is_tried_once() {
        let frame = Frame::new(ReviewEvent::ReviewerStarted {
            reviewer_id: ReviewerId("a".to_owned()),
        });
        let mut progress = Progress::new(Some(Style::PLAIN));
        let mut err = Broken(0);
        progress.show(&frame, &mut err, &Redactor::default());
        progress.show(&frame, &mut err, &Redactor::default());
        assert_eq!(err.0, 1);
    }
}
