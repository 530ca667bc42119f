//! What is learned about an executable before a review, without spending a token.
//!
//! Who is logged in is not asked here: `claude auth status` is a prompt to older versions, writes
//! into the user's configuration, and calls an expired login a good one. A run without credentials
//! ends in half a second without a request.

use diffwarden_actors::engine::{Capabilities, Captured, CommandSpec, Place, PreflightPass};
use diffwarden_actors::model::{CheckStatus, Failure, PreflightCheck, PreflightReport};

use super::PROGRAM;
use super::environment::Surroundings;
use super::features::Features;
use super::options::{AuthMode, Options};
use crate::engines::capabilities::NativeEffort;
use crate::engines::executable::Resolved;
use crate::engines::shared::{self, check};

/// Options without which there is no read-only review.
const REQUIRED_FLAGS: [&str; 9] = [
    "--print",
    "--output-format",
    "--verbose",
    "--json-schema",
    "--tools",
    "--disallowedTools",
    "--permission-mode",
    "--setting-sources",
    "--strict-mcp-config",
];

/// Options that keep a review and the user's own state apart. With a key from the environment the
/// state is private and thrown away; with Claude's own login it lies beside that, so a Claude
/// without them is too old for a login.
const SHIELDS: [&str; 2] = ["--no-session-persistence", "--disable-slash-commands"];

/// Returns the commands to run: the version and the help. Neither reads a configuration nor writes
/// anything; they run in the private folder all the same.
pub(super) fn probes(executable: &Resolved, place: &Place) -> Vec<CommandSpec> {
    ["--version", "--help"]
        .map(|flag| shared::probe(executable, &place.run_dir, &[flag]))
        .into()
}

/// Judges what the probes printed.
///
/// # Errors
///
/// Fails when the executable does not start, when its options cannot be read, or when one that the
/// read-only policy or the reviewer's choices need is missing.
pub(super) fn judge(
    options: &Options,
    executable: &Resolved,
    surroundings: &Surroundings,
    captured: &[Captured],
) -> Result<PreflightPass, Failure> {
    let capabilities = inspect(executable, captured)?;
    require(options, surroundings, &capabilities, &[])?;
    Ok(pass(options, executable, capabilities))
}

/// Returns what the version and the help, the first two of the probes, tell.
///
/// # Errors
///
/// Fails when the executable does not start, or when its options cannot be read.
pub(super) fn inspect(
    executable: &Resolved,
    captured: &[Captured],
) -> Result<Capabilities, Failure> {
    let version = captured
        .first()
        .and_then(|version| shared::version(version, "", " (Claude Code)"));
    let probe = captured.get(1);
    let Some(help) = probe.and_then(|help| shared::readable_help(help, "Usage:")) else {
        return PROGRAM.unreadable(executable, probe);
    };
    let mut flags = shared::long_options(help);
    // The help names this one only where it describes another.
    if help.contains("--system-prompt[-file]") {
        flags.insert("--system-prompt-file".to_owned());
    }
    Ok(Capabilities { version, flags })
}

/// Returns the report on an executable that is fit.
pub(super) fn pass(
    options: &Options,
    executable: &Resolved,
    capabilities: Capabilities,
) -> PreflightPass {
    let features = Features::of(&capabilities);
    let mut metadata = options.choices.transport_metadata(executable);
    metadata.append(&mut options.metadata(&features));
    shared::put_version(&mut metadata, &capabilities);
    let mut checks = checks(options, executable, &features);
    checks.extend(shared::untold_version(capabilities.version.as_deref()));
    PreflightPass {
        report: PreflightReport { checks, metadata },
        capabilities,
    }
}

