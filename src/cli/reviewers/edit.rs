//! `reviewers edit`.

use std::sync::Arc;

use diffwarden_actors::model::{ErrorCode, Failure};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::EditArgs;
use crate::cli::ending::Ending;
use crate::cli::guided::{self, Next, Outcome};
use crate::cli::setup::{self, Done};
use crate::config::edit::{self, Intent, ReviewerPatch, Written};
use crate::env::Environment;
use crate::guided::edit::edit as guided_edit;
use crate::guided::{Leave, terminal};

/// The answer of `reviewers edit --json`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReviewerEdited {
    /// The user config.
    pub path: String,
    /// The entry of the reviewer as it is now, with the keys of the config.
    pub reviewer: Map<String, Value>,
}

/// Answers `diffwarden reviewers edit`.
pub(super) fn run(args: &EditArgs, env: &Environment, ending: &Arc<Ending>) -> u8 {
    match requested(args) {
        Ok(Request::Change(id, patch)) => setup::run(&args.setup, env, ending, || {
            let written = write(env, id, &patch)?;
            let path = written.path.display().to_string();
            Ok(Done {
                line: format!("Updated reviewer {id} in {path}"),
                answer: ReviewerEdited {
                    path,
                    reviewer: written.answer,
                },
                notes: written.notes,
            })
        }),
        Ok(Request::Ask) => ask(args, env, ending),
        Err(failure) => setup::refuse(&args.setup, env, ending, failure),
    }
}

/// Changes what the user chooses.
fn ask(args: &EditArgs, env: &Environment, ending: &Arc<Ending>) -> u8 {
    let what = match (args.interactive, &args.id) {
        (true, _) => "`reviewers edit --interactive`",
        (false, None) => "`reviewers edit` without an id",
        (false, Some(_)) => "`reviewers edit` without a field",
    };
    guided::run(&args.setup, env, ending, (what, NAME_IT), |prompter| {
        let config = edit::require_user_config(env)?;
        let id = args.id.as_deref();
        if let Some(id) = id.filter(|id| config.reviewer(id).is_none()) {
            // The change that cannot be made says whom it may have meant.
            write(env, id, &ReviewerPatch::default())?;
        }
        if config.reviewers.is_empty() {
            prompter.say("No reviewer is configured; `diffwarden reviewers add` adds one.");
            return Err(Leave::Quit);
        }
        guided_edit(prompter, &config, id, |id, patch| {
            let written = guided::commit(ending, || write(env, id, patch))?;
            let is_on = written.answer.get("enabled") != Some(&Value::Bool(false));
            Ok(Outcome {
                line: format!("Updated reviewer {id} in {}", written.path.display()),
                notes: written.notes,
                next: if is_on {
                    Next::Reviewers(vec![id.to_owned()])
                } else {
                    Next::Nothing
                },
            })
        })
    })
}

fn write(
    env: &Environment,
    id: &str,
    patch: &ReviewerPatch,
) -> Result<Written<Map<String, Value>>, Failure> {
    let intent = Intent {
        reviewers: vec![id.to_owned()],
        // A set is not touched.
        may_empty_default_set: true,
        ..Intent::default()
    };
    edit::change_user_config(env, &intent, |document| {
        edit::edit_reviewer(document, id, patch)
    })
}

/// What the command line asks for.
enum Request<'a> {
    /// This change.
    Change(&'a str, ReviewerPatch),
    /// Asking the user.
    Ask,
}

fn requested(args: &EditArgs) -> Result<Request<'_>, Failure> {
    guided::refuse_json(args.interactive, args.setup.json)?;
    let fields = &args.fields;
    let patch = ReviewerPatch {
        transport: fields.transport.into(),
        provider: fields.provider.clone().into(),
        model: fields.model.clone().into(),
        effort: fields.effort()?.into(),
        enabled: (args.enabled || args.disabled).then_some(args.enabled),
    };
    if args.interactive && !patch.is_empty() {
        let message = "--interactive asks for the fields, so it takes none";
        return Err(Failure::new(ErrorCode::InvalidCli, message)
            .hint("leave out --interactive, or the fields"));
    }
    match &args.id {
        None if args.setup.json || !patch.is_empty() => {
            let message = "`reviewers edit` needs an id";
            Err(Failure::new(ErrorCode::InvalidCli, message).hint(NAME_IT))
        }
        None => Ok(Request::Ask),
        Some(id) if !patch.is_empty() => Ok(Request::Change(id, patch)),
        Some(_) if args.interactive || (!args.setup.json && terminal::is_interactive()) => {
            Ok(Request::Ask)
        }
        Some(id) => {
            let message = format!("no field of reviewer `{id}` to edit");
            Err(Failure::new(ErrorCode::InvalidCli, message).hint(
                "name at least one: --transport, --model, --effort, --provider, --enabled or --disabled",
            ))
        }
    }
}

const NAME_IT: &str =
    "name an id and a field, as in `diffwarden reviewers edit codex --effort high`";
