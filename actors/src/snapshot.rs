//! A frozen copy of the reviewed tree, which every engine of a run looks at.
//!
//! The plan says where it will lie and who writes it ([`TreeWriter`]); the run writes it before the
//! first reviewer begins and removes it before its outcome is handed over, on every path. Nothing
//! exists on disk before the run, so a plan that is never run leaves nothing.
//!
//! What must stay true: the copy lies in a private folder of its own, outside the repository;
//! nobody but diffwarden hears of its place, as every path below it is spelled as one of the
//! repository's on its way out (`Spelling`).

mod spelling;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until};

use crate::conclude::interrupted;
use crate::engine::CancelToken;
use crate::model::{Degraded, Failure, Snapshot};
use crate::plan::RunPlan;
use crate::process::crashed;
use crate::reviewer::{LONGEST_TIMEOUT, out_of_time};
use crate::run_dir::{self, RunDir};
use crate::sink::{InterruptReceiver, RunFailure, RunOutcome};

pub(crate) use spelling::Spelling;

/// The folder of the copy, below the private one.
const TREE: &str = "tree";

/// Writes the reviewed tree.
pub trait TreeWriter: Send + Sync {
    /// Writes the whole tree into `folder`, which exists and is empty. What is written when it
    /// fails, or is told to give up, is removed by the caller. May take as long as the tree is
    /// large.
    ///
    /// # Errors
    ///
    /// When the tree cannot be read or written, or is larger than allowed.
    fn write(&self, folder: &Path, cancel: &CancelToken) -> Result<Written, Failure>;
}

/// A tree that was written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Written {
    /// What the artifact says about it.
    pub record: Snapshot,
    /// What is not in it.
    pub degraded: Option<Degraded>,
}

/// A snapshot that a run will have.
#[derive(Clone)]
pub struct PlannedSnapshot {
    private: PathBuf,
    writer: Arc<dyn TreeWriter>,
    /// What was written; `None` before the run.
    pub record: Option<Snapshot>,
}

impl PlannedSnapshot {
    /// Chooses a place for the snapshot of the repository at `repo_root`. Nothing is created yet.
    ///
    /// # Errors
    ///
    /// Fails when there is no suitable folder outside the repository.
    pub fn choose(repo_root: &Path, writer: Arc<dyn TreeWriter>) -> Result<Self, Failure> {
        Ok(Self {
            private: run_dir::choose_roomy(repo_root)?,
            writer,
            record: None,
        })
    }

    /// Returns the root of the copy, absolute and without links.
    pub fn tree(&self) -> PathBuf {
        self.private.join(TREE)
    }
}

/// Writes the snapshot of a plan, when it has one. Hears of interrupts meanwhile.
///
/// # Errors
///
/// The outcome of a run that ended before it began.
pub(crate) async fn freeze(
    plan: &mut RunPlan,
    interrupts: &mut InterruptReceiver,
    began: Instant,
) -> Result<Option<RunDir>, RunOutcome> {
    let Some(snapshot) = plan.snapshot.clone() else {
        return Ok(None);
    };
    let cancel = CancelToken::default();
    let (token, tree) = (cancel.clone(), snapshot.tree());
    let mut writing = spawn_blocking(move || {
        let private = RunDir::create_at(&snapshot.private)?;
        std::fs::create_dir(&tree).map_err(|error| run_dir::unwritable(&tree, &error))?;
        // A failure drops the private folder, and with it what was written.
        let written = snapshot.writer.write(&tree, &token)?;
        Ok((private, written))
    });
    let max_time = plan.policy.max_time.map(|time| time.min(LONGEST_TIMEOUT));
    let over = async {
        match max_time {
            Some(time) => sleep_until(began + time).await,
            None => std::future::pending().await,
        }
    };
    let halted = tokio::select! {
        biased;
        written = &mut writing => {
            let (private, written) = written
                .unwrap_or_else(|error| Err(crashed(&error)))
                .map_err(|failure| unbegun(plan, failure))?;
            plan.degraded.extend(written.degraded);
            if let Some(snapshot) = &mut plan.snapshot {
                snapshot.record = Some(written.record);
            }
            return Ok(Some(private));
        }
        Some(interrupt) = interrupts.recv() => interrupted(interrupt),
        () = over => out_of_time("while the snapshot was written"),
    };
    cancel.cancel();
    if let Ok(Ok((private, _))) = writing.await {
        private.remove().await;
    }
    Err(unbegun(plan, halted))
}

/// Returns the outcome of a run whose snapshot could not be had.
fn unbegun(plan: &RunPlan, failure: Failure) -> RunOutcome {
    RunOutcome::Failed(RunFailure {
        integrity: plan.integrity.clone(),
        ..RunFailure::from(failure)
    })
}
