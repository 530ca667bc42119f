//! Claude Code over its `claude -p` command line.
//!
//! The model gets three tools that read (Read, Grep, Glob) and nothing else; Claude itself keeps
//! them inside the working folder. That is a table inside the executable and no sandbox of the
//! operating system, so the read-only level is `tool-restricted`. Settings, hooks, MCP servers,
//! memories and instruction files take no part. Output is a stream of events and not one object at
//! the end, so that a retry loop over refused credentials is seen and ended at once. What each
//! option does was measured with Claude Code 2.1.332.

mod command;
mod dialogue;
mod environment;
mod failure;
mod fallback;
mod features;
mod options;
mod preflight;
mod record;
#[cfg(test)]
mod replay;

use diffwarden_actors::engine::{
    CommandSpec, Engine, Place, Preflight, RepairRequest, ReviewRequest, Start,
};
use diffwarden_actors::model::{EngineName, ErrorCode, Failure, Transport};
use serde_json::{Map, Value};

use self::dialogue::StreamDialogue;
use self::environment::Surroundings;
use self::features::Features;
use self::options::Options;
use super::capabilities::{self, PromptLimit};
use super::executable::{self, Resolved};
use super::settings::ReviewerSettings;
use super::{Host, shared};

/// The command that installs Claude Code, for hints.
pub const INSTALL: &str = "npm install -g @anthropic-ai/claude-code";

/// How far the model is kept from writing, as metadata show it.
const READONLY: &str = "tool-restricted";

/// Claude Code, configured for one reviewer, reached through `claude -p`.
#[derive(Debug)]
pub struct ClaudeCli {
    options: Options,
    executable: Result<Resolved, Failure>,
    surroundings: Surroundings,
}

impl ClaudeCli {
    /// Reads what the machine has to say: where the executable is, and which credentials the
    /// environment holds.
    ///
    /// # Errors
    ///
    /// Fails when an option has an unknown value. Everything else is reported by preflight.
    pub fn new(settings: &ReviewerSettings, host: &Host) -> Result<Self, Failure> {
        let options = Options::from_settings(settings)?;
        let executable = executable::resolve(options.executable.as_deref(), "claude", host)
            .map_err(|not_found| not_found.into_failure(INSTALL));
        let surroundings = Surroundings::read(&options, settings.timeout, &host.env);
        Ok(Self {
            options,
            executable,
            surroundings,
        })
    }

    fn start(
        &self,
        command: CommandSpec,
        mut metadata: Map<String, Value>,
    ) -> Result<Start, Failure> {
        check_size(command.stdin.len())?;
        let executable = self.executable.as_ref().map_err(Failure::clone)?;
        metadata.append(&mut shared::transport_metadata(READONLY, executable));
        let dialogue = StreamDialogue::new(metadata, self.options.families());
        Ok(Start::Process {
            command,
            dialogue: Box::new(dialogue),
        })
    }
}

impl Engine for ClaudeCli {
    fn preflight(&self, place: &Place) -> Result<Preflight, Failure> {
        let executable = self.executable.clone()?;
        self.surroundings.check()?;
        let commands = preflight::probes(&executable, place);
        let options = self.options.clone();
        Ok(Preflight::Probe {
            commands,
            judge: Box::new(move |captured| preflight::judge(&options, &executable, &captured)),
        })
    }

    fn review(&self, request: &ReviewRequest) -> Result<Start, Failure> {
        let executable = self.executable.as_ref().map_err(Failure::clone)?;
        let features = Features::of(&request.capabilities);
        let command = command::review_command(
            &self.options,
            executable,
            &self.surroundings,
            &features,
            request,
        );
        let mut metadata = self.options.metadata(&features);
        let is_split = command::takes_system_prompt(&features, &request.prompt);
        let mode = if is_split { "split" } else { "concatenated" };
        metadata.insert("systemPromptMode".to_owned(), mode.into());
        if let Some(version) = &request.capabilities.version {
            metadata.insert("version".to_owned(), version.as_str().into());
        }
        self.start(command, metadata)
    }

    fn repair(&self, request: &RepairRequest) -> Option<Result<Start, Failure>> {
        let start = || {
            let executable = self.executable.as_ref().map_err(Failure::clone)?;
            let features = Features::of(&request.capabilities);
            let command = command::repair_command(
                &self.options,
                executable,
                &self.surroundings,
                &features,
                request,
            );
            self.start(command, self.options.metadata(&features))
        };
        Some(start())
    }
}

/// Refuses what Claude would refuse. The matrix has the limit.
fn check_size(bytes: usize) -> Result<(), Failure> {
    let row = capabilities::find(EngineName::Claude, Some(Transport::Cli));
    let Some(PromptLimit::Bytes(limit)) = row.and_then(|row| row.max_prompt) else {
        return Ok(());
    };
    if bytes <= limit {
        return Ok(());
    }
    Err(Failure::new(
        ErrorCode::ReviewerFailed,
        format!("the prompt has {bytes} bytes, and Claude takes at most {limit}"),
    )
    .hint("review a smaller change, or leave out generated files"))
}

#[cfg(test)]
mod tests {
    use super::command::tests::{repair_request, request};
    use super::options::tests::settings;
    use super::*;
    use crate::env::Environment;
    use std::sync::Arc;

    fn engine(executable: &str, mode: &str) -> ClaudeCli {
        let mut settings = settings();
        let name = ("executable".to_owned(), executable.into());
        settings.options.cli.extend([name]);
        let mode = ("authMode".to_owned(), mode.into());
        settings.options.sdk.extend([mode]);
        let host = Host {
            env: Environment::from_iter([("PATH", "/bin:/usr/bin")]),
            repo_root: None,
        };
        ClaudeCli::new(&settings, &host).unwrap()
    }

    fn asked(bytes: usize) -> ReviewRequest {
        let mut request = request(None);
        Arc::make_mut(&mut request.prompt).user = "p".repeat(bytes);
        request
    }

    #[test]
    fn a_missing_executable_fails_everything_alike() {
        let engine = engine("no-such-claude", "auto");
        let Err(at_preflight) = engine.preflight(&request(None).place) else {
            panic!("there is nothing to run");
        };
        let Err(at_review) = engine.review(&request(None)) else {
            panic!("there is nothing to run");
        };
        assert_eq!(at_preflight, at_review);
        assert_eq!(at_preflight.code, ErrorCode::MissingRequirement);
        assert!(matches!(engine.repair(&repair_request()), Some(Err(_))));
    }

    #[test]
    fn a_missing_key_fails_before_anything_runs() {
        let Err(failure) = engine("sh", "api-key").preflight(&request(None).place) else {
            panic!("there is no key");
        };
        assert_eq!(failure.code, ErrorCode::MissingAuth);
        assert!(engine("sh", "auto").preflight(&request(None).place).is_ok());
    }

    #[test]
    fn the_prompt_is_counted_in_bytes() {
        let engine = engine("sh", "auto");
        assert!(engine.review(&asked(10_000_000)).is_ok());
        let Err(failure) = engine.review(&asked(10_000_001)) else {
            panic!("Claude would refuse this");
        };
        assert!(failure.message.contains("10000001"), "{failure}");
        assert!(failure.message.contains("10000000"), "{failure}");
    }

    #[test]
    fn a_repair_is_a_process_of_its_own() {
        let Some(Ok(Start::Process { command, .. })) =
            engine("sh", "auto").repair(&repair_request())
        else {
            panic!("Claude can repair");
        };
        assert_eq!(command.stdin, b"transcribe");
    }
}
