//! What several adapters of command-line engines do alike: the choices every reviewer has, the
//! questions of a preflight, and failures in the same words.

use std::collections::BTreeSet;
use std::time::Duration;

use diffwarden_actors::engine::{Captured, ExitKind, ReviewRequest};
use diffwarden_actors::model::{
    CheckStatus, EngineName, ErrorCode, Failure, PreflightCheck, ReadonlyLevel, Reason, Transport,
};
use serde_json::{Map, Value};

mod commented;

use super::capabilities::{self, NativeEffort};
use super::executable::Resolved;
use super::settings::{Chosen, Effort, ReviewerSettings};
use super::shared;

pub(super) use self::commented::parse_commented_json;
pub(super) use super::shared::{
    check, cut, does_not_start, head, long_options as flags, one_line, redact,
};

/// How many bytes of help are searched for options.
const HELP_LIMIT: usize = 256 << 10;

/// How many characters of standard error the metadata keeps.
const STDERR_CHARS: usize = 2_000;

/// What a reviewer may choose of any engine that is reached through its command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Choices {
    engine: EngineName,
    /// `cliOptions.executable`.
    pub(super) executable: Option<String>,
    /// The model as it was asked for.
    pub(super) model: Option<Chosen<String>>,
    /// The provider the model is routed through.
    pub(super) provider: Option<String>,
    /// The effort as it was asked for.
    pub(super) effort: Option<Chosen<Effort>>,
}

impl Choices {
    /// Takes the choices out of a reviewer's settings.
    ///
    /// # Errors
    ///
    /// Fails with exit code 2 when `cliOptions.executable` is no text.
    pub(super) fn from_settings(settings: &ReviewerSettings) -> Result<Self, Failure> {
        let engine = settings.engine;
        let executable = match settings.options.cli.get("executable") {
            None => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                return Err(Failure::new(
                    ErrorCode::InvalidConfig,
                    format!("cliOptions.executable of a {engine} reviewer must be a text"),
                )
                .hint("correct the reviewer's entry in the configuration"));
            }
        };
        Ok(Self {
            engine,
            executable,
            model: settings.model.clone(),
            provider: settings.provider.clone(),
            effort: settings.effort.clone(),
        })
    }

    /// Returns the model, behind its provider when there is one.
    pub(super) fn model_argument(&self) -> Option<String> {
        let model = &self.model.as_ref()?.value;
        Some(match &self.provider {
            Some(provider) => format!("{provider}/{model}"),
            None => model.clone(),
        })
    }

    /// Returns the word the engine is told for the effort, by the matrix.
    pub(super) fn native_effort(&self) -> Option<&'static str> {
        let effort = self.effort.as_ref()?.value;
        let row = capabilities::find(self.engine, Some(Transport::Cli))?;
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
            let source = if asked == native {
                effort.origin.as_str()
            } else {
                "adapter-selection"
            };
            put("effortResolutionSource", source);
        }
        metadata
    }

    /// Returns the checks that tell what the engine is asked for, as the last of a preflight.
    pub(super) fn checks(&self) -> [PreflightCheck; 2] {
        let engine = self.engine;
        let asked = |name: &str, value: Option<&str>| match value {
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
        };
        let model = self.model_argument();
        [
            asked("model", model.as_deref()),
            asked("effort", self.native_effort()),
        ]
    }
}

/// Returns how an engine is reached, as both kinds of metadata show it.
pub(super) fn transport_metadata(
    level: ReadonlyLevel,
    executable: &Resolved,
) -> Map<String, Value> {
    let level = match level {
        ReadonlyLevel::Enforced => "enforced",
        ReadonlyLevel::ToolRestricted => "tool-restricted",
        ReadonlyLevel::PromptOnly => "prompt-only",
    };
    shared::transport_metadata(level, executable)
}

/// Returns the prompt as one text, for engines that have no system part of their own.
pub(super) fn whole_prompt(request: &ReviewRequest) -> String {
    match &request.prompt.system {
        Some(system) => format!("{system}\n\n{}", request.prompt.user),
        None => request.prompt.user.clone(),
    }
}

/// Returns the version in what `--version` printed: a line that is a number with dots.
pub(super) fn bare_version(captured: &Captured) -> Option<String> {
    let line = head(&captured.stdout, HELP_LIMIT).trim();
    let is_version = line.starts_with(|c: char| c.is_ascii_digit())
        && line.contains('.')
        && !line.contains(char::is_whitespace);
    (is_version && captured.exit == ExitKind::Code(0)).then(|| cut(line, 64))
}

