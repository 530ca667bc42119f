//! Real children, short real times. Nothing asserts how long something took; what must not hang is
//! bounded by a limit that only a defect reaches.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::engine::{CaptureMode, Payload, PlacedFile};
use tokio::sync::watch;

const MARKER: &str = "DIFFWARDEN_TEST_MARKER";
const LIMIT: Duration = Duration::from_secs(30);

/// A run folder, and a marker in the environment by which every descendant can be found.
struct Bench {
    dir: tempfile::TempDir,
    marker: String,
    stop: watch::Sender<StopLevel>,
}

impl Bench {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self {
            dir: tempfile::tempdir().unwrap(),
            marker: format!("{MARKER}={}-{count}", std::process::id()),
            stop: watch::Sender::new(StopLevel::Run),
        }
    }

    fn path(&self) -> Arc<Path> {
        self.dir.path().into()
    }

    fn script(&self, text: &str) -> CommandSpec {
        let mut spec = CommandSpec::new("/bin/sh", self.dir.path());
        spec.args = vec!["-c".into(), text.into()];
        let (name, value) = self.marker.split_once('=').unwrap();
        spec.env = vec![(name.into(), Some(value.into()))];
        spec
    }

    fn leash(&self) -> Leash {
        Leash {
            stop: self.stop.subscribe(),
            deadline: None,
            grace: Duration::from_millis(100),
            max_output: 16 << 20,
            repo_root: Path::new("/no/such/repo").into(),
            work_root: Path::new("/no/such/repo").into(),
        }
    }

    fn expired_soon(&self) -> Leash {
        Leash {
            deadline: Some(Instant::now() + Duration::from_millis(300)),
            ..self.leash()
        }
    }

    async fn collect(&self, text: &str) -> Result<Captured, Halt> {
        let run = collect(self.script(text), self.path(), self.leash());
        timeout(LIMIT, run).await.expect("the child was waited for")
    }

    fn alive(&self) -> Vec<i32> {
        let marked = |pid: &i32| {
            fs::read(format!("/proc/{pid}/environ")).is_ok_and(|environ| {
                environ
                    .split(|&byte| byte == 0)
                    .any(|variable| variable == self.marker.as_bytes())
            })
        };
        fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter(marked)
            .collect()
    }

    /// Waits until no descendant is left.
    async fn assert_empty(&self) {
        let wait = async {
            while !self.alive().is_empty() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(LIMIT, wait)
            .await
            .expect("processes were left behind");
    }

    /// Waits until a child has made the file.
    async fn until_exists(&self, name: &str) {
        let wait = async {
            while !self.dir.path().join(name).exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        timeout(LIMIT, wait).await.expect("the child never started");
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        for pid in self.alive() {
            let pid = rustix::process::Pid::from_raw(pid).unwrap();
            // It may have ended meanwhile.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
}

fn answer(text: &str) -> Answer {
    Answer {
        payload: Payload::Text(text.to_owned()),
        capture_mode: CaptureMode::Text,
        metadata: serde_json::Map::new(),
        usage: None,
    }
}

/// Answers every line by a rule; says goodbye with `parting`; at the end answers with all lines.
struct Script {
    rule: fn(&str) -> Vec<Action>,
    parting: Option<&'static str>,
    heard: Vec<String>,
}

impl Script {
    fn new(rule: fn(&str) -> Vec<Action>) -> Box<Self> {
        Box::new(Self {
            rule,
            parting: None,
            heard: Vec::new(),
        })
    }
}

impl Dialogue for Script {
    fn on_line(&mut self, line: &str) -> Vec<Action> {
        self.heard.push(line.to_owned());
        (self.rule)(line)
    }

    fn on_cancel(&mut self) -> Vec<Action> {
        let words = self.parting.map(|word| Action::Write(word.to_owned()));
        words.into_iter().collect()
    }

    fn on_exit(self: Box<Self>, captured: Captured) -> Result<Answer, Failure> {
        assert_eq!(captured.stdout, "", "nothing was to be kept");
        Ok(answer(&self.heard.join("|")))
    }
}

fn silent(_: &str) -> Vec<Action> {
    Vec::new()
}

#[tokio::test]
async fn a_child_gets_its_surroundings_and_everything_it_left_is_captured() {
    let bench = Bench::new();
    let mut spec = bench.script(
        r#"cat; cat placed; printf '%s %s' "$ADDED" "${HOME-unset}"; echo bad >&2; echo out > result; exit 7"#,
    );
    spec.stdin = b"in ".to_vec();
    spec.env.push(("ADDED".into(), Some("added".into())));
    spec.env.push(("HOME".into(), None));
    spec.files = vec![PlacedFile {
        name: "placed".into(),
        contents: b"file ".to_vec(),
    }];
    spec.outputs = vec!["result".into(), "missing".into()];
    let captured = collect(spec, bench.path(), bench.leash()).await.unwrap();
    assert_eq!(
        captured,
        Captured {
            exit: ExitKind::Code(7),
            stdout: "in file added unset".to_owned(),
            stderr: "bad\n".to_owned(),
            outputs: vec![Some(b"out\n".to_vec()), None],
        }
    );
}

#[tokio::test]
async fn a_child_leads_a_session_of_its_own() {
    let bench = Bench::new();
    let captured = bench
        .collect("set -- $(cat /proc/$$/stat); test $6 = $$ && echo leader")
        .await
        .unwrap();
    assert_eq!(captured.stdout, "leader\n");
}

#[tokio::test]
async fn an_end_by_signal_is_reported_as_such() {
    let bench = Bench::new();
    let captured = bench.collect("kill -SEGV $$").await.unwrap();
    assert_eq!(captured.exit, ExitKind::Signal(11));
}

#[tokio::test]
async fn much_output_and_an_unread_prompt_do_not_block_each_other() {
    let bench = Bench::new();
    let mut spec = bench.script("head -c 5000000 /dev/zero");
    spec.stdin = vec![b'x'; 5_000_000];
    let run = collect(spec, bench.path(), bench.leash());
    let captured = timeout(LIMIT, run).await.expect("a deadlock").unwrap();
    assert_eq!(captured.stdout.len(), 5_000_000);
    assert_eq!(captured.exit, ExitKind::Code(0));
}

#[tokio::test]
async fn a_question_on_standard_input_gets_its_end() {
    let bench = Bench::new();
    let captured = bench.collect("cat; read answer; echo $?").await.unwrap();
    assert_eq!(captured.stdout, "1\n");
}

#[tokio::test]
async fn a_child_that_closes_its_output_is_still_waited_for() {
    let bench = Bench::new();
    let captured = bench
        .collect("exec >&- 2>&-; sleep 0.1; exit 3")
        .await
        .unwrap();
    assert_eq!(captured.exit, ExitKind::Code(3));
}

#[tokio::test]
async fn a_grandchild_that_holds_the_pipe_delays_nothing_and_is_killed() {
    let bench = Bench::new();
    let captured = bench.collect("sleep 600 & echo done").await.unwrap();
    assert_eq!(captured.stdout, "done\n");
    bench.assert_empty().await;
}

#[tokio::test]
async fn a_child_that_ignores_the_request_is_killed_with_its_children() {
    let bench = Bench::new();
    let text = "trap '' TERM; sleep 600 & while :; do sleep 600; done";
    let run = collect(bench.script(text), bench.path(), bench.expired_soon());
    assert_eq!(timeout(LIMIT, run).await.unwrap(), Err(Halt::Deadline));
    bench.assert_empty().await;
}

#[tokio::test]
async fn a_stopped_child_hears_the_request_too() {
    let bench = Bench::new();
    let mut leash = bench.expired_soon();
    leash.grace = Duration::from_secs(3600);
    let run = collect(bench.script("kill -STOP $$"), bench.path(), leash);
    assert_eq!(timeout(LIMIT, run).await.unwrap(), Err(Halt::Deadline));
    bench.assert_empty().await;
}

#[tokio::test]
async fn the_second_stop_does_not_wait_for_the_grace() {
    let bench = Bench::new();
    let mut leash = bench.leash();
    leash.grace = Duration::from_secs(3600);
    let text = "trap 'touch asked' TERM; touch ready; while :; do sleep 0.01; done";
    let run = collect(bench.script(text), bench.path(), leash);
    let stops = async {
        bench.until_exists("ready").await;
        bench.stop.send_replace(StopLevel::Gracefully);
        bench.until_exists("asked").await;
        bench.stop.send_replace(StopLevel::Now);
    };
    let (outcome, ()) = tokio::join!(timeout(LIMIT, run), stops);
    assert_eq!(outcome.unwrap(), Err(Halt::Stopped));
    bench.assert_empty().await;
}

#[tokio::test]
async fn nothing_is_spawned_for_a_run_that_is_over() {
    let bench = Bench::new();
    let mut leash = bench.leash();
    leash.deadline = Some(Instant::now());
    let run = collect(bench.script("touch ran"), bench.path(), leash);
    assert_eq!(run.await, Err(Halt::Deadline));
    bench.stop.send_replace(StopLevel::Gracefully);
    assert_eq!(bench.collect("touch ran").await, Err(Halt::Stopped));
    assert!(!bench.dir.path().join("ran").exists());
}

#[tokio::test]
async fn a_flood_is_cut_off_on_either_stream_also_without_line_feeds() {
    for target in ["1", "2"] {
        let bench = Bench::new();
        let mut leash = bench.leash();
        leash.max_output = 100_000;
        let text = format!("cat /dev/zero >&{target}");
        let run = converse(
            bench.script(&text),
            bench.path(),
            Script::new(silent),
            leash,
        );
        let Err(Halt::Failed(failure)) = timeout(LIMIT, run).await.unwrap() else {
            panic!("the flood was accepted");
        };
        assert_eq!(failure.reason, Some(Reason::OutputLimit));
        bench.assert_empty().await;
    }
}

#[tokio::test]
async fn only_the_end_of_standard_error_is_kept() {
    let bench = Bench::new();
    let captured = bench
        .collect("head -c 300000 /dev/zero >&2; echo end >&2")
        .await
        .unwrap();
    assert_eq!(captured.stderr.len(), STDERR_TAIL);
    assert!(captured.stderr.ends_with("\0end\n"));
}

#[tokio::test]
async fn invalid_text_is_replaced() {
    let bench = Bench::new();
    let captured = bench.collect(r"printf 'a\377b'").await.unwrap();
    assert_eq!(captured.stdout, "a\u{fffd}b");
}

#[tokio::test]
async fn a_dialogue_talks_until_it_has_its_answer_and_the_child_is_ended() {
    let bench = Bench::new();
    let mut spec = bench.script("read a; echo got $a; read b; echo got $b; sleep 600");
    spec.stdin = b"first\n".to_vec();
    spec.keep_stdin_open = true;
    let dialogue = Script::new(|line| match line {
        "got first" => vec![Action::Write("second".to_owned())],
        "got second" => vec![Action::Finish(Box::new(answer("done")))],
        other => panic!("unexpected {other}"),
    });
    let run = converse(spec, bench.path(), dialogue, bench.leash());
    assert_eq!(timeout(LIMIT, run).await.unwrap(), Ok(answer("done")));
    bench.assert_empty().await;
}

#[tokio::test]
async fn a_dialogue_closes_the_input_and_hears_a_last_line_without_a_line_feed() {
    let bench = Bench::new();
    let mut spec = bench.script("echo ready; cat >&2; printf 'last'");
    spec.keep_stdin_open = true;
    let dialogue = Script::new(|line| {
        let ready = line == "ready";
        ready.then_some(Action::CloseInput).into_iter().collect()
    });
    let run = converse(spec, bench.path(), dialogue, bench.leash());
    assert_eq!(timeout(LIMIT, run).await.unwrap(), Ok(answer("ready|last")));
}

#[tokio::test]
async fn a_dialogue_that_sees_no_hope_ends_the_child() {
    let bench = Bench::new();
    let dialogue = Script::new(|_| {
        let failure = Failure::new(ErrorCode::MissingAuth, "not logged in");
        vec![Action::Fail(Box::new(failure))]
    });
    let run = converse(
        bench.script("echo retry; sleep 600"),
        bench.path(),
        dialogue,
        bench.leash(),
    );
    let failure = Failure::new(ErrorCode::MissingAuth, "not logged in");
    assert_eq!(
        timeout(LIMIT, run).await.unwrap(),
        Err(Halt::Failed(failure))
    );
    bench.assert_empty().await;
}

#[tokio::test]
async fn a_dialogue_may_say_goodbye() {
    let bench = Bench::new();
    let mut spec = bench.script("touch ready; read word; echo $word > heard; sleep 600");
    spec.keep_stdin_open = true;
    let mut dialogue = Script::new(silent);
    dialogue.parting = Some("bye");
    let run = converse(spec, bench.path(), dialogue, bench.leash());
    let stop = async {
        bench.until_exists("ready").await;
        bench.stop.send_replace(StopLevel::Gracefully);
        bench.until_exists("heard").await;
    };
    let (outcome, ()) = tokio::join!(timeout(LIMIT, run), stop);
    assert_eq!(outcome.unwrap(), Err(Halt::Stopped));
    bench.assert_empty().await;
}

#[tokio::test]
async fn a_panic_in_the_last_judgement_is_a_failure() {
    struct Panicking;
    impl Dialogue for Panicking {
        fn on_exit(self: Box<Self>, _: Captured) -> Result<Answer, Failure> {
            panic!("boom")
        }
    }
    let bench = Bench::new();
    let run = converse(
        bench.script(":"),
        bench.path(),
        Box::new(Panicking),
        bench.leash(),
    );
    let Err(Halt::Failed(failure)) = run.await else {
        panic!("the panic was lost");
    };
    assert_eq!(failure.reason, Some(Reason::Crash));
}

/// A laptop that slept over the deadline: both the deadline and the child's end have passed when
/// the runtime looks. The order in which it looks is random, hence several rounds.
#[tokio::test]
async fn a_child_that_ended_before_the_deadline_was_noticed_is_a_result() {
    for _ in 0..10 {
        let bench = Bench::new();
        let mut spec = bench.script("echo done");
        spec.keep_stdout = true;
        let mut child = Child::spawn(&mut spec, 1000, None).await.unwrap();
        let state = PathBuf::from(format!("/proc/{}/stat", child.process.id().unwrap()));
        while !fs::read_to_string(&state).unwrap().contains(") Z ") {
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut leash = bench.leash();
        leash.deadline = Some(Instant::now());
        let attended = child.attend(&mut leash).await;
        assert!(matches!(attended, Ok(Attended::Exited(_))));
        assert_eq!(child.kept.as_deref(), Some(b"done\n".as_slice()));
    }
}

#[tokio::test]
async fn dropping_the_owner_kills_the_group() {
    let bench = Bench::new();
    let text = "trap '' TERM; sleep 600 & touch ready; while :; do sleep 600; done";
    let run = collect(bench.script(text), bench.path(), bench.leash());
    let task = tokio::spawn(run);
    bench.until_exists("ready").await;
    task.abort();
    bench.assert_empty().await;
}

#[tokio::test]
async fn nothing_a_child_starts_comes_from_the_reviewed_repository() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    let repo = tempfile::tempdir().unwrap();
    let bin = repo.path().join("node_modules/.bin");
    fs::create_dir_all(&bin).unwrap();
    for name in ["git", "node-of-repo"] {
        let path = bin.join(name);
        fs::write(&path, "#!/bin/sh\necho repository\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let searched = std::env::join_paths([bin.as_path(), Path::new(""), Path::new("/bin")]).unwrap();
    let mut spec = bench.script("node-of-repo; cd node_modules/.bin; node-of-repo; echo \"$PATH\"");
    spec.cwd = repo.path().into();
    for (own, is_asked) in [(Some(searched.clone()), true), (None, false)] {
        spec.env.push(("PATH".into(), own));
        let leash = Leash {
            repo_root: repo.path().into(),
            work_root: repo.path().into(),
            ..bench.leash()
        };
        let captured = collect(spec.clone(), bench.path(), leash).await.unwrap();
        let expected = if is_asked {
            "/bin\n"
        } else {
            "/usr/bin:/bin\n"
        };
        assert_eq!(captured.stdout, expected, "{}", captured.stderr);
    }
    // Without a rule about the repository the same command does find it, so the test can fail.
    spec.env.push(("PATH".into(), Some(searched)));
    let captured = collect(spec, bench.path(), bench.leash()).await.unwrap();
    assert!(captured.stdout.starts_with("repository\n"), "{captured:?}");
}
