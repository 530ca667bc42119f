//! `reviewers list`: what the config says about reviewers, without resolving a target, running an
//! engine or spending anything (SPEC 5.2).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use diffwarden_actors::model::{EngineName, Failure, Transport};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::args::{Reviewers, ReviewersCommand, ReviewersList};
use super::{end_of_output, report, working_folder};
use crate::config::{self, ConfigFile, LoadedConfig, ReviewerEntry};
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

/// Answers `diffwarden reviewers`.
pub(super) fn run(args: &Reviewers, env: &Environment) -> u8 {
    let ReviewersCommand::List(args) = &args.command;
    let redactor = Redactor::new(env);
    let mode = if args.json {
        OutputMode::Json
    } else {
        OutputMode::Human
    };
    match load(args, env) {
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

fn load(args: &ReviewersList, env: &Environment) -> Result<LoadedConfig, Failure> {
    let cwd = working_folder(args.cwd.as_deref())?;
    // Without a repository there may still be a config, so a folder outside of one is no error.
    let repository = Repository::open(&cwd, env).ok();
    let root = repository.as_ref().map(Repository::root);
    config::load(&cwd, root, env)?
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

fn list_reviewer(entry: &ReviewerEntry) -> ListedReviewer {
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
