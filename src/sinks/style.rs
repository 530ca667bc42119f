//! Whether and how output for people is coloured and wrapped, decided once and passed as data.

use std::fmt;

use crate::env::Environment;

/// How to print to one stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Style {
    /// Whether colours may be used.
    pub colour: bool,
    /// Columns of the terminal; `None` when there is none, and then nothing is wrapped.
    pub width: Option<usize>,
}

impl Style {
    /// The style of files and pipes: no colour, no wrapping.
    pub const PLAIN: Self = Self {
        colour: false,
        width: None,
    };

    /// Decides for one stream. Colour needs a terminal and is off when `NO_COLOR` or `CI` is set,
    /// even to nothing, and when `TERM` is `dumb`.
    pub fn decide(environment: &Environment, is_terminal: bool, width: Option<usize>) -> Self {
        let refused = environment.raw("NO_COLOR").is_some()
            || environment.raw("CI").is_some()
            || environment.raw("TERM").is_some_and(|term| term == "dumb");
        Self {
            colour: is_terminal && !refused,
            width: width.filter(|_| is_terminal),
        }
    }

    /// Marks a text for a role; without colour it stays as it is.
    pub(super) fn paint<T: fmt::Display>(self, role: Role, text: T) -> Painted<T> {
        Painted {
            role: self.colour.then_some(role),
            text,
        }
    }
}

/// What a coloured text stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A failure, or a finding of priority 0 or 1.
    Danger,
    /// Something that went well.
    Success,
    /// Something to know, or a finding of priority 2.
    Warning,
    /// A heading.
    Heading,
    /// A finding of priority 3, or an emphasis.
    Accent,
    /// Something of less weight.
    Muted,
}

impl Role {
    /// Returns the SGR parameter of the role's colour.
    fn code(self) -> u8 {
        match self {
            Self::Danger => 31,
            Self::Success => 32,
            Self::Warning => 33,
            Self::Heading => 35,
            Self::Accent => 36,
            Self::Muted => 90,
        }
    }
}

/// A text in the colour of its role.
pub(super) struct Painted<T> {
    role: Option<Role>,
    text: T,
}

impl<T: fmt::Display> fmt::Display for Painted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.role {
            Some(role) => write!(f, "\x1b[{}m{}\x1b[0m", role.code(), self.text),
            None => self.text.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colour(variables: &[(&str, &str)], is_terminal: bool) -> bool {
        let environment = variables.iter().copied().collect();
        Style::decide(&environment, is_terminal, None).colour
    }

    #[test]
    fn colour_needs_a_terminal() {
        assert!(colour(&[], true));
        assert!(colour(&[("TERM", "xterm")], true));
        assert!(!colour(&[("TERM", "xterm")], false));
    }

    #[test]
    fn colour_is_refused_by_the_environment() {
        assert!(!colour(&[("NO_COLOR", "")], true));
        assert!(!colour(&[("NO_COLOR", "1")], true));
        assert!(!colour(&[("CI", "")], true));
        assert!(!colour(&[("TERM", "dumb")], true));
    }

    #[test]
    fn only_terminals_wrap() {
        let environment = Environment::default();
        assert_eq!(Style::decide(&environment, true, Some(80)).width, Some(80));
        assert_eq!(Style::decide(&environment, false, Some(80)).width, None);
    }

    #[test]
    fn painting_without_colour_changes_nothing() {
        assert_eq!(Style::PLAIN.paint(Role::Danger, "x").to_string(), "x");
        let style = Style {
            colour: true,
            width: None,
        };
        assert_eq!(
            style.paint(Role::Danger, "x").to_string(),
            "\x1b[31mx\x1b[0m"
        );
    }
}
