//! Real signals to a real run, and outputs that go away.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::support::{
    Run, TestEnvironment, edit_finding, is_alive, reply, terminal_frames, wait_until,
    with_default_signals,
};

/// The signals that end the program, with its exit codes.
const SIGNALS: [(Signal, i32); 4] = [
    (Signal::HUP, 129),
    (Signal::INT, 130),
    (Signal::QUIT, 131),
    (Signal::TERM, 143),
];

/// A run in progress. Whatever of it is still alive at the end of the test is killed.
struct Running<'t> {
    environment: &'t TestEnvironment,
    child: Option<Child>,
}

impl<'t> Running<'t> {
    /// Starts a review and waits until its engine has started a child of its own.
    fn start(environment: &'t TestEnvironment, args: &[&str]) -> Self {
        let running = Self::spawn(environment, args);
        wait_until("the engine runs", || {
            !environment.recorded_pids("grandchild").is_empty()
        });
        running
    }

    /// Starts a review.
    fn spawn(environment: &'t TestEnvironment, args: &[&str]) -> Self {
        let mut command = with_default_signals(environment.review_command(args));
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self {
            environment,
            child: Some(command.spawn().expect("the binary runs")),
        }
    }

    fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("it was not waited for")
    }

    /// Waits for the end without reading what was printed.
    fn wait_for_end(&mut self) -> Option<i32> {
        let child = self.child();
        wait_until("the run ends", || {
            child.try_wait().expect("a child").is_some()
        });
        child.wait().expect("it ended").code()
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
        // The orphans among them were killed and not waited for, which a busy system takes its time
        // over. One that was spared lives for an hour.
        for pid in pids {
            wait_until(&format!("process {pid} is gone"), || !is_alive(pid));
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

#[test]
fn a_signal_ends_the_run_with_everything_it_started() {
    for (signal, code) in SIGNALS {
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

/// A git that starts another program and does not come back. Each of the two leaves its id.
fn slow_git(environment: &TestEnvironment) {
    let folder = environment.path("recorded");
    fs::create_dir(&folder).expect("a folder for ids");
    let script = format!(
        "#!/bin/sh\nsleep 1000 &\ntouch '{0}/argv.'$$ '{0}/grandchild.'$!\nwait\n",
        folder.display()
    );
    let program = environment.bin().join("git");
    fs::write(&program, script).expect("a program");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("an executable");
}

#[test]
fn a_signal_while_git_reads_ends_git_and_is_told_in_every_form() {
    for (at, (signal, code)) in SIGNALS.into_iter().enumerate() {
        let mode = [&["--json"][..], &["--ndjson"], &["--agent"], &[]][at];
        let environment = TestEnvironment::with_edit();
        slow_git(&environment);
        let out = environment.path("review.json");
        fs::write(&out, "{\"schema_version\": 2}").expect("an older artifact");
        let out_text = out.to_str().expect("a UTF-8 path");
        let args = [&["--reviewer", "surface", "--out", out_text], mode].concat();
        let mut running = Running::start(&environment, &args);
        running.signal(signal);
        let run = running.wait();
        assert_eq!(run.code, code, "{mode:?}: {}", run.stderr);
        assert!(run.stderr.contains("interrupted"), "{}", run.stderr);
        assert!(!out.exists(), "{mode:?}");
        match mode {
            ["--json"] => assert_eq!(run.json()["error"]["exit_code"], code),
            ["--ndjson"] => {
                let frames = run.frames();
                assert_eq!(frames.len(), 1, "{frames:?}");
                assert_eq!(frames[0]["type"], "error");
                assert_eq!(frames[0]["error"]["reason"], "interrupted");
            }
            _ => assert_eq!(run.stdout, "", "{mode:?}"),
        }
        running.assert_nothing_left();
    }
}

/// An engine that answers with more than a pipe holds.
fn talkative() -> TestEnvironment {
    let environment = TestEnvironment::with_edit();
    let mut long = edit_finding("[P1] Two is not one");
    long["body"] = json!("It returns two. ".repeat(20_000));
    environment.codex_finds(&[long]);
    environment
}

#[test]
fn a_signal_ends_a_program_whose_reader_stalls() {
    for (at, (signal, code)) in SIGNALS.into_iter().enumerate() {
        let mode = [&["--json"][..], &["--ndjson"], &["--agent"], &[]][at];
        let environment = talkative();
        let out = environment.path("review.json");
        let out_text = out.to_str().expect("a UTF-8 path");
        let args = [&["--reviewer", "codex", "--out", out_text], mode].concat();
        let mut running = Running::spawn(&environment, &args);
        // The file is there before the last words, which nobody takes.
        wait_until("the run has ended", || out.exists());
        running.signal(signal);
        assert_eq!(running.wait_for_end(), Some(code), "{mode:?}");
        assert_eq!(environment.left_over(), [] as [PathBuf; 0]);
    }
}

#[test]
fn a_signal_in_a_run_whose_reader_stalls_gives_the_exit_code_of_that_signal() {
    for (at, (signal, code)) in SIGNALS.into_iter().enumerate() {
        let mode = [&["--ndjson"][..], &[]][at % 2];
        let environment = TestEnvironment::with_edit();
        let answered = environment.path("answered");
        let mut long = edit_finding("[P1] Two is not one");
        long["body"] = json!("It returns two. ".repeat(20_000));
        environment.codex_reviewers(&[
            ("done", json!([reply(&[long])])),
            (
                "late",
                json!([
                    {"write_file": {"path": answered, "text": ""}},
                    environment.record(),
                    "hang",
                ]),
            ),
        ]);
        let out = environment.path("review.json");
        let out_text = out.to_str().expect("a UTF-8 path");
        // One after the other, so that the second runs when the first has said what nobody reads.
        let args = [&["--jobs", "1", "--out", out_text], mode].concat();
        let mut running = Running::spawn(&environment, &args);
        wait_until("the second reviewer runs", || answered.exists());
        running.signal(signal);
        assert_eq!(running.wait_for_end(), Some(code), "{mode:?}");
        let kept = fs::read_to_string(&out).expect("what had finished");
        assert!(kept.contains("\"interrupted\""), "{mode:?}");
        assert_eq!(environment.left_over(), [] as [PathBuf; 0]);
    }
}

#[test]
fn a_signal_ends_a_program_whose_pipe_for_the_artifact_is_not_read() {
    let environment = talkative();
    let pipe = environment.path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("mkfifo runs").success());
    // Open for reading and writing, and never read.
    let _held = fs::File::options()
        .read(true)
        .write(true)
        .open(&pipe)
        .expect("a pipe");
    let pipe_text = pipe.to_str().expect("a UTF-8 path");
    let args = ["--reviewer", "codex", "--ndjson", "--out", pipe_text];
    let mut running = Running::spawn(&environment, &args);
    let lines = BufReader::new(running.child().stdout.take().expect("a pipe"));
    // The stream is complete before the pipe is: its reader may wait for the last frame.
    let ended = lines
        .lines()
        .map_while(Result::ok)
        .any(|line| line.contains("\"final_result\""));
    assert!(ended, "the run ends");
    running.signal(Signal::TERM);
    assert_eq!(running.wait_for_end(), Some(143));
}

#[test]
fn people_who_have_seen_enough_do_not_change_the_exit_code() {
    let environment = TestEnvironment::with_edit();
    let gone = environment.path("reader-is-gone");
    let steps = json!([{"wait_for": gone}, reply(&[edit_finding("[P1] Two is not one")])]);
    environment.codex_does(&steps);
    for (gates, code) in [(&[][..], 0), (&["--fail-on-findings", "P1"], 1)] {
        drop(fs::remove_file(&gone));
        let args = [&["--reviewer", "codex"], gates].concat();
        let mut running = Running::spawn(&environment, &args);
        let mut lines = BufReader::new(running.child().stdout.take().expect("a pipe"));
        lines.read_line(&mut String::new()).expect("a line");
        drop(lines);
        fs::write(&gone, "").expect("a gate");
        let run = running.wait();
        assert_eq!((run.code, run.stderr.as_str()), (code, ""));
    }
}
