//! A hermetic place to run the binary in.
//!
//! Every test gets a temporary folder of its own with a home, a temporary folder, a folder for
//! executables and a repository. The environment of child processes is built from nothing, so
//! neither the developer's git configuration nor a real engine can change a result.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;

/// One test's world.
pub(crate) struct TestEnvironment {
    top: TempDir,
}

/// How the binary ended.
#[derive(Debug)]
pub(crate) struct Run {
    /// The exit code; a death by signal fails the test.
    pub(crate) code: i32,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
}

impl TestEnvironment {
    /// Creates the folders and an empty repository on branch `main`.
    pub(crate) fn new() -> Self {
        let top = tempfile::Builder::new()
            .prefix("dw-test-")
            .tempdir()
            .expect("a temporary folder");
        let environment = Self { top };
        for folder in ["home", "tmp", "bin", "repo"] {
            fs::create_dir(environment.path(folder)).expect("a new folder");
        }
        environment.git(&["init", "--quiet", "--initial-branch=main"]);
        environment
    }

    /// Creates a repository with one commit that holds `src/lib.rs`, and an uncommitted edit of it.
    pub(crate) fn with_edit() -> Self {
        let environment = Self::new();
        environment.write("src/lib.rs", "pub fn one() -> u8 {\n    1\n}\n");
        environment.commit("base");
        environment.write("src/lib.rs", "pub fn one() -> u8 {\n    2\n}\n");
        environment
    }

