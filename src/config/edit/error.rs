//! Why an edit cannot be made.

use std::path::Path;

use diffwarden_actors::model::{ErrorCode, Failure};

/// Why an edit cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// No reviewer has this id.
    #[error("no reviewer with id `{id}`")]
    UnknownReviewer {
        /// What was asked for.
        id: String,
        /// What may have been meant.
        meant: Option<String>,
    },
    /// There is no set of this name.
    #[error("no reviewer set `{set}`")]
    UnknownSet {
        /// What was asked for.
        set: String,
        /// What may have been meant.
        meant: Option<String>,
    },
    /// The set does not have this member.
    #[error("`{member}` is not in reviewer set `{set}`")]
    NotAMember {
        /// The set.
        set: String,
        /// What was to be removed from it.
        member: String,
    },
    /// A part of the file that has to be edited is of another type than it must be.
    #[error("`{at}` is not {expected}")]
    WrongType {
        /// Where.
        at: String,
        /// What it must be.
        expected: &'static str,
    },
}

impl EditError {
    /// Returns what to tell the user about an edit of the file at `path`.
    pub fn into_failure(self, path: &Path) -> Failure {
        let code = match self {
            Self::WrongType { .. } => ErrorCode::InvalidConfig,
            _ => ErrorCode::InvalidCli,
        };
        let failure = Failure::new(code, format!("{self} in {}", path.display()));
        match self {
            Self::UnknownReviewer { meant, .. } | Self::UnknownSet { meant, .. } => {
                failure.hint(meant.map_or_else(
                    || "`diffwarden reviewers list` shows what is configured".to_owned(),
                    |meant| format!("did you mean `{meant}`?"),
                ))
            }
            _ => failure,
        }
    }
}
