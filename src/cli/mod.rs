//! The command line: what can be typed, and which function answers it.
//!
//! These types hold what was typed and nothing else; [`crate::plan`] decides what it means.

mod args;
mod journal;
mod review;
mod reviewers;
mod show;

pub use reviewers::{ListedConfig, ListedOverlay, ListedReviewer, ReviewerList, list_reviewers};

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _};
use diffwarden_actors::model::{ErrorCode, Failure};

use crate::env::Environment;
use crate::exit;
use crate::sinks::{OutputMode, Redactor, output};
use args::{Cli, Command, ReviewCommand};

/// Runs the command line and returns the exit code.
pub fn main(args: impl IntoIterator<Item = OsString>, env: &Environment) -> u8 {
    let args: Vec<OsString> = args.into_iter().collect();
    let mut command = Cli::command();
    let parsed = command.try_get_matches_from_mut(&args).and_then(|matches| {
        show::refuse_review_flags(&mut command, &matches)?;
        Cli::from_arg_matches(&matches)
    });
    match parsed {
        Ok(cli) => run(cli, env),
        Err(error) => report_usage(&error, &args, env),
    }
}

fn run(cli: Cli, env: &Environment) -> u8 {
    match cli.command {
        None => print(&Cli::command().render_long_help().to_string()),
        Some(Command::Review(review)) => match &review.command {
            None => review::run(&review, env),
            Some(ReviewCommand::Show(show)) => show::run(&review.output, show, env),
        },
        Some(Command::Reviewers(reviewers)) => reviewers::run(&reviewers, env),
    }
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
    let printed = output::print_error(mode, failure, redactor);
    if matches!(mode, OutputMode::Json | OutputMode::Ndjson) {
        note_failure(failure, redactor);
    }
    end_of_output(printed, failure.exit_code())
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
        return print(&error.to_string());
    }
    let failure = not_built(error).unwrap_or_else(|| {
        let text = error.to_string();
        let message = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
        Failure::new(ErrorCode::InvalidCli, message)
    });
    // The flags could not be parsed, so whether the caller reads JSON is read from the raw words.
    let asked = |flag: &str| args.iter().any(|arg| arg == flag);
    let mode = match (asked("--ndjson"), asked("--json")) {
        (true, _) => OutputMode::Ndjson,
        (_, true) => OutputMode::Json,
        _ => OutputMode::Human,
    };
    report(&failure, mode, &Redactor::new(env))
}

/// Commands that the specification has and this version lacks.
const NOT_BUILT: [&str; 7] = [
    "check", "config", "discover", "doctor", "edit", "init", "mcp",
];

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
