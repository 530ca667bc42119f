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

use crate::messages::{Interrupted, Start};
use crate::model::{ErrorCode, Failure, Reason};
use crate::plan::RunPlan;
use crate::sink::{InterruptReceiver, Publisher, RunFailure, RunOutcome, SinkSet, panic_message};
use crate::supervisor::{Supervisor, internal_error};

pub mod answer;
pub mod engine;
pub mod interrupt;
pub mod model;
pub mod plan;
pub mod prompt;
pub mod sink;
pub mod source;

mod aggregator;
mod attempt;
mod conclude;
mod lane;
mod messages;
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
    let plan = Arc::new(plan);
    // One thread and one arbiter: every actor sees the same order of events, and stopping leaves
    // no other thread behind that still owns a child.
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => Arc::new(runtime),
        Err(error) => return failed(&plan, no_runtime(&error)),
    };
    let shared = Arc::clone(&runtime);
    let publisher = sinks.publisher();
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let system = System::with_tokio_rt(|| shared);
        system.block_on(supervise(Arc::clone(&plan), publisher, interrupts))
    }));
    // Dropping a runtime waits for its blocking threads, and one may hang in foreign code.
    if let Some(runtime) = Arc::into_inner(runtime) {
        runtime.shutdown_background();
    }
    outcome.unwrap_or_else(|panic| {
        tracing::error!(panic = panic_message(panic.as_ref()), "the run panicked");
        internal_error(&plan)
    })
}

/// Starts the actors and waits for the outcome; feeds them what comes from outside meanwhile.
async fn supervise(
    plan: Arc<RunPlan>,
    publisher: Publisher,
    mut interrupts: InterruptReceiver,
) -> RunOutcome {
    spawn_blocking(run_dir::sweep_stale);
    let (done, mut outcome) = oneshot::channel();
    let supervisor = Supervisor::new(Arc::clone(&plan), publisher).start();
    supervisor.do_send(Start(done));
    loop {
        let interrupt = tokio::select! {
            outcome = &mut outcome => {
                // No answer means that the supervisor is dead.
                return outcome.unwrap_or_else(|_| internal_error(&plan));
            }
            Some(interrupt) = interrupts.recv() => interrupt,
        };
        supervisor.do_send(Interrupted(interrupt));
    }
}

fn failed(plan: &RunPlan, failure: Failure) -> RunOutcome {
    RunOutcome::Failed(RunFailure {
        integrity: plan.integrity.clone(),
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