/// Returns the help text, from whichever stream holds `sign`, which only a help text has.
pub(super) fn readable_help<'a>(captured: &'a Captured, sign: &str) -> Option<&'a str> {
    let texts = [&captured.stdout, &captured.stderr];
    let mut heads = texts.into_iter().map(|text| head(text, HELP_LIMIT));
    let help = heads.find(|text| text.contains(sign))?;
    (captured.exit == ExitKind::Code(0)).then_some(help)
}

/// Refuses an executable that lacks options without which a review would not be read-only.
///
/// # Errors
///
/// Names the missing options and how to install a newer version.
pub(super) fn require_flags(
    name: &str,
    version: Option<&str>,
    required: &[&str],
    flags: &BTreeSet<String>,
    install: &str,
) -> Result<(), Failure> {
    let missing: Vec<_> = required
        .iter()
        .copied()
        .filter(|flag| !flags.contains(*flag))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let which = version.map_or_else(|| format!("this {name}"), |v| format!("{name} {v}"));
    Err(unfit(
        format!(
            "{which} is too old or too new for reviews: it does not know {}",
            missing.join(", ")
        ),
        format!("update it with `{install}`"),
    ))
}

/// A failed review.
pub(super) fn failed(
    reason: Option<Reason>,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Failure {
    let failure = Failure::new(ErrorCode::ReviewerFailed, message).hint(hint);
    match reason {
        Some(reason) => failure.reason(reason),
        None => failure,
    }
}

/// Missing or refused credentials.
pub(super) fn no_login(message: impl Into<String>, hint: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::MissingAuth, message)
        .reason(Reason::Auth)
        .hint(hint)
}

/// An executable or a configuration that cannot be worked with.
pub(super) fn unfit(message: impl Into<String>, hint: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::ReviewerEnvironmentFailed, message)
        .reason(Reason::Environment)
        .hint(hint)
}

/// A refusal of a model service, as an engine passes it on.
#[derive(Debug, Default)]
pub(super) struct Refusal {
    /// The HTTP status.
    pub(super) status: Option<i64>,
    /// The service's sentence, as one line.
    pub(super) said: String,
    /// Whether the service names a bad key as the reason.
    pub(super) has_bad_key: bool,
    /// Whether the limit that was met is not one that passes within minutes.
    pub(super) is_spent: bool,
    /// How long the service asks to wait.
    pub(super) wait: Option<Duration>,
}

impl Refusal {
    /// Returns the failure it means for `engine`; `login` tells how to log in to it.
    pub(super) fn into_failure(self, engine: &str, login: &str) -> Failure {
        let said = if self.said.is_empty() {
            "no reason was given"
        } else {
            &self.said
        };
        let is_refused = self.has_bad_key || matches!(self.status, Some(401 | 403));
        match self.status {
            _ if is_refused => no_login(
                format!("the model service refused {engine}'s credentials: {said}"),
                login,
            ),
            Some(404) => failed(
                Some(Reason::Model),
                format!("the model service does not have the model: {said}"),
                "choose another model with --model or in the configuration",
            ),
            Some(402 | 429) if self.is_spent || self.status == Some(402) => failed(
                Some(Reason::Quota),
                format!("{engine}'s quota is used up: {said}"),
                "wait until it is renewed, or use another account or engine",
            ),
            Some(429) => {
                let failure = failed(
                    Some(Reason::RateLimit),
                    format!("the model service limits the rate of requests: {said}"),
                    "try again later",
                );
                match self.wait {
                    Some(wait) => failure.retry_after(wait),
                    None => failure,
                }
            }
            Some(500..=599) => failed(
                None,
                format!("the model service has a fault: {said}"),
                "try again later",
            ),
            Some(400..=499) => failed(
                None,
                format!("the model service refused the request: {said}"),
                "check the model and the size of the change",
            ),
            _ => failed(None, format!("{engine} failed: {said}"), "try again"),
        }
    }
}

