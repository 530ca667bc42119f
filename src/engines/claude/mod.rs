//! Claude Code over its `claude -p` command line, and in [`sdk`] over its control protocol.
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
pub mod sdk;

use diffwarden_actors::engine::{
    CommandSpec, Engine, Place, Preflight, RepairRequest, ReviewRequest, Start,
};
use diffwarden_actors::model::Failure;
use serde_json::{Map, Value};

use self::dialogue::StreamDialogue;
use self::environment::Surroundings;
use self::features::Features;
use self::options::Options;
use self::sdk::catalog::{self, Catalog};
use self::sdk::choice;
use super::Host;
use super::capabilities::NativeEffort;
use super::executable::Resolved;
use super::settings::ReviewerSettings;
use super::shared::{self, Program};

/// Claude Code, in the words of messages.
pub(in crate::engines) const PROGRAM: Program = Program {
    title: "Claude",
    name: "claude",
    command: "claude -p",
    login: "run `claude` and log in with /login, or set ANTHROPIC_API_KEY",
    install: "npm install -g @anthropic-ai/claude-code",
};

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
        Ok(Self {
            executable: options.choices.resolve(&PROGRAM, host),
            surroundings: Surroundings::read(&options, settings.timeout, &host.env),
            options,
        })
    }

    fn start(
        &self,
        command: CommandSpec,
        executable: &Resolved,
        mut metadata: Map<String, Value>,
    ) -> Result<Start, Failure> {
        self.options.choices.check_stdin(&PROGRAM, &command)?;
        metadata.append(&mut self.options.choices.transport_metadata(executable));
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
        let mut commands = preflight::probes(&executable, place);
        // The other levels are left to Claude, which takes the nearest; this one it would ignore.
        if self.options.choices.mapped_effort() == Some(NativeEffort::ThinkingDisabled) {
            commands.push(catalog::probe(&executable, &self.surroundings, place));
        }
        let (options, surroundings) = (self.options.clone(), self.surroundings.clone());
        Ok(Preflight::Probe {
            commands,
            judge: Box::new(move |captured| {
                let pass = preflight::judge(&options, &executable, &surroundings, &captured)?;
                let catalog = captured.get(2).and_then(Catalog::read);
                let model = options.choices.model.as_ref().map(|model| &*model.value);
                let model = catalog
                    .as_ref()
                    .and_then(|catalog| catalog.find(model.unwrap_or("default")));
                choice::thinking_can_stop(&options, model)?;
                Ok(pass)
            }),
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
        shared::put_version(&mut metadata, &request.capabilities);
        self.start(command, executable, metadata)
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
            let mut metadata = self.options.metadata(&features);
            shared::put_version(&mut metadata, &request.capabilities);
            self.start(command, executable, metadata)
        };
        Some(start())
    }
}

#[cfg(test)]
mod tests {
    use super::options::tests::settings;
    use super::shared::testing::{asked, printed, repair_request, request};
    use super::*;
    use crate::engines::settings::Effort;
    use crate::env::Environment;
    use diffwarden_actors::engine::ExitKind;
    use diffwarden_actors::model::ErrorCode;

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

    #[test]
    fn a_missing_executable_fails_everything_alike() {
        let engine = engine("no-such-claude", "auto");
        let Err(at_preflight) = engine.preflight(&request("", &[]).place) else {
            panic!("there is nothing to run");
        };
        let Err(at_review) = engine.review(&request("", &[])) else {
            panic!("there is nothing to run");
        };
        assert_eq!(at_preflight, at_review);
        assert_eq!(at_preflight.code, ErrorCode::MissingRequirement);
        assert!(matches!(
            engine.repair(&repair_request("transcribe", &[])),
            Some(Err(_))
        ));
    }

    #[test]
    fn a_missing_key_fails_before_anything_runs() {
        let Err(failure) = engine("sh", "api-key").preflight(&request("", &[]).place) else {
            panic!("there is no key");
        };
        assert_eq!(failure.code, ErrorCode::MissingAuth);
        assert!(
            engine("sh", "auto")
                .preflight(&request("", &[]).place)
                .is_ok()
        );
    }

    #[test]
    fn thinking_that_cannot_be_switched_off_is_no_silent_loss() {
        const HELP: &str = include_str!("../../../fixtures/claude/help.txt");
        const CATALOG: &str = include_str!("../../../fixtures/claude/sdk/catalog.stdout");
        let judged = |model: &str, catalog: &str| {
            let mut engine = engine("sh", "auto");
            engine.options.choices.model = Some(asked(model.to_owned()));
            engine.options.choices.effort = Some(asked(Effort::Off));
            let place = request("", &[]).place;
            let Ok(Preflight::Probe { commands, judge }) = engine.preflight(&place) else {
                panic!("there is something to learn");
            };
            assert_eq!(commands.len(), 3);
            let answers = ["2.1.332 (Claude Code)\n", HELP, catalog];
            judge(
                answers
                    .map(|stdout| printed(ExitKind::Code(0), stdout, ""))
                    .into(),
            )
        };
        let failure = judged("sonnet", CATALOG).unwrap_err();
        assert_eq!(failure.code, ErrorCode::InvalidEffort);
        for (model, catalog) in [("claude-sonnet-4-5", CATALOG), ("sonnet", "")] {
            let pass = judged(model, catalog).unwrap();
            let effort = &pass.report.metadata["resolvedEffort"];
            assert_eq!(effort, "thinking-disabled", "{model}");
        }
    }

    #[test]
    fn a_prompt_over_the_limit_is_refused_before_anything_runs() {
        let engine = engine("sh", "auto");
        let longest = "p".repeat(10_000_000);
        assert!(engine.review(&request(&longest, &[])).is_ok());
        let longer = longest + "p";
        assert!(engine.review(&request(&longer, &[])).is_err());
        let repair = engine.repair(&repair_request(&longer, &[]));
        assert!(matches!(repair, Some(Err(_))));
    }

    #[test]
    fn a_repair_is_a_process_of_its_own() {
        let Some(Ok(Start::Process { command, .. })) =
            engine("sh", "auto").repair(&repair_request("transcribe", &[]))
        else {
            panic!("Claude can repair");
        };
        assert_eq!(command.stdin, b"transcribe");
    }
}
