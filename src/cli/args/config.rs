//! What can be typed behind `diffwarden config`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{LIMITS, TrustArgs, WHO};

#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub(in crate::cli) struct Config {
    #[command(subcommand)]
    pub(in crate::cli) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum ConfigCommand {
    /// Show what holds here, where each value comes from, and what is wrong
    Show(ConfigShow),
    /// Print the JSON Schema of config files
    Schema,
    /// Print the path of the config that is used here, or of the one to create
    Path {
        /// The folder to look for a project config in, instead of the current one
        #[arg(long, value_name = "PATH")]
        cwd: Option<PathBuf>,
    },
    /// Trust what the repository's own config says now, and nothing it will say later
    Trust(ConfigTrust),
}

const SHOW_HELP: &str = "\
Takes the flags of `diffwarden review` that stand for values of a config, and
shows what such a review would use. Runs nothing.

Exit codes:
  0  a review could start
  2  something is wrong; what is, is listed";

#[derive(Debug, Args)]
#[command(after_help = SHOW_HELP)]
pub(in crate::cli) struct ConfigShow {
    /// Who reviews: an id from the config, or engine[:profile]; repeat for several
    #[arg(help_heading = WHO, long = "reviewer", value_name = "SPEC")]
    pub(in crate::cli) reviewers: Vec<String>,

    /// A reviewer set from the config
    #[arg(help_heading = WHO, long, value_name = "NAME")]
    pub(in crate::cli) reviewer_set: Option<String>,

    /// The model, when one reviewer runs
    #[arg(help_heading = WHO, long, value_name = "ID")]
    pub(in crate::cli) model: Option<String>,

    /// The model to fall back to under load, when one reviewer runs (Claude only)
    #[arg(help_heading = WHO, long, value_name = "ID")]
    pub(in crate::cli) fallback_model: Option<String>,

    /// How hard to think, when one reviewer runs
    #[arg(help_heading = WHO, long, value_name = "LEVEL")]
    pub(in crate::cli) effort: Option<String>,

    /// Each reviewer's budget, preflight included
    #[arg(
        help_heading = LIMITS,
        long,
        value_name = "SECONDS",
        allow_hyphen_values = true
    )]
    pub(in crate::cli) timeout: Option<String>,

    /// How many reviewers run at a time, over all lanes: 1 to 1024
    #[arg(
        help_heading = LIMITS,
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u16).range(1..=1024)
    )]
    pub(in crate::cli) jobs: Option<u16>,

    /// The folder to look for a project config in, instead of the current one
    #[arg(long, value_name = "PATH")]
    pub(in crate::cli) cwd: Option<PathBuf>,

    #[command(flatten)]
    pub(in crate::cli) trust: TrustArgs,

    /// Print JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}

const TRUST_HELP: &str = "\
A config inside the repository may choose among the reviewers that you have. It
may name a program, a path, an address or a login only while you trust its exact
content: read the file first. The trust lies outside of the repository, and ends
when a byte of the file changes.

Where nobody can answer, such as in CI, --trust-project-config <SHA256> or
DIFFWARDEN_TRUST_PROJECT_CONFIG=<SHA256> says the same for one run.";

#[derive(Debug, Args)]
#[command(after_help = TRUST_HELP)]
pub(in crate::cli) struct ConfigTrust {
    /// The config file, instead of the one that is used here
    #[arg(value_name = "FILE", conflicts_with = "list")]
    pub(in crate::cli) file: Option<PathBuf>,

    /// Trust it no longer
    #[arg(long, conflicts_with = "list")]
    pub(in crate::cli) remove: bool,

    /// List what is trusted, and whether the files have changed since
    #[arg(long)]
    pub(in crate::cli) list: bool,

    /// The folder to look for a project config in, instead of the current one
    #[arg(long, value_name = "PATH")]
    pub(in crate::cli) cwd: Option<PathBuf>,

    /// Print what is trusted afterwards as JSON
    #[arg(long)]
    pub(in crate::cli) json: bool,
}
