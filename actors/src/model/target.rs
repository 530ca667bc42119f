use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is reviewed, after all names have been resolved (SPEC 7.5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewTarget {
    /// The kind of target.
    pub kind: TargetKind,
    /// The root of the work tree, absolute.
    pub repo_root: String,
    /// The branch that was named, for `base:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_ref: Option<String>,
    /// The merge-base, for `base:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_sha: Option<String>,
    /// The commit of HEAD; absent for `commit:` and before the first commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head_sha: Option<String>,
    /// The commit reviewed, for `commit:`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_sha: Option<String>,
    /// The instructions of a `custom:` target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// A git command line that shows the same change.
    pub diff_command: String,
    /// The changed paths, relative to the root; empty for `custom:`.
    pub changed_files: Vec<String>,
}

/// The kinds of target (SPEC 5.5). `pr` is reserved by the schema and never produced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TargetKind {
    /// Staged, unstaged and untracked changes.
    Uncommitted,
    /// HEAD against its merge-base with a branch.
    Base,
    /// One commit.
    Commit,
    /// A pull request; reserved.
    Pr,
    /// Instructions for the whole repository, without a diff.
    Custom,
}

impl ReviewTarget {
    /// Returns the target as it was written, with short names made full: `base:main`.
    pub fn label(&self) -> String {
        let named = |kind: &str, value: &Option<String>| {
            format!("{kind}:{}", value.as_deref().unwrap_or_default())
        };
        match self.kind {
            TargetKind::Uncommitted => "uncommitted".to_owned(),
            TargetKind::Base => named("base", &self.base_ref),
            TargetKind::Commit => named("commit", &self.commit_sha),
            TargetKind::Custom => named("custom", &self.instructions),
            TargetKind::Pr => "pr".to_owned(),
        }
    }

    /// Whether there is a diff behind the target.
    pub fn is_diff_backed(&self) -> bool {
        self.kind != TargetKind::Custom
    }
}
