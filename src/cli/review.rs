//! `diffwarden review`: one straight path from flags to exit code.

use diffwarden_actors::model::{ErrorCode, Failure, MergedResult, Priority};
use diffwarden_actors::sink::{RunFailure, RunOutcome, SinkSet, interrupt_channel};

use super::args::Review;
use crate::artifact::{OutFile, write_artifact};
use crate::config::SelectionFlags;
use crate::env::Environment;
use crate::exit;
use crate::plan::{Request, plan_run};
use crate::sinks::{self, output, redact::Redactor};

/// Runs a review and returns the exit code.
pub(super) fn run(args: &Review, env: &Environment) -> u8 {
    let mode = args.output.mode();
    let (interrupts, interrupted) = interrupt_channel();
    let redactor = Redactor::from_environment(env);
    let sinks = SinkSet::spawn(vec![sinks::stdout_sink(mode, env, redactor.clone())], interrupts);

    let checked = Gates::parse(args).and_then(|gates| {
        let out = args.out.as_deref().map(OutFile::prepare).transpose()?;
        Ok((gates, out))
    });
    let (gates, mut out) = match checked {
        Ok(checked) => checked,
        Err(failure) => return end(sinks, &failed(failure), exit::USAGE),
    };
    let outcome = match plan_run(&request(args), env) {
        Ok(plan) => diffwarden_actors::run(plan, &sinks, interrupted),
        Err(failure) => failed(failure),
    };

    // The file is written before the last frame: whoever reads that frame finds the file.
    let written = match (&outcome, out.take()) {
        (RunOutcome::Finished(artifact), Some(file)) => {
            file.commit(&write_artifact(artifact, &redactor))
        }
        _ => Ok(()),
    };
    let code = gates.exit_code(&outcome);
    let code = end(sinks, &outcome, code);
    if let Err(failure) = written {
        output::print_error(&failure, &redactor);
        return failure.exit_code();
    }
    code
}

/// Hands the outcome to the sinks. A closed pipe is a normal end; an output that is full is not.
fn end(sinks: SinkSet, outcome: &RunOutcome, code: u8) -> u8 {
    match sinks.finish(outcome) {
        Ok(()) => code,
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => code,
        Err(error) => {
            output::print_line(&format!("the review could not be printed: {error}"));
            exit::EXECUTION
        }
    }
}

fn failed(failure: Failure) -> RunOutcome {
    RunOutcome::Failed(RunFailure {
        failure,
        reviewer: None,
        integrity: Vec::new(),
    })
}

fn request(args: &Review) -> Request {
    Request {
        cwd: args.cwd.clone(),
        target: args.target.clone(),
        include_uncommitted: args.include_uncommitted,
        selection: SelectionFlags {
            reviewers: args.reviewers.clone(),
            reviewer_set: args.reviewer_set.clone(),
            model: args.model.clone(),
            effort: args.effort.clone(),
            fallback_model: args.fallback_model.clone(),
            timeout: args.timeout.clone(),
        },
        strict: args.strict,
    }
}

/// What turns a complete review into exit code 1.
struct Gates {
    findings: Option<Priority>,
    clean: bool,
}

impl Gates {
    fn parse(args: &Review) -> Result<Self, Failure> {
        let findings = args
            .fail_on_findings
            .as_deref()
            .map(parse_threshold)
            .transpose()?;
        Ok(Self {
            findings,
            clean: args.require_clean,
        })
    }

    fn exit_code(&self, outcome: &RunOutcome) -> u8 {
        match outcome {
            RunOutcome::Failed(failed) => failed.failure.exit_code(),
            RunOutcome::Finished(artifact) => {
                let unclean = self.clean && !artifact.trust.clean;
                if unclean || self.met_by(&artifact.result) {
                    exit::GATE
                } else {
                    exit::OK
                }
            }
        }
    }

    /// Whether a finding is at least as urgent as the threshold. One without a priority never is.
    fn met_by(&self, result: &MergedResult) -> bool {
        let Some(threshold) = self.findings else {
            return false;
        };
        let mut priorities = result.findings.iter().map(|it| it.finding.priority);
        priorities.any(|priority| priority.is_some_and(|priority| priority <= threshold))
    }
}

fn parse_threshold(text: &str) -> Result<Priority, Failure> {
    match text.trim().to_ascii_uppercase().as_str() {
        "P0" => Ok(Priority(0)),
        "P1" => Ok(Priority(1)),
        "P2" => Ok(Priority(2)),
        "P3" => Ok(Priority(3)),
        _ => Err(Failure::new(
            ErrorCode::InvalidCli,
            format!("`{text}` is not a threshold for --fail-on-findings"),
        )
        .hint("use P0, P1, P2 or P3")),
    }
}
