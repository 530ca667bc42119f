//! Adding reviewers: which of those that were found, and how.

use diffwarden_actors::model::Failure;

use super::fields::{Scope, edit_fields, row};
use super::{Leave, Prompter, QUIT, choose, tell, unless_back};
use crate::config::Config;
use crate::config::edit::ReviewerDraft;

/// Returns the reviewers that are not configured yet: neither is their id, nor their engine over
/// their transport.
pub fn not_configured(found: Vec<ReviewerDraft>, config: &Config) -> Vec<ReviewerDraft> {
    let is_configured = |draft: &ReviewerDraft| {
        config.reviewers.iter().any(|entry| {
            let transport = entry.capability().transport;
            entry.id == draft.id
                || (entry.engine == draft.engine && transport == row(draft).transport)
        })
    };
    found.into_iter().filter(|it| !is_configured(it)).collect()
}

/// Lets the user choose among reviewers and edit each of them, and commits those that remain.
/// `marked` are marked from the start, and nobody may get an id of `taken`.
///
/// # Errors
///
/// Returns [`Leave`] when nothing was committed.
pub fn add<W>(
    prompter: &mut dyn Prompter,
    offered: Vec<ReviewerDraft>,
    mut marked: Vec<usize>,
    taken: &[String],
    mut commit: impl FnMut(&[ReviewerDraft]) -> Result<W, Failure>,
) -> Result<W, Leave> {
    let labels = offered.iter().map(label).collect::<Vec<_>>();
    let mut drafts = offered;
    loop {
        marked = mark(prompter, &labels, &marked)?;
        let written = edit_each(prompter, &mut drafts, &marked, taken, &mut commit);
        if let Some(written) = unless_back(written)? {
            return Ok(written);
        }
    }
}

/// Asks whether to start without a reviewer that was found.
///
/// # Errors
///
/// Returns [`Leave`] when not.
pub fn start(prompter: &mut dyn Prompter) -> Result<(), Leave> {
    prompter.say("No engine was found that is ready; `diffwarden reviewers discover` says why.");
    let options = vec![("write a config to edit".to_owned(), ())];
    choose(prompter, "How to go on?", options, 0)
}

fn mark(
    prompter: &mut dyn Prompter,
    labels: &[String],
    marked: &[usize],
) -> Result<Vec<usize>, Leave> {
    let options: Vec<String> = labels.iter().cloned().chain([QUIT.to_owned()]).collect();
    loop {
        let marked = prompter.choose_several("Which reviewers?", &options, marked)?;
        if marked.contains(&labels.len()) {
            return Err(Leave::Quit);
        }
        if !marked.is_empty() {
            return Ok(marked);
        }
        prompter.say("mark one with the space bar first");
    }
}

/// Edits the marked reviewers one after the other; a step back leads to the one before.
fn edit_each<W>(
    prompter: &mut dyn Prompter,
    drafts: &mut [ReviewerDraft],
    marked: &[usize],
    taken: &[String],
    commit: &mut impl FnMut(&[ReviewerDraft]) -> Result<W, Failure>,
) -> Result<W, Leave> {
    let mut at = 0;
    loop {
        let is_last = at + 1 == marked.len();
        let done = if is_last { "✓ save" } else { "✓ next" };
        match edit_one(prompter, drafts, marked, at, taken, done) {
            Ok(()) if !is_last => at += 1,
            Ok(()) => {
                let chosen: Vec<_> = marked.iter().map(|&it| drafts[it].clone()).collect();
                match commit_distinct(&chosen, prompter, commit)? {
                    Some(written) => return Ok(written),
                    None => continue,
                }
            }
            Err(Leave::Back) if at > 0 => at -= 1,
            Err(leave) => return Err(leave),
        }
    }
}

fn edit_one(
    prompter: &mut dyn Prompter,
    drafts: &mut [ReviewerDraft],
    marked: &[usize],
    at: usize,
    taken: &[String],
    done: &str,
) -> Result<(), Leave> {
    let others = marked.iter().filter(|&&it| it != marked[at]);
    let others: Vec<String> = others.map(|&it| drafts[it].id.clone()).collect();
    let is_taken = |id: &str| taken.iter().chain(&others).any(|it| it == id);
    let scope = Scope::New {
        is_taken: &is_taken,
    };
    edit_fields(prompter, &mut drafts[marked[at]], &scope, done)
}

/// Commits reviewers unless two of them have one id, which unmarking and marking again can bring
/// about. A refusal is told.
fn commit_distinct<W>(
    chosen: &[ReviewerDraft],
    prompter: &mut dyn Prompter,
    commit: &mut impl FnMut(&[ReviewerDraft]) -> Result<W, Failure>,
) -> Result<Option<W>, Leave> {
    let mut ids: Vec<&str> = chosen.iter().map(|draft| draft.id.as_str()).collect();
    ids.sort_unstable();
    if let Some(pair) = ids.windows(2).find(|pair| pair[0] == pair[1]) {
        prompter.say(&format!("two of these reviewers are called `{}`", pair[0]));
        return Ok(None);
    }
    match commit(chosen) {
        Ok(written) => Ok(Some(written)),
        Err(failure) => {
            tell(prompter, &failure);
            Ok(None)
        }
    }
}

fn label(draft: &ReviewerDraft) -> String {
    row(draft).label()
}
