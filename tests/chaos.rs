//! Runs in which everything happens at once, drawn from seeds.
//!
//! Each run is the binary with real child processes that answer, babble, crash, hang, flood, close
//! their output or leave children behind, in several lanes, some of it interrupted. Whatever
//! happens, the stream is well formed and ends once, the file of `--out` is what the last frame
//! says, and nothing is left behind; without interrupts and time-outs the same seed has the same
//! outcome, however many run at a time. Panics of an engine are none of this: they cannot come from
//! a child, and the tests of the actors cover them.
//!
//! `cargo test` runs the first [`DEFAULT_RUNS`] seeds. `DIFFWARDEN_CHAOS_RUNS=200` runs more,
//! `DIFFWARDEN_CHAOS_SEED=17` runs one alone.

mod check;
mod random;
mod scenario;

use std::fs::{self, DirBuilder};
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use self::check::{check_frames, check_outcome, without_times};
use self::scenario::{Interruption, Scenario};
use crate::support::{Run, TestEnvironment, edit_finding, reply, wait_until, with_default_signals};

/// How many seeds are run when nobody says anything.
const DEFAULT_RUNS: u64 = 40;

/// How many runs there are at a time; most of their time is waiting.
const WORKERS: u64 = 4;

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}

#[test]
fn whatever_happens_a_run_ends_once_and_leaves_nothing() {
    let (first, end) = match number("DIFFWARDEN_CHAOS_SEED") {
        Some(seed) => (seed, seed + 1),
        None => (0, number("DIFFWARDEN_CHAOS_RUNS").unwrap_or(DEFAULT_RUNS)),
    };
    let next = AtomicU64::new(first);
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS.min(end - first) {
            scope.spawn(|| {
                let mut world = World::new();
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= end {
                        return;
                    }
                    if catch_unwind(AssertUnwindSafe(|| world.live_through(seed))).is_err() {
                        failed.lock().expect("nobody panics with it").push(seed);
                        world.clear();
                        world = World::new();
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("nobody panicked with it");
    assert!(
        failed.is_empty(),
        "these seeds failed: {failed:?}; DIFFWARDEN_CHAOS_SEED=<seed> runs one alone"
    );
}

/// A place for one run after the other.
struct World {
    environment: TestEnvironment,
    /// The open files that every child of the tests has.
    inherited: String,
    /// An artifact that must not survive a run without one.
    earlier: String,
}

impl World {
    fn new() -> Self {
        let environment = TestEnvironment::with_edit();
        for folder in ["runtime", "out"] {
            let path = environment.path(folder);
            DirBuilder::new()
                .mode(0o700)
                .create(path)
                .expect("a new folder");
        }
        environment.codex_does(&json!([environment.record()]));
        let mut fake = environment.clean(Command::new(environment.bin().join("codex")));
        fake.stdout(Stdio::piped()).stderr(Stdio::piped());
        assert!(fake.output().expect("the fake runs").status.success());
        let inherited = environment.recorded("files").pop();
        Self {
            inherited: inherited.map(|files| others(&files)).unwrap_or_default(),
            earlier: environment.review(&["--reviewer", "fake", "--json"]).stdout,
            environment,
        }
    }

    fn live_through(&self, seed: u64) {
        let scenario = Scenario::draw(seed);
        let told = format!("seed {seed}: {scenario:#?}");
        // Told when the test fails; the harness hides it otherwise.
        let frames = self.run(&scenario, &[], &told);
        if scenario.is_determined() {
            let again = self.run(&scenario, &["--jobs", "5"], &told);
            let ends = [&frames, &again].map(|frames| without_times(frames.last()));
            assert_eq!(ends[0], ends[1], "another outcome for {told}");
        }
    }

    /// Runs the binary once and checks everything about it.
    fn run(&self, scenario: &Scenario, more: &[&str], told: &str) -> Vec<Value> {
        let environment = &self.environment;
        fs::remove_dir_all(environment.path("recorded")).ok();
        environment.write_config(&scenario.config());
        let grandchild = json!({"record_grandchild": environment.path("recorded")});
        environment.install_codex(&scenario.script(&environment.record(), &grandchild));
        let out = environment.path("out/review.json");
        fs::write(&out, &self.earlier).expect("a file");

        let mut arguments = scenario.arguments();
        if let ["--jobs", jobs] = more {
            arguments[1] = (*jobs).to_owned();
        }
        arguments.extend(["--ndjson", "--out"].map(str::to_owned));
        arguments.push(out.display().to_string());
        let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
        let mut command = environment.review_command(&arguments);
        command.env("XDG_RUNTIME_DIR", environment.path("runtime"));
        let run = run_interrupted(command, scenario.interruption);

        let frames = run.frames();
        check_frames(scenario, &frames, told);
        check_outcome(scenario, &run, &frames, &out, told);
        self.check_nothing_is_left(told);
        frames
    }

    /// Ends what a failed run has left.
    fn clear(&self) {
        for pid in self.environment.processes() {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            pid.map(|pid| kill_process(pid, Signal::KILL).ok());
        }
    }

    fn check_nothing_is_left(&self, told: &str) {
        let environment = &self.environment;
        let files = |folder: &str| {
            let entries = fs::read_dir(environment.path(folder)).expect("the folder exists");
            entries
                .map(|entry| entry.expect("an entry").file_name())
                .filter(|name| name != "review.json")
                .collect::<Vec<_>>()
        };
        for folder in ["tmp", "runtime", "out"] {
            assert_eq!(files(folder), [""; 0], "left in {folder} by {told}");
        }
        // A killed process is not gone at once.
        wait_until("all processes are gone", || {
            environment.processes().is_empty()
        });
        for files in environment.recorded("files") {
            assert_eq!(others(&files), self.inherited, "open in a child of {told}");
        }
    }
}

/// Returns the open files but for the three streams.
fn others(files: &str) -> String {
    let is_other = |line: &&str| !["0 ", "1 ", "2 "].iter().any(|it| line.starts_with(it));
    let others: Vec<_> = files.lines().filter(is_other).collect();
    others.join("\n")
}

/// Runs the command to its end and interrupts it as told.
fn run_interrupted(command: Command, interruption: Option<Interruption>) -> Run {
    let mut command = with_default_signals(command);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary runs");
    let pid = Pid::from_child(&child);
    // It may have ended by itself, and is not waited for before its output has ended.
    let interrupt = move || kill_process(pid, Signal::INT).ok();
    let mut stderr = child.stderr.take().expect("a pipe");
    let said = thread::spawn(move || {
        let mut said = Vec::new();
        stderr.read_to_end(&mut said).map(|_| said)
    });
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut printed = Vec::new();
    let mut frames = 0;
    while stdout.read_until(b'\n', &mut printed).expect("a pipe") > 0 {
        frames += 1;
        if let Some(interruption) = interruption.filter(|it| it.after == frames) {
            interrupt();
            if interruption.twice {
                // Two that arrive at once are one to the system.
                thread::sleep(Duration::from_millis(20));
                interrupt();
            }
        }
    }
    Run::of(std::process::Output {
        status: child.wait().expect("a child"),
        stdout: printed,
        stderr: said.join().expect("a thread").expect("a pipe"),
    })
}

#[test]
fn hundreds_of_reviewers_fit_into_few_open_files() {
    // As many as a config may name, each in two lanes, and more at a time than there are files for.
    const REVIEWERS: usize = 256;
    let environment = TestEnvironment::with_edit();
    let ids: Vec<_> = (0..REVIEWERS).map(scenario::id).collect();
    let reviewers = ids.iter().map(|id| json!({"id": id, "engine": "codex"}));
    environment.write_config(&json!({
        "reviewers": reviewers.collect::<Vec<_>>(),
        "reviewerSets": {"1": ids},
    }));
    environment.codex_does(&json!([reply(&[edit_finding("[P1] Two is not one")])]));
    let arguments = ["--ndjson", "--focus", "errors", "--jobs", "1024"];
    let mut review = with_few_files(&environment.review_command(&arguments));
    let run = Run::of(review.output().expect("the binary runs"));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let last = run.frames().pop().expect("a frame");
    assert_eq!(last["type"], "final_result");
    for lane in last["artifact"]["lanes"].as_array().expect("lanes") {
        let reviewers = lane["artifact"]["reviewers"].as_array();
        let reviewers = reviewers.expect("reviewers");
        let failed = reviewers.iter().filter(|it| it["status"] != "success");
        let failed: Vec<_> = failed.map(|it| &it["error"]["message"]).collect();
        assert_eq!((reviewers.len(), failed), (REVIEWERS, vec![]));
    }
    assert_eq!(environment.left_over(), [] as [std::path::PathBuf; 0]);
}

/// Returns a command that has no more than 256 open files, as on macOS.
fn with_few_files(command: &Command) -> Command {
    let mut limited = Command::new("/bin/sh");
    limited
        .args(["-c", "ulimit -n 256; exec \"$0\" \"$@\""])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .stdin(Stdio::null());
    if let Some(folder) = command.get_current_dir() {
        limited.current_dir(folder);
    }
    limited
}
