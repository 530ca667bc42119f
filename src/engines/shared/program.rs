//! The program behind an engine, in the words that messages about it use.

use std::collections::BTreeSet;

use diffwarden_actors::engine::{Captured, ExitKind};
use diffwarden_actors::model::{ErrorCode, Failure, Reason};

use super::{one_line, unfit};
use crate::engines::executable::Resolved;

/// What messages call an engine's program, and what they advise.
#[derive(Debug)]
pub(in crate::engines) struct Program {
    /// Its name to people, such as "Codex".
    pub(in crate::engines) title: &'static str,
    /// The name of its executable.
    pub(in crate::engines) name: &'static str,
    /// What a person runs to see more of a failure.
    pub(in crate::engines) command: &'static str,
    /// How to log in, as a sentence.
    pub(in crate::engines) login: &'static str,
    /// The command that installs it.
    pub(in crate::engines) install: &'static str,
}

impl Program {
    /// A run that failed and may succeed another time; the message follows the executable's name.
    pub(in crate::engines) fn failed(&self, reason: Reason, message: &str) -> Failure {
        let message = format!("{} {message}", self.name);
        Failure::new(ErrorCode::ReviewerFailed, message)
            .reason(reason)
            .hint(format!(
                "try again; run `{}` by hand to see more",
                self.command
            ))
    }

    /// A run without an answer.
    pub(in crate::engines) fn silent(&self) -> Failure {
        self.failed(Reason::Empty, "finished without an answer")
    }

    /// A run that somebody else ended.
    pub(in crate::engines) fn killed(&self, signal: i32) -> Failure {
        self.failed(Reason::Crash, &format!("was ended by signal {signal}"))
    }

    /// A run that answered and failed all the same.
    pub(in crate::engines) fn failed_late(&self, code: i32) -> Failure {
        let message = format!("finished its answer and then ended with exit code {code}");
        self.failed(Reason::Crash, &message)
    }

    /// A run that failed in a way nobody knows; `said` are its own words.
    pub(in crate::engines) fn crashed(&self, code: i32, said: &str) -> Failure {
        let (name, said) = (self.name, one_line(said));
        let message = if said.is_empty() {
            format!("{name} ended with exit code {code} and said nothing")
        } else {
            format!("{name} ended with exit code {code}: {said}")
        };
        Failure::new(ErrorCode::ReviewerFailed, message)
            .reason(Reason::Crash)
            .hint(format!("run `{}` by hand to see more", self.command))
    }

    /// An executable that cannot even answer a question of preflight.
    pub(in crate::engines) fn does_not_start(
        &self,
        executable: &Resolved,
        captured: &Captured,
    ) -> Failure {
        super::does_not_start(executable, captured, self.install)
    }

    /// Refuses an executable that lacks options without which a review would not be read-only, or
    /// would not be what was asked for.
    ///
    /// # Errors
    ///
    /// Names the missing options and how to install a newer version.
    pub(in crate::engines) fn require_flags(
        &self,
        version: Option<&str>,
        required: &[&str],
        flags: &BTreeSet<String>,
    ) -> Result<(), Failure> {
        let is_missing = |flag: &&str| !flags.contains(*flag);
        let missing: Vec<_> = required.iter().copied().filter(is_missing).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let which = match version {
            Some(version) => format!("{} {version}", self.title),
            None => format!("this {}", self.title),
        };
        Err(unfit(
            format!(
                "{which} is too old or too new for this review: `{}` does not know {}",
                self.command,
                missing.join(", ")
            ),
            format!("update it with `{}`", self.install),
        ))
    }

    /// Refuses an executable whose help cannot be read.
    ///
    /// # Errors
    ///
    /// Always: it is not known whether it can be kept from writing, or it does not start at all.
    pub(in crate::engines) fn unreadable<T>(
        &self,
        executable: &Resolved,
        help: Option<&Captured>,
    ) -> Result<T, Failure> {
        Err(match help {
            Some(help) if help.exit != ExitKind::Code(0) => self.does_not_start(executable, help),
            _ => unfit(
                format!(
                    "the options of this {} cannot be read (`{} --help`), so it is not known \
                     whether it can be kept from writing",
                    self.title, self.command
                ),
                format!("update it with `{}`", self.install),
            ),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::shared::testing::{PROGRAM, printed, resolved};

    #[test]
    fn missing_options_are_named() {
        let flags = BTreeSet::from(["--json".to_owned()]);
        assert!(PROGRAM.require_flags(None, &["--json"], &flags).is_ok());
        let required = ["--json", "--a", "--b"];
        let failure = PROGRAM
            .require_flags(Some("1.2"), &required, &flags)
            .unwrap_err();
        assert_eq!(
            failure.message,
            "Agent 1.2 is too old or too new for this review: `agent run` does not know --a, --b"
        );
        assert_eq!(failure.reason, Some(Reason::Environment));
        let failure = PROGRAM.require_flags(None, &["--a"], &flags).unwrap_err();
        assert!(failure.message.starts_with("this Agent "), "{failure}");
    }

    #[test]
    fn a_help_that_cannot_be_read_is_told_from_a_program_that_does_not_start() {
        let unreadable = |code: i32| {
            let help = printed(ExitKind::Code(code), "", "boom");
            PROGRAM
                .unreadable::<()>(&resolved("agent"), Some(&help))
                .unwrap_err()
        };
        assert!(unreadable(127).message.contains("exit code 127: boom"));
        assert!(unreadable(0).message.contains("`agent run --help`"));
    }

    #[test]
    fn a_crash_says_what_was_said() {
        assert_eq!(
            PROGRAM.crashed(3, " a\nb ").message,
            "agent ended with exit code 3: a b"
        );
        assert!(PROGRAM.crashed(3, "").message.ends_with("said nothing"));
    }
}
