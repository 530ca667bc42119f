//! `config trust`: which project configs may say what only a user may say.

use std::path::{Path, PathBuf};

use diffwarden_actors::model::{ErrorCode, Failure};
use schemars::JsonSchema;
use serde::Serialize;

use super::show::Trust;
use super::{Answer, Place};
use crate::cli::args::ConfigTrust;
use crate::config::{self, NewlyTrusted, Standing, TrustStore};
use crate::env::Environment;
use crate::exit;
use crate::sinks::Foreign;

/// The answer of `config trust --json`: what is trusted afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrustList {
    /// The version of this shape.
    pub schema_version: u32,
    /// The file that remembers it.
    pub store: String,
    /// The trusted project configs.
    pub trusted: Vec<TrustedFile>,
}

/// A trusted project config, as it is listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TrustedFile {
    /// Its path.
    pub path: String,
    /// The SHA-256 of the content that is trusted, in hexadecimal.
    pub sha256: String,
    /// Whether that content still lies there; absent when nothing can be read there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<Trust>,
}

/// Does what was asked for and says what is trusted.
pub(super) fn answer(
    args: &ConfigTrust,
    env: &Environment,
    foreign: Foreign<'_>,
) -> Result<Answer<TrustList>, Failure> {
    let text = match (args.list, args.remove) {
        (true, true) => {
            let message = "--list and --remove do not go together";
            return Err(Failure::new(ErrorCode::InvalidCli, message));
        }
        (true, false) => None,
        (false, true) => Some(remove(args, env, foreign)?),
        (false, false) => {
            let trusted = config::trust_project_config(&file(args, env)?, env)?;
            Some(trusted_text(&trusted, foreign))
        }
    };
    let value = list(&TrustStore::read(env)?);
    let text = text.unwrap_or_else(|| value.to_text(foreign));
    let code = exit::OK;
    Ok(Answer { value, text, code })
}

/// Returns the file that is meant.
fn file(args: &ConfigTrust, env: &Environment) -> Result<PathBuf, Failure> {
    let place = Place::of(args.cwd.as_deref(), env)?;
    if let Some(file) = &args.file {
        return Ok(place.cwd.join(file));
    }
    config::project_config_path(&place.cwd, place.repo_root.as_deref(), env)?.ok_or_else(|| {
        Failure::new(ErrorCode::InvalidConfig, "no project config is used here")
            .hint("name the file; your own config needs no trust")
    })
}

fn remove(args: &ConfigTrust, env: &Environment, foreign: Foreign<'_>) -> Result<String, Failure> {
    let given = file(args, env)?;
    let path = resolve(&given);
    let shown = foreign.line(&path.to_string_lossy());
    let mut store = TrustStore::read(env)?;
    if !store.remove(&path) {
        let message = format!("nothing is trusted at {shown}");
        return Err(Failure::new(ErrorCode::InvalidCli, message)
            .hint("`diffwarden config trust --list` says what is"));
    }
    store.write()?;
    Ok(format!("No longer trusted: {shown}\n"))
}

/// Resolves links as far as there is something; a file that is gone may be forgotten too.
fn resolve(path: &Path) -> PathBuf {
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    path.canonicalize()
        .ok()
        .or_else(|| Some(folder?.join(path.file_name()?)))
        .or_else(|| std::path::absolute(path).ok())
        .unwrap_or_else(|| path.to_owned())
}

fn trusted_text(trusted: &NewlyTrusted, foreign: Foreign<'_>) -> String {
    let mut lines = vec![
        format!("Trusted: {}", foreign.line(&trusted.path.to_string_lossy())),
        format!("  sha256 {}", trusted.sha256),
    ];
    if trusted.granted.is_empty() {
        lines.push("It says nothing that needs trust.".to_owned());
    } else {
        lines.push("As long as it does not change, it may set:".to_owned());
        let granted = trusted.granted.iter().map(|at| foreign.line(at));
        lines.extend(granted.map(|at| format!("  {at}")));
    }
    lines.join("\n") + "\n"
}

fn list(store: &TrustStore) -> TrustList {
    let trusted = store.configs().map(|config| TrustedFile {
        path: config.path.display().to_string(),
        sha256: config.sha256.to_owned(),
        state: config.standing.map(|standing| match standing {
            Standing::Trusted => Trust::Trusted,
            Standing::Changed | Standing::Unknown => Trust::Changed,
        }),
    });
    TrustList {
        schema_version: 1,
        store: store.path().display().to_string(),
        trusted: trusted.collect(),
    }
}

impl TrustList {
    fn to_text(&self, foreign: Foreign<'_>) -> String {
        if self.trusted.is_empty() {
            return "No project config is trusted.\n".to_owned();
        }
        let line = |file: &TrustedFile| {
            let state = match file.state {
                Some(Trust::Trusted) => "trusted",
                Some(Trust::Changed | Trust::Untrusted) => "changed since, so not trusted",
                None => "cannot be read",
            };
            format!("{}  {} ({state})\n", file.sha256, foreign.line(&file.path))
        };
        self.trusted.iter().map(line).collect()
    }
}
