//! Starting one child in a session of its own, and the guard of its process group.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process_group};

use crate::engine::CommandSpec;
use crate::model::{ErrorCode, Failure, Reason};
use crate::search_path::outside_path;

/// The variable that says where programs are looked for.
const PATH: &str = "PATH";

/// How often a program that is being written to this moment is tried again.
const BUSY_RETRIES: u32 = 5;
const BUSY_PAUSE: Duration = Duration::from_millis(20);

/// Keeps what the command starts from finding programs of the reviewed repository.
pub(super) fn confine(spec: &mut CommandSpec, repo_root: &Path) {
    let is_path = |(name, _): &&(OsString, Option<OsString>)| name == PATH;
    let path = match spec.env.iter().rev().find(is_path) {
        Some((_, path)) => path.clone(),
        None => std::env::var_os(PATH),
    };
    let outside = outside_path(path.as_deref(), repo_root);
    spec.env.push((PATH.into(), Some(outside)));
}

/// Starts the command as the leader of a new session, so that it has no terminal to ask and one
/// signal reaches all its children.
pub(super) async fn spawn(spec: &CommandSpec) -> Result<Box<dyn ChildWrapper>, Failure> {
    let mut retries = 0;
    loop {
        match prepare(spec).spawn() {
            Ok(child) => return Ok(child),
            Err(error)
                if error.kind() == io::ErrorKind::ExecutableFileBusy && retries < BUSY_RETRIES =>
            {
                retries += 1;
                tokio::time::sleep(BUSY_PAUSE).await;
            }
            Err(error) => return Err(explain(spec, &error)),
        }
    }
}

/// Builds the command anew for every try: a wrapper acts on a command only once.
fn prepare(spec: &CommandSpec) -> CommandWrap {
    let reads = !spec.stdin.is_empty() || spec.keep_stdin_open;
    let mut command = CommandWrap::with_new(&spec.program, |command| {
        command
            .args(&spec.args)
            .current_dir(&spec.cwd)
            .stdin(if reads { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, value) in &spec.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
    });
    command.wrap(ProcessSession);
    command
}

/// Says what a failed start means and what to do about it.
fn explain(spec: &CommandSpec, error: &io::Error) -> Failure {
    let program = spec.program.display();
    let missing = |message: String| Failure::new(ErrorCode::MissingRequirement, message);
    let surroundings = |message: String| {
        Failure::new(ErrorCode::ReviewerEnvironmentFailed, message).reason(Reason::Environment)
    };
    match error.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) if !spec.cwd.is_dir() => surroundings(
            format!("{program} cannot run in {}: {error}", spec.cwd.display()),
        ),
        Some(Errno::NOENT) if exists(&spec.program) => missing(format!(
            "{program} cannot be started: the interpreter or loader it names does not exist"
        ))
        .hint("Look at the file's first line, or install the program again."),
        Some(Errno::NOENT | Errno::NOTDIR) => missing(format!("{program} was not found"))
            .hint("Install it, or correct the path in the configuration."),
        Some(Errno::ACCESS | Errno::PERM) => missing(format!(
            "{program} may not be executed: {error}"
        ))
        .hint("Make it executable (chmod +x), and check that its file system allows programs."),
        Some(Errno::NOEXEC) => missing(format!(
            "{program} is not a program for this machine: {error}"
        ))
        .hint("Install the build for this architecture."),
        Some(Errno::TXTBSY) => surroundings(format!(
            "{program} is being written to, perhaps by an update"
        ))
        .hint("Try again when the update is done."),
        Some(Errno::MFILE | Errno::NFILE) => {
            surroundings(format!("{program} cannot be started: too many open files"))
                .hint("Raise the limit (ulimit -n), or run fewer reviewers at a time.")
        }
        Some(Errno::AGAIN | Errno::NOMEM) => {
            surroundings(format!("{program} cannot be started: {error}"))
                .hint("The system is out of processes or memory; run fewer reviewers at a time.")
        }
        Some(Errno::TOOBIG) => surroundings(format!(
            "{program} cannot be started: its arguments and environment are too large"
        ))
        .hint("Remove large variables from the environment."),
        _ => surroundings(format!("{program} cannot be started: {error}")),
    }
}

fn exists(program: &Path) -> bool {
    program.symlink_metadata().is_ok() && program.metadata().is_ok()
}

/// A process group that must not outlive its owner.
///
/// The number stays ours while the group has members; between the leader's end and the last signal
/// lie at most a few hundred milliseconds, in which the system would have to hand out every other
/// number first to reuse it.
#[derive(Debug)]
pub(super) struct Group {
    leader: Pid,
    ended: bool,
}

impl Group {
    pub(super) fn of(child: &dyn ChildWrapper) -> Option<Self> {
        let leader = Pid::from_raw(child.id()?.try_into().ok()?)?;
        Some(Self {
            leader,
            ended: false,
        })
    }

    /// Asks every member to end; one that is stopped is woken up to hear it.
    pub(super) fn ask(&self) {
        self.signal(Signal::TERM);
        self.signal(Signal::CONT);
    }

    /// Kills every member.
    pub(super) fn kill(&mut self) {
        self.ended = true;
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        // A group without members is what we want.
        if let Err(error) = kill_process_group(self.leader, signal)
            && error != Errno::SRCH
        {
            tracing::debug!(leader = ?self.leader, ?signal, %error, "a group could not be signalled");
        }
    }
}

impl Drop for Group {
    /// Ends the children of a reviewer that panicked or was dropped. The regular way is
    /// [`Group::kill`], after which the leader is waited for.
    fn drop(&mut self) {
        if !self.ended {
            self.kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    async fn failure(program: &Path, cwd: &Path) -> Failure {
        spawn(&CommandSpec::new(program, cwd)).await.unwrap_err()
    }

    fn script(dir: &Path, name: &str, text: &str, mode: u32) -> std::path::PathBuf {
        let path = dir.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[tokio::test]
    async fn a_program_that_cannot_start_is_explained() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path();
        let interpreter = script(here, "a", "#!/no/such/interpreter\n", 0o755);
        let found = failure(&interpreter, here).await;
        assert_eq!(found.code, ErrorCode::MissingRequirement);
        assert!(found.message.contains("interpreter"), "{found}");

        let found = failure(&here.join("missing"), here).await;
        assert_eq!(found.code, ErrorCode::MissingRequirement);
        assert!(found.message.contains("not found"), "{found}");

        let plain = script(here, "b", "#!/bin/sh\n", 0o644);
        let found = failure(&plain, here).await;
        assert_eq!(found.code, ErrorCode::MissingRequirement);
        assert!(found.hint.unwrap().contains("chmod"));

        let found = failure(Path::new("/bin/sh"), &here.join("nowhere")).await;
        assert_eq!(found.code, ErrorCode::ReviewerEnvironmentFailed);
        assert!(found.message.contains("nowhere"));

        let mut large = CommandSpec::new("/bin/sh", here);
        large.args = vec!["x".repeat(4 << 20).into()];
        let found = spawn(&large).await.unwrap_err();
        assert_eq!(found.reason, Some(Reason::Environment));
        assert!(found.message.contains("too large"), "{found}");
    }
}
