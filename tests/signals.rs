//! Real signals to a real run, and outputs that go away.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::support::{Run, TestEnvironment, is_alive, reply, wait_until};

/// A run in progress. Whatever of it is still alive at the end of the test is killed.
struct Running<'t> {
    environment: &'t TestEnvironment,
    child: Option<Child>,
}

impl<'t> Running<'t> {
    /// Starts a review and waits until its engine has started a child of its own.
    fn start(environment: &'t TestEnvironment, args: &[&str]) -> Self {
        let mut command = with_default_signals(environment.review_command(args));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().expect("the binary runs");
        let running = Self {
            environment,
            child: Some(child),
        };
        wait_until("the engine runs", || {
            !environment.recorded_pids("grandchild").is_empty()
        });
        running
    }

    fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("it was not waited for")
    }

    fn signal(&mut self, signal: Signal) {
        kill_process(Pid::from_child(self.child()), signal).expect("it is our child");
    }

    fn wait(&mut self) -> Run {
        let child = self.child();
        wait_until("the run ends", || {
            child.try_wait().expect("a child").is_some()
        });
        let child = self.child.take().expect("it was not waited for");
        Run::of(child.wait_with_output().expect("it ended"))
    }

    fn engine_pids(&self) -> Vec<u32> {
        let pids = ["argv", "grandchild"].map(|what| self.environment.recorded_pids(what));
        pids.concat()
    }

    fn assert_nothing_left(&self) {
        let pids = self.engine_pids();
        assert!(pids.len() >= 2, "{pids:?}");
        for pid in pids {
            // The kill has been sent; on a busy machine the kernel carries it out a moment later.
            wait_until(&format!("process {pid} has ended"), || !is_alive(pid));
        }
        assert_eq!(self.environment.left_over(), [] as [PathBuf; 0]);
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            child.kill().ok();
            child.wait().ok();
        }
        for pid in self.engine_pids() {
            let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
            if let Some(pid) = pid {
                kill_process(pid, Signal::KILL).ok();
            }
        }
    }
}

/// Undoes what a test run that was put into the background inherits: shells start such programs
/// with SIGINT and SIGQUIT ignored, `nohup` with SIGHUP ignored, and diffwarden leaves an ignored
/// signal alone.
fn with_default_signals(command: Command) -> Command {
    const SIGNALS: [Signal; 4] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM];
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or_default();
    let is_ignored = |signal: &Signal| ignored >> (signal.as_raw() - 1) & 1 == 1;
    if !SIGNALS.iter().any(is_ignored) {
        return command;
    }
    let mut wrapped = Command::new("env");
    wrapped
        .arg("--default-signal=HUP,INT,QUIT,TERM")
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
        wrapped.current_dir(folder);
    }
    wrapped
}

/// An engine that ignores every polite signal and has a child that does too.
fn stubborn() -> TestEnvironment {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(&json!([
        environment.record(),
        "ignore_signals",
        {"record_grandchild": environment.path("recorded")},
        "hang",
    ]));
    environment
}

fn terminal_frames(frames: &[Value]) -> Vec<&Value> {
    let is_terminal = |kind: &Value| kind == "error" || kind == "final_result";
    frames
        .iter()
        .filter(|frame| is_terminal(&frame["type"]))
        .collect()
}

#[test]
fn a_signal_ends_the_run_with_everything_it_started() {
    for (signal, code) in [
        (Signal::INT, 130),
        (Signal::TERM, 143),
        (Signal::HUP, 129),
        (Signal::QUIT, 131),
    ] {
        let environment = stubborn();
        let out = environment.path("review.json");
        let out_text = out.to_str().expect("a UTF-8 path");
        let args = ["--reviewer", "codex", "--ndjson", "--out", out_text];
        let mut running = Running::start(&environment, &args);
        running.signal(signal);
        let run = running.wait();
        assert_eq!(run.code, code, "{signal:?}: {}", run.stderr);
        running.assert_nothing_left();
        let frames = run.frames();
        let terminal = terminal_frames(&frames);
        assert_eq!(terminal.len(), 1, "{signal:?}: {frames:?}");
        assert_eq!(Some(terminal[0]), frames.last());
        assert_eq!(terminal[0]["type"], "error");
        assert_eq!(terminal[0]["error"]["reason"], "interrupted");
        assert_eq!(terminal[0]["error"]["exit_code"], code);
        assert!(!out.exists(), "{signal:?}");
    }
}

