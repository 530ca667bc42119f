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
mod cli;
pub mod codex;
pub mod executable;
pub mod fake;
pub mod gemini;
pub mod opencode;
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
        (EngineName::Codex, Some(Transport::Cli)) => {
            Ok(Arc::new(codex::CodexExec::new(settings, host)?))
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
        .hint(
            "`claude`, `codex`, `gemini` and `opencode` over `cli` are built, and so are `surface` \
             and `fake`",
        )),
    }
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
    use super::settings::EngineOptions;
    use super::*;
    use diffwarden_actors::model::ReviewerId;

    fn settings(engine: EngineName, transport: Option<Transport>) -> ReviewerSettings {
        ReviewerSettings {
            id: ReviewerId(engine.as_str().to_owned()),
            engine,
            transport,
            profile: None,
            provider: None,
            model: None,
            effort: None,
            fallback_model: None,
            max_turns: None,
            max_budget_usd: None,
            timeout: None,
            options: EngineOptions::default(),
        }
    }

    #[test]
    fn builds_what_is_there_and_refuses_the_rest_with_exit_2() {
        let host = Host::default();
        for (engine, transport, is_built) in [
            (EngineName::Codex, Some(Transport::Cli), true),
            (EngineName::Codex, Some(Transport::AppServer), false),
            (EngineName::Codex, None, false),
            (EngineName::Gemini, Some(Transport::Cli), true),
            (EngineName::Gemini, Some(Transport::Native), false),
            (EngineName::Opencode, Some(Transport::Cli), true),
            (EngineName::Fake, None, true),
            (EngineName::Claude, Some(Transport::Cli), true),
            (EngineName::Claude, Some(Transport::Native), false),
        ] {
            match build(&settings(engine, transport), &host) {
                Ok(_) => assert!(is_built, "{engine} {transport:?}"),
                Err(failure) => {
                    assert!(!is_built, "{engine} {transport:?}: {failure}");
                    assert_eq!(failure.exit_code(), 2);
                }
            }
        }
    }
}
