//! What is learned about an executable before a review, without spending a token.

use std::collections::BTreeSet;

use diffwarden_actors::engine::{
    Capabilities, Captured, CommandSpec, ExitKind, Place, PreflightPass,
};
use diffwarden_actors::model::{CheckStatus, Failure, PreflightCheck, PreflightReport};
use serde_json::{Map, Value};

use super::PROGRAM;
use super::command::Invocation;
use crate::engines::executable::Resolved;
use crate::engines::shared::{self, Choices, check};

/// Options of `opencode run` without which a review would not be read-only, or could not be read.
const REQUIRED_FLAGS: [&str; 7] = [
    "--pure",
    "--format",
    "--title",
    "--agent",
    "--model",
    "--print-logs",
    "--log-level",
];

/// Stands in the flags for "the variants of the model are known", and before each of them.
const VARIANT: &str = "--variant=";

/// What a reviewer asked for.
pub(super) struct Asked {
    pub(super) choices: Choices,
    pub(super) executable: Resolved,
    /// The model, behind its provider.
    pub(super) model: String,
    /// Whether there is the program that OpenCode searches with.
    pub(super) has_ripgrep: bool,
}

/// Returns the commands to run: the version, the help of `opencode run`, and the provider's models.
/// Each has folders of its own, because they write into them and run side by side.
///
/// # Errors
///
/// Fails when the user's configuration cannot be read.
pub(super) fn probes(
    invocation: &Invocation<'_>,
    place: &Place,
) -> Result<Vec<CommandSpec>, Failure> {
    let (provider, _) = invocation.model.split_once('/').unwrap_or_default();
    Ok(vec![
        invocation.probe(place, "version", &["--version"])?,
        invocation.probe(place, "help", &["run", "--help"])?,
        invocation.probe(
            place,
            "models",
            &["models", provider, "--verbose", "--pure"],
        )?,
    ])
}

/// Whether OpenCode is known to ignore this effort: the model has no such variant.
pub(super) fn is_ignored(effort: &str, capabilities: &Capabilities) -> bool {
    capabilities.flags.contains(VARIANT)
        && !capabilities.flags.contains(&format!("{VARIANT}{effort}"))
}

/// Judges what the probes printed. A model that is not listed is only a reservation: the run tells
/// for certain, and before it asks a model.
///
/// # Errors
///
/// Fails when the executable does not start, does not list its options, or lacks one that keeps a
/// review from writing.
pub(super) fn judge(asked: &Asked, captured: &[Captured]) -> Result<PreflightPass, Failure> {
    let version = captured
        .first()
        .and_then(|version| shared::version(version, "", ""));
    let probe = captured.get(1);
    let Some(help) = probe.and_then(|help| shared::readable_help(help, "opencode run")) else {
        return PROGRAM.unreadable(&asked.executable, probe);
    };
    let mut flags = shared::long_options(help);
    PROGRAM.require_flags(version.as_deref(), &REQUIRED_FLAGS, &flags)?;
    let listed = captured.get(2).map(|models| listed(models, &asked.model));
    if let Some(Listed::With(variants)) = &listed {
        flags.insert(VARIANT.to_owned());
        flags.extend(variants.iter().map(|name| format!("{VARIANT}{name}")));
    }
    let capabilities = Capabilities { version, flags };
    let mut metadata = asked.choices.transport_metadata(&asked.executable);
    metadata.append(&mut asked.choices.metadata());
    metadata.insert("resolvedModel".to_owned(), asked.model.as_str().into());
    shared::put_version(&mut metadata, &capabilities);
    Ok(PreflightPass {
        report: PreflightReport {
            checks: checks(asked, listed.as_ref(), &capabilities),
            metadata,
        },
        capabilities,
    })
}

/// What `opencode models` says about the model.
enum Listed {
    /// It is there, with these variants.
    With(BTreeSet<String>),
    /// Other models are there.
    Not,
    /// The provider is not connected.
    NoProvider,
}

/// Looks for the model in the list: a line with its name, and a JSON object after it.
fn listed(captured: &Captured, model: &str) -> Listed {
    if captured.exit != ExitKind::Code(0) {
        return Listed::NoProvider;
    }
    let mut from = captured.stdout.split_inclusive('\n');
    let mut at = 0;
    for line in from.by_ref() {
        at += line.len();
        if line.trim() == model {
            let rest = captured.stdout.get(at..).unwrap_or_default();
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            let details = values.next().and_then(Result::ok).unwrap_or_default();
            let variants = details.get("variants").and_then(Value::as_object);
            let names = variants.into_iter().flat_map(Map::keys);
            return Listed::With(names.map(|name| shared::cut(name, 64)).collect());
        }
    }
    Listed::Not
}

