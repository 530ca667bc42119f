//! Batches that are ended before all lanes have: by a signal, or by the run's own time.

use std::fs;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{finds, lane_script, reasons};
use crate::support::{Run, TestEnvironment, terminal_frames, wait_until, with_default_signals};

/// Runs a batch of which the overview has finished and the focus lane hangs, and interrupts it.
fn interrupt_after_the_overview(more: &[&str]) -> (Run, Option<Value>) {
    let environment = TestEnvironment::with_edit();
    environment.install_codex(&lane_script(
        &[(
            "odd errors",
            json!([{"record_grandchild": environment.path("recorded")}, "hang"]),
        )],
        &finds(&["[P1] Two is not one"]),
    ));
    let (out, stream) = (environment.path("out.json"), environment.path("stream"));
    let out_text = out.to_str().expect("a UTF-8 path");
    let args = [
        "--reviewer",
        "codex",
        "--focus",
        "odd errors",
        "--ndjson",
        "--out",
        out_text,
    ];
    let mut command = with_default_signals(environment.review_command(&[&args[..], more].concat()));
    command
        .stdout(fs::File::create(&stream).expect("a file"))
        .stderr(Stdio::piped());
    let child = command.spawn().expect("the binary runs");
    let printed = || fs::read_to_string(&stream).expect("a file");
    wait_until("the overview has ended and the focus lane runs", || {
        printed().contains("lane_finished") && !environment.recorded_pids("grandchild").is_empty()
    });
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is our child");
    let mut run = Run::of(child.wait_with_output().expect("it ends"));
    run.stdout = printed();
    assert_eq!(environment.left_over(), [] as [std::path::PathBuf; 0]);
    wait_until("all processes are gone", || {
        environment.processes().is_empty()
    });
    let artifact = fs::read_to_string(out).ok();
    let artifact = artifact.map(|text| serde_json::from_str(&text).expect("an artifact"));
    (run, artifact)
}

#[test]
fn what_had_finished_when_a_signal_came_goes_to_the_file() {
    let (run, artifact) = interrupt_after_the_overview(&[]);
    assert_eq!(run.code, 130, "{}", run.stderr);
    let frames = run.frames();
    let terminal = terminal_frames(&frames);
    assert_eq!(terminal.len(), 1, "{frames:?}");
    assert_eq!(terminal[0]["error"]["reason"], "interrupted");
    let batch = artifact.expect("the finished lane is kept");
    assert_eq!(batch["kind"], "batch");
    assert_eq!(batch["trust"]["clean"], false);
    assert!(
        reasons(&batch).contains(&"interrupted"),
        "{}",
        batch["trust"]
    );
    let states: Vec<_> = ["/lanes/0/status", "/lanes/1/status"]
        .iter()
        .filter_map(|place| batch.pointer(place)?.as_str())
        .collect();
    assert_eq!(states, ["success", "failed"]);
    assert_eq!(
        batch["result"]["findings"][0]["title"],
        "[P1] Two is not one"
    );
}

#[test]
fn strict_mode_keeps_nothing_of_an_interrupted_run() {
    let (run, artifact) = interrupt_after_the_overview(&["--strict"]);
    assert_eq!(run.code, 130, "{}", run.stderr);
    assert_eq!(artifact, None);
}

#[test]
fn what_has_finished_in_the_runs_time_is_the_result() {
    let environment = TestEnvironment::with_edit();
    environment.install_codex(&lane_script(
        &[(
            "odd errors",
            json!([{"record_grandchild": environment.path("recorded")}, "hang"]),
        )],
        &finds(&["[P1] Two is not one"]),
    ));
    let args = [
        "--reviewer",
        "codex",
        "--focus",
        "odd errors",
        "--json",
        "--max-time",
        "3",
    ];
    let run = environment.review(&args);
    let batch = run.json();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert_eq!(batch["lanes"][0]["status"], "success");
    let error = &batch["lanes"][1]["error"];
    assert_eq!(
        (&error["code"], &error["reason"]),
        (&json!("timeout"), &json!("max_time"))
    );
    assert!(reasons(&batch).contains(&"max_time"), "{}", batch["trust"]);
    assert_eq!(environment.left_over(), [] as [std::path::PathBuf; 0]);
    wait_until("all processes are gone", || {
        environment.processes().is_empty()
    });
}
