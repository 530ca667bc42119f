//! The command line: what can be typed, and which function answers it.
//!
//! These types hold what was typed and nothing else; [`crate::plan`] decides what it means.

mod args;
mod completions;
mod config;
mod discover;
mod doctor;
#[cfg(test)]
mod documentation;
mod ending;
mod guided;
mod init;
mod journal;
mod prompts;
mod review;
mod reviewers;
mod setup;
mod show;
mod words;

pub use config::{
    Origin, ShownConfig, ShownFile, ShownProblem, ShownSetting, TrustList, TrustedFile,
};
pub use init::ConfigCreated;
pub use reviewers::{
    ListedConfig, ListedOverlay, ListedReviewer, ReviewerAdded, ReviewerEdited, ReviewerList,
    ReviewerRemoved, SetChanged, list_reviewers,
};

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _};
use diffwarden_actors::model::{ErrorCode, Failure};

use crate::env::Environment;
use crate::exit;
use crate::sinks::{OutputMode, Redactor, output};
use args::{Cli, Command, ReviewCommand};
use ending::Ending;

/// Runs the command line and returns the exit code.
///
/// A signal may end the process before this returns.
pub fn main(args: impl IntoIterator<Item = OsString>, env: &Environment) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let ending = Ending::listen(&args, env);
    let mut command = Cli::command();
    let parsed = command.try_get_matches_from_mut(&args).and_then(|matches| {
        show::refuse_review_flags(&mut command, &matches)?;
        Cli::from_arg_matches(&matches)
    });
    match parsed {
        Ok(cli) => run(cli, env, &ending),
        Err(error) => {
            ending.tell();
            report_usage(&error, &args, env)
        }
    }
}

fn run(cli: Cli, env: &Environment, ending: &Arc<Ending>) -> u8 {
    match cli.command {
        None => {
            ending.tell();
            print_help(&Cli::command().render_long_help().to_string())
        }
        Some(Command::Review(review)) => match &review.command {
            None => review::run(&review.args, env, ending),
            Some(ReviewCommand::Show(show)) => show::run(&review.args.output, show, env, ending),
        },
        Some(Command::Check(check)) => review::check(check.args, env, ending),
        Some(Command::Reviewers(reviewers)) => reviewers::run(&reviewers, env, ending),
        Some(Command::Doctor(args)) => doctor::run(&args, env, ending),
        Some(Command::Init(init)) => init::run(&init, env, ending),
        Some(Command::Config(config)) => config::run(&config, env, ending),
        Some(Command::Completions { shell }) => {
            ending.tell();
            print(&completions::completions(shell))
        }
        Some(Command::Man { command }) => {
            ending.tell();
            match completions::manual(&command) {
                Ok(page) => print(&page),
                Err(failure) => report(&failure, OutputMode::Human, &Redactor::new(env)),
            }
        }
    }
}

/// Prints a help text, which clap ends without a line end.
fn print_help(text: &str) -> u8 {
    print(&format!("{}\n", text.trim_end()))
}

/// Prints text of diffwarden's own making. Nobody reading it is a normal end.
fn print(text: &str) -> u8 {
    end_of_output(output::print_text(text), exit::OK)
}

/// Returns how to end after something was printed: `code`, unless it could not be written.
fn end_of_output(printed: io::Result<()>, code: u8) -> u8 {
    match printed {
        Err(error) if !output::is_closed(&error) => {
            let note = format!("the output could not be written: {error}\n");
            output::print_note(&note, &Redactor::default());
            exit::EXECUTION
        }
        _ => code,
    }
}

/// Reports a failure in the form of an output mode, and in words on stderr.
fn report(failure: &Failure, mode: OutputMode, redactor: &Redactor) -> u8 {
    end_of_output(tell_failure(failure, mode, redactor), failure.exit_code())
}

fn tell_failure(failure: &Failure, mode: OutputMode, redactor: &Redactor) -> io::Result<()> {
    let printed = output::print_error(mode, failure, redactor);
    if matches!(mode, OutputMode::Json | OutputMode::Ndjson) {
        note_failure(failure, redactor);
    }
    printed
}

/// Says on stderr what went wrong, for whoever watches a program that reads JSON. That nobody
/// does is no reason to fail.
fn note_failure(failure: &Failure, redactor: &Redactor) {
    drop(output::print_error(OutputMode::Human, failure, redactor));
}

/// Returns the folder to work in: `--cwd` as it was given, or the process's own.
fn working_folder(given: Option<&Path>) -> Result<PathBuf, Failure> {
    match given {
        Some(path) => Ok(path.to_path_buf()),
        None => std::env::current_dir().map_err(|error| {
            Failure::new(
                ErrorCode::InvalidCli,
                format!("the current folder cannot be read: {error}"),
            )
            .hint("change to a folder that exists, or pass --cwd")
        }),
    }
}

/// Prints what clap has to say: help and version on stdout, usage errors where this caller looks
/// for errors.
fn report_usage(error: &clap::Error, args: &[OsString], env: &Environment) -> u8 {
    if error.kind() == ErrorKind::DisplayVersion {
        // The bare number, for scripts.
        return print(concat!(env!("CARGO_PKG_VERSION"), "\n"));
    }
    if !error.use_stderr() {
        return print_help(&error.to_string());
    }
    let failure = not_built(error).unwrap_or_else(|| {
        let text = error.to_string();
        let message = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
        Failure::new(ErrorCode::InvalidCli, message)
    });
    // Whatever fails, an older artifact must go.
    ending::abandon(words::out(args).as_ref());
    report(&failure, words::mode(args), &Redactor::new(env))
}

/// Commands that the specification has and this version lacks.
const NOT_BUILT: [&str; 1] = ["mcp"];

/// Says so when the command that was typed exists in the specification only.
fn not_built(error: &clap::Error) -> Option<Failure> {
    let typed = [ContextKind::InvalidSubcommand, ContextKind::InvalidArg]
        .into_iter()
        .find_map(|kind| error.get(kind))?;
    let ContextValue::String(word) = typed else {
        return None;
    };
    NOT_BUILT.contains(&word.as_str()).then(|| {
        Failure::new(
            ErrorCode::InvalidCli,
            format!("`{word}` is not built into this version of diffwarden yet"),
        )
        .hint("`diffwarden --help` lists what is")
    })
}
