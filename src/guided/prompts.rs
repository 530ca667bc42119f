//! Prompts on a terminal, drawn on standard error.

use std::io;

use diffwarden_actors::model::{ErrorCode, Failure};
use inquire::ui::RenderConfig;
use inquire::{InquireError, MultiSelect, Select, Text};

use super::terminal::Terminal;
use super::{Leave, Prompter};
use crate::env::Environment;
use crate::sinks::{Foreign, Redactor, Style, output};

/// The columns beside the text of an option: its cursor and its box.
const MARGIN: usize = 8;

/// The fewest columns that an option is cut to.
const NARROWEST: usize = 10;

/// Asks through a terminal.
pub struct TerminalPrompter<'a> {
    terminal: &'a Terminal,
    redactor: &'a Redactor,
    environment: &'a Environment,
}

impl<'a> TerminalPrompter<'a> {
    /// Creates the prompter of a terminal that [`require`](super::terminal::require) lets pass.
    pub fn new(
        terminal: &'a Terminal,
        redactor: &'a Redactor,
        environment: &'a Environment,
    ) -> Self {
        Self {
            terminal,
            redactor,
            environment,
        }
    }

    /// Asked for each prompt, because a window can be resized.
    fn style(&self) -> Style {
        output::stderr_style(self.environment).unwrap_or(Style::PLAIN)
    }

    fn config(&self) -> RenderConfig<'static> {
        let config = if self.style().colour {
            RenderConfig::default_colored()
        } else {
            RenderConfig::empty()
        };
        config
            .with_answered_prompt_prefix("✓".into())
            .with_canceled_prompt_indicator("← back".into())
    }

    /// Makes options safe to draw, each on one line.
    fn lines(&self, options: &[String]) -> Vec<String> {
        let width = self.style().width;
        let width = width.map(|width| width.saturating_sub(MARGIN).max(NARROWEST));
        let lines = options.iter().map(|option| self.line(option));
        lines.map(|line| cut(line, width)).collect()
    }

    fn line(&self, text: &str) -> String {
        Foreign(self.redactor).line(text)
    }

    fn ask<T>(&self, prompt: impl FnOnce() -> Result<T, InquireError>) -> Result<T, Leave> {
        match self.terminal.lend(prompt) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(InquireError::OperationCanceled | InquireError::OperationInterrupted)) => {
                Err(Leave::Back)
            }
            Ok(Err(InquireError::IO(error))) | Err(error) => Err(Leave::Failed(gone(&error))),
            Ok(Err(error)) => Err(Leave::Failed(gone(&io::Error::other(error.to_string())))),
        }
    }
}

impl Prompter for TerminalPrompter<'_> {
    fn choose(&mut self, question: &str, options: &[String], start: usize) -> Result<usize, Leave> {
        let (question, lines) = (self.line(question), self.lines(options));
        let config = self.config();
        let prompt = || {
            Select::new(&question, lines)
                .with_starting_cursor(start)
                .without_filtering()
                .with_help_message("↑↓, enter, esc goes back")
                .with_render_config(config)
                .raw_prompt()
        };
        Ok(self.ask(prompt)?.index)
    }

    fn choose_several(
        &mut self,
        question: &str,
        options: &[String],
        marked: &[usize],
    ) -> Result<Vec<usize>, Leave> {
        let (question, lines) = (self.line(question), self.lines(options));
        let config = self.config();
        let prompt = || {
            MultiSelect::new(&question, lines)
                .with_default(marked)
                .without_filtering()
                .with_help_message("↑↓, space, enter, esc goes back")
                .with_render_config(config)
                .raw_prompt()
        };
        let chosen = self.ask(prompt)?;
        Ok(chosen.into_iter().map(|option| option.index).collect())
    }

    fn write(&mut self, question: &str, initial: &str) -> Result<String, Leave> {
        let question = self.line(question);
        let config = self.config();
        // A text that cannot be shown as it is would come back changed.
        let initial = if self.line(initial) == initial {
            initial
        } else {
            ""
        };
        self.ask(|| {
            Text::new(&question)
                .with_initial_value(initial)
                .with_help_message("enter, esc goes back")
                .with_render_config(config)
                .prompt()
        })
    }

    fn say(&mut self, line: &str) {
        output::print_note(&format!("{}\n", self.line(line)), self.redactor);
    }
}

fn gone(error: &io::Error) -> Failure {
    let message = format!("the terminal cannot be asked: {error}");
    Failure::new(ErrorCode::InvalidCli, message)
        .hint("nothing was changed; every guided command also works with names and flags")
}

/// Cuts a line to a width. Every character counts as one column; where that is wrong the line is
/// wrapped.
fn cut(line: String, width: Option<usize>) -> String {
    match width {
        Some(width) if line.chars().count() > width => {
            let kept = line.chars().take(width - 1);
            kept.chain(['…']).collect()
        }
        _ => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_to_its_width() {
        assert_eq!(cut("abcdef".to_owned(), Some(4)), "abc…");
        assert_eq!(cut("名前名前名".to_owned(), Some(4)), "名前名…");
        assert_eq!(cut("abcd".to_owned(), Some(4)), "abcd");
        assert_eq!(cut("abcdef".to_owned(), None), "abcdef");
    }
}
