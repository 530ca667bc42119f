//! What `reviewers discover --json` prints.

use diffwarden_actors::model::{EngineName, Transport};
use schemars::JsonSchema;
use serde::Serialize;

/// The version of the shape.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// The answer of `reviewers discover --json`. It holds names and paths that were looked at, and
/// never a value or a content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Discovery {
    /// Always 1.
    pub schema_version: u32,
    /// The working folder; executables inside its repository do not count.
    pub cwd: String,
    /// Whether preflights were made.
    pub deep: bool,
    /// One for every engine and transport, what is usable first.
    pub candidates: Vec<Candidate>,
    /// The same, as lists of `engine:transport`.
    pub summary: DiscoverySummary,
}

/// One way to reach one engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Candidate {
    /// The engine.
    pub engine: EngineName,
    /// How it is reached, as configs spell it.
    pub transport: ConfigTransport,
    /// Whether it is usable.
    pub status: CandidateStatus,
    /// What is known of its login.
    #[serde(rename = "authState")]
    pub auth_state: AuthState,
    /// The same, in a sentence.
    pub detail: String,
    /// What may help, most likely first; only where something is to be done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fix: Vec<String>,
    /// Whether this version of diffwarden has the path.
    pub built: bool,
    /// The executable that was looked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable: Option<ProbedExecutable>,
    /// The package that was looked for.
    #[serde(rename = "sdkPackage", skip_serializing_if = "Option::is_none")]
    pub sdk_package: Option<ProbedPackage>,
    /// The version that preflight read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// A config entry that is enough; only for what is available.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recommended: Option<RecommendedReviewer>,
    /// Where a login was looked for.
    #[serde(rename = "authSignals", skip_serializing_if = "Option::is_none")]
    pub auth_signals: Option<AuthSignalsFound>,
    /// Where to read more.
    pub docs: &'static str,
}

/// How an engine is reached, as configs spell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ConfigTransport {
    /// The protocol that the vendor's SDK speaks.
    Sdk,
    /// The executable's own command line.
    Cli,
    /// Codex's JSON-RPC server.
    AppServer,
    /// The Agent Client Protocol.
    Acp,
}

impl ConfigTransport {
    /// Returns the config's name of a transport.
    pub fn of(transport: Transport) -> Self {
        match transport {
            Transport::Native => Self::Sdk,
            Transport::Cli => Self::Cli,
            Transport::AppServer => Self::AppServer,
            Transport::Acp => Self::Acp,
        }
    }

    /// Returns the transport of that name.
    pub fn transport(self) -> Transport {
        match self {
            Self::Sdk => Transport::Native,
            Self::Cli => Transport::Cli,
            Self::AppServer => Transport::AppServer,
            Self::Acp => Transport::Acp,
        }
    }

    /// Returns the spelling of configs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sdk => "sdk",
            Self::Cli => "cli",
            Self::AppServer => "app-server",
            Self::Acp => "acp",
        }
    }
}

/// Whether a candidate is usable (a closed list).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CandidateStatus {
    /// It is.
    Available,
    /// Its executable or package is not there.
    MissingExecutable,
    /// It is there, and not logged in.
    MissingAuth,
    /// It is there, and a variable it wants is not set.
    RequiresEnv,
    /// It is there, and cannot be used: this version of diffwarden does not have the path, or the
    /// machine does not let it run safely.
    UnsupportedHost,
    /// It is there, and its preflight failed.
    PreflightFailed,
}

/// What is known of a login (a closed list).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthState {
    /// A variable is set or a credential file can be read. Nobody asked whether it is valid.
    Verified,
    /// None is needed.
    NotRequired,
    /// It may be there, where nobody else can look.
    Unverified,
    /// There is none.
    Missing,
}

/// An executable that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProbedExecutable {
    /// Its name; the first of several, where it has several and none was found.
    pub name: String,
    /// Whether it was found.
    pub resolved: bool,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A package that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProbedPackage {
    /// Its name.
    pub name: String,
    /// Whether it was found.
    pub resolved: bool,
    /// Where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// A config entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RecommendedReviewer {
    /// The id.
    pub id: String,
    /// The engine.
    pub engine: EngineName,
    /// The transport, where it is not the engine's first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<ConfigTransport>,
    /// The model, where diffwarden has one for the engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// Where a login was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct AuthSignalsFound {
    /// The names of the variables.
    #[serde(rename = "envVars", skip_serializing_if = "Vec::is_empty")]
    pub env_vars: Vec<String>,
    /// The credential file.
    #[serde(rename = "credentialFile", skip_serializing_if = "Option::is_none")]
    pub credential_file: Option<CredentialFileProbe>,
}

/// A credential file that was looked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CredentialFileProbe {
    /// Its usual path.
    pub path: String,
    /// The variable that moves its folder.
    #[serde(rename = "baseEnvVar", skip_serializing_if = "Option::is_none")]
    pub base_env_var: Option<String>,
}

/// The candidates as lists of `engine:transport`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DiscoverySummary {
    /// What is usable.
    pub available: Vec<String>,
    /// What is there and not usable.
    #[serde(rename = "needsAttention")]
    pub needs_attention: Vec<String>,
    /// What is not there.
    pub missing: Vec<String>,
}

impl Candidate {
    /// Returns `engine:transport`.
    pub fn label(&self) -> String {
        format!("{}:{}", self.engine, self.transport.as_str())
    }

    /// Returns which of the three groups of the summary it is in, from 0.
    fn group(&self) -> u8 {
        match self.status {
            CandidateStatus::Available => 0,
            CandidateStatus::MissingExecutable => 2,
            _ => 1,
        }
    }
}

impl Discovery {
    /// Puts the candidates in order and sums them up.
    pub(super) fn new(cwd: String, deep: bool, mut candidates: Vec<Candidate>) -> Self {
        candidates.sort_by_key(|it| (it.group(), it.auth_state, it.engine.as_str(), it.transport));
        let labels = |group| {
            let members = candidates.iter().filter(|it| it.group() == group);
            members.map(Candidate::label).collect()
        };
        let summary = DiscoverySummary {
            available: labels(0),
            needs_attention: labels(1),
            missing: labels(2),
        };
        Self {
            schema_version: SCHEMA_VERSION,
            cwd,
            deep,
            candidates,
            summary,
        }
    }
}
