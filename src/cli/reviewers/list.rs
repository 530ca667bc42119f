//! `reviewers list`: what the config says about reviewers, without resolving a target, running an
//! engine or spending anything (SPEC 5.2).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use diffwarden_actors::model::{EngineName, Failure, Transport};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::ListArgs;
use crate::cli::ending::Ending;
use crate::cli::{end_of_output, report, working_folder};
use crate::config::{self, ConfigFile, ConfiguredReviewer, LoadedConfig};
use crate::env::Environment;
use crate::exit;
use crate::git::Repository;
use crate::sinks::{OutputMode, Redactor, output};

/// The answer of `reviewers list --json`. It never holds an option bag.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ReviewerList {
    /// The version of this shape.
    pub schema_version: u32,
    /// The file it was read from.
    pub config: ListedConfig,
    /// The set that runs when nobody is named.
    #[serde(rename = "defaultReviewerSet", skip_serializing_if = "Option::is_none")]
    pub default_reviewer_set: Option<String>,
    /// The members of every set, in the order of the file.
    #[serde(rename = "reviewerSets")]
    #[schemars(with = "BTreeMap<String, Vec<String>>")]
    pub reviewer_sets: Map<String, Value>,
    /// The configured reviewers, in the order of the file.
    pub reviewers: Vec<ListedReviewer>,
}

/// A config file, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedConfig {
    /// Its path.
    pub path: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
    /// The overlay that was laid over it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlay: Option<ListedOverlay>,
}

/// The overlay of a user config, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedOverlay {
    /// Its path.
    pub path: String,
    /// The SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// A configured reviewer, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ListedReviewer {
    /// The name it is selected and reported by.
    pub id: String,
    /// Its engine.
    pub engine: EngineName,
    /// Whether it may be selected.
    pub enabled: bool,
    /// The profile it is also selected by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// How its engine is reached, as artifacts spell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<Transport>,
    /// The provider it routes through.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model it asks for; the engine's default of diffwarden when it names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The effort it names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
}

/// Answers `diffwarden reviewers list`.
pub(super) fn run(args: &ListArgs, env: &Environment, ending: &Ending) -> u8 {
    let redactor = Redactor::new(env);
    let mode = if args.json {
        OutputMode::Json
    } else {
        OutputMode::Human
    };
    let loaded = load(args, env);
    ending.tell();
    match loaded {
        Ok(loaded) => {
            let list = list_reviewers(&loaded);
            let printed = if args.json {
                output::print_json(&list, &redactor)
            } else {
                output::print_report(&list.to_text(), &redactor)
            };
            end_of_output(printed, exit::OK)
        }
        Err(failure) => report(&failure, mode, &redactor),
    }
}

fn load(args: &ListArgs, env: &Environment) -> Result<LoadedConfig, Failure> {
    let cwd = working_folder(args.cwd.as_deref())?;
    // Without a repository there may still be a config, so a folder outside of one is no error.
    let repository = Repository::open(&cwd, env).ok();
    let root = repository.as_ref().map(Repository::root);
    let trusted = args.trust.trust_project_config.as_deref();
    config::load_trusting(&cwd, root, trusted, env)?
        .ok_or_else(|| config::missing_config(env, "there are no reviewers to list"))
}

/// Returns what `reviewers list` has to say about a config.
pub fn list_reviewers(loaded: &LoadedConfig) -> ReviewerList {
    let config = &loaded.config;
    ReviewerList {
        schema_version: 2,
        config: ListedConfig {
            path: loaded.path.display().to_string(),
            sha256: loaded.sha256.clone(),
            overlay: loaded.overlay.as_ref().map(list_overlay),
        },
        default_reviewer_set: config.default_reviewer_set.clone(),
        reviewer_sets: config
            .reviewer_sets
            .iter()
            .map(|set| (set.name.clone(), Value::from(set.members.clone())))
            .collect(),
        reviewers: config.reviewers.iter().map(list_reviewer).collect(),
    }
}

