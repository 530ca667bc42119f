//! The command line of one review or repair with `opencode run`, its environment and its files.
//!
//! The prompt goes through standard input; the command line shows in process lists. OpenCode takes
//! `@path` in it as it stands, and attaches nothing.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use diffwarden_actors::engine::{CommandSpec, Place, PlacedFile};
use diffwarden_actors::model::Failure;
use serde_json::{Map, Value, json};

use super::PROGRAM;
use super::home::{self, OpencodeHome};
use crate::engines::executable::Resolved;
use crate::engines::shared::text_of_path;

/// What the generated agent is told in place of OpenCode's own instructions, which are those of an
/// agent that edits.
const AGENT_PROMPT: &str = "You review changes to code. You read files to check what you claim, by \
                            absolute paths, and change nothing. Follow the user's message exactly \
                            and end with the answer it asks for.";

/// What a review may use.
pub(super) const TOOLS: [&str; 3] = ["read", "glob", "grep"];

/// The folder for temporary files, relative to a private folder.
const TEMPORARY: &str = "tmp";

/// Variables that would bring in configuration, share a session, or take away the logins that are
/// built in as plugins.
const DROPPED: [&str; 7] = [
    "OPENCODE_AUTO_SHARE",
    "OPENCODE_CONFIG",
    "OPENCODE_CONFIG_DIR",
    "OPENCODE_DISABLE_DEFAULT_PLUGINS",
    "OPENCODE_EXPERIMENTAL",
    "OPENCODE_TEST_HOME",
    "OPENCODE_TUI_CONFIG",
];

/// Switches that keep OpenCode from looking for anything beside what it is given.
const SWITCHES: [&str; 7] = [
    "OPENCODE_DISABLE_PROJECT_CONFIG",
    "OPENCODE_DISABLE_CLAUDE_CODE",
    "OPENCODE_DISABLE_EXTERNAL_SKILLS",
    "OPENCODE_DISABLE_AUTOUPDATE",
    "OPENCODE_DISABLE_MODELS_FETCH",
    "OPENCODE_DISABLE_LSP_DOWNLOAD",
    "OPENCODE_DISABLE_SHARE",
];

/// What every command of one reviewer has in common.
#[derive(Debug)]
pub(super) struct Invocation<'a> {
    pub(super) executable: &'a Resolved,
    pub(super) home: &'a OpencodeHome,
    /// The name of the generated agent.
    pub(super) agent: &'a str,
    /// The model, behind its provider.
    pub(super) model: String,
    /// The variant of the model.
    pub(super) effort: Option<&'a str>,
}

impl Invocation<'_> {
    /// Builds the command that reviews.
    ///
    /// # Errors
    ///
    /// Fails when the user's configuration cannot be read, or when the repository's path is not
    /// UTF-8, which a policy cannot express.
    pub(super) fn review(&self, place: &Place, prompt: String) -> Result<CommandSpec, Failure> {
        let repository = text_of_path(&PROGRAM, &place.repo_root)?;
        self.run(place, &review_policy(repository), prompt)
    }

    /// Builds the command that transcribes an answer: without tools and without the repository.
    ///
    /// # Errors
    ///
    /// Fails when the user's configuration cannot be read.
    pub(super) fn repair(&self, place: &Place, prompt: String) -> Result<CommandSpec, Failure> {
        self.run(place, &denials(), prompt)
    }

    fn run(
        &self,
        place: &Place,
        policy: &Map<String, Value>,
        prompt: String,
    ) -> Result<CommandSpec, Failure> {
        let mut args: Vec<OsString> = [
            "run",
            "--pure",
            "--format",
            "json",
            // Without a title a second request asks for one, with the whole prompt again.
            "--title",
            "review",
            // Otherwise the reason of some failures is said nowhere.
            "--print-logs",
            "--log-level",
            "ERROR",
            "--agent",
            self.agent,
        ]
        .map(OsString::from)
        .into();
        args.push(format!("--model={}", self.model).into());
        if let Some(effort) = self.effort {
            args.extend(["--variant".into(), effort.into()]);
        }
        let mut command = self.command(&place.run_dir, Path::new(""), args, policy)?;
        command.stdin = prompt.into_bytes();
        Ok(command)
    }

    /// Builds a command of preflight whose private folders lie in `folder` of the run folder.
    ///
    /// # Errors
    ///
    /// Fails when the user's configuration cannot be read.
    pub(super) fn probe(
        &self,
        place: &Place,
        folder: &str,
        args: &[&str],
    ) -> Result<CommandSpec, Failure> {
        let args = args.iter().map(OsString::from).collect();
        let mut probe = self.command(&place.run_dir, Path::new(folder), args, &denials())?;
        probe.keep_stdout = true;
        Ok(probe)
    }

    fn command(
        &self,
        run_dir: &Path,
        folder: &Path,
        args: Vec<OsString>,
        policy: &Map<String, Value>,
    ) -> Result<CommandSpec, Failure> {
        // Collected anew, because joining nothing leaves a slash at the end.
        let base: PathBuf = run_dir.join(folder).components().collect();
        let config = Value::from(self.home.carried()?);
        // The working folder is the configuration folder, so that none is searched for above it.
        let mut command = CommandSpec::new(&self.executable.path, base.join(home::FOLDER));
        command.args = args;
        command.env = self.environment(&base, policy);
        command.files = vec![
            PlacedFile {
                name: folder.join(home::FOLDER).join(home::CONFIG),
                contents: config.to_string().into_bytes(),
            },
            PlacedFile {
                name: folder.join(TEMPORARY).join(".keep"),
                contents: Vec::new(),
            },
        ];
        Ok(command)
    }

    fn environment(
        &self,
        base: &Path,
        policy: &Map<String, Value>,
    ) -> Vec<(OsString, Option<OsString>)> {
        let mut env: Vec<_> = DROPPED.iter().map(|name| (name.into(), None)).collect();
        let mut set = |name: &str, value: OsString| env.push((name.into(), Some(value)));
        set("XDG_CONFIG_HOME", base.into());
        set("TMPDIR", base.join(TEMPORARY).into());
        set("OPENCODE_DB", ":memory:".into());
        // Keeps it from installing a package into its configuration folder.
        set("npm_config_offline", "true".into());
        set(
            "OPENCODE_CONFIG_CONTENT",
            config(self.agent, policy).to_string().into(),
        );
        set(
            "OPENCODE_PERMISSION",
            Value::from(policy.clone()).to_string().into(),
        );
        for name in SWITCHES {
            set(name, "1".into());
        }
        env
    }
}

