//! What a reviewer may choose of any engine, in the engine's own words by the matrix, and how the
//! artifact shows it.

use std::path::Path;

use diffwarden_actors::engine::CommandSpec;
use diffwarden_actors::model::{
    CheckStatus, EngineName, ErrorCode, Failure, PreflightCheck, Transport,
};
use serde_json::{Map, Value};

use super::{Program, check};
use crate::engines::capabilities::{self, Capability, NativeEffort, PromptLimit};
use crate::engines::executable::{self, Resolved};
use crate::engines::settings::{Chosen, Effort, Origin, ReviewerSettings};
use crate::engines::{self, Host};

/// The validated choices that every engine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::engines) struct Choices {
    engine: EngineName,
    transport: Option<Transport>,
    /// `cliOptions.executable`.
    pub(in crate::engines) executable: Option<String>,
    /// The model as it was asked for.
    pub(in crate::engines) model: Option<Chosen<String>>,
    /// The provider the model is routed through.
    pub(in crate::engines) provider: Option<String>,
    /// The effort as it was asked for.
    pub(in crate::engines) effort: Option<Chosen<Effort>>,
}

impl Choices {
    /// Takes the choices out of a reviewer's settings.
    ///
    /// # Errors
    ///
    /// Fails with exit code 2 when `cliOptions.executable` is no text, and when a model or a
    /// provider would be read as an option of the engine.
    pub(in crate::engines) fn from_settings(settings: &ReviewerSettings) -> Result<Self, Failure> {
        let engine = settings.engine;
        let executable = match settings.options.cli.get("executable") {
            None => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => return Err(wrong_option(engine, "cliOptions.executable", "a text")),
        };
        let choices = Self {
            engine,
            transport: settings.transport,
            executable,
            model: settings.model.clone(),
            provider: settings.provider.clone(),
            effort: settings.effort.clone(),
        };
        if let Some(model) = choices.model_argument() {
            check_model(engine, &model)?;
        }
        Ok(choices)
    }

