//! Changing the user config: pure edits of its JSON, and the one way to have an edit written.
//!
//! An edit takes a [`Document`] and what is to change in it; it knows no file, no terminal and no
//! flag, so commands and guided flows share it. [`change_user_config`] and [`create_user_config`]
//! do the rest. Three things must stay true. Whatever an edit does not speak of keeps its value and
//! its place, known or not. What is written is a valid config, and one that this machine's overlay
//! does not make invalid. And only the user config is ever written: the overlay is this machine's,
//! and a project config belongs to its repository.

mod draft;
mod error;
mod guard;
mod layout;
mod reviewers;
mod scaffold;
mod sets;
mod write;

use serde_json::{Map, Value};

pub use draft::{Change, ReviewerDraft, ReviewerPatch, parse_engine};
pub use error::EditError;
pub use reviewers::{AddAction, Removed, Stale, add_reviewer, edit_reviewer, remove_reviewer};
pub use scaffold::{scaffold, starter};
pub use sets::{add_member, empty_default_set, remove_member};
pub use write::{
    Intent, Written, change_user_config, create_user_config, read_user_config, refuse_user_config,
    require_user_config,
};

/// A config file as JSON: keys in the order of the file, unknown ones included.
pub type Document = Map<String, Value>;

#[cfg(test)]
mod tests;
