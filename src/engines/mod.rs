//! The engines: one module each, plus the matrix of what they can do.
//!
//! An engine is pure: settings and a task in, a command or a function out, captured output in, an
//! answer out. None of them sees git, configuration files or other reviewers.

pub mod capabilities;
pub mod codex;
pub mod executable;
pub mod fake;
pub mod settings;
pub mod surface;
