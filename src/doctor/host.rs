//! What diffwarden itself sees of the machine for one reviewer.

use diffwarden_actors::model::{CheckStatus, PreflightCheck, Transport};
use serde_json::Value;

use crate::discovery::{AuthState, Login, LoginSettings, View, look_for_login};
use crate::engines::capabilities;
use crate::engines::settings::ReviewerSettings;

/// Returns the check of the login, and what to do when none was found. Nothing for reviewers inside
/// diffwarden.
pub(super) fn login(
    settings: &ReviewerSettings,
    view: &dyn View,
) -> Option<(PreflightCheck, Option<String>)> {
    settings.transport?;
    let row = capabilities::find(settings.engine, settings.transport)?;
    let mut login = look_for_login(row, which_logins(settings), view);
    if let Some(provider) = settings.provider.as_deref()
        && login.state == AuthState::Missing
    {
        // The engine's own login is not the one that counts.
        login = Login {
            state: AuthState::Unverified,
            detail: format!("Whether there is a key for {provider} was not checked."),
            fix: None,
            wants_variable: false,
        };
    }
    let status = match login.state {
        AuthState::Verified | AuthState::NotRequired => CheckStatus::Passed,
        AuthState::Unverified => CheckStatus::Skipped,
        AuthState::Missing => CheckStatus::Warning,
    };
    let Login { detail, fix, .. } = login;
    let check = PreflightCheck {
        name: "login".to_owned(),
        status,
        detail,
    };
    Some((check, fix.filter(|_| status == CheckStatus::Warning)))
}

/// Returns the check of the provider that the entry routes through; nothing when it names none. A
/// variable that is named and not set has failed the preflight already.
pub(super) fn provider(settings: &ReviewerSettings) -> Option<PreflightCheck> {
    let named = |option: &str| {
        settings
            .options
            .provider
            .get(option)
            .and_then(Value::as_str)
    };
    let variables: Vec<&str> = ["apiKeyEnv", "baseUrlEnv"]
        .into_iter()
        .filter_map(named)
        .collect();
    let mut parts: Vec<String> = Vec::new();
    if let Some(provider) = &settings.provider {
        parts.push(format!("The model is asked for at {provider}."));
    }
    if !variables.is_empty() {
        let verb = if variables.len() == 1 { "is" } else { "are" };
        parts.push(format!("{} {verb} set.", variables.join(" and ")));
    }
    (!parts.is_empty()).then(|| PreflightCheck {
        name: "provider".to_owned(),
        status: CheckStatus::Passed,
        detail: parts.join(" "),
    })
}

/// Returns which logins the entry lets count.
fn which_logins(settings: &ReviewerSettings) -> LoginSettings {
    match settings.options.sdk.get("authMode").and_then(Value::as_str) {
        Some("api-key") => LoginSettings::VariablesOnly,
        Some("claude-code") => LoginSettings::OwnOnly,
        _ => LoginSettings::Any,
    }
}

/// Returns what may help against a failure that does not say so itself.
pub(super) fn usual_fix(settings: &ReviewerSettings, is_login: bool) -> Option<String> {
    let row = capabilities::find(settings.engine, settings.transport)?;
    let setup = row.setup()?;
    Some(match (is_login, setup.install) {
        (true, _) => format!("to log in, {}", setup.login),
        (false, Some(install)) if settings.transport != Some(Transport::Acp) => {
            format!("install it anew with `{install}`")
        }
        (false, _) => format!("see {}", setup.docs),
    })
}
