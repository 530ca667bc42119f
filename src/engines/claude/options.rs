//! What one reviewer asks of Claude, in Claude's own words, and how the artifact shows it.

use diffwarden_actors::model::Failure;
use serde_json::{Map, Value};

use super::fallback::{self, Families, Family};
use super::features::Features;
use crate::engines::settings::{Chosen, Effort, Origin, ReviewerSettings};
use crate::engines::shared::{Choices, check_model, wrong_option};

/// The validated choices of one reviewer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Options {
    /// What every engine can be asked for.
    pub(super) choices: Choices,
    /// The fallback as it was asked for, or diffwarden's default.
    pub(super) fallback_model: Option<Chosen<String>>,
    /// The limit of model turns. The `sdk` transport alone has it.
    pub(super) max_turns: Option<u32>,
    /// The limit of money in US dollars. Claude checks it after each response.
    pub(super) max_budget_usd: Option<f64>,
    /// Whose credentials are used.
    pub(super) auth_mode: AuthMode,
}

/// Whose credentials are used (`sdkOptions.authMode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum AuthMode {
    /// Whatever Claude finds: a key in the environment before its own login.
    #[default]
    Auto,
    /// A key in the environment, and nothing else.
    ApiKey,
    /// Claude's own login, even when the environment holds a key.
    ClaudeCode,
}

impl AuthMode {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            "api-key" => Some(Self::ApiKey),
            "claude-code" => Some(Self::ClaudeCode),
            _ => None,
        }
    }

    /// Returns the spelling of the configuration.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::ApiKey => "api-key",
            Self::ClaudeCode => "claude-code",
        }
    }
}

impl Options {
    /// Takes what concerns Claude out of a reviewer's settings. Claude has no providers to choose
    /// from.
    ///
    /// # Errors
    ///
    /// Fails with exit code 2 when an option has an unknown value, or when a model looks like an
    /// option of the command line.
    pub(super) fn from_settings(settings: &ReviewerSettings) -> Result<Self, Failure> {
        let engine = settings.engine;
        let auth_mode = match settings.options.sdk.get("authMode") {
            None => AuthMode::default(),
            Some(value) => value.as_str().and_then(AuthMode::parse).ok_or_else(|| {
                wrong_option(
                    engine,
                    "sdkOptions.authMode",
                    "auto, api-key or claude-code",
                )
            })?,
        };
        let mut choices = Choices::from_settings(settings)?;
        choices.provider = None;
        let name = choices.model.as_ref().map(|model| model.value.as_str());
        let fallback_model = fallback::of(settings.fallback_model.as_ref(), name);
        if let Some(fallback) = &fallback_model {
            check_model(engine, &fallback.value)?;
        }
        Ok(Self {
            choices,
            fallback_model,
            max_turns: settings.max_turns,
            max_budget_usd: settings.max_budget_usd,
            auth_mode,
        })
    }

    /// Whether somebody, and not diffwarden, chose an effort that needs `--effort`.
    pub(super) fn requires_effort(&self) -> bool {
        let is_chosen = |effort: &Chosen<Effort>| effort.origin != Origin::Default;
        self.choices.effort.as_ref().is_some_and(is_chosen)
            && self.choices.native_effort().is_some()
    }

    /// Returns the families that tell a fallback from the chosen model.
    pub(super) fn families(&self) -> Families {
        let family = |model: &Option<Chosen<String>>| Family::of(&model.as_ref()?.value);
        Families {
            model: family(&self.choices.model),
            fallback: family(&self.fallback_model),
        }
    }

