//! A prompter that follows a script, for tests of dialogues.

use std::collections::VecDeque;

use super::{Leave, Prompter};

/// What the user of a test does.
#[derive(Debug, Clone)]
pub(super) enum Act {
    /// Chooses the option that begins with this.
    Pick(&'static str),
    /// Leaves exactly the options marked that begin with these.
    Mark(&'static [&'static str]),
    /// Submits this text.
    Write(&'static str),
    /// Goes back.
    Back,
}

/// Does what its script says, and records what it was shown.
pub(super) struct Script {
    acts: VecDeque<Act>,
    pub(super) shown: Vec<String>,
}

impl Script {
    pub(super) fn new(acts: impl IntoIterator<Item = Act>) -> Self {
        Self {
            acts: acts.into_iter().collect(),
            shown: Vec::new(),
        }
    }

    /// Asserts that everything was done.
    #[track_caller]
    pub(super) fn assert_over(&self) {
        assert!(self.acts.is_empty(), "{:?}: {:#?}", self.acts, self.shown);
    }

    #[track_caller]
    pub(super) fn assert_shown(&self, text: &str) {
        let is_shown = self.shown.iter().any(|line| line.contains(text));
        assert!(is_shown, "{text}: {:#?}", self.shown);
    }

    fn next(&mut self, question: &str) -> Act {
        let act = self.acts.pop_front();
        act.unwrap_or_else(|| panic!("{question}: nothing is left to do: {:#?}", self.shown))
    }

    fn find(&self, options: &[String], start: &str) -> usize {
        let at = options.iter().position(|option| option.starts_with(start));
        at.unwrap_or_else(|| panic!("{start} is none of {options:?}: {:#?}", self.shown))
    }
}

impl Prompter for Script {
    fn choose(&mut self, question: &str, options: &[String], start: usize) -> Result<usize, Leave> {
        assert!(start < options.len(), "{question}: {start} of {options:?}");
        let shown = format!("{question} [{}] {}", options[start], options.join(" | "));
        self.shown.push(shown);
        match self.next(question) {
            Act::Pick(start) => Ok(self.find(options, start)),
            Act::Back => Err(Leave::Back),
            act => panic!("{question}: {act:?}"),
        }
    }

    fn choose_several(
        &mut self,
        question: &str,
        options: &[String],
        marked: &[usize],
    ) -> Result<Vec<usize>, Leave> {
        let shown = marked.iter().map(|&at| options[at].as_str());
        self.shown
            .push(format!("{question} {:?}", shown.collect::<Vec<_>>()));
        match self.next(question) {
            Act::Mark(starts) => Ok(starts.iter().map(|it| self.find(options, it)).collect()),
            Act::Back => Err(Leave::Back),
            act => panic!("{question}: {act:?}"),
        }
    }

    fn write(&mut self, question: &str, initial: &str) -> Result<String, Leave> {
        self.shown.push(format!("{question} {initial:?}"));
        match self.next(question) {
            Act::Write(text) => Ok(text.to_owned()),
            Act::Back => Err(Leave::Back),
            act => panic!("{question}: {act:?}"),
        }
    }

    fn say(&mut self, line: &str) {
        self.shown.push(line.to_owned());
    }
}