    /// Returns what the matrix knows about the engine over this transport.
    fn row(&self) -> Option<&'static Capability> {
        capabilities::find(self.engine, self.transport)
    }

    /// Looks for the executable under its first name in the matrix, or the one that was chosen.
    ///
    /// # Errors
    ///
    /// Tells where was looked, and how to install it.
    pub(in crate::engines) fn resolve(
        &self,
        program: &Program,
        host: &Host,
    ) -> Result<Resolved, Failure> {
        let default = self.row().and_then(Capability::default_executable);
        let default = default.unwrap_or(program.name);
        executable::resolve(self.executable.as_deref(), default, host)
            .map_err(|not_found| not_found.into_failure(program.install))
    }

    /// Returns the model, behind its provider when there is one.
    pub(in crate::engines) fn model_argument(&self) -> Option<String> {
        let model = &self.model.as_ref()?.value;
        Some(match &self.provider {
            Some(provider) => format!("{provider}/{model}"),
            None => model.clone(),
        })
    }

    /// Returns what the engine is told about the effort, by the matrix.
    pub(in crate::engines) fn mapped_effort(&self) -> Option<NativeEffort> {
        self.row()?.effort.native(self.effort.as_ref()?.value)
    }

    /// Returns the word the engine is told for the effort, if there is one.
    pub(in crate::engines) fn native_effort(&self) -> Option<&'static str> {
        match self.mapped_effort()? {
            NativeEffort::Word(word) => Some(word),
            NativeEffort::Omitted | NativeEffort::ThinkingDisabled => None,
        }
    }

    /// Refuses a command whose standard input holds a prompt over the limit in the matrix, before
    /// the engine does.
    ///
    /// # Errors
    ///
    /// Names size and limit.
    pub(in crate::engines) fn check_stdin(
        &self,
        program: &Program,
        command: &CommandSpec,
    ) -> Result<(), Failure> {
        self.check_prompt(program, &String::from_utf8_lossy(&command.stdin))
    }

    /// Refuses a prompt over the limit in the matrix, before the engine does.
    ///
    /// # Errors
    ///
    /// Names size and limit.
    pub(in crate::engines) fn check_prompt(
        &self,
        program: &Program,
        prompt: &str,
    ) -> Result<(), Failure> {
        let (size, limit, unit) = match self.row().and_then(|row| row.max_prompt) {
            None => return Ok(()),
            Some(PromptLimit::Characters(limit)) => (prompt.chars().count(), limit, "characters"),
            Some(PromptLimit::Bytes(limit)) => (prompt.len(), limit, "bytes"),
        };
        if size <= limit {
            return Ok(());
        }
        let title = program.title;
        Err(Failure::new(
            ErrorCode::ReviewerFailed,
            format!("the prompt has {size} {unit}, and {title} takes at most {limit}"),
        )
        .hint("review a smaller change, or leave out generated files"))
    }

    /// Returns the choices as `preflight.metadata` and `adapter_metadata` show them.
    pub(in crate::engines) fn metadata(&self) -> Map<String, Value> {
        let mut metadata = self.model_metadata();
        metadata.append(&mut self.effort_metadata(true));
        metadata
    }

    /// Returns the part of the metadata about the model.
    pub(in crate::engines) fn model_metadata(&self) -> Map<String, Value> {
        let (Some(model), Some(argument)) = (&self.model, self.model_argument()) else {
            return Map::new();
        };
        let source = match model.origin {
            Origin::Default => "adapter-default",
            origin => origin.as_str(),
        };
        text_map(&[
            ("model", &model.value),
            ("requestedModel", &argument),
            ("resolvedModel", &argument),
            ("modelResolutionSource", source),
        ])
    }

    /// Returns the part of the metadata about the effort; `is_taken` tells whether the executable
    /// has the option for it.
    pub(in crate::engines) fn effort_metadata(&self, is_taken: bool) -> Map<String, Value> {
        let (Some(effort), Some(native)) = (&self.effort, self.mapped_effort()) else {
            return Map::new();
        };
        let asked = effort.value.as_str();
        let mut pairs = vec![("effort", asked), ("requestedEffort", asked)];
        let resolved = match native {
            NativeEffort::Word(_) if !is_taken => {
                pairs.push(("effortDropped", "cli-unsupported"));
                None
            }
            NativeEffort::Word(word) => Some(word),
            NativeEffort::ThinkingDisabled => Some("thinking-disabled"),
            NativeEffort::Omitted => None,
        };
        if let Some(word) = resolved {
            let source = if asked == word {
                effort.origin.as_str()
            } else {
                "adapter-selection"
            };
            pairs.extend([("resolvedEffort", word), ("effortResolutionSource", source)]);
        }
        text_map(&pairs)
    }

    /// Returns how the engine is reached, as both kinds of metadata show it.
    pub(in crate::engines) fn transport_metadata(
        &self,
        executable: &Resolved,
    ) -> Map<String, Value> {
        let level = self.row().and_then(|row| row.readonly);
        let level = level.map_or("unknown", capabilities::readonly_word);
        let transport = self.transport.map_or("none", engines::spelled);
        super::transport_metadata(level, transport, executable)
    }

    /// Returns the check that tells which model is asked for.
    pub(in crate::engines) fn model_check(&self) -> PreflightCheck {
        self.asked("model", self.model_argument().as_deref())
    }

    /// Returns the check that tells which effort is asked for.
    pub(in crate::engines) fn effort_check(&self) -> PreflightCheck {
        self.asked("effort", self.native_effort())
    }

    fn asked(&self, name: &str, value: Option<&str>) -> PreflightCheck {
        let engine = self.engine;
        match value {
            Some(value) => check(
                name,
                CheckStatus::Passed,
                format!("{engine} is asked for {name} {value}."),
            ),
            None => check(
                name,
                CheckStatus::Skipped,
                format!("Nobody asked for a special {name}."),
            ),
        }
    }
}

/// Returns metadata of texts, in this order.
fn text_map(pairs: &[(&str, &str)]) -> Map<String, Value> {
    let pairs = pairs.iter();
    pairs
        .map(|(key, value)| ((*key).to_owned(), (*value).into()))
        .collect()
}

/// Refuses a model that would be read as an option. It may be named by the reviewed repository's
/// own configuration, which must not reach the options of the command.
///
/// # Errors
///
/// Fails with exit code 2.
pub(in crate::engines) fn check_model(engine: EngineName, model: &str) -> Result<(), Failure> {
    if !model.starts_with('-') {
        return Ok(());
    }
    let model = super::one_line(model);
    Err(Failure::new(
        ErrorCode::InvalidModel,
        format!("the model `{model}` of a {engine} reviewer starts with a dash"),
    )
    .hint("name a model as the engine spells it; no model's name starts with a dash"))
}

/// The failure of an option with a value that it does not take.
pub(in crate::engines) fn wrong_option(engine: EngineName, name: &str, expected: &str) -> Failure {
    Failure::new(
        ErrorCode::InvalidConfig,
        format!("{name} of a {engine} reviewer must be {expected}"),
    )
    .hint("correct the reviewer's entry in the configuration")
}

