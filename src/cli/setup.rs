//! What all commands that write the user config have in common: where they look for a project
//! config that hides it, and how they tell what they did.

use std::path::PathBuf;

use clap::Args;
use diffwarden_actors::model::Failure;
use serde::Serialize;

use super::ending::Ending;
use super::{end_of_output, report, working_folder};
use crate::config;
use crate::env::Environment;
use crate::exit;
use crate::git::Repository;
use crate::sinks::{Foreign, OutputMode, Redactor, output};

/// Options of every command that writes the user config.
#[derive(Debug, Args)]
pub(super) struct SetupArgs {
    /// The folder to look for a project config in, which would be used instead
    #[arg(long, value_name = "PATH")]
    pub(super) cwd: Option<PathBuf>,

    /// Print JSON, and never ask
    #[arg(long)]
    pub(super) json: bool,
}

/// What a command did, and what else there is to say about it.
pub(super) struct Done<T> {
    /// As JSON says it.
    pub(super) answer: T,
    /// As people read it, on one line. Text of the config is in it as it is.
    pub(super) line: String,
    /// Sentences without a full stop.
    pub(super) notes: Vec<String>,
}

/// Runs a command that writes the user config and tells what it did.
pub(super) fn run<T: Serialize>(
    args: &SetupArgs,
    env: &Environment,
    ending: &Ending,
    act: impl FnOnce() -> Result<Done<T>, Failure>,
) -> u8 {
    let redactor = Redactor::new(env);
    let shadow = find_shadow(args, env);
    // From here on a signal finds either nothing changed or the change to be told.
    ending.tell();
    let told = shadow.and_then(|shadow| Ok((act()?, shadow)));
    match told {
        Ok((done, shadow)) => {
            let code = tell(&done, args.json, &redactor);
            let notes = done.notes.into_iter().chain(shadow);
            notes.for_each(|note| tell_note(&note, &redactor));
            code
        }
        Err(failure) => {
            let mode = if args.json {
                OutputMode::Json
            } else {
                OutputMode::Human
            };
            report(&failure, mode, &redactor)
        }
    }
}

/// Reports that a command which writes the user config cannot be understood.
pub(super) fn refuse(args: &SetupArgs, env: &Environment, ending: &Ending, failure: Failure) -> u8 {
    run::<()>(args, env, ending, || Err(failure))
}

pub(super) fn tell<T: Serialize>(done: &Done<T>, json: bool, redactor: &Redactor) -> u8 {
    let printed = if json {
        output::print_json(&done.answer, redactor)
    } else {
        let line = Foreign(redactor).line(&done.line);
        output::print_report(&format!("{line}\n"), redactor)
    };
    end_of_output(printed, exit::OK)
}

pub(super) fn tell_note(note: &str, redactor: &Redactor) {
    let line = Foreign(redactor).line(note);
    output::print_note(&format!("Note: {line}\n"), redactor);
}

/// Says so when a run in the working folder does not use the user config.
pub(super) fn find_shadow(args: &SetupArgs, env: &Environment) -> Result<Option<String>, Failure> {
    let cwd = working_folder(args.cwd.as_deref())?;
    let repository = Repository::open(&cwd, env).ok();
    let root = repository.as_ref().map(Repository::root);
    let shadow = config::shadowing_config(&cwd, root, env)?;
    Ok(shadow.map(|path| {
        format!(
            "runs in this folder use the project config at {} instead",
            path.display()
        )
    }))
}
