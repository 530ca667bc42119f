//! The review engine of diffwarden: its vocabulary, its pure decisions and the actors around them.
//!
//! This crate knows neither git, configuration, command lines nor terminals. Everything it touches
//! outside itself comes through a port ([`engine`], [`prompt`], [`source`], [`sink`]) that the
//! program implements. Dependencies point one way:
//!
//! ```text
//! model <- answer, attempt, schedule <- actors <- the program
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use actix::{Actor, System};
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use crate::messages::{Interrupted, Start};
use crate::model::{ErrorCode, Failure, Finding, Reason};
use crate::plan::RunPlan;
use crate::sink::{InterruptReceiver, Publisher, RunFailure, RunOutcome, SinkSet, panic_message};
use crate::supervisor::{Supervisor, internal_error};

pub mod answer;
pub mod check_up;
pub mod engine;
pub mod interrupt;
pub mod model;
pub mod plan;
pub mod prompt;
pub mod search_path;
pub mod sink;
pub mod snapshot;
pub mod source;

mod aggregator;
mod attempt;
mod conclude;
mod lane;
mod messages;
mod preflight;
mod process;
mod progress;
mod reviewer;
mod run_dir;
mod schedule;
mod shared;
mod supervisor;
#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests;

/// Runs a plan to its outcome: the only door into the actors.
///
/// Events go to `sinks` as they happen; handing them the outcome ([`SinkSet::finish`]) is the
/// caller's part, and so is hearing of signals ([`interrupt::listen`]): they come through
/// `interrupts`. When this returns, no child is left. Work on a thread that does not give up when
/// it is told to may still go on, so the caller should end the program with `process::exit`.
pub fn run(plan: RunPlan, sinks: &SinkSet, interrupts: InterruptReceiver) -> RunOutcome {
    let integrity = plan.integrity.clone();
    // One thread and one arbiter: every actor sees the same order of events, and stopping leaves
    // no other thread behind that still owns a child.
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => Arc::new(runtime),
        Err(error) => return failed(integrity, no_runtime(&error)),
    };
    let shared = Arc::clone(&runtime);
    let publisher = sinks.publisher();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let system = System::with_tokio_rt(|| shared);
        system.block_on(freeze_and_supervise(plan, publisher, interrupts))
    }));
    // Dropping a runtime waits for its blocking threads, and one may hang in foreign code.
    if let Some(runtime) = Arc::into_inner(runtime) {
        runtime.shutdown_background();
    }
    outcome.unwrap_or_else(|panic| {
        tracing::error!(panic = panic_message(panic.as_ref()), "the run panicked");
        internal_error(integrity)
    })
}

/// Writes the snapshot, if there is to be one, and removes it when everything is over.
async fn freeze_and_supervise(
    mut plan: RunPlan,
    publisher: Publisher,
    mut interrupts: InterruptReceiver,
) -> RunOutcome {
    let began = Instant::now();
    spawn_blocking(run_dir::sweep_stale);
    let frozen = match snapshot::freeze(&mut plan, &mut interrupts, began).await {
        Ok(frozen) => frozen,
        Err(outcome) => return outcome,
    };
    let outcome = supervise(Arc::new(plan), publisher, interrupts, began).await;
    if let Some(private) = frozen {
        private.remove().await;
    }
    outcome
}

/// Starts the actors and waits for the outcome; feeds them what comes from outside meanwhile.
async fn supervise(
    plan: Arc<RunPlan>,
    publisher: Publisher,
    mut interrupts: InterruptReceiver,
    began: Instant,
) -> RunOutcome {
    let (done, mut outcome) = oneshot::channel();
    let supervisor = Supervisor::new(Arc::clone(&plan), publisher).start();
    supervisor.do_send(Start { done, began });
    loop {
        let interrupt = tokio::select! {
            outcome = &mut outcome => {
                // No answer means that the supervisor is dead.
                return outcome.unwrap_or_else(|_| internal_error(plan.integrity.clone()));
            }
            Some(interrupt) = interrupts.recv() => interrupt,
        };
        supervisor.do_send(Interrupted(interrupt));
    }
}

fn failed(integrity: Vec<Finding>, failure: Failure) -> RunOutcome {
    RunOutcome::Failed(RunFailure {
        integrity,
        ..RunFailure::from(failure)
    })
}

fn no_runtime(error: &std::io::Error) -> Failure {
    Failure::new(
        ErrorCode::ReviewerEnvironmentFailed,
        format!("the run cannot be started: {error}"),
    )
    .reason(Reason::Environment)
    .hint("The system is out of files or memory; check ulimit -n.")
}
