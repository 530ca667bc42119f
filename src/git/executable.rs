//! The git executable, called so that neither the repository's nor the user's settings change
//! what is printed, and so that nothing but git itself runs.
//!
//! There is one way to make a command, [`Git::command`]; everything that hardens it stands here
//! with its reason.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io::{BufReader, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;

use diffwarden_actors::model::{ErrorCode, Failure, Reason};
use diffwarden_actors::search_path::{is_inside, outside_path};

use super::child::GroupChild;
use crate::env::Environment;

/// Settings for every call. Given on the command line they win over every file and over
/// `GIT_CONFIG_COUNT`, which is left alone: it may carry `safe.directory`.
const SETTINGS: &[&str] = &[
    // The program named here would run on every look at the work tree.
    "core.fsmonitor=false",
    // No hook may run, not even those for a changed index.
    "core.hooksPath=/dev/null",
    // Names are read by a parser that expects quotes around all bytes that are not ASCII.
    "core.quotePath=true",
    // A warning per file with mixed line ends is of no use here.
    "core.safecrlf=false",
    // A low threshold would turn every file into a binary one; this is git's own.
    "core.bigFileThreshold=512m",
    // Empty context lines keep their blank.
    "diff.suppressBlankEmpty=false",
    // A file counts as unchanged only when every fact about it is the one that the index holds: size
    // and whole seconds alone are easily kept while the contents change.
    "core.checkStat=default",
    "core.trustctime=true",
    // Work trees of submodules are not looked into: their own settings could run programs.
    "submodule.recurse=false",
    // Messages of commits are printed in the encoding that they are read in.
    "i18n.logOutputEncoding=UTF-8",
];

/// Variables for every call.
const SET: &[(&str, &str)] = &[
    // The index is not written to remember which files only looked changed, and a stale lock stops
    // nothing.
    ("GIT_OPTIONAL_LOCKS", "0"),
    // Objects that a partial clone left out are not fetched: a review is offline.
    ("GIT_NO_LAZY_FETCH", "1"),
    // The same for versions of git that do not know the variable above: no protocol is allowed.
    ("GIT_ALLOW_PROTOCOL", "none"),
    // A commit is what its name says, not what `refs/replace` puts in its place.
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    // Nobody is there to answer a question.
    ("GIT_TERMINAL_PROMPT", "0"),
    // The user's configuration may ask for traces too.
    ("GIT_TRACE2", "0"),
    ("GIT_TRACE2_EVENT", "0"),
    ("GIT_TRACE2_PERF", "0"),
    // Messages are in English, whatever the user's language: some are told apart by their words.
    ("LC_ALL", "C"),
];

/// Variables that are taken out.
const REMOVED: &[&str] = &[
    // A program that would run and print instead of git.
    "GIT_EXTERNAL_DIFF",
    // Its `-u0` and `--unified` change the context.
    "GIT_DIFF_OPTS",
    // Would read attributes from another revision.
    "GIT_ATTR_SOURCE",
    // Would change what patterns mean.
    "GIT_LITERAL_PATHSPECS",
    "GIT_GLOB_PATHSPECS",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_ICASE_PATHSPECS",
    // Hooks get it; it only makes sense in the folder they were called from.
    "GIT_PREFIX",
    // Programs that have no part in reading a repository.
    "GIT_PAGER",
    "GIT_ASKPASS",
    "SSH_ASKPASS",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "GIT_PROXY_COMMAND",
    // Messages are told apart by their words.
    "LANGUAGE",
];

/// Output of traces would mix with messages, or be written to files.
const REMOVED_START: &[u8] = b"GIT_TRACE";

/// The most that is kept of what git says on stderr, in bytes.
const MESSAGE_LIMIT: u64 = 16 << 10;

/// The git executable with the folder it works in.
#[derive(Clone)]
pub(super) struct Git {
    /// As `PATH` gives it: what a link is called can matter to the program behind it.
    program: PathBuf,
    folder: PathBuf,
    environment: Vec<(OsString, OsString)>,
    settings: Vec<OsString>,
}