fn list_overlay(overlay: &ConfigFile) -> ListedOverlay {
    ListedOverlay {
        path: overlay.path.display().to_string(),
        sha256: overlay.sha256.clone(),
    }
}

fn list_reviewer(entry: &ConfiguredReviewer) -> ListedReviewer {
    ListedReviewer {
        id: entry.id.clone(),
        engine: entry.engine,
        enabled: entry.enabled,
        profile: entry.profile.clone(),
        transport: entry.capability().transport,
        provider: entry.provider.clone(),
        model: entry.effective_model().map(str::to_owned),
        effort: entry.effort.map(|effort| effort.to_string()),
    }
}

impl ReviewerList {
    /// Returns the list for people, ending in a line feed. Text of the config is passed on as it
    /// is; whoever prints it makes it safe for terminals.
    pub fn to_text(&self) -> String {
        self.lines().join("\n") + "\n"
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("Config: {}", self.config.path)];
        if let Some(overlay) = &self.config.overlay {
            lines.push(format!("Overlay: {}", overlay.path));
        }
        let default = self.default_reviewer_set.as_deref().unwrap_or("(none)");
        lines.push(format!("Default reviewer set: {default}"));
        lines.extend([String::new(), "Reviewer sets".to_owned()]);
        lines.extend(or_none(self.reviewer_sets.iter().map(set_line)));
        lines.extend([String::new(), "Reviewers".to_owned()]);
        lines.extend(or_none(self.reviewers.iter().map(ListedReviewer::line)));
        lines
    }
}

fn or_none(lines: impl Iterator<Item = String>) -> Vec<String> {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        return vec!["  (none configured)".to_owned()];
    }
    lines
}

fn set_line((name, members): (&String, &Value)) -> String {
    let members: Vec<&str> = members
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let members = if members.is_empty() {
        "(empty)".to_owned()
    } else {
        members.join(", ")
    };
    format!("  {name}: {members}")
}

impl ListedReviewer {
    fn line(&self) -> String {
        let mut line = format!("  {}: {}", self.id, self.engine);
        let transport = self.transport.map(|transport| match transport {
            Transport::Native => "native",
            Transport::Cli => "cli",
            Transport::AppServer => "app-server",
            Transport::Acp => "acp",
        });
        for (name, value) in [
            ("transport", transport),
            ("profile", self.profile.as_deref()),
            ("provider", self.provider.as_deref()),
            ("model", self.model.as_deref()),
            ("effort", self.effort.as_deref()),
        ] {
            if let Some(value) = value {
                write!(line, ", {name} {value}").expect("writing to a string succeeds");
            }
        }
        if !self.enabled {
            line.push_str(", disabled");
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::config;
    use crate::env::Environment;

    fn list(base: &str, overlay: Option<&str>) -> ReviewerList {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".config/diffwarden");
        let cwd = home.path().join("work");
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(&cwd).unwrap();
        fs::write(folder.join("diffwarden.config.json"), base).unwrap();
        if let Some(overlay) = overlay {
            fs::write(folder.join("diffwarden.config.local.json"), overlay).unwrap();
        }
        let environment: Environment = [("HOME", home.path())].into_iter().collect();
        let mut list = list_reviewers(&config::load(&cwd, None, &environment).unwrap().unwrap());
        list.config.path = list
            .config
            .path
            .replace(home.path().to_str().unwrap(), "{HOME}");
        list
    }

    const MANY: &str = r#"{"defaultReviewerSet": "1",
        "reviewerSets": {"1": ["a", "b|c"], "none": []},
        "reviewers": [
            {"id": "a", "engine": "codex"},
            {"id": "b|c", "engine": "claude", "enabled": false, "profile": "x", "effort": "high"},
            {"id": "d", "engine": "cursor", "transport": "cli", "provider": "p"},
            {"id": "e", "engine": "codex", "transport": "app-server",
             "cliOptions": {"secret": "S3CRET"}, "providerOptions": {"k": "S3CRET"},
             "sdkOptions": {"k": "S3CRET"}},
            {"id": "f", "engine": "pi", "transport": "sdk", "model": "m"}
        ]}"#;

