//! What somebody needs to know to get an engine going: how to install it, how to log in, where its
//! documentation is. Data for discovery, `doctor` and `init`; nothing here is ever run.

use diffwarden_actors::model::{EngineName, Transport};

use super::Capability;
use crate::engines::{claude, codex, gemini, opencode};

/// How to get an engine going over one transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setup {
    /// A command that installs it; `None` where there is no single one.
    pub install: Option<&'static str>,
    /// What to do to log in, after "to log in, ".
    pub login: &'static str,
    /// Where to read more.
    pub docs: &'static str,
    /// The package without which its driver does not run; only where the engine is no executable.
    pub package: Option<&'static str>,
    /// Whether a missing variable is worth a word although there may be a login elsewhere.
    pub wants_variable: bool,
    /// When a missing login is no fault.
    pub unless: Option<&'static str>,
}

const BASE: Setup = Setup {
    install: None,
    login: "see its documentation",
    docs: "",
    package: None,
    wants_variable: false,
    unless: None,
};

const CURSOR_SDK: Setup = Setup {
    install: Some("npm install -g @cursor/sdk"),
    login: "set CURSOR_API_KEY",
    package: Some("@cursor/sdk"),
    ..CURSOR_CLI
};

const CURSOR_CLI: Setup = Setup {
    login: "run `cursor-agent login`, or set CURSOR_API_KEY",
    docs: "https://cursor.com/docs",
    ..BASE
};

const CLAUDE: Setup = Setup {
    install: Some(claude::PROGRAM.install),
    login: "run `claude auth login`, or set ANTHROPIC_API_KEY",
    docs: "https://www.npmjs.com/package/@anthropic-ai/claude-code",
    ..BASE
};

const PI: Setup = Setup {
    install: Some("npm install -g @earendil-works/pi-coding-agent"),
    login: "run `pi` and type /login, or set the key of your provider",
    docs: "https://www.npmjs.com/package/@earendil-works/pi-coding-agent",
    ..BASE
};

const DROID: Setup = Setup {
    install: Some("npm install -g droid"),
    login: "run `droid` and type /login, or set FACTORY_API_KEY",
    docs: "https://docs.factory.ai",
    wants_variable: true,
    ..BASE
};

const CODEX_EXEC: Setup = Setup {
    login: "run `codex login`, or set CODEX_API_KEY",
    ..CODEX_APP_SERVER
};

const CODEX_APP_SERVER: Setup = Setup {
    install: Some(codex::PROGRAM.install),
    login: "run `codex login`",
    docs: "https://github.com/openai/codex",
    unless: Some("its config.toml names a provider with a key of its own"),
    ..BASE
};

const GEMINI: Setup = Setup {
    install: Some(gemini::PROGRAM.install),
    login: "run `gemini` and choose how to log in, or set GEMINI_API_KEY",
    docs: "https://github.com/google-gemini/gemini-cli",
    ..BASE
};

const OPENCODE: Setup = Setup {
    install: Some(opencode::PROGRAM.install),
    login: "run `opencode auth login`, or set the key of your provider",
    docs: "https://opencode.ai/docs",
    ..BASE
};

const GROK: Setup = Setup {
    install: Some("npm install -g @xai-official/grok"),
    login: "run `grok login`, or set XAI_API_KEY",
    docs: "https://www.npmjs.com/package/@xai-official/grok",
    ..BASE
};

const ANTIGRAVITY: Setup = Setup {
    login: "run `agy` and log in there",
    docs: "https://antigravity.google",
    ..BASE
};

const COPILOT: Setup = Setup {
    install: Some("npm install -g @github/copilot"),
    login: "run `copilot` and type /login, or set COPILOT_GITHUB_TOKEN",
    docs: "https://www.npmjs.com/package/@github/copilot",
    ..BASE
};

const ACP: Setup = Setup {
    login: "see the documentation of the agent",
    docs: "https://agentclientprotocol.com",
    ..BASE
};

impl Capability {
    /// Returns how to get this path going; `None` for reviewers inside diffwarden.
    pub fn setup(&self) -> Option<&'static Setup> {
        let transport = self.transport?;
        Some(match self.engine {
            EngineName::Cursor if transport == Transport::Native => &CURSOR_SDK,
            EngineName::Cursor => &CURSOR_CLI,
            EngineName::Claude => &CLAUDE,
            EngineName::Pi => &PI,
            EngineName::Droid => &DROID,
            EngineName::Codex if transport == Transport::Cli => &CODEX_EXEC,
            EngineName::Codex => &CODEX_APP_SERVER,
            EngineName::Gemini => &GEMINI,
            EngineName::Opencode => &OPENCODE,
            EngineName::Grok => &GROK,
            EngineName::Antigravity => &ANTIGRAVITY,
            EngineName::Copilot => &COPILOT,
            EngineName::Acp => &ACP,
            EngineName::Surface | EngineName::Fake => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::engines::capabilities;

    #[test]
    fn every_path_can_be_set_up_and_names_only_variables_it_reads() {
        for row in capabilities::rows() {
            let Some(setup) = row.setup() else {
                assert_eq!(row.transport, None, "{}", row.label());
                continue;
            };
            assert!(!setup.docs.is_empty(), "{}", row.label());
            let words = setup
                .login
                .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            for name in words.filter(|word| word.contains('_')) {
                assert!(
                    row.auth.variables.contains(&name),
                    "{}: {name}",
                    row.label()
                );
            }
            assert!(
                !setup.wants_variable || !row.auth.variables.is_empty(),
                "{}",
                row.label()
            );
        }
    }
}
