//! A page of facts for people: headings, and entries whose text is wrapped beside their names.

use super::foreign::Foreign;
use super::redact::Redactor;
use super::style::{Role, Style};
use super::wrap::push_wrapped;

/// The columns of a page where there is no terminal to tell.
const USUAL_WIDTH: usize = 80;
/// Longer lines are hard to read, however wide the terminal is.
const WIDEST: usize = 100;

/// A page under construction. Whatever is put on it is made fit to print.
pub(crate) struct Sheet<'a> {
    text: String,
    style: Style,
    foreign: Foreign<'a>,
    width: usize,
}

/// A word in a column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell<'a> {
    /// The word.
    pub(crate) text: &'a str,
    /// The columns it has, the space after it included; a longer word has one space after it.
    pub(crate) width: usize,
    /// What it stands for.
    pub(crate) role: Option<Role>,
}

impl<'a> Sheet<'a> {
    pub(crate) fn new(style: Style, redactor: &'a Redactor) -> Self {
        Self {
            text: String::new(),
            style,
            foreign: Foreign(redactor),
            width: style.width.unwrap_or(USUAL_WIDTH).min(WIDEST),
        }
    }

    /// Begins a part, with a blank line before all but the first.
    pub(crate) fn heading(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        let text = self.foreign.line(text);
        let painted = self.style.paint(Role::Heading, text).to_string();
        self.text.push_str(&painted);
        self.text.push('\n');
    }

    /// Leaves a line blank.
    pub(crate) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// Writes words in columns behind an indent, and a sentence beside them.
    pub(crate) fn entry(&mut self, indent: usize, cells: &[Cell<'_>], sentence: &str) {
        let mut lead = indent;
        self.text.push_str(&" ".repeat(indent));
        for cell in cells {
            let word = self.foreign.name(cell.text);
            let length = word.chars().count();
            let columns = cell.width.max(length + 1);
            match cell.role {
                Some(role) => {
                    let painted = self.style.paint(role, word).to_string();
                    self.text.push_str(&painted);
                }
                None => self.text.push_str(&word),
            }
            self.text.push_str(&" ".repeat(columns - length));
            lead += columns;
        }
        let usual = indent + cells.iter().map(|cell| cell.width).sum::<usize>();
        let sentence = self.foreign.line(sentence);
        let inner = " ".repeat(usual);
        push_wrapped(&mut self.text, &sentence, lead, &inner, Some(self.width));
        let kept = self.text.trim_end_matches(' ').len();
        self.text.truncate(kept);
        self.text.push('\n');
    }

    /// Writes a sentence behind an indent.
    pub(crate) fn sentence(&mut self, indent: usize, sentence: &str) {
        self.entry(indent, &[], sentence);
    }

    /// Returns the page, which ends in a line end.
    pub(crate) fn finish(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_wrapped_beside_their_words() {
        let redactor = Redactor::default();
        let mut sheet = Sheet::new(Style::PLAIN, &redactor);
        sheet.heading("Head\x1b[2J");
        let cell = |text| Cell {
            text,
            width: 8,
            role: Some(Role::Danger),
        };
        sheet.entry(2, &[cell("a"), cell("longer-than")], &"word ".repeat(20));
        sheet.entry(2, &[cell("a\n")], "");
        sheet.heading("Next");
        let expected = [
            "Head\\u{1b}[2J".to_owned(),
            format!("  a       longer-than {}", ["word"; 11].join(" ")),
            format!("{}{}", " ".repeat(18), ["word"; 9].join(" ")),
            "  a\\u{a}".to_owned(),
            String::new(),
            "Next\n".to_owned(),
        ];
        assert_eq!(sheet.finish(), expected.join("\n"));
    }

    #[test]
    fn colours_are_the_styles() {
        let redactor = Redactor::default();
        let style = Style {
            colour: true,
            width: Some(40),
        };
        let mut sheet = Sheet::new(style, &redactor);
        sheet.entry(
            0,
            &[Cell {
                text: "ok",
                width: 4,
                role: Some(Role::Success),
            }],
            "fine",
        );
        assert_eq!(sheet.finish(), "\x1b[32mok\x1b[0m  fine\n");
    }
}
