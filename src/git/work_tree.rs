//! Patches and lists made by the git executable.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use diffwarden_actors::model::{Failure, FilePatch, RepoPath};

use super::executable::{Finished, Git, Running, environment_failure};
use super::limits::Budget;
use super::parse::{ParseError, read_files};
use super::reveal::{binary_files, can_hide, names_of, reveal};
use super::untracked::{LIST, REPORTS, split_names};

/// Everything that a setting could change about a patch, said aloud.
const DIFF: [&str; 16] = [
    "diff",
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

/// The order of the files is git's own.
const ORDER: &str = "-O/dev/null";

/// A patch with what has to be said about it.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pub(super) files: Vec<FilePatch>,
    pub(super) untracked: Vec<RepoPath>,
    pub(super) warnings: Vec<String>,
}

impl Git {
    /// Returns the change between two trees or commits.
    pub(super) fn tree_patch(
        &self,
        old: &str,
        new: &str,
        budget: &mut Budget,
    ) -> Result<Vec<FilePatch>, Failure> {
        let revisions = [old, new];
        let printing = self.start_diff(&[], &revisions, &[])?;
        let (files, _) = self.finish_diff(printing, &revisions, budget)?;
        Ok(files)
    }

    /// Returns the change from a tree or commit to the work tree, with the names of untracked
    /// files. The two lists are made side by side.
    pub(super) fn work_tree_patch(
        &self,
        base: &str,
        budget: &mut Budget,
    ) -> Result<Collected, Failure> {
        // The patch takes longer, so it is begun first.
        let printing = self.start_diff(&[], &[base], &[])?;
        let mut listing = self.start(LIST)?;
        let (files, said) = self.finish_diff(printing, &[base], budget)?;
        let list = listing.read_all()?;
        let listed = listing.finish()?.check()?;
        let warnings = warnings_in(&said).chain(warnings_in(&listed)).collect();
        Ok(Collected {
            files,
            untracked: split_names(&list).collect(),
            warnings,
        })
    }

    /// Starts to look for what differs from HEAD; see [`dirty_paths`].
    pub(super) fn start_status(&self) -> Result<Running, Failure> {
        self.start([
            "status",
            "--porcelain=v1",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            "--ignore-submodules=dirty",
        ])
    }

    /// Reads a patch, and reveals the text that attributes made look binary.
    fn finish_diff(
        &self,
        printing: Running,
        revisions: &[&str],
        budget: &mut Budget,
    ) -> Result<(Vec<FilePatch>, Finished), Failure> {
        let (mut files, finished) = read_diff(printing, budget)?;
        let hidden = self.hidden_by_attribute(&binary_files(&files))?;
        if !hidden.is_empty() {
            let names = names_of(&hidden);
            let printing = self.start_diff(&["--text"], revisions, &names)?;
            let (text, _) = read_diff(printing, budget)?;
            reveal(&mut files, text);
        }
        Ok((files, finished))
    }

    fn start_diff(
        &self,
        options: &[&str],
        revisions: &[&str],
        paths: &[RepoPath],
    ) -> Result<Running, Failure> {
        let words = ["--literal-pathspecs"].iter().chain(&DIFF).chain([&ORDER]);
        let words = words.chain(options).chain(revisions).chain([&"--"]);
        let paths = paths.iter().map(|path| OsStr::from_bytes(path.as_bytes()));
        self.start(words.map(OsStr::new).chain(paths))
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

/// Reads the patch that git is printing.
fn read_diff(
    mut printing: Running,
    budget: &mut Budget,
) -> Result<(Vec<FilePatch>, Finished), Failure> {
    let files = read_files(&mut printing.output(), budget);
    // When git failed, its own words say more than the text that ends too early.
    let finished = printing.finish()?.check()?;
    let files = files.map_err(|problem| unreadable_patch(&problem))?;
    Ok((files, finished))
}

/// Returns the paths that differ from HEAD, when `status` has ended. Untracked ones are among them,
/// except what `is_excluded`.
pub(super) fn dirty_paths(
    mut status: Running,
    is_excluded: impl Fn(&RepoPath) -> bool,
) -> Result<Vec<RepoPath>, Failure> {
    let list = status.read_all()?;
    status.finish()?.check()?;
    // Two letters and a blank come before each name.
    let entries = split_names(&list).filter_map(|entry| {
        let (letters, path) = entry.as_bytes().split_at_checked(3)?;
        Some((letters == b"?? ", RepoPath::new(path)))
    });
    Ok(entries
        .filter(|(_, path)| !path.as_bytes().starts_with(REPORTS))
        .filter(|(is_untracked, path)| !(*is_untracked && is_excluded(path)))
        .map(|(_, path)| path)
        .collect())
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

/// Returns what git could not look into. Its other warnings are about speed and line ends.
fn warnings_in(finished: &Finished) -> impl Iterator<Item = String> {
    let lines = finished.message.lines();
    lines
        .filter(|line| line.starts_with("warning: could not open"))
        .map(|line| format!("git: {line}"))
}
