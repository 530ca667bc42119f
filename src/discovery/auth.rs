//! What can be seen of a login without asking the engine, which might write, renew or pay.

use std::path::{Path, PathBuf};

use crate::engines::capabilities::{Capability, CredentialFile};

use super::model::{AuthSignalsFound, AuthState, CredentialFileProbe};
use super::view::{Credential, View};

/// What was seen of a login.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Login {
    /// What is known.
    pub state: AuthState,
    /// The same, in a sentence.
    pub detail: String,
    /// What to do about it, where something is to be done.
    pub fix: Option<String>,
    /// Whether a variable is wanted and not set, although there may be a login elsewhere.
    pub wants_variable: bool,
}

/// Which logins count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LoginSettings {
    /// All of them.
    #[default]
    Any,
    /// Variables alone (`sdkOptions.authMode: "api-key"`).
    VariablesOnly,
    /// The engine's own login alone (`sdkOptions.authMode: "claude-code"`).
    OwnOnly,
}

/// Looks for a login of an engine.
pub fn look_for_login(row: &Capability, settings: LoginSettings, view: &dyn View) -> Login {
    let auth = &row.auth;
    let own = settings != LoginSettings::VariablesOnly;
    let variables = if settings == LoginSettings::OwnOnly {
        &[]
    } else {
        auth.variables
    };
    let files = if own { auth.files } else { &[] };
    if row.transport.is_none() {
        return seen(AuthState::NotRequired, "It needs no login.".to_owned());
    }
    if let Some(name) = variables.iter().find(|name| view.has_variable(name)) {
        return seen(AuthState::Verified, format!("{name} is set."));
    }
    if let Some((file, path)) = files.iter().find_map(|file| readable(file, view)) {
        return seen(AuthState::Verified, found_in(file, &path, view));
    }
    let setup = row.setup();
    let fix = setup.map(|setup| format!("to log in, {}", setup.login));
    if own && auth.delegated_login {
        let wants_variable = setup.is_some_and(|it| it.wants_variable) && !variables.is_empty();
        let detail = if wants_variable {
            format!(
                "{} is not set. It may have a login of its own.",
                variables.join(" or ")
            )
        } else {
            "Whether it is logged in was not checked.".to_owned()
        };
        return Login {
            state: AuthState::Unverified,
            detail,
            fix,
            wants_variable,
        };
    }
    let mut detail = format!("No login was found: {}.", looked_at(variables, files));
    if let Some(unless) = setup.and_then(|setup| setup.unless) {
        detail = format!("{detail} None is needed where {unless}.");
    }
    Login {
        state: AuthState::Missing,
        detail,
        fix,
        wants_variable: false,
    }
}

/// Returns where a login is looked for, by name.
pub(super) fn signals(row: &Capability) -> Option<AuthSignalsFound> {
    let auth = &row.auth;
    if auth.variables.is_empty() && auth.files.is_empty() {
        return None;
    }
    Some(AuthSignalsFound {
        env_vars: auth.variables.iter().map(|&name| name.to_owned()).collect(),
        credential_file: auth.files.first().map(|file| CredentialFileProbe {
            path: usual_path(file),
            base_env_var: file.base_variable.map(str::to_owned),
        }),
    })
}

fn seen(state: AuthState, detail: String) -> Login {
    Login {
        state,
        detail,
        fix: None,
        wants_variable: false,
    }
}

fn readable<'a>(
    file: &'a CredentialFile,
    view: &dyn View,
) -> Option<(&'a CredentialFile, PathBuf)> {
    let path = path_of(file, view)?;
    (view.credential(&path) == Credential::Present).then_some((file, path))
}

fn path_of(file: &CredentialFile, view: &dyn View) -> Option<PathBuf> {
    let base = file
        .base_variable
        .and_then(|name| view.folder_of_variable(name));
    let base = base.or_else(|| Some(view.home()?.join(file.home_folder)))?;
    Some(base.join(file.name))
}

fn usual_path(file: &CredentialFile) -> String {
    format!("~/{}/{}", file.home_folder, file.name)
}

fn found_in(file: &CredentialFile, path: &Path, view: &dyn View) -> String {
    let usual = view
        .home()
        .map(|home| home.join(file.home_folder).join(file.name));
    match file.base_variable {
        Some(name) if usual.as_deref() != Some(path) => {
            format!("A login is in ${name}/{}.", file.name)
        }
        _ => format!("A login is in {}.", usual_path(file)),
    }
}

/// Says what was looked at in vain.
fn looked_at(variables: &[&str], files: &[CredentialFile]) -> String {
    let unset = (!variables.is_empty()).then(|| {
        let verb = if variables.len() == 1 { "is" } else { "are" };
        format!("{} {verb} not set", variables.join(", "))
    });
    let unread = files.iter().map(|file| {
        let moved = file.base_variable;
        let moved = moved.map_or_else(String::new, |name| format!(" (or in ${name})"));
        format!("{}{moved} holds none", usual_path(file))
    });
    unset
        .into_iter()
        .chain(unread)
        .collect::<Vec<_>>()
        .join(", ")
}
