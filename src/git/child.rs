//! A git that runs, and the end of all of them at once.
//!
//! Each leads a process group of its own, so that what it has started ends with it. A program that
//! is told to end while the repository is being read has no time to unwind: [`end_all`] ends every
//! git from any thread, and no other one is started after it.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The groups that are alive.
#[derive(Debug)]
struct Groups {
    leaders: Vec<Pid>,
    is_over: bool,
}

static GROUPS: Mutex<Groups> = Mutex::new(Groups {
    leaders: Vec::new(),
    is_over: false,
});

fn groups() -> MutexGuard<'static, Groups> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends every git that runs, with whatever it has started, and lets no other one begin.
pub fn end_all() {
    let mut groups = groups();
    groups.is_over = true;
    groups.leaders.drain(..).for_each(kill);
}

fn kill(leader: Pid) {
    // It may have ended by itself.
    kill_process_group(leader, Signal::KILL).ok();
}

/// A child that leads a process group. Dropping it ends the group.
#[derive(Debug)]
pub(super) struct GroupChild {
    child: Child,
    leader: Pid,
    is_reaped: bool,
}

impl GroupChild {
    pub(super) fn spawn(command: &mut Command) -> io::Result<Self> {
        // Held over the spawn: between a spawn and its entry here, the end of the program would
        // miss the child.
        let mut groups = groups();
        if groups.is_over {
            return Err(io::Error::other("the program is being ended"));
        }
        let child = command.process_group(0).spawn()?;
        let leader = Pid::from_child(&child);
        groups.leaders.push(leader);
        Ok(Self {
            child,
            leader,
            is_reaped: false,
        })
    }

    pub(super) fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    pub(super) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    pub(super) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// Waits for the end.
    pub(super) fn wait(&mut self) -> io::Result<ExitStatus> {
        // Once it is reaped its number may become another process's, so it is forgotten first.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(self.leader), options) {}
        groups().leaders.retain(|leader| *leader != self.leader);
        self.is_reaped = true;
        self.child.wait()
    }
}

impl Drop for GroupChild {
    fn drop(&mut self) {
        if !self.is_reaped {
            kill(self.leader);
            self.wait().ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::process::Stdio;

    use super::*;

    /// Starts a shell that has started another program, and returns it with what it prints.
    fn shell() -> (GroupChild, ChildStdout) {
        let mut command = Command::new("sh");
        command
            .args(["-c", "sleep 1000 & echo started; wait"])
            .stdout(Stdio::piped());
        let mut child = GroupChild::spawn(&mut command).unwrap();
        let mut printed = child.take_stdout().unwrap();
        let mut line = [0; 8];
        printed.read_exact(&mut line).unwrap();
        assert_eq!(&line, b"started\n");
        (child, printed)
    }

    #[test]
    fn what_a_dropped_child_has_started_ends_with_it() {
        let (child, mut printed) = shell();
        let leader = child.leader;
        assert!(groups().leaders.contains(&leader));
        drop(child);
        assert!(!groups().leaders.contains(&leader));
        // The pipe is closed when nobody holds it any more.
        assert_eq!(printed.read(&mut [0]).unwrap(), 0);
    }

    #[test]
    fn a_child_that_ended_has_its_status_and_is_forgotten() {
        let mut child = GroupChild::spawn(Command::new("sh").args(["-c", "exit 7"])).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(7));
        assert!(!groups().leaders.contains(&child.leader));
    }
}
