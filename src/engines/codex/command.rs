//! The command line of one review or repair with `codex exec`, its environment and its files.
//!
//! The prompt goes through standard input; the command line shows in process lists.

use std::ffi::OsString;
use std::path::Path;

use diffwarden_actors::engine::{
    Capabilities, CommandSpec, Place, PlacedFile, RepairRequest, ReviewRequest,
};
use diffwarden_actors::model::Failure;

use super::home::{self, CodexHome};
use super::options::Options;
use crate::engines::executable::Resolved;
use crate::engines::shared;

/// The JSON schema of the answer. The model service applies it strictly, which asks for every
/// member to be required.
pub(super) const SCHEMA: &str = include_str!("review.schema.json");

/// The private home, relative to the run folder.
pub(super) const HOME: &str = "codex-home";

/// The schema's file, relative to the run folder.
const SCHEMA_FILE: &str = "review.schema.json";

/// The file Codex writes its last message to, relative to the run folder.
const ANSWER_FILE: &str = "last-message.txt";

/// Options that are passed only to a Codex that lists them in its help, with their values.
/// `--strict-config` makes Codex refuse to start when it does not know one of the settings below,
/// instead of going on without it.
const OPTIONAL: [&[&str]; 3] = [
    &["--color", "never"],
    &["--ignore-rules"],
    &["--strict-config"],
];

/// Lets Codex run outside of a repository.
const NO_REPOSITORY: &str = "--skip-git-repo-check";

/// What a review never needs: tools that are no part of reading, instructions from the repository
/// or the user, programs that run outside the sandbox, and traffic that is no part of the review.
/// Written as settings, because a feature name that `--disable` does not know is fatal.
pub(super) const POLICY: [&str; 24] = [
    "analytics.enabled=false",
    "check_for_update_on_startup=false",
    "features.plugins=false",
    "features.apps=false",
    "features.hooks=false",
    "features.goals=false",
    "features.multi_agent=false",
    "agents.enabled=false",
    "features.image_generation=false",
    "features.browser_use=false",
    "features.computer_use=false",
    "features.shell_snapshot=false",
    "features.skill_search=false",
    "features.tool_suggest=false",
    "features.sleep_tool=false",
    "features.memories=false",
    // On, a review without a network would wait for ever.
    "features.unbounded_connection_retries=false",
    "tools.experimental_request_user_input.enabled=false",
    "skills.include_instructions=false",
    "skills.bundled.enabled=false",
    "project_doc_max_bytes=0",
    "notify=[]",
    "allow_login_shell=false",
    // Keeps variables named *KEY*, *TOKEN* and *SECRET* from the commands a model runs.
    "shell_environment_policy.ignore_default_excludes=false",
];

/// What takes the remaining tools away: a repair only copies. Catalog models keep `apply_patch`,
/// which the sandbox refuses.
pub(super) const TOOLLESS: [&str; 3] = [
    "features.shell_tool=false",
    "features.unified_exec=false",
    "features.view_image=false",
];

/// Variables that would move commands, logs or state out of what the command line sets, or that
/// tell Codex it already runs inside another Codex. Their names are those found in the executable;
/// credentials (`CODEX_API_KEY`, `CODEX_ACCESS_TOKEN`, keys of providers) and certificates stay.
const DROPPED: [&str; 9] = [
    "CODEX_EXEC_SERVER_URL",
    "CODEX_SQLITE_HOME",
    "CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
    "CODEX_PERMISSION_PROFILE",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "CODEX_SESSION_ID",
    "CODEX_THREAD_ID",
    "RUST_LOG",
];

/// Builds the command that reviews.
///
/// # Errors
///
/// Fails when the user's Codex configuration cannot be read.
pub(super) fn review_command(
    options: &Options,
    executable: &Resolved,
    home: &CodexHome,
    request: &ReviewRequest,
    prompt: String,
) -> Result<CommandSpec, Failure> {
    let run = Run {
        place: &request.place,
        capabilities: &request.capabilities,
        settings: &[],
        web_search: options.web_search.mode(),
    };
    command(options, executable, home, &run, SCHEMA.into(), prompt)
}

