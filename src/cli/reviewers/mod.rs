//! `reviewers`: what is configured, and changing it.

mod add;
mod args;
mod edit;
mod list;
mod remove;
mod set;

pub use add::ReviewerAdded;
pub use edit::ReviewerEdited;
pub use list::{ListedConfig, ListedOverlay, ListedReviewer, ReviewerList, list_reviewers};
pub use remove::ReviewerRemoved;
pub use set::SetChanged;

pub(super) use args::Reviewers;

use std::sync::Arc;

use args::{ReviewersCommand, SetCommand};

use super::ending::Ending;
use crate::env::Environment;

/// Answers `diffwarden reviewers`.
pub(super) fn run(args: &Reviewers, env: &Environment, ending: &Arc<Ending>) -> u8 {
    match &args.command {
        ReviewersCommand::List(args) => list::run(args, env, ending),
        ReviewersCommand::Discover(args) => super::discover::run(args, env, ending),
        ReviewersCommand::Add(args) => add::run(args, env, ending),
        ReviewersCommand::Edit(args) => edit::run(args, env, ending),
        ReviewersCommand::Remove(args) => remove::run(args, env, ending),
        ReviewersCommand::Set(args) => match &args.command {
            SetCommand::Add(args) => set::add(args, env, ending),
            SetCommand::Remove(args) => set::remove(args, env, ending),
        },
    }
}
