//! Deep discovery: what the preflight of a review says about what is there.

use diffwarden_actors::engine::PreflightPass;
use diffwarden_actors::model::{ErrorCode, Failure, Transport};
use serde_json::Value;

use crate::engines::capabilities::{self, Capability};
use crate::engines::settings::ReviewerSettings;

use super::model::{AuthState, Candidate, CandidateStatus, ConfigTransport, Discovery};
use super::probe::INSTALLED;

/// What came of the preflight of a path.
pub type Examined = (ReviewerSettings, Result<PreflightPass, Failure>);

/// Returns what a preflight is worth making of: what is there and can be used by this version, as
/// it runs when nobody asks for anything.
pub fn settings_to_examine(discovery: &Discovery) -> Vec<ReviewerSettings> {
    let is_there = |row: &&Capability| {
        let candidate = discovery.candidates.iter().find(|it| is_of(it, row));
        row.built && candidate.is_some_and(|it| it.status != CandidateStatus::MissingExecutable)
    };
    let rows = capabilities::rows().iter().filter(is_there);
    rows.map(ReviewerSettings::defaults).collect()
}

/// Takes in what preflights said.
pub fn with_preflights(discovery: Discovery, examined: &[Examined]) -> Discovery {
    let mut candidates = discovery.candidates;
    for (settings, outcome) in examined {
        let Some(transport) = settings.transport else {
            continue;
        };
        let candidate = candidates
            .iter_mut()
            .find(|it| it.engine == settings.engine && is_over(it, transport));
        if let Some(candidate) = candidate {
            take_in(candidate, outcome);
        }
    }
    Discovery::new(discovery.cwd, true, candidates)
}

fn is_of(candidate: &Candidate, row: &Capability) -> bool {
    candidate.engine == row.engine && row.transport.is_some_and(|it| is_over(candidate, it))
}

fn is_over(candidate: &Candidate, transport: Transport) -> bool {
    candidate.transport == ConfigTransport::of(transport)
}

fn take_in(candidate: &mut Candidate, outcome: &Result<PreflightPass, Failure>) {
    match outcome {
        Ok(pass) => {
            let version = pass.report.metadata.get("version").and_then(Value::as_str);
            candidate.version = version.map(str::to_owned);
            // A preflight asks nobody for a login, so one that is missing stays missing.
            if candidate.status != CandidateStatus::MissingAuth {
                set_available(candidate);
            }
        }
        Err(failure) => {
            candidate.status = status_of(failure.code);
            candidate.auth_state = match candidate.status {
                CandidateStatus::MissingAuth | CandidateStatus::MissingExecutable => {
                    AuthState::Missing
                }
                _ => AuthState::Unverified,
            };
            candidate.detail.clone_from(&failure.message);
            let advice = failure.hint.iter().chain(&failure.recovery);
            candidate.fix = advice.cloned().collect();
            candidate.recommended = None;
        }
    }
}

fn set_available(candidate: &mut Candidate) {
    candidate.status = CandidateStatus::Available;
    let login = candidate.detail.trim_start_matches(INSTALLED);
    candidate.detail = format!("Preflight passed. {login}");
    candidate.fix.clear();
    if candidate.recommended.is_none() {
        let mut rows = capabilities::of_engine(candidate.engine);
        let row = rows.find(|row| is_of(candidate, row));
        candidate.recommended = row.and_then(super::recommend::entry);
    }
}

/// Returns what a failed preflight means.
fn status_of(code: ErrorCode) -> CandidateStatus {
    match code {
        ErrorCode::MissingAuth => CandidateStatus::MissingAuth,
        ErrorCode::MissingRequirement => CandidateStatus::MissingExecutable,
        ErrorCode::ReviewerEnvironmentFailed => CandidateStatus::UnsupportedHost,
        _ => CandidateStatus::PreflightFailed,
    }
}
