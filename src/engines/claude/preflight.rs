//! What is learned about an executable before a review, without spending a token.
//!
//! Who is logged in is not asked: `claude auth status` is a prompt to older versions, writes into
//! the user's configuration, and calls an expired login a good one. A run without credentials ends
//! in half a second without a request.

use diffwarden_actors::engine::{
    Capabilities, Captured, CommandSpec, ExitKind, Place, PreflightPass,
};
use diffwarden_actors::model::{
    CheckStatus, ErrorCode, Failure, PreflightCheck, PreflightReport, Reason,
};

use super::features::Features;
use super::options::Options;
use super::{INSTALL, READONLY};
use crate::engines::capabilities::NativeEffort;
use crate::engines::executable::Resolved;
use crate::engines::shared::{self, check};

/// Options without which there is no read-only review.
const REQUIRED_FLAGS: [&str; 11] = [
    "--print",
    "--output-format",
    "--verbose",
    "--json-schema",
    "--tools",
    "--disallowedTools",
    "--permission-mode",
    "--no-session-persistence",
    "--setting-sources",
    "--strict-mcp-config",
    "--disable-slash-commands",
];

/// How many bytes of help are searched for options.
const HELP_LIMIT: usize = 256 << 10;

/// Returns the commands to run: the version and the help. Neither reads a configuration nor writes
/// anything; they run in the private folder all the same.
pub(super) fn probes(executable: &Resolved, place: &Place) -> Vec<CommandSpec> {
    ["--version", "--help"]
        .map(|flag| {
            let mut probe = CommandSpec::new(&executable.path, &place.run_dir);
            probe.args = vec![flag.into()];
            probe.keep_stdout = true;
            probe
        })
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
    captured: &[Captured],
) -> Result<PreflightPass, Failure> {
    let mut probes = captured.iter();
    let version = probes.next().and_then(version);
    let help = probes.next().and_then(readable_help);
    if version.is_none()
        && help.is_none()
        && let Some(first) = captured.first()
        && first.exit != ExitKind::Code(0)
    {
        return Err(shared::does_not_start(executable, first, INSTALL));
    }
    let Some(help) = help else {
        return Err(unfit(
            "the options of this Claude cannot be read (`claude --help`), so it is not known \
             whether it can be kept from writing"
                .to_owned(),
        ));
    };
    let mut flags = shared::long_options(help);
    // The help names this one only where it describes another.
    if help.contains("--system-prompt[-file]") {
        flags.insert("--system-prompt-file".to_owned());
    }
    let capabilities = Capabilities { version, flags };
    require(options, &capabilities)?;
    let features = Features::of(&capabilities);
    let mut metadata = shared::transport_metadata(READONLY, executable);
    metadata.append(&mut options.metadata(&features));
    if let Some(version) = &capabilities.version {
        metadata.insert("version".to_owned(), version.as_str().into());
    }
    let has_version = capabilities.version.is_some();
    Ok(PreflightPass {
        report: PreflightReport {
            checks: checks(options, executable, &features, has_version),
            metadata,
        },
        capabilities,
    })
}

/// Returns the version out of a line such as `2.1.332 (Claude Code)`.
fn version(captured: &Captured) -> Option<String> {
    let line = captured.stdout.trim_start().lines().next()?;
    let (version, rest) = line.split_once(' ')?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && rest.contains("Claude");
    (captured.exit == ExitKind::Code(0) && is_version).then(|| shared::cut(version, 64))
}

fn readable_help(captured: &Captured) -> Option<&str> {
    let head = shared::head(&captured.stdout, HELP_LIMIT);
    (captured.exit == ExitKind::Code(0) && head.contains("Usage:")).then_some(head)
}

fn require(options: &Options, capabilities: &Capabilities) -> Result<(), Failure> {
    let mut required = REQUIRED_FLAGS.to_vec();
    // A limit of money and an effort that somebody chose are never left out in silence.
    if options.max_budget_usd.is_some() {
        required.push("--max-budget-usd");
    }
    if options.requires_effort() {
        required.push("--effort");
    }
    let missing: Vec<_> = required
        .into_iter()
        .filter(|flag| !capabilities.flags.contains(*flag))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let version = capabilities.version.as_ref();
    let which = version.map_or_else(|| "this Claude".to_owned(), |v| format!("Claude {v}"));
    let missing = missing.join(", ");
    Err(unfit(format!(
        "{which} is too old for this review: it does not know {missing}"
    )))
}

fn unfit(message: String) -> Failure {
    Failure::new(ErrorCode::ReviewerEnvironmentFailed, message)
        .reason(Reason::Environment)
        .hint(format!("update it with `{INSTALL}`"))
}

