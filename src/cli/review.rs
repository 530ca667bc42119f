//! `diffwarden review`: one straight path from flags to exit code.

use std::sync::Arc;

use diffwarden_actors::model::{ErrorCode, Failure, MergedResult, Priority};
use diffwarden_actors::plan::RunPlan;
use diffwarden_actors::sink::{RunOutcome, SinkSet, interrupt_channel};

use super::args::ReviewArgs;
use super::ending::Ending;
use super::journal::Journal;
use super::prompts;
use super::{end_of_output, note_failure, report, working_folder};
use crate::artifact::{OutFile, write_artifact};
use crate::config::SelectionFlags;
use crate::env::Environment;
use crate::exit;
use crate::intake::scan;
use crate::plan::{LaneFlags, Request, SnapshotChoice, plan_run};
use crate::sinks::output::{self, Stderr, Stdout};
use crate::sinks::{Foreign, OutputMode, Redactor, SinkOptions, sink_for};

/// The reviewer of `check`.
const SURFACE: &str = "surface";

/// Variables that stand in for the flags `check` does not take.
const CHOICES: [&str; 5] = [
    "DIFFWARDEN_REVIEWERS",
    "DIFFWARDEN_REVIEWER_SET",
    "DIFFWARDEN_MODEL",
    "DIFFWARDEN_FALLBACK_MODEL",
    "DIFFWARDEN_EFFORT",
];

/// Runs the scans alone and returns the exit code.
pub(super) fn check(mut args: ReviewArgs, env: &Environment, ending: &Arc<Ending>) -> u8 {
    let choices = [
        ("--reviewer", !args.reviewers.is_empty()),
        ("--reviewer-set", args.reviewer_set.is_some()),
        ("--model", args.model.is_some()),
        ("--fallback-model", args.fallback_model.is_some()),
        ("--effort", args.effort.is_some()),
    ];
    if let Some((flag, _)) = choices.into_iter().find(|(_, is_given)| *is_given) {
        ending.tell();
        let failure = Failure::new(
            ErrorCode::InvalidCli,
            format!("{flag} does not go with `check`, which asks no model"),
        )
        .hint("`diffwarden review` takes reviewers, `surface` among them");
        super::ending::abandon(args.out.as_ref());
        return report(&failure, args.output.mode(), &Redactor::new(env));
    }
    args.reviewers = vec![SURFACE.to_owned()];
    let others = env
        .iter()
        .filter(|(name, _)| !CHOICES.iter().any(|choice| name == choice));
    run(&args, &others.collect(), ending)
}

/// Runs a review and returns the exit code.
pub(super) fn run(args: &ReviewArgs, env: &Environment, ending: &Arc<Ending>) -> u8 {
    let mode = args.output.mode();
    let redactor = Arc::new(Redactor::new(env));
    warm_up(&redactor);
    let prepared = match Prepared::from_args(args, env) {
        Ok(prepared) => prepared,
        Err(failure) => {
            ending.tell();
            return report(&failure, mode, &redactor);
        }
    };
    redactor.learn(&prepared.secrets);
    if args.print_prompt {
        return match prompts::text(&prepared.plan, Foreign(&redactor)) {
            Ok(text) => end_of_output(output::print_report(&text, &redactor), exit::OK),
            Err(failure) => report(&failure, mode, &redactor),
        };
    }
    let options = SinkOptions {
        mode,
        style: output::stdout_style(env),
        progress: output::stderr_style(env),
        redactor: Arc::clone(&redactor),
    };
    let (interrupts, interrupted) = interrupt_channel();
    ending.run_begins(interrupts.clone());
    let sinks = SinkSet::spawn(vec![sink_for(options, Stdout, Stderr)], interrupts);
    let outcome = diffwarden_actors::run(prepared.plan, &sinks, interrupted);
    ending.run_ended(&outcome);

    // Files are written before the last frame, so whoever reads that frame finds them. A pipe comes
    // after it: its reader may be slow, and may wait for that very frame.
    let (stream, file) = prepared.out.map_or((None, None), OutFile::stream_or_file);
    let written = write_out(file, &outcome, &redactor);
    let kept = prepared
        .journal
        .map_or(Ok(()), |journal| journal.write(&outcome, &redactor));
    let code = prepared.gates.exit_code(&outcome);
    let printed = sinks.finish(&outcome);
    let written = written.and(write_out(stream, &outcome, &redactor));
    if let (RunOutcome::Failed(failed), OutputMode::Json | OutputMode::Ndjson) = (&outcome, mode) {
        note_failure(&failed.failure, &redactor);
    }
    if let Err(failure) = written.and(kept) {
        note_failure(&failure, &redactor);
        return failure.exit_code();
    }
    let ended = end_of_output(printed, code);
    // A signal tells how the run ended, also where nobody read what it still said.
    if outcome.was_interrupted() {
        code
    } else {
        ended
    }
}

