//! What one reviewer asks of the app server, and how the artifact shows it.

use std::path::{Path, PathBuf};

use diffwarden_actors::model::{ErrorCode, Failure};
use serde_json::{Map, Value};

use crate::engines::codex::home::CodexHome;
use crate::engines::codex::options::{Options, WebSearch};
use crate::engines::settings::ReviewerSettings;
use crate::env::Environment;

/// How the server is reached: one of its own per review, over its standard streams.
const MODE: &str = "stdio-isolated";

/// The validated choices of one reviewer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerOptions {
    /// What both transports have in common.
    pub(super) common: Options,
    /// Whose review flow runs.
    pub(super) review_mode: ReviewMode,
    /// `appServerOptions.codexHome`.
    home: Option<PathBuf>,
}

/// Whose review flow runs (`appServerOptions.reviewMode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum ReviewMode {
    /// diffwarden's, as a turn held to the result schema.
    #[default]
    Structured,
    /// Codex's own, which answers with text.
    Native,
}

impl ReviewMode {
    fn as_str(self) -> &'static str {
        match self {
            Self::Structured => "structured",
            Self::Native => "native",
        }
    }
}

impl ServerOptions {
    /// Takes what concerns the app server out of a reviewer's settings.
    ///
    /// # Errors
    ///
    /// Fails with exit code 2 when an option has an unknown value, and for a `mode` that shares a
    /// server with others: nothing would hold such a server to the isolation of a review.
    pub(super) fn from_settings(
        settings: &ReviewerSettings,
        env: &Environment,
    ) -> Result<Self, Failure> {
        let bag = &settings.options.app_server;
        let mut common = settings.clone();
        common.options.cli.remove("webSearch");
        let mut common = Options::from_settings(&common)?;
        let web_search = text(bag, "webSearch", "enabled, disabled or inherit")?;
        if let Some(word) = web_search {
            common.web_search = WebSearch::parse(word)
                .ok_or_else(|| wrong_option("webSearch", "enabled, disabled or inherit"))?;
        }
        let modes = "structured or native";
        let review_mode = match text(bag, "reviewMode", modes)? {
            None | Some("structured") => ReviewMode::Structured,
            Some("native") => ReviewMode::Native,
            Some(_) => return Err(wrong_option("reviewMode", modes)),
        };
        match text(bag, "mode", "auto or stdio-isolated")? {
            None | Some("auto" | MODE) => {}
            Some(_) => return Err(wrong_option("mode", "auto or stdio-isolated")),
        }
        let place = "an absolute path, or one that begins with ~/";
        let home = text(bag, "codexHome", place)?
            .map(|path| absolute(path, env).ok_or_else(|| wrong_option("codexHome", place)))
            .transpose()?;
        Ok(Self {
            common,
            review_mode,
            home,
        })
    }

    /// Reads the user's Codex home: `codexHome`, else `DIFFWARDEN_CODEX_HOME`, else Codex's own
    /// rule. `DIFFWARDEN_CODEX_AUTH_HOME` moves the credentials alone.
    pub(super) fn read_home(&self, env: &Environment) -> CodexHome {
        let own = || env.absolute_path("DIFFWARDEN_CODEX_HOME");
        let home = match self.home.clone().or_else(own) {
            Some(folder) => CodexHome::at(&folder),
            None => CodexHome::read(env),
        };
        match env.absolute_path("DIFFWARDEN_CODEX_AUTH_HOME") {
            Some(folder) => home.with_credentials_of(&folder),
            None => home,
        }
    }

    /// Returns the value of Codex's `web_search` key. Codex's own review flow never searches.
    pub(super) fn web_search(&self) -> Option<&'static str> {
        match self.review_mode {
            ReviewMode::Structured => self.common.web_search.mode(),
            ReviewMode::Native => WebSearch::Disabled.mode(),
        }
    }

    /// Returns the choices as `preflight.metadata` and `adapter_metadata` show them.
    pub(super) fn metadata(&self) -> Map<String, Value> {
        let mut metadata = self.common.metadata();
        let web_search = self.web_search().unwrap_or("inherit");
        for (key, value) in [
            ("webSearchMode", web_search),
            ("effectiveWebSearchMode", web_search),
            ("reviewMode", self.review_mode.as_str()),
            ("appServerMode", MODE),
        ] {
            metadata.insert(key.to_owned(), value.into());
        }
        metadata
    }
}

fn text<'a>(
    bag: &'a Map<String, Value>,
    name: &str,
    expected: &str,
) -> Result<Option<&'a str>, Failure> {
    bag.get(name)
        .map(|value| value.as_str().ok_or_else(|| wrong_option(name, expected)))
        .transpose()
}

