//! The engines: one module each, plus the matrix of what they can do.
//!
//! An engine is pure: settings and a task in, a command or a function out, captured output in, an
//! answer out. What an engine needs to know of the machine (where its executable is, what the
//! user's own configuration says) is read once, when it is built. None of them sees git,
//! diffwarden's configuration files or other reviewers.

use std::path::PathBuf;
use std::sync::Arc;

use diffwarden_actors::engine::Engine;
use diffwarden_actors::model::{EngineName, ErrorCode, Failure, Transport};

use crate::env::Environment;

pub mod capabilities;
pub mod claude;
pub mod codex;
pub mod coherence;
pub mod executable;
pub mod fake;
pub mod gemini;
pub mod opencode;
pub mod refused;
pub mod settings;
mod shared;
pub mod surface;

use settings::ReviewerSettings;

/// The machine an engine is built for.
#[derive(Clone, Default)]
pub struct Host {
    /// The environment that engines inherit.
    pub env: Environment,
    /// The root of the reviewed work tree, absolute; nothing inside it is ever run. `None` where
    /// there is no repository, as for `doctor`.
    pub repo_root: Option<PathBuf>,
}

/// Builds the engine that `settings` ask for.
///
/// A missing executable or an unreadable engine configuration is no error here: the engine reports
/// it in preflight, so that it fails one reviewer and not the run. The `surface` engine is built
/// from what the intake scans found, by the plan.
///
/// # Errors
///
/// Fails with exit code 2 when the engine has no such transport here, or when one of its options
/// has an unknown value.
pub fn build(settings: &ReviewerSettings, host: &Host) -> Result<Arc<dyn Engine>, Failure> {
    match (settings.engine, settings.transport) {
        (EngineName::Claude, Some(Transport::Cli)) => {
            Ok(Arc::new(claude::ClaudeCli::new(settings, host)?))
        }
        (EngineName::Claude, Some(Transport::Native)) => {
            Ok(Arc::new(claude::sdk::ClaudeSdk::new(settings, host)?))
        }
        (EngineName::Codex, Some(Transport::Cli)) => {
            Ok(Arc::new(codex::CodexExec::new(settings, host)?))
        }
        (EngineName::Codex, Some(Transport::AppServer)) => {
            Ok(Arc::new(codex::CodexAppServer::new(settings, host)?))
        }
        (EngineName::Gemini, Some(Transport::Cli)) => {
            Ok(Arc::new(gemini::GeminiCli::new(settings, host)?))
        }
        (EngineName::Opencode, Some(Transport::Cli)) => {
            Ok(Arc::new(opencode::OpencodeRun::new(settings, host)?))
        }
        (EngineName::Fake, None) => Ok(Arc::new(fake::Fake)),
        (engine, transport) => Err(Failure::new(
            ErrorCode::InvalidConfig,
            match transport {
                Some(transport) => format!(
                    "the {engine} engine over its {} transport is not built yet",
                    spelled(transport)
                ),
                None => format!("the {engine} engine cannot be built without a transport"),
            },
        )
        .hint(format!("what is built: {}", built().join(", ")))),
    }
}

/// Returns the paths that the matrix calls built, as people say them.
fn built() -> Vec<String> {
    let rows = capabilities::rows().iter();
    rows.filter(|row| row.built)
        .map(capabilities::Capability::label)
        .collect()
}

/// Returns the spelling used in artifacts.
fn spelled(transport: Transport) -> &'static str {
    match transport {
        Transport::Native => "native",
        Transport::Cli => "cli",
        Transport::AppServer => "app-server",
        Transport::Acp => "acp",
    }
}

#[cfg(test)]
mod tests {
    use super::shared::testing::{asked, request, settings};
    use super::*;
    use diffwarden_actors::engine::Start;

    fn host() -> Host {
        Host {
            env: Environment::from_iter([("PATH", "/bin:/usr/bin"), ("HOME", "/none")]),
            repo_root: None,
        }
    }

    #[test]
    fn builds_what_the_matrix_calls_built_and_refuses_the_rest_with_exit_2() {
        for row in capabilities::rows() {
            let mut settings = settings(row.engine);
            settings.transport = row.transport;
            // The plan builds it, from what the intake found.
            let is_expected = row.built && row.engine != EngineName::Surface;
            match build(&settings, &host()) {
                Ok(_) => assert!(is_expected, "{}", row.label()),
                Err(failure) => {
                    assert!(!is_expected, "{}: {failure}", row.label());
                    assert_eq!(failure.exit_code(), 2);
                    assert!(failure.hint.unwrap().contains("codex over cli"));
                }
            }
        }
    }

    #[test]
    fn every_command_names_the_model_as_the_matrix_says() {
        let is_command = |row: &&capabilities::Capability| row.transport == Some(Transport::Cli);
        for row in capabilities::rows()
            .iter()
            .filter(|row| row.built)
            .filter(is_command)
        {
            let mut settings = settings(row.engine);
            settings.model = Some(asked("corp/m1".to_owned()));
            let pair = ("executable".to_owned(), "sh".into());
            settings.options.cli.extend([pair]);
            let engine = build(&settings, &host()).unwrap();
            let Ok(Start::Process { command, .. }) = engine.review(&request("", &[])) else {
                panic!("{} runs a command", row.label());
            };
            let args: Vec<_> = command.args.iter().filter_map(|arg| arg.to_str()).collect();
            let line = args.join(" ").replace('=', " ");
            let named = format!("{} corp/m1", row.model_flag.unwrap());
            assert!(line.contains(&named), "{}: {line}", row.label());
        }
    }
}
