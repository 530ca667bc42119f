//! `diffwarden config`: what holds here, and what a repository may say.

mod show;
mod trust;

use std::path::{Path, PathBuf};

use diffwarden_actors::model::Failure;
use serde::Serialize;

pub use show::{Origin, ShownConfig, ShownFile, ShownProblem, ShownSetting};
pub use trust::{TrustList, TrustedFile};

use super::args::{Config, ConfigCommand};
use super::ending::Ending;
use super::{end_of_output, print, report, working_folder};
use crate::config::{self, EffectiveConfig};
use crate::env::Environment;
use crate::exit;
use crate::git::Repository;
use crate::sinks::{Foreign, OutputMode, Redactor, output};

/// What a command has to say: as JSON, or in words.
struct Answer<T> {
    value: T,
    text: String,
    code: u8,
}

/// Answers `diffwarden config`.
pub(super) fn run(args: &Config, env: &Environment, ending: &Ending) -> u8 {
    let redactor = Redactor::new(env);
    match &args.command {
        ConfigCommand::Show(args) => {
            let answer = show::answer(args, env, Foreign(&redactor));
            tell(answer, args.json, &redactor, ending)
        }
        ConfigCommand::Trust(args) => {
            let answer = trust::answer(args, env, Foreign(&redactor));
            tell(answer, args.json, &redactor, ending)
        }
        ConfigCommand::Schema => {
            ending.tell();
            print(&format!("{:#}\n", config::config_schema()))
        }
        ConfigCommand::Path { cwd } => {
            let path = path(cwd.as_deref(), env);
            ending.tell();
            match path {
                Ok(path) => {
                    let path = Foreign(&redactor).line(&path.to_string_lossy());
                    print(&format!("{path}\n"))
                }
                Err(failure) => report(&failure, OutputMode::Human, &redactor),
            }
        }
    }
}

fn tell<T: Serialize>(
    answer: Result<Answer<T>, Failure>,
    is_json: bool,
    redactor: &Redactor,
    ending: &Ending,
) -> u8 {
    ending.tell();
    match (answer, is_json) {
        (Ok(answer), true) => {
            end_of_output(output::print_json(&answer.value, redactor), answer.code)
        }
        (Ok(answer), false) => {
            end_of_output(output::print_report(&answer.text, redactor), answer.code)
        }
        (Err(failure), true) => report(&failure, OutputMode::Json, redactor),
        (Err(failure), false) => report(&failure, OutputMode::Human, redactor),
    }
}

/// A working folder, and the root of the repository around it.
struct Place {
    cwd: PathBuf,
    repo_root: Option<PathBuf>,
}

impl Place {
    /// A folder outside of a repository is a place too.
    fn of(given: Option<&Path>, env: &Environment) -> Result<Self, Failure> {
        let cwd = working_folder(given)?;
        let repository = Repository::open(&cwd, env).ok();
        let repo_root = repository.map(|repository| repository.root().to_path_buf());
        Ok(Self { cwd, repo_root })
    }
}

/// Returns the config that is used at a place, else where the user's would lie.
fn path(given: Option<&Path>, env: &Environment) -> Result<PathBuf, Failure> {
    let place = Place::of(given, env)?;
    let used = config::used_config_path(&place.cwd, place.repo_root.as_deref(), env)?;
    used.or_else(|| config::user_config_path(env))
        .ok_or_else(|| config::missing_config(env, "HOME is not set"))
}

/// Returns the exit code of a look at a config.
fn code_of(effective: &EffectiveConfig) -> u8 {
    if effective.problems.is_empty() {
        exit::OK
    } else {
        exit::USAGE
    }
}
