//! Codex over its `codex app-server`: JSON-RPC over standard streams.
//!
//! Each review starts a server of its own, in the same isolation as `codex exec`: a private
//! `CODEX_HOME`, the same switches and the same read-only sandbox, which the thread is opened with
//! and has to confirm. What it adds is a typed channel for failures, and Codex's own review flow
//! (`appServerOptions.reviewMode: "native"`). The protocol is what codex-cli 0.171.0 speaks.

mod command;
mod dialogue;
mod events;
mod failure;
mod message;
mod options;
mod preflight;
mod rendered;
#[cfg(test)]
mod replay;
mod task;

use diffwarden_actors::engine::{Engine, Place, Preflight, RepairRequest, ReviewRequest, Start};
use diffwarden_actors::model::Failure;
use serde_json::Value;

use self::command::Run;
use self::dialogue::ServerDialogue;
use self::options::{ReviewMode, ServerOptions};
use self::preflight::Known;
use self::task::{Task, Wanted};
use super::command::SCHEMA;
use super::home::CodexHome;
use super::sandbox::Evidence;
use crate::engines::Host;
use crate::engines::executable::Resolved;
use crate::engines::settings::ReviewerSettings;
use crate::engines::shared::{self, Program};

/// The program, in the words of messages about its server.
const PROGRAM: Program = Program {
    command: "codex app-server",
    ..super::PROGRAM
};

/// Codex, configured for one reviewer, reached through `codex app-server`.
#[derive(Debug)]
pub struct CodexAppServer {
    options: ServerOptions,
    executable: Result<Resolved, Failure>,
    home: CodexHome,
}

impl CodexAppServer {
    /// Reads what the machine has to say: where the executable is, and the user's own Codex
    /// configuration.
    ///
    /// # Errors
    ///
    /// Fails when an option has an unknown value. Everything else is reported by preflight.
    pub fn new(settings: &ReviewerSettings, host: &Host) -> Result<Self, Failure> {
        let options = ServerOptions::from_settings(settings, &host.env)?;
        let executable = options.common.choices.resolve(&PROGRAM, host);
        let home = options.read_home(&host.env);
        Ok(Self {
            options,
            executable,
            home,
        })
    }

    fn start(&self, task: Task, run: &Run<'_>) -> Result<Start, Failure> {
        let executable = self.executable.as_ref().map_err(Failure::clone)?;
        let choices = &self.options.common.choices;
        choices.check_prompt(&PROGRAM, &task.prompt)?;
        let mut metadata = self.options.metadata();
        metadata.append(&mut choices.transport_metadata(executable));
        metadata.append(&mut Evidence::of(run.capabilities).metadata());
        shared::put_version(&mut metadata, run.capabilities);
        let dialogue = ServerDialogue::new(task, metadata, self.home.unreachable_store());
        Ok(Start::Process {
            command: command::command(&self.options, executable, &self.home, run)?,
            dialogue: Box::new(dialogue),
        })
    }

    fn task(&self, place: &Place, prompt: String, answer: Wanted) -> Task {
        let choices = &self.options.common.choices;
        Task {
            folder: place.repo_root.to_str().map(str::to_owned),
            model: choices.model_argument(),
            effort: choices.native_effort(),
            system: None,
            prompt,
            answer,
        }
    }
}

impl Engine for CodexAppServer {
    fn preflight(&self, place: &Place) -> Result<Preflight, Failure> {
        let executable = self.executable.clone()?;
        let known = Known::new(&self.options, executable, &self.home)?;
        Ok(Preflight::Probe {
            commands: known.probes(place),
            judge: Box::new(move |captured| known.judge(&captured)),
        })
    }

    fn review(&self, request: &ReviewRequest) -> Result<Start, Failure> {
        let answer = match self.options.review_mode {
            ReviewMode::Structured => Wanted::Json(schema()),
            ReviewMode::Native => Wanted::Rendered,
        };
        let mut task = self.task(&request.place, request.prompt.user.clone(), answer);
        task.system.clone_from(&request.prompt.system);
        let run = Run {
            place: &request.place,
            capabilities: &request.capabilities,
            is_toolless: false,
            web_search: self.options.web_search(),
        };
        self.start(task, &run)
    }

    /// A native review is all that Codex's flow has to say, so there is nothing to transcribe.
    fn repair(&self, request: &RepairRequest) -> Option<Result<Start, Failure>> {
        if self.options.review_mode == ReviewMode::Native {
            return None;
        }
        let answer = Wanted::Json(request.schema.clone());
        let task = self.task(&request.place, request.prompt.clone(), answer);
        let run = Run {
            place: &request.place,
            capabilities: &request.capabilities,
            is_toolless: true,
            web_search: Some("disabled"),
        };
        Some(self.start(task, &run))
    }
}

