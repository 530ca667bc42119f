//! From JSON to a typed config: the keys of the file as a whole.

use std::path::PathBuf;
use std::time::Duration;

use diffwarden_actors::model::EngineName;
use serde_json::Value;

use super::discover::ConfigKind;
use super::model::{
    Config, IntakeSettings, ReportMode, ReportScope, ReportingSettings, ReviewPlanSettings,
    ReviewerSet,
};
use super::node::{Node, Object, shown};
use super::problem::Problems;
use super::{names, project, reviewer, secret};

pub(super) const KEYS: &[&str] = &[
    "$schema",
    "defaultReviewerSet",
    "reviewerSets",
    "reviewers",
    "readonly",
    "timeoutSeconds",
    "maxConcurrency",
    "maxConcurrencyPerEngine",
    "reviewPlan",
    "reporting",
    "intake",
];

/// The keys of each section.
pub(super) const REVIEW_PLAN_KEYS: &[&str] = &["includeOverview"];
pub(super) const REPORTING_KEYS: &[&str] = &["enabled", "scope", "dir", "mode"];
pub(super) const INTAKE_KEYS: &[&str] = &[
    "prune",
    "maxFileBytes",
    "maxPatchBytes",
    "maxSnapshotFiles",
    "maxSnapshotBytes",
    "allowlist",
];

/// More reviewers than anybody pays for in one run; a project config is not to choose thousands.
const MOST_MEMBERS: usize = 256;
/// More reviewers at a time than any machine can hold.
const MOST_CONCURRENT: u64 = 1024;
/// More bytes than any patch that a model could read.
const MOST_BYTES: u64 = 1 << 40;

/// The shortest and the longest budget; values outside are moved to the nearer end, so that no
/// deadline can overflow a clock and none is over before it starts.
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(1);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(u32::MAX as u64);

/// Checks a file and returns what it says.
///
/// # Errors
///
/// Returns every problem that was found.
pub(super) fn validate(value: &Value, kind: ConfigKind) -> Result<Config, Problems> {
    let mut problems = Problems::default();
    let root = Node::root(value);
    let config = root
        .object(&mut problems)
        .map(|object| read(&object, &mut problems));
    find_secrets("", &root, &mut problems);
    if kind == ConfigKind::Project {
        project::refuse(&root, &mut problems);
    }
    match config {
        Some(config) if problems.0.is_empty() => Ok(config),
        _ => Err(problems),
    }
}

fn read(object: &Object<'_>, problems: &mut Problems) -> Config {
    object.only(KEYS, problems);
    if let Some(node) = object.get("$schema") {
        node.text(problems);
    }
    read_readonly(object, problems);
    let mut config = Config {
        default_reviewer_set: object
            .get("defaultReviewerSet")
            .and_then(|node| node.text(problems))
            .map(str::to_owned),
        reviewer_sets: read_sets(object, problems),
        reviewers: Vec::new(),
        timeout: read_timeout(object, problems),
        max_concurrency: read_concurrency(object, "maxConcurrency", problems),
        max_concurrency_per_engine: read_concurrency(object, "maxConcurrencyPerEngine", problems),
        review_plan: section(object, "reviewPlan", problems, read_review_plan),
        reporting: section(object, "reporting", problems, read_reporting),
        intake: section(object, "intake", problems, read_intake),
    };
    config.reviewers = reviewer::read_all(object, problems);
    check_default_set(&config, problems);
    config
}

/// Checks `readonly`, which can only be true: diffwarden never lets a reviewer write (SPEC 3).
pub(super) fn read_readonly(object: &Object<'_>, problems: &mut Problems) {
    if let Some(node) = object.get("readonly")
        && node.flag(problems) == Some(false)
    {
        problems.add(node.at, "readonly can only be true");
    }
}

/// Reads `timeoutSeconds` of the file or of a reviewer.
pub(super) fn read_timeout(object: &Object<'_>, problems: &mut Problems) -> Option<Duration> {
    let seconds = object.get("timeoutSeconds")?.positive(problems)?;
    timeout_of_seconds(seconds)
}

/// Returns a budget of so many seconds, moved into the range that clocks can hold; `None` unless
/// the number is finite and above zero.
pub(super) fn timeout_of_seconds(seconds: f64) -> Option<Duration> {
    if !(seconds.is_finite() && seconds > 0.0) {
        return None;
    }
    Some(
        Duration::try_from_secs_f64(seconds)
            .unwrap_or(LONGEST_TIMEOUT)
            .clamp(SHORTEST_TIMEOUT, LONGEST_TIMEOUT),
    )
}

fn read_concurrency(object: &Object<'_>, key: &str, problems: &mut Problems) -> Option<usize> {
    let count = object.get(key)?.count(MOST_CONCURRENT, problems)?;
    usize::try_from(count).ok()
}

