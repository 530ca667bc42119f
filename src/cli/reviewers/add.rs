//! `reviewers add`.

use std::sync::Arc;

use diffwarden_actors::model::{ErrorCode, Failure};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::AddArgs;
use crate::cli::discover::{discover_here, draft};
use crate::cli::ending::Ending;
use crate::cli::guided::{self, Next, Outcome};
use crate::cli::setup::{self, Done};
use crate::config::edit::{self, AddAction, Intent, ReviewerDraft, Written};
use crate::env::Environment;
use crate::guided::{Leave, add};

/// The answer of `reviewers add --json`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReviewerAdded {
    /// The user config.
    pub path: String,
    /// Whether it is a new file.
    pub created: bool,
    /// What happened to the reviewer.
    pub action: AddedAction,
    /// The values that the command line gave, with the keys of the config. An entry that was there
    /// keeps its others.
    pub reviewer: Map<String, Value>,
    /// The set it was put into.
    #[serde(rename = "reviewerSet", skip_serializing_if = "Option::is_none")]
    pub reviewer_set: Option<String>,
}

/// What happened to a reviewer that was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AddedAction {
    /// It is new.
    Added,
    /// It was there.
    Updated,
}

impl ReviewerAdded {
    fn line(&self) -> String {
        let done = match self.action {
            AddedAction::Added => "Added",
            AddedAction::Updated => "Updated",
        };
        let id = self.reviewer.get("id").and_then(Value::as_str);
        let id = id.unwrap_or_default();
        let set = self.reviewer_set.as_ref();
        let set = set.map_or_else(String::new, |set| {
            format!(" and put it into reviewer set {set}")
        });
        let new = if self.created { ", a new file" } else { "" };
        format!("{done} reviewer {id}{set} in {}{new}", self.path)
    }
}

/// Answers `diffwarden reviewers add`.
pub(super) fn run(args: &AddArgs, env: &Environment, ending: &Arc<Ending>) -> u8 {
    match requested(args) {
        Ok(Some(draft)) => setup::run(&args.setup, env, ending, || {
            let written = write(env, args, std::slice::from_ref(&draft))?;
            let answer = ReviewerAdded {
                path: written.path.display().to_string(),
                created: written.created,
                action: match written.answer {
                    AddAction::Added => AddedAction::Added,
                    AddAction::Updated => AddedAction::Updated,
                },
                reviewer: draft.to_entry(),
                reviewer_set: args.set.clone(),
            };
            Ok(Done {
                line: answer.line(),
                answer,
                notes: written.notes,
            })
        }),
        Ok(None) => ask(args, env, ending),
        Err(failure) => setup::refuse(&args.setup, env, ending, failure),
    }
}

/// Adds the reviewers that the user chooses among those of this machine.
fn ask(args: &AddArgs, env: &Environment, ending: &Arc<Ending>) -> u8 {
    let what = if args.interactive {
        "`reviewers add --interactive`"
    } else {
        "`reviewers add` without an engine"
    };
    guided::run(&args.setup, env, ending, (what, NAME_IT), |prompter| {
        let config = edit::read_user_config(env)?.unwrap_or_default();
        let candidates = discover_here(env)?.candidates.into_iter();
        let found = candidates.filter_map(|candidate| candidate.recommended);
        let offered = add::not_configured(found.map(draft).collect(), &config);
        if offered.is_empty() {
            prompter.say(
                "No engine is ready that is not configured yet; \
                 `diffwarden reviewers discover` says why.",
            );
            return Err(Leave::Quit);
        }
        let taken: Vec<String> = config.reviewers.into_iter().map(|it| it.id).collect();
        add::add(prompter, offered, Vec::new(), &taken, |drafts| {
            let written = guided::commit(ending, || write(env, args, drafts))?;
            Ok(outcome(args, drafts, written))
        })
    })
}

fn outcome(args: &AddArgs, drafts: &[ReviewerDraft], written: Written<AddAction>) -> Outcome {
    let ids: Vec<String> = drafts.iter().map(|draft| draft.id.clone()).collect();
    let set = args.set.as_ref().map_or_else(String::new, |set| {
        format!(" and put them into reviewer set {set}")
    });
    let new = if written.created { ", a new file" } else { "" };
    Outcome {
        line: format!(
            "Added {}{set} in {}{new}",
            ids.join(", "),
            written.path.display()
        ),
        notes: written.notes,
        next: Next::Reviewers(ids),
    }
}

/// Adds reviewers in one step, and returns what became of the last one.
fn write(
    env: &Environment,
    args: &AddArgs,
    drafts: &[ReviewerDraft],
) -> Result<Written<AddAction>, Failure> {
    let intent = Intent {
        reviewers: drafts.iter().map(|draft| draft.id.clone()).collect(),
        sets: args.set.iter().cloned().collect(),
        may_create: true,
        // Adding empties nothing.
        may_empty_default_set: true,
    };
    edit::change_user_config(env, &intent, |document| {
        let mut action = AddAction::Updated;
        for draft in drafts {
            action = edit::add_reviewer(document, draft)?;
            if let Some(set) = &args.set {
                edit::add_member(document, set, &draft.id)?;
            }
        }
        Ok(action)
    })
}

/// Returns the reviewer that the command line describes; `None` where the user is to be asked.
fn requested(args: &AddArgs) -> Result<Option<ReviewerDraft>, Failure> {
    guided::refuse_json(args.interactive, args.setup.json)?;
    let refuse =
        |message: &str, hint: &str| Err(Failure::new(ErrorCode::InvalidCli, message).hint(hint));
    let engine = match (&args.engine, args.interactive) {
        (Some(engine), false) => edit::parse_engine(engine)?,
        (Some(_), true) => {
            return refuse(
                "--interactive chooses the engine, so it takes none",
                "leave out --interactive, or the engine",
            );
        }
        (None, _) if args.setup.json => {
            return refuse("`reviewers add --json` needs an engine", NAME_IT);
        }
        (None, _) if args.id.is_some() || args.disabled || !args.fields.is_empty() => {
            return refuse(
                "`reviewers add` needs an engine to add it like this",
                NAME_IT,
            );
        }
        (None, _) => return Ok(None),
    };
    let fields = &args.fields;
    let draft = ReviewerDraft::new(engine);
    Ok(Some(ReviewerDraft {
        id: args.id.clone().unwrap_or(draft.id),
        transport: fields.transport,
        provider: fields.provider.clone(),
        model: fields.model.clone(),
        effort: fields.effort()?,
        disabled: args.disabled,
        ..ReviewerDraft::new(engine)
    }))
}

const NAME_IT: &str = "name an engine, as in `diffwarden reviewers add codex`";
