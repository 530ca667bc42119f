//! Reviews by real models, for people with accounts: every path is shown a repository with a planted
//! bug and has to find it (SPEC 17.2 and 17.3).
//!
//! Such reviews cost money, so two things must be asked for: `--live`, which nothing but a person
//! types, and `INTEGRATION_TEST_ON=1`. `INTEGRATION_DISABLE` leaves out engines or paths.

use std::io::{self, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::Bench;
use crate::options::Options;
use crate::paths;
use crate::scenario::EnginePath;
use crate::situations as given;
use crate::world::World;

/// Where the planted bug is.
const BUG: u64 = 2;

/// How long a real model may take, in seconds.
const TIMEOUT: &str = "600";

/// Lets every path that is not left out review the planted bug, one after the other.
///
/// # Errors
///
/// Fails when nothing can be printed or no repository can be made.
pub(crate) fn run(options: &Options, bench: &Bench) -> io::Result<ExitCode> {
    let variable = |name| std::env::var(name).unwrap_or_default();
    let mut out = io::stdout();
    if variable("INTEGRATION_TEST_ON") != "1" {
        writeln!(out, "live: off: set INTEGRATION_TEST_ON=1 to spend tokens")?;
        return Ok(ExitCode::SUCCESS);
    }
    let disabled = variable("INTEGRATION_DISABLE");
    let mut failed = 0;
    for path in paths::ALL {
        if !options.choose(path.name, given::BUG.name, true) {
            continue;
        }
        if is_disabled(path, &disabled) {
            writeln!(out, "{:16} disabled", path.name)?;
            continue;
        }
        let (problems, took) = ask(path, bench)?;
        let took = took.as_secs_f64();
        let verdict = if problems.is_empty() { "ok" } else { "FAILED" };
        writeln!(out, "{:16} {took:>8.1} s {verdict}", path.name)?;
        for problem in &problems {
            writeln!(out, "    {problem}")?;
        }
        failed += usize::from(!problems.is_empty());
    }
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Whether a list with commas names an engine or one of its paths.
fn is_disabled(path: &EnginePath, list: &str) -> bool {
    let mut names = list.split(',').map(str::trim);
    names.any(|name| name == path.engine || name == path.name)
}

/// Has the user's own account review, with the user's own executable or else the bench's.
fn ask(path: &EnginePath, bench: &Bench) -> io::Result<(Vec<String>, Duration)> {
    let world = World::new(&[path], &given::BUG, bench)?;
    let own = std::env::var_os("PATH").unwrap_or_default();
    let search = std::env::split_paths(&own).chain([bench.folder(path)]);
    let search = std::env::join_paths(search).map_err(io::Error::other)?;
    let mut command = Command::new(&bench.program);
    command
        .env("PATH", search)
        .current_dir(world.repo())
        .stdin(Stdio::null());
    let begin = Instant::now();
    let problems = find_bug(path, &world, command)?;
    Ok((problems, begin.elapsed()))
}

/// Runs the program in a repository with the planted bug, and returns whatever is not as expected.
pub(crate) fn find_bug(
    path: &EnginePath,
    world: &World,
    mut command: Command,
) -> io::Result<Vec<String>> {
    let before = world.look()?;
    let output = command
        .args(["review", "--json", "--target", "base:main"])
        .args(["--reviewer", "live", "--timeout", TIMEOUT])
        .output()?;
    let stderr = String::from_utf8_lossy(&output.stderr);
    let review: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let mut problems = Vec::new();
    if output.status.code() != Some(0) {
        problems.push(format!("{}: {} {stderr}", output.status, review["error"]));
    } else if !review["result"]["findings"]
        .as_array()
        .is_some_and(|all| all.iter().any(is_bug))
    {
        problems.push(format!("the bug was not found: {}", review["result"]));
    }
    // What an account leaves in its own home is its own affair.
    problems.extend(world.problems(&before, path.leaves)?);
    Ok(problems)
}

/// An urgent finding on the line of the bug. More urgent than asked for is right as well.
fn is_bug(finding: &Value) -> bool {
    let place = &finding["code_location"]["line_range"];
    let (start, end) = (place["start"].as_u64(), place["end"].as_u64());
    finding["priority"].as_u64().is_some_and(|it| it <= 2)
        && start.is_some_and(|it| it <= BUG)
        && end.is_some_and(|it| it >= BUG)
}

/// The config of the repository: one reviewer by the path.
pub(crate) fn config(path: &EnginePath) -> String {
    let reviewer = json!({"id": "live", "engine": path.engine, "transport": path.transport});
    json!({"reviewers": [reviewer]}).to_string()
}
