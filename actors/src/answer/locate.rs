//! Where findings point, and whether that lies in the change (SPEC 13.4, 13.6).
//!
//! Paths come from a model: absolute or relative, with `..` and doubled slashes, in the spelling
//! of a symbolic link. They are only ever compared with what is known to have changed; nothing is
//! opened. The disk is asked for two things alone: what a folder's links resolve to, when a path
//! cannot be mapped by its text, and what kind of file a custom target's finding names.

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

use crate::model::{Anchor, Finding, LineRange, RepoPath};
use crate::plan::Scope;

/// Longer paths cannot exist on the systems we know, so the disk is not asked about them.
const MAX_PATH: usize = 4096;

/// What the checks ask of the file system.
pub trait Disk {
    /// Returns the absolute path with every symbolic link resolved; `None` when it does not exist
    /// or cannot be looked at.
    fn resolve(&self, path: &Path) -> Option<PathBuf>;

    /// Whether there is a regular file at this resolved path.
    fn is_file(&self, path: &Path) -> bool;
}

/// The file system of this machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalDisk;

impl Disk for LocalDisk {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok()
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }
}

/// Where a finding points.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Located {
    /// The path relative to the root; `None` when it does not lie below the root.
    pub path: Option<RepoPath>,
    /// Why the location does not hold, in a sentence; `None` when it does.
    pub problem: Option<String>,
}

/// Checks locations against one change. Cheap to ask, so one is made per change.
pub struct Locator<'a> {
    scope: &'a Scope,
    disk: &'a dyn Disk,
    /// The root's two spellings, as components.
    roots: Vec<Vec<String>>,
    /// The changed paths by their text; `None` for a custom target.
    changed: Option<HashMap<String, &'a RepoPath>>,
    /// The last components of the changed paths.
    names: HashSet<String>,
}

impl<'a> Locator<'a> {
    /// Prepares the checks for one change.
    pub fn new(scope: &'a Scope, disk: &'a dyn Disk) -> Self {
        let changed = scope.changed.as_deref();
        let roots = [&scope.repo_root, &scope.real_root];
        let name = |path: &RepoPath| String::from_utf8_lossy(path.file_name()).into_owned();
        Self {
            scope,
            disk,
            roots: roots
                .into_iter()
                .filter(|root| root.is_absolute())
                .map(|root| normalise(&root.to_string_lossy()))
                .collect(),
            changed: changed.map(|paths| paths.iter().map(|p| (p.to_string(), p)).collect()),
            names: changed.unwrap_or_default().iter().map(name).collect(),
        }
    }

    /// Whether there is a diff that lines can be checked against.
    pub fn is_diff_backed(&self) -> bool {
        self.changed.is_some()
    }

    /// Checks one finding. Findings about a commit message or a branch name have no place.
    pub fn locate(&self, finding: &Finding) -> Located {
        if let Some(Anchor::CommitMessage | Anchor::Branch) = finding.anchor {
            return Located::default();
        }
        let text = &finding.code_location.absolute_file_path;
        match &self.changed {
            None => self.locate_on_disk(text),
            Some(changed) => {
                let lines = finding.anchor.is_none();
                let range = lines.then_some(finding.code_location.line_range);
                self.locate_in_change(text, range, changed)
            }
        }
    }

    fn locate_in_change(
        &self,
        text: &str,
        range: Option<LineRange>,
        changed: &HashMap<String, &RepoPath>,
    ) -> Located {
        let relative = self.relative(text);
        let path = relative
            .as_ref()
            .and_then(|path| changed.get(path))
            .or_else(|| changed.get(&self.relative_by_links(text)?));
        let Some(&path) = path else {
            return Located {
                path: relative.map(|path| RepoPath::from(path.as_str())),
                problem: Some(format!("Finding path is not in changed files: {text}")),
            };
        };
        let added = self.scope.added.get(path).filter(|runs| !runs.is_empty());
        let apart = match (range, added) {
            (Some(range), Some(runs)) => !runs.iter().any(|run| run.overlaps(range)),
            _ => false,
        };
        Located {
            path: Some(path.clone()),
            problem: apart
                .then(|| format!("Finding line range does not overlap changed lines: {text}")),
        }
    }

    fn locate_on_disk(&self, text: &str) -> Located {
        let wrong = |problem: &str| Located {
            path: self
                .relative(text)
                .map(|path| RepoPath::from(path.as_str())),
            problem: Some(format!("{problem}: {text}")),
        };
        if text.len() > MAX_PATH {
            return wrong("Finding path does not exist");
        }
        let Some(real) = self.disk.resolve(&self.scope.repo_root.join(text)) else {
            return wrong("Finding path does not exist");
        };
        let Ok(relative) = real.strip_prefix(&self.scope.real_root) else {
            return wrong("Finding path is outside the repository");
        };
        if !self.disk.is_file(&real) {
            return wrong("Finding path is not a file in the repository");
        }
        Located {
            path: Some(repo_path(relative)),
            problem: None,
        }
    }

    /// Maps a path to the root by its text alone.
    fn relative(&self, text: &str) -> Option<String> {
        let absolute = if text.starts_with('/') {
            normalise(text)
        } else {
            let root = self.scope.repo_root.to_string_lossy();
            normalise(&format!("{root}/{text}"))
        };
        self.roots.iter().find_map(|root| {
            let below = absolute.strip_prefix(root.as_slice())?;
            (!below.is_empty()).then(|| below.join("/"))
        })
    }

    /// Maps a path to the root by resolving the links of the deepest folder that exists; the rest
    /// may be gone, as a deleted file is. Only for names that occur in the change, so that a
    /// model cannot make us look at arbitrary places.
    fn relative_by_links(&self, text: &str) -> Option<String> {
        let path = self.scope.repo_root.join(text);
        let name = path.file_name()?.to_string_lossy();
        if text.len() > MAX_PATH || !self.names.contains(name.as_ref()) {
            return None;
        }
        let (folder, real) = path
            .ancestors()
            .skip(1)
            .find_map(|folder| Some((folder, self.disk.resolve(folder)?)))?;
        let rest = path.strip_prefix(folder).ok()?;
        if rest.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let full = real.join(rest);
        let below = full.strip_prefix(&self.scope.real_root).ok()?;
        Some(repo_path(below).to_string())
    }
}

/// Splits an absolute path into components, without `.`, `..` and empty ones. A backslash is a
/// letter like any other, as it is for git.
fn normalise(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    for part in text.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name.to_owned()),
        }
    }
    parts
}

fn repo_path(relative: &Path) -> RepoPath {
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        RepoPath::new(relative.as_os_str().as_bytes())
    }
    #[cfg(not(unix))]
    {
        RepoPath::from(relative.to_string_lossy().replace('\\', "/").as_str())
    }
}

#[cfg(test)]
mod tests;
