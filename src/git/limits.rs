//! How much of a change is kept in memory.

use diffwarden_actors::model::{Body, Hunk, Line};

/// Bounds on what is read into a patch. What is sent to a model is bounded elsewhere, and lower;
/// these bounds are generous because every added line that is kept is scanned.
///
/// Both count memory, not only text: a line costs its bytes and its place in the list of lines.
/// So the bounds hold for a file of empty lines too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// The most that one file may take, in bytes. Above [`u32::MAX`] it is taken as that.
    pub max_file_bytes: u64,
    /// The most that all files together may take, in bytes.
    pub max_patch_bytes: u64,
}

impl Default for ReadLimits {
    /// 8 MiB a file and 64 MiB a patch.
    fn default() -> Self {
        Self {
            max_file_bytes: 8 << 20,
            max_patch_bytes: 64 << 20,
        }
    }
}

/// What is left of the limits while a patch is being built.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    max_file: u64,
    max_patch: u64,
    left: u64,
}

impl Budget {
    pub(super) fn new(limits: &ReadLimits) -> Self {
        Self {
            // Lines point into their file's bytes with 32 bits.
            max_file: limits.max_file_bytes.min(u64::from(u32::MAX)),
            max_patch: limits.max_patch_bytes,
            left: limits.max_patch_bytes,
        }
    }

    /// Returns what the next file may take.
    pub(super) fn allowance(&self) -> u64 {
        self.max_file.min(self.left)
    }

    /// Takes what a kept file costs.
    pub(super) fn spend(&mut self, cost: u64) {
        self.left = self.left.saturating_sub(cost);
    }

    /// Returns the body of a file that costs more than the allowance.
    pub(super) fn omitted(&self, size: u64, added: u64, removed: u64) -> Body {
        let reason = if self.left < self.max_file {
            format!(
                "the patch as a whole is larger than {}",
                mebibytes(self.max_patch)
            )
        } else {
            format!("its change is larger than {}", mebibytes(self.max_file))
        };
        Body::Omitted {
            size,
            added,
            removed,
            reason,
        }
    }
}

/// Returns what `lines` lines with `text` bytes of text cost.
pub(super) fn cost_of_lines(lines: u64, text: u64) -> u64 {
    text.saturating_add(lines.saturating_mul(size_of::<Line>() as u64))
}

/// Returns what a hunk costs besides its lines.
pub(super) fn cost_of_hunk(section: &[u8]) -> u64 {
    (size_of::<Hunk>() + section.len()) as u64
}

fn mebibytes(bytes: u64) -> String {
    match bytes >> 20 {
        0 => format!("{bytes} bytes"),
        mebibytes => format!("{mebibytes} MiB"),
    }
}