fn checks(
    options: &Options,
    executable: &Resolved,
    features: &Features,
    has_version: bool,
) -> Vec<PreflightCheck> {
    use CheckStatus::{Passed, Skipped, Warning};
    let mut checks = vec![check(
        "executable",
        Passed,
        format!("Found {}.", executable.path.display()),
    )];
    checks.push(if features.restricted {
        check(
            "claude-policy",
            Passed,
            "Claude has the options that keep a review from writing and inside its folder.",
        )
    } else {
        check(
            "claude-policy",
            Warning,
            "This Claude has no --restricted: its permission rules alone keep reads inside the \
             folder.",
        )
    });
    checks.push(check(
        "readonly",
        Passed,
        "The model is offered Read, Grep and Glob, and nothing that writes or runs commands.",
    ));
    checks.push(check("auth", Skipped, "Left to the executable."));
    checks.push(match &options.model {
        Some(model) => check(
            "model",
            Passed,
            format!("Claude is asked for the model {}.", model.value),
        ),
        None => check("model", Skipped, "Nobody asked for a special model."),
    });
    checks.push(effort_check(options, features));
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
    if !has_version {
        checks.push(check(
            "version",
            Warning,
            "The executable did not tell its version.",
        ));
    }
    checks
}

fn effort_check(options: &Options, features: &Features) -> PreflightCheck {
    use CheckStatus::{Passed, Skipped, Warning};
    let (status, detail) = match options.native_effort() {
        Some(NativeEffort::Word(word)) if features.effort => {
            (Passed, format!("Claude is asked for the effort {word}."))
        }
        Some(NativeEffort::Word(_)) => (
            Warning,
            "This Claude has no --effort, so its own default holds.".to_owned(),
        ),
        Some(NativeEffort::ThinkingDisabled) => (
            Warning,
            "Claude is asked not to think, which current models ignore.".to_owned(),
        ),
        Some(NativeEffort::Omitted) | None => {
            (Skipped, "Nobody asked for a special effort.".to_owned())
        }
    };
    check("effort", status, detail)
}

#[cfg(test)]
mod tests {
    use super::super::options::tests::{chosen, settings};
    use super::*;
    use crate::engines::executable::Source;
    use crate::engines::settings::{Chosen, Effort, Origin, ReviewerSettings};
    use proptest::prelude::*;

    const HELP: &str = include_str!("../../../fixtures/claude/help.txt");
    const VERSION: &str = "2.1.332 (Claude Code)\n";

    fn resolved() -> Resolved {
        Resolved {
            path: "/bin/claude".into(),
            requested: "claude".into(),
            source: Source::AdapterDefault,
        }
    }

    fn printed(code: i32, stdout: &str, stderr: &str) -> Captured {
        Captured {
            exit: ExitKind::Code(code),
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
            outputs: Vec::new(),
        }
    }

    fn judged(
        change: impl FnOnce(&mut ReviewerSettings),
        version: Captured,
        help: Captured,
    ) -> Result<PreflightPass, Failure> {
        let mut settings = settings();
        change(&mut settings);
        let options = Options::from_settings(&settings).unwrap();
        judge(&options, &resolved(), &[version, help])
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

    fn warnings(pass: &PreflightPass) -> Vec<&str> {
        let checks = pass.report.checks.iter();
        checks
            .filter(|check| check.status == CheckStatus::Warning)
            .map(|check| check.name.as_str())
            .collect()
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
        for flag in REQUIRED_FLAGS {
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
        let asked = |settings: &mut ReviewerSettings| {
            settings.effort = Some(Chosen {
                value: Effort::Low,
                origin: Origin::Flag,
            });
        };
        let failure = without(&["--effort"], asked).unwrap_err();
        assert!(failure.message.contains("--effort"), "{failure}");
    }

    #[test]
    fn what_can_be_left_out_is_a_warning() {
        let pass = without(&["--effort", "--restricted"], |_| ()).unwrap();
        assert_eq!(warnings(&pass), ["claude-policy", "effort"]);
        let asked = |settings: &mut ReviewerSettings| {
            settings.fallback_model = Some(chosen("opus", Origin::Flag));
        };
        let pass = without(&["--fallback-model"], asked).unwrap();
        assert_eq!(warnings(&pass), ["fallback-model"]);
        let by_default = |settings: &mut ReviewerSettings| {
            settings.model = Some(chosen("opus", Origin::Flag));
        };
        let pass = without(&["--fallback-model"], by_default).unwrap();
        assert!(warnings(&pass).is_empty());
        let off = |settings: &mut ReviewerSettings| {
            settings.effort = Some(Chosen {
                value: Effort::Off,
                origin: Origin::Flag,
            });
        };
        assert_eq!(warnings(&without(&[], off).unwrap()), ["effort"]);
        for said in ["hello", "v2", "2.1 something", ""] {
            let pass = judged(|_| (), printed(0, said, ""), printed(0, HELP, "")).unwrap();
            assert_eq!(warnings(&pass), ["version"], "{said}");
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
        let place = Place {
            repo_root: "/repo".into(),
            run_dir: "/run/review".into(),
        };
        for probe in probes(&resolved(), &place) {
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