fn checks(
    asked: &Asked,
    listed: Option<&Listed>,
    capabilities: &Capabilities,
) -> Vec<PreflightCheck> {
    use CheckStatus::{Passed, Warning};
    let model = shared::one_line(&asked.model);
    let auth = match listed {
        Some(Listed::NoProvider) => check(
            "auth",
            Warning,
            format!("OpenCode has no provider for {model}, or no key for it."),
        ),
        _ => shared::delegated_auth(),
    };
    let of_model = match listed {
        Some(Listed::Not) => check("model", Warning, format!("OpenCode does not list {model}.")),
        _ => check(
            "model",
            Passed,
            format!("opencode is asked for model {model}."),
        ),
    };
    let of_effort = match asked.choices.native_effort() {
        Some(effort) if is_ignored(effort, capabilities) => check(
            "effort",
            Warning,
            format!("{model} has no variant {effort}, so OpenCode ignores it."),
        ),
        _ => asked.choices.effort_check(),
    };
    let mut checks = vec![
        shared::found(&asked.executable),
        check(
            "readonly",
            Passed,
            "The model is offered tools that read, and no others.",
        ),
        auth,
        of_model,
        of_effort,
    ];
    if !asked.has_ripgrep {
        let detail = "There is no `rg` on PATH: OpenCode cannot search, or downloads it.";
        checks.push(check("ripgrep", Warning, detail));
    }
    checks.extend(shared::untold_version(capabilities.version.as_deref()));
    checks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::settings::Effort;
    use crate::engines::shared::testing::{self, printed, resolved, settings, warnings};
    use diffwarden_actors::model::{EngineName, ErrorCode};
    use proptest::prelude::*;

    const HELP: &str = include_str!("../../../fixtures/opencode/run-help.stderr");
    const MODELS: &str = include_str!("../../../fixtures/opencode/models-verbose.stdout");

    fn judged(
        model: &str,
        effort: Effort,
        help: (i32, &str),
        models: (i32, &str),
    ) -> Result<PreflightPass, Failure> {
        let mut choices = Choices::from_settings(&settings(EngineName::Opencode)).unwrap();
        choices.effort = Some(testing::asked(effort));
        let asked = Asked {
            choices,
            executable: resolved("opencode"),
            model: model.to_owned(),
            has_ripgrep: true,
        };
        let code = ExitKind::Code;
        let captured = [
            printed(code(0), "1.18.33\n", ""),
            printed(code(help.0), "", help.1),
            printed(code(models.0), models.1, ""),
        ];
        judge(&asked, &captured)
    }

    #[test]
    fn the_real_help_and_list_pass() {
        let pass = judged("mock/mock-model", Effort::High, (0, HELP), (0, MODELS)).unwrap();
        assert_eq!(pass.capabilities.version.as_deref(), Some("1.18.33"));
        assert!(pass.capabilities.flags.contains("--variant"));
        assert!(!is_ignored("high", &pass.capabilities));
        insta::assert_json_snapshot!(pass.report);
    }

    #[test]
    fn what_opencode_would_ignore_or_lack_is_a_reservation() {
        for (model, effort, models, expected) in [
            ("mock/mock-model", Effort::Max, (0, MODELS), vec!["effort"]),
            ("mock/nope", Effort::High, (0, MODELS), vec!["model"]),
            ("nope/nope", Effort::High, (1, ""), vec!["auth"]),
        ] {
            let pass = judged(model, effort, (0, HELP), models).unwrap();
            assert_eq!(warnings(&pass.report), expected, "{model}");
        }
    }

    #[test]
    fn a_missing_option_or_help_is_refused() {
        let old = HELP.replace("--pure", "--pura");
        for (help, part) in [((0, old.as_str()), "--pure"), ((127, "stub"), "stub")] {
            let failure = judged("a/b", Effort::High, help, (0, "")).unwrap_err();
            assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
            assert!(failure.message.contains(part), "{failure}");
        }
    }

    proptest! {
        #[test]
        fn any_list_is_taken(text in "(a/b\n)?[{}\":a/b\n]{0,80}", code in -1..2) {
            prop_assert!(judged("a/b", Effort::High, (0, HELP), (code, &text)).is_ok());
        }
    }
}
