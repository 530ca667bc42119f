//! The private home of a review, and what of the user's own `.gemini` folder goes into it.
//!
//! A review must not run what the user's settings run (MCP servers, hooks, extensions, memory). So
//! the private home holds links to the files of the login, which Gemini refreshes in place, and
//! settings of ours with the two of the user's that say which service and which model to use.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use diffwarden_actors::model::Failure;
use serde_json::{Map, Value, json};

use crate::engines::shared;
use crate::env::Environment;

/// The folder in a home that holds everything of Gemini's.
pub(super) const FOLDER: &str = ".gemini";

/// The settings' file in that folder.
pub(super) const SETTINGS: &str = "settings.json";

/// The files of a login.
const LOGIN: [&str; 3] = [
    "oauth_creds.json",
    "google_accounts.json",
    "gemini-credentials.json",
];

/// The variables that may come from the user's `.gemini/.env`: credentials and the choice of the
/// service. Others could undo the policy.
const CARRIED: [&str; 13] = [
    "GEMINI_API_KEY",
    "GEMINI_MODEL",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_CLOUD_PROJECT_ID",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_VERTEX_BASE_URL",
    "HTTPS_PROXY",
    "NODE_EXTRA_CA_CERTS",
];

/// The user's own Gemini, as far as a review needs it.
#[derive(Debug)]
pub(super) struct GeminiHome {
    settings: Result<Value, Failure>,
    login: Vec<(&'static str, PathBuf)>,
    variables: String,
    has_key: bool,
    has_other_login: bool,
}

impl GeminiHome {
    /// Reads `.gemini` in the home: `GEMINI_CLI_HOME` when it is absolute, else the user's.
    pub(super) fn read(env: &Environment) -> Self {
        let home = env.absolute_path("GEMINI_CLI_HOME").or_else(|| env.home());
        let folder = home.map(|home| home.join(FOLDER));
        let variables = folder
            .as_deref()
            .and_then(|folder| fs::read_to_string(folder.join(".env")).ok())
            .map(|text| carried(&text))
            .unwrap_or_default();
        let is_set = |name: &str| {
            env.text(name).is_some() || variables.lines().any(|line| variable(line) == Some(name))
        };
        Self {
            has_key: is_set("GEMINI_API_KEY"),
            has_other_login: is_set("GOOGLE_GENAI_USE_GCA") || is_set("GOOGLE_GENAI_USE_VERTEXAI"),
            settings: folder.as_deref().map_or(Ok(Value::Null), read_settings),
            login: folder.as_deref().map(login).unwrap_or_default(),
            variables,
        }
    }

    /// Tells whether the user's settings could be read.
    ///
    /// # Errors
    ///
    /// Fails when there are some that cannot be: a review that silently logged in another way than
    /// the user does would be worse.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.settings.as_ref().map(|_| ()).map_err(Clone::clone)
    }

    /// Returns the links that bring the login into a home, relative to it.
    pub(super) fn links(&self) -> impl Iterator<Item = (PathBuf, PathBuf)> {
        self.login
            .iter()
            .map(|(name, target)| (Path::new(FOLDER).join(name), target.clone()))
    }

    /// Returns the variables for the private `.env`, which also ends Gemini's search for one.
    pub(super) fn variables(&self) -> &str {
        &self.variables
    }

    /// Returns the private settings: `tools` may be used, `folders` may be read beside the working
    /// folder. The user's model is kept unless the reviewer `has_model`.
    ///
    /// # Errors
    ///
    /// Fails when the user's settings cannot be read.
    pub(super) fn private_settings(
        &self,
        tools: &[&str],
        folders: &[&str],
        has_model: bool,
    ) -> Result<Value, Failure> {
        let users = self.settings.as_ref().map_err(Clone::clone)?;
        let text_at = |path: &str| users.pointer(path).and_then(Value::as_str);
        let mut settings = policy_settings(tools, folders);
        // With an address of its own Gemini would look for a gateway, which a headless run cannot
        // use, although there is a key.
        let by_key = self.has_key && !self.has_other_login;
        let login =
            text_at("/security/auth/selectedType").or_else(|| by_key.then_some("gemini-api-key"));
        if let Some(login) = login {
            settings.insert(
                "security".to_owned(),
                json!({"auth": {"selectedType": login}}),
            );
        }
        if let Some(model) = text_at("/model/name").filter(|_| !has_model) {
            settings.insert("model".to_owned(), json!({"name": model}));
        }
        Ok(Value::Object(settings))
    }
}

/// Returns what every review sets: few retries, nothing sent or updated that is no part of it, no
/// instructions beside the prompt, and the tools that exist at all.
fn policy_settings(tools: &[&str], folders: &[&str]) -> Map<String, Value> {
    let settings = json!({
        "general": {
            "enableAutoUpdate": false,
            "enableAutoUpdateNotification": false,
            "checkpointing": {"enabled": false},
            "maxAttempts": 3,
        },
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "context": {
            "fileName": ["diffwarden-no-context-file.md"],
            "includeDirectoryTree": false,
            "includeDirectories": folders,
            "loadMemoryFromIncludeDirectories": false,
            "fileFiltering": {"enableRecursiveFileSearch": false},
        },
        "tools": {"core": tools},
        "skills": {"enabled": false},
        "hooksConfig": {"enabled": false},
        "experimental": {"enableAgents": false, "autoMemory": false},
        "advanced": {"ignoreLocalEnv": true, "autoConfigureMemory": false},
    });
    match settings {
        Value::Object(settings) => settings,
        _ => Map::new(),
    }
}