/// Builds the command that transcribes an answer: without tools and with the schema of its reply.
///
/// # Errors
///
/// Fails when the user's Codex configuration cannot be read.
pub(super) fn repair_command(
    options: &Options,
    executable: &Resolved,
    home: &CodexHome,
    request: &RepairRequest,
) -> Result<CommandSpec, Failure> {
    let run = Run {
        place: &request.place,
        capabilities: &request.capabilities,
        settings: &TOOLLESS,
        web_search: Some("disabled"),
    };
    let schema = request.schema.to_string();
    let prompt = request.prompt.clone();
    command(options, executable, home, &run, schema, prompt)
}

/// What tells one kind of run from another.
struct Run<'a> {
    place: &'a Place,
    capabilities: &'a Capabilities,
    /// Settings on top of [`POLICY`].
    settings: &'static [&'static str],
    web_search: Option<&'static str>,
}

fn command(
    options: &Options,
    executable: &Resolved,
    home: &CodexHome,
    run: &Run<'_>,
    schema: String,
    prompt: String,
) -> Result<CommandSpec, Failure> {
    let place = run.place;
    let mut command = CommandSpec::new(&executable.path, &place.repo_root);
    command.args = arguments(options, run);
    command.env = environment(&place.run_dir.join(HOME));
    command.files = vec![
        PlacedFile {
            name: SCHEMA_FILE.into(),
            contents: schema.into_bytes(),
        },
        PlacedFile {
            name: Path::new(HOME).join(home::CONFIG),
            contents: home.private_config(options)?.into(),
        },
    ];
    if let Some(credentials) = home.credentials() {
        let name = Path::new(HOME).join("auth.json");
        command.links.push((name, credentials.to_path_buf()));
    }
    command.stdin = prompt.into_bytes();
    command.outputs = vec![ANSWER_FILE.into()];
    Ok(command)
}

/// Returns the environment of every `codex` that is run, with `home` as its private home.
pub(super) fn environment(home: &Path) -> Vec<(OsString, Option<OsString>)> {
    let mut env: Vec<_> = DROPPED.iter().map(|name| (name.into(), None)).collect();
    env.push(("CODEX_HOME".into(), Some(home.into())));
    // Codex's sandbox leaves folders behind where temporary files go.
    env.push(("TMPDIR".into(), Some(home.into())));
    env
}

/// Builds a command of preflight. It runs in the private folder with that folder as its home, so
/// that asking leaves no trace in the user's home and depends on nothing in the repository.
pub(super) fn probe(executable: &Resolved, place: &Place, args: &[&str]) -> CommandSpec {
    let mut probe = shared::probe(executable, &place.run_dir, args);
    probe.env = environment(&place.run_dir);
    probe
}

fn arguments(options: &Options, run: &Run<'_>) -> Vec<OsString> {
    let place = run.place;
    let mut args: Vec<OsString> = ["exec", "--json", "--sandbox", "read-only", "--ephemeral"]
        .map(OsString::from)
        .into();
    for words in OPTIONAL {
        if run.capabilities.flags.contains(words[0]) {
            args.extend(words.iter().map(OsString::from));
        }
    }
    // A snapshot is no repository, and Codex wants to be told that this is meant.
    if run.capabilities.flags.contains(NO_REPOSITORY) && !place.repo_root.join(".git").exists() {
        args.push(NO_REPOSITORY.into());
    }
    for (name, value) in [
        ("--output-schema", place.run_dir.join(SCHEMA_FILE)),
        ("--output-last-message", place.run_dir.join(ANSWER_FILE)),
        ("--cd", place.repo_root.clone()),
    ] {
        args.extend([name.into(), value.into()]);
    }
    if let Some(model) = options.choices.model_argument() {
        args.extend(["--model".into(), model.into()]);
    }
    let mut set = |setting: &str| args.extend(["-c".into(), setting.into()]);
    if let Some(effort) = options.choices.native_effort() {
        set(&format!("model_reasoning_effort=\"{effort}\""));
    }
    if let Some(mode) = run.web_search {
        set(&format!("web_search=\"{mode}\""));
    }
    for setting in POLICY.iter().chain(run.settings) {
        set(setting);
    }
    args.push("-".into());
    args
}

#[cfg(test)]
mod tests {
    use super::super::options::WebSearch;
    use super::super::options::tests::settings;
    use super::*;
    use crate::engines::settings::Effort;
    use crate::engines::shared::testing::{asked, repair_request, request, resolved};
    use crate::env::Environment;

