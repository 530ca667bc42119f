//! One test binary; a module per subject.

mod cli;
mod git;
mod show;
mod support;
