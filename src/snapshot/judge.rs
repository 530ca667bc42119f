//! What of a tree is not written: what could harm a reviewer, and what no folder could hold.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;

use diffwarden_actors::model::{Failure, Patch, RepoPath};

use crate::git::{FrozenBlob, FrozenEntry, FrozenKind, FrozenTree};
use crate::intake::refuse::{self, Leads};

/// No path on any system is longer than this, in bytes.
const LONGEST_TARGET: u64 = 4096;
/// No system takes a longer name, in bytes.
const LONGEST_NAME: usize = 255;

/// Why a path is not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It is a link to a place that is not the tree's business.
    Link(Leads),
    /// The change edits it, and a reviewer would take orders from it.
    Instructions,
    /// Its name would leave the folder, or pass for git's own administration.
    Name,
    /// It cannot exist on this machine, or not beside the others.
    Unwritable,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(leads) => write!(f, "a symbolic link that {leads}"),
            Self::Instructions => f.write_str("a changed file that a reviewer takes orders from"),
            Self::Name => f.write_str("a name that no file of a repository may have"),
            Self::Unwritable => f.write_str("cannot be written on this machine"),
        }
    }
}

/// The paths that are not written, each with its reason.
pub type LeftOut = BTreeMap<RepoPath, Why>;

/// A tree that was judged.
#[derive(Debug)]
pub struct Judged {
    /// The tree.
    pub tree: FrozenTree,
    /// What of it is not written.
    pub left_out: LeftOut,
    /// Where the links lead that are written.
    pub links: BTreeMap<RepoPath, Vec<u8>>,
}

/// Judges every path of a tree. `instructions` are the names of files that reviewers take orders
/// from; such files are left out where the change edits them.
///
/// # Errors
///
/// When a link cannot be read.
pub(super) fn judge(
    tree: FrozenTree,
    patch: &Patch,
    instructions: &[&str],
) -> Result<Judged, Failure> {
    let links = read_links(&tree)?;
    let unsafe_instructions = refuse::unsafe_instructions(patch, instructions);
    let ordering: HashSet<&RepoPath> = unsafe_instructions.iter().map(|it| &it.path).collect();
    let mut left_out: LeftOut = tree
        .unusable
        .iter()
        .map(|path| (path.clone(), Why::Unwritable))
        .collect();
    let judge_link = LinkJudge::new(&links);
    for FrozenEntry { path, kind, .. } in &tree.entries {
        let why = judge_name(path).or_else(|| {
            if ordering.contains(path) {
                return Some(Why::Instructions);
            }
            let is_link = *kind == FrozenKind::Link;
            is_link.then(|| judge_link.judge(path)).flatten()
        });
        if let Some(why) = why {
            left_out.insert(path.clone(), why);
        }
    }
    let mut links: BTreeMap<_, _> = links
        .into_iter()
        .filter_map(|(path, target)| Some((path, target?)))
        .collect();
    links.retain(|path, _| !left_out.contains_key(path));
    Ok(Judged {
        tree,
        left_out,
        links,
    })
}

/// The links of a tree; those that are too long to lead anywhere have no target.
type Links = HashMap<RepoPath, Option<Vec<u8>>>;

fn read_links(tree: &FrozenTree) -> Result<Links, Failure> {
    let mut links = Links::new();
    let mut reader = None;
    for entry in tree.entries.iter().filter(|it| it.kind == FrozenKind::Link) {
        let reader = match &mut reader {
            Some(reader) => reader,
            none => none.insert(tree.reader()?),
        };
        let target = match reader.read(entry, LONGEST_TARGET)? {
            FrozenBlob::Contents(target) if !target.is_empty() && !target.contains(&0) => {
                Some(target)
            }
            _ => None,
        };
        links.insert(entry.path.clone(), target);
    }
    Ok(links)
}

/// Judges the names on a path.
fn judge_name(path: &RepoPath) -> Option<Why> {
    let names = path.as_bytes().split(|&byte| byte == b'/');
    let mut why = None;
    for name in names {
        if matches!(name, b"" | b"." | b"..") || name.contains(&0) || refuse::is_git(name) {
            return Some(Why::Name);
        }
        if name.len() > LONGEST_NAME {
            why = Some(Why::Unwritable);
        }
    }
    why
}

/// Follows links as file systems do that tell case apart, and as those that do not.
struct LinkJudge<'a> {
    links: &'a Links,
    folded: HashMap<Vec<u8>, &'a [u8]>,
}

impl<'a> LinkJudge<'a> {
    fn new(links: &'a Links) -> Self {
        let known = links.iter().filter_map(|(path, target)| {
            Some((path.as_bytes().to_ascii_lowercase(), target.as_deref()?))
        });
        Self {
            links,
            folded: known.collect(),
        }
    }

    fn judge(&self, path: &RepoPath) -> Option<Why> {
        let Some(Some(target)) = self.links.get(path) else {
            return Some(Why::Unwritable);
        };
        let exact = |path: &RepoPath| self.links.get(path).cloned().flatten();
        let folded = |path: &RepoPath| {
            let found = self.folded.get(&path.as_bytes().to_ascii_lowercase());
            found.map(|target| target.to_vec())
        };
        refuse::lead(path, target, &exact)
            .or_else(|| refuse::lead(path, target, &folded))
            .map(Why::Link)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_leave_the_folder_or_pass_for_git_are_never_written() {
        for name in [
            "../x",
            "a/../x",
            "/x",
            "a//b",
            "./x",
            "",
            ".git/config",
            "a/.GIT/x",
            "git~1/x",
            ".git./x",
            ".g\u{200c}it/x",
        ] {
            assert_eq!(judge_name(&name.into()), Some(Why::Name), "{name}");
        }
        for name in [
            "a",
            "a/b",
            ".github/x",
            ".gitignore",
            "a\\..\\b",
            "...",
            "x\n",
        ] {
            assert_eq!(judge_name(&name.into()), None, "{name}");
        }
        let long = "x".repeat(256);
        assert_eq!(judge_name(&long.as_str().into()), Some(Why::Unwritable));
    }

    #[test]
    fn links_are_judged_with_and_without_case() {
        let link =
            |path: &str, target: &str| (RepoPath::from(path), Some(target.as_bytes().to_vec()));
        let links: Links = [
            link("inside", "a/b"),
            link("out", "../x"),
            link("p/q/dir", "../.."),
            link("p/q/careless", "DIR/../x"),
            (RepoPath::from("long"), None),
        ]
        .into();
        let judge = LinkJudge::new(&links);
        assert_eq!(judge.judge(&"inside".into()), None);
        assert_eq!(judge.judge(&"p/q/dir".into()), None);
        assert_eq!(judge.judge(&"out".into()), Some(Why::Link(Leads::Out)));
        assert_eq!(judge.judge(&"long".into()), Some(Why::Unwritable));
        let careless = judge.judge(&"p/q/careless".into());
        assert_eq!(careless, Some(Why::Link(Leads::Out)));
    }
}
