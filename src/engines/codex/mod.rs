//! Codex over its `codex exec` command line.
//!
//! The command runs in a read-only sandbox of the operating system (on Linux: bubblewrap with its
//! own mount, network and process namespaces), so the read-only level is `enforced`; preflight
//! tries that sandbox and fails where it does not work. It gets a private `CODEX_HOME` inside the
//! run folder: the user's rules, hooks, skills, MCP servers and notifications never take part in a
//! review, while credentials and the choice of provider do. What each option does was measured with
//! codex-cli 0.171.0.

mod answer;
mod app_server;
mod command;
mod dialogue;
mod failure;
mod home;
mod options;
mod preflight;
#[cfg(test)]
mod replay;
mod sandbox;

use diffwarden_actors::engine::{
    Capabilities, CommandSpec, Engine, Place, Preflight, RepairRequest, ReviewRequest, Start,
};
use diffwarden_actors::model::Failure;

pub use self::app_server::CodexAppServer;
use self::dialogue::ExecDialogue;
use self::home::CodexHome;
use self::options::Options;
use self::sandbox::Evidence;
use super::Host;
use super::executable::Resolved;
use super::settings::ReviewerSettings;
use super::shared::{self, Program};

/// Codex, in the words of messages.
pub(in crate::engines) const PROGRAM: Program = Program {
    title: "Codex",
    name: "codex",
    command: "codex exec",
    login: "run `codex login`, or set CODEX_API_KEY",
    install: "npm install -g @openai/codex",
};

/// Codex, configured for one reviewer, reached through `codex exec`.
#[derive(Debug)]
pub struct CodexExec {
    options: Options,
    executable: Result<Resolved, Failure>,
    home: CodexHome,
}

impl CodexExec {
    /// Reads what the machine has to say: where the executable is, and the user's own Codex
    /// configuration.
    ///
    /// # Errors
    ///
    /// Fails when an option has an unknown value. Everything else is reported by preflight.
    pub fn new(settings: &ReviewerSettings, host: &Host) -> Result<Self, Failure> {
        let options = Options::from_settings(settings)?;
        Ok(Self {
            executable: options.choices.resolve(&PROGRAM, host),
            options,
            home: CodexHome::read(&host.env),
        })
    }
}

impl Engine for CodexExec {
    fn preflight(&self, place: &Place) -> Result<Preflight, Failure> {
        let executable = self.executable.clone()?;
        self.home.config()?;
        let commands = preflight::probes(&executable, place);
        let options = self.options.clone();
        Ok(Preflight::Probe {
            commands,
            judge: Box::new(move |captured| preflight::judge(&options, &executable, &captured)),
        })
    }

    fn review(&self, request: &ReviewRequest) -> Result<Start, Failure> {
        let executable = self.executable.clone()?;
        let prompt = shared::whole_prompt(request);
        let command =
            command::review_command(&self.options, &executable, &self.home, request, prompt)?;
        self.start(command, &executable, &request.capabilities)
    }

    fn repair(&self, request: &RepairRequest) -> Option<Result<Start, Failure>> {
        let start = || {
            let executable = self.executable.clone()?;
            let command = command::repair_command(&self.options, &executable, &self.home, request)?;
            self.start(command, &executable, &request.capabilities)
        };
        Some(start())
    }
}

impl CodexExec {
    fn start(
        &self,
        command: CommandSpec,
        executable: &Resolved,
        capabilities: &Capabilities,
    ) -> Result<Start, Failure> {
        self.options.choices.check_stdin(&PROGRAM, &command)?;
        let mut metadata = self.options.metadata();
        metadata.append(&mut self.options.choices.transport_metadata(executable));
        metadata.append(&mut Evidence::of(capabilities).metadata());
        shared::put_version(&mut metadata, capabilities);
        let dialogue = ExecDialogue::new(metadata, self.home.unreachable_store());
        Ok(Start::Process {
            command,
            dialogue: Box::new(dialogue),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::options::tests::settings;
    use super::shared::testing::{repair_request, request};
    use super::*;
    use crate::env::Environment;
    use diffwarden_actors::model::ErrorCode;

    fn engine(executable: &str) -> CodexExec {
        let mut settings = settings();
        let name = ("executable".to_owned(), executable.into());
        settings.options.cli.extend([name]);
        let host = Host {
            env: Environment::from_iter([("PATH", "/bin:/usr/bin"), ("CODEX_HOME", "/none")]),
            repo_root: None,
        };
        CodexExec::new(&settings, &host).unwrap()
    }

    #[test]
    fn a_missing_executable_fails_preflight_and_review_alike() {
        let engine = engine("no-such-codex");
        let place = request("", &[]).place;
        let Err(at_preflight) = engine.preflight(&place) else {
            panic!("there is nothing to run");
        };
        let Err(at_review) = engine.review(&request("", &[])) else {
            panic!("there is nothing to run");
        };
        assert_eq!(at_preflight, at_review);
        assert_eq!(at_preflight.code, ErrorCode::MissingRequirement);
        assert!(at_preflight.message.contains("`no-such-codex`"));
    }

    #[test]
    fn a_prompt_over_the_limit_is_refused_before_anything_runs() {
        let engine = engine("sh");
        let longest = "é".repeat(1_048_576);
        assert!(engine.review(&request(&longest, &[])).is_ok());
        let longer = longest + "x";
        assert!(engine.review(&request(&longer, &[])).is_err());
        let repair = engine.repair(&repair_request(&longer, &[]));
        assert!(matches!(repair, Some(Err(_))));
    }

    #[test]
    fn a_repair_is_a_process_of_its_own() {
        let Some(Ok(Start::Process { command, .. })) =
            engine("sh").repair(&repair_request("transcribe", &[]))
        else {
            panic!("Codex can repair");
        };
        assert_eq!(command.stdin, b"transcribe");
        let missing = engine("no-such-codex").repair(&repair_request("transcribe", &[]));
        assert!(matches!(missing, Some(Err(_))));
    }

    #[test]
    fn a_broken_configuration_fails_before_anything_runs() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("config.toml"), "model = ").unwrap();
        let host = Host {
            env: Environment::from_iter([
                ("PATH", std::ffi::OsString::from("/bin:/usr/bin")),
                ("CODEX_HOME", folder.path().into()),
            ]),
            repo_root: None,
        };
        let mut settings = settings();
        settings
            .options
            .cli
            .extend([("executable".to_owned(), "sh".into())]);
        let engine = CodexExec::new(&settings, &host).unwrap();
        let Err(failure) = engine.preflight(&request("", &[]).place) else {
            panic!("the configuration cannot be read");
        };
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
    }
}
