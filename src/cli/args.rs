//! What can be typed.

mod config;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use super::doctor::DoctorArgs;
use super::init::InitArgs;
use super::reviewers::Reviewers;
use crate::config::{ReportMode, ReportScope};
use crate::sinks::OutputMode;
pub(super) use config::{Config, ConfigCommand, ConfigShow, ConfigTrust};

/// Send a diff to several coding agents as read-only reviewers and get one structured review.
#[derive(Debug, Parser)]
#[command(
    name = "diffwarden",
    version,
    about,
    long_about = None,
    disable_help_subcommand = true,
    max_term_width = 80,
    after_help = EXAMPLES
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Review a change
    Review(Box<Review>),
    /// Scan a change for what needs no model: like `review --reviewer surface`
    Check(Box<Check>),
    /// Look at the configured reviewers, and change them
    Reviewers(Reviewers),
    /// Check that the selected reviewers can work, without a review
    Doctor(DoctorArgs),
    /// Create your config
    Init(InitArgs),
    /// Look at the configuration, and trust that of a repository
    Config(Config),
    /// Print the completions of a shell
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print a manual page
    Man {
        /// The command, such as `review`; without one, the page of diffwarden itself
        #[arg(value_name = "COMMAND")]
        command: Vec<String>,
    },
}

// Lines of at most 78 columns: clap breaks longer ones wherever a terminal ends.
const EXAMPLES: &str = "\
Examples:
  diffwarden review --reviewer surface
      scan what is not committed yet; needs no account
  diffwarden review --target base:main
      ask the configured reviewers about this branch
  diffwarden review --focus errors --focus tests
      the same, and once more for each focus
  diffwarden review --target commit:HEAD --reviewer codex --out review.json
      review the last commit, and save the artifact
  diffwarden review show review.json --agent
      show it again, as text for a coding agent to act on";

const REVIEW_HELP: &str = "\
Examples:
  diffwarden review --target base:main --reviewer codex --reviewer claude
  diffwarden review --reviewer-set deep --focus errors --focus tests --ndjson
  diffwarden review --target commit:HEAD --json --fail-on-findings P1

Targets:
  uncommitted      staged, unstaged and untracked changes (the default)
  base:<branch>    HEAD against its merge-base with <branch>
  commit:<sha>     one commit against its first parent
  custom:<text>    instructions for the whole repository, without a diff

Gates:
  --fail-on-findings <LEVEL>  a finding is at least this urgent     exit 1
  --require-clean             the result is not a full review       exit 1
  --strict                    an answer could not be read, or
                              points outside the change             exit 4
                              a reviewer failed                     exit 2 or 3
  --enforce                   findings without proof become questions;
                              not built yet: refused                exit 2

Exit codes:
    0  the review is complete (findings do not matter)
    1  a gate was met: --fail-on-findings or --require-clean
    2  the command line or the configuration is wrong; nothing was run
    3  no review could be made
    4  --strict: an answer could not be read, or points outside the change
  129  ended by SIGHUP
  130  ended by SIGINT (Ctrl-C)
  131  ended by SIGQUIT
  143  ended by SIGTERM

  The first signal asks the reviewers to end, a second one ends them at once.
  What had finished by then goes to the file of --out, if it is given.

Errors are told on stderr. With --json each is one JSON object on stdout too,
with --ndjson the last frame there.

Environment:
  DIFFWARDEN_REVIEWERS, DIFFWARDEN_REVIEWER_SET, DIFFWARDEN_MODEL,
  DIFFWARDEN_EFFORT, DIFFWARDEN_FALLBACK_MODEL, DIFFWARDEN_TIMEOUT_SECONDS
  and DIFFWARDEN_TRUST_PROJECT_CONFIG stand in for --reviewer (several, with
  commas between them), --reviewer-set, --model, --effort, --fallback-model,
  --timeout and --trust-project-config.";

const CHECK_HELP: &str = "\
Looks for credentials, sensitive files, hidden Unicode, text addressed to a
reviewer and merge markers. No account, no configuration and no model is needed,
and nothing leaves the machine. The options, the artifact and the exit codes are
those of `diffwarden review`; only who reviews is not asked.

