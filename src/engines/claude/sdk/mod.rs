//! Claude Code over its control protocol, the one that the Claude Agent SDK speaks to the same
//! executable: requests and messages as lines of JSON on standard input and output.
//!
//! Policy, environment, failures and the reading of a run are those of `claude -p`. What this
//! transport adds: Claude tells its models and its credentials before the review, so choices are
//! checked and not hoped for; the contract goes to Claude as its system prompt whatever its options
//! are; turns can be limited. What the protocol does was measured with Claude Code 2.1.332.

pub(super) mod catalog;
pub(super) mod choice;
mod command;
mod dialogue;
mod frames;
mod preflight;
#[cfg(test)]
mod replay;

use diffwarden_actors::engine::{
    Capabilities, Engine, Place, Preflight, RepairRequest, ReviewRequest, Start,
};
use diffwarden_actors::model::Failure;

use self::dialogue::ControlDialogue;
use super::PROGRAM;
use super::command::{Run, SCHEMA, TOOLS, TRANSCRIBER, compact};
use super::dialogue::StreamDialogue;
use super::environment::Surroundings;
use super::features::Features;
use super::options::Options;
use crate::engines::executable::Resolved;
use crate::engines::settings::ReviewerSettings;
use crate::engines::{Host, shared};

/// Claude Code, configured for one reviewer, reached through its control protocol.
#[derive(Debug)]
pub struct ClaudeSdk {
    options: Options,
    executable: Result<Resolved, Failure>,
    surroundings: Surroundings,
}

impl ClaudeSdk {
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

    fn start(&self, task: &Task<'_>) -> Result<Start, Failure> {
        let executable = self.executable.as_ref().map_err(Failure::clone)?;
        let features = Features::of(task.capabilities);
        let effort = choice::settled_effort(&task.capabilities.flags);
        let run = Run {
            place: task.place,
            features: &features,
            tools: task.tools,
            schema: task.schema.clone(),
            system: None,
            effort,
        };
        let command = command::command(
            &self.options,
            executable,
            &self.surroundings,
            &run,
            task.max_turns,
            task.system,
        );
        let mut metadata = self.options.metadata(&features);
        choice::describe(&self.options, &features, effort, &mut metadata);
        metadata.insert("systemPromptMode".to_owned(), "split".into());
        shared::put_version(&mut metadata, task.capabilities);
        metadata.append(&mut self.options.choices.transport_metadata(executable));
        let run = StreamDialogue::new(metadata, self.options.families());
        Ok(Start::Process {
            command,
            dialogue: Box::new(ControlDialogue::new(frames::user(task.prompt), run)),
        })
    }
}

/// What tells a review from a repair.
struct Task<'a> {
    place: &'a Place,
    capabilities: &'a Capabilities,
    tools: &'static str,
    schema: String,
    max_turns: Option<u32>,
    system: Option<&'a str>,
    prompt: &'a str,
}

impl Engine for ClaudeSdk {
    fn preflight(&self, place: &Place) -> Result<Preflight, Failure> {
        let executable = self.executable.clone()?;
        self.surroundings.check()?;
        let mut commands = super::preflight::probes(&executable, place);
        commands.push(catalog::probe(&executable, &self.surroundings, place));
        let (options, surroundings) = (self.options.clone(), self.surroundings.clone());
        Ok(Preflight::Probe {
            commands,
            judge: Box::new(move |captured| {
                preflight::judge(&options, &executable, &surroundings, &captured)
            }),
        })
    }

    fn review(&self, request: &ReviewRequest) -> Result<Start, Failure> {
        self.start(&Task {
            place: &request.place,
            capabilities: &request.capabilities,
            tools: TOOLS,
            schema: compact(SCHEMA),
            max_turns: self.options.max_turns,
            system: request.prompt.system.as_deref(),
            prompt: &request.prompt.user,
        })
    }

