//! What is learned about an executable before a review, without spending a token.

use std::collections::BTreeSet;

use diffwarden_actors::engine::{
    Capabilities, Captured, CommandSpec, ExitKind, Place, PreflightPass,
};
use diffwarden_actors::model::{
    CheckStatus, ErrorCode, Failure, PreflightCheck, PreflightReport, Reason,
};

use super::options::Options;
use super::{INSTALL, command};
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

/// How many bytes of help are searched for options.
const HELP_LIMIT: usize = 256 << 10;

/// Returns the commands to run: the version, and the help of `codex exec`.
///
/// They run in the private folder with that folder as their home, so that asking leaves no trace
/// in the user's home and depends on nothing in the repository.
pub(super) fn probes(executable: &Resolved, place: &Place) -> Vec<CommandSpec> {
    [&["--version"][..], &["exec", "--help"][..]]
        .into_iter()
        .map(|args| {
            let mut probe = CommandSpec::new(&executable.path, &place.run_dir);
            probe.args = args.iter().map(Into::into).collect();
            probe.env = command::environment(&place.run_dir);
            probe.keep_stdout = true;
            probe
        })
        .collect()
}

/// Judges what the probes printed.
///
/// # Errors
///
/// Fails when the executable does not start or is too old. An unreadable answer is only a
/// reservation: Codex itself refuses options that it does not know, before anything runs.
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
    let flags = help.map(shared::long_options).unwrap_or_default();
    if help.is_some() {
        require(&flags, version.as_deref())?;
    }
    let mut metadata = shared::transport_metadata("enforced", executable);
    metadata.append(&mut options.metadata());
    if let Some(version) = &version {
        metadata.insert("version".to_owned(), version.as_str().into());
    }
    Ok(PreflightPass {
        report: PreflightReport {
            checks: checks(options, executable, version.is_some(), help.is_some()),
            metadata,
        },
        capabilities: Capabilities { version, flags },
    })
}

fn version(captured: &Captured) -> Option<String> {
    let rest = captured.stdout.trim_start().strip_prefix("codex-cli ")?;
    let version = rest.split_whitespace().next()?;
    (captured.exit == ExitKind::Code(0)).then(|| shared::cut(version, 64))
}

fn readable_help(captured: &Captured) -> Option<&str> {
    let head = shared::head(&captured.stdout, HELP_LIMIT);
    (captured.exit == ExitKind::Code(0) && head.contains("Usage:")).then_some(head)
}

fn require(flags: &BTreeSet<String>, version: Option<&str>) -> Result<(), Failure> {
    let missing: Vec<_> = REQUIRED_FLAGS
        .into_iter()
        .filter(|flag| !flags.contains(*flag))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let which = version.map_or_else(|| "this Codex".to_owned(), |v| format!("Codex {v}"));
    Err(Failure::new(
        ErrorCode::ReviewerEnvironmentFailed,
        format!(
            "{which} is too old for reviews: `codex exec` does not know {}",
            missing.join(", ")
        ),
    )
    .reason(Reason::Environment)
    .hint(format!("update it with `{INSTALL}`")))
}

fn checks(
    options: &Options,
    executable: &Resolved,
    has_version: bool,
    has_help: bool,
) -> Vec<PreflightCheck> {
    use CheckStatus::{Passed, Skipped, Warning};
    let asked = |what: &str, value: Option<&str>| match value {
        Some(value) => (Passed, format!("Codex is asked for {what} {value}.")),
        None => (Skipped, format!("Nobody asked for a special {what}.")),
    };
    let model = options.model_argument();
    let (model_status, model_detail) = asked("model", model.as_deref());
    let (effort_status, effort_detail) = asked("effort", options.native_effort());
    let mut checks = vec![
        check(
            "executable",
            Passed,
            format!("Found {}.", executable.path.display()),
        ),
        check(
            "readonly",
            Passed,
            "Commands run in Codex's read-only sandbox of the operating system.",
        ),
        check("auth", Skipped, "Left to the executable."),
        check("model", model_status, model_detail),
        check("effort", effort_status, effort_detail),
    ];
    if !has_version {
        checks.push(check(
            "version",
            Warning,
            "The executable did not tell its version.",
        ));
    }
    if !has_help {
        checks.push(check(
            "options",
            Warning,
            "The help of `codex exec` could not be read; only options every Codex has are used.",
        ));
    }
    checks
}

#[cfg(test)]
mod tests {
    use super::super::options::tests::settings;
    use super::*;
    use crate::engines::executable::Source;
    use proptest::prelude::*;

    const HELP: &str = include_str!("../../../fixtures/codex/help-exec.txt");

    fn resolved() -> Resolved {
        Resolved {
            path: "/bin/codex".into(),
            requested: "codex".into(),
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

    fn judged(version: Captured, help: Captured) -> Result<PreflightPass, Failure> {
        let options = Options::from_settings(&settings()).unwrap();
        judge(&options, &resolved(), &[version, help])
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
    fn a_missing_option_is_named() {
        let old = HELP
            .replace("--output-schema", "--other")
            .replace("--ephemeral", "");
        let failure = judged(printed(0, "codex-cli 0.20.1", ""), printed(0, &old, "")).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        assert_eq!(
            failure.message,
            "Codex 0.20.1 is too old for reviews: `codex exec` does not know --output-schema, \
             --ephemeral"
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
            let names: Vec<_> = pass
                .report
                .checks
                .iter()
                .filter(|check| check.status == CheckStatus::Warning)
                .map(|check| check.name.as_str())
                .collect();
            assert_eq!(names, warned);
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
        let place = Place {
            repo_root: "/repo".into(),
            run_dir: "/run/review".into(),
        };
        for probe in probes(&resolved(), &place) {
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
