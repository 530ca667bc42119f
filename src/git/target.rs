//! The target as it is typed (SPEC 5.5).

use std::fmt;

use diffwarden_actors::model::{ErrorCode, Failure};

const FORMS: &str = "a target is `uncommitted`, `base:<branch>`, `commit:<sha>` or `custom:<text>`";

/// What the user asked to have reviewed, before any name in it is resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetSpec {
    /// Staged, unstaged and untracked changes.
    Uncommitted,
    /// HEAD against its merge-base with this branch.
    Base(String),
    /// One commit.
    Commit(String),
    /// Instructions for the whole repository, without a diff.
    Custom(String),
}

impl TargetSpec {
    /// Reads a target. The words are case-sensitive; the text after the colon is trimmed.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidCli`] for an unknown word or a blank text.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let text = text.trim();
        if text == "uncommitted" {
            return Ok(Self::Uncommitted);
        }
        let (word, value) = text.split_once(':').unwrap_or((text, ""));
        let form = match word {
            "base" => Self::Base,
            "commit" => Self::Commit,
            "custom" => Self::Custom,
            _ => return Err(invalid(&format!("unknown target `{text}`"))),
        };
        match value.trim() {
            "" => Err(invalid(&format!(
                "target `{text}` needs a value: `{word}:<…>`"
            ))),
            value => Ok(form(value.to_owned())),
        }
    }
}

impl fmt::Display for TargetSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uncommitted => f.write_str("uncommitted"),
            Self::Base(branch) => write!(f, "base:{branch}"),
            Self::Commit(name) => write!(f, "commit:{name}"),
            Self::Custom(text) => write!(f, "custom:{text}"),
        }
    }
}

fn invalid(what: &str) -> Failure {
    Failure::new(ErrorCode::InvalidCli, format!("{what}; {FORMS}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read_and_its_text_trimmed() {
        let parse = |text| TargetSpec::parse(text).unwrap();
        assert_eq!(parse("uncommitted"), TargetSpec::Uncommitted);
        assert_eq!(parse("base: main "), TargetSpec::Base("main".into()));
        assert_eq!(parse("commit:HEAD~1"), TargetSpec::Commit("HEAD~1".into()));
        assert_eq!(parse("custom:a: b"), TargetSpec::Custom("a: b".into()));
    }

    #[test]
    fn unknown_words_and_blank_texts_end_with_exit_2_and_list_the_forms() {
        for text in [
            "",
            "Uncommitted",
            "BASE:main",
            "base",
            "base: ",
            "pr:1",
            "commit:",
        ] {
            let failure = TargetSpec::parse(text).unwrap_err();
            assert_eq!(failure.exit_code(), 2, "{text}");
            assert!(failure.message.contains("base:<branch>"), "{text}");
        }
    }
}