/// Refuses a Claude that lacks an option of the policy, one of `others`, or one that the reviewer's
/// choices need.
///
/// # Errors
///
/// Names what is missing.
pub(super) fn require(
    options: &Options,
    surroundings: &Surroundings,
    capabilities: &Capabilities,
    others: &[&'static str],
) -> Result<(), Failure> {
    let mut required = REQUIRED_FLAGS.to_vec();
    required.extend(others);
    if options.auth_mode == AuthMode::ClaudeCode || !surroundings.is_private() {
        required.extend(SHIELDS);
    }
    // A limit of money and an effort that somebody chose are never left out in silence.
    if options.max_budget_usd.is_some() {
        required.push("--max-budget-usd");
    }
    if options.requires_effort() {
        required.push("--effort");
    }
    let version = capabilities.version.as_deref();
    PROGRAM.require_flags(version, &required, &capabilities.flags)
}

fn checks(options: &Options, executable: &Resolved, features: &Features) -> Vec<PreflightCheck> {
    use CheckStatus::{Passed, Warning};
    let (status, policy) = if features.restricted {
        (
            Passed,
            "Claude has the options that keep a review from writing and inside its folder.",
        )
    } else {
        (
            Warning,
            "This Claude has no --restricted: its permission rules alone keep reads inside the \
             folder.",
        )
    };
    let auth = if features.is_fit_for_login() {
        shared::delegated_auth()
    } else {
        check(
            "auth",
            Warning,
            "This Claude is too old for its own login, so the credentials of the environment are \
             used; what it keeps is thrown away.",
        )
    };
    let mut checks = vec![
        shared::found(executable),
        check("claude-policy", status, policy),
        check(
            "readonly",
            Passed,
            "The model is offered Read, Grep and Glob, and nothing that writes or runs commands.",
        ),
        auth,
        options.choices.model_check(),
        effort_check(options, features),
    ];
    if let Some(fallback) = &options.fallback_model
        && options
            .metadata(features)
            .contains_key("fallbackModelDropped")
    {
        checks.push(check(
            "fallback-model",
            Warning,
            format!(
                "This Claude has no --fallback-model, so {} does not take over.",
                fallback.value
            ),
        ));
    }
    checks
}

fn effort_check(options: &Options, features: &Features) -> PreflightCheck {
    let detail = match options.choices.mapped_effort() {
        Some(NativeEffort::Word(_)) if !features.effort => {
            "This Claude has no --effort, so its own default holds."
        }
        Some(NativeEffort::ThinkingDisabled) => {
            "Claude is asked not to think, which current models ignore."
        }
        _ => return options.choices.effort_check(),
    };
    check("effort", CheckStatus::Warning, detail)
}

#[cfg(test)]
mod tests {
    use super::super::options::tests::{chosen, settings};
    use super::*;
    use crate::engines::settings::{Effort, Origin, ReviewerSettings};
    use crate::engines::shared::testing::{self, asked, place, resolved, warnings};
    use crate::env::Environment;
    use diffwarden_actors::engine::ExitKind;
    use diffwarden_actors::model::ErrorCode;
    use proptest::prelude::*;

    const HELP: &str = include_str!("../../../fixtures/claude/help.txt");
    const VERSION: &str = "2.1.332 (Claude Code)\n";

    fn printed(code: i32, stdout: &str, stderr: &str) -> Captured {
        testing::printed(ExitKind::Code(code), stdout, stderr)
    }

    fn judged(
        change: impl FnOnce(&mut ReviewerSettings),
        version: Captured,
        help: Captured,
    ) -> Result<PreflightPass, Failure> {
        let mut settings = settings();
        change(&mut settings);
        let options = Options::from_settings(&settings).unwrap();
        let surroundings = Surroundings::read(&options, None, &Environment::default());
        let captured = [version, help];
        judge(&options, &resolved("claude"), &surroundings, &captured)
    }

    /// Judges a Claude whose help lacks some options.
    fn without(
        flags: &[&str],
        change: impl FnOnce(&mut ReviewerSettings),
    ) -> Result<PreflightPass, Failure> {
        let help = flags
            .iter()
            .fold(HELP.to_owned(), |help, flag| help.replace(flag, "--other"));
        judged(change, printed(0, VERSION, ""), printed(0, &help, ""))
    }

    #[test]
    fn the_real_help_passes_and_tells_what_else_is_known() {
        let pass = without(&[], |_| ()).unwrap();
        assert_eq!(pass.capabilities.version.as_deref(), Some("2.1.332"));
        let features = Features::of(&pass.capabilities);
        assert_eq!(features, super::super::features::tests::ALL);
        insta::assert_json_snapshot!(pass.report);
    }

    #[test]
    fn what_the_policy_needs_must_be_there() {
        for flag in REQUIRED_FLAGS.into_iter().chain(SHIELDS) {
            let failure = without(&[flag], |_| ()).unwrap_err();
            assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
            assert!(failure.message.contains(flag), "{failure}");
            assert!(failure.message.contains("2.1.332"), "{failure}");
        }
        for help in [printed(0, "noise", ""), printed(1, HELP, "")] {
            let failure = judged(|_| (), printed(0, VERSION, ""), help).unwrap_err();
            assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        }
    }

    #[test]
    fn a_budget_and_a_chosen_effort_are_never_dropped() {
        let limited = |settings: &mut ReviewerSettings| settings.max_budget_usd = Some(1.0);
        let failure = without(&["--max-budget-usd"], limited).unwrap_err();
        assert!(failure.message.contains("--max-budget-usd"), "{failure}");
        assert!(without(&["--max-budget-usd"], |_| ()).is_ok());
        let with_effort = |settings: &mut ReviewerSettings| {
            settings.effort = Some(asked(Effort::Low));
        };
        let failure = without(&["--effort"], with_effort).unwrap_err();
        assert!(failure.message.contains("--effort"), "{failure}");
    }

    #[test]
    fn what_can_be_left_out_is_a_warning() {
        let pass = without(&["--effort", "--restricted"], |_| ()).unwrap();
        assert_eq!(warnings(&pass.report), ["claude-policy", "effort"]);
        let with_fallback = |settings: &mut ReviewerSettings| {
            settings.fallback_model = Some(chosen("opus", Origin::Flag));
        };
        let pass = without(&["--fallback-model"], with_fallback).unwrap();
        assert_eq!(warnings(&pass.report), ["fallback-model"]);
        let by_default = |settings: &mut ReviewerSettings| {
            settings.model = Some(chosen("opus", Origin::Flag));
        };
        let pass = without(&["--fallback-model"], by_default).unwrap();
        assert!(warnings(&pass.report).is_empty());
        let off = |settings: &mut ReviewerSettings| {
            settings.effort = Some(asked(Effort::Off));
        };
        let pass = without(&[], off).unwrap();
        assert_eq!(warnings(&pass.report), ["effort"]);
        for said in ["hello", "v2", "2.1 something", ""] {
            let pass = judged(|_| (), printed(0, said, ""), printed(0, HELP, "")).unwrap();
            assert_eq!(warnings(&pass.report), ["version"], "{said}");
        }
    }

    #[test]
    fn an_executable_that_does_not_start_fails_with_its_own_words() {
        let broken = || printed(127, "", "cannot execute: required file not found\n");
        let failure = judged(|_| (), broken(), broken()).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        assert!(failure.message.contains("exit code 127"), "{failure}");
        assert!(failure.message.contains("required file"), "{failure}");
    }

    #[test]
    fn probes_run_in_the_private_folder() {
        let place = place();
        for probe in probes(&resolved("claude"), &place) {
            assert_eq!(probe.cwd, place.run_dir);
            assert!(probe.keep_stdout);
        }
    }

    proptest! {
        #[test]
        fn any_output_is_judged(out in ".{0,200}", help in "(Usage: )?.{0,200}", code in -1..3) {
            let printed_help = printed(code, &help, &out);
            let result = judged(|_| (), printed(code, &out, &out), printed_help);
            prop_assert_eq!(result.unwrap_err().code, ErrorCode::ReviewerEnvironmentFailed);
        }
    }
}
