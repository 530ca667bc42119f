//! Refusals: changes that could turn an engine against its user before it has said a word.
//!
//! Two kinds are known. An engine that loads instruction files of the repository would take a new
//! or changed one as orders. A symbolic link that leaves the repository, or leads into `.git`,
//! would let an engine's reading tool show credentials or other people's files. Only what is new
//! or changed is refused, because the rest is the user's own checkout; the rest is told.
//!
//! What must stay true: links are judged by what the reviewed tree holds, never by what the work
//! tree happens to hold; names are compared as the most careless file system would.

mod instructions;
mod links;

use std::fmt;

use diffwarden_actors::model::{ErrorCode, Failure, FilePatch, Patch, Reason, RepoPath};

pub use instructions::old_instructions;
pub use links::{Leads, ReadLink, is_git, lead};

/// How many hazards a message names.
const NAMED: usize = 5;

/// Something in a change that a reviewer is kept from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hazard {
    /// Where.
    pub path: RepoPath,
    /// What.
    pub kind: HazardKind,
}

/// What a hazard is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HazardKind {
    /// A file that this engine reads as orders.
    Instructions,
    /// A symbolic link to a place that is not the change's business.
    Link(Leads),
}

impl fmt::Display for Hazard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match self.kind {
            HazardKind::Instructions => write!(f, "{path} is a file this engine takes orders from"),
            HazardKind::Link(leads) => write!(f, "{path} is a symbolic link that {leads}"),
        }
    }
}

/// Returns the links among changed files that no engine may follow.
pub fn unsafe_links(files: &[FilePatch], read_link: &ReadLink<'_>) -> Vec<Hazard> {
    links::changed(files, read_link)
}

/// Returns the new and changed files that an engine would take orders from. `names` are those of
/// its row in the capability matrix.
pub fn unsafe_instructions(patch: &Patch, names: &[&str]) -> Vec<Hazard> {
    instructions::changed(patch, names)
}

/// Returns why a reviewer is not started.
pub fn refusal(hazards: &[Hazard]) -> Failure {
    let message = format!(
        "the change holds what could turn this reviewer against you: {}",
        list(hazards)
    );
    Failure::new(ErrorCode::ReviewerEnvironmentFailed, message)
        .reason(Reason::UnsafeInput)
        .hint("look at these files yourself; --allow-unsafe-input starts the reviewer all the same")
}

/// Names hazards, the first few of them.
pub fn list(hazards: &[Hazard]) -> String {
    let mut named: Vec<String> = hazards.iter().take(NAMED).map(Hazard::to_string).collect();
    if hazards.len() > NAMED {
        named.push(format!("and {} more", hazards.len() - NAMED));
    }
    named.join("; ")
}