fn absolute(path: &str, env: &Environment) -> Option<PathBuf> {
    let path = match path.strip_prefix("~/") {
        Some(rest) => env.home()?.join(rest),
        None => Path::new(path).to_path_buf(),
    };
    path.is_absolute().then_some(path)
}

fn wrong_option(name: &str, expected: &str) -> Failure {
    Failure::new(
        ErrorCode::InvalidConfig,
        format!("appServerOptions.{name} of a codex reviewer must be {expected}"),
    )
    .hint("correct the reviewer's entry in the configuration")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::engines::codex::options::tests::settings;
    use diffwarden_actors::model::Transport;
    use serde_json::json;
    use std::fs;

    pub(in crate::engines::codex::app_server) fn with(bag: &Value) -> ReviewerSettings {
        let mut settings = settings();
        settings.transport = Some(Transport::AppServer);
        settings.options.app_server = bag.as_object().unwrap().clone();
        settings
    }

    pub(in crate::engines::codex::app_server) fn options(bag: &Value) -> ServerOptions {
        ServerOptions::from_settings(&with(bag), &Environment::default()).unwrap()
    }

    #[test]
    fn the_native_flow_reports_that_it_does_not_search() {
        for (bag, policy, mode, review_mode) in [
            (json!({}), "disabled", "disabled", "structured"),
            (
                json!({"webSearch": "enabled", "mode": "auto"}),
                "enabled",
                "live",
                "structured",
            ),
            (
                json!({"webSearch": "inherit"}),
                "inherit",
                "inherit",
                "structured",
            ),
            (
                json!({"webSearch": "enabled", "reviewMode": "native"}),
                "enabled",
                "disabled",
                "native",
            ),
        ] {
            let metadata = options(&bag).metadata();
            assert_eq!(metadata["webSearchPolicy"], policy);
            assert_eq!(metadata["webSearchMode"], mode);
            assert_eq!(metadata["effectiveWebSearchMode"], mode);
            assert_eq!(metadata["reviewMode"], review_mode);
            assert_eq!(metadata["appServerMode"], "stdio-isolated");
        }
    }

    #[test]
    fn unknown_values_and_shared_servers_are_refused_with_exit_2() {
        for (key, value) in [
            ("webSearch", json!("sometimes")),
            ("reviewMode", json!("both")),
            ("reviewMode", json!(1)),
            ("mode", json!("attach")),
            ("mode", json!("launch")),
            ("codexHome", json!("relative/.codex")),
            ("codexHome", json!(false)),
        ] {
            let bag = Value::Object(Map::from_iter([(key.to_owned(), value)]));
            let settings = with(&bag);
            let failure =
                ServerOptions::from_settings(&settings, &Environment::default()).unwrap_err();
            assert_eq!(failure.exit_code(), 2);
            assert!(failure.message.contains(key), "{failure}");
        }
    }

    #[test]
    fn the_home_is_the_one_that_is_named_first() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["option", "variable", "codex", "credentials"] {
            let home = folder.path().join(name);
            fs::create_dir(&home).unwrap();
            fs::write(home.join("auth.json"), "{}").unwrap();
        }
        let path = |name: &str| folder.path().join(name);
        let found = |bag: &Value, variables: &[(&str, &str)]| {
            let env: Environment = variables
                .iter()
                .map(|(variable, name)| (*variable, path(name)))
                .collect();
            let options = ServerOptions::from_settings(&with(bag), &env).unwrap();
            let home = options.read_home(&env);
            home.credentials().map(Path::to_path_buf)
        };
        let all = [
            ("CODEX_HOME", "codex"),
            ("DIFFWARDEN_CODEX_HOME", "variable"),
        ];
        let option = json!({"codexHome": "~/option"});
        let expected = |name: &str| Some(path(name).join("auth.json"));
        let with_home = [all[0], all[1], ("HOME", "")];
        assert_eq!(found(&option, &with_home), expected("option"));
        assert_eq!(found(&json!({}), &all), expected("variable"));
        assert_eq!(found(&json!({}), &all[..1]), expected("codex"));
        let moved = [all[0], ("DIFFWARDEN_CODEX_AUTH_HOME", "credentials")];
        assert_eq!(found(&json!({}), &moved), expected("credentials"));
        let empty = [all[0], ("DIFFWARDEN_CODEX_AUTH_HOME", "missing")];
        assert_eq!(found(&json!({}), &empty), None);
    }
}
