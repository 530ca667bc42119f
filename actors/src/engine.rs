//! The engine port: what an engine must be able to do, and nothing about how it is run.
//!
//! Engines are pure. They turn a task into a [`Start`] (a command line, files to place, a state
//! machine over the lines the child prints) and turn what was captured into an [`Answer`] or a
//! [`Failure`]. Spawning, deadlines, killing and byte limits belong to the process owner, so every
//! engine can be tested by replaying recorded lines.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Map, Value};

use crate::model::{Failure, Patch, PreflightReport, ReviewResult, ReviewTarget};
use crate::prompt::Prompt;

/// One way to reach one agent, configured for one reviewer.
pub trait Engine: Send + Sync {
    /// Returns what has to be run to learn whether this reviewer can work.
    ///
    /// # Errors
    ///
    /// Fails when that is already known to be in vain, such as a missing executable.
    fn preflight(&self, place: &Place) -> Result<Preflight, Failure>;

    /// Returns how to run one review.
    ///
    /// # Errors
    ///
    /// Fails before anything is spawned when the request cannot work, such as a prompt over the
    /// engine's limit.
    fn review(&self, request: &ReviewRequest) -> Result<Start, Failure>;

    /// Returns how to run one repair (SPEC 10): a fresh run without tools that transcribes an
    /// answer into the schema of the request. `None` when the engine cannot.
    ///
    /// # Errors
    ///
    /// Fails like [`Engine::review`]; the review is then run again instead.
    fn repair(&self, request: &RepairRequest) -> Option<Result<Start, Failure>> {
        let _ = request;
        None
    }
}

/// Where an engine's process lives for one task.
#[derive(Debug, Clone)]
pub struct Place {
    /// The root of the reviewed work tree, absolute.
    pub repo_root: PathBuf,
    /// A private folder (mode 0700, outside the repository) that ends with the task. Files an
    /// engine asks for are placed in it.
    pub run_dir: PathBuf,
}

/// What one review needs.
#[derive(Debug, Clone)]
pub struct ReviewRequest {
    /// Where the engine runs.
    pub place: Place,
    /// What preflight learned.
    pub capabilities: Capabilities,
    /// What the model is told.
    pub prompt: Arc<Prompt>,
    /// What is reviewed.
    pub target: Arc<ReviewTarget>,
    /// The change itself, for engines inside diffwarden.
    pub patch: Arc<Patch>,
}

/// What one repair needs.
#[derive(Debug, Clone)]
pub struct RepairRequest {
    /// Where the engine runs; never the folder of another run.
    pub place: Place,
    /// What preflight learned.
    pub capabilities: Capabilities,
    /// The whole of what the model is told.
    pub prompt: String,
    /// The schema of the reply, with every key required; the prompt describes it as well.
    pub schema: &'static Value,
}

/// What preflight learned about an executable.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The version, when the executable told one.
    pub version: Option<String>,
    /// The option names found in its help.
    pub flags: BTreeSet<String>,
}

/// How preflight is done.
pub enum Preflight {
    /// The answer is known without running anything.
    Known(PreflightPass),
    /// Run all commands side by side, then judge what they printed, in the same order.
    Probe {
        /// The commands.
        commands: Vec<CommandSpec>,
        /// The judgement.
        judge: Judge,
    },
}

/// Judges the captured output of preflight commands.
pub type Judge = Box<dyn FnOnce(Vec<Captured>) -> Result<PreflightPass, Failure> + Send>;

/// A preflight that was passed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PreflightPass {
    /// What the artifact shows.
    pub report: PreflightReport,
    /// What later commands build on.
    pub capabilities: Capabilities,
}

/// How to run a task.
pub enum Start {
    /// A child process and the state machine that talks to it.
    Process {
        /// What to spawn.
        command: CommandSpec,
        /// What to do with its lines.
        dialogue: Box<dyn Dialogue>,
    },
    /// A function inside diffwarden, run on a blocking thread.
    InProcess(Work),
}

/// A review inside diffwarden.
pub type Work = Box<dyn FnOnce(&CancelToken) -> Result<Answer, Failure> + Send>;

/// A child process to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSpec {
    /// The executable, already resolved to an absolute path.
    pub program: PathBuf,
    /// Its arguments. Prompts never go here: they would show in process lists and hit size limits.
    pub args: Vec<OsString>,
    /// The folder it runs in.
    pub cwd: PathBuf,
    /// Changes to the parent's environment: a value sets, `None` removes.
    pub env: Vec<(OsString, Option<OsString>)>,
    /// Files to write into the run folder (mode 0600) before it starts.
    pub files: Vec<PlacedFile>,
    /// Links to make in the run folder: relative name, absolute target. Used for credentials that
    /// the engine refreshes in place.
    pub links: Vec<(PathBuf, PathBuf)>,
    /// What it reads from standard input, written in full and then closed.
    pub stdin: Vec<u8>,
    /// Whether standard input stays open for [`Action::Write`] after `stdin` was written.
    pub keep_stdin_open: bool,
    /// Whether everything on standard output is kept for [`Captured::stdout`]. Lines go to the
    /// dialogue in any case.
    pub keep_stdout: bool,
    /// Names of files in the run folder to read back after it ended.
    pub outputs: Vec<PathBuf>,
}

