//! `init`: the first config of a user.

use std::sync::Arc;

use clap::Args;
use diffwarden_actors::model::{ErrorCode, Failure};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::discover::{discover_here, draft};
use super::ending::Ending;
use super::guided::{self, Next, Outcome};
use super::setup::{self, Done, SetupArgs};
use crate::config::edit::{self, ReviewerDraft};
use crate::discovery::recommended_reviewers;
use crate::env::Environment;
use crate::guided::add::{add, start};
use crate::guided::terminal;

#[derive(Debug, Args)]
pub(super) struct InitArgs {
    /// Begin with the reviewers that this machine can run
    #[arg(long)]
    discover: bool,

    /// Choose among them; needs a terminal
    #[arg(long)]
    interactive: bool,

    #[command(flatten)]
    setup: SetupArgs,
}

/// The answer of `init --json`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ConfigCreated {
    /// The user config.
    pub path: String,
    /// Always true: a config that exists is an error.
    pub created: bool,
    /// The reviewers that were found on this machine, with the keys of the config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reviewers: Option<Vec<Map<String, Value>>>,
}

impl ConfigCreated {
    fn line(&self) -> String {
        let reviewers = self.reviewers.iter().flatten();
        let ids: Vec<&str> = reviewers
            .filter_map(|entry| entry.get("id")?.as_str())
            .collect();
        match &ids[..] {
            [] => format!("Created {}", self.path),
            ids => format!("Created {} with {}", self.path, ids.join(", ")),
        }
    }
}

/// Answers `diffwarden init`.
pub(super) fn run(args: &InitArgs, env: &Environment, ending: &Arc<Ending>) -> u8 {
    if let Err(failure) = guided::refuse_json(args.interactive, args.setup.json) {
        return setup::refuse(&args.setup, env, ending, failure);
    }
    let is_bare = !args.discover && !args.setup.json;
    if args.interactive || (is_bare && terminal::is_interactive()) {
        return ask(args, env, ending);
    }
    setup::run(&args.setup, env, ending, || {
        let found = args.discover.then(|| recommended(env)).transpose()?;
        if found.as_ref().is_some_and(Vec::is_empty) {
            return Err(nothing_found());
        }
        let answer = create(env, found.as_deref())?;
        Ok(Done {
            line: answer.line(),
            answer,
            notes: Vec::new(),
        })
    })
}

/// The failure of a config that was to hold what there is, where there is nothing.
fn nothing_found() -> Failure {
    Failure::new(
        ErrorCode::InvalidConfig,
        "no engine that could review is ready on this machine",
    )
    .hint(
        "`diffwarden reviewers discover` tells what is missing; `diffwarden init` writes a config \
         to start from",
    )
}

/// Creates the config of the reviewers that the user chooses.
fn ask(args: &InitArgs, env: &Environment, ending: &Arc<Ending>) -> u8 {
    let what = if args.interactive {
        "`init --interactive`"
    } else {
        "`init`"
    };
    let instead = "`diffwarden init --discover` takes every reviewer that it finds, and \
                   `diffwarden init --json` never asks";
    guided::run(&args.setup, env, ending, (what, instead), |prompter| {
        edit::refuse_user_config(env)?;
        let found = recommended(env)?;
        let commit = |drafts: Option<&[ReviewerDraft]>| {
            guided::commit(ending, || {
                let answer = create(env, drafts)?;
                Ok(Outcome {
                    line: answer.line(),
                    notes: Vec::new(),
                    next: Next::Reviewers(Vec::new()),
                })
            })
        };
        if found.is_empty() {
            start(prompter)?;
            return Ok(commit(None)?);
        }
        let all = (0..found.len()).collect();
        add(prompter, found, all, &[], |drafts| commit(Some(drafts)))
    })
}

/// Returns the reviewers that discovery recommends.
fn recommended(env: &Environment) -> Result<Vec<ReviewerDraft>, Failure> {
    let found = recommended_reviewers(&discover_here(env)?).into_iter();
    Ok(found.map(draft).collect())
}

/// Creates the config, of the recommended reviewers where there are any.
fn create(
    env: &Environment,
    recommended: Option<&[ReviewerDraft]>,
) -> Result<ConfigCreated, Failure> {
    let document = recommended.map_or_else(edit::starter, edit::scaffold);
    let path = edit::create_user_config(env, &document)?;
    let entries = |drafts: &[ReviewerDraft]| drafts.iter().map(ReviewerDraft::to_entry).collect();
    Ok(ConfigCreated {
        path: path.display().to_string(),
        created: true,
        reviewers: recommended.map(entries),
    })
}
