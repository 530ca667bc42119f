//! Frozen snapshots: the reviewed tree, written to a private folder for the engines to look at.
//!
//! A commit can be reviewed so without its being checked out, all reviewers see the same bytes, and
//! what a hostile tree brings along to harm a reviewer is not in it. Planning lists the tree and
//! judges it; the run writes it ([`Writer`]).
//!
//! What must stay true: the repository is only read; bytes are written as git stores them; nothing
//! outside the folder is ever written to, whatever names and links the tree has.

mod judge;
mod write;

use std::sync::Arc;

use diffwarden_actors::model::{EngineName, Failure, Patch};
use diffwarden_actors::snapshot::PlannedSnapshot;

pub use judge::{LeftOut, Why};
pub use write::Writer;

use crate::config::IntakeSettings;
use crate::engines::capabilities;
use crate::engines::settings::ReviewerSettings;
use crate::git::{Repository, ResolveOptions, Resolved};

/// How large a snapshot may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SnapshotLimits {
    /// Files, links and folders.
    pub files: usize,
    /// Bytes of all files together.
    pub bytes: u64,
}

impl SnapshotLimits {
    /// Files, links and folders, unless the config says otherwise.
    pub const DEFAULT_FILES: u64 = 200_000;
    /// Bytes, unless the config says otherwise: 2 GiB.
    pub const DEFAULT_BYTES: u64 = 2 << 30;

    /// Returns the config's numbers, else the defaults.
    pub fn new(intake: &IntakeSettings) -> Self {
        let files = intake.max_snapshot_files.unwrap_or(Self::DEFAULT_FILES);
        Self {
            files: usize::try_from(files).unwrap_or(usize::MAX),
            bytes: intake.max_snapshot_bytes.unwrap_or(Self::DEFAULT_BYTES),
        }
    }
}

/// What a snapshot is planned from.
pub struct Freezing<'a> {
    /// Where the tree is.
    pub repository: &'a Repository,
    /// Which tree.
    pub resolved: &'a Resolved,
    /// How the tree was resolved.
    pub options: &'a ResolveOptions,
    /// What it changes.
    pub patch: &'a Patch,
    /// Who will look at it.
    pub selected: &'a [ReviewerSettings],
    /// Whether instruction files that the change edits stay in it.
    pub allow_instructions: bool,
    /// How large it may be.
    pub limits: SnapshotLimits,
}

impl Freezing<'_> {
    /// Lists and judges the tree, and chooses where it will be written. Writes nothing.
    ///
    /// # Errors
    ///
    /// When the tree has too many files or cannot be read, or when there is no place for it.
    pub fn plan(&self) -> Result<PlannedSnapshot, Failure> {
        let tree = self
            .repository
            .freeze(self.resolved, self.options, self.limits.files)?;
        let names = if self.allow_instructions {
            Vec::new()
        } else {
            instruction_files(self.selected)
        };
        let judged = judge::judge(tree, self.patch, &names)?;
        let writer = Writer::new(judged, self.limits.bytes);
        PlannedSnapshot::choose(self.repository.root(), Arc::new(writer))
    }
}

/// Whether a reviewer looks at files on the disk.
pub fn is_engine(engine: EngineName) -> bool {
    !matches!(engine, EngineName::Fake | EngineName::Surface)
}

/// Returns the files that at least one reviewer takes orders from: one tree serves them all.
fn instruction_files(selected: &[ReviewerSettings]) -> Vec<&'static str> {
    let rows = selected
        .iter()
        .filter_map(|it| capabilities::find(it.engine, it.transport));
    let mut names: Vec<&str> = rows
        .flat_map(|row| row.instruction_files)
        .copied()
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}
