//! Commits, names and blobs: the questions both readers of a repository answer.

use std::path::Path;

use diffwarden_actors::model::{Failure, RepoPath};

/// The most messages that are read of a branch.
pub(super) const MESSAGES: usize = 1000;

/// The most that is kept of one message, in bytes.
const MESSAGE_LIMIT: usize = 64 << 10;

/// What is asked of a repository's history. Ids are full and hexadecimal.
pub(super) trait History {
    /// Returns the commit of HEAD; `None` before the first commit.
    fn head(&self) -> Result<Option<String>, Failure>;

    /// Returns the name of the current branch; `None` on a detached HEAD.
    fn branch(&self) -> Result<Option<String>, Failure>;

    /// Returns the commit that a revision names, tags followed; `None` when it names none.
    fn commit(&self, revision: &str) -> Result<Option<String>, Failure>;

    /// Returns which of these full reference names exist, with the commits they name.
    fn references(&self, names: &[String]) -> Result<Vec<(String, String)>, Failure>;

    /// Returns the best common ancestor, the first when there are several.
    fn merge_base(&self, one: &str, two: &str) -> Result<Option<String>, Failure>;

    /// Returns a commit object as it is stored.
    fn raw_commit(&self, id: &str) -> Result<Vec<u8>, Failure>;

    /// Returns the messages of the commits that `head` has and `base` has not, newest first, at
    /// most [`MESSAGES`].
    fn messages(&self, base: &str, head: &str) -> Result<Vec<String>, Failure>;

    /// Returns the blob at a path of a commit; `None` when there is none, or it has more than
    /// `limit` bytes.
    fn blob(&self, commit: &str, path: &RepoPath, limit: u64) -> Result<Option<Vec<u8>>, Failure>;

    /// Returns the text of the symbolic link at a path of a commit; `None` when there is none.
    fn link(&self, commit: &str, path: &RepoPath, limit: u64) -> Result<Option<Vec<u8>>, Failure>;
}

/// Returns the parents that a stored commit names, also where a shallow clone ends.
pub(super) fn parents_of(raw: &[u8]) -> Vec<String> {
    raw.split(|&byte| byte == b'\n')
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix(b"parent "))
        .map(|id| String::from_utf8_lossy(id).into_owned())
        .collect()
}

/// Returns the message of a stored commit.
pub(super) fn message_of(raw: &[u8]) -> String {
    let end = raw.windows(2).position(|window| window == b"\n\n");
    read_message(end.and_then(|end| raw.get(end + 2..)).unwrap_or_default())
}

/// Reads a message, at most 64 KiB of it. Bytes that are not UTF-8 are replaced.
pub(super) fn read_message(message: &[u8]) -> String {
    String::from_utf8_lossy(&message[..message.len().min(MESSAGE_LIMIT)]).into_owned()
}

/// Returns the commits whose parents a shallow clone left out; empty for a whole clone.
pub(super) fn shallow_boundary(common_dir: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(common_dir.join("shallow")).unwrap_or_default();
    text.lines().map(|line| line.trim().to_owned()).collect()
}

/// Returns the full names that a short one could stand for, in git's order.
pub(super) fn candidates(name: &str) -> Vec<String> {
    ["", "tags/", "heads/", "remotes/"]
        .iter()
        .map(|folder| format!("refs/{folder}{name}"))
        .chain([format!("refs/remotes/{name}/HEAD")])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_commit_names_its_parents_and_ends_in_its_message() {
        let raw = b"tree 1\nparent aa\nparent bb\nauthor A\nencoding x\n\nparent cc\n\nbody \xff\n";
        assert_eq!(parents_of(raw), ["aa", "bb"]);
        assert_eq!(message_of(raw), "parent cc\n\nbody \u{fffd}\n");
        assert_eq!(message_of(b"broken"), "");
    }
}
