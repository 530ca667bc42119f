//! The private `CODEX_HOME` of a review, and what of the user's own one goes into it.
//!
//! A review must not run what the user's configuration runs (MCP servers, notification programs,
//! hooks) nor read what it adds to prompts (AGENTS.md, skills, developer instructions). So the
//! private home holds a link to the credentials, which Codex refreshes in place, and a
//! configuration with the few keys that say which model service to talk to. Where the definition of
//! the chosen provider has a key or headers in it, they are copied with it: without them there is
//! no review, and the copy is private and ends with the run.
//!
//! Credentials kept in the system's keyring are filed under the path of the home they belong to,
//! so a private home cannot reach them; [`CodexHome::unreachable_store`] tells, for the advice
//! that goes with a refused login.

use std::fs::OpenOptions;
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use diffwarden_actors::model::Failure;
use rustix::fs::OFlags;
use toml::{Table, Value};

use super::options::{Options, WebSearch};
use crate::engines::shared::unfit;
use crate::env::Environment;

/// The file that holds credentials.
const CREDENTIALS: &str = "auth.json";

/// The file that holds the configuration.
pub(super) const CONFIG: &str = "config.toml";

/// The largest configuration that is read, in bytes.
const MAX_CONFIG: u64 = 1 << 20;

/// The user's own Codex home, as far as a review needs it.
#[derive(Debug)]
pub(super) struct CodexHome {
    credentials: Option<PathBuf>,
    config: Result<Table, Failure>,
}

impl CodexHome {
    /// Reads the user's home: `CODEX_HOME` when it is absolute, else `.codex` in the home folder.
    /// Without either there is nothing to carry over.
    pub(super) fn read(env: &Environment) -> Self {
        let folder = env
            .absolute_path("CODEX_HOME")
            .or_else(|| env.home().map(|home| home.join(".codex")));
        match folder {
            Some(folder) => Self::at(&folder),
            None => Self {
                credentials: None,
                config: Ok(Table::new()),
            },
        }
    }

    /// Reads the home in `folder`.
    pub(super) fn at(folder: &Path) -> Self {
        let credentials = folder.join(CREDENTIALS);
        let config = folder.join(CONFIG);
        Self {
            credentials: credentials.is_file().then_some(credentials),
            config: match read_config(&config) {
                Ok(bytes) => parse(&bytes).map_err(|problem| unusable(&config, &problem)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Table::new()),
                Err(error) => Err(unusable(&config, &error.to_string())),
            },
        }
    }

    /// Takes the credentials from another folder.
    #[must_use]
    pub(super) fn with_credentials_of(mut self, folder: &Path) -> Self {
        let credentials = folder.join(CREDENTIALS);
        self.credentials = credentials.is_file().then_some(credentials);
        self
    }

    /// Returns the user's configuration.
    ///
    /// # Errors
    ///
    /// Fails when there is one that cannot be read: a review that silently went to another model
    /// service than the user's would be worse.
    pub(super) fn config(&self) -> Result<&Table, Failure> {
        self.config.as_ref().map_err(Clone::clone)
    }

    /// Returns where the user's credentials are, if they are in a file.
    pub(super) fn credentials(&self) -> Option<&Path> {
        self.credentials.as_deref()
    }

    /// Whether the user's credentials may be where a private home cannot reach them.
    pub(super) fn unreachable_store(&self) -> bool {
        let store = self
            .config
            .as_ref()
            .ok()
            .and_then(|config| config.get("cli_auth_credentials_store")?.as_str());
        self.credentials.is_none() && matches!(store, Some("keyring" | "auto"))
    }

    /// Returns the text of the private configuration.
    ///
    /// # Errors
    ///
    /// Fails when the user's configuration cannot be read.
    pub(super) fn private_config(&self, options: &Options) -> Result<String, Failure> {
        let kept = carried_over(self.config()?, options);
        toml::to_string(&kept).map_err(|error| {
            unfit(
                format!("Codex's configuration cannot be carried over: {error}"),
                "correct the file config.toml, or name another folder in CODEX_HOME",
            )
        })
    }
}