/// Returns the configuration that overrides every other.
fn config(agent: &str, policy: &Map<String, Value>) -> Value {
    let mut config = json!({
        "share": "disabled",
        "autoupdate": false,
        "snapshot": false,
        "experimental": {"continue_loop_on_deny": true},
    });
    let mut agents = Map::new();
    agents.insert(
        agent.to_owned(),
        json!({
            "mode": "primary",
            "description": "Reviews a change without changing anything.",
            "prompt": AGENT_PROMPT,
            "permission": policy,
        }),
    );
    config["agent"] = agents.into();
    config
}

/// Returns the rules that deny every tool. The last rule that matches counts, and a rule for
/// everything keeps the place that an earlier configuration gave it; so the tools that act are
/// named as well.
fn denials() -> Map<String, Value> {
    [
        "*",
        "bash",
        "edit",
        "task",
        "webfetch",
        "websearch",
        "todowrite",
        "skill",
    ]
    .map(|name| (name.to_owned(), "deny".into()))
    .into_iter()
    .collect()
}

/// Returns the rules of a review: reading, and nothing outside the repository.
fn review_policy(repository: &str) -> Map<String, Value> {
    let mut policy = denials();
    policy.extend(TOOLS.map(|name| (name.to_owned(), "allow".into())));
    let repository = repository.trim_end_matches('/');
    let mut outside = Map::new();
    outside.insert("*".to_owned(), "deny".into());
    outside.insert(format!("{repository}/*"), "allow".into());
    policy.insert("external_directory".to_owned(), outside.into());
    policy
}

/// Returns how the run is held to reading, as `adapter_metadata` shows it.
pub(super) fn policy_metadata() -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("opencodeAgent".to_owned(), "generated".into());
    metadata.insert("opencodeAllowedTools".to_owned(), json!(TOOLS));
    metadata.insert("opencodeConfig".to_owned(), "private".into());
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::shared::testing::{request, resolved};
    use crate::env::Environment;

    fn no_home() -> OpencodeHome {
        OpencodeHome::read(&Environment::from_iter([("XDG_CONFIG_HOME", "/no/such")]))
    }

    fn with<T>(act: impl FnOnce(&Invocation<'_>, &Place) -> T) -> T {
        let (executable, home) = (resolved("opencode"), no_home());
        let invocation = Invocation {
            executable: &executable,
            home: &home,
            agent: "diffwarden-x",
            model: "corp/m1".into(),
            effort: Some("max"),
        };
        act(&invocation, &request("", &[]).place)
    }

    fn variable(command: &CommandSpec, name: &str) -> Value {
        let found = command.env.iter().find(|(key, _)| key == name);
        let value = found.unwrap().1.as_ref().unwrap().to_str().unwrap();
        serde_json::from_str(value).unwrap()
    }

    #[test]
    fn command_line_with_model_and_effort() {
        let command = with(|run, place| run.review(place, "prompt".into())).unwrap();
        let words: Vec<_> = command
            .args
            .iter()
            .map(|arg| arg.to_str().unwrap())
            .collect();
        insta::assert_snapshot!(words.join(" ").replace(" --", "\n--"));
        assert_eq!(command.stdin, b"prompt");
    }

    #[test]
    fn it_runs_in_its_own_configuration_folder_outside_the_repository() {
        let command = with(|run, place| run.review(place, "prompt".into())).unwrap();
        assert_eq!(command.cwd, Path::new("/run/review/opencode"));
        let config = ("XDG_CONFIG_HOME".into(), Some("/run/review".into()));
        assert!(command.env.contains(&config));
        assert!(command.env.contains(&("OPENCODE_CONFIG".into(), None)));
    }

    #[test]
    fn both_locks_carry_the_same_policy() {
        let command = with(|run, place| run.review(place, "prompt".into())).unwrap();
        let policy = variable(&command, "OPENCODE_PERMISSION");
        let config = variable(&command, "OPENCODE_CONFIG_CONTENT");
        assert_eq!(config["agent"]["diffwarden-x"]["permission"], policy);
        insta::assert_json_snapshot!(policy);
    }

    #[test]
    fn a_repair_and_a_probe_may_do_nothing() {
        let repair = with(|run, place| run.repair(place, "transcribe".into())).unwrap();
        let probe = with(|run, place| run.probe(place, "models", &["models", "corp"])).unwrap();
        for command in [repair, probe] {
            let policy = variable(&command, "OPENCODE_PERMISSION");
            let rules = policy.as_object().unwrap();
            assert!(rules.values().all(|rule| rule == "deny"), "{policy}");
        }
    }
}
