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

/// The JSON schema of the answer. Claude takes it inline only, and no `$schema` member newer than
/// draft 7.
const SCHEMA: &str = include_str!("review.schema.json");

/// The file of the system prompt, relative to the run folder.
const SYSTEM_PROMPT_FILE: &str = "system-prompt.md";

/// How many bytes of a system prompt go on the command line where it cannot be a file. Linux takes
/// 128 KiB per argument.
const MAX_ARGUMENT: usize = 96 << 10;

/// The system prompt of a repair, in place of Claude's own, which is about writing code.
const TRANSCRIBER: &str = "You transcribe reviews into JSON. You have no tools, you change no \
                           statement, and you add none.";

/// The tools a review has. `--allowedTools` with the same names would let them leave the working
/// folder, so it is not passed: what is inside the folder needs no such rule.
const TOOLS: &str = "Read,Grep,Glob";

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
        Some(system) => (None, format!("{system}\n\n{}", prompt.user)),
        None => (None, prompt.user.clone()),
    };
    let run = Run {
        place: &request.place,
        features,
        tools: TOOLS,
        schema: compact(SCHEMA),
        system,
    };
    command(options, executable, surroundings, run, user)
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
    };
    command(
        options,
        executable,
        surroundings,
        run,
        request.prompt.clone(),
    )
}

/// Whether the contract takes the place of Claude's own system prompt (SPEC 8.1).
pub(super) fn takes_system_prompt(features: &Features, prompt: &Prompt) -> bool {
    let is_short = |system: &String| system.len() <= MAX_ARGUMENT;
    features.system_prompt_file
        || (features.system_prompt && prompt.system.as_ref().is_none_or(is_short))
}

/// What tells one kind of run from another.
struct Run<'a> {
    place: &'a Place,
    features: &'a Features,
    tools: &'static str,
    schema: String,
    system: Option<&'a str>,
}

fn command(
    options: &Options,
    executable: &Resolved,
    surroundings: &Surroundings,
    run: Run<'_>,
    prompt: String,
) -> CommandSpec {
    let place = run.place;
    let mut command = CommandSpec::new(&executable.path, &place.repo_root);
    command.args = arguments(options, &run);
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

fn arguments(options: &Options, run: &Run<'_>) -> Vec<OsString> {
    let features = run.features;
    let mut args: Vec<OsString> = ["-p", "--output-format", "stream-json", "--verbose"]
        .map(OsString::from)
        .into();
    let mut pass = |words: &[&str]| args.extend(words.iter().map(OsString::from));
    pass(&["--json-schema", &run.schema]);
    pass(&["--tools", run.tools, "--disallowedTools", DENIED]);
    pass(&["--permission-mode", "dontAsk"]);
    if features.restricted {
        pass(&["--restricted"]);
    }
    pass(&["--no-session-persistence", "--setting-sources", ""]);
    pass(&["--strict-mcp-config"]);
    if features.mcp_config {
        pass(&["--mcp-config", r#"{"mcpServers":{}}"#]);
    }
    pass(&["--disable-slash-commands"]);
    if features.no_chrome {
        pass(&["--no-chrome"]);
    }
    if let Some(model) = &options.model {
        pass(&["--model", &model.value]);
    }
    if let (Some(effort), true) = (options.effort_argument(), features.effort) {
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
fn compact(schema: &str) -> String {
    let value: Value = serde_json::from_str(schema).expect("the schema is part of the program");
    value.to_string()
}
