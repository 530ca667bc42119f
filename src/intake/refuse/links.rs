//! Where symbolic links lead.

use std::fmt;

use diffwarden_actors::model::{FilePatch, LineKind, Mode, RepoPath};

use super::instructions::same_name;
use super::{Hazard, HazardKind};

/// Returns the text of the link at a path of the reviewed tree, `None` where there is none.
pub type ReadLink<'a> = dyn Fn(&RepoPath) -> Option<Vec<u8>> + 'a;

/// How many links are followed from one: what the kernel does, too.
const MOST_LINKS: usize = 40;

/// Where a link leads that nobody should follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leads {
    /// Above the root of the repository.
    Out,
    /// To an absolute path, which means something else on every machine.
    ToAbsolute,
    /// Into the repository's own administration.
    IntoGit,
    /// Through so many links that nobody can say.
    Round,
}

impl fmt::Display for Leads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Out => "leads out of the repository",
            Self::ToAbsolute => "leads to an absolute path",
            Self::IntoGit => "leads into .git",
            Self::Round => "leads through too many other links",
        })
    }
}

/// Returns the links that a change adds or edits and that lead where they should not.
pub(super) fn changed(files: &[FilePatch], read_link: &ReadLink<'_>) -> Vec<Hazard> {
    let mut hazards: Vec<Hazard> = Vec::new();
    for file in files {
        let Some(path) = &file.new_path else { continue };
        if !file
            .new_mode
            .or(file.old_mode)
            .is_some_and(Mode::is_symlink)
        {
            continue;
        }
        let leads = match text(file).or_else(|| read_link(path)) {
            Some(target) => lead(path, &target, read_link),
            // Too large or too strange to be read: nobody can say.
            None => Some(Leads::Round),
        };
        hazards.extend(leads.map(|leads| Hazard {
            path: path.clone(),
            kind: HazardKind::Link(leads),
        }));
    }
    hazards
}

/// Returns the new text of a link, when the patch shows it whole.
fn text(file: &FilePatch) -> Option<Vec<u8>> {
    let [hunk] = file.hunks() else { return None };
    let new: Vec<&[u8]> = hunk
        .lines
        .iter()
        .filter(|line| line.kind != LineKind::Removed)
        .map(|line| file.text(line))
        .collect();
    (!new.is_empty()).then(|| new.join(&b'\n'))
}

/// Follows a link through the reviewed tree. `None` when it stays inside, also when it leads to
/// nothing.
pub fn lead(path: &RepoPath, target: &[u8], read_link: &ReadLink<'_>) -> Option<Leads> {
    let mut place: Vec<Vec<u8>> = parts(path.as_bytes());
    place.pop();
    if is_absolute(target) {
        return Some(Leads::ToAbsolute);
    }
    // The parts still to walk, the next one last.
    let mut ahead: Vec<Vec<u8>> = parts(target);
    ahead.reverse();
    let mut followed = 0;
    while let Some(part) = ahead.pop() {
        if part == b".." {
            if place.pop().is_none() {
                return Some(Leads::Out);
            }
            continue;
        }
        if is_git(&part) {
            return Some(Leads::IntoGit);
        }
        place.push(part);
        let here = RepoPath::new(place.join(&b'/'));
        if let Some(next) = read_link(&here) {
            followed += 1;
            if followed > MOST_LINKS {
                return Some(Leads::Round);
            }
            if is_absolute(&next) {
                return Some(Leads::ToAbsolute);
            }
            place.pop();
            ahead.extend(parts(&next).into_iter().rev());
        }
    }
    None
}

fn parts(path: &[u8]) -> Vec<Vec<u8>> {
    let parts = path.split(|&byte| byte == b'/');
    let parts = parts.filter(|part| !part.is_empty() && *part != b".");
    parts.map(<[u8]>::to_vec).collect()
}

/// Whether a target does not start at the link; drive letters and shares count everywhere.
fn is_absolute(target: &[u8]) -> bool {
    target.starts_with(b"/")
        || target.starts_with(b"\\")
        || matches!(target, [drive, b':', ..] if drive.is_ascii_alphabetic())
}