/// Returns foreign text on standard error as the metadata keeps it; `None` when it is blank.
pub(super) fn kept_stderr(stderr: &str) -> Option<String> {
    let text = redact(stderr.trim());
    (!text.is_empty()).then(|| cut(&text, STDERR_CHARS))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::engines::executable::Source;
    use crate::engines::settings::{EngineOptions, Origin};
    use diffwarden_actors::engine::{Capabilities, Place, RepairRequest};
    use diffwarden_actors::model::{Coverage, Patch, ReviewTarget, ReviewerId, TargetKind};
    use diffwarden_actors::prompt::Prompt;
    use proptest::prelude::*;
    use serde_json::json;
    use std::sync::Arc;

    pub(in crate::engines) fn settings(engine: EngineName) -> ReviewerSettings {
        ReviewerSettings {
            id: ReviewerId(engine.as_str().to_owned()),
            engine,
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

    pub(in crate::engines) fn resolved(name: &str) -> Resolved {
        Resolved {
            path: format!("/bin/{name}").into(),
            requested: name.to_owned(),
            source: Source::AdapterDefault,
        }
    }

    pub(in crate::engines) fn printed(exit: ExitKind, stdout: &str, stderr: &str) -> Captured {
        Captured {
            exit,
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            outputs: Vec::new(),
        }
    }

    pub(in crate::engines) fn request(user: &str, flags: &[&str]) -> ReviewRequest {
        ReviewRequest {
            place: Place {
                repo_root: "/repo".into(),
                run_dir: "/run/review".into(),
            },
            capabilities: Capabilities {
                version: None,
                flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            },
            prompt: Arc::new(Prompt {
                system: None,
                user: user.into(),
                coverage: Coverage::default(),
            }),
            target: Arc::new(ReviewTarget {
                kind: TargetKind::Uncommitted,
                repo_root: "/repo".into(),
                base_ref: None,
                base_sha: None,
                head_sha: None,
                commit_sha: None,
                instructions: None,
                diff_command: String::new(),
                changed_files: Vec::new(),
            }),
            patch: Arc::new(Patch::default()),
        }
    }

    pub(in crate::engines) fn repair_request(prompt: &str) -> RepairRequest {
        let ReviewRequest {
            place,
            capabilities,
            ..
        } = request("", &[]);
        RepairRequest {
            place,
            capabilities,
            prompt: prompt.into(),
            schema: diffwarden_actors::answer::repair_schema(),
        }
    }

    #[test]
    fn metadata_has_the_contract_s_keys_in_order() {
        let choices = Choices::from_settings(&ReviewerSettings {
            provider: Some("openrouter".into()),
            model: Some(Chosen {
                value: "m1".into(),
                origin: Origin::Flag,
            }),
            effort: Some(Chosen {
                value: Effort::Max,
                origin: Origin::Config,
            }),
            ..settings(EngineName::Opencode)
        })
        .unwrap();
        assert_eq!(
            serde_json::to_string(&choices.metadata()).unwrap(),
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
    fn an_executable_that_is_no_text_is_refused_with_exit_2() {
        let mut settings = settings(EngineName::Gemini);
        let pair = ("executable".to_owned(), json!(7));
        settings.options.cli.extend([pair]);
        let failure = Choices::from_settings(&settings).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.message.contains("gemini"), "{failure}");
    }

    #[test]
    fn versions_are_bare_numbers_of_a_command_that_succeeded() {
        let version = |code, text| bare_version(&printed(ExitKind::Code(code), text, ""));
        assert_eq!(version(0, "0.61.0\n").as_deref(), Some("0.61.0"));
        for (code, text) in [(1, "0.61.0"), (0, "gemini 0.61.0"), (0, ""), (0, "7")] {
            assert_eq!(version(code, text), None, "{text}");
        }
    }

    #[test]
    fn help_is_found_on_either_stream() {
        let known = |stdout, stderr| {
            let captured = printed(ExitKind::Code(0), stdout, stderr);
            readable_help(&captured, "Usage").map(flags)
        };
        let expected = BTreeSet::from(["--a-b".to_owned()]);
        assert_eq!(
            known("Usage: x\n  -a, --a-b  text", ""),
            Some(expected.clone())
        );
        assert_eq!(known("", "Usage: --a-b=<c>, --"), Some(expected));
        assert_eq!(known("--a-b", "--a-b"), None);
    }

    proptest! {
        #[test]
        fn any_probe_output_is_taken(text in ".{0,200}", code in -1..2) {
            let captured = printed(ExitKind::Code(code), &text, &text);
            let version = bare_version(&captured);
            prop_assert!(version.is_none_or(|version| version.contains('.')));
            let help = readable_help(&captured, "-").map(flags).unwrap_or_default();
            prop_assert!(help.iter().all(|flag| flag.starts_with("--")));
            let failure = does_not_start(&resolved("x"), &captured, "y");
            prop_assert!(!failure.message.contains(char::is_control));
        }
    }
}
