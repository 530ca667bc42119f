//! The command line and the opening of one conversation.
//!
//! The schema goes with the opening and on the command line as well: Claude ignores a schema it
//! cannot use in the one, and refuses to start with it in the other.

use diffwarden_actors::engine::CommandSpec;
use serde_json::Value;

use super::frames;
use crate::engines::claude::command::{Run, arguments};
use crate::engines::claude::environment::Surroundings;
use crate::engines::claude::options::Options;
use crate::engines::executable::Resolved;

/// Builds the command of one conversation. `system` takes the place of Claude's own system prompt.
pub(super) fn command(
    options: &Options,
    executable: &Resolved,
    surroundings: &Surroundings,
    run: &Run<'_>,
    max_turns: Option<u32>,
    system: Option<&str>,
) -> CommandSpec {
    let mut command = CommandSpec::new(&executable.path, &run.place.repo_root);
    command.args = arguments(options, run);
    let input = ["--input-format", "stream-json"];
    command.args.extend(input.map(Into::into));
    if let Some(limit) = max_turns {
        // No help lists it; a Claude without it refuses to start.
        let limit = ["--max-turns".into(), limit.to_string().into()];
        command.args.extend(limit);
    }
    command.env = surroundings.changes(&run.place.run_dir);
    let schema: Value = serde_json::from_str(&run.schema).expect("schemas are JSON");
    command.stdin = (frames::initialize(Some(&schema), system) + "\n").into_bytes();
    command.keep_stdin_open = true;
    command
}
