//! From typed flags and configuration to a run plan.
//!
//! Every error that ends with exit code 2 is born here, before anything runs, and the cheapest
//! questions are asked first: the text of the target, the repository, the configuration, the
//! selection, and only then the change itself.

mod lanes;
mod tree;

pub use lanes::LaneFlags;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use diffwarden_actors::engine::{CancelToken, Engine};
use diffwarden_actors::model::{
    Coverage, EngineName, Failure, Finding, RepoPath, ReviewLane, ReviewPlan, ReviewerId,
    TrustReason,
};
use diffwarden_actors::plan::{LanePlan, Policy, ReviewerPlan, RunPlan, Scope};

use crate::config::{self, Config, LoadedConfig, Overrides, SelectionFlags};
use crate::engines::capabilities::{self, Capability};
use crate::engines::settings::ReviewerSettings;
use crate::engines::surface::{self, ScanContext, Surface};
use crate::engines::{self, Host};
use crate::env::Environment;
use crate::git::{Repository, ResolveOptions, Resolved, TargetSpec};
use crate::intake::scan::{self, ScanInput};
use crate::prompt::{Builder, BuilderInput, SendLimits};

/// What was asked for, as typed.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The working folder, as it was given: a relative path stays relative in the artifact.
    pub cwd: PathBuf,
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
    /// An untracked file that is no part of the change; see [`ResolveOptions`].
    pub exclude: Option<PathBuf>,
}

/// A plan, and what it was made from.
pub struct Planned {
    /// What the run will do.
    pub run: RunPlan,
    /// What it was made from.
    pub setting: Setting,
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
    let config = config::load(&request.cwd, Some(repository.root()), env)?;
    let selected = config::select_reviewers(&request.selection, env, config.as_ref())?;
    surface::check_target(&spec, &selected)?;
    let first_look = tree::FirstLook::start(&request.cwd, env, &selected);
    let resolved = repository.resolve(
        &spec,
        &ResolveOptions {
            include_uncommitted: request.include_uncommitted,
            exclude: request.exclude.clone(),
            ..ResolveOptions::default()
        },
    )?;
    let scope = scope_of(repository.root(), &resolved);
    let host = Host {
        env: env.clone(),
        repo_root: Some(repository.root().to_path_buf()),
    };
    let integrity = scan_unless_surface_does(&selected, &resolved);
    let target = Arc::new(resolved.target);
    let patch = Arc::new(resolved.patch);
    let builder = Builder::new(BuilderInput {
        target: Arc::clone(&target),
        patch: Arc::clone(&patch),
        limits: send_limits(config.as_ref()),
    });

    let mut warnings = resolved.warnings;
    let mut doubts = resolved.doubts;
    let mut reviewers = Vec::new();
    if target.is_diff_backed() && patch.is_empty() {
        doubts.push(TrustReason::EmptyDiff);
    } else {
        let context = ScanContext {
            commit_messages: resolved.commit_messages,
            branch: resolved.branch,
        };
        reviewers = plan_reviewers(&selected, &host, &context)?;
        warnings.extend(nobody_looks(&selected));
    }

