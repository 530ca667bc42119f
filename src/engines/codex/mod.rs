//! Codex over its `codex exec` command line.
//!
//! The command runs in a read-only sandbox of the operating system (on Linux: bubblewrap with its
//! own mount, network and process namespaces), so the read-only level is `enforced`. It gets a
//! private `CODEX_HOME` inside the run folder: the user's rules, hooks, skills, MCP servers and
//! notifications never take part in a review, while credentials and the choice of provider do.
//! What each option does was measured with codex-cli 0.171.0.

mod answer;
mod command;
mod dialogue;
mod failure;
mod home;
mod options;
mod preflight;
#[cfg(test)]
mod replay;
pub(super) mod text;

use diffwarden_actors::engine::{
    Capabilities, CommandSpec, Engine, Place, Preflight, RepairRequest, ReviewRequest, Start,
};
use diffwarden_actors::model::{ErrorCode, Failure};

use self::dialogue::ExecDialogue;
use self::home::CodexHome;
use self::options::Options;
use super::Host;
use super::executable::{self, Resolved};
use super::settings::ReviewerSettings;

/// The command that installs Codex, for hints.
pub const INSTALL: &str = "npm install -g @openai/codex";

/// The most Unicode scalar values that Codex takes as a prompt; one more is refused.
pub const MAX_PROMPT_CHARS: usize = 1_048_576;

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
        let executable = executable::resolve(options.executable.as_deref(), "codex", host)
            .map_err(|not_found| not_found.into_failure(INSTALL));
        Ok(Self {
            options,
            executable,
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
        let prompt = whole_prompt(request)?;
        let command =
            command::review_command(&self.options, &executable, &self.home, request, prompt)?;
        Ok(self.start(command, &executable, &request.capabilities))
    }

    fn repair(&self, request: &RepairRequest) -> Option<Result<Start, Failure>> {
        let start = || {
            let executable = self.executable.clone()?;
            check_size(&request.prompt)?;
            let command = command::repair_command(&self.options, &executable, &self.home, request)?;
            Ok(self.start(command, &executable, &request.capabilities))
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
    ) -> Start {
        let mut metadata = self.options.metadata();
        metadata.append(&mut preflight::transport_metadata(executable));
        if let Some(version) = &capabilities.version {
            metadata.insert("version".to_owned(), version.as_str().into());
        }
        let dialogue = ExecDialogue::new(metadata, self.home.unreachable_store());
        Start::Process {
            command,
            dialogue: Box::new(dialogue),
        }
    }
}

/// Returns the prompt as Codex reads it: one text on standard input.
fn whole_prompt(request: &ReviewRequest) -> Result<String, Failure> {
    let prompt = match &request.prompt.system {
        Some(system) => format!("{system}\n\n{}", request.prompt.user),
        None => request.prompt.user.clone(),
    };
    check_size(&prompt)?;
    Ok(prompt)
}

/// Refuses what Codex would refuse.
fn check_size(prompt: &str) -> Result<(), Failure> {
    let size = prompt.chars().count();
    if size > MAX_PROMPT_CHARS {
        return Err(Failure::new(
            ErrorCode::ReviewerFailed,
            format!("the prompt has {size} characters, and Codex takes at most {MAX_PROMPT_CHARS}"),
        )
        .hint("review a smaller change, or leave out generated files"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::command::tests::{repair_request, request};
    use super::options::tests::settings;
    use super::*;
    use crate::env::Environment;
    use diffwarden_actors::prompt::Prompt;
    use std::sync::Arc;

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

    fn asked(user: String, system: Option<&str>) -> ReviewRequest {
        let mut request = request(&[]);
        let prompt = Arc::make_mut(&mut request.prompt);
        *prompt = Prompt {
            system: system.map(str::to_owned),
            user,
            ..prompt.clone()
        };
        request
    }

    #[test]
    fn a_missing_executable_fails_preflight_and_review_alike() {
        let engine = engine("no-such-codex");
        let place = request(&[]).place;
        let Err(at_preflight) = engine.preflight(&place) else {
            panic!("there is nothing to run");
        };
        let Err(at_review) = engine.review(&request(&[])) else {
            panic!("there is nothing to run");
        };
        assert_eq!(at_preflight, at_review);
        assert_eq!(at_preflight.code, ErrorCode::MissingRequirement);
        assert!(at_preflight.message.contains("`no-such-codex`"));
    }

    #[test]
    fn the_prompt_is_counted_in_characters_not_in_bytes() {
        let engine = engine("sh");
        let longest = "é".repeat(MAX_PROMPT_CHARS);
        assert!(engine.review(&asked(longest.clone(), None)).is_ok());
        let Err(failure) = engine.review(&asked(longest + "x", None)) else {
            panic!("Codex would refuse this");
        };
        assert!(failure.message.contains("1048577"), "{failure}");
        assert!(failure.message.contains("1048576"), "{failure}");
    }

    #[test]
    fn a_repair_is_a_process_of_its_own() {
        let Some(Ok(Start::Process { command, .. })) = engine("sh").repair(&repair_request(&[]))
        else {
            panic!("Codex can repair");
        };
        assert_eq!(command.stdin, b"transcribe");
        let missing = engine("no-such-codex").repair(&repair_request(&[]));
        assert!(matches!(missing, Some(Err(_))));
    }

    #[test]
    fn a_system_part_goes_in_front() {
        let prompt = whole_prompt(&asked("user".to_owned(), Some("system"))).unwrap();
        assert_eq!(prompt, "system\n\nuser");
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
        let Err(failure) = engine.preflight(&request(&[]).place) else {
            panic!("the configuration cannot be read");
        };
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
    }
}
