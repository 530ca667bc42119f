//! Targets and patches, against real repositories.

#![expect(
    clippy::unwrap_used,
    reason = "a fixture that cannot be built is a failed test"
)]

mod fixture;
mod hostile;
mod kinds;
mod open;
mod producers;
mod targets;
mod tree_state;
mod unread;
