//! From typed flags and configuration to a run plan.
//!
//! Every error that ends with exit code 2 is born here, before anything runs, and the cheapest
//! questions are asked first: the text of the target, the repository, the configuration, the
//! selection, and only then the change itself.

mod crew;
mod frozen;
mod lanes;
mod refuse;
mod scanned;
mod tree;

pub use lanes::LaneFlags;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use diffwarden_actors::model::{Coverage, Failure, RepoPath, ReviewLane, ReviewPlan, ReviewerId};
use diffwarden_actors::plan::{LanePlan, Policy, ReviewerPlan, RunPlan, Scope};

use self::crew::Recruiting;
pub use self::crew::plan_check_up;
use self::frozen::{freeze, told_target};
use self::scanned::{Scanned, own_allowlist};
use crate::config::{self, Config, LoadedConfig, Overrides, SelectionFlags};
use crate::engines::Host;
use crate::engines::settings::ReviewerSettings;
use crate::engines::surface;
use crate::env::Environment;
use crate::git::{Repository, ResolveOptions, Resolved, TargetSpec};
use crate::intake::prune::{self, PruneInput, Pruning};
use crate::prompt::{Builder, BuilderInput, SendLimits};

/// What was asked for, as typed.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The working folder, as it was given: a relative path stays relative in the artifact.
    pub cwd: PathBuf,
    /// The digest of the project config that is trusted, as typed.
    pub trust_project_config: Option<String>,
    /// The target.
    pub target: String,
    /// Whether a base target takes in uncommitted changes.
    pub include_uncommitted: bool,
    /// Who reviews, and how.
    pub selection: SelectionFlags,
    /// The lanes.
    pub lanes: LaneFlags,
    /// How many reviewers run at a time; the config says it when the command line does not.
    pub jobs: Option<usize>,
    /// The time of the whole run, in seconds, as typed.
    pub max_time: Option<String>,
    /// Whether any failure is fatal.
    pub strict: bool,
    /// Whether reviewers' signs of life are events.
    pub progress: bool,
    /// Whether files that nobody writes by hand are sent as well.
    pub no_prune: bool,
    /// Whether engines are given a change that could turn them against their user.
    pub allow_unsafe_input: bool,
    /// Whether engines look at a copy of the reviewed tree.
    pub snapshot: SnapshotChoice,
    /// An untracked file that is no part of the change; see [`ResolveOptions`].
    pub exclude: Option<PathBuf>,
}

/// Whether engines look at a frozen copy of the reviewed tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SnapshotChoice {
    /// For a commit whose tree does not lie in the work tree.
    #[default]
    WhereNeeded,
    /// For every target.
    Always,
    /// For none.
    Never,
}

/// A plan, and what it was made from.
pub struct Planned {
    /// What the run will do.
    pub run: RunPlan,
    /// What it was made from.
    pub setting: Setting,
    /// The secrets found in the change, which must never be printed.
    pub secrets: Vec<String>,
}

/// What a plan was made from; reports tell it.
#[derive(Debug, Clone)]
pub struct Setting {
    /// The working folder, as it was given.
    pub cwd: PathBuf,
    /// The root of the repository.
    pub repo_root: PathBuf,
    /// The config, if there is one.
    pub config: Option<LoadedConfig>,
    /// What flags and variables say about the reviewers.
    pub overrides: Overrides,
    /// The selected reviewers, also where there is nothing for them to review.
    pub reviewers: Vec<ReviewerId>,
}

/// Turns a request into a plan.
///
/// # Errors
///
/// Fails with exit code 2 for anything wrong with the command line, the repository or the
/// configuration, and with 3 when a needed program is missing.
pub fn plan_run(request: &Request, env: &Environment) -> Result<Planned, Failure> {
    let spec = TargetSpec::parse(&request.target)?;
    let overrides = Overrides::parse(&request.selection, env)?;
    let lanes = request.lanes.check(&spec)?;
    let max_time = parse_max_time(request.max_time.as_deref())?;
    let repository = Repository::open(&request.cwd, env)?;
    let config = load_config(request, &repository, env)?;
    let selected = config::select_reviewers(&request.selection, env, config.as_ref())?;
    surface::check_target(&spec, &selected)?;
    let first_look = tree::FirstLook::start(&request.cwd, env, &selected);
    let mut resolved = repository.resolve(&spec, &resolve_options(request))?;
    let scope = scope_of(repository.root(), &resolved);
    let host = host_of(&repository, env);
    let own = own_allowlist(config.as_ref(), env)?;
    let scanned = Scanned::of(&repository, &resolved, &selected, own);
    let pruning = prune(request, config.as_ref(), &repository, &resolved);
    let target = Arc::new(resolved.target.clone());
    let patch = Arc::new(std::mem::take(&mut resolved.patch));
    let config_of = config.as_ref();
    let frozen = freeze(
        request,
        config_of,
        &repository,
        &resolved,
        &patch,
        &selected,
    )?;
    let builder = Builder::new(BuilderInput {
        target: told_target(&target, frozen.as_ref()),
        patch: Arc::clone(&patch),
        masked: scanned.masking.patch.clone(),
        left_out: reasons(&pruning),
        limits: send_limits(config.as_ref()),
    });

    let mut crew = Recruiting {
        selected: &selected,
        host: &host,
        repository: &repository,
        resolved: &resolved,
        patch: &patch,
        pruning: &pruning,
        scanned: &scanned,
        allow_unsafe_input: request.allow_unsafe_input,
        is_frozen: frozen.is_some(),
    }
    .recruit()?;
    let snapshot = crew.look_at(frozen);
    let is_run = !crew.reviewers.is_empty();
    let tree = first_look.filter(|_| is_run).map(tree::FirstLook::finish);
    let loaded = config.as_ref().map(|loaded| &loaded.config);
    let batch = lanes.review_plan(loaded.and_then(|it| it.review_plan.include_overview));
    let run = RunPlan {
        cwd: request.cwd.to_string_lossy().into_owned(),
        target,
        patch,
        scope: Arc::new(scope),
        coverage: coverage_at_best(&builder, &crew.reviewers),
        lanes: lane_plans(batch.as_ref()),
        batch,
        reviewers: crew.reviewers,
        integrity: scanned.integrity,
        doubts: crew.doubts,
        degraded: crew.degraded,
        prompts: Arc::new(builder),
        source: resolved.source,
        tree,
        snapshot,
        policy: policy_of(request, loaded, max_time),
    };
    Ok(Planned {
        run,
        setting: Setting {
            cwd: request.cwd.clone(),
            repo_root: repository.root().to_path_buf(),
            config,
            overrides,
            reviewers: ids_of(selected),
        },
        secrets: scanned.masking.secrets,
    })
}

