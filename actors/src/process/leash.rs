//! What bounds a task from outside, and why one ended without a result.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::model::Failure;
use crate::schedule::StopLevel;

/// What bounds a task from outside.
#[derive(Debug, Clone)]
pub(crate) struct Leash {
    /// Whether the task has to end, and how fast.
    pub(crate) stop: watch::Receiver<StopLevel>,
    /// When the task's time is over.
    pub(crate) deadline: Option<Instant>,
    /// How long a child may take to end after it was asked to.
    pub(crate) grace: Duration,
    /// How many bytes of each stream are taken.
    pub(crate) max_output: usize,
    /// The root of the reviewed work tree, whose programs no child may find.
    pub(crate) repo_root: Arc<Path>,
    /// The folder that engines run in: that root, or a snapshot of it.
    pub(crate) work_root: Arc<Path>,
}

/// Why a task ended without a result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Halt {
    /// It failed.
    Failed(Failure),
    /// Its time was over.
    Deadline,
    /// The run is being stopped.
    Stopped,
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl Leash {
    /// Waits until the task has to end, and returns why.
    pub(crate) async fn halted(&mut self) -> Halt {
        tokio::select! {
            () = at(self.deadline) => Halt::Deadline,
            () = reached(&mut self.stop, StopLevel::Gracefully) => Halt::Stopped,
        }
    }

    /// Returns once the grace is over, or at once when there is none any more.
    pub(crate) async fn grace_over(&mut self) {
        let end = Instant::now() + self.grace;
        tokio::select! {
            () = sleep_until(end) => {}
            () = reached(&mut self.stop, StopLevel::Now) => {}
        }
    }
}

/// Returns at `instant`; never without one.
pub(super) async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

/// Returns once the stop level is at least `level`.
pub(super) async fn reached(stop: &mut watch::Receiver<StopLevel>, level: StopLevel) {
    if stop.wait_for(|&now| now >= level).await.is_err() {
        // The sender is gone: nobody will ever ask.
        std::future::pending::<()>().await;
    }
}
