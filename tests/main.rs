//! One test binary; a module per subject.

mod support;
