use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether a result may be read as a full review. Findings do not matter for it.
///
/// The default value is that of a saved artifact that says nothing about it (see
/// [`is_unstated`](Self::is_unstated)).
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Trust {
    /// True when `reasons` is empty.
    pub clean: bool,
    /// Everything that speaks against it, each once, in the order of [`TrustReason`].
    pub reasons: Vec<TrustReason>,
}

impl Trust {
    /// Builds the verdict from whatever speaks against it.
    pub fn from_reasons(reasons: impl IntoIterator<Item = TrustReason>) -> Self {
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_unstable();
        reasons.dedup();
        Self {
            clean: reasons.is_empty(),
            reasons,
        }
    }

    /// Whether nothing is said, as in artifacts of programs that know the specification alone. No
    /// run of diffwarden makes such a value.
    pub fn is_unstated(&self) -> bool {
        !self.clean && self.reasons.is_empty()
    }
}

/// The closed list of what makes a result less than a full review.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum TrustReason {
    /// A selected reviewer failed.
    ReviewerFailed,
    /// A lane failed.
    LaneFailed,
    /// An answer was prose.
    FallbackText,
    /// Only some findings of an answer could be kept.
    Salvaged,
    /// A file was not sent whole because of a size limit.
    Clipped,
    /// A secret was blanked in what was sent.
    Masked,
    /// There was nothing to review.
    EmptyDiff,
    /// Everything to review was generated.
    AllPruned,
    /// The work tree changed during the run.
    TreeChanged,
    /// The work tree is not what was reviewed.
    TreeDiffers,
    /// An answer shows no sign that the patch was read.
    VacuousAnswer,
    /// A finding was dropped because it held a secret.
    GuardDropped,
    /// A lane ran without the evidence it builds on.
    EvidenceUnavailable,
    /// The change holds input that is unsafe for an engine.
    UnsafeInput,
    /// The run was interrupted.
    Interrupted,
    /// The run's time was over before everybody had finished.
    MaxTime,
}
