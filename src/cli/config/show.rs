//! `config show`: the values that hold here, where each comes from, and what is wrong.

use diffwarden_actors::model::{ErrorCode, Failure};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::{Answer, Place, code_of};
use crate::cli::args::ConfigShow;
use crate::config::{
    EffectiveConfig, ExaminedFile, FileRole, FileState, Inquiry, SelectionFlags, Setting, Source,
    Standing,
};
use crate::env::Environment;
use crate::sinks::Foreign;

/// The answer of `config show --json`.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ShownConfig {
    /// The version of this shape.
    pub schema_version: u32,
    /// The files that have a say, or would have one if they existed.
    pub files: Vec<ShownFile>,
    /// What the files say, with diffwarden's defaults; empty when they are wrong.
    pub settings: Vec<ShownSetting>,
    /// What a review with the same flags would use; empty when it could not start.
    pub run: Vec<ShownSetting>,
    /// What keeps such a review from starting.
    pub problems: Vec<ShownProblem>,
    /// What is strange, and keeps nobody from anything.
    pub notes: Vec<String>,
}

/// A config file, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownFile {
    /// Its path.
    pub path: String,
    /// What it is.
    pub role: Role,
    /// What became of it.
    pub state: State,
    /// The SHA-256 of its bytes, in hexadecimal, if they were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// Whether the user trusts the content of a project config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trust: Option<Trust>,
}

/// What a config file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The config of the repository.
    Project,
    /// The config of the user.
    User,
    /// The overlay of the user config.
    Overlay,
}

/// What became of a config file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is used.
    Used,
    /// It is there, and not used.
    Unused,
    /// It is not there.
    Missing,
}

/// How the content of a project config stands with the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// It is trusted.
    Trusted,
    /// Another content was trusted.
    Changed,
    /// Nobody ever trusted it; it chooses among what the user has.
    Untrusted,
}

/// A value, as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ShownSetting {
    /// The path of its key, such as `reviewPlan.includeOverview` or `reviewers[main].model`.
    pub key: String,
    /// The value; what may be a secret is not shown.
    pub value: Value,
    /// Who set it.
    pub origin: Origin,
}

/// Who set a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Origin {
    /// What kind of source it is.
    pub kind: OriginKind,
    /// The name of the variable or of the flag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'static str>,
}

/// The kinds of sources, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OriginKind {
    /// Nobody: it is diffwarden's default.
    Default,
    /// The user config.
    User,
    /// The overlay of the user config.
    Overlay,
    /// The project config.
    Project,
    /// An environment variable.
    Environment,
    /// A flag of the command line.
    Flag,
}

/// Something that is wrong, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShownProblem {
    /// The code that a review would end with.
    pub code: ErrorCode,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// Looks at the config of a place.
pub(super) fn answer(
    args: &ConfigShow,
    env: &Environment,
    foreign: Foreign<'_>,
) -> Result<Answer<ShownConfig>, Failure> {
    let place = Place::of(args.cwd.as_deref(), env)?;
    let inquiry = Inquiry {
        cwd: place.cwd,
        repo_root: place.repo_root,
        flags: SelectionFlags {
            reviewers: args.reviewers.clone(),
            reviewer_set: args.reviewer_set.clone(),
            model: args.model.clone(),
            effort: args.effort.clone(),
            fallback_model: args.fallback_model.clone(),
            timeout: args.timeout.clone(),
        },
        jobs: args.jobs.map(usize::from),
        trusted: args.trust.trust_project_config.clone(),
    };
    let effective = EffectiveConfig::examine(&inquiry, env)?;
    let code = code_of(&effective);
    let value = ShownConfig::from(effective);
    let text = value.to_text(foreign);
    Ok(Answer { value, text, code })
}

impl From<EffectiveConfig> for ShownConfig {
    fn from(effective: EffectiveConfig) -> Self {
        let settings = |settings: Vec<Setting>| settings.into_iter().map(Into::into).collect();
        Self {
            schema_version: 1,
            files: effective.files.iter().map(ShownFile::from).collect(),
            settings: settings(effective.settings),
            run: settings(effective.run),
            problems: effective.problems.into_iter().map(Into::into).collect(),
            notes: effective.notes,
        }
    }
}

