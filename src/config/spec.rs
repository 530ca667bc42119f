//! The grammar of reviewer specs: `engine[:profile]` or the id of a configured reviewer (SPEC 5.2).

use diffwarden_actors::model::{EngineName, ErrorCode, Failure};

/// How a reviewer was named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewerSpec<'a> {
    /// An engine's own name. A configured reviewer of that id wins over it.
    Engine(EngineName),
    /// `engine:profile`: a configured reviewer of that engine and profile.
    Profile {
        /// The engine.
        engine: EngineName,
        /// The profile.
        profile: &'a str,
    },
    /// Anything else: the id of a configured reviewer.
    Id(&'a str),
}

impl<'a> ReviewerSpec<'a> {
    /// Reads a spec.
    ///
    /// # Errors
    ///
    /// Fails with `invalid_cli` for a blank spec, for more than one colon, and for a profile that
    /// no config could define.
    pub fn parse(text: &'a str) -> Result<Self, Failure> {
        let invalid = |what: String| {
            Failure::new(ErrorCode::InvalidCli, what)
                .hint("a reviewer is named by an engine, by `engine:profile` or by a configured id")
        };
        if text.trim().is_empty() {
            return Err(invalid("a reviewer spec must not be blank".to_owned()));
        }
        let Some((head, tail)) = text.split_once(':') else {
            return Ok(EngineName::parse(text).map_or(Self::Id(text), Self::Engine));
        };
        if tail.contains(':') {
            return Err(invalid(format!(
                "invalid reviewer spec `{text}`: it has more than one colon"
            )));
        }
        let Some(engine) = EngineName::parse(head) else {
            return Ok(Self::Id(text));
        };
        if !is_profile(tail) {
            return Err(invalid(format!(
                "invalid reviewer spec `{text}`: a profile is letters, digits, `.`, `_` and `-`, \
                 and starts with a letter or digit"
            )));
        }
        Ok(Self::Profile {
            engine,
            profile: tail,
        })
    }
}

/// Whether a text can be a profile: `[A-Za-z0-9][A-Za-z0-9._-]*`.
pub(super) fn is_profile(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphanumeric())
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn specs_read_as_the_grammar_says() {
        let profile = |engine, profile| ReviewerSpec::Profile { engine, profile };
        for (text, expected) in [
            ("codex", ReviewerSpec::Engine(EngineName::Codex)),
            ("surface", ReviewerSpec::Engine(EngineName::Surface)),
            (
                "pi:openrouter-high",
                profile(EngineName::Pi, "openrouter-high"),
            ),
            ("claude:4.5_x", profile(EngineName::Claude, "4.5_x")),
            ("claude-deep", ReviewerSpec::Id("claude-deep")),
            ("team:deep", ReviewerSpec::Id("team:deep")),
            ("constructor", ReviewerSpec::Id("constructor")),
            ("Codex", ReviewerSpec::Id("Codex")),
            ("a b", ReviewerSpec::Id("a b")),
        ] {
            assert_eq!(ReviewerSpec::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_spec_is_refused_by_name() {
        for text in [
            "codex:a:b",
            "codex:-x",
            "codex:",
            "codex:a b",
            "a:b:c",
            "codex:ä",
        ] {
            let failure = ReviewerSpec::parse(text).unwrap_err();
            assert_eq!(failure.exit_code(), 2);
            assert!(failure.message.contains(text), "{text}: {failure}");
        }
        for text in ["", "  ", "\t"] {
            assert!(ReviewerSpec::parse(text).is_err(), "{text:?}");
        }
    }
}
