//! Artifacts as files.
