//! Whether what a reviewer's entry points to is there: the variables that its `providerOptions` name
//! (SPEC 5.4, "provider/profile options are coherent").
//!
//! A value is looked at and never repeated: it is a key, or an address that may hold one.

use std::sync::Arc;

use diffwarden_actors::engine::{Engine, Place, Preflight, ReviewRequest, Start};
use diffwarden_actors::model::{ErrorCode, Failure, Reason};

use super::settings::ReviewerSettings;
use crate::env::Environment;

/// The options that name a variable, and what its value has to be.
const NAMING: [(&str, Meaning); 2] = [
    ("apiKeyEnv", Meaning::Key),
    ("baseUrlEnv", Meaning::Address),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Key,
    Address,
}

/// Checks the variables that `providerOptions` names.
///
/// # Errors
///
/// Names the option and the variable that is unset or holds no address.
pub fn check(settings: &ReviewerSettings, env: &Environment) -> Result<(), Failure> {
    for (option, meaning) in NAMING {
        let Some(name) = settings
            .options
            .provider
            .get(option)
            .and_then(|it| it.as_str())
        else {
            continue;
        };
        check_variable(option, name, meaning, env)?;
    }
    Ok(())
}

fn check_variable(
    option: &str,
    name: &str,
    meaning: Meaning,
    env: &Environment,
) -> Result<(), Failure> {
    if !is_variable(name) {
        return Err(incoherent(
            ErrorCode::ReviewerEnvironmentFailed,
            format!("providerOptions.{option} does not hold the name of a variable"),
        )
        .hint("write the name of the variable there, such as OPENROUTER_API_KEY"));
    }
    let Some(value) = env.text(name) else {
        let (code, what) = match meaning {
            Meaning::Key => (ErrorCode::MissingAuth, "key"),
            Meaning::Address => (ErrorCode::ReviewerEnvironmentFailed, "base URL"),
        };
        return Err(incoherent(
            code,
            format!("providerOptions.{option} names {name}, which is not set"),
        )
        .hint(format!(
            "set {name} to the {what} of the provider, or correct providerOptions.{option} in \
             the reviewer's entry"
        )));
    };
    let is_address = ["http://", "https://"]
        .iter()
        .any(|it| value.starts_with(it));
    if meaning == Meaning::Address && !is_address {
        return Err(incoherent(
            ErrorCode::ReviewerEnvironmentFailed,
            format!("{name}, which providerOptions.{option} names, does not hold a URL"),
        )
        .hint(format!(
            "set {name} to an address that begins with https://"
        )));
    }
    Ok(())
}

fn incoherent(code: ErrorCode, message: String) -> Failure {
    let reason = if code == ErrorCode::MissingAuth {
        Reason::Auth
    } else {
        Reason::Environment
    };
    Failure::new(code, message).reason(reason)
}

fn is_variable(name: &str) -> bool {
    let mut letters = name.chars();
    letters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && letters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Stands in for an engine that cannot work as it is configured: it fails in preflight, so that it
/// fails one reviewer and not the run.
#[derive(Debug)]
struct Incoherent(Failure);

impl Engine for Incoherent {
    fn preflight(&self, _place: &Place) -> Result<Preflight, Failure> {
        Err(self.0.clone())
    }

    fn review(&self, _request: &ReviewRequest) -> Result<Start, Failure> {
        Err(self.0.clone())
    }
}

/// Returns the engine, or what fails in its place when the settings are not coherent.
pub(crate) fn guard(
    engine: Arc<dyn Engine>,
    settings: &ReviewerSettings,
    env: &Environment,
) -> Arc<dyn Engine> {
    match check(settings, env) {
        Ok(()) => engine,
        Err(failure) => Arc::new(Incoherent(failure)),
    }
}

#[cfg(test)]
mod tests {
    use diffwarden_actors::model::EngineName;
    use serde_json::{Value, json};

    use super::*;
    use crate::engines::capabilities;

    fn checked(options: Value) -> Result<(), Failure> {
        let mut settings = ReviewerSettings::defaults(capabilities::default_row(EngineName::Pi));
        settings.options.provider = serde_json::from_value(options).unwrap();
        let env = [
            ("SET", "S3CRET"),
            ("BLANK", " "),
            ("URL", "https://u:S3CRET@example.com"),
        ];
        check(&settings, &env.into_iter().collect())
    }

    #[test]
    fn what_is_named_must_be_there() {
        for fine in [
            json!({}),
            json!({"apiKeyEnv": "SET", "baseUrlEnv": "URL"}),
            json!({"other": "UNSET", "apiKeyEnv": 3}),
        ] {
            assert_eq!(checked(fine.clone()), Ok(()), "{fine}");
        }
        for (wrong, code, named) in [
            (
                json!({"apiKeyEnv": "UNSET"}),
                ErrorCode::MissingAuth,
                "apiKeyEnv names UNSET",
            ),
            (
                json!({"apiKeyEnv": "BLANK"}),
                ErrorCode::MissingAuth,
                "BLANK",
            ),
            (
                json!({"baseUrlEnv": "UNSET"}),
                ErrorCode::ReviewerEnvironmentFailed,
                "UNSET",
            ),
            (
                json!({"baseUrlEnv": "SET"}),
                ErrorCode::ReviewerEnvironmentFailed,
                "SET",
            ),
            (
                json!({"apiKeyEnv": "S3CRET value"}),
                ErrorCode::ReviewerEnvironmentFailed,
                "apiKeyEnv",
            ),
        ] {
            let failure = checked(wrong.clone()).unwrap_err();
            assert_eq!(failure.code, code, "{wrong}");
            assert!(failure.message.contains(named), "{failure}");
            assert!(failure.hint.is_some());
            assert!(!format!("{failure:?}").contains("S3CRET"), "{failure:?}");
        }
    }

    #[test]
    fn an_incoherent_reviewer_fails_in_preflight() {
        let failure = Failure::new(ErrorCode::MissingAuth, "unset");
        let place = Place {
            repo_root: "/repo".into(),
            run_dir: "/run".into(),
        };
        let outcome = Incoherent(failure.clone()).preflight(&place);
        assert_eq!(outcome.err(), Some(failure));
    }
}
