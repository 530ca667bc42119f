//! diffwarden: sends a diff to several coding agents as read-only reviewers and hands back one
//! structured review.
//!
//! The program around the review engine of [`diffwarden_actors`]. One straight path:
//!
//! ```text
//! argv -> cli -> config -> plan -> (git, intake, prompt, engines) -> actors::run -> sinks -> exit code
//! ```

pub mod artifact;
pub mod cli;
pub mod config;
pub mod discovery;
pub mod doctor;
pub mod engines;
pub mod env;
pub mod exit;
pub mod git;
pub mod guided;
pub mod intake;
pub mod plan;
pub mod prompt;
pub mod report;
pub mod schema;
pub mod sinks;
pub mod snapshot;