    /// Returns a path beside the repository.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        // Resolved, because git and the binary print resolved paths (macOS links /tmp).
        self.top
            .path()
            .canonicalize()
            .expect("the folder exists")
            .join(name)
    }

    /// Returns the repository's folder.
    pub(crate) fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    /// Returns the home folder.
    pub(crate) fn home(&self) -> PathBuf {
        self.path("home")
    }

    /// Returns the folder for temporary files; it must be empty after every run.
    pub(crate) fn tmp(&self) -> PathBuf {
        self.path("tmp")
    }

    /// Returns the folder that stands first on `PATH`.
    pub(crate) fn bin(&self) -> PathBuf {
        self.path("bin")
    }

    /// Writes a file of the repository, parents included.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.repo().join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("parent folders");
        }
        fs::write(path, contents).expect("a written file");
    }

    /// Writes the user config.
    pub(crate) fn write_config(&self, config: &Value) {
        let folder = self.home().join(".config/diffwarden");
        fs::create_dir_all(&folder).expect("the config folder");
        fs::write(folder.join("diffwarden.config.json"), config.to_string()).expect("a config");
    }

    /// Stages everything and commits it.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
    }

    /// Runs git in the repository and returns what it printed, trimmed.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        let output = self
            .clean(Command::new("git"))
            .current_dir(self.repo())
            .args(args)
            .output()
            .expect("git runs");
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Returns a command that runs the binary in the repository.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: impl IntoIterator<Item = S>) -> Command {
        let mut command = self.clean(Command::new(env!("CARGO_BIN_EXE_diffwarden")));
        command.current_dir(self.repo()).args(args);
        command
    }

    /// Runs the binary in the repository.
    pub(crate) fn run(&self, args: &[&str]) -> Run {
        Run::of(self.command(args).output().expect("the binary runs"))
    }

    /// Runs `diffwarden review` in the repository.
    pub(crate) fn review(&self, args: &[&str]) -> Run {
        Run::of(self.review_command(args).output().expect("the binary runs"))
    }

    /// Returns a command that runs `diffwarden review` in the repository.
    pub(crate) fn review_command(&self, args: &[&str]) -> Command {
        self.command(["review"].iter().chain(args))
    }

    /// Puts the scripted reviewer on `PATH` as `codex`, as if it had never been run. `script` is
    /// what it does; see `fixtures/fake_reviewer.rs`.
    ///
    /// A link, because a fresh copy may not be run while another test's child still holds it open.
    pub(crate) fn install_codex(&self, script: &Value) {
        let target = self.bin().join("codex");
        if !target.exists() {
            symlink(env!("CARGO_BIN_EXE_fake-reviewer"), &target).expect("a linked executable");
        }
        for entry in fs::read_dir(self.bin()).expect("the folder exists") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with("codex.json.") {
                fs::remove_file(&path).expect("a counted call");
            }
        }
        fs::write(self.bin().join("codex.json"), script.to_string()).expect("a script");
    }

    /// Installs a `codex` that does these steps whenever it is asked for a review.
    pub(crate) fn codex_does(&self, steps: &Value) {
        self.install_codex(&json!({"runs": [{"steps": steps}]}));
    }

    /// Installs a `codex` that records its calls and answers with these findings.
    pub(crate) fn codex_finds(&self, findings: &[Value]) {
        self.codex_does(&json!([self.record(), reply(findings)]));
    }

    /// Configures reviewers that differ in their model, and installs a `codex` that does the steps
    /// of the model it is run with. They form the default set.
    pub(crate) fn codex_reviewers(&self, reviewers: &[(&str, Value)]) {
        let entry = |id: &str| json!({"id": id, "engine": "codex", "transport": "cli", "model": format!("model-{id}")});
        let ids: Vec<_> = reviewers.iter().map(|(id, _)| *id).collect();
        self.write_config(&json!({
            "reviewers": ids.iter().map(|id| entry(id)).collect::<Vec<_>>(),
            "reviewerSets": {"1": ids},
        }));
        let runs: Vec<_> = reviewers
            .iter()
            .map(|(id, steps)| json!({"contains": format!("model-{id}"), "steps": steps}))
            .collect();
        self.install_codex(&json!({ "runs": runs }));
    }

    /// Returns the step that records how the scripted reviewer was run.
    pub(crate) fn record(&self) -> Value {
        json!({"record": self.path("recorded")})
    }

    /// Returns what the scripted reviewer recorded under this name, a text for each of its calls.
    pub(crate) fn recorded(&self, what: &str) -> Vec<String> {
        let read = |path: PathBuf| {
            String::from_utf8_lossy(&fs::read(path).expect("it is there")).into_owned()
        };
        self.recorded_files(what).into_iter().map(read).collect()
    }

    /// Returns the ids of the processes that were recorded under this name.
    pub(crate) fn recorded_pids(&self, what: &str) -> Vec<u32> {
        let pid = |path: PathBuf| path.extension()?.to_str()?.parse().ok();
        self.recorded_files(what)
            .into_iter()
            .filter_map(pid)
            .collect()
    }

    fn recorded_files(&self, what: &str) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.path("recorded")) else {
            return Vec::new();
        };
        entries
            .map(|entry| entry.expect("an entry").path())
            .filter(|path| path.file_stem() == Some(OsStr::new(what)))
            .collect()
    }

    /// Makes `PATH` hold nothing but git and what the test installed.
    pub(crate) fn hide_other_programs(&self, command: &mut Command) {
        let system = std::env::var_os("PATH").unwrap_or_default();
        let git = std::env::split_paths(&system)
            .map(|folder| folder.join("git"))
            .find(|path| path.is_file())
            .expect("git is installed");
        symlink(git, self.bin().join("git")).expect("a link to git");
        command.env("PATH", self.bin());
    }

    /// Writes a program that leaves a trace when it is run, and returns its path.
    pub(crate) fn write_trap(&self, path: &Path) {
        let trace = self.trace();
        let script = format!("#!/bin/sh\n: > '{}'\nexit 1\n", trace.display());
        fs::write(path, script).expect("a written trap");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("an executable trap");
    }

    /// Returns the file that exists once a trap was run.
    pub(crate) fn trace(&self) -> PathBuf {
        self.path("trace")
    }

    /// Returns what is left in the folder for temporary files.
    pub(crate) fn left_over(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.tmp()).expect("the folder exists");
        entries
            .map(|entry| entry.expect("an entry").path())
            .collect()
    }

    /// Returns the processes that have this world in their environment.
    #[cfg(target_os = "linux")]
    pub(crate) fn processes(&self) -> Vec<u32> {
        let mark = self.tmp().display().to_string().into_bytes();
        let entries = fs::read_dir("/proc").expect("Linux has it");
        let has_mark = |pid: &u32| {
            // A zombie has none, and one of another user cannot be read.
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.windows(mark.len()).any(|part| part == mark)
        };
        entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(has_mark)
            .collect()
    }

    /// Returns the processes that were recorded and are still alive.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn processes(&self) -> Vec<u32> {
        let pids = ["argv", "grandchild"].map(|what| self.recorded_pids(what));
        pids.concat()
            .into_iter()
            .filter(|&pid| is_alive(pid))
            .collect()
    }

    /// Gives a command the environment of this world and nothing else.
    pub(crate) fn clean(&self, mut command: Command) -> Command {
        let system = std::env::var_os("PATH").unwrap_or_default();
        let mut path = vec![self.bin()];
        path.extend(std::env::split_paths(&system));
        command
            .env_clear()
            .env("PATH", std::env::join_paths(path).expect("a search path"))
            .env("HOME", self.home())
            .env("TMPDIR", self.tmp())
            .env("LC_ALL", "C.UTF-8")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "A U Thor")
            .env("GIT_AUTHOR_EMAIL", "author@example.com")
            .env("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z")
            .env("GIT_COMMITTER_NAME", "C O Mitter")
            .env("GIT_COMMITTER_EMAIL", "committer@example.com")
            .env("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z")
            .stdin(Stdio::null());
        command
    }
}

