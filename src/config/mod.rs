//! Configuration (SPEC 5.2 to 5.4, 7.4 and 15): where it is found, what it may say, and which
//! reviewers it gives a run.
//!
//! Everything that can be wrong is wrong here, with exit 2, before an engine or a token is spent.
//! Two things must stay true. A config file inside the reviewed repository is part of what is
//! reviewed, so it chooses among what the user has and never names a program, a path, a network
//! address or a login. And a message about a file that is wrong repeats no value of it, because it
//! may be a secret that somebody put there by mistake.

mod discover;
#[cfg(test)]
mod documentation;
mod json;
mod model;
mod names;
mod node;
mod overlay;
mod overrides;
mod problem;
mod project;
mod resolve;
mod reviewer;
mod secret;
mod select;
mod spec;
mod suggest;
mod validate;

pub use discover::{ConfigFile, ConfigKind, LoadedConfig, load, missing_config, user_config_path};
pub use model::{
    Config, ConfiguredReviewer, IntakeSettings, ReportMode, ReportScope, ReportingSettings,
    ReviewPlanSettings, ReviewerSet,
};
pub use overrides::{Overrides, Requested, SelectionFlags, parse_timeout};
pub use select::select_reviewers;
pub use spec::ReviewerSpec;
