//! What is wrong with a config file, all of it at once.

use std::fmt::Write as _;
use std::path::Path;

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

    /// Returns the failure that lists every problem; `sources` names the file, and its overlay.
    pub(super) fn into_failure(self, sources: &str, user_config: Option<&Path>) -> Failure {
        let mut message = format!("Invalid config at {sources}:");
        for problem in &self.0 {
            write!(message, "\n✖ {}", problem.message).expect("writing to a string succeeds");
            if !problem.at.is_empty() {
                write!(message, "\n  → at {}", problem.at).expect("writing to a string succeeds");
            }
        }
        let failure = Failure::new(ErrorCode::InvalidConfig, message);
        if !self.0.iter().any(|problem| problem.project_only) {
            return failure;
        }
        failure.hint(match user_config {
            Some(path) => format!(
                "a config inside the reviewed repository is part of what is reviewed; \
                 put such settings in your own config at {}",
                path.display()
            ),
            None => "a config inside the reviewed repository is part of what is reviewed; \
                     put such settings in your own config"
                .to_owned(),
        })
    }
}