/// The failure of a path that the engine's configuration cannot express.
///
/// # Errors
///
/// Fails when the path is not UTF-8.
pub(in crate::engines) fn text_of_path<'a>(
    program: &Program,
    path: &'a Path,
) -> Result<&'a str, Failure> {
    path.to_str().ok_or_else(|| {
        super::unfit(
            format!(
                "{} cannot read {}: its path is not UTF-8",
                program.title,
                path.display()
            ),
            "move the repository, or choose another engine",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::shared::testing::{PROGRAM, asked, settings};
    use serde_json::json;

    fn choices(change: impl FnOnce(&mut ReviewerSettings)) -> Result<Choices, Failure> {
        let mut settings = settings(EngineName::Codex);
        change(&mut settings);
        Choices::from_settings(&settings)
    }

    #[test]
    fn metadata_has_the_contract_s_keys_in_order() {
        let choices = choices(|settings| {
            settings.engine = EngineName::Opencode;
            settings.provider = Some("openrouter".into());
            settings.model = Some(asked("m1".to_owned()));
            settings.effort = Some(Chosen {
                value: Effort::Max,
                origin: Origin::Config,
            });
        });
        assert_eq!(
            serde_json::to_string(&choices.unwrap().metadata()).unwrap(),
            json!({
                "model": "m1",
                "requestedModel": "openrouter/m1",
                "resolvedModel": "openrouter/m1",
                "modelResolutionSource": "requested",
                "effort": "max",
                "requestedEffort": "max",
                "resolvedEffort": "max",
                "effortResolutionSource": "config",
            })
            .to_string()
        );
    }

    #[test]
    fn efforts_are_shown_as_they_reach_the_engine() {
        for (engine, effort, is_taken, key, expected) in [
            (
                EngineName::Codex,
                Effort::Off,
                true,
                "resolvedEffort",
                Some("none"),
            ),
            (
                EngineName::Codex,
                Effort::Off,
                true,
                "effortResolutionSource",
                Some("adapter-selection"),
            ),
            (
                EngineName::Codex,
                Effort::Low,
                true,
                "effortResolutionSource",
                Some("requested"),
            ),
            (
                EngineName::Codex,
                Effort::Low,
                false,
                "resolvedEffort",
                None,
            ),
            (
                EngineName::Codex,
                Effort::Low,
                false,
                "effortDropped",
                Some("cli-unsupported"),
            ),
            (
                EngineName::Claude,
                Effort::Off,
                false,
                "resolvedEffort",
                Some("thinking-disabled"),
            ),
            (
                EngineName::Grok,
                Effort::Off,
                true,
                "requestedEffort",
                Some("off"),
            ),
            (EngineName::Grok, Effort::Off, true, "resolvedEffort", None),
            (EngineName::Gemini, Effort::Low, true, "effort", None),
        ] {
            let choices = choices(|settings| {
                settings.engine = engine;
                settings.effort = Some(asked(effort));
            });
            let metadata = choices.unwrap().effort_metadata(is_taken);
            let found = metadata.get(key).and_then(Value::as_str);
            assert_eq!(found, expected, "{engine} {effort} {key}");
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
            let outcome = choices(|settings| {
                settings.provider = provider.map(str::to_owned);
                settings.model = Some(asked(model.to_owned()));
            });
            assert_eq!(outcome.is_err(), is_refused, "{provider:?} {model}");
            if let Err(failure) = outcome {
                assert_eq!(failure.code, ErrorCode::InvalidModel);
                assert_eq!(failure.exit_code(), 2);
            }
        }
    }

    #[test]
    fn an_executable_that_is_no_text_is_refused_with_exit_2() {
        let outcome = choices(|settings| {
            let pair = ("executable".to_owned(), json!(7));
            settings.options.cli.extend([pair]);
        });
        let failure = outcome.unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.message.contains("codex"), "{failure}");
        assert!(
            failure.message.contains("cliOptions.executable"),
            "{failure}"
        );
    }

    #[test]
    fn prompts_are_counted_in_the_unit_of_the_limit() {
        for (engine, unit, limit) in [
            (EngineName::Codex, "é", 1_048_576),
            (EngineName::Claude, "e", 10_000_000),
        ] {
            let choices = choices(|settings| settings.engine = engine).unwrap();
            let checked = |prompt: String| {
                let mut command = CommandSpec::new("/bin/agent", "/repo");
                command.stdin = prompt.into_bytes();
                choices.check_stdin(&PROGRAM, &command)
            };
            assert!(checked(unit.repeat(limit)).is_ok());
            let failure = checked(unit.repeat(limit) + "x").unwrap_err();
            assert!(failure.message.contains(&limit.to_string()), "{failure}");
            assert!(
                failure.message.contains(&(limit + 1).to_string()),
                "{failure}"
            );
        }
    }
}
