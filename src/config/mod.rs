//! Configuration: discovery, validation, selection of reviewers.
