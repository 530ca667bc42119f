//! One test binary; a module per subject.

mod cli;
mod git;
mod schemas;
mod support;
