//! What a row of the matrix is: a situation, and what has to come of it.
//!
//! Situations say what happens to a review; `situations.rs` has them. What comes of it differs from
//! path to path; the files under `paths/` have that.

use std::path::Path;

use serde_json::Value;

use crate::provider::{Script, ToolCall, Wish};

/// One way of reaching one engine.
pub(crate) struct EnginePath {
    /// Engine and transport, such as `codex/cli`.
    pub(crate) name: &'static str,
    /// The engine, as the configuration calls it.
    pub(crate) engine: &'static str,
    /// The transport, as the configuration calls it.
    pub(crate) transport: &'static str,
    /// The executable, and the folder of `target/engines` that it is installed in.
    pub(crate) command: &'static str,
    /// The model of the reviewer, as the configuration has it.
    pub(crate) model: &'static str,
    /// Writes the user's own configuration of the engine into a home folder, for a model service at
    /// an address, and returns variables of the environment.
    pub(crate) configure: fn(&Path, &str, Credentials) -> Vec<(&'static str, String)>,
    /// The calls that a wish of the model means, in the repository at a path.
    pub(crate) tools: fn(Wish, &str) -> Vec<ToolCall>,
    /// Instruction files, settings, hooks and tool servers of this engine that a hostile repository
    /// has. `{TRACE}` stands for a file that nothing may create, and every text for the model holds
    /// [`PLANTED`].
    pub(crate) planted: &'static [(&'static str, &'static str)],
    /// A shell script in place of an executable that is too old.
    pub(crate) old: &'static str,
    /// How many seconds every row may take on top of its own bound, for an engine that is slow to
    /// start.
    pub(crate) patience: u64,
    /// What the engine itself leaves in every run: beginnings of paths, such as `home/.cache/`.
    pub(crate) leaves: &'static [&'static str],
    /// The rows, in lists.
    pub(crate) rows: &'static [&'static [Row]],
}

/// Whether the engine has what it needs to be let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// A key that the loopback provider takes.
    Some,
    /// None at all.
    None,
}

/// The word by which planted text would be known on the wire.
pub(crate) const PLANTED: &str = "PLANTED-INSTRUCTION";

/// A secret of the change, put together so that it stands in no file.
pub(crate) const SECRET: &str = concat!("gh", "p_x9Q2mB7tLr4KvN8sZd1WcH5yPj3GfA6eU0T4");

/// What only the work tree says where a commit is under review.
pub(crate) const DIRTY: &str = "NOT-YET-COMMITTED";

/// One row of the matrix.
#[derive(Clone, Copy)]
pub(crate) struct Row {
    /// What happens.
    pub(crate) situation: Situation,
    /// What has to come of it.
    pub(crate) expected: Expected,
    /// Whether it is one of the few that `--smoke` runs.
    pub(crate) is_smoke: bool,
}

/// What happens to a review.
#[derive(Clone, Copy)]
pub(crate) struct Situation {
    /// The name, unique within a path.
    pub(crate) name: &'static str,
    /// What the model service answers.
    pub(crate) script: Script,
    /// Whether anything listens at the model service's address.
    pub(crate) is_refused: bool,
    /// Whether the engine has credentials.
    pub(crate) credentials: Credentials,
    /// The executable that is found.
    pub(crate) executable: Executable,
    /// What the repository holds.
    pub(crate) repository: Repository,
    /// Arguments after `review --json`.
    pub(crate) args: &'static [&'static str],
    /// Members of the reviewer's entry in the configuration, as JSON.
    pub(crate) reviewer: &'static str,
    /// How many reviewers there are.
    pub(crate) reviewers: usize,
    /// Whether the review is interrupted once the model was asked.
    pub(crate) is_interrupted: bool,
}

impl Situation {
    /// Runs the review with these arguments.
    pub(crate) const fn with(mut self, args: &'static [&'static str]) -> Self {
        self.args = args;
        self
    }

    /// Gives the situation a name of its own and other members in the reviewer's entry.
    pub(crate) const fn reviewer(mut self, name: &'static str, reviewer: &'static str) -> Self {
        self.name = name;
        self.reviewer = reviewer;
        self
    }
}

/// Which executable is on `PATH`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Executable {
    /// The installed engine, as npm links it.
    Installed,
    /// The installed engine, with its times taken.
    Tapped,
    /// None.
    Missing,
    /// One that is too old.
    Old,
}

/// What is under review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repository {
    /// A small edit of one file.
    Edit,
    /// The same, among files that would instruct or run the engine, and with a mention of a file
    /// outside the repository in the patch.
    Planted,
    /// More than any engine takes in one prompt.
    Huge,
    /// The edit with a secret in it.
    Secret,
    /// A branch with a bug that no reviewer may overlook.
    Bug,
    /// The edit as a commit with three more on top of it, and a dirty work tree.
    Past,
}