fn section<T: Default>(
    object: &Object<'_>,
    key: &str,
    problems: &mut Problems,
    read: fn(&Object<'_>, &mut Problems) -> T,
) -> T {
    object
        .get(key)
        .and_then(|node| node.object(problems))
        .map(|inner| read(&inner, problems))
        .unwrap_or_default()
}

fn read_review_plan(object: &Object<'_>, problems: &mut Problems) -> ReviewPlanSettings {
    object.only(REVIEW_PLAN_KEYS, problems);
    ReviewPlanSettings {
        include_overview: flag(object, "includeOverview", problems),
    }
}

fn read_reporting(object: &Object<'_>, problems: &mut Problems) -> ReportingSettings {
    object.only(REPORTING_KEYS, problems);
    ReportingSettings {
        enabled: flag(object, "enabled", problems),
        scope: object.get("scope").and_then(|node| {
            let choices = [("global", ReportScope::Global), ("repo", ReportScope::Repo)];
            node.word(&choices, problems)
        }),
        dir: object
            .get("dir")
            .and_then(|node| node.text(problems))
            .map(PathBuf::from),
        mode: object.get("mode").and_then(|node| {
            let choices = [
                ("full", ReportMode::Full),
                ("metadata", ReportMode::Metadata),
            ];
            node.word(&choices, problems)
        }),
    }
}

fn read_intake(object: &Object<'_>, problems: &mut Problems) -> IntakeSettings {
    object.only(INTAKE_KEYS, problems);
    let mut bytes = |key: &str| object.get(key)?.count(MOST_BYTES, problems);
    let max_file_bytes = bytes("maxFileBytes");
    let max_patch_bytes = bytes("maxPatchBytes");
    let max_snapshot_files = bytes("maxSnapshotFiles");
    let max_snapshot_bytes = bytes("maxSnapshotBytes");
    let allowlist = object.get("allowlist").and_then(|node| {
        let path = node.text(problems)?;
        if !path.starts_with('/') && !path.starts_with("~/") {
            let what = "must be an absolute path or one that starts with ~/";
            problems.add(node.at, what);
        }
        Some(PathBuf::from(path))
    });
    IntakeSettings {
        allowlist,
        prune: flag(object, "prune", problems),
        max_file_bytes,
        max_patch_bytes,
        max_snapshot_files,
        max_snapshot_bytes,
    }
}

pub(super) fn flag(object: &Object<'_>, key: &str, problems: &mut Problems) -> Option<bool> {
    object.get(key)?.flag(problems)
}

fn read_sets(object: &Object<'_>, problems: &mut Problems) -> Vec<ReviewerSet> {
    let Some(sets) = object
        .get("reviewerSets")
        .and_then(|node| node.object(problems))
    else {
        return Vec::new();
    };
    sets.nodes()
        .map(|(name, node)| {
            if name.trim().is_empty() {
                problems.add(&sets.at, "the name of a reviewer set must not be blank");
            } else if let Some(defect) = names::defect_of_name(name) {
                problems.add(&node.at, format!("the name of a reviewer set {defect}"));
            }
            let members = node.items(problems).unwrap_or_default();
            if members.len() > MOST_MEMBERS {
                let message = format!("a reviewer set has at most {MOST_MEMBERS} members");
                problems.add(&node.at, message);
            }
            ReviewerSet {
                name: name.to_owned(),
                members: members
                    .iter()
                    .filter_map(|member| member.text(problems))
                    .map(|member| member.trim().to_owned())
                    .collect(),
            }
        })
        .collect()
}

/// Keeps the reviewers inside diffwarden out of the set that runs when nobody named anyone: they
/// run only when named, and must never stand in for a review. A set of the fixture alone is
/// somebody trying out their set-up; nothing it prints can be taken for a review.
fn check_default_set(config: &Config, problems: &mut Problems) {
    let Some(set) = config.set(config.default_set_name()) else {
        return;
    };
    if set.members == [EngineName::Fake.as_str()] {
        return;
    }
    for (index, member) in set.members.iter().enumerate() {
        let inside = [EngineName::Surface, EngineName::Fake];
        if inside.iter().any(|engine| engine.as_str() == member) {
            problems.add(
                format!("reviewerSets.{}[{index}]", shown(&set.name)),
                format!(
                    "`{member}` cannot be in the default reviewer set, because it runs only when \
                     it is named; use --reviewer {member} or a set that is not the default"
                ),
            );
        }
    }
}

/// Adds a problem for every text that is a key instead of the name of a variable that holds one.
fn find_secrets(name: &str, node: &Node<'_>, problems: &mut Problems) {
    match node.value {
        Value::String(text) if secret::is_literal(name, text) => problems.add(
            &node.at,
            "this looks like a secret; configs hold only the names of environment variables, \
             such as apiKeyEnv",
        ),
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                let at = format!("{}[{index}]", node.at);
                find_secrets(name, &Node { value, at }, problems);
            }
        }
        Value::Object(entries) => {
            let at = node.at.clone();
            for (key, inner) in (Object { entries, at }).nodes() {
                find_secrets(key, &inner, problems);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