/// Picks what a review takes from the user's configuration. What the reviewer chose itself is left
/// out; it goes on the command line.
fn carried_over(config: &Table, options: &Options) -> Table {
    let mut kept = Table::new();
    let mut keep = |key: &str| {
        if let Some(value) = config.get(key) {
            kept.insert(key.to_owned(), value.clone());
        }
    };
    keep("model_provider");
    keep("openai_base_url");
    keep("cli_auth_credentials_store");
    if options.choices.model.is_none() {
        keep("model");
    }
    if options.choices.effort.is_none() {
        keep("model_reasoning_effort");
    }
    if options.web_search == WebSearch::Inherit {
        keep("web_search");
    }
    if let Some((id, provider)) = chosen_provider(config) {
        let providers = Table::from_iter([(id.to_owned(), provider.clone())]);
        kept.insert("model_providers".to_owned(), Value::Table(providers));
    }
    kept
}

/// Returns the definition of the provider that the configuration chooses. The others stay behind:
/// their tables may hold keys that this review has no use for.
fn chosen_provider(config: &Table) -> Option<(&str, &Value)> {
    let id = config.get("model_provider")?.as_str()?;
    let provider = config.get("model_providers")?.as_table()?.get(id)?;
    Some((id, provider))
}

/// Reads a plain file, without waiting for the writer of a pipe.
fn read_config(path: &Path) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags(OFlags::NONBLOCK.bits().cast_signed())
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a plain file"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_CONFIG + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_CONFIG {
        return Err(io::Error::other(format!(
            "it is larger than {MAX_CONFIG} bytes"
        )));
    }
    Ok(bytes)
}

fn parse(bytes: &[u8]) -> Result<Table, String> {
    let text = std::str::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned())?;
    text.parse::<Table>().map_err(|error| {
        // Only the parser's own words: its full report quotes the line, which may hold a key.
        let line = error.span().map(|span| {
            let before = bytes.get(..span.start).unwrap_or(bytes);
            1 + before.iter().filter(|&&byte| byte == b'\n').count()
        });
        let words = error.message().lines().next().unwrap_or("it is not TOML");
        match line {
            Some(line) => format!("{words} (line {line})"),
            None => words.to_owned(),
        }
    })
}

fn unusable(config: &Path, problem: &str) -> Failure {
    unfit(
        format!(
            "Codex's configuration {} cannot be used: {problem}",
            config.display()
        ),
        "correct the file, or name another folder in CODEX_HOME",
    )
}

#[cfg(test)]
mod tests {
    use super::super::options::tests::settings;
    use super::*;
    use crate::engines::settings::Effort;
    use crate::engines::shared::testing::asked;
    use diffwarden_actors::model::ErrorCode;
    use proptest::prelude::*;
    use std::fs;

    const USER: &str = r#"
        model = "gpt-5.5"
        model_provider = "corp"
        model_reasoning_effort = "high"
        openai_base_url = "https://models.example"
        cli_auth_credentials_store = "file"
        web_search = "live"
        sandbox_mode = "danger-full-access"
        notify = ["/usr/bin/notify"]
        developer_instructions = "be rude"
        [model_providers.corp]
        name = "Corp"
        base_url = "https://corp.example/v1"
        env_key = "CORP_KEY"
        http_headers = { x-team = "a" }
        [model_providers.other]
        experimental_bearer_token = "secret"
        [mcp_servers.files]
        command = "npx"
        [projects."/repo"]
        trust_level = "trusted"
    "#;

