//! The one spawner: a child's whole life in one function.
//!
//! Run, ask, make sure, drain. The child leads a session of its own. What must stay true, whatever
//! the child does: nobody waits for it beyond its deadline and grace, no more of it is kept than
//! the limits say, and when a function of this module returns (or its future is dropped) every
//! member of the child's process group has been killed. A process that makes its own session
//! escapes the group; it is not waited for.
//!
//! The owner of a child is the future returned here; nothing is shared.

mod files;
mod leash;
mod lines;
mod pipes;
mod spawn;

use std::io;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use process_wrap::tokio::ChildWrapper;
use tokio::process::{ChildStderr, ChildStdout};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout};

use self::leash::{at, reached};
use self::lines::{Lines, Tail};
use self::pipes::{Input, Pipe};
use self::spawn::Group;
use crate::engine::{Action, Answer, Captured, CommandSpec, Dialogue, ExitKind};
use crate::model::{ErrorCode, Failure, Reason};
use crate::schedule::StopLevel;

pub(crate) use self::leash::{Halt, Leash};

/// How long the pipes are read after the child has ended: a grandchild may hold them for ever.
const DRAIN: Duration = Duration::from_millis(200);
/// How long a child may take to act on a goodbye before it is sent a signal.
const PARTING: Duration = Duration::from_millis(200);
/// How long a killed child is waited for. Only a process stuck in the kernel takes longer.
const REAP: Duration = Duration::from_secs(2);
/// How much of the end of standard error is kept.
const STDERR_TAIL: usize = 64 << 10;

/// Runs a command to its end and returns all of its standard output.
pub(crate) async fn collect(
    mut spec: CommandSpec,
    run_dir: Arc<Path>,
    leash: Leash,
) -> Result<Captured, Halt> {
    spec.keep_stdout = true;
    match run(spec, &run_dir, None, leash).await? {
        Ending::Exited(captured) => Ok(captured),
        Ending::Answered(_) => unreachable!("only a dialogue answers"),
    }
}

/// Runs a command, lets the dialogue talk to it and returns its answer.
pub(crate) async fn converse(
    spec: CommandSpec,
    run_dir: Arc<Path>,
    mut dialogue: Box<dyn Dialogue>,
    leash: Leash,
) -> Result<Answer, Halt> {
    match run(spec, &run_dir, Some(dialogue.as_mut()), leash).await? {
        Ending::Answered(answer) => Ok(*answer),
        Ending::Exited(captured) => spawn_blocking(move || dialogue.on_exit(captured))
            .await
            .unwrap_or_else(|error| Err(crashed(&error)))
            .map_err(Halt::Failed),
    }
}

/// Returns the failure that a panic in an engine's code is.
pub(crate) fn crashed(error: &tokio::task::JoinError) -> Failure {
    Failure::new(
        ErrorCode::ReviewerFailed,
        format!("an internal error in the reviewer: {error}"),
    )
    .reason(Reason::Crash)
    .hint("This is a defect of diffwarden; please report it.")
}

enum Ending {
    Exited(Captured),
    Answered(Box<Answer>),
}

async fn run(
    spec: CommandSpec,
    run_dir: &Arc<Path>,
    dialogue: Option<&mut dyn Dialogue>,
    mut leash: Leash,
) -> Result<Ending, Halt> {
    let (folder, mut spec) = (Arc::clone(run_dir), spec);
    let (files, links) = (
        std::mem::take(&mut spec.files),
        std::mem::take(&mut spec.links),
    );
    let repo_root = Arc::clone(&leash.repo_root);
    let mut spec = blocking(move || {
        files::place(&folder, &files, &links)?;
        spawn::confine(&mut spec, &repo_root);
        Ok(spec)
    })
    .await?;
    // Nothing is spawned for a run that is already over.
    if *leash.stop.borrow() >= StopLevel::Gracefully {
        return Err(Halt::Stopped);
    }
    if leash
        .deadline
        .is_some_and(|deadline| deadline <= Instant::now())
    {
        return Err(Halt::Deadline);
    }
    let mut child = Child::spawn(&mut spec, leash.max_output, dialogue).await?;
    let status = match child.attend(&mut leash).await {
        Ok(Attended::Exited(status)) => {
            child.group.kill();
            status
        }
        Ok(Attended::Answered(answer)) => {
            child.end(&mut leash).await;
            return Ok(Ending::Answered(answer));
        }
        Err(halt) => {
            child.part(&halt, &mut leash).await;
            child.end(&mut leash).await;
            return Err(halt);
        }
    };
    let (folder, max_output) = (Arc::clone(run_dir), leash.max_output);
    let outputs = blocking(move || files::read_back(&folder, &spec.outputs, max_output)).await?;
    Ok(Ending::Exited(Captured {
        exit: exit_kind(status),
        stdout: lines::text(child.kept.unwrap_or_default()),
        stderr: child.tail.finish(),
        outputs,
    }))
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(crashed(&error)))
}