impl CommandSpec {
    /// Creates a command without arguments that reads nothing and keeps nothing.
    pub fn new(program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            env: Vec::new(),
            files: Vec::new(),
            links: Vec::new(),
            stdin: Vec::new(),
            keep_stdin_open: false,
            keep_stdout: false,
            outputs: Vec::new(),
        }
    }
}

/// A file to write into the run folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedFile {
    /// Where, relative to the run folder. Parents are created (mode 0700).
    pub name: PathBuf,
    /// What.
    pub contents: Vec<u8>,
}

/// How a child process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitKind {
    /// With this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// What is left of a child process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Captured {
    /// How it ended.
    pub exit: ExitKind,
    /// All of standard output when the command asked for it, invalid UTF-8 replaced.
    pub stdout: String,
    /// The end of standard error, invalid UTF-8 replaced.
    pub stderr: String,
    /// The contents of [`CommandSpec::outputs`], in the same order; `None` for a missing file.
    pub outputs: Vec<Option<Vec<u8>>>,
}

/// A conversation with a child process, as a state machine over lines.
///
/// A one-shot engine is a dialogue that never writes.
pub trait Dialogue: Send {
    /// Takes one line of standard output, without its line feed.
    fn on_line(&mut self, line: &str) -> Vec<Action> {
        let _ = line;
        Vec::new()
    }

    /// Is asked to stop; may answer with a polite goodbye. The process is ended in any case.
    fn on_cancel(&mut self) -> Vec<Action> {
        Vec::new()
    }

    /// Turns what was captured into the answer, once the process has ended by itself.
    ///
    /// # Errors
    ///
    /// Fails when the engine did: the failure names the kind by the engine's own channel, never by
    /// words in text that may quote the reviewed code.
    fn on_exit(self: Box<Self>, captured: Captured) -> Result<Answer, Failure>;
}

/// What a dialogue wants done.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Write this line (a line feed is added) to standard input.
    Write(String),
    /// Close standard input.
    CloseInput,
    /// Show signs of life.
    Progress(Progress),
    /// The answer is complete: end the process and report this.
    Finish(Box<Answer>),
    /// The engine cannot succeed any more: end the process and report this.
    Fail(Box<Failure>),
}

/// Signs of life of an engine. Absent values are unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Model turns so far.
    pub turns: Option<u64>,
    /// Tool calls so far.
    pub tools: Option<u64>,
    /// Tokens so far.
    pub tokens: Option<u64>,
}

/// What an engine hands back: raw material, before parsing and validation.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The answer itself.
    pub payload: Payload,
    /// How it was captured.
    pub capture_mode: CaptureMode,
    /// What the adapter records about the run. `captureMode` is added by the reviewer.
    pub metadata: Map<String, Value>,
    /// Tokens and cost, as the engine reports them.
    pub usage: Option<Value>,
}

/// The raw material of a result.
#[derive(Debug, Clone, PartialEq)]
pub enum Payload {
    /// A value from a structured channel of the engine.
    Structured(Value),
    /// Text that should hold the result object.
    Text(String),
    /// A finished result from an engine inside diffwarden.
    Review(ReviewResult),
    /// A review in a text format of the engine's own that has no place for all of a result. It
    /// fits no schema and is kept as text; it is neither transcribed nor asked for again, because
    /// the engine has no more to say.
    Rendered {
        /// The text, as the engine rendered it.
        text: String,
        /// What the text says, with placeholders for what it lacks.
        result: ReviewResult,
    },
}

/// How an adapter captured its answer (SPEC 9.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaptureMode {
    /// The engine constrained its output to the schema.
    NativeStructured,
    /// The model called a tool with the result as its arguments.
    ToolCall,
    /// The engine's final text.
    Text,
    /// A second request transcribed an answer that did not fit (SPEC 10). Never an engine's own.
    Repaired,
}

impl CaptureMode {
    /// Returns the spelling used in adapter metadata.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NativeStructured => "native-structured",
            Self::ToolCall => "tool-call",
            Self::Text => "text",
            Self::Repaired => "repaired",
        }
    }
}

/// Tells a function inside diffwarden to give up. Cheap to clone and to ask.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Asks everybody who holds the token to stop.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether somebody asked.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