fn login(folder: &Path) -> Vec<(&'static str, PathBuf)> {
    LOGIN
        .into_iter()
        .map(|name| (name, folder.join(name)))
        .filter(|(_, path)| path.is_file())
        .collect()
}

fn read_settings(folder: &Path) -> Result<Value, Failure> {
    let path = folder.join(SETTINGS);
    let unusable = |problem: &str| {
        shared::unfit(
            format!(
                "Gemini's settings {} cannot be used: {problem}",
                path.display()
            ),
            "correct the file, or name another home in GEMINI_CLI_HOME",
        )
    };
    match fs::read(&path) {
        Ok(bytes) => shared::parse_commented_json(&bytes).map_err(|problem| unusable(&problem)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Value::Null),
        Err(error) => Err(unusable(&error.to_string())),
    }
}

/// Keeps the lines of a `.env` file that set one of [`CARRIED`].
fn carried(text: &str) -> String {
    text.lines()
        .filter(|line| variable(line).is_some_and(|name| CARRIED.contains(&name)))
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// Returns the name that a line of a `.env` file sets.
fn variable(line: &str) -> Option<&str> {
    let (name, _) = line.split_once('=')?;
    let name = name.trim();
    let name = name.strip_prefix("export ").map_or(name, str::trim);
    (!name.is_empty() && !name.starts_with('#')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use diffwarden_actors::model::ErrorCode;

    fn home(files: &[(&str, &str)], env: &[(&str, &str)]) -> (tempfile::TempDir, GeminiHome) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(FOLDER)).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(FOLDER).join(name), text).unwrap();
        }
        let own = ("GEMINI_CLI_HOME", folder.path().to_str().unwrap());
        let env = Environment::from_iter(env.iter().copied().chain([own]));
        let home = GeminiHome::read(&env);
        (folder, home)
    }

    #[test]
    fn only_the_login_and_the_model_are_carried_over() {
        let settings = r#"{
            // who I am
            "security": {"auth": {"selectedType": "oauth-personal" /* mine */}},
            "model": {"name": "pro"},
            "mcpServers": {"evil": {"command": "//not a comment"}},
            "hooks": {}
        }"#;
        let (folder, home) = home(
            &[(SETTINGS, settings), ("oauth_creds.json", "{}")],
            &[("GEMINI_API_KEY", "k")],
        );
        let private = home
            .private_settings(&["read_file"], &["/repo"], false)
            .unwrap();
        insta::assert_json_snapshot!(private);
        let links: Vec<_> = home.links().collect();
        let target = folder.path().join(".gemini/oauth_creds.json");
        assert_eq!(links, [(".gemini/oauth_creds.json".into(), target)]);
        let other = home.private_settings(&[], &[], true).unwrap();
        assert_eq!(other.get("model"), None);
    }

    #[test]
    fn a_key_logs_in_where_nothing_else_is_chosen() {
        let chosen = |files: &[(&str, &str)], env: &[(&str, &str)]| {
            let settings = home(files, env)
                .1
                .private_settings(&[], &[], false)
                .unwrap();
            let login = settings.pointer("/security/auth/selectedType").cloned();
            login.map(|login| login.as_str().unwrap().to_owned())
        };
        let by_key = Some("gemini-api-key".to_owned());
        assert_eq!(chosen(&[], &[("GEMINI_API_KEY", "k")]), by_key);
        assert_eq!(chosen(&[(".env", "GEMINI_API_KEY=k\n")], &[]), by_key);
        assert_eq!(chosen(&[], &[]), None);
        let vertex = [
            ("GEMINI_API_KEY", "k"),
            ("GOOGLE_GENAI_USE_VERTEXAI", "true"),
        ];
        assert_eq!(chosen(&[], &vertex), None);
    }

    #[test]
    fn variables_that_could_undo_the_policy_stay_behind() {
        let text = "# c\nexport GEMINI_API_KEY = \"k\"\nGEMINI_CLI_TRUST_WORKSPACE=true\n\
                    GEMINI_SYSTEM_MD=1\nGOOGLE_CLOUD_PROJECT=p";
        let (_folder, home) = home(&[(".env", text)], &[]);
        assert_eq!(
            home.variables(),
            "export GEMINI_API_KEY = \"k\"\nGOOGLE_CLOUD_PROJECT=p\n"
        );
    }

    #[test]
    fn settings_that_cannot_be_read_are_a_failure_without_their_contents() {
        let (_folder, home) = home(&[(SETTINGS, "{\n\"key\": sk-secret}")], &[]);
        let failure = home.check().unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        assert!(failure.message.contains("line 2"), "{failure}");
        assert!(!failure.message.contains("secret"), "{failure}");
        assert!(home.private_settings(&[], &[], false).is_err());
    }

    #[test]
    fn nothing_there_is_nothing_to_carry_over() {
        let env = Environment::from_iter([("GEMINI_CLI_HOME", "/no/such/folder")]);
        let home = GeminiHome::read(&env);
        assert!(home.check().is_ok());
        assert_eq!((home.links().count(), home.variables()), (0, ""));
    }
}
