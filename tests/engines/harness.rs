//! Runs one row: a world of its own, a provider, the whole program, and a look around afterwards.

use std::fs::File;
use std::io;
use std::process::Child;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::Bench;
use crate::check;
use crate::provider::Request;
use crate::scenario::{EnginePath, Row, outcome};
use crate::world::{self, World};

/// How much longer than allowed a run is waited for before it is killed, so that a loop is seen as
/// one and is told from a run that was merely slow.
const GRACE: Duration = Duration::from_secs(20);

/// How long processes that were told to end may take.
const LAST_BREATH: Duration = Duration::from_secs(5);

/// What came of a row.
pub(crate) struct Verdict {
    /// The outcome in one word or two.
    pub(crate) got: String,
    /// How long the program ran.
    pub(crate) took: Duration,
    /// Whatever is not as expected; empty when the row holds.
    pub(crate) problems: Vec<String>,
    /// What is known to be wrong, and was.
    pub(crate) known: Option<&'static str>,
}

/// What can be looked at once the program has ended.
pub(crate) struct Outcome {
    /// The exit code; `None` when a signal ended the program.
    pub(crate) exit: Option<i32>,
    /// What the program printed as JSON; null when it printed none.
    pub(crate) output: Value,
    /// Standard error.
    pub(crate) stderr: String,
    /// What reached the model service.
    pub(crate) requests: Vec<Request>,
    /// Every other request that the service got, as method and path.
    pub(crate) others: Vec<String>,
    /// How long the program ran.
    pub(crate) took: Duration,
    /// The folder of the repository.
    pub(crate) repo: String,
}

impl Outcome {
    /// Returns a text of the error.
    pub(crate) fn error(&self, key: &str) -> Option<&str> {
        self.output["error"][key].as_str()
    }
}

/// Runs a row.
///
/// # Errors
///
/// Fails when the world cannot be built, which says nothing about the engine.
pub(crate) fn run(path: &EnginePath, row: &Row, bench: &Bench) -> io::Result<Verdict> {
    let situation = &row.situation;
    let world = World::new(&[path], situation, bench)?;
    let provider = world.provider(path, situation.script)?;
    let url = if situation.is_refused {
        world::unused_address()?
    } else {
        provider.url()
    };
    let mut command = world.command(path, situation, &url, "--json")?;
    let before = world.look()?;
    let (stdout, stderr) = (world.path("stdout"), world.path("stderr"));
    command
        .stdout(File::create(&stdout)?)
        .stderr(File::create(&stderr)?);
    let begin = Instant::now();
    let mut child = command.spawn()?;
    let limit = Duration::from_secs(row.expected.within + path.patience) + GRACE;
    if situation.is_interrupted {
        wait(limit, || {
            !provider.requests().is_empty() || has_exited(&mut child)
        });
        signal(&child, Signal::INT);
    }
    let has_ended = wait(limit, || has_exited(&mut child));
    if !has_ended {
        // Politely first, so that it can end what it started.
        signal(&child, Signal::TERM);
        wait(2 * LAST_BREATH, || has_exited(&mut child));
        signal(&child, Signal::KILL);
    }
    let exit = child.wait()?.code().filter(|_| has_ended);
    let took = begin.elapsed();
    let outcome = Outcome {
        exit,
        output: serde_json::from_slice(&std::fs::read(stdout)?).unwrap_or(Value::Null),
        stderr: String::from_utf8_lossy(&std::fs::read(stderr)?).into_owned(),
        requests: provider.requests(),
        others: provider.others(),
        took,
        repo: world.repo().display().to_string(),
    };
    let mut problems = check::problems(path, row, &outcome);
    problems.extend(world.problems(&before, &[path.leaves, row.expected.leaves].concat())?);
    if !wait(LAST_BREATH, || world.processes().is_empty()) {
        let left = world.kill_processes();
        problems.push(format!("processes were left over: {left:?}"));
    }
    let known = row.expected.known.map(|known| {
        let before = problems.len();
        problems.retain(|problem| !known.signs.iter().any(|sign| problem.contains(sign)));
        if problems.len() == before {
            problems.push(format!(
                "this is known to be wrong and was not: {}",
                known.why
            ));
        }
        known.why
    });
    if !problems.is_empty() && std::env::var_os("DIFFWARDEN_BENCH_KEEP").is_some() {
        problems.push(format!("kept {}", world.keep(&outcome)?.display()));
    }
    Ok(Verdict {
        got: outcome_of(&outcome),
        took,
        problems,
        known,
    })
}

fn outcome_of(it: &Outcome) -> String {
    outcome(it.exit, it.error("code"), it.error("reason"))
}

fn has_exited(child: &mut Child) -> bool {
    !matches!(child.try_wait(), Ok(None))
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).ok();
}

/// Waits until a condition holds, and tells whether it does.
fn wait(limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + limit;
    loop {
        if condition() {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        thread::sleep(Duration::from_millis(20));
    }
}
