//! What one reviewer asks of Codex, in Codex's own words, and how the artifact shows it.

use diffwarden_actors::model::{EngineName, ErrorCode, Failure, Transport};
use serde_json::{Map, Value};

use crate::engines::capabilities::{self, NativeEffort};
use crate::engines::settings::{Chosen, Effort, Origin, ReviewerSettings};

/// The validated choices of one reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    /// `cliOptions.executable`.
    pub(super) executable: Option<String>,
    /// The model as it was asked for.
    pub(super) model: Option<Chosen<String>>,
    /// The provider the model is routed through.
    pub(super) provider: Option<String>,
    /// The effort as it was asked for.
    pub(super) effort: Option<Chosen<Effort>>,
    /// The web search policy.
    pub(super) web_search: WebSearch,
}

/// Whether the model may search the web (`cliOptions.webSearch`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum WebSearch {
    /// It may not; Codex's own default would let it.
    #[default]
    Disabled,
    /// It may.
    Enabled,
    /// As the user's Codex configuration says.
    Inherit,
}

impl WebSearch {
    fn parse(text: &str) -> Option<Self> {
        [Self::Disabled, Self::Enabled, Self::Inherit]
            .into_iter()
            .find(|policy| policy.policy() == text)
    }

    /// Returns the spelling used in config and in `webSearchPolicy`.
    pub(super) fn policy(self) -> &'static str {
        match self {
            Self::Disabled => "disabled",
            Self::Enabled => "enabled",
            Self::Inherit => "inherit",
        }
    }

    /// Returns the value of Codex's `web_search` key; `None` leaves it to the user's configuration.
    pub(super) fn mode(self) -> Option<&'static str> {
        match self {
            Self::Disabled => Some("disabled"),
            Self::Enabled => Some("live"),
            Self::Inherit => None,
        }
    }
}

impl Options {
    /// Takes what concerns Codex out of a reviewer's settings.
    ///
    /// # Errors
    ///
    /// Fails with exit code 2 when an option has an unknown value, and when a model or a provider
    /// would be read as an option of Codex.
    pub(super) fn from_settings(settings: &ReviewerSettings) -> Result<Self, Failure> {
        let cli = &settings.options.cli;
        let web_search = match cli.get("webSearch") {
            None => WebSearch::default(),
            Some(value) => value
                .as_str()
                .and_then(WebSearch::parse)
                .ok_or_else(|| wrong_option("webSearch", "enabled, disabled or inherit"))?,
        };
        let executable = match cli.get("executable") {
            None => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => return Err(wrong_option("executable", "a text")),
        };
        let options = Self {
            executable,
            model: settings.model.clone(),
            provider: settings.provider.clone(),
            effort: settings.effort.clone(),
            web_search,
        };
        match options.model_argument() {
            Some(argument) if argument.starts_with('-') => Err(option_like(&argument)),
            _ => Ok(options),
        }
    }

    /// Returns the value of `--model`: the model, behind its provider when there is one.
    pub(super) fn model_argument(&self) -> Option<String> {
        let model = &self.model.as_ref()?.value;
        Some(match &self.provider {
            Some(provider) => format!("{provider}/{model}"),
            None => model.clone(),
        })
    }

    /// Returns the value of Codex's `model_reasoning_effort` key, which Codex sends on verbatim.
    /// The matrix says which word stands for which level.
    pub(super) fn native_effort(&self) -> Option<&'static str> {
        let effort = self.effort.as_ref()?.value;
        let row = capabilities::find(EngineName::Codex, Some(Transport::Cli))?;
        match row.effort.native(effort)? {
            NativeEffort::Word(word) => Some(word),
            NativeEffort::Omitted | NativeEffort::ThinkingDisabled => None,
        }
    }

    /// Returns the choices as `preflight.metadata` and `adapter_metadata` show them.
    pub(super) fn metadata(&self) -> Map<String, Value> {
        let mut metadata = Map::new();
        let mut put = |key: &str, value: &str| {
            metadata.insert(key.to_owned(), value.into());
        };
        if let (Some(model), Some(argument)) = (&self.model, self.model_argument()) {
            put("model", &model.value);
            put("requestedModel", &argument);
            put("resolvedModel", &argument);
            put("modelResolutionSource", model.origin.as_str());
        }
        if let (Some(effort), Some(native)) = (&self.effort, self.native_effort()) {
            let asked = effort.value.as_str();
            put("effort", asked);
            put("requestedEffort", asked);
            put("resolvedEffort", native);
            put(
                "effortResolutionSource",
                effort_source(effort.origin, asked == native),
            );
        }
        put("webSearchPolicy", self.web_search.policy());
        put("webSearchMode", self.web_search.mode().unwrap_or("inherit"));
        metadata
    }
}