#[test]
fn a_signal_ends_a_preflight_too() {
    let environment = TestEnvironment::with_edit();
    environment.install_codex(&json!({
        "probe": [
            environment.record(),
            {"record_grandchild": environment.path("recorded")},
            "hang",
        ],
        "runs": [],
    }));
    let mut running = Running::start(&environment, &["--reviewer", "codex", "--ndjson"]);
    running.signal(Signal::TERM);
    let run = running.wait();
    assert_eq!(run.code, 143, "{}", run.stderr);
    running.assert_nothing_left();
    let frames = run.frames();
    assert_eq!(terminal_frames(&frames).len(), 1, "{frames:?}");
    assert!(
        frames
            .iter()
            .all(|frame| frame["type"] != "reviewer_started")
    );
}

#[test]
fn a_signal_is_told_in_every_form() {
    for mode in [&["--json"][..], &["--agent"], &[]] {
        let environment = stubborn();
        let args = [&["--reviewer", "codex"], mode].concat();
        let mut running = Running::start(&environment, &args);
        running.signal(Signal::INT);
        let run = running.wait();
        assert_eq!(run.code, 130, "{mode:?}");
        assert!(
            run.stderr.contains("interrupted"),
            "{mode:?}: {}",
            run.stderr
        );
        if mode == ["--json"] {
            assert_eq!(run.json()["error"]["reason"], "interrupted");
        }
        running.assert_nothing_left();
    }
}

#[test]
fn a_second_signal_is_obeyed_too() {
    let environment = stubborn();
    let mut running = Running::start(&environment, &["--reviewer", "codex", "--ndjson"]);
    running.signal(Signal::INT);
    // Two that arrive at once are one to the system.
    thread::sleep(Duration::from_millis(100));
    running.signal(Signal::INT);
    let run = running.wait();
    assert_eq!(run.code, 130);
    running.assert_nothing_left();
    assert_eq!(terminal_frames(&run.frames()).len(), 1);
}

#[test]
fn a_reader_that_goes_away_ends_the_run() {
    let environment = TestEnvironment::with_edit();
    let gone = environment.path("reader-is-gone");
    environment.codex_reviewers(&[
        ("alpha", json!([{"wait_for": gone}, reply(&[])])),
        (
            "beta",
            json!([
                environment.record(),
                "ignore_signals",
                {"record_grandchild": environment.path("recorded")},
                "hang",
            ]),
        ),
    ]);
    let mut running = Running::start(&environment, &["--ndjson"]);
    let mut lines = BufReader::new(running.child().stdout.take().expect("a pipe"));
    let mut first = String::new();
    lines.read_line(&mut first).expect("a frame");
    assert!(first.contains("run_started"), "{first}");
    drop(lines);
    // The next frame finds nobody.
    fs::write(&gone, "").expect("a gate");
    let run = running.wait();
    assert_eq!(run.code, 3, "{}", run.stderr);
    running.assert_nothing_left();
}

#[test]
fn an_engine_that_ends_well_leaves_no_child_behind() {
    let environment = TestEnvironment::with_edit();
    environment.codex_does(&json!([
        environment.record(),
        {"record_grandchild": environment.path("recorded")},
        reply(&[]),
    ]));
    let mut running = Running::start(&environment, &["--reviewer", "codex", "--json"]);
    let run = running.wait();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    running.assert_nothing_left();
}