impl fmt::Debug for Git {
    /// The environment may hold secrets and is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Git")
            .field("program", &self.program)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl Git {
    /// Finds git on `PATH`, never inside `reviewed`: the repository could bring a program of
    /// that name along. Relative entries of `PATH` are skipped for the same reason.
    pub(super) fn find(environment: &Environment, folder: &Path, reviewed: &Path) -> Option<Self> {
        let program = find_program("git", environment.raw("PATH")?, reviewed)?;
        let kept = environment.variables().filter(|(name, _)| {
            !name.as_bytes().starts_with(REMOVED_START)
                && !REMOVED.iter().any(|removed| name == removed)
        });
        let set = SET.iter().map(|(name, value)| (name.into(), value.into()));
        let mut git = Self {
            program,
            folder: folder.to_owned(),
            environment: kept
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .chain(set)
                .collect(),
            settings: Vec::new(),
        };
        git.confine(reviewed);
        Some(git)
    }

    /// Keeps git from starting programs of the reviewed repository by their name.
    fn confine(&mut self, reviewed: &Path) {
        let is_path = |(name, _): &&(OsString, OsString)| name == "PATH";
        let path = self.environment.iter().rev().find(is_path);
        let outside = outside_path(path.map(|(_, value)| value.as_os_str()), reviewed);
        self.set_variable("PATH", &outside);
    }

    /// Whether the program lies inside `folder`, an absolute path without links.
    pub(super) fn lies_in(&self, folder: &Path) -> bool {
        is_inside(&self.program, folder)
    }

    /// Works at `root`, the root of the reviewed work tree, from now on.
    pub(super) fn set_root(&mut self, root: &Path) {
        root.clone_into(&mut self.folder);
        self.confine(root);
    }

    /// Sets a variable for every call from now on.
    pub(super) fn set_variable(&mut self, name: &str, value: &OsStr) {
        self.environment.push((name.into(), value.into()));
    }

    /// Adds settings (`name=value`) to every call from now on.
    pub(super) fn add_settings(&mut self, settings: impl IntoIterator<Item = OsString>) {
        self.settings.extend(settings);
    }

    /// Returns a git command that is hardened, has no input, and nothing to do yet.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        command
            .current_dir(&self.folder)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .arg("--no-pager");
        let fixed = SETTINGS.iter().map(OsStr::new);
        for setting in fixed.chain(self.settings.iter().map(OsString::as_os_str)) {
            command.arg("-c").arg(setting);
        }
        command
    }

    /// Starts git.
    pub(super) fn start<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Running, Failure> {
        let mut command = self.command();
        self.spawn(command.args(arguments))
    }

    /// Starts git and returns what it reads its input from.
    pub(super) fn start_asking<const N: usize>(
        &self,
        arguments: [&str; N],
    ) -> Result<(Running, ChildStdin), Failure> {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::piped());
        let mut running = self.spawn(&mut command)?;
        let input = running.child.take_stdin();
        Ok((running, input.expect("the input is a pipe")))
    }

    fn spawn(&self, command: &mut Command) -> Result<Running, Failure> {
        let mut child = GroupChild::spawn(command).map_err(|error| {
            environment_failure(format!("cannot run `{}`: {error}", self.program.display()))
        })?;
        let stdout = child.take_stdout();
        let message = child.take_stderr().map(|mut stderr| {
            std::thread::spawn(move || {
                let mut message = Vec::new();
                // What cannot be read of a message is missing from it, which is all it can do.
                let kept = stderr
                    .by_ref()
                    .take(MESSAGE_LIMIT)
                    .read_to_end(&mut message);
                drop(kept.and_then(|_| std::io::copy(&mut stderr, &mut std::io::sink())));
                message
            })
        });
        Ok(Running {
            child,
            stdout: stdout.map(BufReader::new),
            message,
        })
    }

    /// Runs git to its end and returns what it printed.
    pub(super) fn run<A: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Result<Finished, Failure> {
        let mut running = self.start(arguments)?;
        let output = running.read_all()?;
        let mut finished = running.finish()?;
        finished.output = output;
        Ok(finished)
    }
}

/// A running git. Dropping it ends it: a git that is given up on must not live on.
pub(super) struct Running {
    child: GroupChild,
    stdout: Option<BufReader<ChildStdout>>,
    message: Option<JoinHandle<Vec<u8>>>,
}

/// A git that has ended.
#[derive(Debug)]
pub(super) struct Finished {
    status: ExitStatus,
    /// What it printed, when it was read as a whole.
    pub(super) output: Vec<u8>,
    /// What it said on stderr, at most 16 KiB of it.
    pub(super) message: String,
}

impl Running {
    /// Returns the output, to be read once.
    ///
    /// # Panics
    ///
    /// When it is taken twice.
    pub(super) fn output(&mut self) -> BufReader<ChildStdout> {
        self.stdout.take().expect("the output is taken once")
    }

    /// Reads the whole output: for lists of names and other short answers.
    pub(super) fn read_all(&mut self) -> Result<Vec<u8>, Failure> {
        let mut output = Vec::new();
        self.output().read_to_end(&mut output).map_err(|error| {
            environment_failure(format!("cannot read what git prints: {error}"))
        })?;
        Ok(output)
    }

    /// Waits for the end.
    pub(super) fn finish(mut self) -> Result<Finished, Failure> {
        drop(self.stdout.take());
        let status = self
            .child
            .wait()
            .map_err(|error| environment_failure(format!("cannot wait for git: {error}")))?;
        let message = self.message.take().and_then(|thread| thread.join().ok());
        Ok(Finished {
            status,
            output: Vec::new(),
            message: String::from_utf8_lossy(&message.unwrap_or_default())
                .trim()
                .to_owned(),
        })
    }
}

impl Finished {
    pub(super) fn succeeded(&self) -> bool {
        self.status.success()
    }