    let is_run = !reviewers.is_empty();
    let tree = first_look.filter(|_| is_run).map(tree::FirstLook::finish);
    let loaded = config.as_ref().map(|loaded| &loaded.config);
    let batch = lanes.review_plan(loaded.and_then(|it| it.review_plan.include_overview));
    let run = RunPlan {
        cwd: request.cwd.to_string_lossy().into_owned(),
        target,
        patch,
        scope: Arc::new(scope),
        coverage: coverage_at_best(&builder, &reviewers),
        lanes: lane_plans(batch.as_ref()),
        batch,
        reviewers,
        integrity,
        doubts,
        warnings,
        prompts: Arc::new(builder),
        source: resolved.source,
        tree,
        policy: policy_of(request, loaded, max_time),
    };
    let setting = Setting {
        cwd: request.cwd.clone(),
        repo_root: repository.root().to_path_buf(),
        config,
        overrides,
        reviewers: selected.into_iter().map(|settings| settings.id).collect(),
    };
    Ok(Planned { run, setting })
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

/// Warns of a run in which only the fixture answers.
fn nobody_looks(selected: &[ReviewerSettings]) -> Option<String> {
    let only_fake = selected.iter().all(|it| it.engine == EngineName::Fake);
    only_fake.then(|| "only the fake reviewer ran: nobody looked at the change".to_owned())
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
        .map(|loaded| loaded.config.intake)
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

/// Returns what can reach the reviewers at best: limits on what is sent bind nobody when all of
/// them read the patch themselves.
fn coverage_at_best(builder: &Builder, reviewers: &[ReviewerPlan]) -> Coverage {
    let nobody_is_sent = reviewers.iter().all(|plan| plan.prompt.reads_patch);
    if nobody_is_sent && !reviewers.is_empty() {
        builder.read_coverage()
    } else {
        builder.best_coverage()
    }
}

/// Scans the change for what no model may talk away, unless `surface` is there to report it. An
/// empty change has no findings, whoever reviews: nothing of it can be acted on.
fn scan_unless_surface_does(selected: &[ReviewerSettings], resolved: &Resolved) -> Vec<Finding> {
    let surface_runs = selected
        .iter()
        .any(|settings| settings.engine == EngineName::Surface);
    if surface_runs || !resolved.target.is_diff_backed() || resolved.patch.is_empty() {
        return Vec::new();
    }
    scan::scan(
        &ScanInput {
            patch: &resolved.patch,
            repo_root: Path::new(&resolved.target.repo_root),
            commit_messages: &resolved.commit_messages,
            branch: resolved.branch.as_deref(),
        },
        &CancelToken::default(),
    )
}

/// Plans the reviewers, in order. Equal ones get one engine, so its preflight is made once.
fn plan_reviewers(
    selected: &[ReviewerSettings],
    host: &Host,
    context: &ScanContext,
) -> Result<Vec<ReviewerPlan>, Failure> {
    let mut plans: Vec<ReviewerPlan> = Vec::new();
    for (position, settings) in selected.iter().enumerate() {
        let twin = selected[..position].iter().position(|it| it == settings);
        plans.push(match twin {
            Some(at) => plans[at].clone(),
            None => plan_reviewer(settings, host, context)?,
        });
    }
    Ok(plans)
}

fn plan_reviewer(
    settings: &ReviewerSettings,
    host: &Host,
    context: &ScanContext,
) -> Result<ReviewerPlan, Failure> {
    let engine: Arc<dyn Engine> = match settings.engine {
        EngineName::Surface => Arc::new(Surface::new(context.clone())),
        _ => engines::build(settings, host)?,
    };
    Ok(ReviewerPlan {
        id: settings.id.clone(),
        engine_name: settings.engine,
        transport: settings.transport,
        profile: settings.profile.clone(),
        provider: settings.provider.clone(),
        model: settings.model.as_ref().map(|model| model.value.clone()),
        effort: settings
            .effort
            .as_ref()
            .map(|effort| effort.value.as_str().to_owned()),
        timeout: settings.timeout,
        prompt: capabilities::find(settings.engine, settings.transport)
            .map(Capability::prompt_shape)
            .unwrap_or_default(),
        engine,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_reviewers_share_an_engine_and_others_do_not() {
        let flags = SelectionFlags {
            reviewers: ["fake", "surface", "fake"].map(str::to_owned).into(),
            ..SelectionFlags::default()
        };
        let env = Environment::default();
        let selected = config::select_reviewers(&flags, &env, None).unwrap();
        let host = Host {
            env,
            repo_root: None,
        };
        let plans = plan_reviewers(&selected, &host, &ScanContext::default()).unwrap();
        let ids: Vec<_> = plans.iter().map(|plan| plan.id.0.as_str()).collect();
        assert_eq!(ids, ["fake", "surface", "fake"]);
        assert!(Arc::ptr_eq(&plans[0].engine, &plans[2].engine));
        assert!(!Arc::ptr_eq(&plans[0].engine, &plans[1].engine));
    }

    #[test]
    fn the_time_of_a_run_is_a_number_of_seconds() {
        assert_eq!(parse_max_time(None), Ok(None));
        let minute = Duration::from_secs(60);
        assert_eq!(parse_max_time(Some(" 60 ")), Ok(Some(minute)));
        let failure = parse_max_time(Some("soon")).unwrap_err();
        assert!(failure.message.contains("--max-time"), "{failure}");
    }
}
