//! Guided setup on the command line: who may be asked, and what happens around a dialogue.

use std::sync::Arc;

use diffwarden_actors::model::{ErrorCode, Failure};

use super::doctor::{self, DoctorArgs};
use super::ending::Ending;
use super::report;
use super::setup::{self, Done, SetupArgs};
use crate::env::Environment;
use crate::exit;
use crate::guided::prompts::TerminalPrompter;
use crate::guided::terminal;
use crate::guided::{Leave, Prompter, finish};
use crate::sinks::{OutputMode, Redactor, output};

/// What a dialogue came to.
pub(super) struct Outcome {
    /// What was done, on one line. Text of the config is in it as it is.
    pub(super) line: String,
    /// Sentences without a full stop.
    pub(super) notes: Vec<String>,
    /// Whom to go on with.
    pub(super) next: Next,
}

/// Whom the last step of a dialogue is about.
pub(super) enum Next {
    /// Nobody.
    Nothing,
    /// These reviewers; without any, those of the default set.
    Reviewers(Vec<String>),
}

/// Refuses `--interactive` with `--json`, which never asks (SPEC 5.2).
///
/// # Errors
///
/// Fails with `invalid_cli`.
pub(super) fn refuse_json(interactive: bool, json: bool) -> Result<(), Failure> {
    if interactive && json {
        let message = "--interactive asks, and --json never does";
        return Err(Failure::new(ErrorCode::InvalidCli, message).hint("leave one of them out"));
    }
    Ok(())
}

/// Holds a dialogue and tells what it came to. `what` is the command and `instead` what to type
/// without a terminal.
pub(super) fn run(
    args: &SetupArgs,
    env: &Environment,
    ending: &Arc<Ending>,
    (what, instead): (&str, &str),
    dialogue: impl FnOnce(&mut dyn Prompter) -> Result<Outcome, Leave>,
) -> u8 {
    let redactor = Redactor::new(env);
    let mut prompter = TerminalPrompter::new(ending.terminal(), &redactor, env);
    let held = terminal::require(what, instead, env)
        .and_then(|()| setup::find_shadow(args, env))
        .map_err(Leave::Failed)
        .and_then(|shadow| Ok((dialogue(&mut prompter)?, shadow)));
    ending.tell();
    let (outcome, shadow) = match held {
        Ok(held) => held,
        Err(Leave::Back | Leave::Quit) => {
            output::print_note("Nothing was changed.\n", &redactor);
            return exit::OK;
        }
        Err(Leave::Failed(failure)) => return report(&failure, OutputMode::Human, &redactor),
    };
    let is_shadowed = shadow.is_some();
    let done = Done {
        answer: (),
        line: outcome.line,
        notes: Vec::new(),
    };
    let code = setup::tell(&done, false, &redactor);
    let notes = outcome.notes.into_iter().chain(shadow);
    notes.for_each(|note| setup::tell_note(&note, &redactor));
    if code != exit::OK || is_shadowed {
        // Another config holds in this folder, so a check would be one of other reviewers.
        return code;
    }
    if let Next::Reviewers(ids) = outcome.next {
        ending.ask();
        if finish::offer_doctor(&mut prompter, &finish::review_command(&ids)) {
            // What doctor finds is no failure of the change, which is made.
            doctor::run(&DoctorArgs::of(ids, args.cwd.clone()), env, ending);
        } else {
            ending.tell();
        }
    }
    code
}

/// Makes a change at the end of a dialogue. A signal finds it made or not begun; after a refusal
/// the dialogue goes on.
pub(super) fn commit<T>(
    ending: &Ending,
    change: impl FnOnce() -> Result<T, Failure>,
) -> Result<T, Failure> {
    ending.tell();
    let changed = change();
    if changed.is_err() {
        ending.ask();
    }
    changed
}
