//! Whether Codex's read-only sandbox works on this machine, found out without a model.
//!
//! `codex sandbox` runs a command in the sandbox that a review's commands run in. The trial is a
//! write into the private folder, which has to be refused. On a system without user namespaces
//! (hardened containers) no command starts in the sandbox: a review would go on, see nothing but
//! the patch, and look like any other.
//!
//! What must stay true: a Codex that knows `codex sandbox` passes only after a refused write. One
//! that does not know it keeps what was measured on the bench, and the metadata say so.

use diffwarden_actors::engine::{Capabilities, Captured, CommandSpec, ExitKind, Place};
use diffwarden_actors::model::Failure;
use serde_json::{Map, Value};

use super::{PROGRAM, command, failure};
use crate::engines::executable::Resolved;
use crate::engines::shared::{head, one_line, unfit};

/// The file that the trial tries to write, relative to the run folder.
const TRIAL_FILE: &str = "sandbox-trial";

/// The trial itself. The inner shell is there because a failed redirection ends some shells.
const TRIAL: &str =
    "if ( echo x > sandbox-trial ) 2>/dev/null; then echo written; else echo refused; fi";

/// What the trial prints when it could not write.
const REFUSED: &str = "refused";

/// Stands in the flags for "a write was refused on this machine".
const SHOWN: &str = "sandbox:refused-write";

/// How many bytes of help are looked at.
const HELP_LIMIT: usize = 64 << 10;

/// Returns the commands to run: the help of `codex sandbox`, and the trial.
pub(super) fn probes(executable: &Resolved, place: &Place) -> [CommandSpec; 2] {
    let trial = [
        "sandbox",
        "-c",
        "sandbox_mode=\"read-only\"",
        "--",
        "/bin/sh",
        "-c",
        TRIAL,
        // The name of the script to the shell. To an executable that does not know `sandbox` it
        // is an option at which it prints its help, instead of taking the words for a prompt.
        "--help",
    ];
    let mut trial = command::probe(executable, place, &trial);
    trial.outputs = vec![TRIAL_FILE.into()];
    [
        command::probe(executable, place, &["sandbox", "--help"]),
        trial,
    ]
}

/// What says that the sandbox keeps a model from writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Evidence {
    /// A write that was refused on this machine.
    Probe,
    /// Measurements made when diffwarden was built: this Codex cannot be asked.
    Bench,
}

impl Evidence {
    /// Judges what the probes printed.
    ///
    /// # Errors
    ///
    /// Fails when a command could write, or could not run, in the sandbox of a Codex that has one
    /// to try.
    pub(super) fn judge(help: &Captured, trial: &Captured) -> Result<Self, Failure> {
        if trial.outputs.iter().any(Option::is_some) {
            return Err(unfit(
                "Codex's read-only sandbox does not work on this machine: a command could write a \
                 file in it",
                format!(
                    "update it with `{}`, or choose another engine",
                    PROGRAM.install
                ),
            ));
        }
        if trial.exit == ExitKind::Code(0) && trial.stdout.trim() == REFUSED {
            return Ok(Self::Probe);
        }
        if is_known(help) {
            return Err(broken(trial));
        }
        Ok(Self::Bench)
    }

    /// Returns what this machine has shown, from what preflight learned.
    pub(super) fn of(capabilities: &Capabilities) -> Self {
        if capabilities.flags.contains(SHOWN) {
            Self::Probe
        } else {
            Self::Bench
        }
    }

    /// Writes it where [`Evidence::of`] finds it.
    pub(super) fn note(self, capabilities: &mut Capabilities) {
        if self == Self::Probe {
            capabilities.flags.insert(SHOWN.to_owned());
        }
    }

    /// Returns it as both kinds of metadata show it.
    pub(super) fn metadata(self) -> Map<String, Value> {
        let word = match self {
            Self::Probe => "probe",
            Self::Bench => "bench",
        };
        Map::from_iter([("readonlyEvidence".to_owned(), word.into())])
    }

    /// Returns the sentence of the preflight's check.
    pub(super) fn detail(self) -> &'static str {
        match self {
            Self::Probe => {
                "Commands run in Codex's read-only sandbox of the operating system, which refused \
                 a write on this machine."
            }
            Self::Bench => {
                "Commands run in Codex's read-only sandbox of the operating system. This Codex has \
                 no `codex sandbox` to try it with."
            }
        }
    }
}

/// Whether the help is that of a `codex sandbox` that takes a command. Older ones want the name of
/// a system first.
fn is_known(help: &Captured) -> bool {
    let mut lines = head(&help.stdout, HELP_LIMIT).lines();
    let is_usage = |line: &str| line.starts_with("Usage: codex sandbox ");
    help.exit == ExitKind::Code(0)
        && lines.any(|line| is_usage(line) && line.contains("[COMMAND]..."))
}

