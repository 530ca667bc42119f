//! The paths of the bench, each with a table of its own.
//!
//! To add one, write a module with a `pub(crate) const PATH: EnginePath` after the pattern of
//! `codex_cli.rs`, and name it in [`ALL`]; an engine that is new also needs its package in
//! `package.json`. Expectations are what the documentation promises and never what happened to
//! come out.

mod claude;
pub(crate) mod claude_cli;
pub(crate) mod claude_sdk;
mod codex;
mod codex_app_server;
pub(crate) mod codex_cli;
mod gemini;
mod gemini_cli;
mod opencode;
mod opencode_cli;

use crate::scenario::EnginePath;

/// Every path, in the order of the table.
pub(crate) const ALL: &[&EnginePath] = &[
    &codex_cli::PATH,
    &codex_app_server::PATH,
    &claude_cli::PATH,
    &claude_sdk::PATH,
    &gemini_cli::PATH,
    &opencode_cli::PATH,
];
