//! What one reviewer asks of Codex, in Codex's own words, and how the artifact shows it.

use diffwarden_actors::model::Failure;
use serde_json::{Map, Value};

use crate::engines::settings::ReviewerSettings;
use crate::engines::shared::{Choices, wrong_option};

/// The validated choices of one reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    /// What every engine can be asked for.
    pub(super) choices: Choices,
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
    pub(super) fn parse(text: &str) -> Option<Self> {
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
        let web_search = match settings.options.cli.get("webSearch") {
            None => WebSearch::default(),
            Some(value) => value.as_str().and_then(WebSearch::parse).ok_or_else(|| {
                let expected = "enabled, disabled or inherit";
                wrong_option(settings.engine, "cliOptions.webSearch", expected)
            })?,
        };
        Ok(Self {
            choices: Choices::from_settings(settings)?,
            web_search,
        })
    }

    /// Returns the choices as `preflight.metadata` and `adapter_metadata` show them.
    pub(super) fn metadata(&self) -> Map<String, Value> {
        let mut metadata = self.choices.metadata();
        let mut put = |key: &str, value: &str| metadata.insert(key.to_owned(), value.into());
        put("webSearchPolicy", self.web_search.policy());
        put("webSearchMode", self.web_search.mode().unwrap_or("inherit"));
        metadata
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::engines::settings::Effort;
    use crate::engines::shared::testing::{self, asked};
    use diffwarden_actors::model::EngineName;
    use serde_json::json;

    pub(in crate::engines::codex) fn settings() -> ReviewerSettings {
        testing::settings(EngineName::Codex)
    }

    #[test]
    fn the_policy_of_web_search_follows_the_common_choices() {
        let mut settings = settings();
        settings.model = Some(asked("m1".to_owned()));
        let pair = ("webSearch".to_owned(), "enabled".into());
        settings.options.cli.extend([pair]);
        let metadata = Options::from_settings(&settings).unwrap().metadata();
        assert_eq!(
            serde_json::to_string(&metadata).unwrap(),
            json!({
                "model": "m1",
                "requestedModel": "m1",
                "resolvedModel": "m1",
                "modelResolutionSource": "requested",
                "webSearchPolicy": "enabled",
                "webSearchMode": "live",
            })
            .to_string()
        );
    }

    #[test]
    fn off_and_max_are_other_words_for_codex() {
        for effort in Effort::ALL {
            let mut settings = settings();
            settings.effort = Some(asked(effort));
            let options = Options::from_settings(&settings).unwrap();
            let expected = match effort {
                Effort::Off => "none",
                Effort::Max => "xhigh",
                other => other.as_str(),
            };
            assert_eq!(options.choices.native_effort(), Some(expected));
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
