//! What a run will do. Once a plan exists there are only run errors.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::Engine;
use crate::model::{
    Coverage, Degraded, DegradedTopic, EngineName, Failure, Finding, LineRange, Patch, RepoPath,
    ReviewLane, ReviewPlan, ReviewTarget, ReviewerId, Snapshot, Transport, TrustReason,
};
use crate::prompt::{PromptBuilder, PromptShape};
use crate::snapshot::PlannedSnapshot;
use crate::source::SourceReader;

/// Everything a run needs, resolved.
pub struct RunPlan {
    /// The working folder, as it was given; shown in the artifact.
    pub cwd: String,
    /// What is reviewed.
    pub target: Arc<ReviewTarget>,
    /// The change.
    pub patch: Arc<Patch>,
    /// Where findings may point.
    pub scope: Arc<Scope>,
    /// What of the patch can reach a reviewer at best; reviewers may receive less.
    pub coverage: Coverage,
    /// The ways of looking at it; one for a run without `--focus`.
    pub lanes: Vec<LanePlan>,
    /// What was asked for with `--focus`. With it the artifact is a batch, however many lanes
    /// there are.
    pub batch: Option<ReviewPlan>,
    /// Who looks; every lane has all of them. Empty when there is nothing to review.
    pub reviewers: Vec<ReviewerPlan>,
    /// What diffwarden itself found in the change; empty when `surface` runs.
    pub integrity: Vec<Finding>,
    /// What is known before the run to speak against trusting the result.
    pub doubts: Vec<TrustReason>,
    /// What is known before the run to be left out or to count for less than it seems. The artifact
    /// has their texts among its warnings as well.
    pub degraded: Vec<Degraded>,
    /// How prompts are made.
    pub prompts: Arc<dyn PromptBuilder>,
    /// The reviewed revision's text.
    pub source: Arc<dyn SourceReader>,
    /// What sees whether the work tree changes during the run; `None` when no engine runs that
    /// could change it.
    pub tree: Option<Arc<dyn TreeGuard>>,
    /// The frozen copy of the reviewed tree that engines look at; `None` when they look at the work
    /// tree itself.
    pub snapshot: Option<PlannedSnapshot>,
    /// What failure means.
    pub policy: Policy,
}

impl RunPlan {
    /// Returns what the artifact says about the frozen copy, once it is written.
    pub(crate) fn snapshot_record(&self) -> Option<Snapshot> {
        self.snapshot.as_ref().and_then(|it| it.record.clone())
    }

    /// Returns what is known of the whole run before it begins.
    pub(crate) fn known_shortfalls(&self) -> impl Iterator<Item = Degraded> {
        let is_empty = self.doubts.contains(&TrustReason::EmptyDiff);
        let empty = is_empty
            .then(|| Degraded::warning(DegradedTopic::DiffSource, "there was nothing to review"));
        self.degraded.iter().cloned().chain(empty)
    }

    /// Returns the folder that engines run in.
    pub(crate) fn work_root(&self) -> PathBuf {
        let snapshot = self.snapshot.as_ref().map(PlannedSnapshot::tree);
        snapshot.unwrap_or_else(|| self.scope.repo_root.clone())
    }
}

/// Sees whether the work tree changed. It holds the state from before the run.
pub trait TreeGuard: Send + Sync {
    /// Returns the paths whose state is another than before the run; empty when nothing changed.
    /// May take as long as git needs to look at the whole tree.
    ///
    /// # Errors
    ///
    /// When that cannot be known, as the tree could not be looked at before or after.
    fn changed_paths(&self) -> Result<Vec<String>, Failure>;
}

/// Where findings may point: the facts behind the checks of SPEC 13.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// The root of the work tree, absolute.
    pub repo_root: PathBuf,
    /// The same folder with every symbolic link resolved.
    pub real_root: PathBuf,
    /// The changed paths; `None` for a custom target, where any file of the repository will do.
    pub changed: Option<Vec<RepoPath>>,
    /// The lines that findings may touch, for every file whose lines are known; see
    /// [`Patch::changed_ranges`](crate::model::Patch::changed_ranges).
    pub added: std::collections::BTreeMap<RepoPath, Vec<LineRange>>,
}

/// One lane of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LanePlan {
    /// What it looks for.
    pub lane: ReviewLane,
}

/// One reviewer of a run.
#[derive(Clone)]
pub struct ReviewerPlan {
    /// The name it is reported under.
    pub id: ReviewerId,
    /// Its engine's name.
    pub engine_name: EngineName,
    /// How the engine is reached; absent for engines inside diffwarden.
    pub transport: Option<Transport>,
    /// The profile it was selected by.
    pub profile: Option<String>,
    /// The provider it routes through.
    pub provider: Option<String>,
    /// The model asked for.
    pub model: Option<String>,
    /// The effort asked for.
    pub effort: Option<String>,
    /// Its whole budget, preflight included, from its permit on; `None` for no limit.
    pub timeout: Option<Duration>,
    /// What its transport can take.
    pub prompt: PromptShape,
    /// The engine itself. Reviewers that share an instance share its preflight.
    pub engine: Arc<dyn Engine>,
}

/// What failure means for the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Any failure is fatal (SPEC 10, 13).
    pub strict: bool,
    /// How many reviewers run at a time, over all lanes.
    pub max_concurrency: usize,
    /// How many reviewers of one engine run at a time; `None` for no limit of its own.
    pub max_concurrency_per_engine: Option<usize>,
    /// The time of the whole run; whoever has not finished by then is ended.
    pub max_time: Option<Duration>,
    /// How long a child may take to end after it was asked to.
    pub grace: Duration,
    /// How many bytes of each stream of a child are taken before it is ended.
    pub max_output: usize,
    /// Whether reviewers' signs of life are events.
    pub progress: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            strict: false,
            max_concurrency: 8,
            max_concurrency_per_engine: None,
            max_time: None,
            grace: Duration::from_secs(2),
            max_output: 64 << 20,
            progress: false,
        }
    }
}
