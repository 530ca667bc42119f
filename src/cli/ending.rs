//! The end of the program when a signal asks for it.
//!
//! Signals are heard from the start to the end, and what one means depends on how far the program
//! is. While it prepares, nobody else can be asked to end: git is ended, the failure is told where
//! this caller looks for failures, and the process exits. A run is told and ends by itself. When
//! it has ended, a reader that stalls must not keep the program alive.
//!
//! What must stay true: a program tells how it ended once. Whoever is about to tell it takes the
//! stage first, and who comes too late waits for the end of the process.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use diffwarden_actors::interrupt;
use diffwarden_actors::sink::{
    Interrupt, InterruptSender, PATIENCE_AFTER_INTERRUPT as PATIENCE, RunOutcome,
};

use super::{note_failure, tell_failure, words};
use crate::artifact::OutFile;
use crate::env::Environment;
use crate::git;
use crate::guided::terminal::{self, Terminal};
use crate::sinks::{OutputMode, Redactor, output};

/// Knows how far the program is.
#[derive(Debug)]
pub(super) struct Ending {
    stage: Mutex<Stage>,
    /// Where this caller looks for failures.
    mode: OutputMode,
    /// The file of `--out`.
    out: Option<PathBuf>,
    redactor: Arc<Redactor>,
    /// What prompts are drawn on, which a signal has to give back.
    terminal: Terminal,
}

#[derive(Debug)]
enum Stage {
    /// Nothing runs but git, and nothing was said.
    Preparing,
    /// The run is told, and ends by itself.
    Running {
        interrupts: InterruptSender,
        told: Option<i32>,
    },
    /// The main thread tells how the program ended.
    Telling,
    /// A signal ended the program.
    Over,
}

impl Ending {
    /// Begins to listen. Without a thread for it the signals do what they always do.
    pub(super) fn listen(args: &[OsString], env: &Environment) -> Arc<Self> {
        let ending = Arc::new(Self {
            stage: Mutex::new(Stage::Preparing),
            mode: words::mode(args),
            out: words::out(args),
            redactor: Arc::new(Redactor::new(env)),
            terminal: Terminal::default(),
        });
        let listening = Arc::clone(&ending);
        if let Err(error) = interrupt::listen(move |signal| listening.heard(signal)) {
            tracing::warn!(%error, "signals are not caught");
        }
        ending
    }

    /// Hands the signals to a run from now on.
    pub(super) fn run_begins(&self, interrupts: InterruptSender) {
        *self.take_stage() = Stage::Running {
            interrupts,
            told: None,
        };
    }

    /// Goes on to telling how the run ended. After a signal that takes a short time only.
    pub(super) fn run_ended(self: &Arc<Self>, outcome: &RunOutcome) {
        let stage = std::mem::replace(&mut *self.take_stage(), Stage::Telling);
        let Stage::Running {
            told: Some(signal), ..
        } = stage
        else {
            return;
        };
        match outcome {
            RunOutcome::Failed(failed) if outcome.was_interrupted() => {
                // The sinks are waited for as long, and the files need a moment too.
                let code = failed.failure.exit_code();
                in_background(move || end_after(2 * PATIENCE, code));
            }
            // The signal came when the run was just ending.
            _ => {
                let ending = Arc::clone(self);
                in_background(move || ending.heard(signal));
            }
        }
    }

    /// Takes the right to tell how the program ended.
    pub(super) fn tell(&self) {
        *self.take_stage() = Stage::Telling;
    }

    /// Goes back to asking: a signal finds nothing that is still to be told.
    pub(super) fn ask(&self) {
        *self.take_stage() = Stage::Preparing;
    }

    /// Returns what prompts are drawn on.
    pub(super) fn terminal(&self) -> &Terminal {
        &self.terminal
    }

    /// Does what a signal asks for. Returns when a run was told, else never.
    fn heard(&self, signal: i32) {
        let interrupt = Interrupt::Signal(signal);
        let is_preparing = {
            let mut stage = self.lock();
            if let Stage::Running { interrupts, told } = &mut *stage
                && interrupts.send(interrupt).is_ok()
            {
                *told = Some(signal);
                return;
            }
            let is_preparing = matches!(*stage, Stage::Preparing);
            if is_preparing {
                *stage = Stage::Over;
            }
            is_preparing
        };
        if self.terminal.give_up() {
            within(PATIENCE, terminal::reset);
        }
        let failure = interrupt.failure();
        let (code, mode) = (failure.exit_code(), self.mode);
        let redactor = Arc::clone(&self.redactor);
        if is_preparing {
            git::end_all();
            abandon(self.out.as_ref());
            within(PATIENCE, move || {
                drop(tell_failure(&failure, mode, &redactor));
            });
            output::end(code);
        }
        // Whoever reads gets what is on its way.
        thread::sleep(PATIENCE);
        within(PATIENCE, move || note_failure(&failure, &redactor));
        end_after(Duration::ZERO, code);
    }

    /// Waits for the end of the process when a signal has ended the program.
    fn take_stage(&self) -> MutexGuard<'_, Stage> {
        loop {
            let stage = self.lock();
            if !matches!(*stage, Stage::Over) {
                return stage;
            }
            drop(stage);
            thread::park();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Stage> {
        self.stage.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes an artifact that an earlier run left where this one has none to write.
pub(super) fn abandon(out: Option<&PathBuf>) {
    if let Some(Ok(file)) = out.map(|path| OutFile::prepare(path)) {
        file.abandon();
    }
}

/// Ends the process after a while, whatever its other threads do.
fn end_after(time: Duration, code: u8) {
    thread::sleep(time);
    git::end_all();
    output::end(code);
}

/// Does something and waits for it no longer than a limit.
fn within(limit: Duration, act: impl FnOnce() + Send + 'static) {
    let (done, is_done) = channel();
    in_background(move || {
        act();
        done.send(()).ok();
    });
    // Done, or out of time, or there is no thread to do it.
    is_done.recv_timeout(limit).ok();
}

/// Does something on a thread of its own. A system that has none to give leaves it undone.
fn in_background(act: impl FnOnce() + Send + 'static) {
    drop(thread::Builder::new().spawn(act));
}