impl Run {
    /// Takes a finished process; a death by signal is a failure of the test.
    pub(crate) fn of(output: Output) -> Self {
        let stdout = String::from_utf8(output.stdout).expect("standard output is UTF-8");
        let stderr = String::from_utf8(output.stderr).expect("standard error is UTF-8");
        let code = output.status.code();
        let code = code.unwrap_or_else(|| panic!("ended by a signal: {stderr}"));
        Self {
            code,
            stdout,
            stderr,
        }
    }

    /// Returns standard output as one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.stdout, self.stderr))
    }

    /// Returns standard output as one JSON value a line.
    pub(crate) fn frames(&self) -> Vec<Value> {
        self.stdout
            .lines()
            .map(|line| {
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
            })
            .collect()
    }
}

/// Returns a finding in a file of the repository, as a model reports it.
pub(crate) fn finding(title: &str, priority: u8, path: &str, lines: (u32, u32)) -> Value {
    json!({
        "title": title,
        "body": "It returns two.",
        "confidence_score": 0.8,
        "priority": priority,
        "code_location": {
            "absolute_file_path": format!("{{REPO}}/{path}"),
            "line_range": {"start": lines.0, "end": lines.1},
        },
    })
}

/// Returns the finding that fits the edit of [`TestEnvironment::with_edit`].
pub(crate) fn edit_finding(title: &str) -> Value {
    finding(title, 1, "src/lib.rs", (2, 2))
}

/// Returns the step that answers with these findings and a verdict that fits them.
pub(crate) fn reply(findings: &[Value]) -> Value {
    let verdict = if findings.is_empty() {
        "patch is correct"
    } else {
        "patch is incorrect"
    };
    json!({"reply": {
        "findings": findings,
        "overall_correctness": verdict,
        "overall_explanation": "One function of `src/lib.rs` was read with its callers.",
        "overall_confidence_score": 0.75,
    }})
}

/// Returns the steps of an engine whose provider asks to come back after `wait`, such as `30ms`.
pub(crate) fn rate_limited(wait: &str) -> [Value; 2] {
    let message = format!("Rate limit reached. Please try again in {wait}.");
    let body = json!({"error": {"message": message, "code": "rate_limit_exceeded"}});
    [json!({"fail_turn": body.to_string()}), json!({"exit": 1})]
}

/// Returns the frames that end a stream.
pub(crate) fn terminal_frames(frames: &[Value]) -> Vec<&Value> {
    let is_terminal = |kind: &Value| kind == "error" || kind == "final_result";
    frames
        .iter()
        .filter(|frame| is_terminal(&frame["type"]))
        .collect()
}

/// Undoes what a test run that was put into the background inherits: shells start such programs
/// with SIGINT and SIGQUIT ignored, `nohup` with SIGHUP ignored, and diffwarden leaves an ignored signal alone.
pub(crate) fn with_default_signals(command: Command) -> Command {
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

/// Waits until a condition holds; that it does not is a failure of the test.
pub(crate) fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    // Far more than any machine needs; only a test that fails waits this long.
    let end = Instant::now() + Duration::from_secs(60);
    while !condition() {
        assert!(Instant::now() < end, "waited in vain until {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process with this id is alive (a zombie is not).
#[cfg(target_os = "linux")]
pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat"));
    stat.is_ok_and(|stat| {
        let state = stat
            .rsplit(") ")
            .next()
            .and_then(|rest| rest.chars().next());
        state != Some('Z')
    })
}

/// Whether a process with this id is alive; orphans are reaped at once.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_alive(pid: u32) -> bool {
    let pid = i32::try_from(pid)
        .ok()
        .and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| rustix::process::test_kill_process(pid).is_ok())
}
