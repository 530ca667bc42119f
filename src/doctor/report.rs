//! What `doctor --json` prints.

use diffwarden_actors::check_up::CheckedUp;
use diffwarden_actors::model::{
    EngineName, ErrorCode, Failure, PreflightCheck, PreflightReport, ReviewerError, ReviewerId,
    Transport,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::host;
use crate::discovery::View;
use crate::engines::settings::ReviewerSettings;

/// The version of the shape.
const SCHEMA_VERSION: u32 = 2;

/// The answer of `doctor --json`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DoctorReport {
    /// Always 2.
    pub schema_version: u32,
    /// The working folder, as it was given.
    pub cwd: String,
    /// The config that was used, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub config: Option<String>,
    /// The selected reviewers, in order.
    pub reviewers: Vec<DoctorReviewer>,
    /// Time of the whole check, in milliseconds.
    pub timing_ms: u64,
}

/// One reviewer.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DoctorReviewer {
    /// The name it is reported under.
    pub id: ReviewerId,
    /// Its engine.
    pub engine: EngineName,
    /// Whether it can work.
    pub status: DoctorStatus,
    /// How the engine is reached; absent for engines inside diffwarden.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// The profile it was selected by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The provider it routes through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The effort asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    /// What preflight found, when it passed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preflight: Option<PreflightReport>,
    /// Why it cannot work.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ReviewerError>,
    /// What diffwarden itself saw of the machine; nothing of it fails a reviewer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<PreflightCheck>,
    /// What may help, most likely first; only where something is to be done.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fix: Vec<String>,
    /// Time of its check, in milliseconds.
    pub timing_ms: u64,
}

/// Whether a reviewer can work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DoctorStatus {
    /// It passed its preflight.
    Passed,
    /// It did not.
    Failed,
}

impl DoctorReport {
    /// Makes the report of what came of looking at the reviewers, which are in the same order.
    pub fn new(
        cwd: String,
        config: Option<String>,
        checked: Vec<(ReviewerSettings, CheckedUp)>,
        view: &dyn View,
        timing_ms: u64,
    ) -> Self {
        let reviewers = checked
            .into_iter()
            .map(|(settings, checked)| DoctorReviewer::new(&settings, checked, view));
        Self {
            schema_version: SCHEMA_VERSION,
            cwd,
            config,
            reviewers: reviewers.collect(),
            timing_ms,
        }
    }

    /// Whether every reviewer can work.
    pub fn is_fit(&self) -> bool {
        let mut reviewers = self.reviewers.iter();
        reviewers.all(|it| it.status == DoctorStatus::Passed)
    }
}

impl DoctorReviewer {
    fn new(settings: &ReviewerSettings, checked: CheckedUp, view: &dyn View) -> Self {
        let (status, preflight, failure) = match checked.outcome {
            Ok(pass) => (DoctorStatus::Passed, Some(pass.report), None),
            Err(failure) => (DoctorStatus::Failed, None, Some(failure)),
        };
        let login = host::login(settings, view);
        let (login, login_fix) = login.map_or((None, None), |(check, fix)| (Some(check), fix));
        let provider = host::provider(settings).filter(|_| failure.is_none());
        let fix = match &failure {
            Some(failure) => fixes(failure, settings, login_fix),
            None => login_fix.into_iter().collect(),
        };
        Self {
            id: settings.id.clone(),
            engine: settings.engine,
            status,
            transport: settings.transport,
            profile: settings.profile.clone(),
            provider: settings.provider.clone(),
            model: settings.model.as_ref().map(|model| model.value.clone()),
            effort: settings
                .effort
                .as_ref()
                .map(|it| it.value.as_str().to_owned()),
            preflight,
            error: failure.map(|failure| failure.to_error(None)),
            host: login.into_iter().chain(provider).collect(),
            fix,
            timing_ms: checked.timing_ms,
        }
    }
}

/// Returns what may help against a failure: its own advice first. There is always something.
fn fixes(failure: &Failure, settings: &ReviewerSettings, login_fix: Option<String>) -> Vec<String> {
    let mut fixes: Vec<String> = failure
        .hint
        .iter()
        .chain(&failure.recovery)
        .cloned()
        .collect();
    let is_login = failure.code == ErrorCode::MissingAuth;
    if fixes.is_empty() {
        fixes.extend(host::usual_fix(settings, is_login));
    }
    fixes.extend(login_fix);
    fixes
}
