//! Foreign words on their way to people: secrets out first, then nothing hidden or active left.

use super::redact::Redactor;
use super::sanitize;

/// Makes the words of models, engines, repositories and configurations fit to print.
///
/// Redaction comes first, because making a text visible or wrapping it would take a secret apart.
#[derive(Debug, Clone, Copy)]
pub struct Foreign<'a>(pub &'a Redactor);

impl Foreign<'_> {
    /// Returns one line, whatever the text holds.
    pub fn line(self, text: &str) -> String {
        sanitize::line(&self.0.redact(text)).into_owned()
    }

    /// Returns a path or a name, with its white space visible.
    pub fn name(self, text: &str) -> String {
        sanitize::name(&self.0.redact(text)).into_owned()
    }

    /// Returns the lines of a text without blank ones at its ends; none for a blank text.
    pub fn lines(self, text: &str) -> Vec<String> {
        let text = self.0.redact(text);
        let text = sanitize::block(&text);
        let lines = text.lines().map(str::trim_end);
        let mut lines: Vec<_> = lines.skip_while(|line| line.is_empty()).collect();
        while lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        lines.into_iter().map(str::to_owned).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_lose_blank_ends() {
        let redactor = Redactor::default();
        assert_eq!(
            Foreign(&redactor).lines("\n \n  a  \r\n\n\tb\n\n"),
            ["  a", "", "\tb"]
        );
        assert!(Foreign(&redactor).lines(" \n\t\n").is_empty());
    }

    #[test]
    fn secrets_are_taken_out_before_the_text_is_flattened() {
        let redactor = Redactor::new(&[("A_TOKEN", "a1b2\nc3d4")].into_iter().collect());
        assert_eq!(
            Foreign(&redactor).line("x a1b2\nc3d4 y"),
            "x [redacted:A_TOKEN] y"
        );
    }
}
