//! One test binary; a module per subject.

mod attacks;
mod chaos;
mod cli;
mod config;
mod config_show;
mod config_trust;
mod config_writes;
mod coverage;
mod discover;
mod docs;
mod doctor;
mod git;
mod guided;
mod history;
mod hostile;
mod intake;
mod lanes;
mod patch;
mod repair;
mod review;
mod schemas;
mod secrets;
mod show;
mod signals;
mod snapshot;
mod support;