    /// Returns the choices as `preflight.metadata` and `adapter_metadata` show them.
    pub(super) fn metadata(&self, features: &Features) -> Map<String, Value> {
        let mut metadata = self.choices.model_metadata();
        metadata.append(&mut self.choices.effort_metadata(features.effort));
        let mut put = |key: &str, value: &str| metadata.insert(key.to_owned(), value.into());
        if let Some(fallback) = &self.fallback_model {
            let is_default = fallback.origin == Origin::Default;
            if features.fallback_model || !is_default {
                put("fallbackModel", &fallback.value);
                put("fallbackModelSource", fallback.origin.as_str());
            }
            if !features.fallback_model && !is_default {
                put("fallbackModelDropped", "cli-unsupported");
            }
        }
        if !features.is_fit_for_login() {
            put("authFallback", "environment");
        }
        put("authMode", self.auth_mode.as_str());
        // `--bare` would take Grep and Glob away and Claude's own login out of reach.
        put("bare", "false");
        put(
            "restricted",
            if features.restricted { "true" } else { "false" },
        );
        if let Some(limit) = self.max_turns {
            metadata.insert("maxTurns".to_owned(), limit.into());
        }
        if let Some(limit) = self.max_budget_usd {
            metadata.insert("maxBudgetUsd".to_owned(), limit.into());
        }
        metadata
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::features;
    use super::*;
    use crate::engines::shared::testing;
    use diffwarden_actors::model::EngineName;
    use serde_json::json;

    pub(in crate::engines::claude) fn settings() -> ReviewerSettings {
        ReviewerSettings {
            model: Some(chosen("sonnet", Origin::Default)),
            effort: Some(Chosen {
                value: Effort::High,
                origin: Origin::Default,
            }),
            ..testing::settings(EngineName::Claude)
        }
    }

    pub(in crate::engines::claude) fn chosen(value: &str, origin: Origin) -> Chosen<String> {
        Chosen {
            value: value.to_owned(),
            origin,
        }
    }

    fn options(change: impl FnOnce(&mut ReviewerSettings)) -> Options {
        let mut settings = settings();
        change(&mut settings);
        Options::from_settings(&settings).unwrap()
    }

    #[test]
    fn metadata_of_the_defaults() {
        let metadata = options(|_| ()).metadata(&features::tests::ALL);
        assert_eq!(
            serde_json::to_string(&metadata).unwrap(),
            json!({
                "model": "sonnet",
                "requestedModel": "sonnet",
                "resolvedModel": "sonnet",
                "modelResolutionSource": "adapter-default",
                "effort": "high",
                "requestedEffort": "high",
                "resolvedEffort": "high",
                "effortResolutionSource": "diffwarden-default",
                "authMode": "auto",
                "bare": "false",
                "restricted": "true",
            })
            .to_string()
        );
    }

    #[test]
    fn a_fallback_is_labelled_and_dropped_as_the_spec_says() {
        let asked = options(|settings| {
            settings.fallback_model = Some(chosen("haiku", Origin::Environment));
        });
        let by_default = options(|settings| settings.model = Some(chosen("opus", Origin::Flag)));
        let old = Features::default();
        let keys = |options: &Options, features: &Features| {
            let metadata = options.metadata(features);
            [
                "fallbackModel",
                "fallbackModelSource",
                "fallbackModelDropped",
            ]
            .map(|key| metadata.get(key).and_then(Value::as_str).map(str::to_owned))
        };
        let some = |text: &str| Some(text.to_owned());
        let all = &features::tests::ALL;
        assert_eq!(keys(&asked, all), [some("haiku"), some("env"), None]);
        assert_eq!(
            keys(&asked, &old),
            [some("haiku"), some("env"), some("cli-unsupported")]
        );
        let expected = [some("sonnet"), some("diffwarden-default"), None];
        assert_eq!(keys(&by_default, all), expected);
        assert_eq!(keys(&by_default, &old), [None, None, None]);
    }

    #[test]
    fn every_effort_has_its_word() {
        for effort in Effort::ALL {
            let options = options(|settings| {
                settings.effort = Some(Chosen {
                    value: effort,
                    origin: Origin::Flag,
                });
            });
            let expected = match effort {
                Effort::Off => None,
                Effort::Minimal => Some("low"),
                other => Some(other.as_str()),
            };
            assert_eq!(options.choices.native_effort(), expected);
            assert_eq!(options.requires_effort(), expected.is_some());
            let metadata = options.metadata(&features::tests::ALL);
            let resolved = expected.unwrap_or("thinking-disabled");
            assert_eq!(metadata["resolvedEffort"], resolved);
            let is_verbatim = resolved == effort.as_str();
            let source = if is_verbatim {
                "requested"
            } else {
                "adapter-selection"
            };
            assert_eq!(metadata["effortResolutionSource"], source);
        }
        assert!(!options(|_| ()).requires_effort());
    }

    #[test]
    fn an_effort_that_cannot_be_told_is_shown_as_dropped() {
        let metadata = options(|_| ()).metadata(&Features::default());
        assert_eq!(metadata["effortDropped"], "cli-unsupported");
        assert!(!metadata.contains_key("resolvedEffort"));
    }

    #[test]
    fn unknown_option_values_and_models_like_options_are_refused_with_exit_2() {
        for (key, value) in [("authMode", json!("keychain")), ("authMode", json!(1))] {
            let mut settings = settings();
            settings.options.sdk.insert(key.to_owned(), value);
            let failure = Options::from_settings(&settings).unwrap_err();
            assert_eq!(failure.exit_code(), 2);
            assert!(failure.message.contains(key), "{failure}");
        }
        let mut number = settings();
        number.options.cli.insert("executable".to_owned(), json!(7));
        assert_eq!(Options::from_settings(&number).unwrap_err().exit_code(), 2);
        let mut model = settings();
        model.model = Some(chosen("--dangerously-skip-permissions", Origin::Config));
        assert_eq!(Options::from_settings(&model).unwrap_err().exit_code(), 2);
        let mut fallback = settings();
        fallback.fallback_model = Some(chosen("-p", Origin::Flag));
        assert_eq!(
            Options::from_settings(&fallback).unwrap_err().exit_code(),
            2
        );
    }
}
