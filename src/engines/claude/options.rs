//! What one reviewer asks of Claude, in Claude's own words, and how the artifact shows it.

use diffwarden_actors::model::{EngineName, ErrorCode, Failure, Transport};
use serde_json::{Map, Value};

use super::fallback::{self, Families, Family};
use super::features::Features;
use crate::engines::capabilities::{self, NativeEffort};
use crate::engines::settings::{Chosen, Effort, Origin, ReviewerSettings};

/// The validated choices of one reviewer.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Options {
    /// `cliOptions.executable`.
    pub(super) executable: Option<String>,
    /// The model as it was asked for.
    pub(super) model: Option<Chosen<String>>,
    /// The effort as it was asked for, or diffwarden's default.
    pub(super) effort: Option<Chosen<Effort>>,
    /// The fallback as it was asked for, or diffwarden's default.
    pub(super) fallback_model: Option<Chosen<String>>,
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
}

impl Options {
    /// Takes what concerns Claude out of a reviewer's settings.
    ///
    /// # Errors
    ///
    /// Fails with exit code 2 when an option has an unknown value, or when a model looks like an
    /// option of the command line.
    pub(super) fn from_settings(settings: &ReviewerSettings) -> Result<Self, Failure> {
        let executable = match settings.options.cli.get("executable") {
            None => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => return Err(wrong_option("cliOptions.executable", "a text")),
        };
        let auth_mode = match settings.options.sdk.get("authMode") {
            None => AuthMode::default(),
            Some(value) => value.as_str().and_then(AuthMode::parse).ok_or_else(|| {
                wrong_option("sdkOptions.authMode", "auto, api-key or claude-code")
            })?,
        };
        let model = settings.model.clone();
        let name = model.as_ref().map(|model| model.value.as_str());
        let fallback_model = fallback::of(settings.fallback_model.as_ref(), name);
        for model in [&model, &fallback_model].into_iter().flatten() {
            check_model(&model.value)?;
        }
        Ok(Self {
            executable,
            model,
            effort: settings.effort.clone(),
            fallback_model,
            max_budget_usd: settings.max_budget_usd,
            auth_mode,
        })
    }

    /// Returns what Claude is told about the effort. The matrix says which word stands for which
    /// level.
    pub(super) fn native_effort(&self) -> Option<NativeEffort> {
        let effort = self.effort.as_ref()?.value;
        let row = capabilities::find(EngineName::Claude, Some(Transport::Cli))?;
        row.effort.native(effort)
    }

    /// Returns the value of `--effort`.
    pub(super) fn effort_argument(&self) -> Option<&'static str> {
        match self.native_effort()? {
            NativeEffort::Word(word) => Some(word),
            NativeEffort::Omitted | NativeEffort::ThinkingDisabled => None,
        }
    }

    /// Whether somebody, and not diffwarden, chose an effort that needs `--effort`.
    pub(super) fn requires_effort(&self) -> bool {
        let is_chosen = |effort: &Chosen<Effort>| effort.origin != Origin::Default;
        self.effort.as_ref().is_some_and(is_chosen) && self.effort_argument().is_some()
    }

    /// Returns the families that tell a fallback from the chosen model.
    pub(super) fn families(&self) -> Families {
        let family = |model: &Option<Chosen<String>>| Family::of(&model.as_ref()?.value);
        Families {
            model: family(&self.model),
            fallback: family(&self.fallback_model),
        }
    }

    /// Returns the choices as `preflight.metadata` and `adapter_metadata` show them.
    pub(super) fn metadata(&self, features: &Features) -> Map<String, Value> {
        let mut metadata = Map::new();
        let mut put = |key: &str, value: &str| {
            metadata.insert(key.to_owned(), value.into());
        };
        if let Some(model) = &self.model {
            let source = match model.origin {
                Origin::Default => "adapter-default",
                origin => origin.as_str(),
            };
            put("model", &model.value);
            put("requestedModel", &model.value);
            put("resolvedModel", &model.value);
            put("modelResolutionSource", source);
        }
        if let (Some(effort), Some(native)) = (&self.effort, self.native_effort()) {
            self.put_effort(effort, native, features, &mut put);
        }
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
        // `--bare` would take Grep and Glob away and Claude's own login out of reach.
        put("bare", "false");
        put(
            "restricted",
            if features.restricted { "true" } else { "false" },
        );
        if let Some(limit) = self.max_budget_usd {
            metadata.insert("maxBudgetUsd".to_owned(), limit.into());
        }
        metadata
    }

    fn put_effort(
        &self,
        effort: &Chosen<Effort>,
        native: NativeEffort,
        features: &Features,
        put: &mut impl FnMut(&str, &str),
    ) {
        let asked = effort.value.as_str();
        put("effort", asked);
        put("requestedEffort", asked);
        let word = match native {
            NativeEffort::Word(_) if !features.effort => {
                put("effortDropped", "cli-unsupported");
                return;
            }
            NativeEffort::Word(word) => word,
            NativeEffort::ThinkingDisabled => "thinking-disabled",
            NativeEffort::Omitted => return,
        };
        put("resolvedEffort", word);
        let is_verbatim = asked == word;
        let source = if is_verbatim {
            effort.origin.as_str()
        } else {
            "adapter-selection"
        };
        put("effortResolutionSource", source);
    }
}

/// Refuses a model that Claude could take for an option.
fn check_model(model: &str) -> Result<(), Failure> {
    if model.starts_with('-') {
        return Err(Failure::new(
            ErrorCode::InvalidModel,
            format!("`{model}` is not the name of a Claude model"),
        )
        .hint("use an alias such as sonnet or opus, or a full model id"));
    }
    Ok(())
}

fn wrong_option(name: &str, expected: &str) -> Failure {
    Failure::new(
        ErrorCode::InvalidConfig,
        format!("{name} of a claude reviewer must be {expected}"),
    )
    .hint("correct the reviewer's entry in the configuration")
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::features;
    use super::*;
    use crate::engines::settings::EngineOptions;
    use diffwarden_actors::model::ReviewerId;
    use serde_json::json;

    pub(in crate::engines::claude) fn settings() -> ReviewerSettings {
        ReviewerSettings {
            id: ReviewerId("claude".to_owned()),
            engine: EngineName::Claude,
            transport: Some(Transport::Cli),
            profile: None,
            provider: None,
            model: Some(chosen("sonnet", Origin::Default)),
            effort: Some(Chosen {
                value: Effort::High,
                origin: Origin::Default,
            }),
            fallback_model: None,
            max_turns: None,
            max_budget_usd: None,
            timeout: None,
            options: EngineOptions::default(),
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
            assert_eq!(options.effort_argument(), expected);
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