    fn repair(&self, request: &RepairRequest) -> Option<Result<Start, Failure>> {
        Some(self.start(&Task {
            place: &request.place,
            capabilities: &request.capabilities,
            tools: "",
            schema: request.schema.to_string(),
            max_turns: None,
            system: Some(TRANSCRIBER),
            prompt: &request.prompt,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::features::tests::flags;
    use super::super::options::tests::settings;
    use super::*;
    use crate::engines::shared::testing::{repair_request, request};
    use crate::env::Environment;
    use diffwarden_actors::engine::CommandSpec;
    use diffwarden_actors::model::{ErrorCode, Transport};
    use std::sync::Arc;

    fn engine(change: impl FnOnce(&mut ReviewerSettings)) -> ClaudeSdk {
        let mut settings = settings();
        settings.transport = Some(Transport::Native);
        let name = ("executable".to_owned(), "sh".into());
        settings.options.cli.extend([name]);
        change(&mut settings);
        let host = Host {
            env: Environment::from_iter([("PATH", "/bin:/usr/bin")]),
            repo_root: None,
        };
        ClaudeSdk::new(&settings, &host).unwrap()
    }

    fn process(start: Result<Start, Failure>) -> CommandSpec {
        match start {
            Ok(Start::Process { command, .. }) => command,
            Ok(Start::InProcess(_)) => panic!("Claude is a process"),
            Err(failure) => panic!("{failure}"),
        }
    }

    /// Returns the command line and the lines that are written at once.
    fn words(command: &CommandSpec) -> String {
        let words = command.args.iter().map(|word| word.to_string_lossy());
        let words: Vec<_> = words.collect();
        let input = String::from_utf8_lossy(&command.stdin);
        format!("{}\n---\n{input}", words.join("\n"))
    }

    fn review(engine: &ClaudeSdk, settled: &[&str]) -> CommandSpec {
        let mut request = request("prompt", settled);
        Arc::make_mut(&mut request.prompt).system = Some("contract".to_owned());
        request.capabilities.flags.extend(flags());
        process(engine.review(&request))
    }

    #[test]
    fn default_command_line() {
        let command = review(&engine(|_| ()), &["--effort=high"]);
        insta::assert_snapshot!(words(&command));
        assert!(command.keep_stdin_open, "Claude may ask, and is answered");
        assert!(command.files.is_empty());
        assert_eq!(command.cwd, std::path::Path::new("/repo"));
    }

    #[test]
    fn limits_and_what_was_settled_reach_claude() {
        let limited = engine(|settings| {
            settings.max_turns = Some(7);
            settings.max_budget_usd = Some(1.5);
        });
        let words = words(&review(&limited, &["--effort=max"]));
        for part in [
            "--max-turns\n7\n",
            "--max-budget-usd\n1.5\n",
            "--effort\nmax\n",
        ] {
            assert!(words.contains(part), "{words}");
        }
    }

    #[test]
    fn a_dropped_effort_is_not_passed() {
        let command = review(&engine(|_| ()), &[]);
        assert!(!words(&command).contains("--effort"));
    }

    #[test]
    fn a_repair_has_no_tools_and_its_own_schema() {
        let limited = engine(|settings| settings.max_turns = Some(1));
        let command = process(limited.repair(&repair_request("transcribe", &[])).unwrap());
        insta::assert_snapshot!(words(&command));
    }

    #[test]
    fn a_missing_executable_and_a_missing_key_fail_before_anything_runs() {
        let missing = engine(|settings| {
            let name = ("executable".to_owned(), "no-such-claude".into());
            settings.options.cli.extend([name]);
        });
        let place = request("", &[]).place;
        let failed = |engine: &ClaudeSdk| engine.preflight(&place).err().unwrap();
        assert_eq!(failed(&missing).code, ErrorCode::MissingRequirement);
        assert!(missing.review(&request("", &[])).is_err());
        let keyless = engine(|settings| {
            let mode = ("authMode".to_owned(), "api-key".into());
            settings.options.sdk.extend([mode]);
        });
        assert_eq!(failed(&keyless).code, ErrorCode::MissingAuth);
    }

    #[test]
    fn the_catalog_is_asked_for_without_a_model_and_outside_the_repository() {
        let Ok(Preflight::Probe { commands, .. }) =
            engine(|_| ()).preflight(&request("", &[]).place)
        else {
            panic!("there is something to learn");
        };
        let [_, _, catalog] = &commands[..] else {
            panic!("{commands:?}");
        };
        assert!(!words(catalog).contains("--model"));
        assert!(catalog.env.contains(&("ANTHROPIC_MODEL".into(), None)));
        assert_eq!(catalog.cwd, std::path::Path::new("/run/review"));
        assert!(!catalog.keep_stdin_open);
    }
}
