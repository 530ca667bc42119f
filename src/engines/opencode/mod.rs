//! OpenCode over `opencode run`.
//!
//! The command runs outside the repository, in a folder that is its own configuration folder: with
//! a working folder inside it, OpenCode executes plugins of the reviewed repository whatever its
//! switches say. A generated agent of a name nobody knows denies every tool but three that read,
//! and these only the repository: the level is `tool-restricted`. What each option does was
//! measured with OpenCode 1.18.33.

mod command;
mod dialogue;
mod failure;
mod home;
mod preflight;
#[cfg(test)]
mod replay;

use diffwarden_actors::engine::{
    Capabilities, CommandSpec, Engine, Place, Preflight, RepairRequest, ReviewRequest, Start,
};
use diffwarden_actors::model::{ErrorCode, Failure, Reason};

use self::command::Invocation;
use self::dialogue::RunDialogue;
use self::home::OpencodeHome;
use super::Host;
use super::executable::{self, Resolved};
use super::settings::ReviewerSettings;
use super::shared::{self, Choices, Program};

/// OpenCode, in the words of messages.
pub(in crate::engines) const PROGRAM: Program = Program {
    title: "OpenCode",
    name: "opencode",
    command: "opencode run",
    login: "run `opencode auth login`, or set the provider's variable for a key",
    install: "npm install -g opencode-ai",
};

/// OpenCode, configured for one reviewer, reached through `opencode run`.
#[derive(Debug)]
pub struct OpencodeRun {
    choices: Choices,
    executable: Result<Resolved, Failure>,
    home: OpencodeHome,
    /// The name of the generated agent. Rules for an agent of the same name elsewhere would be
    /// merged with ours, so it cannot be guessed.
    agent: String,
    has_ripgrep: bool,
}

impl OpencodeRun {
    /// Reads what the machine has to say: where the executable is, and which model services the
    /// user's own OpenCode knows.
    ///
    /// # Errors
    ///
    /// Fails with exit code 2 when an option has an unknown value, or when the config names an
    /// agent of the user's own, whose rights would take the place of a review's. Everything else is
    /// reported by preflight.
    pub fn new(settings: &ReviewerSettings, host: &Host) -> Result<Self, Failure> {
        let choices = Choices::from_settings(settings)?;
        if settings.options.cli.contains_key("agent") {
            return Err(Failure::new(
                ErrorCode::InvalidConfig,
                "cliOptions.agent of an opencode reviewer cannot be used: a review runs as an agent \
                 of its own that may only read",
            )
            .hint("remove `agent` from the reviewer's cliOptions"));
        }
        Ok(Self {
            executable: choices.resolve(&PROGRAM, host),
            choices,
            home: OpencodeHome::read(&host.env),
            agent: format!("diffwarden-{}", uuid::Uuid::new_v4().simple()),
            has_ripgrep: executable::resolve(None, "rg", host).is_ok(),
        })
    }

    /// Puts together what every command needs.
    fn invocation(&self) -> Result<Invocation<'_>, Failure> {
        let executable = self.executable.as_ref().map_err(Clone::clone)?;
        let model = match self.choices.model_argument() {
            Some(model) => model,
            None => self.home.model()?.ok_or_else(no_model)?.to_owned(),
        };
        if !model.contains('/') {
            return Err(wrong_model(&model));
        }
        Ok(Invocation {
            executable,
            home: &self.home,
            agent: &self.agent,
            model,
            effort: self.choices.native_effort(),
        })
    }

    fn start(
        &self,
        command: CommandSpec,
        model: &str,
        capabilities: &Capabilities,
    ) -> Result<Start, Failure> {
        self.choices.check_stdin(&PROGRAM, &command)?;
        let mut metadata = self.choices.metadata();
        metadata.insert("resolvedModel".to_owned(), model.into());
        if let Ok(executable) = &self.executable {
            metadata.append(&mut self.choices.transport_metadata(executable));
        }
        metadata.append(&mut command::policy_metadata());
        let effort = self.choices.native_effort();
        if effort.is_some_and(|effort| preflight::is_ignored(effort, capabilities)) {
            metadata.insert("effortIgnored".to_owned(), true.into());
        }
        shared::put_version(&mut metadata, capabilities);
        Ok(Start::Process {
            command,
            dialogue: Box::new(RunDialogue::new(metadata)),
        })
    }
}

