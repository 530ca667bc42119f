use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{EngineName, ReviewerId};

/// The kinds of error a caller can tell apart (SPEC 6; a closed list).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ErrorCode {
    /// The command line does not make sense here.
    InvalidCli,
    /// The configuration is wrong.
    InvalidConfig,
    /// The model is known to be wrong before anything runs.
    InvalidModel,
    /// The effort is known to be wrong before anything runs.
    InvalidEffort,
    /// A program or runtime is missing.
    MissingRequirement,
    /// Credentials are missing or refused.
    MissingAuth,
    /// The engine ran and failed.
    ReviewerFailed,
    /// The surroundings do not let the engine run safely.
    ReviewerEnvironmentFailed,
    /// The reviewer's time was over.
    Timeout,
    /// Strict mode: an answer could not be read.
    ParseFailed,
    /// Strict mode: a finding points outside the change.
    ValidationFailed,
}

impl ErrorCode {
    /// Returns the exit code that SPEC 6 gives this kind.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::InvalidCli | Self::InvalidConfig | Self::InvalidModel | Self::InvalidEffort => 2,
            Self::MissingRequirement
            | Self::MissingAuth
            | Self::ReviewerFailed
            | Self::ReviewerEnvironmentFailed
            | Self::Timeout => 3,
            Self::ParseFailed | Self::ValidationFailed => 4,
        }
    }
}

/// Tells apart what shares an [`ErrorCode`] (a closed list).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Credentials are missing or refused.
    Auth,
    /// A usage limit or quota is used up.
    Quota,
    /// The provider asked to slow down.
    RateLimit,
    /// The provider does not know, or does not grant, the model.
    Model,
    /// The reviewer's time was over.
    Timeout,
    /// The run's time was over.
    MaxTime,
    /// A signal or a closed output ended the run.
    Interrupted,
    /// The engine ended by a signal or an internal error.
    Crash,
    /// The model declined to review.
    Refused,
    /// The engine finished and left nothing to read, for example because it gave up on structured
    /// output. The one failure after which a review is run again (SPEC 10).
    Empty,
    /// The engine's output does not follow its own format.
    Protocol,
    /// The engine printed more than the limit.
    OutputLimit,
    /// The change holds input that is unsafe for this engine.
    UnsafeInput,
    /// The surroundings do not let the engine run.
    Environment,
}

/// Why something did not work: what, why, and what to do about it.
///
/// `message` is a sentence for people; programs read `code` and `reason`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The kind of error.
    pub code: ErrorCode,
    /// What went wrong.
    pub message: String,
    /// The finer kind, where there is one.
    pub reason: Option<Reason>,
    /// Steps that may help, most likely first.
    pub recovery: Vec<String>,
    /// One line of advice.
    pub hint: Option<String>,
    /// The exit code, where it is not that of the kind (an interrupted run).
    pub exit_code: Option<u8>,
    /// How long the provider asks to wait before the next request, where it said so.
    pub retry_after: Option<Duration>,
}

impl Failure {
    /// Creates a failure of the given kind.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            reason: None,
            recovery: Vec::new(),
            hint: None,
            exit_code: None,
            retry_after: None,
        }
    }

    /// Adds the finer kind.
    #[must_use]
    pub fn reason(mut self, reason: Reason) -> Self {
        self.reason = Some(reason);
        self
    }

    /// Adds one line of advice.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a step that may help.
    #[must_use]
    pub fn recovery(mut self, step: impl Into<String>) -> Self {
        self.recovery.push(step.into());
        self
    }

    /// Adds how long the provider asks to wait.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.retry_after = Some(wait);
        self
    }

    /// Returns the exit code a run ends with when this failure ends it.
    pub fn exit_code(&self) -> u8 {
        self.exit_code.unwrap_or_else(|| self.code.exit_code())
    }

    /// Returns the published form; `who` names the reviewer it belongs to.
    pub fn to_error(&self, who: Option<(&ReviewerId, EngineName)>) -> ReviewerError {
        ReviewerError {
            code: self.code,
            message: self.message.clone(),
            exit_code: self.exit_code(),
            reason: self.reason,
            recovery: self.recovery.clone(),
            reviewer_id: who.map(|(id, _)| id.clone()),
            engine: who.map(|(_, engine)| engine),
            hint: self.hint.clone(),
        }
    }
}

/// A failure as artifacts, frames and error objects show it (SPEC 6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewerError {
    /// The kind of error.
    pub code: ErrorCode,
    /// What went wrong.
    pub message: String,
    /// The exit code of a run that ends with it.
    pub exit_code: u8,
    /// The finer kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Steps that may help.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recovery: Vec<String>,
    /// The reviewer it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reviewer_id: Option<ReviewerId>,
    /// That reviewer's engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<EngineName>,
    /// One line of advice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}
