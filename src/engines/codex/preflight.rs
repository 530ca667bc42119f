//! What is learned about an executable before a review, without spending a token.

use diffwarden_actors::engine::{
    Capabilities, Captured, CommandSpec, ExitKind, Place, PreflightPass,
};
use diffwarden_actors::model::{CheckStatus, Failure, PreflightReport};

use super::options::Options;
use super::sandbox::{self, Evidence};
use super::{PROGRAM, command};
use crate::engines::executable::Resolved;
use crate::engines::shared::{self, check};

/// Options of `codex exec` without which there is no review.
const REQUIRED_FLAGS: [&str; 6] = [
    "--json",
    "--output-schema",
    "--output-last-message",
    "--sandbox",
    "--ephemeral",
    "--cd",
];

/// Returns the commands to run: the version, the help of `codex exec`, and the trial of the
/// sandbox.
pub(super) fn probes(executable: &Resolved, place: &Place) -> Vec<CommandSpec> {
    let mut probes: Vec<_> = [&["--version"][..], &["exec", "--help"][..]]
        .into_iter()
        .map(|args| command::probe(executable, place, args))
        .collect();
    probes.extend(sandbox::probes(executable, place));
    probes
}

/// Judges what the probes printed.
///
/// # Errors
///
/// Fails when the executable does not start or is too old, and when its sandbox does not work. An
/// unreadable version or help is only a reservation: Codex itself refuses options that it does not
/// know, before anything runs.
pub(super) fn judge(
    options: &Options,
    executable: &Resolved,
    captured: &[Captured],
) -> Result<PreflightPass, Failure> {
    let mut probes = captured.iter();
    let version = probes
        .next()
        .and_then(|version| shared::version(version, "codex-cli ", ""));
    let help = probes
        .next()
        .and_then(|help| shared::readable_help(help, "Usage:"));
    if version.is_none()
        && help.is_none()
        && let Some(first) = captured.first()
        && first.exit != ExitKind::Code(0)
    {
        return Err(PROGRAM.does_not_start(executable, first));
    }
    let flags = help.map(shared::long_options).unwrap_or_default();
    if help.is_some() {
        PROGRAM.require_flags(version.as_deref(), &REQUIRED_FLAGS, &flags)?;
    }
    let evidence = match (probes.next(), probes.next()) {
        (Some(help), Some(trial)) => Evidence::judge(help, trial)?,
        _ => Evidence::Bench,
    };
    let mut capabilities = Capabilities { version, flags };
    evidence.note(&mut capabilities);
    let mut metadata = options.choices.transport_metadata(executable);
    metadata.append(&mut evidence.metadata());
    metadata.append(&mut options.metadata());
    shared::put_version(&mut metadata, &capabilities);
    let mut checks = vec![
        shared::found(executable),
        check("readonly", CheckStatus::Passed, evidence.detail()),
        shared::delegated_auth(),
        options.choices.model_check(),
        options.choices.effort_check(),
    ];
    checks.extend(shared::untold_version(capabilities.version.as_deref()));
    if help.is_none() {
        checks.push(check(
            "options",
            CheckStatus::Warning,
            "The help of `codex exec` could not be read; only options every Codex has are used.",
        ));
    }
    Ok(PreflightPass {
        report: PreflightReport { checks, metadata },
        capabilities,
    })
}

#[cfg(test)]
mod tests {
    use super::super::options::tests::settings;
    use super::*;
    use crate::engines::shared::testing::{self, place, resolved, warnings};
    use diffwarden_actors::model::{ErrorCode, Reason};
    use proptest::prelude::*;

    const HELP: &str = include_str!("../../../fixtures/codex/help-exec.txt");
    const SANDBOX_HELP: &str = include_str!("../../../fixtures/codex/help-sandbox.txt");

    fn printed(code: i32, stdout: &str, stderr: &str) -> Captured {
        testing::printed(ExitKind::Code(code), stdout, stderr)
    }

    fn judged(version: Captured, help: Captured) -> Result<PreflightPass, Failure> {
        let trial = printed(0, "refused\n", "");
        judged_with(version, help, trial)
    }

    fn judged_with(
        version: Captured,
        help: Captured,
        trial: Captured,
    ) -> Result<PreflightPass, Failure> {
        let options = Options::from_settings(&settings()).unwrap();
        let captured = [version, help, printed(0, SANDBOX_HELP, ""), trial];
        judge(&options, &resolved("codex"), &captured)
    }

    #[test]
    fn the_real_help_passes_and_tells_what_else_is_known() {
        let pass = judged(printed(0, "codex-cli 0.171.0\n", ""), printed(0, HELP, "")).unwrap();
        assert_eq!(pass.capabilities.version.as_deref(), Some("0.171.0"));
        for flag in ["--ignore-rules", "--color", "--strict-config", "--model"] {
            assert!(pass.capabilities.flags.contains(flag), "{flag}");
        }
        insta::assert_json_snapshot!(pass.report);
    }

    #[test]
    fn a_sandbox_that_does_not_work_fails_the_reviewer() {
        let trial = printed(1, "", "bwrap: No permissions to create a new namespace\n");
        let version = printed(0, "codex-cli 0.171.0\n", "");
        let failure = judged_with(version, printed(0, HELP, ""), trial).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        assert_eq!(failure.reason, Some(Reason::Environment));
        assert!(failure.message.contains("No permissions"), "{failure}");
    }

    #[test]
    fn a_missing_option_is_named() {
        let old = HELP
            .replace("--output-schema", "--other")
            .replace("--ephemeral", "");
        let failure = judged(printed(0, "codex-cli 0.20.1", ""), printed(0, &old, "")).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        assert_eq!(
            failure.message,
            "Codex 0.20.1 is too old or too new for this review: `codex exec` does not know \
             --output-schema, --ephemeral"
        );
    }

    #[test]
    fn strange_answers_are_reservations() {
        for (version, help, warned) in [
            (
                printed(0, "hello", ""),
                printed(0, HELP, ""),
                vec!["version"],
            ),
            (
                printed(3, "codex-cli 1", ""),
                printed(0, HELP, ""),
                vec!["version"],
            ),
            (
                printed(0, "codex-cli 1", ""),
                printed(2, "noise", ""),
                vec!["options"],
            ),
            (
                printed(0, "", ""),
                printed(0, "noise", ""),
                vec!["version", "options"],
            ),
        ] {
            let pass = judged(version, help).unwrap();
            assert_eq!(warnings(&pass.report), warned);
        }
    }

    #[test]
    fn an_executable_that_does_not_start_fails_with_its_own_words() {
        let broken = || printed(127, "", "env: 'node': No such file or directory\n");
        let failure = judged(broken(), broken()).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        assert!(failure.message.contains("exit code 127"), "{failure}");
        assert!(failure.message.contains("'node'"), "{failure}");
    }

    #[test]
    fn probes_touch_neither_the_user_s_home_nor_the_repository() {
        let place = place();
        for probe in probes(&resolved("codex"), &place) {
            assert_eq!(probe.cwd, place.run_dir);
            let home = ("CODEX_HOME".into(), Some("/run/review".into()));
            assert!(probe.env.contains(&home));
            assert!(probe.keep_stdout);
        }
    }

    proptest! {
        #[test]
        fn any_output_is_judged(out in ".{0,200}", help in "(Usage: )?.{0,200}", code in -1..3) {
            let result = judged(printed(code, &out, &out), printed(code, &help, &out));
            if let Err(failure) = result {
                prop_assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
            }
        }
    }
}
