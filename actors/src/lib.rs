//! The review engine of diffwarden: its vocabulary, its pure decisions and the actors around them.
//!
//! This crate knows neither git, configuration, command lines nor terminals. Everything it touches
//! outside itself comes through a port ([`engine`], [`prompt`], [`source`], [`sink`]) that the
//! program implements. Dependencies point one way:
//!
//! ```text
//! model <- answer, attempt, schedule <- actors <- the program
//! ```

pub mod answer;
pub mod engine;
pub mod model;
pub mod plan;
pub mod prompt;
pub mod sink;
pub mod source;

mod aggregator;
mod attempt;
mod lane;
mod messages;
mod process;
mod reviewer;
mod run_dir;
mod schedule;
mod supervisor;