impl From<&ExaminedFile> for ShownFile {
    fn from(file: &ExaminedFile) -> Self {
        Self {
            path: file.path.display().to_string(),
            role: match file.role {
                FileRole::Project => Role::Project,
                FileRole::User => Role::User,
                FileRole::Overlay => Role::Overlay,
            },
            state: match file.state {
                FileState::Used => State::Used,
                FileState::Unused => State::Unused,
                FileState::Missing => State::Missing,
            },
            sha256: file.sha256.clone(),
            trust: file.standing.map(|standing| match standing {
                Standing::Trusted => Trust::Trusted,
                Standing::Changed => Trust::Changed,
                Standing::Unknown => Trust::Untrusted,
            }),
        }
    }
}

impl From<Setting> for ShownSetting {
    fn from(setting: Setting) -> Self {
        let (kind, name) = match setting.origin {
            Source::Default => (OriginKind::Default, None),
            Source::User => (OriginKind::User, None),
            Source::Overlay => (OriginKind::Overlay, None),
            Source::Project => (OriginKind::Project, None),
            Source::Environment { name } => (OriginKind::Environment, Some(name)),
            Source::Flag { name } => (OriginKind::Flag, Some(name)),
        };
        Self {
            key: setting.key,
            value: setting.value,
            origin: Origin { kind, name },
        }
    }
}

impl From<Failure> for ShownProblem {
    fn from(failure: Failure) -> Self {
        Self {
            code: failure.code,
            message: failure.message,
            hint: failure.hint,
        }
    }
}

impl Origin {
    fn label(self) -> &'static str {
        match (self.kind, self.name) {
            (_, Some(name)) => name,
            (OriginKind::User, _) => "user config",
            (OriginKind::Overlay, _) => "overlay",
            (OriginKind::Project, _) => "project config",
            _ => "default",
        }
    }
}

impl ShownConfig {
    /// Returns the answer for people, ending in a line feed.
    fn to_text(&self, foreign: Foreign<'_>) -> String {
        let mut lines = vec!["Files".to_owned()];
        lines.extend(self.files.iter().flat_map(|file| file.lines(foreign)));
        for (title, settings) in [
            ("Settings", &self.settings),
            ("A review would use", &self.run),
        ] {
            if !settings.is_empty() {
                lines.extend([String::new(), title.to_owned()]);
                lines.extend(settings.iter().map(|setting| setting.line(foreign)));
            }
        }
        if !self.problems.is_empty() {
            lines.extend([String::new(), "Problems".to_owned()]);
            lines.extend(self.problems.iter().flat_map(|it| it.lines(foreign)));
        }
        if !self.notes.is_empty() {
            lines.extend([String::new(), "Notes".to_owned()]);
            let notes = self.notes.iter().map(|note| foreign.line(note));
            lines.extend(notes.map(|note| format!("  {note}")));
        }
        lines.join("\n") + "\n"
    }
}

impl ShownFile {
    fn lines(&self, foreign: Foreign<'_>) -> Vec<String> {
        let role = match self.role {
            Role::Project => "project config",
            Role::User => "user config",
            Role::Overlay => "overlay",
        };
        let state = match self.state {
            State::Used => "",
            State::Unused => " (not used)",
            State::Missing => " (not there)",
        };
        let mut lines = vec![format!("  {role}{state}: {}", foreign.line(&self.path))];
        if let Some(sha256) = &self.sha256 {
            let trust = match self.trust {
                None => "",
                Some(Trust::Trusted) => " (trusted)",
                Some(Trust::Changed) => " (not the content that was trusted)",
                Some(Trust::Untrusted) => " (not trusted: it only chooses among what you have)",
            };
            lines.push(format!("    sha256 {sha256}{trust}"));
        }
        lines
    }
}

impl ShownSetting {
    fn line(&self, foreign: Foreign<'_>) -> String {
        let key = foreign.line(&self.key);
        let value = foreign.line(&self.value.to_string());
        format!("  {key} = {value}  [{}]", self.origin.label())
    }
}

impl ShownProblem {
    fn lines(&self, foreign: Foreign<'_>) -> Vec<String> {
        let hint = self.hint.iter().map(|hint| format!("hint: {hint}"));
        let texts = std::iter::once(self.message.clone()).chain(hint);
        texts
            .flat_map(|text| foreign.lines(&text))
            .map(|line| format!("  {line}"))
            .collect()
    }
}
