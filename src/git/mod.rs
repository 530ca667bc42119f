//! From a target as it is typed to a resolved target and its patch.
//!
//! [`Repository::open`] finds the repository, [`Repository::resolve`] turns a [`TargetSpec`] into
//! a [`Resolved`]. Two readers stand behind it: libgit2 (`library`, `library_diff`) for names,
//! commits and the change between commits, and the git executable (`executable`,
//! `git_history`, `work_tree`) for the work tree and for what libgit2 cannot read. Both feed
//! the one parser (`parse`).
//!
//! What must stay true: nothing that the repository brings along is run; no setting of the
//! repository or the user changes the patch; the repository is not written to, its index
//! included; nothing is fetched.

mod base;
mod before;
mod block;
mod child;
mod collect;
mod encoded;
mod executable;
mod files;
mod filters;
mod frozen;
mod git_history;
mod history;
mod library;
mod library_diff;
mod limits;
mod links;
mod parse;
mod quoting;
mod repository;
mod resolve;
mod reveal;
mod revision;
mod source;
mod target;
mod tree_state;
mod unread;
mod untracked;
mod work_tree;

pub use before::Before;
pub use child::end_all;
pub use frozen::{FrozenBlob, FrozenEntry, FrozenKind, FrozenReader, FrozenTree};
pub use limits::ReadLimits;
pub use links::TreeLinks;
pub use parse::{ParseError, parse_patch};
pub use repository::Repository;
pub use resolve::{ResolveOptions, Resolved};
pub use target::TargetSpec;
pub use tree_state::{FileId, TreeState, own_outputs};
