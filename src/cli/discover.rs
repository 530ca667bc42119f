//! `diffwarden reviewers discover`: which engines this machine offers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use diffwarden_actors::check_up::CheckUp;
use diffwarden_actors::model::{ErrorCode, Failure};

use super::doctor::check_up_with_signals;
use super::ending::Ending;
use super::{end_of_output, report, working_folder};
use crate::config::edit::ReviewerDraft;
use crate::discovery::{
    ConfigTransport, Discovery, Machine, RecommendedReviewer, discover, discovery_text,
    settings_to_examine, with_preflights,
};
use crate::engines::Host;
use crate::env::Environment;
use crate::exit;
use crate::git::Repository;
use crate::plan::plan_check_up;
use crate::sinks::{OutputMode, Redactor, output};

/// How many engines are asked side by side, and how long each of them may take.
const WIDTH: usize = 4;
const TIME: Duration = Duration::from_secs(30);

const HELP: &str = "\
Without --deep nothing is run: executables, variables and credential files are
looked for, and no value is read out of them. No config is read or written.";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(super) struct DiscoverArgs {
    /// Also make the preflight that a review makes, of what is there
    #[arg(long)]
    deep: bool,

    /// The folder whose repository's programs do not count, instead of the current one
    #[arg(long, value_name = "PATH")]
    cwd: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Looks at the machine and returns the exit code: 0, whatever is found.
pub(super) fn run(args: &DiscoverArgs, env: &Environment, ending: &Arc<Ending>) -> u8 {
    let redactor = Redactor::new(env);
    let mode = if args.json {
        OutputMode::Json
    } else {
        OutputMode::Human
    };
    let found = look(args, env, ending);
    ending.tell();
    let discovery = match found {
        Ok(discovery) => discovery,
        Err(failure) => return report(&failure, mode, &redactor),
    };
    let printed = if args.json {
        output::print_json(&discovery, &redactor)
    } else {
        let text = discovery_text(&discovery, output::stdout_style(env), &redactor);
        output::print_report(&text, &redactor)
    };
    end_of_output(printed, exit::OK)
}

fn look(
    args: &DiscoverArgs,
    env: &Environment,
    ending: &Arc<Ending>,
) -> Result<Discovery, Failure> {
    let cwd = working_folder(args.cwd.as_deref())?;
    let host = host_at(&cwd, env)?;
    let shown = cwd.to_string_lossy().into_owned();
    let shallow = discover(shown, &Machine(&host));
    if args.deep {
        examine(shallow, &host, ending)
    } else {
        Ok(shallow)
    }
}

/// Returns the machine as it is seen from a folder, without opening a repository.
///
/// # Errors
///
/// Fails when there is no such folder.
pub(super) fn host_at(cwd: &Path, env: &Environment) -> Result<Host, Failure> {
    if !cwd.is_dir() {
        return Err(Failure::new(
            ErrorCode::InvalidCli,
            format!("cannot open the working folder {}", cwd.display()),
        )
        .hint("pass a folder that exists with --cwd"));
    }
    Ok(Host {
        env: env.clone(),
        repo_root: Repository::likely_root(cwd),
    })
}

/// Looks at the machine from the current folder, without running anything.
///
/// # Errors
///
/// Fails when there is no current folder.
pub(super) fn discover_here(env: &Environment) -> Result<Discovery, Failure> {
    let cwd = working_folder(None)?;
    let host = host_at(&cwd, env)?;
    Ok(discover(
        cwd.to_string_lossy().into_owned(),
        &Machine(&host),
    ))
}

/// Returns what a recommendation comes to as an entry of the config.
pub(super) fn draft(found: RecommendedReviewer) -> ReviewerDraft {
    ReviewerDraft {
        id: found.id,
        transport: found.transport.map(ConfigTransport::transport),
        model: found.model,
        ..ReviewerDraft::new(found.engine)
    }
}

fn examine(shallow: Discovery, host: &Host, ending: &Arc<Ending>) -> Result<Discovery, Failure> {
    // One path that cannot even be asked does not keep the others from being asked.
    let mut refused = Vec::new();
    let mut asked = Vec::new();
    for settings in settings_to_examine(&shallow) {
        match plan_check_up(std::slice::from_ref(&settings), host) {
            Ok(mut plans) => asked.extend(plans.pop().map(|plan| (settings, plan))),
            Err(failure) => refused.push((settings, Err(failure))),
        }
    }
    let (settings, reviewers): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
    let check_up = CheckUp {
        reviewers,
        repo_root: host.repo_root.clone(),
        max_concurrency: WIDTH,
        timeout: TIME,
    };
    let checked = check_up_with_signals(check_up, ending)?;
    let outcomes = checked.into_iter().map(|it| it.outcome);
    let mut examined: Vec<_> = settings.into_iter().zip(outcomes).collect();
    examined.extend(refused);
    Ok(with_preflights(shallow, &examined))
}
