//! What of the patch is in a prompt, path by path.

use std::collections::HashMap;

use diffwarden_actors::model::{CoverageFile, RepoPath, Sent};

use super::block::{Block, Counts};

/// Sums up the blocks of a patch, one entry for each path in the order of first sight.
///
/// A path with two blocks (a type change is a deletion and an addition) has one entry: lines are
/// added up, and the block that was sent worse decides.
pub(super) fn cover<'a>(
    files: impl Iterator<Item = ((&'a RepoPath, Counts), &'a Block)>,
) -> Vec<CoverageFile> {
    let mut entries: Vec<CoverageFile> = Vec::new();
    let mut known: HashMap<&RepoPath, usize> = HashMap::new();
    for ((path, counts), block) in files {
        let entry = CoverageFile {
            path: path.to_string(),
            sent: block.sent,
            added: counts.added,
            removed: counts.removed,
            reason: block.reason.clone(),
        };
        match known.get(path) {
            Some(&index) => merge(&mut entries[index], entry),
            None => {
                known.insert(path, entries.len());
                entries.push(entry);
            }
        }
    }
    entries
}

fn merge(entry: &mut CoverageFile, other: CoverageFile) {
    entry.sent = worse(entry.sent, other.sent);
    entry.added += other.added;
    entry.removed += other.removed;
    entry.reason = match (entry.reason.take(), other.reason) {
        (Some(one), Some(two)) if one != two => Some(format!("{one}; {two}")),
        (one, two) => one.or(two),
    };
}

/// Returns what two blocks of one path come to. A block without lines takes nothing away from one
/// that has some.
fn worse(one: Sent, two: Sent) -> Sent {
    match (one, two) {
        (Sent::Metadata, sent) | (sent, Sent::Metadata) => sent,
        _ => one.max(two),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(sent: Sent, reason: Option<&str>) -> Block {
        Block {
            text: String::new(),
            size: super::super::block::Size::default(),
            shown: Counts::default(),
            sent,
            reason: reason.map(ToOwned::to_owned),
        }
    }

    #[test]
    fn one_entry_for_each_path() {
        let [one, two] = [RepoPath::from("link"), RepoPath::from("b")];
        let counts = |added, removed| Counts { added, removed };
        let blocks = [
            block(Sent::Whole, None),
            block(Sent::Clipped, Some("too long")),
            block(Sent::Metadata, None),
            block(Sent::Whole, None),
            block(Sent::Clipped, Some("too long")),
            block(Sent::Clipped, Some("too late")),
        ];
        let paths = [&one, &one, &two, &two, &two, &two];
        let numbers = [
            counts(0, 1),
            counts(20, 0),
            counts(0, 0),
            counts(5, 5),
            counts(0, 0),
            counts(1, 0),
        ];
        let entries = cover(paths.into_iter().zip(numbers).zip(&blocks));
        let entry = |path: &str, added, removed, reason: &str| CoverageFile {
            path: path.to_owned(),
            sent: Sent::Clipped,
            added,
            removed,
            reason: Some(reason.to_owned()),
        };
        assert_eq!(
            entries,
            [
                entry("link", 20, 1, "too long"),
                entry("b", 6, 5, "too long; too late"),
            ]
        );
    }

    #[test]
    fn a_block_without_lines_takes_nothing_away() {
        assert_eq!(worse(Sent::Metadata, Sent::Whole), Sent::Whole);
        assert_eq!(worse(Sent::Clipped, Sent::Metadata), Sent::Clipped);
        assert_eq!(worse(Sent::Metadata, Sent::Metadata), Sent::Metadata);
        assert_eq!(worse(Sent::Whole, Sent::Binary), Sent::Binary);
    }
}
