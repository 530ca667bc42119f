//! What is learned about an executable before a review, without spending a token.

use diffwarden_actors::engine::{Capabilities, Captured, CommandSpec, Place, PreflightPass};
use diffwarden_actors::model::{CheckStatus, Failure, PreflightReport};

use super::{PROGRAM, command};
use crate::engines::executable::Resolved;
use crate::engines::shared::{self, Choices, check};

/// Options without which a review would not be read-only, or could not be read.
const REQUIRED_FLAGS: [&str; 8] = [
    "--prompt",
    "--skip-trust",
    "--approval-mode",
    "--policy",
    "--admin-policy",
    "--allowed-mcp-server-names",
    "--extensions",
    "--output-format",
];

/// Returns the commands to run: the version and the help.
pub(super) fn probes(executable: &Resolved, place: &Place) -> Vec<CommandSpec> {
    // An option beside `--help` would be missing in the help.
    [("version", "--version"), ("help", "--help")]
        .map(|(folder, flag)| command::probe(executable, place, folder, &[flag]))
        .into()
}

/// Judges what the probes printed.
///
/// # Errors
///
/// Fails when the executable does not start, does not list its options, or lacks one that keeps a
/// review from writing.
pub(super) fn judge(
    choices: &Choices,
    executable: &Resolved,
    captured: &[Captured],
) -> Result<PreflightPass, Failure> {
    let version = captured
        .first()
        .and_then(|version| shared::version(version, "", ""));
    let probe = captured.get(1);
    let Some(help) = probe.and_then(|help| shared::readable_help(help, "--approval-mode")) else {
        return PROGRAM.unreadable(executable, probe);
    };
    let flags = shared::long_options(help);
    PROGRAM.require_flags(version.as_deref(), &REQUIRED_FLAGS, &flags)?;
    if !help.contains("stream-json") {
        return Err(shared::unfit(
            "this Gemini is too old for reviews: it has no output format stream-json",
            format!("update it with `{}`", PROGRAM.install),
        ));
    }
    let capabilities = Capabilities { version, flags };
    let mut metadata = choices.transport_metadata(executable);
    metadata.append(&mut choices.metadata());
    shared::put_version(&mut metadata, &capabilities);
    let passed = |name, detail| check(name, CheckStatus::Passed, detail);
    let mut checks = vec![
        shared::found(executable),
        passed("gemini-policy", "It takes the policy of a review."),
        passed(
            "readonly",
            "The model is offered tools that read, and no others.",
        ),
        shared::delegated_auth(),
        choices.model_check(),
        choices.effort_check(),
    ];
    checks.extend(shared::untold_version(capabilities.version.as_deref()));
    Ok(PreflightPass {
        report: PreflightReport { checks, metadata },
        capabilities,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::shared::testing::{printed, request, resolved, settings};
    use diffwarden_actors::engine::ExitKind;
    use diffwarden_actors::model::{EngineName, ErrorCode};
    use proptest::prelude::*;

    const HELP: &str = include_str!("../../../fixtures/gemini/help.stdout");

    fn judged(version: (i32, &str), help: (i32, &str)) -> Result<PreflightPass, Failure> {
        let choices = Choices::from_settings(&settings(EngineName::Gemini)).unwrap();
        let captured = [version, help]
            .map(|(code, out)| printed(ExitKind::Code(code), out, "node: not found"));
        judge(&choices, &resolved("gemini"), &captured)
    }

    #[test]
    fn the_real_help_passes() {
        let pass = judged((0, "0.61.0\n"), (0, HELP)).unwrap();
        assert_eq!(pass.capabilities.version.as_deref(), Some("0.61.0"));
        insta::assert_json_snapshot!(pass.report);
    }

    #[test]
    fn without_its_policy_options_or_its_stream_it_is_refused() {
        for (part, told) in [
            ("--admin-policy", "--admin-policy"),
            ("stream-json", "stream-json"),
        ] {
            let failure = judged((0, "0.9.1"), (0, &HELP.replace(part, "x"))).unwrap_err();
            assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
            assert!(failure.message.contains(told), "{failure}");
        }
    }

    #[test]
    fn a_version_that_is_not_told_is_a_reservation_and_a_missing_help_is_none() {
        let pass = judged((0, "hello"), (0, HELP)).unwrap();
        let last = pass.report.checks.last().unwrap();
        assert_eq!(
            (last.name.as_str(), last.status),
            ("version", CheckStatus::Warning)
        );
        let failure = judged((0, "0.61.0"), (127, "")).unwrap_err();
        assert!(failure.message.contains("node: not found"), "{failure}");
        assert!(failure.message.contains("127"), "{failure}");
    }

    #[test]
    fn probes_touch_neither_the_user_s_home_nor_the_repository() {
        let place = request("", &[]).place;
        for probe in probes(&resolved("gemini"), &place) {
            assert!(probe.cwd.starts_with(&place.run_dir));
            let home = probe.cwd.join("home").into();
            assert!(probe.env.contains(&("GEMINI_CLI_HOME".into(), Some(home))));
        }
    }

    proptest! {
        #[test]
        fn any_output_is_judged(out in ".{0,200}", code in -1..3) {
            if let Err(failure) = judged((code, &out), (code, &out)) {
                prop_assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
            }
        }
    }
}