/// One running child, its pipes and what is kept of them.
struct Child<'a> {
    process: Box<dyn ChildWrapper>,
    group: Group,
    dialogue: Option<&'a mut dyn Dialogue>,
    input: Input,
    stdout: Pipe<ChildStdout>,
    stderr: Pipe<ChildStderr>,
    lines: Lines,
    kept: Option<Vec<u8>>,
    tail: Tail,
    exited: Option<ExitStatus>,
}

enum Attended {
    Exited(ExitStatus),
    Answered(Box<Answer>),
}

enum Event {
    Stdout(io::Result<usize>),
    Stderr(io::Result<usize>),
    Exited(io::Result<ExitStatus>),
    Halted(Halt),
    Drained,
}

impl<'a> Child<'a> {
    async fn spawn(
        spec: &mut CommandSpec,
        max_output: usize,
        dialogue: Option<&'a mut dyn Dialogue>,
    ) -> Result<Self, Failure> {
        let mut process = spawn::spawn(spec).await?;
        let group = Group::of(process.as_ref()).expect("a fresh child has a positive pid");
        let input = Input::feed(
            process.stdin().take(),
            std::mem::take(&mut spec.stdin),
            spec.keep_stdin_open,
        );
        Ok(Self {
            group,
            dialogue,
            input,
            stdout: Pipe::new(process.stdout().take(), max_output),
            stderr: Pipe::new(process.stderr().take(), max_output),
            lines: Lines::default(),
            kept: spec.keep_stdout.then(Vec::new),
            tail: Tail::new(STDERR_TAIL),
            exited: None,
            process,
        })
    }

    /// Reads, feeds the dialogue and waits until the child has ended, the dialogue has an answer
    /// or the task has to end.
    async fn attend(&mut self, leash: &mut Leash) -> Result<Attended, Halt> {
        let mut drained_by = None;
        loop {
            if let Some(status) = self.exited
                && !self.stdout.is_open()
                && !self.stderr.is_open()
            {
                return self.close(status);
            }
            match self.next(leash, drained_by).await {
                Event::Stdout(read) => {
                    if let Some(answer) = self.hear(&read)? {
                        return Ok(Attended::Answered(answer));
                    }
                }
                Event::Stderr(read) => self.note(&read)?,
                Event::Exited(status) => {
                    self.exited = Some(status.map_err(|error| unwaitable(&error))?);
                    drained_by = Some(Instant::now() + DRAIN);
                }
                Event::Drained => {
                    let status = self.exited.expect("draining begins with the child's end");
                    return self.close(status);
                }
                Event::Halted(halt) => {
                    // After a suspend the deadline and the child's end may have passed together; a
                    // child that has ended is a result.
                    match self.process.inner_mut().try_wait() {
                        Ok(Some(status)) => {
                            self.exited = Some(status);
                            drained_by = Some(Instant::now() + DRAIN);
                        }
                        _ => return Err(halt),
                    }
                }
            }
        }
    }

    /// Waits for the next thing to happen. Every branch can be dropped without losing anything.
    async fn next(&mut self, leash: &mut Leash, drained_by: Option<Instant>) -> Event {
        let running = self.exited.is_none();
        tokio::select! {
            read = self.stdout.read(), if self.stdout.is_open() => Event::Stdout(read),
            read = self.stderr.read(), if self.stderr.is_open() => Event::Stderr(read),
            // The wrapper's own `wait` would wait for the whole group.
            status = self.process.inner_mut().wait(), if running => Event::Exited(status),
            halt = leash.halted(), if running => Event::Halted(halt),
            () = at(drained_by), if !running => Event::Drained,
        }
    }

