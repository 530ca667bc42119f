//! What one reviewer was configured to be, with every value resolved.

use std::fmt;
use std::time::Duration;

use diffwarden_actors::model::{EngineName, ReviewerId, Transport};
use serde_json::{Map, Value};

use super::capabilities::Capability;

/// One selected reviewer: where each value came from no longer matters, except where it is shown.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewerSettings {
    /// The name it is reported under.
    pub id: ReviewerId,
    /// The engine.
    pub engine: EngineName,
    /// How it is reached; `None` for engines inside diffwarden.
    pub transport: Option<Transport>,
    /// The profile it was selected by.
    pub profile: Option<String>,
    /// The provider it routes through.
    pub provider: Option<String>,
    /// The model asked for.
    pub model: Option<Chosen<String>>,
    /// The effort asked for, or the engine's default in diffwarden.
    pub effort: Option<Chosen<Effort>>,
    /// The model to fall back to (Claude only).
    pub fallback_model: Option<Chosen<String>>,
    /// The limit of model turns (Claude's `sdk` transport only).
    pub max_turns: Option<u32>,
    /// The limit of money in US dollars (Claude only); the engine checks it after each response.
    pub max_budget_usd: Option<f64>,
    /// Its whole budget of time.
    pub timeout: Option<Duration>,
    /// The option bags of the config entry, already validated.
    pub options: EngineOptions,
}

impl ReviewerSettings {
    /// Returns what a path runs with when nobody asks for anything.
    pub fn defaults(row: &Capability) -> Self {
        Self {
            id: ReviewerId(row.engine.as_str().to_owned()),
            engine: row.engine,
            transport: row.transport,
            profile: None,
            provider: None,
            model: row
                .default_model
                .map(|model| Chosen::by_default(model.to_owned())),
            effort: row.default_effort.map(Chosen::by_default),
            fallback_model: None,
            max_turns: None,
            max_budget_usd: None,
            timeout: None,
            options: EngineOptions::default(),
        }
    }
}

/// The option bags of a config entry.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EngineOptions {
    /// `cliOptions`.
    pub cli: Map<String, Value>,
    /// `appServerOptions`.
    pub app_server: Map<String, Value>,
    /// `sdkOptions`.
    pub sdk: Map<String, Value>,
    /// `providerOptions`.
    pub provider: Map<String, Value>,
}

/// A value and who chose it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen<T> {
    /// The value.
    pub value: T,
    /// Who chose it.
    pub origin: Origin,
}

impl<T> Chosen<T> {
    /// Returns a value that diffwarden chose.
    pub fn by_default(value: T) -> Self {
        Self {
            value,
            origin: Origin::Default,
        }
    }
}

/// Who chose a value, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A command-line flag.
    Flag,
    /// An environment variable.
    Environment,
    /// The config file.
    Config,
    /// diffwarden's default for the transport (SPEC 5.3).
    Default,
}

impl Origin {
    /// Returns the spelling used in preflight and adapter metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Flag => "requested",
            Self::Environment => "env",
            Self::Config => "config",
            Self::Default => "diffwarden-default",
        }
    }
}

/// How hard a model should think (SPEC 5.3): the closed public list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the levels are the public words themselves")]
pub enum Effort {
    Off,
    Minimal,
    Low,
    Medium,
    High,
    Xhigh,
    Max,
}

impl Effort {
    /// Every level, weakest first.
    pub const ALL: [Self; 7] = [
        Self::Off,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::Xhigh,
        Self::Max,
    ];

    /// Returns the public spelling.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Xhigh => "xhigh",
            Self::Max => "max",
        }
    }

    /// Returns the level spelled `text`, if there is one.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effort| effort.as_str() == text)
    }
}

impl fmt::Display for Effort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