As a pre-commit hook:
  diffwarden check --fail-on-findings P2";

/// The headings of a long list of options.
const WHAT: &str = "What is reviewed";
const WHO: &str = "Who reviews";
const LANES: &str = "Lanes";
const LIMITS: &str = "Limits";
const OUT: &str = "Output";
const GATES: &str = "Gates";

#[derive(Debug, Args)]
#[command(after_help = REVIEW_HELP, disable_help_subcommand = true)]
pub(super) struct Review {
    #[command(subcommand)]
    pub(super) command: Option<ReviewCommand>,

    #[command(flatten)]
    pub(super) args: ReviewArgs,
}

/// What `check` takes: all that `review` takes, but for who reviews.
#[derive(Debug, Args)]
#[command(after_help = CHECK_HELP, disable_help_subcommand = true)]
pub(super) struct Check {
    #[command(flatten)]
    pub(super) args: ReviewArgs,
}

#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    /// What to review: uncommitted, base:<branch>, commit:<sha> or custom:<text>
    #[arg(
        help_heading = WHAT,
        long,
        value_name = "TARGET",
        default_value = "uncommitted",
        allow_hyphen_values = true
    )]
    pub(super) target: String,

    /// With base:<branch>, review the uncommitted changes too
    #[arg(help_heading = WHAT, long)]
    pub(super) include_uncommitted: bool,

    /// Who reviews: an id from the config, or engine[:profile]; repeat for several
    #[arg(help_heading = WHO, long = "reviewer", value_name = "SPEC")]
    pub(super) reviewers: Vec<String>,

    /// A reviewer set from the config
    #[arg(help_heading = WHO, long, value_name = "NAME")]
    pub(super) reviewer_set: Option<String>,

    /// The model, when one reviewer runs
    #[arg(help_heading = WHO, long, value_name = "ID")]
    pub(super) model: Option<String>,

    /// The model to fall back to under load, when one reviewer runs (Claude only)
    #[arg(help_heading = WHO, long, value_name = "ID")]
    pub(super) fallback_model: Option<String>,

    /// How hard to think, when one reviewer runs: off, minimal, low, medium, high, xhigh, max
    #[arg(help_heading = WHO, long, value_name = "LEVEL")]
    pub(super) effort: Option<String>,

    /// Each reviewer's budget, preflight included
    #[arg(help_heading = LIMITS, long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub(super) timeout: Option<String>,

    /// Look at the whole change for one thing only, in a lane of its own; repeat for several
    #[arg(help_heading = LANES, long, value_name = "TEXT", allow_hyphen_values = true)]
    pub(super) focus: Vec<String>,

    /// With --focus, review without a focus too, whatever the config says (the default)
    #[arg(help_heading = LANES, long)]
    pub(super) overview: bool,

    /// With --focus, leave out the review without a focus
    #[arg(help_heading = LANES, long)]
    pub(super) no_overview: bool,

    /// Send lockfiles, minified files and generated code too, which are left out otherwise
    #[arg(long)]
    pub(super) no_prune: bool,

    /// Start reviewers also where the change edits files they take orders from, or adds links
    /// that leave the repository
    #[arg(long)]
    pub(super) allow_unsafe_input: bool,

    /// Have engines look at a private copy of the reviewed tree, as they do for a commit that is
    /// not checked out
    #[arg(long, conflicts_with = "no_snapshot")]
    pub(super) snapshot: bool,

    /// Have engines look at the work tree, whatever is reviewed
    #[arg(long)]
    pub(super) no_snapshot: bool,

    /// How many reviewers run at a time, over all lanes: 1 to 1024 [default: 8]
    #[arg(
        help_heading = LIMITS,
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    pub(super) jobs: Option<u16>,

    /// The budget of the whole run; what has finished by then is the result
    #[arg(help_heading = LIMITS, long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub(super) max_time: Option<String>,

    /// The folder to review in, instead of the current one
    #[arg(help_heading = WHAT, long, value_name = "PATH")]
    pub(super) cwd: Option<PathBuf>,

    #[command(flatten)]
    pub(super) trust: TrustArgs,

    #[command(flatten)]
    pub(super) output: Output,

    /// With --ndjson, tell signs of life of the reviewers too (reviewer_progress)
    #[arg(help_heading = OUT, long)]
    pub(super) progress: bool,

    /// Also write the artifact to a file, whole or not at all
    #[arg(help_heading = OUT, long, value_name = "PATH")]
    pub(super) out: Option<PathBuf>,

    /// Print what would be sent to the reviewers, and run nothing
    #[arg(
        help_heading = OUT,
        long,
        conflicts_with_all = ["out", "report", "agent", "json", "ndjson", "progress"]
    )]
    pub(super) print_prompt: bool,

    #[command(flatten)]
    pub(super) reporting: ReportArgs,

    /// Treat any reviewer failure, unreadable answer or misplaced finding as an error
    #[arg(help_heading = GATES, long)]
    pub(super) strict: bool,

    /// Exit 1 when a finding is at least this urgent: P0, P1, P2 or P3
    #[arg(help_heading = GATES, long, value_name = "LEVEL")]
    pub(super) fail_on_findings: Option<String>,

    /// Exit 1 when the result is not a full review (see `trust` in the artifact)
    #[arg(help_heading = GATES, long)]
    pub(super) require_clean: bool,

    /// Not built yet: findings that quote no code become questions
    #[arg(long, hide = true)]
    pub(super) enforce: bool,

    /// Reviewers may only read; this is always so
    #[arg(help_heading = WHO, long)]
    pub(super) readonly: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Reports")]