    #[test]
    fn the_json_form_is_the_contract() {
        let mut list = list(MANY, None);
        assert_eq!(list.config.sha256.len(), 64);
        list.config.sha256 = "(sha256)".to_owned();
        insta::assert_snapshot!(serde_json::to_string_pretty(&list).unwrap(), @r#"
        {
          "schema_version": 2,
          "config": {
            "path": "{HOME}/.config/diffwarden/diffwarden.config.json",
            "sha256": "(sha256)"
          },
          "defaultReviewerSet": "1",
          "reviewerSets": {
            "1": [
              "a",
              "b|c"
            ],
            "none": []
          },
          "reviewers": [
            {
              "id": "a",
              "engine": "codex",
              "enabled": true,
              "transport": "cli"
            },
            {
              "id": "b|c",
              "engine": "claude",
              "enabled": false,
              "profile": "x",
              "transport": "native",
              "model": "sonnet",
              "effort": "high"
            },
            {
              "id": "d",
              "engine": "cursor",
              "enabled": true,
              "transport": "cli",
              "provider": "p",
              "model": "composer-2.5"
            },
            {
              "id": "e",
              "engine": "codex",
              "enabled": true,
              "transport": "app-server"
            },
            {
              "id": "f",
              "engine": "pi",
              "enabled": true,
              "transport": "native",
              "model": "m"
            }
          ]
        }
        "#);
    }

    #[test]
    fn the_text_form_shows_the_same() {
        insta::assert_snapshot!(list(MANY, None).to_text(), @r#"
        Config: {HOME}/.config/diffwarden/diffwarden.config.json
        Default reviewer set: 1

        Reviewer sets
          1: a, b|c
          none: (empty)

        Reviewers
          a: codex, transport cli
          b|c: claude, transport native, profile x, model sonnet, effort high, disabled
          d: cursor, transport cli, provider p, model composer-2.5
          e: codex, transport app-server
          f: pi, transport native, model m
        "#);
        insta::assert_snapshot!(list("{}", None).to_text(), @r#"
        Config: {HOME}/.config/diffwarden/diffwarden.config.json
        Default reviewer set: (none)

        Reviewer sets
          (none configured)

        Reviewers
          (none configured)
        "#);
    }

    #[test]
    fn an_empty_config_lists_nothing() {
        let list = list("{}\n", None);
        let value = serde_json::to_value(&list).unwrap();
        assert_eq!(
            value,
            serde_json::json!({
                "schema_version": 2,
                "config": {
                    "path": "{HOME}/.config/diffwarden/diffwarden.config.json",
                    "sha256": "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"
                },
                "reviewerSets": {},
                "reviewers": []
            })
        );
    }

    #[test]
    fn the_overlay_is_merged_and_named() {
        let list = list(
            r#"{"defaultReviewerSet": "1", "reviewerSets": {"1": ["a"], "2": ["a", "b"]},
                "reviewers": [{"id": "a", "engine": "codex", "model": "base", "effort": "low"},
                              {"id": "b", "engine": "grok"}]}"#,
            Some(
                r#"{"defaultReviewerSet": "2", "reviewerSets": {"1": ["b"]},
                    "reviewers": [{"id": "a", "model": "local"}, {"id": "c", "engine": "pi"}]}"#,
            ),
        );
        assert_eq!(list.default_reviewer_set.as_deref(), Some("2"));
        assert_eq!(list.reviewer_sets["1"], serde_json::json!(["b"]));
        assert_eq!(list.reviewers[0].model.as_deref(), Some("local"));
        assert_eq!(list.reviewers[0].effort.as_deref(), Some("low"));
        assert_eq!(list.reviewers[2].id, "c");
        assert!(list.config.overlay.is_some());
    }
}
