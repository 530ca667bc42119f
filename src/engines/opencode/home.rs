//! What of the user's own OpenCode configuration goes into that of a review.
//!
//! A review must not run what the user's configuration runs (plugins, MCP servers, formatters) nor
//! read what it adds to prompts. So only the definitions of model services and the choice of a
//! model are carried over. The login is in another folder, which stays the user's.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use diffwarden_actors::model::Failure;
use serde_json::{Map, Value};

use crate::engines::shared;
use crate::env::Environment;

/// The folder below the folder for configuration.
pub(super) const FOLDER: &str = "opencode";

/// The file that a review's configuration is written to.
pub(super) const CONFIG: &str = "opencode.json";

/// The files the user's may be in, later ones over earlier ones.
const CONFIGS: [&str; 3] = ["config.json", CONFIG, "opencode.jsonc"];

/// What is carried over: which services there are and which of them may be used.
const CARRIED: [&str; 3] = ["provider", "disabled_providers", "enabled_providers"];

/// The user's own OpenCode, as far as a review needs it.
#[derive(Debug)]
pub(super) struct OpencodeHome {
    config: Result<Map<String, Value>, Failure>,
}

impl OpencodeHome {
    /// Reads the user's configuration: `opencode` in `XDG_CONFIG_HOME` when that is absolute, else
    /// in `.config` of the home; then the file that `OPENCODE_CONFIG` names.
    pub(super) fn read(env: &Environment) -> Self {
        let base = env
            .absolute_path("XDG_CONFIG_HOME")
            .or_else(|| env.home().map(|home| home.join(".config")));
        let folder = base.map(|base| base.join(FOLDER));
        let files = folder
            .into_iter()
            .flat_map(|folder| CONFIGS.map(|name| folder.join(name)));
        let files: Vec<PathBuf> = files.chain(env.absolute_path("OPENCODE_CONFIG")).collect();
        Self {
            config: merged(&files),
        }
    }

    /// Returns the model that the user's configuration chooses.
    ///
    /// # Errors
    ///
    /// Fails when the configuration cannot be read.
    pub(super) fn model(&self) -> Result<Option<&str>, Failure> {
        let config = self.config.as_ref().map_err(Clone::clone)?;
        Ok(config.get("model").and_then(Value::as_str))
    }

    /// Returns the configuration that a review starts from.
    ///
    /// # Errors
    ///
    /// Fails when the user's configuration cannot be read: a review that silently went to another
    /// service than the user's would be worse.
    pub(super) fn carried(&self) -> Result<Map<String, Value>, Failure> {
        let config = self.config.as_ref().map_err(Clone::clone)?;
        Ok(CARRIED
            .into_iter()
            .filter_map(|key| Some((key.to_owned(), config.get(key)?.clone())))
            .collect())
    }
}

/// Reads the files that are there and puts them over each other, member by member.
fn merged(files: &[PathBuf]) -> Result<Map<String, Value>, Failure> {
    let mut config = Map::new();
    for file in files {
        if let Value::Object(more) = read(file)? {
            merge(&mut config, more);
        }
    }
    Ok(config)
}

fn merge(into: &mut Map<String, Value>, more: Map<String, Value>) {
    for (key, value) in more {
        match (into.get_mut(&key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

fn read(path: &Path) -> Result<Value, Failure> {
    let unusable = |problem: &str| {
        shared::unfit(
            format!(
                "OpenCode's configuration {} cannot be used: {problem}",
                path.display()
            ),
            "correct the file, or name another folder in XDG_CONFIG_HOME",
        )
    };
    match fs::read(path) {
        Ok(bytes) => shared::parse_commented_json(&bytes).map_err(|problem| unusable(&problem)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Value::Null),
        Err(error) => Err(unusable(&error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn home(files: &[(&str, &str)]) -> (tempfile::TempDir, OpencodeHome) {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(FOLDER)).unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(FOLDER).join(name), text).unwrap();
        }
        let env = Environment::from_iter([("XDG_CONFIG_HOME", folder.path())]);
        let home = OpencodeHome::read(&env);
        (folder, home)
    }

    #[test]
    fn services_and_the_model_are_carried_over_and_what_runs_is_not() {
        let (_folder, home) = home(&[
            (
                CONFIG,
                r#"{"model": "corp/a", "provider": {"corp": {"npm": "x", "name": "C"}},
                    "plugin": ["./evil.js"], "mcp": {"evil": {}}, "permission": {"*": "allow"},
                    "instructions": ["AGENTS.md"]}"#,
            ),
            (
                "opencode.jsonc",
                r#"{"provider": {"corp": {"name": "D"}}, // mine
                    "disabled_providers": ["opencode"],}"#,
            ),
        ]);
        assert_eq!(home.model().unwrap(), Some("corp/a"));
        assert_eq!(
            Value::from(home.carried().unwrap()),
            json!({
                "provider": {"corp": {"npm": "x", "name": "D"}},
                "disabled_providers": ["opencode"],
            })
        );
    }

    #[test]
    fn a_configuration_that_cannot_be_read_is_a_failure_without_its_contents() {
        let (_folder, home) = home(&[(CONFIG, "{\"key\": sk-secret}")]);
        let failure = home.carried().unwrap_err();
        assert_eq!(home.model().unwrap_err(), failure);
        assert!(failure.message.contains("line 1"), "{failure}");
        assert!(!failure.message.contains("secret"), "{failure}");
    }

    #[test]
    fn nothing_there_is_nothing_to_carry_over() {
        let (_folder, home) = home(&[]);
        assert_eq!(home.model().unwrap(), None);
        assert!(home.carried().unwrap().is_empty());
    }
}