    /// Takes a read of standard output.
    fn hear(&mut self, read: &io::Result<usize>) -> Result<Option<Box<Answer>>, Halt> {
        let Some(chunk) = self.stdout.take("standard output", read)? else {
            return Ok(None);
        };
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(chunk);
        }
        if self.dialogue.is_none() {
            return Ok(None);
        }
        for line in self.lines.push(chunk) {
            if let Some(answer) = self.say(&line)? {
                return Ok(Some(answer));
            }
        }
        Ok(None)
    }

    /// Takes a read of standard error.
    fn note(&mut self, read: &io::Result<usize>) -> Result<(), Halt> {
        if let Some(chunk) = self.stderr.take("standard error", read)? {
            self.tail.push(chunk);
        }
        Ok(())
    }

    /// Hands the dialogue one line and carries out what it wants.
    fn say(&mut self, line: &str) -> Result<Option<Box<Answer>>, Halt> {
        let Some(dialogue) = &mut self.dialogue else {
            return Ok(None);
        };
        for action in dialogue.on_line(line) {
            match action {
                Action::Write(line) => self.input.write(line),
                Action::CloseInput => self.input.close(),
                Action::Progress(progress) => tracing::trace!(?progress, "the engine works"),
                Action::Finish(answer) => return Ok(Some(answer)),
                Action::Fail(failure) => return Err(Halt::Failed(*failure)),
            }
        }
        Ok(None)
    }

    /// Hands over the last line, which need not end with a line feed.
    fn close(&mut self, status: ExitStatus) -> Result<Attended, Halt> {
        if let Some(line) = self.lines.finish()
            && let Some(answer) = self.say(&line)?
        {
            return Ok(Attended::Answered(answer));
        }
        Ok(Attended::Exited(status))
    }

    /// Lets the dialogue say goodbye when the child has to end for a reason that is not its own.
    async fn part(&mut self, halt: &Halt, leash: &mut Leash) {
        let urgent = *leash.stop.borrow() >= StopLevel::Now;
        let Some(dialogue) = &mut self.dialogue else {
            return;
        };
        if urgent || matches!(halt, Halt::Failed(_)) {
            return;
        }
        let mut spoke = false;
        for action in dialogue.on_cancel() {
            match action {
                Action::Write(line) => self.input.write(line),
                Action::CloseInput => self.input.close(),
                // The decision to end is made.
                Action::Progress(_) | Action::Finish(_) | Action::Fail(_) => continue,
            }
            spoke = true;
        }
        if spoke {
            let end = Instant::now() + PARTING;
            self.await_end(Some(end), leash).await;
        }
    }

    /// Ends the child: asks, waits for the grace, kills the group, waits for the leader.
    async fn end(&mut self, leash: &mut Leash) {
        self.input.close();
        if self.exited.is_none() {
            self.group.ask();
            let end = Instant::now() + leash.grace;
            self.await_end(Some(end), leash).await;
        }
        self.group.kill();
        if self.exited.is_none()
            && timeout(REAP, self.process.inner_mut().wait())
                .await
                .is_err()
        {
            tracing::warn!(pid = ?self.process.id(), "a killed process does not end");
        }
    }

    /// Waits for the child's end until `limit`, or until there is no time for politeness. The pipes
    /// are read on, or a child with much to say could not end.
    async fn await_end(&mut self, limit: Option<Instant>, leash: &mut Leash) {
        while self.exited.is_none() {
            tokio::select! {
                status = self.process.inner_mut().wait() => {
                    self.exited = status.ok();
                    return;
                }
                read = self.stdout.read(), if self.stdout.is_open() => self.stdout.discard(&read),
                read = self.stderr.read(), if self.stderr.is_open() => self.stderr.discard(&read),
                () = at(limit) => return,
                () = reached(&mut leash.stop, StopLevel::Now) => return,
            }
        }
    }
}

fn exit_kind(status: ExitStatus) -> ExitKind {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => ExitKind::Code(code),
        (None, Some(signal)) => ExitKind::Signal(signal),
        (None, None) => unreachable!("a process that ended has a code or a signal"),
    }
}

fn unwaitable(error: &io::Error) -> Failure {
    Failure::new(
        ErrorCode::ReviewerEnvironmentFailed,
        format!("the engine's end could not be observed: {error}"),
    )
    .reason(Reason::Environment)
}

#[cfg(test)]
mod tests;
