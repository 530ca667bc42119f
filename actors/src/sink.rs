//! Where a run's events and its outcome go.
//!
//! A sink writes to something that may be slow or closed, so each lives on a thread of its own
//! behind an unbounded queue (events are few and small; engine output never passes here). Nobody
//! waits for a sink until the run is over.

use std::io;
use std::sync::Arc;

use crate::model::{Failure, Frame, ReviewArtifact};

/// One consumer of a run.
pub trait Sink: Send {
    /// Takes an event that is not terminal.
    ///
    /// # Errors
    ///
    /// Fails when the output is closed or full; the run is then cancelled.
    fn event(&mut self, frame: &Frame) -> io::Result<()>;

    /// Takes how the run ended. This is the only place that writes a terminal frame, so there is
    /// exactly one.
    ///
    /// # Errors
    ///
    /// Fails when the output is closed or full.
    fn finish(self: Box<Self>, outcome: &RunOutcome) -> io::Result<()>;
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum RunOutcome {
    /// With an artifact, perhaps of a partial review.
    Finished(Arc<ReviewArtifact>),
    /// Without one.
    Failed(RunFailure),
}

/// Why a run has no artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFailure {
    /// The terminal error.
    pub failure: Failure,
    /// The reviewer it belongs to, when it is one's.
    pub reviewer: Option<(crate::model::ReviewerId, crate::model::EngineName)>,
    /// What diffwarden itself found; it is kept when every reviewer fails.
    pub integrity: Vec<crate::model::Finding>,
}

/// What can end a run from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupt {
    /// A signal with this number. The first asks, the second ends at once.
    Signal(i32),
    /// Nobody reads the output any more, or it is full.
    OutputClosed,
}

/// Sends [`Interrupt`]s to a run, from any thread.
pub type InterruptSender = tokio::sync::mpsc::UnboundedSender<Interrupt>;

/// Where a run hears of [`Interrupt`]s.
pub type InterruptReceiver = tokio::sync::mpsc::UnboundedReceiver<Interrupt>;
