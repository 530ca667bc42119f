//! Guided setup: the dialogues that end in a change of the user config (SPEC 5.2).
//!
//! A dialogue is a function over a [`Prompter`]: it knows no terminal, no file and no flag, so a
//! script can hold it. What it decides is handed to a `commit` that writes; a refusal is told, and
//! the dialogue goes on where it was. [`terminal`] owns the terminal and [`prompts`] draws on it.
//!
//! What must stay true: nothing is changed before the last step of a dialogue, every menu has an
//! entry that leaves at once, and going back never loses what was chosen below.

pub mod add;
pub mod edit;
mod fields;
pub mod finish;
pub mod prompts;
pub mod remove;
#[cfg(test)]
mod script;
pub mod terminal;
#[cfg(test)]
mod tests;

use diffwarden_actors::model::Failure;

/// The entry of every menu that leaves at once.
pub const QUIT: &str = "✕ quit";

/// Asks the user. Every text it is given may hold foreign words: whoever draws makes them safe.
pub trait Prompter {
    /// Asks for one of several options and returns its index; the cursor begins at `start`.
    ///
    /// # Errors
    ///
    /// Returns [`Leave`] when nothing was chosen.
    fn choose(&mut self, question: &str, options: &[String], start: usize) -> Result<usize, Leave>;

    /// Asks for any number of options and returns their indices in order. Those in `marked` are
    /// marked from the start.
    ///
    /// # Errors
    ///
    /// Returns [`Leave`] when nothing was submitted.
    fn choose_several(
        &mut self,
        question: &str,
        options: &[String],
        marked: &[usize],
    ) -> Result<Vec<usize>, Leave>;

    /// Asks for a line of text, beginning with `initial`.
    ///
    /// # Errors
    ///
    /// Returns [`Leave`] when nothing was submitted.
    fn write(&mut self, question: &str, initial: &str) -> Result<String, Leave>;

    /// Says something.
    fn say(&mut self, line: &str);
}

/// Why a dialogue did not go on.
#[derive(Debug, Clone, PartialEq)]
pub enum Leave {
    /// The user goes back one level (Esc or Ctrl-C); at the top that ends the dialogue.
    Back,
    /// The user ends the dialogue.
    Quit,
    /// The dialogue cannot go on.
    Failed(Failure),
}

impl From<Failure> for Leave {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// Asks for one of several options and returns what it stands for.
fn choose<T>(
    prompter: &mut dyn Prompter,
    question: &str,
    options: Vec<(String, T)>,
    start: usize,
) -> Result<T, Leave> {
    let (mut labels, values): (Vec<String>, Vec<T>) = options.into_iter().unzip();
    labels.push(QUIT.to_owned());
    let chosen = prompter.choose(question, &labels, start)?;
    values.into_iter().nth(chosen).ok_or(Leave::Quit)
}

/// Turns a step back into no answer, for a level that stays where it is then.
fn unless_back<T>(answer: Result<T, Leave>) -> Result<Option<T>, Leave> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(Leave::Back) => Ok(None),
        Err(leave) => Err(leave),
    }
}

/// Tells why something was refused.
fn tell(prompter: &mut dyn Prompter, failure: &Failure) {
    prompter.say(&failure.message);
    if let Some(hint) = &failure.hint {
        prompter.say(hint);
    }
}
