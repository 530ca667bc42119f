//! The command line of one review or repair with `gemini`, its environment and its files.
//!
//! The prompt goes through standard input; the command line shows in process lists.

use std::ffi::OsString;
use std::path::Path;

use diffwarden_actors::engine::{CommandSpec, Place, PlacedFile, RepairRequest, ReviewRequest};
use diffwarden_actors::model::Failure;
use serde_json::{Map, Value, json};

use super::home::{self, GeminiHome};
use super::{PROGRAM, mentions};
use crate::engines::executable::Resolved;
use crate::engines::shared::{self, Choices, text_of_path};

/// What a review may use; the policy lets the model call nothing else.
const TOOLS: [&str; 4] = ["read_file", "list_directory", "glob", "grep_search"];

/// A tool that does not exist: an empty list of tools would mean all of them.
const NO_TOOLS: [&str; 1] = ["diffwarden-none"];

/// The name of an MCP server that does not exist, so that none is started. An empty name makes
/// Gemini crash, and without the option every server of the user's is started.
const NO_SERVER: &str = "diffwarden-none";

const REVIEW_POLICY: &str = include_str!("review-policy.toml");
const REPAIR_POLICY: &str = include_str!("repair-policy.toml");

/// The private home, relative to the run folder.
const HOME: &str = "home";

/// The working folder, relative to the run folder.
const WORK: &str = "work";

/// The folder for temporary files, relative to the run folder. Gemini puts reports of errors into
/// it, which hold the prompt.
const TEMPORARY: &str = "tmp";

const POLICY_FILE: &str = "gemini-review-policy.toml";
const TRUSTED_FILE: &str = "trusted-folders.json";

/// Variables that would move settings, trust, sandbox or instructions out of what is set here, or
/// that attach Gemini to an editor.
const DROPPED: [&str; 11] = [
    "DEBUG",
    "DEBUG_MODE",
    "GEMINI_CLI_IDE_PID",
    "GEMINI_CLI_IDE_SERVER_PORT",
    "GEMINI_CLI_IDE_WORKSPACE_PATH",
    "GEMINI_CLI_SYSTEM_DEFAULTS_PATH",
    "GEMINI_CLI_SYSTEM_SETTINGS_PATH",
    "GEMINI_CLI_TRUST_WORKSPACE",
    "GEMINI_SANDBOX",
    "GEMINI_WRITE_SYSTEM_MD",
    "NODE_OPTIONS",
];

/// Builds the command that reviews.
///
/// # Errors
///
/// Fails when the user's Gemini settings cannot be read, or when the repository's path is not
/// UTF-8, which settings cannot express.
pub(super) fn review_command(
    choices: &Choices,
    executable: &Resolved,
    home: &GeminiHome,
    request: &ReviewRequest,
    prompt: &str,
) -> Result<CommandSpec, Failure> {
    let repository = &request.place.repo_root;
    let folder = text_of_path(&PROGRAM, repository)?;
    let run = Run {
        place: &request.place,
        policy: REVIEW_POLICY,
        settings: home.private_settings(&TOOLS, &[folder], choices.model.is_some())?,
        prompt: mentions::part(prompt, repository.join("@").exists()),
    };
    Ok(command(choices, executable, home, run))
}

/// Builds the command that transcribes an answer: without tools and without the repository.
///
/// # Errors
///
/// Fails when the user's Gemini settings cannot be read.
pub(super) fn repair_command(
    choices: &Choices,
    executable: &Resolved,
    home: &GeminiHome,
    request: &RepairRequest,
) -> Result<CommandSpec, Failure> {
    let run = Run {
        place: &request.place,
        policy: REPAIR_POLICY,
        settings: home.private_settings(&NO_TOOLS, &[], choices.model.is_some())?,
        prompt: mentions::part(&request.prompt, false),
    };
    Ok(command(choices, executable, home, run))
}

/// What tells one kind of run from another.
struct Run<'a> {
    place: &'a Place,
    policy: &'static str,
    settings: Value,
    prompt: String,
}

