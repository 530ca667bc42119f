//! `reviewers set add` and `reviewers set remove`.

use schemars::JsonSchema;
use serde::Serialize;

use super::args::{SetAddArgs, SetRemoveArgs};
use crate::cli::ending::Ending;
use crate::cli::setup::{self, Done};
use crate::config::edit::{self, Intent, Written};
use crate::env::Environment;

/// The answer of `reviewers set add --json` and `reviewers set remove --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SetChanged {
    /// The user config.
    pub path: String,
    /// The set.
    pub set: String,
    /// Who is in it now.
    pub members: Vec<String>,
}

/// Answers `diffwarden reviewers set add`.
pub(super) fn add(args: &SetAddArgs, env: &Environment, ending: &Ending) -> u8 {
    setup::run(&args.setup, env, ending, || {
        let intent = Intent {
            sets: vec![args.set.clone()],
            // Adding empties nothing.
            may_empty_default_set: true,
            ..Intent::default()
        };
        let written = edit::change_user_config(env, &intent, |document| {
            edit::add_member(document, &args.set, &args.reviewer)
        })?;
        let done = format!("Added {} to", args.reviewer);
        Ok(told(written, &args.set, &done))
    })
}

/// Answers `diffwarden reviewers set remove`.
pub(super) fn remove(args: &SetRemoveArgs, env: &Environment, ending: &Ending) -> u8 {
    setup::run(&args.setup, env, ending, || {
        let intent = Intent {
            sets: vec![args.set.clone()],
            may_empty_default_set: args.force,
            ..Intent::default()
        };
        let written = edit::change_user_config(env, &intent, |document| {
            edit::remove_member(document, &args.set, &args.reviewer)
        })?;
        let done = format!("Removed {} from", args.reviewer);
        Ok(told(written, &args.set, &done))
    })
}

/// Tells what was done to a set.
fn told(written: Written<Vec<String>>, set: &str, done: &str) -> Done<SetChanged> {
    let path = written.path.display().to_string();
    Done {
        line: format!("{done} reviewer set {set} in {path}"),
        answer: SetChanged {
            path,
            set: set.to_owned(),
            members: written.answer,
        },
        notes: written.notes,
    }
}