/// Without a model OpenCode would send the change to a service of its own choice.
fn no_model() -> Failure {
    Failure::new(
        ErrorCode::InvalidModel,
        "opencode was given no model, and its own default may be a hosted one that nobody chose",
    )
    .reason(Reason::Model)
    .hint("name one as PROVIDER/MODEL with --model or in the configuration; `opencode models` lists them")
}

fn wrong_model(model: &str) -> Failure {
    let model = shared::one_line(model);
    Failure::new(
        ErrorCode::InvalidModel,
        format!("OpenCode's models are named PROVIDER/MODEL, and `{model}` is not"),
    )
    .reason(Reason::Model)
    .hint("`opencode models` lists them")
}

impl Engine for OpencodeRun {
    fn preflight(&self, place: &Place) -> Result<Preflight, Failure> {
        let invocation = self.invocation()?;
        let commands = preflight::probes(&invocation, place)?;
        let asked = preflight::Asked {
            choices: self.choices.clone(),
            executable: invocation.executable.clone(),
            model: invocation.model,
            has_ripgrep: self.has_ripgrep,
        };
        Ok(Preflight::Probe {
            commands,
            judge: Box::new(move |captured| preflight::judge(&asked, &captured)),
        })
    }

    fn review(&self, request: &ReviewRequest) -> Result<Start, Failure> {
        let invocation = self.invocation()?;
        let prompt = shared::whole_prompt(request);
        let command = invocation.review(&request.place, prompt)?;
        self.start(command, &invocation.model, &request.capabilities)
    }

    fn repair(&self, request: &RepairRequest) -> Option<Result<Start, Failure>> {
        let start = || {
            let invocation = self.invocation()?;
            let command = invocation.repair(&request.place, request.prompt.clone())?;
            self.start(command, &invocation.model, &request.capabilities)
        };
        Some(start())
    }
}

#[cfg(test)]
mod tests {
    use super::shared::testing::{asked, repair_request, request, settings};
    use super::*;
    use crate::env::Environment;
    use diffwarden_actors::model::EngineName;

    fn engine(executable: &str, model: Option<&str>) -> OpencodeRun {
        let mut settings = settings(EngineName::Opencode);
        let name = ("executable".to_owned(), executable.into());
        settings.options.cli.extend([name]);
        settings.model = model.map(|model| asked(model.to_owned()));
        let host = Host {
            env: Environment::from_iter([
                ("PATH", "/bin:/usr/bin"),
                ("HOME", "/none"),
                ("XDG_CONFIG_HOME", "/none"),
            ]),
            repo_root: None,
        };
        OpencodeRun::new(&settings, &host).unwrap()
    }

    #[test]
    fn a_missing_executable_comes_before_a_missing_model() {
        let request = request("prompt", &[]);
        for model in [None, Some("a/b")] {
            let failure = engine("no-such-opencode", model)
                .preflight(&request.place)
                .err();
            let failure = failure.unwrap();
            assert_eq!(failure.code, ErrorCode::MissingRequirement);
            assert!(failure.message.contains("`no-such-opencode`"), "{failure}");
        }
    }

    #[test]
    fn without_a_provider_and_a_model_nothing_runs() {
        let request = request("prompt", &[]);
        for (model, part) in [(None, "no model"), (Some("sonnet"), "`sonnet`")] {
            let engine = engine("sh", model);
            let failure = engine.review(&request).err().unwrap();
            assert_eq!(
                engine.preflight(&request.place).err().as_ref(),
                Some(&failure)
            );
            assert_eq!(
                (failure.code, failure.exit_code()),
                (ErrorCode::InvalidModel, 2)
            );
            assert!(failure.message.contains(part), "{failure}");
        }
    }

    #[test]
    fn an_agent_of_the_user_s_own_is_refused_with_exit_2() {
        let mut settings = settings(EngineName::Opencode);
        settings
            .options
            .cli
            .extend([("agent".to_owned(), "build".into())]);
        let failure = OpencodeRun::new(&settings, &Host::default()).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.message.contains("cliOptions.agent"), "{failure}");
    }

    #[test]
    fn a_repair_is_a_process_of_its_own() {
        let repair = repair_request("transcribe", &[]);
        let Some(Ok(Start::Process { command, .. })) = engine("sh", Some("a/b")).repair(&repair)
        else {
            panic!("OpenCode can repair");
        };
        assert_eq!(command.stdin, b"transcribe");
        let missing = engine("no-such-opencode", Some("a/b")).repair(&repair);
        assert!(matches!(missing, Some(Err(_))));
    }
}