    fn command(options: &Options, flags: &[&str], home: &CodexHome) -> CommandSpec {
        let (executable, request) = (resolved("codex"), request("", flags));
        review_command(options, &executable, home, &request, "prompt".into()).unwrap()
    }

    fn no_home() -> CodexHome {
        CodexHome::read(&Environment::from_iter([("CODEX_HOME", "/no/such/folder")]))
    }

    fn line(options: &Options, flags: &[&str]) -> String {
        words_of(&command(options, flags, &no_home()))
    }

    fn words_of(command: &CommandSpec) -> String {
        let args = &command.args;
        let words: Vec<_> = args.iter().map(|arg| arg.to_str().unwrap()).collect();
        words.join(" ").replace(" -", "\n-")
    }

    fn options() -> Options {
        Options::from_settings(&settings()).unwrap()
    }

    #[test]
    fn default_command_line() {
        let flags = ["--color", "--ignore-rules", "--strict-config", "--trust"];
        insta::assert_snapshot!(line(&options(), &flags));
    }

    #[test]
    fn command_line_with_model_and_effort() {
        let mut options = options();
        options.choices.provider = Some("openrouter".into());
        options.choices.model = Some(asked("m1".to_owned()));
        options.choices.effort = Some(asked(Effort::Max));
        insta::assert_snapshot!(line(&options, &["--ignore-rules"]));
    }

    #[test]
    fn command_line_that_inherits_web_search() {
        let mut options = options();
        options.web_search = WebSearch::Inherit;
        insta::assert_snapshot!(line(&options, &[]));
    }

    #[test]
    fn command_line_of_a_repair() {
        let mut options = options();
        options.web_search = WebSearch::Inherit;
        let request = repair_request(
            "transcribe",
            &["--color", "--ignore-rules", "--strict-config"],
        );
        let command = repair_command(&options, &resolved("codex"), &no_home(), &request).unwrap();
        insta::assert_snapshot!(words_of(&command));
        assert_eq!(command.stdin, b"transcribe");
        let schema = &command.files[0];
        assert_eq!(schema.name, Path::new(SCHEMA_FILE));
        let schema: serde_json::Value = serde_json::from_slice(&schema.contents).unwrap();
        assert_eq!(&schema, request.schema);
    }

    #[test]
    fn the_prompt_is_on_standard_input_and_nowhere_else() {
        let command = command(&options(), &[], &no_home());
        assert_eq!(command.stdin, b"prompt");
        assert!(!command.args.iter().any(|arg| arg == "prompt"));
        assert_eq!(command.cwd, Path::new("/repo"));
        assert!(!command.keep_stdin_open);
    }

    #[test]
    fn the_home_is_private_and_the_credentials_are_linked() {
        let folder = tempfile::tempdir().unwrap();
        let credentials = folder.path().join("auth.json");
        std::fs::write(&credentials, "{}").unwrap();
        let env = Environment::from_iter([("CODEX_HOME", folder.path())]);
        let command = command(&options(), &[], &CodexHome::read(&env));
        assert_eq!(
            command.links,
            [("codex-home/auth.json".into(), credentials)]
        );
        let home = ("CODEX_HOME".into(), Some("/run/review/codex-home".into()));
        assert!(command.env.contains(&home));
        assert!(
            command
                .env
                .contains(&("CODEX_EXEC_SERVER_URL".into(), None))
        );
        let names: Vec<_> = command
            .files
            .iter()
            .map(|file| file.name.as_path())
            .collect();
        let expected = ["review.schema.json", "codex-home/config.toml"].map(Path::new);
        assert_eq!(names, expected);
    }

    #[test]
    fn the_schema_is_as_strict_as_the_service_asks() {
        fn check(schema: &serde_json::Value) {
            if schema["type"] == "object" {
                assert_eq!(schema["additionalProperties"], false);
                let properties = schema["properties"].as_object().unwrap();
                let required = schema["required"].as_array().unwrap();
                assert_eq!(properties.len(), required.len());
                properties.values().for_each(check);
            }
            if let Some(items) = schema.get("items") {
                check(items);
            }
            if let Some(choices) = schema.get("anyOf") {
                choices.as_array().unwrap().iter().for_each(check);
            }
        }
        let schema = serde_json::from_str(SCHEMA).unwrap();
        for schema in [&schema, repair_request("", &[]).schema] {
            check(schema);
            assert!(jsonschema::validator_for(schema).is_ok());
        }
    }
}
