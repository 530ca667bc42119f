//! Removing a configured reviewer.

use diffwarden_actors::model::Failure;

use super::edit::label;
use super::{Leave, Prompter, choose, tell, unless_back};
use crate::config::{Config, ConfiguredReviewer};

/// Lets the user choose a reviewer and confirm, and commits its removal.
///
/// # Errors
///
/// Returns [`Leave`] when nothing was committed.
pub fn remove<W>(
    prompter: &mut dyn Prompter,
    config: &Config,
    mut commit: impl FnMut(&str) -> Result<W, Failure>,
) -> Result<W, Leave> {
    let mut start = 0;
    loop {
        let entries = config.reviewers.iter().enumerate();
        let options = entries.map(|(at, entry)| (label(entry), at)).collect();
        start = choose(prompter, "Remove which reviewer?", options, start)?;
        let entry = &config.reviewers[start];
        if unless_back(confirm(prompter, config, entry))?.is_none() {
            continue;
        }
        match commit(&entry.id) {
            Ok(written) => return Ok(written),
            Err(failure) => tell(prompter, &failure),
        }
    }
}

/// Returns when the user confirms. Without a move of the cursor the answer is no, which leaves.
fn confirm(
    prompter: &mut dyn Prompter,
    config: &Config,
    entry: &ConfiguredReviewer,
) -> Result<(), Leave> {
    let sets = config.reviewer_sets.iter();
    let sets: Vec<&str> = sets
        .filter(|set| set.members.contains(&entry.id))
        .map(|set| set.name.as_str())
        .collect();
    if !sets.is_empty() {
        prompter.say(&format!("it is in these sets: {}", sets.join(", ")));
    }
    let options = vec![("no".to_owned(), false), ("yes".to_owned(), true)];
    let question = format!("Remove {}?", entry.id);
    if choose(prompter, &question, options, 0)? {
        Ok(())
    } else {
        Err(Leave::Quit)
    }
}