    fn home(text: &str) -> CodexHome {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(CONFIG), text).unwrap();
        CodexHome::at(folder.path())
    }

    fn options() -> Options {
        Options::from_settings(&settings()).unwrap()
    }

    #[test]
    fn only_the_choice_of_the_model_service_is_carried_over() {
        insta::assert_snapshot!(home(USER).private_config(&options()).unwrap(), @r#"
        cli_auth_credentials_store = "file"
        model = "gpt-5.5"
        model_provider = "corp"
        model_reasoning_effort = "high"
        openai_base_url = "https://models.example"

        [model_providers.corp]
        base_url = "https://corp.example/v1"
        env_key = "CORP_KEY"
        name = "Corp"

        [model_providers.corp.http_headers]
        x-team = "a"
        "#);
    }

    #[test]
    fn the_reviewer_s_own_choices_push_the_user_s_out() {
        let mut options = options();
        options.choices.model = Some(asked("m".to_owned()));
        options.choices.effort = Some(asked(Effort::Low));
        options.web_search = WebSearch::Inherit;
        let text = home(USER).private_config(&options).unwrap();
        let kept: Table = text.parse().unwrap();
        assert!(!kept.contains_key("model"), "{text}");
        assert!(!kept.contains_key("model_reasoning_effort"), "{text}");
        assert_eq!(kept["web_search"].as_str(), Some("live"));
        assert_eq!(kept["model_provider"].as_str(), Some("corp"));
    }

    #[test]
    fn a_configuration_that_cannot_be_read_is_a_failure_without_its_contents() {
        let failure = home("a = 1\nkey = sk-secret secret\n")
            .config()
            .unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        assert!(failure.message.contains("config.toml"), "{failure}");
        assert!(failure.message.contains("(line 2)"), "{failure}");
        assert!(!failure.message.contains("secret"), "{failure}");
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(CONFIG), b"a = \"\xff\"").unwrap();
        assert!(CodexHome::at(folder.path()).config().is_err());
        fs::remove_file(folder.path().join(CONFIG)).unwrap();
        fs::create_dir(folder.path().join(CONFIG)).unwrap();
        assert!(CodexHome::at(folder.path()).config().is_err());
    }

    #[test]
    fn a_pipe_or_a_huge_file_in_place_of_the_configuration_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join(CONFIG);
        let made = std::process::Command::new("mkfifo").arg(&config).status();
        assert!(made.unwrap().success());
        let failure = CodexHome::at(folder.path()).config().unwrap_err();
        assert!(failure.message.contains("not a plain file"), "{failure}");
        fs::remove_file(&config).unwrap();
        fs::write(&config, "#".repeat(1 << 20)).unwrap();
        assert!(CodexHome::at(folder.path()).config().is_ok());
        fs::write(&config, "#".repeat((1 << 20) + 1)).unwrap();
        let failure = CodexHome::at(folder.path()).config().unwrap_err();
        assert!(failure.message.contains("larger than"), "{failure}");
    }

    #[test]
    fn nothing_there_is_nothing_to_carry_over() {
        let folder = tempfile::tempdir().unwrap();
        let home = CodexHome::at(&folder.path().join("missing"));
        assert_eq!(home.private_config(&options()).unwrap(), "");
        assert_eq!(home.credentials(), None);
        assert!(!home.unreachable_store());
    }

    #[test]
    fn credentials_are_found_in_a_file_or_known_to_be_out_of_reach() {
        let folder = tempfile::tempdir().unwrap();
        let config = "cli_auth_credentials_store = \"keyring\"\n";
        fs::write(folder.path().join(CONFIG), config).unwrap();
        assert!(CodexHome::at(folder.path()).unreachable_store());
        fs::write(folder.path().join(CREDENTIALS), "{}").unwrap();
        let env = Environment::from_iter([("CODEX_HOME", folder.path())]);
        let home = CodexHome::read(&env);
        assert_eq!(
            home.credentials(),
            Some(folder.path().join(CREDENTIALS).as_path())
        );
        assert!(!home.unreachable_store());
    }

    proptest! {
        #[test]
        fn any_configuration_is_carried_over_or_refused(
            bytes in proptest::collection::vec(any::<u8>(), 0..64),
            text in "(model_provider|model_providers|model)[=.\\[\\]\"{}a-z0-9 \n]{0,60}",
        ) {
            for bytes in [bytes.as_slice(), text.as_bytes()] {
                if let Ok(table) = parse(bytes) {
                    let kept = toml::to_string(&carried_over(&table, &options())).unwrap();
                    prop_assert!(kept.parse::<Table>().is_ok());
                }
            }
        }
    }
}