/// All that is known before the first event. A failure to get here is one of the command line or
/// the configuration, and no run.
struct Prepared {
    gates: Gates,
    out: Option<OutFile>,
    plan: RunPlan,
    journal: Option<Journal>,
    /// The secrets of the change.
    secrets: Vec<String>,
}

impl Prepared {
    fn from_args(args: &ReviewArgs, env: &Environment) -> Result<Self, Failure> {
        // Prepared first and looked at later: whatever fails, an older artifact must go.
        let out = args.out.as_deref().map(OutFile::prepare).transpose();
        let gates = Gates::parse(args)?;
        let out = out?;
        let planned = plan_run(&request(args, out.as_ref())?, env)?;
        if let (Some(out), Some(changed)) = (&out, &planned.run.scope.changed) {
            out.spare(&planned.run.scope.real_root, changed)?;
        }
        let journal = match args.print_prompt {
            true => None,
            false => Journal::prepare(args, &planned.setting, env)?,
        };
        Ok(Self {
            gates,
            out,
            plan: planned.run,
            journal,
            secrets: planned.secrets,
        })
    }
}

/// Compiles the patterns of the scans and of a redactor, which takes milliseconds, while git runs. Without the
/// thread they are compiled when they are needed.
fn warm_up(redactor: &Arc<Redactor>) {
    let redactor = Arc::clone(redactor);
    let compile = move || {
        // The scans come first, as they do in the run.
        scan::credential_shapes("");
        drop(redactor.redact("://"));
    };
    drop(std::thread::Builder::new().spawn(compile));
}

/// Writes `--out`: the result, or what had finished of a run that was ended from outside. Without
/// either an older artifact does not stay in its place.
fn write_out(
    out: Option<OutFile>,
    outcome: &RunOutcome,
    redactor: &Redactor,
) -> Result<(), Failure> {
    let Some(file) = out else {
        return Ok(());
    };
    let artifact = match outcome {
        RunOutcome::Finished(artifact) => Some(artifact),
        RunOutcome::Failed(failed) => failed.partial.as_ref(),
    };
    match artifact {
        Some(artifact) => file.commit(&write_artifact(artifact, redactor)),
        None => {
            file.abandon();
            Ok(())
        }
    }
}

fn request(args: &ReviewArgs, out: Option<&OutFile>) -> Result<Request, Failure> {
    Ok(Request {
        cwd: working_folder(args.cwd.as_deref())?,
        trust_project_config: args.trust.trust_project_config.clone(),
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
        lanes: LaneFlags {
            focus: args.focus.clone(),
            overview: args.overview,
            no_overview: args.no_overview,
        },
        jobs: args.jobs.map(usize::from),
        max_time: args.max_time.clone(),
        strict: args.strict,
        progress: args.progress,
        no_prune: args.no_prune,
        allow_unsafe_input: args.allow_unsafe_input,
        snapshot: match (args.snapshot, args.no_snapshot) {
            (_, true) => SnapshotChoice::Never,
            (true, _) => SnapshotChoice::Always,
            _ => SnapshotChoice::WhereNeeded,
        },
        exclude: out.and_then(OutFile::old_artifact),
    })
}

/// What turns a complete review into exit code 1.
struct Gates {
    findings: Option<Priority>,
    clean: bool,
}

impl Gates {
    fn parse(args: &ReviewArgs) -> Result<Self, Failure> {
        if args.enforce {
            let message = "--enforce is not built yet: no finding is turned into a question";
            return Err(Failure::new(ErrorCode::InvalidCli, message)
                .hint("--strict, --fail-on-findings and --require-clean are the gates there are"));
        }
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
                let unclean = self.clean && !artifact.trust().clean;
                if unclean || self.met_by(artifact.result()) {
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
