//! One test binary; a module per subject.

mod cli;
mod config;
mod git;
mod hostile;
mod patch;
mod review;
mod schemas;
mod show;
mod signals;
mod support;