pub(super) struct ReportArgs {
    /// Also keep a report of the run, with its provenance, in the history of reviews
    #[arg(long)]
    pub(super) report: bool,

    /// Keep no report, whatever the config says
    #[arg(long)]
    pub(super) no_report: bool,

    /// With a report, the folder of the history
    #[arg(long, value_name = "PATH")]
    pub(super) report_dir: Option<PathBuf>,

    /// With a report, whether the history is the user's (the default) or the repository's
    #[arg(
        long,
        value_name = "SCOPE",
        value_parser = PossibleValuesParser::new(["global", "repo"]).map(|word| match word.as_str() {
            "repo" => ReportScope::Repo,
            _ => ReportScope::Global,
        })
    )]
    pub(super) report_scope: Option<ReportScope>,

    /// With a report, whether it holds everything (the default) or no texts of findings
    #[arg(
        long,
        value_name = "MODE",
        value_parser = PossibleValuesParser::new(["full", "metadata"]).map(|word| match word.as_str() {
            "metadata" => ReportMode::Metadata,
            _ => ReportMode::Full,
        })
    )]
    pub(super) report_mode: Option<ReportMode>,
}

#[derive(Debug, Args)]
pub(super) struct TrustArgs {
    /// Trust the project config of this digest, as `config trust` does
    #[arg(help_heading = WHO, long, value_name = "SHA256")]
    pub(super) trust_project_config: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum ReviewCommand {
    /// Show an artifact that --out or --json has saved, without running anything
    Show(Show),
}

#[derive(Debug, Args)]
pub(super) struct Show {
    /// The artifact file; - reads standard input
    #[arg(value_name = "PATH")]
    pub(super) path: PathBuf,

    #[command(flatten)]
    pub(super) output: Output,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub(super) struct Output {
    /// Print plain text for coding agents
    #[arg(help_heading = OUT, long)]
    agent: bool,

    /// Print the artifact as JSON
    #[arg(help_heading = OUT, long)]
    json: bool,

    /// Print events as they happen, one JSON object a line
    #[arg(help_heading = OUT, long)]
    ndjson: bool,
}

impl Output {
    /// The flags, as clap names them.
    pub(super) const FLAGS: [&str; 3] = ["agent", "json", "ndjson"];

    /// Returns the one mode that was chosen, or that for people.
    pub(super) fn mode(&self) -> OutputMode {
        self.chosen().unwrap_or_default()
    }

    /// Returns the one mode that was chosen.
    pub(super) fn chosen(&self) -> Option<OutputMode> {
        match (self.agent, self.json, self.ndjson) {
            (true, ..) => Some(OutputMode::Agent),
            (_, true, _) => Some(OutputMode::Json),
            (.., true) => Some(OutputMode::Ndjson),
            _ => None,
        }
    }
}
