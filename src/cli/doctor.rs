//! `diffwarden doctor`: the preflight of the selected reviewers, without a review.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use diffwarden_actors::check_up::{self, CheckUp, CheckedUp};
use diffwarden_actors::model::Failure;
use diffwarden_actors::plan::{Policy, ReviewerPlan};
use diffwarden_actors::sink::{RunFailure, RunOutcome, interrupt_channel};

use super::ending::Ending;
use super::{end_of_output, report, working_folder};
use crate::config::{self, LoadedConfig, SelectionFlags};
use crate::discovery::Machine;
use crate::doctor::{DoctorReport, doctor_text};
use crate::engines::Host;
use crate::engines::settings::ReviewerSettings;
use crate::env::Environment;
use crate::exit;
use crate::git::Repository;
use crate::plan::plan_check_up;
use crate::sinks::{OutputMode, Redactor, output};

/// The time of a reviewer that has none of its own: more than any sound executable takes to tell
/// its options.
const USUAL_TIME: Duration = Duration::from_secs(60);

const HELP: &str = "\
Exit codes:
    0  every selected reviewer can work
    2  the command line or the configuration is wrong
    3  a selected reviewer cannot work; what may help is said

No model is asked. Executables are asked for their versions and options.";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct DoctorArgs {
    /// Who is checked: an id from the config, or engine[:profile]; repeat for several
    #[arg(long = "reviewer", value_name = "SPEC")]
    reviewers: Vec<String>,

    /// A reviewer set from the config
    #[arg(long, value_name = "NAME")]
    reviewer_set: Option<String>,

    /// The model, when one reviewer is checked
    #[arg(long, value_name = "ID")]
    model: Option<String>,

    /// The model to fall back to, when one reviewer is checked (Claude only)
    #[arg(long, value_name = "ID")]
    fallback_model: Option<String>,

    /// The effort, when one reviewer is checked: off, minimal, low, medium, high, xhigh, max
    #[arg(long, value_name = "LEVEL")]
    effort: Option<String>,

    /// Each reviewer's budget [default: its own, else 60]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    timeout: Option<String>,

    /// The folder to look for a project config in, instead of the current one
    #[arg(long, value_name = "PATH")]
    cwd: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl DoctorArgs {
    /// Asks for these reviewers; for the default set without any.
    pub(super) fn of(reviewers: Vec<String>, cwd: Option<PathBuf>) -> Self {
        Self {
            reviewers,
            reviewer_set: None,
            model: None,
            fallback_model: None,
            effort: None,
            timeout: None,
            cwd,
            json: false,
        }
    }
}

/// Checks the reviewers and returns the exit code.
pub(super) fn run(args: &DoctorArgs, env: &Environment, ending: &Arc<Ending>) -> u8 {
    let redactor = Redactor::new(env);
    let mode = if args.json {
        OutputMode::Json
    } else {
        OutputMode::Human
    };
    let examined = Selection::of(args, env).and_then(|selection| selection.examine(ending));
    ending.tell();
    let doctor = match examined {
        Ok(doctor) => doctor,
        Err(failure) => return report(&failure, mode, &redactor),
    };
    let printed = if args.json {
        output::print_json(&doctor, &redactor)
    } else {
        let text = doctor_text(&doctor, output::stdout_style(env), &redactor);
        output::print_report(&text, &redactor)
    };
    let code = if doctor.is_fit() {
        exit::OK
    } else {
        exit::EXECUTION
    };
    end_of_output(printed, code)
}

/// Who is checked, on which machine.
struct Selection {
    cwd: PathBuf,
    config: Option<LoadedConfig>,
    host: Host,
    settings: Vec<ReviewerSettings>,
    plans: Vec<ReviewerPlan>,
}

impl Selection {
    /// Selects as a review does.
    fn of(args: &DoctorArgs, env: &Environment) -> Result<Self, Failure> {
        let flags = SelectionFlags {
            reviewers: args.reviewers.clone(),
            reviewer_set: args.reviewer_set.clone(),
            model: args.model.clone(),
            effort: args.effort.clone(),
            fallback_model: args.fallback_model.clone(),
            timeout: args.timeout.clone(),
        };
        let cwd = working_folder(args.cwd.as_deref())?;
        let root = repository_root(&cwd, env);
        let config = config::load(&cwd, root.as_deref(), env)?;
        let settings = config::select_reviewers(&flags, env, config.as_ref())?;
        let host = Host {
            env: env.clone(),
            repo_root: root,
        };
        let plans = plan_check_up(&settings, &host)?;
        Ok(Self {
            cwd,
            config,
            host,
            settings,
            plans,
        })
    }

    fn examine(self, ending: &Arc<Ending>) -> Result<DoctorReport, Failure> {
        let started = Instant::now();
        let width = self
            .config
            .as_ref()
            .and_then(|it| it.config.max_concurrency);
        let asked = CheckUp {
            reviewers: self.plans,
            repo_root: self.host.repo_root.clone(),
            max_concurrency: width.unwrap_or(Policy::default().max_concurrency),
            timeout: USUAL_TIME,
        };
        let checked = check_up_with_signals(asked, ending)?;
        let timing_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(DoctorReport::new(
            self.cwd.to_string_lossy().into_owned(),
            self.config.map(|it| it.path.to_string_lossy().into_owned()),
            self.settings.into_iter().zip(checked).collect(),
            &Machine(&self.host),
            timing_ms,
        ))
    }
}

/// Returns the root of the repository around a folder, whose programs are never run. One that git
/// does not open counts by its looks: there may be nothing to review in it, and there is no reason
/// to trust it more.
fn repository_root(cwd: &Path, env: &Environment) -> Option<PathBuf> {
    match Repository::open(cwd, env) {
        Ok(repository) => Some(repository.root().to_owned()),
        Err(_) => Repository::likely_root(cwd),
    }
}

/// Makes a check-up that signals end in order.
pub(super) fn check_up_with_signals(
    asked: CheckUp,
    ending: &Arc<Ending>,
) -> Result<Vec<CheckedUp>, Failure> {
    let (interrupts, interrupted) = interrupt_channel();
    // The channel stays open for as long as the ending holds its end.
    ending.run_begins(interrupts);
    let outcome = check_up::check_up(asked, interrupted);
    if let Err(failure) = &outcome {
        ending.run_ended(&RunOutcome::Failed(RunFailure::from(failure.clone())));
    }
    outcome
}
