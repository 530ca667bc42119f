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
pub mod edit;
mod effective;
mod json;
mod model;
mod names;
mod node;
mod origin;
mod overlay;
mod overrides;
mod problem;
mod project;
mod read;
mod resolve;
mod reviewer;
mod schema;
mod secret;
mod select;
mod spec;
mod store;
mod suggest;
mod trust;
mod validate;

pub use discover::{
    ConfigFile, ConfigKind, LoadedConfig, NewlyTrusted, load, load_trusting, missing_config,
    project_config_path, shadowing_config, trust_project_config, used_config_path,
    user_config_path,
};
pub use effective::{EffectiveConfig, ExaminedFile, FileRole, FileState, Inquiry};
pub use model::{
    Config, ConfiguredReviewer, IntakeSettings, ReportMode, ReportScope, ReportingSettings,
    ReviewPlanSettings, ReviewerSet,
};
pub(crate) use names::defect_of_id;
pub use origin::{Setting, Source};
pub use overrides::{Overrides, Requested, SelectionFlags, parse_effort, parse_timeout};
pub use schema::config_schema;
pub use select::select_reviewers;
pub use spec::ReviewerSpec;
pub use trust::{Standing, TRUST_FLAG, TRUST_VARIABLE, TrustStore, TrustedConfig};