/// Returns who chose the effort that is really sent: the adapter, where it uses another word.
fn effort_source(origin: Origin, is_verbatim: bool) -> &'static str {
    if is_verbatim {
        origin.as_str()
    } else {
        "adapter-selection"
    }
}

/// A model may be named by the reviewed repository's own configuration, which must not reach the
/// options of the command.
fn option_like(argument: &str) -> Failure {
    Failure::new(
        ErrorCode::InvalidModel,
        format!("the model `{argument}` of a codex reviewer starts with a dash"),
    )
    .hint("name a model as the engine spells it; no model's name starts with a dash")
}

fn wrong_option(name: &str, expected: &str) -> Failure {
    Failure::new(
        ErrorCode::InvalidConfig,
        format!("cliOptions.{name} of a codex reviewer must be {expected}"),
    )
    .hint("correct the reviewer's entry in the configuration")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::engines::settings::EngineOptions;
    use diffwarden_actors::model::{EngineName, ReviewerId, Transport};
    use serde_json::json;

    pub(in crate::engines::codex) fn settings() -> ReviewerSettings {
        ReviewerSettings {
            id: ReviewerId("codex".to_owned()),
            engine: EngineName::Codex,
            transport: Some(Transport::Cli),
            profile: None,
            provider: None,
            model: None,
            effort: None,
            fallback_model: None,
            max_turns: None,
            max_budget_usd: None,
            timeout: None,
            options: EngineOptions::default(),
        }
    }

    #[test]
    fn metadata_has_the_contract_s_keys_in_order() {
        let options = Options::from_settings(&ReviewerSettings {
            provider: Some("openrouter".into()),
            model: Some(Chosen {
                value: "m1".into(),
                origin: Origin::Flag,
            }),
            effort: Some(Chosen {
                value: Effort::Off,
                origin: Origin::Config,
            }),
            options: EngineOptions {
                cli: Map::from_iter([("webSearch".to_owned(), "enabled".into())]),
                ..EngineOptions::default()
            },
            ..settings()
        })
        .unwrap();
        assert_eq!(
            serde_json::to_string(&options.metadata()).unwrap(),
            json!({
                "model": "m1",
                "requestedModel": "openrouter/m1",
                "resolvedModel": "openrouter/m1",
                "modelResolutionSource": "requested",
                "effort": "off",
                "requestedEffort": "off",
                "resolvedEffort": "none",
                "effortResolutionSource": "adapter-selection",
                "webSearchPolicy": "enabled",
                "webSearchMode": "live",
            })
            .to_string()
        );
    }

    #[test]
    fn off_and_max_are_other_words_for_codex() {
        for effort in Effort::ALL {
            let options = Options::from_settings(&ReviewerSettings {
                effort: Some(Chosen {
                    value: effort,
                    origin: Origin::Flag,
                }),
                ..settings()
            })
            .unwrap();
            let expected = match effort {
                Effort::Off => "none",
                Effort::Max => "xhigh",
                other => other.as_str(),
            };
            assert_eq!(options.native_effort(), Some(expected));
        }
    }

    #[test]
    fn a_model_that_looks_like_an_option_is_refused_with_exit_2() {
        for (provider, model, is_refused) in [
            (None, "--dangerously-bypass-approvals-and-sandbox", true),
            (None, "-x", true),
            (Some("-c"), "m", true),
            (Some("corp"), "-x", false),
            (None, "gpt-5.5", false),
        ] {
            let outcome = Options::from_settings(&ReviewerSettings {
                provider: provider.map(str::to_owned),
                model: Some(Chosen {
                    value: model.into(),
                    origin: Origin::Config,
                }),
                ..settings()
            });
            assert_eq!(outcome.is_err(), is_refused, "{provider:?} {model}");
            if let Err(failure) = outcome {
                assert_eq!(failure.code, ErrorCode::InvalidModel);
                assert_eq!(failure.exit_code(), 2);
            }
        }
    }

    #[test]
    fn unknown_option_values_are_refused_with_exit_2() {
        for (key, value) in [
            ("webSearch", json!("sometimes")),
            ("webSearch", json!(true)),
            ("executable", json!(7)),
        ] {
            let mut settings = settings();
            settings.options.cli.insert(key.to_owned(), value);
            let failure = Options::from_settings(&settings).unwrap_err();
            assert_eq!(failure.exit_code(), 2);
            assert!(failure.message.contains(key), "{failure}");
        }
    }
}
