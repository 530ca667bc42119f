//! Which of the options that not every Claude Code has this one lists in its help.

use diffwarden_actors::engine::Capabilities;

/// The optional parts of the command line that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Features {
    /// `--restricted` confines the file tools to the working folder.
    pub(super) restricted: bool,
    /// `--system-prompt` replaces Claude's own system prompt.
    pub(super) system_prompt: bool,
    /// `--system-prompt-file` does the same from a file.
    pub(super) system_prompt_file: bool,
    /// `--effort`.
    pub(super) effort: bool,
    /// `--fallback-model`.
    pub(super) fallback_model: bool,
    /// `--mcp-config`.
    pub(super) mcp_config: bool,
    /// `--no-chrome`.
    pub(super) no_chrome: bool,
    /// `--no-session-persistence`. Needless where the state is thrown away.
    pub(super) no_session_persistence: bool,
    /// `--disable-slash-commands`. Needless where the state, and so the commands, are nobody's.
    pub(super) disable_slash_commands: bool,
}

impl Features {
    /// Returns the features of an executable whose preflight was passed.
    pub(super) fn of(capabilities: &Capabilities) -> Self {
        let has = |flag: &str| capabilities.flags.contains(flag);
        Self {
            restricted: has("--restricted"),
            system_prompt: has("--system-prompt"),
            system_prompt_file: has("--system-prompt-file"),
            effort: has("--effort"),
            fallback_model: has("--fallback-model"),
            mcp_config: has("--mcp-config"),
            no_chrome: has("--no-chrome"),
            no_session_persistence: has("--no-session-persistence"),
            disable_slash_commands: has("--disable-slash-commands"),
        }
    }

    /// Whether a review can be kept apart from the user's own state, beside which a login lies.
    pub(super) fn is_fit_for_login(&self) -> bool {
        self.no_session_persistence && self.disable_slash_commands
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Everything that Claude Code 2.1.332 has.
    pub(in crate::engines::claude) const ALL: Features = Features {
        restricted: true,
        system_prompt: true,
        system_prompt_file: true,
        effort: true,
        fallback_model: true,
        mcp_config: true,
        no_chrome: true,
        no_session_persistence: true,
        disable_slash_commands: true,
    };

    /// The options behind [`ALL`].
    pub(in crate::engines::claude) fn flags() -> std::collections::BTreeSet<String> {
        [
            "--restricted",
            "--system-prompt",
            "--system-prompt-file",
            "--effort",
            "--fallback-model",
            "--mcp-config",
            "--no-chrome",
            "--no-session-persistence",
            "--disable-slash-commands",
        ]
        .map(str::to_owned)
        .into()
    }

    #[test]
    fn features_are_what_the_help_lists() {
        assert_eq!(Features::of(&Capabilities::default()), Features::default());
        let all = Capabilities {
            version: None,
            flags: flags(),
        };
        assert_eq!(Features::of(&all), ALL);
        let flags = ["--effort", "--restricted"].map(str::to_owned).into();
        let capabilities = Capabilities {
            version: None,
            flags,
        };
        let expected = Features {
            effort: true,
            restricted: true,
            ..Features::default()
        };
        assert_eq!(Features::of(&capabilities), expected);
    }
}