/// Whether a name is that of the administration, on any file system: case does not matter, NTFS
/// has a short name for it, and HFS+ ignores some characters.
pub fn is_git(name: &[u8]) -> bool {
    const IGNORED: [char; 17] = [
        '\u{200c}', '\u{200d}', '\u{200e}', '\u{200f}', '\u{202a}', '\u{202b}', '\u{202c}',
        '\u{202d}', '\u{202e}', '\u{206a}', '\u{206b}', '\u{206c}', '\u{206d}', '\u{206e}',
        '\u{206f}', '\u{feff}', '\u{2060}',
    ];
    let visible: String = String::from_utf8_lossy(name)
        .chars()
        .filter(|character| !IGNORED.contains(character))
        .collect();
    // What follows a colon names a stream of the same file on NTFS.
    let name = visible.split(':').next().unwrap_or_default();
    same_name(name.as_bytes(), b".git") || same_name(name.as_bytes(), b"git~1")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn follow(path: &str, target: &str, links: &[(&str, &str)]) -> Option<Leads> {
        let links: HashMap<RepoPath, Vec<u8>> = links
            .iter()
            .map(|(path, target)| (RepoPath::from(*path), target.as_bytes().to_vec()))
            .collect();
        lead(&path.into(), target.as_bytes(), &|path| {
            links.get(path).cloned()
        })
    }

    #[test]
    fn links_that_stay_inside_are_no_hazard() {
        for (path, target) in [
            ("a", "b"),
            ("a/b/c", "../../d"),
            ("a/b", "./c/../d"),
            ("a", "missing/../b"),
            ("a", ".github/x"),
            ("a", ".gitignore"),
            ("a", "x.git"),
        ] {
            assert_eq!(follow(path, target, &[]), None, "{path} -> {target}");
        }
    }

    #[test]
    fn links_that_leave_are_told_apart() {
        for (path, target, leads) in [
            ("a", "..", Leads::Out),
            ("a", "../x", Leads::Out),
            ("a/b", "../../etc/passwd", Leads::Out),
            ("a/b", "c/../../../x", Leads::Out),
            ("a", "/etc/passwd", Leads::ToAbsolute),
            ("a", "/proc/self/environ", Leads::ToAbsolute),
            ("a", "C:\\Users", Leads::ToAbsolute),
            ("a", "\\\\host\\share", Leads::ToAbsolute),
            ("a", ".git", Leads::IntoGit),
            ("a", ".GIT/config", Leads::IntoGit),
            ("x/a", "../.git./config", Leads::IntoGit),
            ("a", "sub/.git/config", Leads::IntoGit),
            ("a", "git~1/config", Leads::IntoGit),
            ("a", ".g\u{200c}it/config", Leads::IntoGit),
            ("a", ".git::$INDEX_ALLOCATION/config", Leads::IntoGit),
        ] {
            assert_eq!(follow(path, target, &[]), Some(leads), "{path} -> {target}");
        }
    }

    #[test]
    fn chains_and_linked_folders_are_followed() {
        let links = [
            ("dir", "deep/er"),
            ("ext", "/etc"),
            ("up", "deep/er/way"),
            ("deep/er/way", "../../.."),
        ];
        assert_eq!(follow("a", "ext/passwd", &links), Some(Leads::ToAbsolute));
        assert_eq!(follow("a", "up/x", &links), Some(Leads::Out));
        assert_eq!(follow("a", "dir/../../x", &links), None);
        // The folder that a link leads to decides what `..` means.
        assert_eq!(follow("a", "dir/../../../x", &links), Some(Leads::Out));
        assert_eq!(
            follow("a", "b", &[("b", "c"), ("c", "b")]),
            Some(Leads::Round)
        );
        assert_eq!(
            follow("a", "b", &[("b", "c"), ("c", ".git/hooks")]),
            Some(Leads::IntoGit)
        );
    }

    proptest! {
        #[test]
        fn any_link_is_judged(
            path in "[a-c./]{1,12}",
            target in "\\PC{0,40}",
            links in proptest::collection::hash_map("[a-c/]{1,5}", "[a-c./]{0,8}", 0..6),
        ) {
            let links: HashMap<RepoPath, Vec<u8>> = links
                .into_iter()
                .map(|(path, target)| (RepoPath::from(&*path), target.into_bytes()))
                .collect();
            let _leads = lead(&(&*path).into(), target.as_bytes(), &|path| links.get(path).cloned());
        }
    }
}
