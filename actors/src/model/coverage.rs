use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What of the patch reached the reviewers: the worst over all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Coverage {
    /// Every changed path.
    pub files: Vec<CoverageFile>,
    /// Size of the whole patch in its canonical form, in bytes, before anything was left out.
    pub patch_bytes: u64,
    /// SHA-256 of that text, in hexadecimal.
    pub patch_sha256: String,
}

impl Coverage {
    /// Whether nothing is said, as in artifacts of programs that know the specification alone. The
    /// digest of a patch is never blank.
    pub fn is_unstated(&self) -> bool {
        *self == Self::default()
    }
}

/// What of one file reached the reviewers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageFile {
    /// The path, relative to the root.
    pub path: String,
    /// How much of its change was sent.
    pub sent: Sent,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// Why less than the whole was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How much of a file's change was sent, from everything to nothing.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Sent {
    /// Every line.
    Whole,
    /// There are no lines: a rename, a mode change, a submodule, an empty file.
    Metadata,
    /// Git calls it binary; only its header was sent.
    Binary,
    /// Every line, some with a secret blanked.
    Masked,
    /// Cut short, or only named, because of a size limit.
    Clipped,
    /// Left out as generated.
    Pruned,
}
