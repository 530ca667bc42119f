//! Gemini over its `gemini` command line.
//!
//! The command gets a private home and a private working folder inside the run folder; the
//! repository is only an additional folder of its workspace, so that neither the user's settings
//! nor a `.gemini` folder of the reviewed repository take part. A generated policy and the list of
//! core tools, either of which holds alone, leave it four tools that read: the level is
//! `tool-restricted`. Plan mode alone would not do, because a model may leave it.
//! What each option does was measured with Gemini CLI 0.61.0.

mod command;
mod dialogue;
mod failure;
mod home;
mod mentions;
mod preflight;
#[cfg(test)]
mod replay;

use diffwarden_actors::engine::{
    Capabilities, CommandSpec, Engine, Place, Preflight, RepairRequest, ReviewRequest, Start,
};
use diffwarden_actors::model::{ErrorCode, Failure};

use self::dialogue::StreamDialogue;
use self::home::GeminiHome;
use super::Host;
use super::executable::Resolved;
use super::settings::ReviewerSettings;
use super::shared::{self, Choices, Program};

/// Gemini CLI, in the words of messages.
pub(in crate::engines) const PROGRAM: Program = Program {
    title: "Gemini",
    name: "gemini",
    command: "gemini",
    login: "run `gemini` once and log in, or set GEMINI_API_KEY",
    install: "npm install -g @google/gemini-cli",
};

/// Gemini, configured for one reviewer, reached through its command line.
#[derive(Debug)]
pub struct GeminiCli {
    choices: Choices,
    executable: Result<Resolved, Failure>,
    home: GeminiHome,
}

impl GeminiCli {
    /// Reads what the machine has to say: where the executable is, and how the user's own Gemini
    /// logs in.
    ///
    /// # Errors
    ///
    /// Fails with exit code 2 when an option has an unknown value, or when a provider is named:
    /// Gemini has none to choose from. Everything else is reported by preflight.
    pub fn new(settings: &ReviewerSettings, host: &Host) -> Result<Self, Failure> {
        let choices = Choices::from_settings(settings)?;
        if let Some(provider) = &choices.provider {
            return Err(Failure::new(
                ErrorCode::InvalidConfig,
                format!("a gemini reviewer cannot be routed through a provider ({provider})"),
            )
            .hint("remove `provider` from the reviewer's entry, or choose another engine"));
        }
        Ok(Self {
            executable: choices.resolve(&PROGRAM, host),
            choices,
            home: GeminiHome::read(&host.env),
        })
    }

    fn start(
        &self,
        command: CommandSpec,
        executable: &Resolved,
        capabilities: &Capabilities,
    ) -> Result<Start, Failure> {
        self.choices.check_stdin(&PROGRAM, &command)?;
        let mut metadata = self.choices.metadata();
        metadata.append(&mut self.choices.transport_metadata(executable));
        metadata.append(&mut command::policy_metadata());
        shared::put_version(&mut metadata, capabilities);
        Ok(Start::Process {
            command,
            dialogue: Box::new(StreamDialogue::new(metadata)),
        })
    }
}

impl Engine for GeminiCli {
    fn preflight(&self, place: &Place) -> Result<Preflight, Failure> {
        let executable = self.executable.clone()?;
        self.home.check()?;
        let commands = preflight::probes(&executable, place);
        let choices = self.choices.clone();
        Ok(Preflight::Probe {
            commands,
            judge: Box::new(move |captured| preflight::judge(&choices, &executable, &captured)),
        })
    }

    fn review(&self, request: &ReviewRequest) -> Result<Start, Failure> {
        let executable = self.executable.clone()?;
        let prompt = shared::whole_prompt(request);
        let command =
            command::review_command(&self.choices, &executable, &self.home, request, &prompt)?;
        self.start(command, &executable, &request.capabilities)
    }

    fn repair(&self, request: &RepairRequest) -> Option<Result<Start, Failure>> {
        let start = || {
            let executable = self.executable.clone()?;
            let command = command::repair_command(&self.choices, &executable, &self.home, request)?;
            self.start(command, &executable, &request.capabilities)
        };
        Some(start())
    }
}

#[cfg(test)]
mod tests {
    use super::shared::testing::{repair_request, request, settings};
    use super::*;
    use crate::env::Environment;
    use diffwarden_actors::model::EngineName;

    fn host() -> Host {
        Host {
            env: Environment::from_iter([("PATH", "/bin:/usr/bin"), ("HOME", "/none")]),
            repo_root: None,
        }
    }

    fn engine(executable: &str) -> GeminiCli {
        let mut settings = settings(EngineName::Gemini);
        let name = ("executable".to_owned(), executable.into());
        settings.options.cli.extend([name]);
        GeminiCli::new(&settings, &host()).unwrap()
    }

    #[test]
    fn a_missing_executable_fails_preflight_and_review_alike() {
        let engine = engine("no-such-gemini");
        let request = request("prompt", &[]);
        let at_preflight = engine.preflight(&request.place).err();
        let at_review = engine.review(&request).err();
        assert_eq!(at_preflight, at_review);
        let failure = at_preflight.unwrap();
        assert_eq!(failure.code, ErrorCode::MissingRequirement);
        assert!(failure.message.contains("`no-such-gemini`"), "{failure}");
    }

    #[test]
    fn a_provider_is_refused_with_exit_2() {
        let mut settings = settings(EngineName::Gemini);
        settings.provider = Some("openrouter".into());
        let failure = GeminiCli::new(&settings, &host()).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.message.contains("openrouter"), "{failure}");
    }

    #[test]
    fn a_repair_is_a_process_of_its_own() {
        let Some(Ok(Start::Process { command, .. })) =
            engine("sh").repair(&repair_request("transcribe", &[]))
        else {
            panic!("Gemini can repair");
        };
        assert_eq!(command.stdin, b"transcribe");
        let missing = engine("no-such-gemini").repair(&repair_request("transcribe", &[]));
        assert!(matches!(missing, Some(Err(_))));
    }
}
