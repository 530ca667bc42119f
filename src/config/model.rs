//! What a valid config file says, typed. Absent values stay absent: defaults belong to whoever
//! uses them.

use std::path::PathBuf;
use std::time::Duration;

use diffwarden_actors::model::{EngineName, Transport};

use crate::engines::capabilities::{self, Capability};
use crate::engines::settings::{Effort, EngineOptions};

/// A config file, merged with its overlay and checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// `defaultReviewerSet`.
    pub default_reviewer_set: Option<String>,
    /// `reviewerSets`, in the order of the file.
    pub reviewer_sets: Vec<ReviewerSet>,
    /// `reviewers`, in the order of the file. Ids are unique, and so are pairs of engine and
    /// profile.
    pub reviewers: Vec<ConfiguredReviewer>,
    /// `timeoutSeconds`: the budget of a reviewer that has none of its own.
    pub timeout: Option<Duration>,
    /// `maxConcurrency`: how many reviewers run at a time; at least 1.
    pub max_concurrency: Option<usize>,
    /// `maxConcurrencyPerEngine`: how many reviewers of one engine run at a time; at least 1.
    pub max_concurrency_per_engine: Option<usize>,
    /// `reviewPlan`.
    pub review_plan: ReviewPlanSettings,
    /// `reporting`.
    pub reporting: ReportingSettings,
    /// `intake`.
    pub intake: IntakeSettings,
}

impl Config {
    /// Returns the set of that name.
    pub fn set(&self, name: &str) -> Option<&ReviewerSet> {
        self.reviewer_sets.iter().find(|set| set.name == name)
    }

    /// Returns the reviewer of that id, enabled or not.
    pub fn reviewer(&self, id: &str) -> Option<&ConfiguredReviewer> {
        self.reviewers.iter().find(|entry| entry.id == id)
    }

    /// Returns the reviewer of that engine and profile, enabled or not.
    pub fn profile(&self, engine: EngineName, profile: &str) -> Option<&ConfiguredReviewer> {
        self.reviewers
            .iter()
            .find(|entry| entry.engine == engine && entry.profile.as_deref() == Some(profile))
    }

    /// Returns the name of the set that a run without a selection uses, whether it exists or not:
    /// `defaultReviewerSet`, else `1` (SPEC 15).
    pub fn default_set_name(&self) -> &str {
        self.default_reviewer_set.as_deref().unwrap_or("1")
    }
}

/// A named list of reviewers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReviewerSet {
    /// Its name. `2` is a name like any other and counts nothing.
    pub name: String,
    /// The reviewer specs in it. They are looked up only when the set is used.
    pub members: Vec<String>,
}

/// One configured reviewer (SPEC 7.4).
#[derive(Debug, Clone, PartialEq)]
pub struct ConfiguredReviewer {
    /// The name it is selected and reported by.
    pub id: String,
    /// Its engine; never one of those inside diffwarden.
    pub engine: EngineName,
    /// How the engine is reached, when the entry says so.
    pub transport: Option<Transport>,
    /// The profile it is also selected by, as `engine:profile`.
    pub profile: Option<String>,
    /// The provider it routes through.
    pub provider: Option<String>,
    /// Whether it may be selected.
    pub enabled: bool,
    /// The model.
    pub model: Option<String>,
    /// The effort.
    pub effort: Option<Effort>,
    /// The only models it may run with.
    pub model_catalog: Option<Vec<String>>,
    /// The only efforts it may run with.
    pub effort_catalog: Option<Vec<Effort>>,
    /// Its budget of time.
    pub timeout: Option<Duration>,
    /// The model to fall back to.
    pub fallback_model: Option<String>,
    /// The limit of model turns.
    pub max_turns: Option<u32>,
    /// The limit of money in US dollars.
    pub max_budget_usd: Option<f64>,
    /// The option bags.
    pub options: EngineOptions,
}

impl ConfiguredReviewer {
    /// Returns the row of the capability matrix it runs by.
    pub fn capability(&self) -> &'static Capability {
        self.transport
            .and_then(|transport| capabilities::find(self.engine, Some(transport)))
            .unwrap_or_else(|| capabilities::default_row(self.engine))
    }

    /// Returns the model it asks for: its own, else the one diffwarden picks for the engine.
    pub fn effective_model(&self) -> Option<&str> {
        self.model.as_deref().or(self.capability().default_model)
    }
}

/// `reviewPlan`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReviewPlanSettings {
    /// Whether focus runs have an overview lane when no flag says so.
    pub include_overview: Option<bool>,
}

/// `reporting`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReportingSettings {
    /// Whether a report is written when no flag says so.
    pub enabled: Option<bool>,
    /// Where reports go when `dir` is absent.
    pub scope: Option<ReportScope>,
    /// The folder reports go to, relative to the working folder of the review.
    pub dir: Option<PathBuf>,
    /// How much a report holds.
    pub mode: Option<ReportMode>,
}

/// Where reports go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportScope {
    /// The user's state folder.
    Global,
    /// The reviewed repository.
    Repo,
}

/// How much a report holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportMode {
    /// Everything, the artifact included.
    Full,
    /// No text of findings and no artifact.
    Metadata,
}

/// `intake`: what happens to the patch before a model sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IntakeSettings {
    /// Whether generated files are left out of the prompt.
    pub prune: Option<bool>,
    /// The size in bytes above which one file is not read whole; at least 1.
    pub max_file_bytes: Option<u64>,
    /// The size in bytes above which the whole patch is clipped; at least 1.
    pub max_patch_bytes: Option<u64>,
    /// How many files and folders a snapshot may have; at least 1.
    pub max_snapshot_files: Option<u64>,
    /// The size in bytes that a snapshot may have; at least 1.
    pub max_snapshot_bytes: Option<u64>,
    /// A file that says which credentials are none, in the format of gitleaks: absolute, or below
    /// `~/`.
    pub allowlist: Option<PathBuf>,
}
