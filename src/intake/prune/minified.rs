//! Contents that no person writes line by line.

use diffwarden_actors::model::{FilePatch, LineKind};

/// The mean length of a line from which on a file counts as dense, in bytes.
const DENSE_MEAN: usize = 110;
/// A file of fewer lines than this is dense when one of them is longer than [`DENSE_LINE`].
const FEW_LINES: usize = 6;
/// In bytes.
const DENSE_LINE: usize = 500;

/// Whether the changed lines are as long as a minifier makes them. A change without lines on
/// either side, such as one too large to be read, is judged by its name alone.
pub(super) fn is_dense(file: &FilePatch) -> bool {
    let mut lines = 0_usize;
    let mut bytes = 0_usize;
    let mut longest = 0_usize;
    for line in changed(file) {
        lines += 1;
        bytes += line.len();
        longest = longest.max(line.len());
    }
    lines == 0 || bytes / lines >= DENSE_MEAN || (lines < FEW_LINES && longest >= DENSE_LINE)
}

/// Whether the changed lines are those of a source map: JSON with its mappings.
pub(super) fn is_source_map(file: &FilePatch) -> bool {
    let mut changed = changed(file).peekable();
    changed.peek().is_none()
        || changed.any(|line| {
            [&b"\"mappings\""[..], b"\"sourcesContent\"", b"\"sources\""]
                .iter()
                .any(|key| line.windows(key.len()).any(|window| window == *key))
        })
}

fn changed(file: &FilePatch) -> impl Iterator<Item = &[u8]> {
    let lines = file.hunks().iter().flat_map(|hunk| &hunk.lines);
    lines
        .filter(|line| line.kind != LineKind::Context)
        .map(|line| file.text(line).trim_ascii())
        .filter(|text| !text.is_empty())
}
