//! `reviewers remove`.

use std::sync::Arc;

use diffwarden_actors::model::{ErrorCode, Failure};
use schemars::JsonSchema;
use serde::Serialize;

use super::args::RemoveArgs;
use crate::cli::ending::Ending;
use crate::cli::guided::{self, Next, Outcome};
use crate::cli::setup::{self, Done};
use crate::config::edit::{self, Intent, Stale};
use crate::env::Environment;
use crate::guided::Leave;
use crate::guided::remove::remove as guided_remove;

/// The answer of `reviewers remove --json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReviewerRemoved {
    /// The user config.
    pub path: String,
    /// The id of the reviewer.
    pub removed: String,
    /// The sets it was in, in the order of the file.
    #[serde(rename = "prunedFromSets")]
    pub pruned_from_sets: Vec<String>,
}

impl ReviewerRemoved {
    fn line(&self) -> String {
        let (id, path) = (&self.removed, &self.path);
        match &self.pruned_from_sets[..] {
            [] => format!("Removed reviewer {id} from {path}"),
            [set] => format!("Removed reviewer {id} from {path} and from reviewer set {set}"),
            sets => format!(
                "Removed reviewer {id} from {path} and from reviewer sets {}",
                sets.join(", ")
            ),
        }
    }
}

/// Answers `diffwarden reviewers remove`.
pub(super) fn run(args: &RemoveArgs, env: &Environment, ending: &Arc<Ending>) -> u8 {
    match &args.id {
        Some(id) => setup::run(&args.setup, env, ending, || write(env, args, id)),
        None if args.setup.json => {
            let message = "`reviewers remove --json` needs an id";
            let failure = Failure::new(ErrorCode::InvalidCli, message).hint(NAME_IT);
            setup::refuse(&args.setup, env, ending, failure)
        }
        None => ask(args, env, ending),
    }
}

/// Removes the reviewer that the user chooses.
fn ask(args: &RemoveArgs, env: &Environment, ending: &Arc<Ending>) -> u8 {
    let what = "`reviewers remove` without an id";
    guided::run(&args.setup, env, ending, (what, NAME_IT), |prompter| {
        let config = edit::require_user_config(env)?;
        if config.reviewers.is_empty() {
            prompter.say("No reviewer is configured, so there is none to remove.");
            return Err(Leave::Quit);
        }
        guided_remove(prompter, &config, |id| {
            let done = guided::commit(ending, || write(env, args, id))?;
            Ok(Outcome {
                line: done.line,
                notes: done.notes,
                next: Next::Nothing,
            })
        })
    })
}

fn write(env: &Environment, args: &RemoveArgs, id: &str) -> Result<Done<ReviewerRemoved>, Failure> {
    let intent = Intent {
        may_empty_default_set: args.force,
        ..Intent::default()
    };
    let written =
        edit::change_user_config(env, &intent, |document| edit::remove_reviewer(document, id))?;
    let removed = written.answer;
    let stale = removed.stale.iter().map(note_stale);
    let answer = ReviewerRemoved {
        path: written.path.display().to_string(),
        removed: id.to_owned(),
        pruned_from_sets: removed.pruned_from,
    };
    Ok(Done {
        line: answer.line(),
        answer,
        notes: written.notes.into_iter().chain(stale).collect(),
    })
}

const NAME_IT: &str = "name an id, as in `diffwarden reviewers remove codex`";

fn note_stale(stale: &Stale) -> String {
    format!(
        "reviewer set {} still names {}, which nobody is now",
        stale.set, stale.spec
    )
}