fn command(
    choices: &Choices,
    executable: &Resolved,
    home: &GeminiHome,
    run: Run<'_>,
) -> CommandSpec {
    let folder = &run.place.run_dir;
    let mut command = CommandSpec::new(&executable.path, folder.join(WORK));
    command.args = arguments(choices, &folder.join(POLICY_FILE));
    command.env = environment(folder);
    let private = Path::new(HOME).join(home::FOLDER);
    command.files = vec![
        file(POLICY_FILE, run.policy),
        file(private.join(home::SETTINGS), run.settings.to_string()),
        file(TRUSTED_FILE, "{}"),
        // Ends the search for one in the folders above.
        file(Path::new(WORK).join(".gemini/.env"), home.variables()),
        file(Path::new(TEMPORARY).join(".keep"), ""),
    ];
    command.links = home
        .links()
        .map(|(name, target)| (Path::new(HOME).join(name), target))
        .collect();
    command.stdin = run.prompt.into_bytes();
    command
}

/// Builds a command of preflight with a home of its own in `folder` of the run folder, because the
/// probes write into it and run side by side.
pub(super) fn probe(
    executable: &Resolved,
    place: &Place,
    folder: &str,
    args: &[&str],
) -> CommandSpec {
    let mut probe = shared::probe(executable, place.run_dir.join(folder), args);
    probe.env = environment(&probe.cwd);
    let folder = Path::new(folder);
    probe.files = vec![
        file(folder.join(TRUSTED_FILE), "{}"),
        file(folder.join(".gemini/.env"), ""),
        file(folder.join(TEMPORARY).join(".keep"), ""),
    ];
    probe
}

fn file(name: impl AsRef<Path>, contents: impl Into<Vec<u8>>) -> PlacedFile {
    PlacedFile {
        name: name.as_ref().to_path_buf(),
        contents: contents.into(),
    }
}

/// Returns the environment of every `gemini` that is run, with its private folders in `folder`.
///
/// Without a relaunch there is one process, which ends when it is told to; with it a wrapper
/// ignores signals and leaves its child behind.
pub(super) fn environment(folder: &Path) -> Vec<(OsString, Option<OsString>)> {
    let mut env: Vec<_> = DROPPED.iter().map(|name| (name.into(), None)).collect();
    let mut set = |name: &str, value: OsString| env.push((name.into(), Some(value)));
    set("GEMINI_CLI_HOME", folder.join(HOME).into());
    set(
        "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
        folder.join(TRUSTED_FILE).into(),
    );
    set("GEMINI_CLI_NO_RELAUNCH", "true".into());
    set("GEMINI_SYSTEM_MD", "false".into());
    set("GEMINI_TELEMETRY_ENABLED", "false".into());
    set("NO_BROWSER", "true".into());
    set("NO_COLOR", "1".into());
    set("TMPDIR", folder.join(TEMPORARY).into());
    env
}

fn arguments(choices: &Choices, policy: &Path) -> Vec<OsString> {
    let mut args: Vec<OsString> = ["--prompt", "", "--skip-trust", "--approval-mode", "plan"]
        .map(OsString::from)
        .into();
    for name in ["--policy", "--admin-policy"] {
        args.extend([name.into(), policy.into()]);
    }
    let rest = [
        "--allowed-mcp-server-names",
        NO_SERVER,
        "--extensions",
        "none",
        "--output-format",
        "stream-json",
    ];
    args.extend(rest.map(OsString::from));
    if let Some(model) = choices.model_argument() {
        // One word, so that a name that begins with a dash is no option.
        args.push(format!("--model={model}").into());
    }
    args
}