/// The failure of a sandbox in which no command runs.
fn broken(trial: &Captured) -> Failure {
    let stderr = failure::without_noise(&trial.stderr);
    let is_namespaces = stderr.lines().any(|line| line.starts_with("bwrap: "));
    let said = match (one_line(&stderr), trial.exit) {
        (said, _) if !said.is_empty() => said,
        (_, ExitKind::Code(code)) => format!("the trial ended with exit code {code}"),
        (_, ExitKind::Signal(signal)) => format!("the trial was ended by signal {signal}"),
    };
    if is_namespaces {
        return unfit(
            format!(
                "Codex's read-only sandbox does not work on this machine, because it cannot make \
                 the namespaces it needs: {said}"
            ),
            "allow user namespaces (user.max_user_namespaces above 0; in a container a security \
             profile that permits them), or choose another engine",
        );
    }
    unfit(
        format!("Codex's read-only sandbox does not work on this machine: {said}"),
        "run `codex sandbox -- true` by hand to see more, or choose another engine",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::shared::testing::{printed, request, resolved};
    use diffwarden_actors::model::{ErrorCode, Reason};
    use proptest::prelude::*;

    const HELP: &str = include_str!("../../../fixtures/codex/help-sandbox.txt");
    const NO_NAMESPACES: &str = include_str!("../../../fixtures/codex/sandbox-no-userns.txt");

    fn judged(help: &str, (code, out, err): (i32, &str, &str)) -> Result<Evidence, Failure> {
        let help = printed(ExitKind::Code(0), help, "");
        Evidence::judge(&help, &printed(ExitKind::Code(code), out, err))
    }

    #[test]
    fn a_refused_write_is_evidence_whatever_the_help_says() {
        for help in [HELP, ""] {
            let evidence = judged(help, (0, "refused\n", "WARNING: x")).unwrap();
            assert_eq!(evidence, Evidence::Probe);
        }
    }

    #[test]
    fn a_machine_without_namespaces_fails_and_is_told_what_is_missing() {
        let failure = judged(HELP, (1, "", NO_NAMESPACES)).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        assert_eq!(failure.reason, Some(Reason::Environment));
        assert!(failure.message.contains("namespaces"), "{failure}");
        assert!(failure.message.contains("ENOSPC"), "{failure}");
        assert!(!failure.message.contains("PATH aliases"), "{failure}");
        assert!(failure.hint.unwrap().contains("max_user_namespaces"));
    }

    #[test]
    fn a_known_sandbox_that_shows_nothing_fails() {
        for trial in [
            (0, "", ""),
            (0, "written", ""),
            (1, "refused", ""),
            (2, "", "error: x"),
        ] {
            let failure = judged(HELP, trial).unwrap_err();
            assert_eq!(failure.reason, Some(Reason::Environment), "{trial:?}");
            assert!(failure.hint.is_some());
        }
    }

    #[test]
    fn a_file_that_was_written_fails_whatever_was_printed() {
        for help in [HELP, ""] {
            let help = printed(ExitKind::Code(0), help, "");
            let mut trial = printed(ExitKind::Code(0), "refused", "");
            trial.outputs = vec![Some(b"x\n".to_vec())];
            let failure = Evidence::judge(&help, &trial).unwrap_err();
            assert!(failure.message.contains("could write"), "{failure}");
        }
    }

    #[test]
    fn a_codex_that_cannot_be_asked_keeps_what_was_measured() {
        let older = "Usage: codex sandbox [OPTIONS] <COMMAND>\n";
        for help in [older, "Usage: codex exec [OPTIONS] [PROMPT]\n", "noise", ""] {
            assert_eq!(
                judged(help, (2, help, "error: x")).unwrap(),
                Evidence::Bench
            );
        }
    }

    #[test]
    fn evidence_survives_the_way_to_the_review() {
        for evidence in [Evidence::Probe, Evidence::Bench] {
            let mut capabilities = Capabilities::default();
            evidence.note(&mut capabilities);
            assert_eq!(Evidence::of(&capabilities), evidence);
        }
    }

    #[test]
    fn the_trial_writes_into_the_private_folder_and_starts_nothing_elsewhere() {
        let place = request("", &[]).place;
        let [_, trial] = probes(&resolved("codex"), &place);
        assert_eq!(trial.cwd, place.run_dir);
        assert_eq!(trial.args.last().unwrap(), "--help");
        assert!(TRIAL.contains(TRIAL_FILE));
        let shell = std::process::Command::new("/bin/sh");
        let folder = tempfile::tempdir().unwrap();
        let run = |mut shell: std::process::Command| {
            let output = shell.args(["-c", TRIAL]).current_dir(&folder).output();
            String::from_utf8(output.unwrap().stdout).unwrap()
        };
        assert_eq!(run(shell), "written\n");
        std::fs::remove_file(folder.path().join(TRIAL_FILE)).unwrap();
        // Nobody, not even root, writes to a folder of this name.
        std::fs::create_dir(folder.path().join(TRIAL_FILE)).unwrap();
        assert_eq!(run(std::process::Command::new("/bin/sh")), "refused\n");
    }

    proptest! {
        #[test]
        fn any_output_is_judged(
            help in "(Usage: codex sandbox \\[COMMAND\\]\\.\\.\\.)?.{0,80}",
            out in "(refused|.{0,80})",
            err in "(bwrap: )?.{0,900}",
            code in -1..3,
        ) {
            match judged(&help, (code, &out, &err)) {
                Ok(Evidence::Probe) => prop_assert_eq!(out.trim(), REFUSED),
                Ok(Evidence::Bench) => {}
                Err(failure) => {
                    prop_assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
                    prop_assert!(failure.message.chars().count() < 700);
                    prop_assert!(!failure.message.contains(char::is_control));
                }
            }
        }
    }
}
