//! What can be typed after `reviewers`.

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser as _};
use clap::{Args, Subcommand};
use diffwarden_actors::model::{Failure, Transport};

use crate::cli::args::TrustArgs;
use crate::cli::discover::DiscoverArgs;
use crate::cli::setup::SetupArgs;
use crate::config;
use crate::engines::settings::Effort;

#[derive(Debug, Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(in crate::cli) struct Reviewers {
    #[command(subcommand)]
    pub(super) command: ReviewersCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum ReviewersCommand {
    /// List reviewers and sets as configured, without running anything
    List(ListArgs),
    /// Look for engines on this machine
    Discover(DiscoverArgs),
    /// Add a reviewer to your config, or change the one that has its id
    Add(AddArgs),
    /// Change single values of a reviewer in your config
    Edit(EditArgs),
    /// Remove a reviewer from your config and from every set
    Remove(RemoveArgs),
    /// Change who is in a reviewer set
    Set(SetArgs),
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// The folder to look for a project config in, instead of the current one
    #[arg(long, value_name = "PATH")]
    pub(super) cwd: Option<PathBuf>,

    #[command(flatten)]
    pub(super) trust: TrustArgs,

    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Args)]
pub(super) struct AddArgs {
    /// The engine
    #[arg(value_name = "ENGINE")]
    pub(super) engine: Option<String>,

    /// The id, instead of the engine's name
    #[arg(long, value_name = "ID")]
    pub(super) id: Option<String>,

    #[command(flatten)]
    pub(super) fields: FieldArgs,

    /// Also put it into a reviewer set, which is created when it is new
    #[arg(long, value_name = "NAME")]
    pub(super) set: Option<String>,

    /// Add it switched off: it cannot be selected
    #[arg(long)]
    pub(super) disabled: bool,

    /// Choose among the engines of this machine; needs a terminal
    #[arg(long)]
    pub(super) interactive: bool,

    #[command(flatten)]
    pub(super) setup: SetupArgs,
}

#[derive(Debug, Args)]
pub(super) struct EditArgs {
    /// The id
    #[arg(value_name = "ID")]
    pub(super) id: Option<String>,

    #[command(flatten)]
    pub(super) fields: FieldArgs,

    /// Switch it on
    #[arg(long, conflicts_with = "disabled")]
    pub(super) enabled: bool,

    /// Switch it off: it cannot be selected
    #[arg(long)]
    pub(super) disabled: bool,

    /// Ask for the values; needs a terminal
    #[arg(long)]
    pub(super) interactive: bool,

    #[command(flatten)]
    pub(super) setup: SetupArgs,
}

/// The values of a reviewer that have a flag.
#[derive(Debug, Args)]
pub(super) struct FieldArgs {
    /// How its engine is reached
    #[arg(
        long,
        value_name = "TRANSPORT",
        value_parser = PossibleValuesParser::new(["sdk", "cli", "app-server", "acp"])
            .map(|word| match word.as_str() {
                "sdk" => Transport::Native,
                "cli" => Transport::Cli,
                "app-server" => Transport::AppServer,
                _ => Transport::Acp,
            })
    )]
    pub(super) transport: Option<Transport>,

    /// Its model
    #[arg(long, value_name = "ID")]
    pub(super) model: Option<String>,

    /// How hard it thinks: off, minimal, low, medium, high, xhigh, max
    #[arg(long, value_name = "LEVEL")]
    effort: Option<String>,

    /// The provider it routes through
    #[arg(long, value_name = "NAME")]
    pub(super) provider: Option<String>,
}

impl FieldArgs {
    /// Whether no value was typed.
    pub(super) fn is_empty(&self) -> bool {
        let Self {
            transport,
            model,
            effort,
            provider,
        } = self;
        transport.is_none() && model.is_none() && effort.is_none() && provider.is_none()
    }

    /// Returns the effort that was typed.
    pub(super) fn effort(&self) -> Result<Option<Effort>, Failure> {
        let typed = self.effort.as_deref();
        typed
            .map(|text| config::parse_effort("--effort", text.trim()))
            .transpose()
    }
}

#[derive(Debug, Args)]
pub(super) struct RemoveArgs {
    /// The id
    #[arg(value_name = "ID")]
    pub(super) id: Option<String>,

    /// Remove it even when that leaves nobody in the default reviewer set
    #[arg(long)]
    pub(super) force: bool,

    #[command(flatten)]
    pub(super) setup: SetupArgs,
}

#[derive(Debug, Args)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(super) struct SetArgs {
    #[command(subcommand)]
    pub(super) command: SetCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum SetCommand {
    /// Put a configured reviewer into a set, which is created when it is new
    Add(SetAddArgs),
    /// Take a reviewer out of a set
    Remove(SetRemoveArgs),
}

#[derive(Debug, Args)]
pub(super) struct SetAddArgs {
    /// The name of the set
    #[arg(value_name = "SET")]
    pub(super) set: String,

    /// The id of the reviewer
    #[arg(value_name = "REVIEWER")]
    pub(super) reviewer: String,

    #[command(flatten)]
    pub(super) setup: SetupArgs,
}

#[derive(Debug, Args)]
pub(super) struct SetRemoveArgs {
    /// The name of the set
    #[arg(value_name = "SET")]
    pub(super) set: String,

    /// The member, as it stands in the set
    #[arg(value_name = "REVIEWER")]
    pub(super) reviewer: String,

    /// Remove it even when that leaves nobody in the default reviewer set
    #[arg(long)]
    pub(super) force: bool,

    #[command(flatten)]
    pub(super) setup: SetupArgs,
}
