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
