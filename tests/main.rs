//! One test binary; a module per subject.

mod git;
mod support;
