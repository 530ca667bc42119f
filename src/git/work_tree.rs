//! Patches and lists made by the git executable.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

use diffwarden_actors::model::{Change, Failure, FilePatch, RepoPath};

use super::executable::{Git, Running, environment_failure};
use super::limits::{Budget, ReadLimits};
use super::parse::{ParseError, read_files};
use super::reveal::{binary_files, can_hide, names_of, reveal};
use super::unread;
use super::untracked::{LIST, split_names};

/// Everything that a setting could change about a patch, said aloud.
///
/// The commands are `diff-index` and `diff-tree`, which programs are meant to call: unlike `diff`
/// and `status` they do not read the settings made for people, so that neither a surprising nor a
/// broken one of those (`diff.orderFile`, `diff.context`, `status.*`) matters.
const DIFF: [&str; 15] = [
    "--patch",
    "--no-color",
    // No program prints the patch or converts what it shows.
    "--no-ext-diff",
    "--no-textconv",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--unified=3",
    "--inter-hunk-context=0",
    "--diff-algorithm=myers",
    "--indent-heuristic",
    "--find-renames=50%",
    "-l1000",
    // Only the commit a submodule points at; looking for changes inside it would run git there,
    // with the settings of that repository.
    "--submodule=short",
    "--ignore-submodules=dirty",
    "--full-index",
];

/// A list of changes: facts and names take turns, each ended by a NUL.
const RAW: [&str; 5] = [
    "--raw",
    "-z",
    "--no-renames",
    "--no-abbrev",
    "--ignore-submodules=dirty",
];

/// The order of the files is git's own.
const ORDER: &str = "-O/dev/null";

/// The most that the names of files which git must leave out may take on its command line, in
/// bytes; systems allow 2 MiB and more for everything together.
const MOST_EXCLUDED: usize = 1 << 20;

/// What is compared.
#[derive(Debug, Clone)]
enum Sides {
    /// Two trees or commits.
    Trees(String, String),
    /// A tree or commit, and the work tree.
    WorkTree(String),
}

/// Which paths are compared.
enum Paths<'p> {
    All,
    Only(&'p [RepoPath]),
    Without(&'p [RepoPath]),
}

/// A patch with what has to be said about it.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) files: Vec<FilePatch>,
    pub(super) untracked: Vec<RepoPath>,
}

/// A look at the work tree that is under way: what changed, and which files git does not know.
pub(super) struct Look {
    git: Git,
    sides: Sides,
    printing: Running,
    listing: Running,
}

impl Git {
    /// Returns the change between two trees or commits.
    pub(super) fn tree_patch(
        &self,
        old: &str,
        new: &str,
        budget: &mut Budget,
    ) -> Result<Vec<FilePatch>, Failure> {
        let sides = Sides::Trees(old.to_owned(), new.to_owned());
        let mut files = read_diff(self.start_diff(&[], &sides, &Paths::All)?, budget)?;
        self.reveal_text(&sides, &mut files, budget)?;
        Ok(files)
    }

    /// Starts to look at what differs from a tree or commit. The two lists are made side by side.
    pub(super) fn start_look(&self, base: &str) -> Result<Look, Failure> {
        let sides = Sides::WorkTree(base.to_owned());
        // The patch takes longer, so it is begun first.
        let printing = self.start_diff(&[], &sides, &Paths::All)?;
        Ok(Look {
            git: self.clone(),
            sides,
            printing,
            listing: self.start(LIST)?,
        })
    }

    /// Reveals the text that attributes made look binary.
    fn reveal_text(
        &self,
        sides: &Sides,
        files: &mut [FilePatch],
        budget: &mut Budget,
    ) -> Result<(), Failure> {
        let hidden = self.hidden_by_attribute(&binary_files(files))?;
        if !hidden.is_empty() {
            let names = names_of(&hidden);
            let printing = self.start_diff(&["--text"], sides, &Paths::Only(&names))?;
            reveal(files, read_diff(printing, budget)?);
        }
        Ok(())
    }

    fn start_diff(
        &self,
        options: &[&str],
        sides: &Sides,
        paths: &Paths<'_>,
    ) -> Result<Running, Failure> {
        let mut words: Vec<&OsStr> = Vec::new();
        if !matches!(paths, Paths::Without(_)) {
            words.push("--literal-pathspecs".as_ref());
        }
        match sides {
            Sides::Trees(..) => words.extend(["diff-tree", "-r"].map(OsStr::new)),
            Sides::WorkTree(_) => words.push("diff-index".as_ref()),
        }
        words.extend(DIFF.iter().chain([&ORDER]).chain(options).map(OsStr::new));
        match sides {
            Sides::Trees(old, new) => words.extend([old, new].map(OsStr::new)),
            Sides::WorkTree(base) => words.push(base.as_ref()),
        }
        words.push("--".as_ref());
        let paths: Vec<OsString> = match paths {
            Paths::All => Vec::new(),
            Paths::Only(paths) => paths.iter().map(|path| pathspec("", path)).collect(),
            Paths::Without(paths) => {
                let excluded = paths
                    .iter()
                    .map(|path| pathspec(":(top,exclude,literal)", path));
                [OsString::from(".")].into_iter().chain(excluded).collect()
            }
        };
        words.extend(paths.iter().map(OsString::as_os_str));
        self.start(words)
    }

    /// Returns the paths that may differ from `base`. Nothing is read for it, so that no file can
    /// end it.
    fn touched_paths(&self, base: &str) -> Result<Vec<RepoPath>, Failure> {
        let arguments = [&["diff-index"], &RAW[..], &[base, "--"]].concat();
        let listed = self.run(arguments)?.check()?;
        Ok(split_names(&listed.output).skip(1).step_by(2).collect())
    }