fn schema() -> Value {
    serde_json::from_str(SCHEMA).expect("the schema is a constant")
}

#[cfg(test)]
mod tests {
    use super::options::tests::with;
    use super::*;
    use crate::engines::shared::testing::{repair_request, request};
    use crate::env::Environment;
    use diffwarden_actors::engine::Action;
    use diffwarden_actors::model::ErrorCode;
    use serde_json::json;
    use std::sync::Arc;

    fn engine(executable: &str, bag: &Value) -> CodexAppServer {
        let mut settings = with(bag);
        let name = ("executable".to_owned(), executable.into());
        settings.options.cli.extend([name]);
        let host = Host {
            env: Environment::from_iter([("PATH", "/bin:/usr/bin"), ("CODEX_HOME", "/none")]),
            repo_root: None,
        };
        CodexAppServer::new(&settings, &host).unwrap()
    }

    /// Returns the requests that open a thread and start the work.
    fn requests(start: Start) -> [Value; 2] {
        let Start::Process { mut dialogue, .. } = start else {
            panic!("a server is a process");
        };
        let mut last = |line: &Value| {
            let actions = dialogue.on_line(&line.to_string());
            let Some(Action::Write(line)) = actions.last() else {
                panic!("{actions:?}");
            };
            serde_json::from_str(line).unwrap()
        };
        [
            last(&json!({"id": 1, "result": {}})),
            last(&json!({"id": 2, "result": {"thread": {"id": "t"}}})),
        ]
    }

    #[test]
    fn a_structured_review_is_a_turn_with_the_schema() {
        let mut review = request("prompt", &[]);
        Arc::make_mut(&mut review.prompt).system = Some("contract".to_owned());
        let [thread, turn] = requests(engine("sh", &json!({})).review(&review).unwrap());
        assert_eq!(thread["params"]["developerInstructions"], "contract");
        assert_eq!(thread["params"]["sandbox"], "read-only");
        assert_eq!(thread["params"]["ephemeral"], true);
        assert_eq!(turn["method"], "turn/start");
        assert_eq!(turn["params"]["outputSchema"], schema());
        assert_eq!(turn["params"]["input"][0]["text"], "prompt");
        assert_eq!(turn["params"]["sandboxPolicy"]["type"], "readOnly");
    }

    #[test]
    fn a_native_review_is_given_the_whole_prompt_and_has_no_repair() {
        let engine = engine("sh", &json!({"reviewMode": "native"}));
        let [_, review] = requests(engine.review(&request("prompt", &[])).unwrap());
        assert_eq!(review["method"], "review/start");
        let target = json!({"type": "custom", "instructions": "prompt"});
        assert_eq!(review["params"]["target"], target);
        assert!(engine.repair(&repair_request("transcribe", &[])).is_none());
    }

    #[test]
    fn a_repair_is_a_server_of_its_own_without_tools() {
        let engine = engine("sh", &json!({"webSearch": "enabled"}));
        let asked = repair_request("transcribe", &[]);
        let start = engine.repair(&asked).unwrap().unwrap();
        let Start::Process { command, .. } = &start else {
            panic!("a server is a process");
        };
        let has = |setting: &str| command.args.iter().any(|arg| arg == setting);
        assert!(has("features.shell_tool=false") && has("web_search=\"disabled\""));
        let [_, turn] = requests(start);
        assert_eq!(&turn["params"]["outputSchema"], asked.schema);
        assert_eq!(turn["params"]["input"][0]["text"], "transcribe");
    }

    #[test]
    fn what_cannot_work_fails_before_anything_runs() {
        let missing = engine("no-such-codex", &json!({}));
        let place = request("prompt", &[]).place;
        let Err(failure) = missing.preflight(&place) else {
            panic!("there is nothing to run");
        };
        assert_eq!(failure.code, ErrorCode::MissingRequirement);
        assert!(missing.review(&request("prompt", &[])).is_err());
        let mut large = request("prompt", &[]);
        Arc::make_mut(&mut large.prompt).user = "x".repeat(1_048_576 + 1);
        let Err(failure) = engine("sh", &json!({})).review(&large) else {
            panic!("Codex would refuse this");
        };
        assert!(failure.message.contains("1048577"), "{failure}");
    }
}
