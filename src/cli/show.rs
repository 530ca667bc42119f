//! `diffwarden review show`: a saved artifact, shown like the end of a run (SPEC 14.5).

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use diffwarden_actors::model::{ErrorCode, Failure};

use super::args::{Output, Show};
use super::ending::Ending;
use super::{end_of_output, report};
use crate::artifact::read_artifact;
use crate::env::Environment;
use crate::exit;
use crate::sinks::{OutputMode, Redactor, output, render_artifact};

/// Shows a saved artifact and returns the exit code. `before` holds the mode flags that stand in
/// front of `show`.
pub(super) fn run(before: &Output, show: &Show, env: &Environment, ending: &Ending) -> u8 {
    let redactor = Redactor::new(env);
    let asked = [before.chosen(), show.output.chosen()];
    let mode = match choose_mode(asked) {
        Ok(mode) => mode,
        Err(failure) => {
            ending.tell();
            return report(&failure, mode_of_errors(asked), &redactor);
        }
    };
    let read = read_artifact(&show.path);
    ending.tell();
    match read {
        Ok(artifact) => {
            let style = output::stdout_style(env);
            let text = render_artifact(&artifact, mode, style, &redactor);
            end_of_output(output::print_text(&text), exit::OK)
        }
        Err(failure) => report(&failure, mode, &redactor),
    }
}

/// Returns the mode that was chosen before or behind the word `show`.
fn choose_mode([before, behind]: [Option<OutputMode>; 2]) -> Result<OutputMode, Failure> {
    let refusal = |message: &str| Err(Failure::new(ErrorCode::InvalidCli, message));
    match (before, behind) {
        (Some(OutputMode::Ndjson), _) | (_, Some(OutputMode::Ndjson)) => refusal(
            "--ndjson does not go with `review show`: a saved artifact has no events to replay",
        ),
        (Some(one), Some(other)) if one != other => {
            refusal("--agent and --json do not go together: choose one output")
        }
        (before, behind) => Ok(before.or(behind).unwrap_or_default()),
    }
}

/// Returns where to tell that the modes do not fit: a program that reads one of them finds it there.
fn mode_of_errors(asked: [Option<OutputMode>; 2]) -> OutputMode {
    [OutputMode::Ndjson, OutputMode::Json]
        .into_iter()
        .find(|mode| asked.contains(&Some(*mode)))
        .unwrap_or_default()
}

/// Refuses flags of a review, other than its output modes, in front of `show`: they would have no
/// effect.
pub(super) fn refuse_review_flags(
    command: &mut Command,
    matches: &ArgMatches,
) -> Result<(), clap::Error> {
    let Some(("review", review)) = matches.subcommand() else {
        return Ok(());
    };
    if review.subcommand_name() != Some("show") {
        return Ok(());
    }
    let arguments = command
        .find_subcommand("review")
        .into_iter()
        .flat_map(Command::get_arguments);
    let stray = arguments
        .filter(|argument| !Output::FLAGS.contains(&argument.get_id().as_str()))
        .filter(|argument| {
            let id = argument.get_id().as_str();
            matches!(review.try_contains_id(id), Ok(true))
                && review.value_source(id) == Some(ValueSource::CommandLine)
        })
        .find_map(|argument| argument.get_long().map(str::to_owned));
    match stray {
        None => Ok(()),
        Some(flag) => {
            let message = format!("--{flag} does not go with `review show`, which runs nothing");
            Err(command.error(ErrorKind::ArgumentConflict, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_may_stand_on_either_side() {
        let json = Some(OutputMode::Json);
        for (before, behind) in [(json, None), (None, json), (json, json)] {
            assert_eq!(choose_mode([before, behind]).unwrap(), OutputMode::Json);
        }
        assert_eq!(choose_mode([None, None]).unwrap(), OutputMode::Human);
        let failure = choose_mode([json, Some(OutputMode::Agent)]).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        let failure = choose_mode([None, Some(OutputMode::Ndjson)]).unwrap_err();
        assert!(failure.message.contains("--ndjson"));
    }
}
