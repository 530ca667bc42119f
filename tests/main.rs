//! One test binary; a module per subject.

mod chaos;
mod cli;
mod config;
mod git;
mod history;
mod hostile;
mod lanes;
mod patch;
mod repair;
mod review;
mod schemas;
mod show;
mod signals;
mod support;