    /// Returns the failure of a call that could only fail because of its surroundings.
    pub(super) fn check(self) -> Result<Self, Failure> {
        if self.succeeded() {
            return Ok(self);
        }
        let message = if self.message.is_empty() {
            format!("git failed without a message ({})", self.status)
        } else {
            format!("git failed: {}", self.message)
        };
        Err(environment_failure(message).hint(
            "run `git status` and `git fsck` in the repository; in a partial clone, `git diff` fetches what is missing",
        ))
    }

    /// Returns the first line of the output without its line end.
    pub(super) fn first_line(&self) -> String {
        let text = String::from_utf8_lossy(&self.output);
        text.lines().next().unwrap_or_default().to_owned()
    }
}

/// Returns the failure of something that is neither the user's input nor diffwarden's work.
pub(super) fn environment_failure(message: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::ReviewerEnvironmentFailed, message).reason(Reason::Environment)
}

/// Returns the first program of that name on `PATH` outside `reviewed`, an absolute path without
/// links.
fn find_program(name: &str, path: &OsStr, reviewed: &Path) -> Option<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|program| is_executable(program) && !is_inside(program, reviewed))
}

fn is_executable(program: &Path) -> bool {
    program
        .metadata()
        .is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn program(folder: &Path, mode: u32) -> PathBuf {
        fs::create_dir_all(folder).unwrap();
        let program = folder.join("git");
        fs::write(&program, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(mode)).unwrap();
        program
    }

    #[test]
    fn git_is_looked_for_outside_the_repository_only() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        let reviewed = top.join("repo");
        program(&reviewed.join("bin"), 0o755);
        program(&top.join("plain"), 0o644);
        fs::create_dir_all(top.join("folder/git")).unwrap();
        let found = program(&top.join("good"), 0o755);
        let linked = top.join("linked");
        fs::create_dir(&linked).unwrap();
        std::os::unix::fs::symlink(reviewed.join("bin/git"), linked.join("git")).unwrap();

        let folders = [
            PathBuf::from("bin"),
            reviewed.join("bin"),
            linked,
            top.join("plain"),
            top.join("folder"),
            top.join("good"),
        ];
        let path = std::env::join_paths(folders).unwrap();
        assert_eq!(find_program("git", &path, &reviewed), Some(found));
        assert_eq!(find_program("git", OsStr::new("bin:"), &reviewed), None);
    }

    #[test]
    fn the_environment_is_that_of_the_snapshot_without_what_changes_the_output() {
        let temp = tempfile::tempdir().unwrap();
        program(&temp.path().join("bin"), 0o755);
        let path = temp.path().join("bin").into_os_string();
        let environment: Environment = [
            ("PATH", path.as_os_str()),
            ("GIT_TRACE", OsStr::new("/tmp/x")),
            ("GIT_TRACE2_EVENT", OsStr::new("/tmp/x")),
            ("GIT_EXTERNAL_DIFF", OsStr::new("evil")),
            ("GIT_INDEX_FILE", OsStr::new(".git/index")),
            ("LC_ALL", OsStr::new("de_DE.UTF-8")),
        ]
        .into_iter()
        .collect();
        let git = Git::find(&environment, temp.path(), Path::new("/nowhere")).unwrap();
        let command = git.command();
        let set: Vec<_> = command.get_envs().collect();
        let value = |name: &str| {
            set.iter()
                .find(|(key, _)| *key == name)
                .and_then(|(_, v)| *v)
        };
        assert_eq!(value("GIT_TRACE2_EVENT"), Some(OsStr::new("0")));
        assert_eq!(value("GIT_TRACE"), None);
        assert_eq!(value("GIT_EXTERNAL_DIFF"), None);
        assert_eq!(value("GIT_INDEX_FILE"), Some(OsStr::new(".git/index")));
        assert_eq!(value("LC_ALL"), Some(OsStr::new("C")));
        assert_eq!(value("GIT_OPTIONAL_LOCKS"), Some(OsStr::new("0")));
        assert_eq!(value("PATH"), Some(path.as_os_str()));
    }

    #[test]
    fn git_finds_no_program_of_the_repository() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        program(&top.join("bin"), 0o755);
        let searched = |folders: &[&str]| {
            let folders = folders.iter().map(|folder| top.join(folder));
            std::env::join_paths(folders).unwrap()
        };
        let all = searched(&["outer/repo/bin", "outer/bin", "bin"]);
        let environment: Environment = [("PATH", all)].into_iter().collect();
        let path_of = |git: &Git| {
            let command = git.command();
            let path = command.get_envs().find(|(name, _)| *name == "PATH");
            path.and_then(|(_, value)| value.map(OsStr::to_owned))
        };
        // What looked like the repository turns out to be a part of it.
        let mut git = Git::find(&environment, &top, &top.join("outer/repo")).unwrap();
        assert_eq!(path_of(&git), Some(searched(&["outer/bin", "bin"])));
        git.set_root(&top.join("outer"));
        assert_eq!(path_of(&git), Some(searched(&["bin"])));
    }
}
