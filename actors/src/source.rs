//! The source port: the reviewed revision's text, for anchoring findings and checking quotes.

use crate::model::RepoPath;

/// Reads files of the reviewed revision.
pub trait SourceReader: Send + Sync {
    /// Returns one line (1-based) without its line end; `None` when there is no such line, the
    /// file is binary, too large or not in the repository. Never follows symbolic links.
    fn line(&self, path: &RepoPath, line: u32) -> Option<Vec<u8>>;
}