/// Returns how the run is held to reading, as `adapter_metadata` shows it.
pub(super) fn policy_metadata() -> Map<String, Value> {
    let mut metadata = Map::new();
    let mut put = |key: &str, value: Value| metadata.insert(key.to_owned(), value);
    put("geminiApprovalMode", "plan".into());
    put("geminiPolicyMode", "policy-and-admin-policy".into());
    put("geminiPolicyScope", "all-modes".into());
    put("geminiAllowedTools", json!(TOOLS));
    put("geminiMcpAllowlist", "none".into());
    put("geminiExtensions", "none".into());
    put("geminiSandboxMode", "not-enabled-by-default".into());
    put("geminiWorkspaceTrust", "isolated-session-skip-trust".into());
    put("geminiTrustEnv", "inherited-trust-workspace-unset".into());
    put("geminiTrustedFolders", "empty-temp-file".into());
    put("geminiHome", "private".into());
    put("fileMentions", "parted-by-word-joiner".into());
    metadata
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::shared::testing::{asked, repair_request, request, resolved, settings};
    use crate::env::Environment;
    use diffwarden_actors::model::EngineName;

    fn no_home() -> GeminiHome {
        GeminiHome::read(&Environment::from_iter([("GEMINI_CLI_HOME", "/no/such")]))
    }

    fn choices() -> Choices {
        Choices::from_settings(&settings(EngineName::Gemini)).unwrap()
    }

    fn reviewed(choices: &Choices, prompt: &str) -> CommandSpec {
        let request = request(prompt, &[]);
        review_command(choices, &resolved("gemini"), &no_home(), &request, prompt).unwrap()
    }

    fn words_of(command: &CommandSpec) -> String {
        let args = &command.args;
        let words: Vec<_> = args.iter().map(|arg| arg.to_str().unwrap()).collect();
        words.join(" ").replace(" --", "\n--")
    }

    fn contents<'a>(command: &'a CommandSpec, name: &str) -> &'a str {
        let file = command
            .files
            .iter()
            .find(|file| file.name == Path::new(name));
        std::str::from_utf8(&file.unwrap().contents).unwrap()
    }

    #[test]
    fn command_line_with_a_model() {
        let mut choices = choices();
        choices.model = Some(asked("-pro".to_owned()));
        insta::assert_snapshot!(words_of(&reviewed(&choices, "prompt")));
    }

    #[test]
    fn the_prompt_is_on_standard_input_and_attaches_nothing() {
        let command = reviewed(&choices(), "@@ -1 +1 @@\n+@/etc/hostname");
        let stdin = "@@ -1 +1 @@\n+@\u{2060}/etc/hostname";
        assert_eq!(command.stdin, stdin.as_bytes());
        assert!(!words_of(&command).contains("hostname"));
    }

    #[test]
    fn it_runs_outside_the_repository_with_private_folders() {
        let command = reviewed(&choices(), "prompt");
        assert_eq!(command.cwd, Path::new("/run/review/work"));
        assert_eq!(contents(&command, "work/.gemini/.env"), "");
        for (name, value) in [
            ("GEMINI_CLI_HOME", Some("/run/review/home")),
            ("TMPDIR", Some("/run/review/tmp")),
            ("GEMINI_CLI_TRUST_WORKSPACE", None),
        ] {
            let expected = (name.into(), value.map(OsString::from));
            assert!(command.env.contains(&expected), "{name}");
        }
        let settings = contents(&command, "home/.gemini/settings.json");
        let settings: Value = serde_json::from_str(settings).unwrap();
        assert_eq!(settings["context"]["includeDirectories"], json!(["/repo"]));
        assert_eq!(settings["tools"]["core"], json!(TOOLS));
    }

    #[test]
    fn a_repair_has_no_tools_and_no_repository() {
        let request = repair_request("transcribe @x", &[]);
        let command =
            repair_command(&choices(), &resolved("gemini"), &no_home(), &request).unwrap();
        assert_eq!(command.stdin, "transcribe @\u{2060}x".as_bytes());
        let settings = contents(&command, "home/.gemini/settings.json");
        let settings: Value = serde_json::from_str(settings).unwrap();
        assert_eq!(settings["context"]["includeDirectories"], json!([]));
        assert_eq!(settings["tools"]["core"], json!(NO_TOOLS));
        assert!(!contents(&command, POLICY_FILE).contains("allow"));
    }

    #[test]
    fn the_policies_are_valid_and_end_in_a_denial_of_everything() {
        for text in [REVIEW_POLICY, REPAIR_POLICY] {
            let policy: toml::Table = text.parse().unwrap();
            let rules = policy["rule"].as_array().unwrap();
            for rule in [rules.first().unwrap(), rules.last().unwrap()] {
                assert_eq!(rule["toolName"].as_str(), Some("*"));
                assert_eq!(rule["decision"].as_str(), Some("deny"));
            }
        }
    }
}
