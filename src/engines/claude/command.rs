//! The command line of one review or repair with `claude -p`.
//!
//! The prompt goes through standard input; the command line shows in process lists and holds
//! nothing of the change.

use std::ffi::OsString;

use diffwarden_actors::engine::{CommandSpec, Place, PlacedFile, RepairRequest, ReviewRequest};
use diffwarden_actors::prompt::Prompt;
use serde_json::Value;

use super::environment::Surroundings;
use super::features::Features;
use super::options::Options;
use crate::engines::executable::Resolved;
use crate::engines::shared;

/// The JSON schema of the answer. Claude takes it inline only, and no `$schema` member newer than
/// draft 7.
pub(super) const SCHEMA: &str = include_str!("review.schema.json");

/// The file of the system prompt, relative to the run folder.
const SYSTEM_PROMPT_FILE: &str = "system-prompt.md";

/// How many bytes of a system prompt go on the command line where it cannot be a file. Linux takes
/// 128 KiB per argument.
const MAX_ARGUMENT: usize = 96 << 10;

/// The system prompt of a repair, in place of Claude's own, which is about writing code.
pub(super) const TRANSCRIBER: &str = "You transcribe reviews into JSON. You have no tools, you change no \
                           statement, and you add none.";

/// The tools a review has. `--allowedTools` with the same names would let them leave the working
/// folder, so it is not passed: what is inside the folder needs no such rule.
pub(super) const TOOLS: &str = "Read,Grep,Glob";

/// Refused by name as well, for the case that a later Claude adds tools to a list.
const DENIED: &str = "Bash,PowerShell,Monitor,Edit,Write,NotebookEdit,WebFetch,WebSearch,Agent,\
                      Skill,Workflow";

/// Builds the command that reviews.
pub(super) fn review_command(
    options: &Options,
    executable: &Resolved,
    surroundings: &Surroundings,
    features: &Features,
    request: &ReviewRequest,
) -> CommandSpec {
    let prompt = &request.prompt;
    let (system, user) = match &prompt.system {
        Some(system) if takes_system_prompt(features, prompt) => {
            (Some(system.as_str()), prompt.user.clone())
        }
        _ => (None, shared::whole_prompt(request)),
    };
    let run = Run {
        place: &request.place,
        features,
        tools: TOOLS,
        schema: compact(SCHEMA),
        system,
        effort: effort(options, features),
    };
    command(options, executable, surroundings, &run, user)
}

/// Builds the command that transcribes an answer: without tools and with the schema of its reply.
pub(super) fn repair_command(
    options: &Options,
    executable: &Resolved,
    surroundings: &Surroundings,
    features: &Features,
    request: &RepairRequest,
) -> CommandSpec {
    let run = Run {
        place: &request.place,
        features,
        tools: "",
        schema: request.schema.to_string(),
        system: features.system_prompt.then_some(TRANSCRIBER),
        effort: effort(options, features),
    };
    command(
        options,
        executable,
        surroundings,
        &run,
        request.prompt.clone(),
    )
}

/// Returns the value of `--effort`, where this Claude takes one.
fn effort(options: &Options, features: &Features) -> Option<&'static str> {
    let word = options.choices.native_effort();
    word.filter(|_| features.effort)
}

/// Whether the contract takes the place of Claude's own system prompt (SPEC 8.1).
pub(super) fn takes_system_prompt(features: &Features, prompt: &Prompt) -> bool {
    let is_short = |system: &String| system.len() <= MAX_ARGUMENT;
    features.system_prompt_file
        || (features.system_prompt && prompt.system.as_ref().is_none_or(is_short))
}

/// What tells one kind of run from another.
pub(super) struct Run<'a> {
    /// Where it runs.
    pub(super) place: &'a Place,
    /// What this Claude can do.
    pub(super) features: &'a Features,
    /// The tools that the model is offered.
    pub(super) tools: &'static str,
    /// The schema of the answer, without line breaks.
    pub(super) schema: String,
    /// What takes the place of Claude's own system prompt on the command line.
    pub(super) system: Option<&'a str>,
    /// The value of `--effort`.
    pub(super) effort: Option<&'a str>,
}

fn command(
    options: &Options,
    executable: &Resolved,
    surroundings: &Surroundings,
    run: &Run<'_>,
    prompt: String,
) -> CommandSpec {
    let place = run.place;
    let mut command = CommandSpec::new(&executable.path, &place.repo_root);
    command.args = vec!["-p".into()];
    command.args.extend(arguments(options, run));
    command.env = surroundings.changes(&place.run_dir);
    if let (Some(system), true) = (run.system, run.features.system_prompt_file) {
        command.files.push(PlacedFile {
            name: SYSTEM_PROMPT_FILE.into(),
            contents: system.as_bytes().to_vec(),
        });
    }
    command.stdin = prompt.into_bytes();
    command
}

