//! Where programs may be looked for by what diffwarden starts.
//!
//! What must stay true: a program of the reviewed repository is never found through `PATH`, neither
//! by diffwarden nor by an engine, its interpreter or the commands of a model. Shells of developers
//! put such folders there all the time: `node_modules/.bin`, the `bin` of a virtual environment.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// What is searched when nothing else may be. An empty `PATH`, or none at all, would have some
/// programs look in the working folder.
const SYSTEM: &str = "/usr/bin:/bin";

/// Returns a value of `PATH` without the folders that are the reviewed repository's choice: those
/// inside `repo_root`, those reached through it, and relative ones, the empty one included.
pub fn outside_path(path: Option<&OsStr>, repo_root: &Path) -> OsString {
    let real_root = real(repo_root);
    let kept: Vec<PathBuf> = std::env::split_paths(path.unwrap_or_default())
        .filter(|folder| folder.is_absolute() && !is_inside(folder, &real_root))
        .collect();
    match std::env::join_paths(kept) {
        Ok(joined) if !joined.is_empty() => joined,
        _ => SYSTEM.into(),
    }
}

/// Whether a path leads into or through the folder `real_root`, which has no links in it. A link
/// inside a repository is the repository's choice, wherever it points.
pub fn is_inside(path: &Path, real_root: &Path) -> bool {
    path.starts_with(real_root)
        || path.ancestors().any(|above| {
            above
                .canonicalize()
                .is_ok_and(|real| real.starts_with(real_root))
        })
}

/// Returns a path with its links resolved, as far as it exists.
pub fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_path_buf())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn folders_of_the_repository_and_relative_ones_are_left_out() {
        let temp = tempfile::tempdir().unwrap();
        let at = |name: &str| temp.path().join(name);
        for folder in ["repo/bin", "repo-other/bin", "tools", "out"] {
            fs::create_dir_all(at(folder)).unwrap();
        }
        symlink(at("repo"), at("alias")).unwrap();
        symlink(at("repo/bin"), at("to-bin")).unwrap();
        symlink(at("out"), at("repo/away")).unwrap();
        symlink(at("repo"), at("root-link")).unwrap();
        let path = |names: &[&str]| {
            let folders = names.iter().map(|name| match name.strip_prefix('@') {
                Some(name) => at(name),
                None => PathBuf::from(name),
            });
            std::env::join_paths(folders).unwrap()
        };
        let searched = path(&[
            "@tools",
            "@repo",
            "@repo/bin",
            "@repo/not-there/bin",
            "@alias/bin",
            "@to-bin",
            "@repo/away",
            "@alias/away",
            "@tools/../repo/bin",
            "@repo-other/bin",
            "@missing",
            "",
            ".",
            "bin",
        ]);
        let kept = path(&["@tools", "@repo-other/bin", "@missing"]);
        assert_eq!(outside_path(Some(&searched), &at("repo")), kept);
        assert_eq!(outside_path(Some(&searched), &at("root-link")), kept);
    }

    #[test]
    fn something_is_always_searched() {
        for path in [None, Some(""), Some("bin:."), Some("/repo/bin")] {
            assert_eq!(
                outside_path(path.map(OsStr::new), Path::new("/repo")),
                OsStr::new(SYSTEM),
                "{path:?}"
            );
        }
    }
}
