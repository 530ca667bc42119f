//! Text that an attribute calls binary.
//!
//! A line such as `*.js -diff` in `.gitattributes` makes git print "Binary files differ" for what
//! is plain text. The line can be part of the very change under review, and would take a file out
//! of it. So such files are looked at once more as text; what holds a NUL byte is binary after
//! all.

use std::collections::HashMap;

use diffwarden_actors::model::{Body, FilePatch, RepoPath};

/// The two names of a file, which tell its blocks apart.
type Names = (Option<RepoPath>, Option<RepoPath>);

/// Returns the files that the patch calls binary.
pub(super) fn binary_files(files: &[FilePatch]) -> Vec<&FilePatch> {
    let binary = files.iter().filter(|file| file.body == Body::Binary);
    binary.collect()
}

/// Returns every name of these files, for a patch of them alone that still finds renames.
pub(super) fn names_of(files: &[&FilePatch]) -> Vec<RepoPath> {
    let mut names: Vec<_> = files
        .iter()
        .flat_map(|file| [&file.old_path, &file.new_path])
        .flatten()
        .cloned()
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// Puts the lines of `as_text` into the files that are binary by an attribute alone.
pub(super) fn reveal(files: &mut [FilePatch], as_text: Vec<FilePatch>) {
    let mut revealed: HashMap<Names, FilePatch> = as_text
        .into_iter()
        .filter(|file| !file.hunks().is_empty() && !file.content.contains(&0))
        .map(|file| ((file.old_path.clone(), file.new_path.clone()), file))
        .collect();
    for file in files.iter_mut().filter(|file| file.body == Body::Binary) {
        let names = (file.old_path.clone(), file.new_path.clone());
        if let Some(text) = revealed.remove(&names) {
            *file = text;
        }
    }
}

/// Whether the value of the attribute `diff` can make text look binary: it is unset, or names a
/// driver.
pub(super) fn can_hide(value: &[u8]) -> bool {
    !matches!(value, b"unspecified" | b"set")
}
