//! Files of the repository that an engine loads as instructions.

use diffwarden_actors::model::{FilePatch, Patch, RepoPath};
use diffwarden_actors::source::SourceReader;

use super::{Hazard, HazardKind};

/// Returns the new and changed files that one of the names fits.
pub(super) fn changed(patch: &Patch, names: &[&str]) -> Vec<Hazard> {
    let paths = patch.files.iter().filter_map(changed_path);
    let fits = paths.filter(|path| names.iter().any(|name| fits(path, name)));
    let hazards = fits.map(|path| Hazard {
        path: path.clone(),
        kind: HazardKind::Instructions,
    });
    hazards.collect()
}

/// Returns the path that a file has after the change, if it has one.
fn changed_path(file: &FilePatch) -> Option<&RepoPath> {
    file.new_path.as_ref()
}

/// Whether a path is what a name of the capability matrix means: a file of that name at any
/// depth, or anything below a folder of that name.
fn fits(path: &RepoPath, name: &str) -> bool {
    let wanted: Vec<&[u8]> = name
        .trim_end_matches('/')
        .as_bytes()
        .split(|&byte| byte == b'/')
        .collect();
    let parts: Vec<&[u8]> = path.as_bytes().split(|&byte| byte == b'/').collect();
    let equal = |window: &[&[u8]]| {
        window
            .iter()
            .zip(&wanted)
            .all(|(part, wanted)| same_name(part, wanted))
    };
    if name.ends_with('/') {
        // Something has to lie below the folder; a link in its place is a folder too.
        parts.windows(wanted.len()).any(equal)
    } else {
        parts.len() >= wanted.len() && equal(&parts[parts.len() - wanted.len()..])
    }
}

/// Whether two names are one on a file system that does not tell case apart and drops trailing
/// dots and blanks.
pub(super) fn same_name(one: &[u8], other: &[u8]) -> bool {
    let end = one
        .iter()
        .rposition(|byte| !b". ".contains(byte))
        .map_or(0, |at| at + 1);
    one[..end].eq_ignore_ascii_case(other)
}

/// Returns the files at the root that one of the names means and that the change leaves alone.
pub fn old_instructions(patch: &Patch, names: &[&str], source: &dyn SourceReader) -> Vec<RepoPath> {
    let files = names.iter().filter(|name| !name.ends_with('/'));
    let paths = files.map(|name| RepoPath::from(*name));
    let is_changed = |path: &RepoPath| patch.files.iter().any(|file| file.path() == path);
    paths
        .filter(|path| !is_changed(path) && source.line(path, 1).is_some())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_at_any_depth_and_in_any_case() {
        for (path, name) in [
            ("AGENTS.md", "AGENTS.md"),
            ("a/b/agents.MD", "AGENTS.md"),
            ("AGENTS.md.", "AGENTS.md"),
            ("x/.cursor/rules/a/b.mdc", ".cursor/rules/"),
            (".cursor/rules", ".cursor/rules/"),
            (
                ".github/copilot-instructions.md",
                ".github/copilot-instructions.md",
            ),
        ] {
            assert!(fits(&path.into(), name), "{path}");
        }
        for (path, name) in [
            ("MY_AGENTS.md", "AGENTS.md"),
            ("AGENTS.md/x", "AGENTS.md"),
            ("AGENTS.md.txt", "AGENTS.md"),
            (".cursor/ruleset/a", ".cursor/rules/"),
            ("rules/a", ".cursor/rules/"),
            ("copilot-instructions.md", ".github/copilot-instructions.md"),
            ("", "AGENTS.md"),
        ] {
            assert!(!fits(&path.into(), name), "{path}");
        }
    }
}
