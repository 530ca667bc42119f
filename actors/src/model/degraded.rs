use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that did not run, was left out, or counts for less than it seems.
///
/// `trust` says whether a result may be read as a full review; these entries say of what it fell
/// short, and what is worth knowing beyond that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Degraded {
    /// What to make of it.
    pub kind: DegradedKind,
    /// What it is about.
    pub topic: DegradedTopic,
    /// What happened, in a sentence or a few words.
    pub message: String,
}

/// What to make of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DegradedKind {
    /// Something is missing, and the user can do something about it.
    Actionable,
    /// The result is less than a full review.
    Warning,
    /// As it should be, and worth knowing.
    Info,
}

/// The closed list of what entries are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DegradedTopic {
    /// Which change was reviewed, and what of it could not be read.
    DiffSource,
    /// The work tree is not what was reviewed, or changed meanwhile.
    WorkTree,
    /// The frozen copy of the reviewed tree.
    Snapshot,
    /// The scans that need no model.
    Scans,
    /// Files that nobody writes by hand, whose change was not sent.
    Pruning,
    /// Files that were cut or left out because of a size limit.
    Clipping,
    /// Secrets that were blanked in what was sent.
    Masking,
    /// Files of which only the header was sent.
    Binary,
    /// Input that could turn a reviewer against its user.
    UnsafeInput,
    /// Reviewers that gave no answer.
    ReviewerHealth,
    /// Lanes that gave no result.
    LaneHealth,
    /// Answers that are less than a review, or took a second look to read.
    Answers,
    /// Findings that do not point into the change.
    Locations,
    /// The run was ended early, or waited.
    Time,
    /// What an engine or its preflight has reservations about.
    Engines,
}

impl Degraded {
    /// Returns an entry that the user can do something about.
    pub fn actionable(topic: DegradedTopic, message: impl Into<String>) -> Self {
        Self::new(DegradedKind::Actionable, topic, message)
    }

    /// Returns an entry that makes the result less than a full review.
    pub fn warning(topic: DegradedTopic, message: impl Into<String>) -> Self {
        Self::new(DegradedKind::Warning, topic, message)
    }

    /// Returns an entry that is only worth knowing.
    pub fn info(topic: DegradedTopic, message: impl Into<String>) -> Self {
        Self::new(DegradedKind::Info, topic, message)
    }

    fn new(kind: DegradedKind, topic: DegradedTopic, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            kind,
            topic,
            message,
        }
    }
}