/// Returns what both transports pass: the policy and the choices of the reviewer.
pub(super) fn arguments(options: &Options, run: &Run<'_>) -> Vec<OsString> {
    let features = run.features;
    let mut args: Vec<OsString> = Vec::new();
    let mut pass = |words: &[&str]| args.extend(words.iter().map(OsString::from));
    pass(&["--output-format", "stream-json", "--verbose"]);
    pass(&["--json-schema", &run.schema]);
    pass(&["--tools", run.tools, "--disallowedTools", DENIED]);
    pass(&["--permission-mode", "dontAsk"]);
    if features.restricted {
        pass(&["--restricted"]);
    }
    if features.no_session_persistence {
        pass(&["--no-session-persistence"]);
    }
    pass(&["--setting-sources", ""]);
    pass(&["--strict-mcp-config"]);
    if features.mcp_config {
        pass(&["--mcp-config", r#"{"mcpServers":{}}"#]);
    }
    if features.disable_slash_commands {
        pass(&["--disable-slash-commands"]);
    }
    if features.no_chrome {
        pass(&["--no-chrome"]);
    }
    if let Some(model) = &options.choices.model {
        pass(&["--model", &model.value]);
    }
    if let Some(effort) = run.effort {
        pass(&["--effort", effort]);
    }
    if let (Some(fallback), true) = (&options.fallback_model, features.fallback_model) {
        pass(&["--fallback-model", &fallback.value]);
    }
    if let Some(limit) = options.max_budget_usd {
        // Preflight has refused a Claude without this option.
        pass(&["--max-budget-usd", &limit.to_string()]);
    }
    match run.system {
        Some(_) if features.system_prompt_file => {
            let file = run.place.run_dir.join(SYSTEM_PROMPT_FILE);
            args.extend(["--system-prompt-file".into(), file.into_os_string()]);
        }
        Some(system) => pass(&["--system-prompt", system]),
        None => {}
    }
    args
}

/// Returns a schema without its line breaks.
pub(super) fn compact(schema: &str) -> String {
    let value: Value = serde_json::from_str(schema).expect("the schema is part of the program");
    value.to_string()
}

#[cfg(test)]
mod tests {
    use super::super::features;
    use super::super::options::tests::{chosen, settings};
    use super::*;
    use crate::engines::settings::{Effort, Origin};
    use crate::engines::shared::testing::{self, asked, repair_request, resolved};
    use crate::env::Environment;
    use std::sync::Arc;

    fn request(system: Option<&str>) -> ReviewRequest {
        let mut request = testing::request("prompt", &[]);
        Arc::make_mut(&mut request.prompt).system = system.map(str::to_owned);
        request
    }

    fn options() -> Options {
        Options::from_settings(&settings()).unwrap()
    }

    fn surroundings(options: &Options) -> Surroundings {
        Surroundings::read(options, None, &Environment::default())
    }

    fn review(options: &Options, features: &Features, system: Option<&str>) -> CommandSpec {
        let request = request(system);
        review_command(
            options,
            &resolved("claude"),
            &surroundings(options),
            features,
            &request,
        )
    }

    fn words(command: &CommandSpec) -> String {
        let words: Vec<_> = command
            .args
            .iter()
            .map(|arg| arg.to_string_lossy())
            .collect();
        words.join("\n")
    }

    #[test]
    fn default_command_line() {
        let command = review(&options(), &features::tests::ALL, Some("contract"));
        insta::assert_snapshot!(words(&command));
        assert_eq!(command.files[0].contents, b"contract");
        assert_eq!(command.stdin, b"prompt");
        assert_eq!(command.cwd, std::path::Path::new("/repo"));
        assert!(!command.keep_stdin_open);
    }

    #[test]
    fn command_line_with_every_choice() {
        let mut options = Options {
            fallback_model: Some(chosen("haiku", Origin::Config)),
            max_budget_usd: Some(1.5),
            ..options()
        };
        options.choices.model = Some(asked("opus".to_owned()));
        options.choices.effort = Some(asked(Effort::Minimal));
        insta::assert_snapshot!(words(&review(&options, &features::tests::ALL, None)));
    }

    #[test]
    fn command_line_of_an_old_claude() {
        let old = Features {
            no_session_persistence: true,
            disable_slash_commands: true,
            ..Features::default()
        };
        let command = review(&options(), &old, Some("contract"));
        insta::assert_snapshot!(words(&command));
        assert_eq!(command.stdin, b"contract\n\nprompt");
        assert!(command.files.is_empty());
    }

    #[test]
    fn command_line_of_a_repair() {
        let options = options();
        let command = repair_command(
            &options,
            &resolved("claude"),
            &surroundings(&options),
            &Features {
                system_prompt_file: false,
                ..features::tests::ALL
            },
            &repair_request("transcribe", &[]),
        );
        insta::assert_snapshot!(words(&command));
        assert_eq!(command.stdin, b"transcribe");
    }

    #[test]
    fn a_contract_that_is_no_file_is_an_argument_only_while_it_fits() {
        let inline = Features {
            system_prompt: true,
            ..Features::default()
        };
        let longest = "c".repeat(MAX_ARGUMENT);
        let command = review(&options(), &inline, Some(&longest));
        assert!(words(&command).ends_with(&format!("--system-prompt\n{longest}")));
        let command = review(&options(), &inline, Some(&(longest + "c")));
        assert!(!words(&command).contains("--system-prompt"));
        assert!(command.stdin.ends_with(b"\n\nprompt"));
    }

    #[test]
    fn the_schema_is_one_that_claude_takes() {
        let schema: Value = serde_json::from_str(&compact(SCHEMA)).unwrap();
        assert!(schema.get("$schema").is_none());
        assert!(jsonschema::validator_for(&schema).is_ok());
        let finding = &schema["properties"]["findings"]["items"];
        assert!(
            !finding["required"]
                .as_array()
                .unwrap()
                .contains(&"priority".into())
        );
    }
}
