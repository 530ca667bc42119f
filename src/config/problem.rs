//! What is wrong with a config file, all of it at once.

use std::fmt::Write as _;

use diffwarden_actors::model::{ErrorCode, Failure};

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    /// Where, such as `reviewers[0].id`; empty for the file as a whole.
    pub(super) at: String,
    /// What, as a sentence that repeats no value of the file.
    pub(super) message: String,
    /// Whether the same entry would be fine in the user's own config.
    pub(super) project_only: bool,
}

/// The problems found so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Problems(pub(super) Vec<Problem>);

impl Problems {
    /// Adds a problem.
    pub(super) fn add(&mut self, at: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem {
            at: at.into(),
            message: message.into(),
            project_only: false,
        });
    }

    /// Adds something that only a config inside the reviewed repository may not say.
    pub(super) fn refuse(&mut self, at: impl Into<String>, message: impl Into<String>) {
        self.0.push(Problem {
            at: at.into(),
            message: message.into(),
            project_only: true,
        });
    }

    /// Whether anything is wrong that would be fine in the user's own config.
    pub(super) fn has_refusals(&self) -> bool {
        self.0.iter().any(|problem| problem.project_only)
    }

    /// Returns the failure that lists every problem; `sources` names the file, and its overlay.
    /// The hint belongs to what a project config may not say.
    pub(super) fn into_failure(self, sources: &str, hint: Option<String>) -> Failure {
        let message = self.listed(&format!("Invalid config at {sources}:"));
        let failure = Failure::new(ErrorCode::InvalidConfig, message);
        match hint.filter(|_| self.has_refusals()) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }

    /// Returns the failure of a change that would make these problems.
    pub(super) fn into_refusal(self, sources: &str) -> Failure {
        let heading = format!("Refusing to write an invalid config to {sources}:");
        Failure::new(ErrorCode::InvalidConfig, self.listed(&heading)).hint("nothing was changed")
    }

    fn listed(&self, heading: &str) -> String {
        let mut message = heading.to_owned();
        for problem in &self.0 {
            write!(message, "\n✖ {}", problem.message).expect("writing to a string succeeds");
            if !problem.at.is_empty() {
                write!(message, "\n  → at {}", problem.at).expect("writing to a string succeeds");
            }
        }
        message
    }
}
