//! The terminal while it is asked through, and how it is given back.
//!
//! Prompts read single keys, for which a terminal has to be told so; whoever ends the program in
//! the middle of a prompt would leave the user's shell with that. Prompts give the terminal back
//! by themselves. A signal ends the program while its main thread waits for a key, so it gives the
//! terminal back in the main thread's place.
//!
//! What must stay true: after [`Terminal::give_up`] nothing takes the terminal again.

use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crossterm::cursor::Show;
use crossterm::event::DisableBracketedPaste;
use crossterm::style::{Print, ResetColor};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode, window_size};
use diffwarden_actors::model::{ErrorCode, Failure};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use crate::env::Environment;
use crate::sinks::output;

/// Whether somebody sits there who can be asked: keys come from a terminal, and prompts, which go
/// to standard error, reach one.
pub fn is_interactive() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Refuses a terminal that nobody can be asked through. `what` is the command and `instead` what
/// to type without one.
///
/// # Errors
///
/// Fails with `invalid_cli`.
pub fn require(what: &str, instead: &str, environment: &Environment) -> Result<(), Failure> {
    let why = if !is_interactive() {
        "requires an interactive terminal (TTY) on standard input and standard error"
    } else if environment.raw("TERM").is_some_and(|term| term == "dumb") {
        "requires a terminal that can move its cursor, and TERM is `dumb`"
    } else if !window_size().is_ok_and(|size| size.columns > 0 && size.rows > 0) {
        "requires a terminal that says how wide it is"
    } else {
        return Ok(());
    };
    Err(Failure::new(ErrorCode::InvalidCli, format!("{what} {why}")).hint(instead))
}

/// The terminal of this process.
#[derive(Debug, Default)]
pub struct Terminal {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    /// It is as the user had it.
    #[default]
    Untouched,
    /// A prompt has it; this is how the user had it.
    Taken(Box<Termios>),
    /// The program ends.
    GivenUp,
}

impl Terminal {
    /// Runs a prompt, which reads single keys. It never returns once the terminal was given up.
    ///
    /// # Errors
    ///
    /// Fails when the terminal is gone.
    pub fn lend<T>(&self, prompt: impl FnOnce() -> T) -> io::Result<T> {
        self.take()?;
        let answer = prompt();
        let mut state = self.wait_for_turn();
        disable_raw_mode()?;
        *state = State::Untouched;
        drop(state);
        Ok(answer)
    }

    fn take(&self) -> io::Result<()> {
        let mut state = self.wait_for_turn();
        let before = tcgetattr(io::stdin())?;
        // Done here and not by the prompt: crossterm does it once, so a signal that has undone it
        // is not overruled by a prompt that only begins.
        enable_raw_mode()?;
        *state = State::Taken(Box::new(before));
        Ok(())
    }

    /// Gives the terminal back for good, because the program ends, and returns whether a prompt
    /// had it. Then it is to be [`reset`] too.
    pub fn give_up(&self) -> bool {
        let state = std::mem::replace(&mut *self.lock(), State::GivenUp);
        let State::Taken(before) = state else {
            return false;
        };
        // A terminal that is gone needs nothing.
        tcsetattr(io::stdin(), OptionalActions::Now, &before).ok();
        true
    }

    fn wait_for_turn(&self) -> MutexGuard<'_, State> {
        loop {
            let state = self.lock();
            if !matches!(*state, State::GivenUp) {
                return state;
            }
            drop(state);
            thread::park();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Undoes what a prompt may have told the terminal with words, and begins a line. This may wait
/// for whoever reads the terminal.
pub fn reset() {
    let words = (DisableBracketedPaste, ResetColor, Show, Print("\r\n"));
    crossterm::execute!(output::Stderr, words.0, words.1, words.2, words.3).ok();
}