fn load_config(
    request: &Request,
    repository: &Repository,
    env: &Environment,
) -> Result<Option<LoadedConfig>, Failure> {
    config::load_trusting(
        &request.cwd,
        Some(repository.root()),
        request.trust_project_config.as_deref(),
        env,
    )
}

/// Returns what bounds the run: the command line's numbers, else the config's, else the defaults.
fn policy_of(request: &Request, config: Option<&Config>, max_time: Option<Duration>) -> Policy {
    Policy {
        strict: request.strict,
        max_concurrency: request
            .jobs
            .or_else(|| config.and_then(|it| it.max_concurrency))
            .unwrap_or(Policy::default().max_concurrency),
        max_concurrency_per_engine: config.and_then(|it| it.max_concurrency_per_engine),
        max_time,
        progress: request.progress,
        ..Policy::default()
    }
}

/// Decides which files are not sent. `--no-prune` or the config can ask for all.
fn prune(
    request: &Request,
    config: Option<&LoadedConfig>,
    repository: &Repository,
    resolved: &Resolved,
) -> Pruning {
    let is_wanted = config.and_then(|loaded| loaded.config.intake.prune);
    if request.no_prune || is_wanted == Some(false) {
        return Pruning::none(&resolved.patch);
    }
    let before = repository.before(resolved);
    prune::prune(&PruneInput {
        patch: &resolved.patch,
        base: &|path| before.read(path),
        source: resolved.source.as_ref(),
    })
}

fn reasons(pruning: &Pruning) -> Vec<Option<String>> {
    let reasons = pruning.reasons.iter();
    reasons
        .map(|it| it.as_ref().map(prune::Pruned::describe))
        .collect()
}

fn parse_max_time(text: Option<&str>) -> Result<Option<Duration>, Failure> {
    text.map(|text| config::parse_timeout("--max-time", text.trim()))
        .transpose()
}

fn lane_plans(batch: Option<&ReviewPlan>) -> Vec<LanePlan> {
    let lanes = batch.map_or_else(|| vec![ReviewLane::overview()], |plan| plan.lanes.clone());
    lanes.into_iter().map(|lane| LanePlan { lane }).collect()
}

/// Returns where findings may point.
fn scope_of(root: &Path, resolved: &Resolved) -> Scope {
    let changed = resolved.target.is_diff_backed().then(|| {
        let mut paths: Vec<RepoPath> = resolved
            .patch
            .files
            .iter()
            .map(|file| file.path().clone())
            .collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    });
    Scope {
        repo_root: root.to_path_buf(),
        real_root: root.canonicalize().unwrap_or_else(|_| root.to_path_buf()),
        changed,
        added: resolved.patch.changed_ranges(),
    }
}

/// Returns how much may be sent: the config's numbers, else the defaults.
fn send_limits(config: Option<&LoadedConfig>) -> SendLimits {
    let intake = config
        .map(|loaded| loaded.config.intake.clone())
        .unwrap_or_default();
    let bytes = |given: Option<u64>, default: usize| {
        given.map_or(default, |bytes| {
            usize::try_from(bytes).unwrap_or(usize::MAX)
        })
    };
    SendLimits {
        max_file_bytes: bytes(intake.max_file_bytes, SendLimits::DEFAULT_MAX_FILE_BYTES),
        max_patch_bytes: bytes(intake.max_patch_bytes, SendLimits::DEFAULT_MAX_PATCH_BYTES),
    }
}

/// Returns what can reach the reviewers at best: what is left out of prompts is no loss to one that
/// reads the patch itself.
fn coverage_at_best(builder: &Builder, reviewers: &[ReviewerPlan]) -> Coverage {
    if reviewers.iter().any(|plan| plan.prompt.reads_patch) {
        builder.read_coverage()
    } else {
        builder.best_coverage()
    }
}

fn resolve_options(request: &Request) -> ResolveOptions {
    ResolveOptions {
        include_uncommitted: request.include_uncommitted,
        exclude: request.exclude.clone(),
        ..ResolveOptions::default()
    }
}

fn ids_of(selected: Vec<ReviewerSettings>) -> Vec<ReviewerId> {
    selected.into_iter().map(|settings| settings.id).collect()
}

fn host_of(repository: &Repository, env: &Environment) -> Host {
    Host {
        env: env.clone(),
        repo_root: Some(repository.root().to_path_buf()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_run_is_a_number_of_seconds() {
        assert_eq!(parse_max_time(None), Ok(None));
        let minute = Duration::from_secs(60);
        assert_eq!(parse_max_time(Some(" 60 ")), Ok(Some(minute)));
        let failure = parse_max_time(Some("soon")).unwrap_err();
        assert!(failure.message.contains("--max-time"), "{failure}");
    }
}