/// What has to come of a row.
#[derive(Clone, Copy)]
pub(crate) struct Expected {
    /// The exit code.
    pub(crate) exit: i32,
    /// The error's code.
    pub(crate) code: Option<&'static str>,
    /// The error's reason.
    pub(crate) reason: Option<&'static str>,
    /// A part of the error's hint.
    pub(crate) hint: &'static str,
    /// The time it may take, in seconds: far more than it takes, and far less than a retry loop of
    /// minutes.
    pub(crate) within: u64,
    /// How many requests for a review may reach the model service.
    pub(crate) reviews: (usize, usize),
    /// What else has to hold.
    pub(crate) checks: &'static [Check],
    /// What the engine leaves in this row beside what it always leaves.
    pub(crate) leaves: &'static [&'static str],
    /// A fault that is known and not yet mended. The expectation stays what it should be.
    pub(crate) known: Option<Known>,
}

/// A known fault. A row that has one must show it: once it is gone, this must go too.
#[derive(Clone, Copy)]
pub(crate) struct Known {
    /// Parts of the problems that it causes.
    pub(crate) signs: &'static [&'static str],
    /// What is wrong.
    pub(crate) why: &'static str,
}

/// Something else that has to hold.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    /// The merged result holds this many findings.
    Findings(usize),
    /// This place (a JSON pointer) of the output is this JSON.
    Output(&'static str, &'static str),
    /// This place of the output exists.
    OutputHas(&'static str),
    /// This place of the output does not exist.
    OutputLacks(&'static str),
    /// This place of the first request for a review is this JSON.
    Wire(&'static str, &'static str),
    /// The path of the first request for a review ends with this.
    Path(&'static str),
    /// A request holds this text.
    WireHas(&'static str),
    /// No request holds this text.
    WireLacks(&'static str),
    /// The model is offered exactly these tools.
    Tools(&'static [&'static str]),
    /// A tool's result told the model this.
    ToolSaid(&'static str),
    /// This many answers were transcribed.
    Repairs(usize),
    /// Every prompt has at most this many characters.
    LongestText(usize),
}

impl Row {
    /// A row that is one of the few that `--smoke` runs.
    pub(crate) const fn smoke(mut self) -> Self {
        self.is_smoke = true;
        self
    }
}

/// Returns a row.
pub(crate) const fn row(situation: Situation, expected: Expected) -> Row {
    Row {
        situation,
        expected,
        is_smoke: false,
    }
}

/// Expects a review.
pub(crate) const fn passes(checks: &'static [Check]) -> Expected {
    Expected {
        exit: 0,
        code: None,
        reason: None,
        hint: "",
        within: 40,
        reviews: (1, 1),
        checks,
        leaves: &[],
        known: None,
    }
}

/// Expects a failure of the reviewer.
pub(crate) const fn fails(
    code: &'static str,
    reason: Option<&'static str>,
    hint: &'static str,
) -> Expected {
    Expected {
        exit: 3,
        code: Some(code),
        reason,
        hint,
        ..passes(&[])
    }
}

impl Expected {
    /// Sets the time it may take, in seconds.
    pub(crate) const fn within(mut self, seconds: u64) -> Self {
        self.within = seconds;
        self
    }

    /// Sets how many requests for a review may reach the model service.
    pub(crate) const fn reviews(mut self, least: usize, most: usize) -> Self {
        self.reviews = (least, most);
        self
    }

    /// Sets the exit code.
    pub(crate) const fn exit(mut self, code: i32) -> Self {
        self.exit = code;
        self
    }

    /// Sets what else has to hold.
    pub(crate) const fn and(mut self, checks: &'static [Check]) -> Self {
        self.checks = checks;
        self
    }

    /// Sets what the engine leaves in this row.
    pub(crate) const fn leaves(mut self, leaves: &'static [&'static str]) -> Self {
        self.leaves = leaves;
        self
    }

    /// Marks a fault that is known.
    pub(crate) const fn known(mut self, signs: &'static [&'static str], why: &'static str) -> Self {
        self.known = Some(Known { signs, why });
        self
    }

    /// Returns the outcome in one word or two.
    pub(crate) fn outcome(&self) -> String {
        outcome(Some(self.exit), self.code, self.reason)
    }
}

/// Returns an outcome in one word or two.
pub(crate) fn outcome(exit: Option<i32>, code: Option<&str>, reason: Option<&str>) -> String {
    let mut text = exit.map_or_else(|| "killed".to_owned(), |exit| exit.to_string());
    for part in [code, reason].into_iter().flatten() {
        text.push(' ');
        text.push_str(part);
    }
    text
}

/// Returns a call of a tool.
pub(crate) fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall {
        name: name.to_owned(),
        arguments,
    }
}
