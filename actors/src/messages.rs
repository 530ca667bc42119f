//! All messages between actors. They carry channels and may change freely; what a user sees is
//! `ReviewEvent`.

use actix::prelude::*;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::engine::Progress;
use crate::model::ReviewerEntry;
use crate::schedule::{Slot, StopLevel};
use crate::sink::{Interrupt, RunOutcome};

/// Main to supervisor: begin, and hand the outcome over.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Start {
    /// Where the outcome goes.
    pub(crate) done: oneshot::Sender<RunOutcome>,
    /// When the time of the run began to count.
    pub(crate) began: Instant,
}

/// Main to supervisor: a signal came or an output is closed.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Interrupted(pub(crate) Interrupt);

/// Supervisor to lane: this reviewer (by its position) has its permit.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Permit(pub(crate) usize);

/// Supervisor to lane: end everything of it that runs.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct StopLane(pub(crate) StopLevel);

/// Lane to reviewer: review. No answer means that the reviewer is dead.
#[derive(Message)]
#[rtype(result = "ReviewerEntry")]
pub(crate) struct Review;

/// Lane to reviewer: end what runs.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct StopReview(pub(crate) StopLevel);

/// Lane to supervisor: a reviewer ended and gives its permit back.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct PermitDone {
    pub(crate) slot: Slot,
    pub(crate) succeeded: bool,
}

/// Reviewer to supervisor: it has to wait for its provider and gives its permit back meanwhile.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct PermitPaused(pub(crate) Slot);

/// Reviewer to supervisor: its wait is over. Answered when it has a permit again; no answer means
/// that the run ends.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct PermitWanted(pub(crate) Slot);

/// Supervisor to aggregator: the run begins.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct RunBegan;

/// Anybody to aggregator: something happened to a reviewer.
#[derive(Message)]
#[rtype(result = "()")]
pub(crate) struct Observed {
    pub(crate) slot: Slot,
    pub(crate) fact: Fact,
}

/// What can happen to a reviewer, in this order.
pub(crate) enum Fact {
    /// Its preflight ended.
    PreflightDone { ok: bool, timing_ms: u64 },
    /// It begins to review.
    Started,
    /// It shows a sign of life.
    Progress { progress: Progress, elapsed_ms: u64 },
    /// It is done.
    Ended(Box<ReviewerEntry>),
}

/// Supervisor to aggregator: everybody is done; make the outcome.
#[derive(Message)]
#[rtype(result = "RunOutcome")]
pub(crate) struct Conclude {
    /// What ended the run early.
    pub(crate) interrupt: Option<Interrupt>,
}