    /// Returns those of the binary files whose attributes could make text look binary.
    fn hidden_by_attribute<'f>(
        &self,
        binary: &[&'f FilePatch],
    ) -> Result<Vec<&'f FilePatch>, Failure> {
        /// Names per call, so that the command line stays far below the system's limit.
        const NAMES: usize = 200;
        let mut hidden = Vec::new();
        for files in binary.chunks(NAMES) {
            let words = ["check-attr", "-z", "diff", "--"].map(OsStr::new);
            let paths = files
                .iter()
                .map(|file| OsStr::from_bytes(file.path().as_bytes()));
            let answer = self.run(words.into_iter().chain(paths))?.check()?;
            // Name, attribute and value, each ended by a NUL, in the order of the names.
            let values = answer.output.split(|&byte| byte == 0).skip(2).step_by(3);
            let pairs = files.iter().zip(values);
            hidden.extend(
                pairs
                    .filter(|(_, value)| can_hide(value))
                    .map(|(file, _)| *file),
            );
        }
        Ok(hidden)
    }
}

/// A list of what is staged that git is making.
pub(super) struct Staged(Running);

impl Staged {
    /// Returns the facts of every staged change, with its path.
    pub(super) fn finish(mut self) -> Result<Vec<(Vec<u8>, RepoPath)>, Failure> {
        let list = self.0.read_all()?;
        self.0.finish()?.check()?;
        let mut fields = split_names(&list);
        let mut staged = Vec::new();
        while let (Some(facts), Some(path)) = (fields.next(), fields.next()) {
            staged.push((facts.as_bytes().to_vec(), path));
        }
        Ok(staged)
    }
}

impl Look {
    /// Starts to list what is staged.
    pub(super) fn start_staged(&self) -> Result<Staged, Failure> {
        let base = match &self.sides {
            Sides::WorkTree(base) | Sides::Trees(_, base) => base,
        };
        let arguments = [&["diff-index", "--cached"], &RAW[..], &[base, "--"]].concat();
        self.git.start(arguments).map(Staged)
    }

    /// Returns the change with the names of untracked files.
    pub(super) fn patch(self, root: &Path, budget: &mut Budget) -> Result<Collected, Failure> {
        let (git, sides) = (self.git.clone(), self.sides.clone());
        let mut collected = self.finish(root, budget)?;
        git.reveal_text(&sides, &mut collected.files, budget)?;
        Ok(collected)
    }

    /// Returns what changed, untracked files included, without any of its text.
    pub(super) fn changes(self, root: &Path) -> Result<Collected, Failure> {
        let nothing = ReadLimits {
            max_file_bytes: 0,
            max_patch_bytes: 0,
        };
        self.finish(root, &mut Budget::new(&nothing))
    }

    /// A file that cannot be read would end git, and hide all the others: then it is left out of
    /// the patch, and named.
    fn finish(mut self, root: &Path, budget: &mut Budget) -> Result<Collected, Failure> {
        let whole = budget.clone();
        let mut files = match read_diff(self.printing, budget) {
            Ok(files) => files,
            Err(failure) => {
                *budget = whole;
                without_unreadable(&self.git, &self.sides, root, budget, failure)?
            }
        };
        unread::correct_deletions(root, &mut files);
        let list = self.listing.read_all()?;
        let listed = self.listing.finish()?.check()?;
        files.extend(unread::closed_folders(&listed.message));
        Ok(Collected {
            files,
            untracked: split_names(&list).collect(),
        })
    }
}

fn without_unreadable(
    git: &Git,
    sides: &Sides,
    root: &Path,
    budget: &mut Budget,
    failure: Failure,
) -> Result<Vec<FilePatch>, Failure> {
    let Sides::WorkTree(base) = sides else {
        return Err(failure);
    };
    let Ok(touched) = git.touched_paths(base) else {
        return Err(failure);
    };
    let obstacles: Vec<_> = touched
        .into_iter()
        .filter_map(|path| unread::obstacle(root, &path).map(|reason| (path, reason)))
        .collect();
    let paths: Vec<_> = obstacles.iter().map(|(path, _)| path.clone()).collect();
    let size: usize = paths.iter().map(|path| path.as_bytes().len()).sum();
    if paths.is_empty() || size > MOST_EXCLUDED {
        return Err(failure);
    }
    let printing = git.start_diff(&[], sides, &Paths::Without(&paths))?;
    let mut files = read_diff(printing, budget)?;
    let named = obstacles
        .into_iter()
        .map(|(path, reason)| unread::block(path, Change::Modified, reason));
    files.extend(named);
    Ok(files)
}

fn pathspec(magic: &str, path: &RepoPath) -> OsString {
    OsString::from_vec([magic.as_bytes(), path.as_bytes()].concat())
}

/// Reads the patch that git is printing.
fn read_diff(mut printing: Running, budget: &mut Budget) -> Result<Vec<FilePatch>, Failure> {
    let files = read_files(&mut printing.output(), budget);
    // When git failed, its own words say more than the text that ends too early.
    printing.finish()?.check()?;
    files.map_err(|problem| unreadable_patch(&problem))
}

/// Returns the failure for a patch that does not parse.
pub(super) fn unreadable_patch(problem: &ParseError) -> Failure {
    environment_failure(format!("git's patch cannot be read: {problem}"))
        .hint("this is a fault in diffwarden, or in the version of git; please report it")
}

/// Returns the failure for a work tree whose root cannot be opened.
pub(super) fn unreadable_tree(root: &Path, error: &std::io::Error) -> Failure {
    environment_failure(format!(
        "cannot read the work tree at {}: {error}",
        root.display()
    ))
}
