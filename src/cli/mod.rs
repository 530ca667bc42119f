//! The command line.

pub mod reviewers;
