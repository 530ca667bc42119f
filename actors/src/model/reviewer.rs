use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{CoverageFile, ReviewResult, ReviewValidation, ReviewerError};

/// The name a reviewer is reported under: a configured id or an engine's own name.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct ReviewerId(pub String);

impl fmt::Display for ReviewerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The engine behind a reviewer, as the contract spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "each variant is the product's own name")]
pub enum EngineName {
    Cursor,
    Claude,
    Pi,
    Droid,
    Codex,
    Gemini,
    Opencode,
    Grok,
    Antigravity,
    Copilot,
    Acp,
    Surface,
    Fake,
}

impl EngineName {
    /// Every engine, in the order in which SPEC lists them.
    pub const ALL: [Self; 13] = [
        Self::Cursor,
        Self::Claude,
        Self::Pi,
        Self::Droid,
        Self::Codex,
        Self::Gemini,
        Self::Opencode,
        Self::Grok,
        Self::Antigravity,
        Self::Copilot,
        Self::Acp,
        Self::Surface,
        Self::Fake,
    ];

    /// Returns the spelling used in specs, config and artifacts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cursor => "cursor",
            Self::Claude => "claude",
            Self::Pi => "pi",
            Self::Droid => "droid",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Grok => "grok",
            Self::Antigravity => "antigravity",
            Self::Copilot => "copilot",
            Self::Acp => "acp",
            Self::Surface => "surface",
            Self::Fake => "fake",
        }
    }

    /// Returns the engine spelled `text`, if there is one.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|engine| engine.as_str() == text)
    }
}

impl fmt::Display for EngineName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How an engine was reached, as artifacts spell it (config says `sdk` for `native`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// The protocol that the vendor's SDK speaks to its executable.
    Native,
    /// The executable's own command line.
    Cli,
    /// Codex's JSON-RPC server.
    AppServer,
    /// The Agent Client Protocol.
    Acp,
}

/// How far an engine is kept from writing (SPEC 16; docs/engines.md has the evidence).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReadonlyLevel {
    /// The operating system refuses writes.
    Enforced,
    /// The engine offers read-only tools alone.
    ToolRestricted,
    /// The engine is asked not to write.
    PromptOnly,
}

/// Who a reviewer is; the common head of its entry in the artifact.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewerIdentity {
    /// The reviewer's name.
    pub id: ReviewerId,
    /// Its engine.
    pub engine: EngineName,
    /// How its run ended.
    pub status: ReviewerStatus,
    /// How the engine was reached; absent for engines inside diffwarden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// The profile it was selected by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The provider it routes through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The effort asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
}

/// How a reviewer's run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ReviewerStatus {
    /// With an answer.
    Success,
    /// Without one.
    Failed,
}

/// A reviewer's entry in the artifact.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ReviewerEntry {
    /// It failed.
    Failed(Box<FailedReviewer>),
    /// It answered.
    Success(Box<SuccessfulReviewer>),
}

/// The entry of a reviewer that answered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct SuccessfulReviewer {
    /// Who it is.
    #[serde(flatten)]
    pub identity: ReviewerIdentity,
    /// What it answered.
    pub result: ReviewResult,
    /// What the checks said about the answer.
    pub validation: ReviewValidation,
    /// Time from its permit to its answer, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing_ms: Option<u64>,
    /// The text that was parsed; absent for structured answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw_text: Option<String>,
    /// What preflight found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preflight: Option<PreflightReport>,
    /// What the adapter recorded about the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter_metadata: Option<Map<String, Value>>,
    /// Tokens and cost, as the engine reports them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Value>,
    /// The files of which this reviewer received less than the run's coverage says at best.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Vec<CoverageFile>>,
}

/// The entry of a reviewer that failed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FailedReviewer {
    /// Who it is.
    #[serde(flatten)]
    pub identity: ReviewerIdentity,
    /// What preflight found, when it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preflight: Option<PreflightReport>,
    /// Why it failed.
    pub error: ReviewerError,
    /// Time from its permit to its failure, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing_ms: Option<u64>,
}

/// What preflight checked and learned.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct PreflightReport {
    /// The checks, in the order they are made.
    pub checks: Vec<PreflightCheck>,
    /// What is known about the engine before it runs.
    pub metadata: Map<String, Value>,
}

/// One check of preflight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PreflightCheck {
    /// What was checked.
    pub name: String,
    /// What came of it.
    pub status: CheckStatus,
    /// The details, in a sentence.
    pub detail: String,
}

/// What came of a preflight check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckStatus {
    /// It holds.
    Passed,
    /// It does not apply, or is left to the engine.
    Skipped,
    /// It holds with a reservation.
    Warning,
}

impl ReviewerEntry {
    /// Returns who the reviewer is.
    pub fn identity(&self) -> &ReviewerIdentity {
        match self {
            Self::Success(entry) => &entry.identity,
            Self::Failed(entry) => &entry.identity,
        }
    }
}
