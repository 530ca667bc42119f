//! Patches made by libgit2, where that gives the same as git.
//!
//! Whether it does is decided from the list of changed files before any of them is read. Its
//! output goes through the parser that reads git's.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use diffwarden_actors::model::{Failure, FilePatch, RepoPath};
use git2::{
    AttrCheckFlags, AttrValue, Delta, Diff, DiffFindOptions, DiffFormat, DiffLineType, DiffOptions,
    Repository, Status, StatusOptions,
};

use super::library::{Library, failure, oid};
use super::limits::Budget;
use super::parse::{ParseError, Parser};
use super::reveal::{binary_files, can_hide, names_of, reveal};
use super::untracked::REPORTS;
use super::work_tree::{Collected, unreadable_patch};

/// Attributes that make libgit2 print something else than git for a file of the work tree.
const SPECIAL_ATTRIBUTES: [&str; 3] = ["filter", "working-tree-encoding", "diff"];

/// What libgit2 made of a request: the value, or why it would not be the same as git's.
pub(super) type Answer<T> = Result<Result<T, String>, Failure>;

impl Library {
    /// Returns the change from one commit to another; `old` is absent for a root commit.
    pub(super) fn commit_patch(
        &self,
        old: Option<&str>,
        new: &str,
        budget: &mut Budget,
    ) -> Answer<Vec<FilePatch>> {
        if let Err(error) = self.index_opens() {
            return Ok(Err(error.message().to_owned()));
        }
        let tree = |id: &str| {
            let commit = self.0.find_commit(oid(id)?).map_err(failure)?;
            commit.tree().map_err(failure)
        };
        let old = old.map(tree).transpose()?;
        let new = tree(new)?;
        let diff = |options: &mut DiffOptions| {
            self.0
                .diff_tree_to_tree(old.as_ref(), Some(&new), Some(options))
                .map_err(failure)
        };
        let mut whole = diff(&mut options())?;
        if (whole.deltas()).any(|delta| delta.status() == Delta::Typechange) {
            return Ok(Err("a file changes its type".to_owned()));
        }
        let mut files = print(&mut whole, budget)?;
        let mut hidden = binary_files(&files);
        hidden.retain(|file| self.is_hidden_by_attribute(file.path()));
        if !hidden.is_empty() {
            let mut as_text = options();
            as_text.force_text(true).disable_pathspec_match(true);
            for name in names_of(&hidden) {
                as_text.pathspec(name.as_bytes());
            }
            let text = print(&mut diff(&mut as_text)?, budget)?;
            reveal(&mut files, text);
        }
        Ok(Ok(files))
    }

    fn is_hidden_by_attribute(&self, path: &RepoPath) -> bool {
        let path = Path::new(std::ffi::OsStr::from_bytes(path.as_bytes()));
        let flags = AttrCheckFlags::FILE_THEN_INDEX;
        match self
            .0
            .get_attr_bytes(path, "diff", flags)
            .map(AttrValue::from_bytes)
        {
            Ok(AttrValue::Unspecified | AttrValue::True) => false,
            Ok(AttrValue::Bytes(value)) => can_hide(value),
            _ => true,
        }
    }

    /// Returns the change from a commit to the work tree, everything staged included; `base` is
    /// absent before the first commit.
    pub(super) fn work_tree_patch(
        &self,
        base: Option<&str>,
        budget: &mut Budget,
    ) -> Answer<Collected> {
        match self.0.index() {
            Err(error) => return Ok(Err(error.message().to_owned())),
            Ok(index) if index.has_conflicts() => return Ok(Err("it has conflicts".to_owned())),
            Ok(_) => {}
        }
        let commit = base
            .map(|id| self.0.find_commit(oid(id)?).map_err(failure))
            .transpose()?;
        let tree = commit
            .map(|commit| commit.tree())
            .transpose()
            .map_err(failure)?;
        let diff = |options: &mut DiffOptions| {
            self.0
                .diff_tree_to_workdir_with_index(tree.as_ref(), Some(options))
                .map_err(failure)
        };
        let mut listed = options();
        listed
            .include_untracked(true)
            .recurse_untracked_dirs(true)
            .include_unreadable(true);
        let mut untracked = Vec::new();
        for delta in diff(&mut listed)?.deltas() {
            let path = delta.new_file().path_bytes().unwrap_or_default();
            if delta.status() == Delta::Untracked {
                untracked.push(RepoPath::new(path));
            } else if let Some(reason) = self.special(delta.status(), path) {
                return Ok(Err(reason));
            }
        }
        untracked.retain(|path| !path.as_bytes().starts_with(REPORTS));
        let files = print(&mut diff(&mut options())?, budget)?;
        Ok(Ok(Collected {
            files,
            untracked,
            warnings: Vec::new(),
        }))
    }

    /// Returns the paths that differ from HEAD. Untracked ones are among them, except what
    /// `is_excluded`.
    pub(super) fn dirty_paths(
        &self,
        is_excluded: impl Fn(&RepoPath) -> bool,
    ) -> Result<Vec<RepoPath>, Failure> {
        let mut options = StatusOptions::new();
        options.include_untracked(true).recurse_untracked_dirs(true);
        let statuses = self.0.statuses(Some(&mut options)).map_err(failure)?;
        let dirty = statuses
            .iter()
            .filter(|entry| entry.status() != Status::CURRENT)
            .map(|entry| {
                let is_untracked = entry.status() == Status::WT_NEW;
                (is_untracked, RepoPath::new(entry.path_bytes()))
            });
        Ok(dirty
            .filter(|(_, path)| !path.as_bytes().starts_with(REPORTS))
            .filter(|(is_untracked, path)| !(*is_untracked && is_excluded(path)))
            .map(|(_, path)| path)
            .collect())
    }

    /// Returns why a changed file needs git.
    fn special(&self, status: Delta, path: &[u8]) -> Option<String> {
        let name = || String::from_utf8_lossy(path).into_owned();
        match status {
            Delta::Typechange => return Some(format!("`{}` changes its type", name())),
            Delta::Conflicted => return Some(format!("`{}` has a conflict", name())),
            Delta::Unreadable => return Some(format!("`{}` cannot be read", name())),
            // Out of the index, but still there: git shows both halves.
            Delta::Deleted if self.lies_in_work_tree(path) => {
                return Some(format!("`{}` is no longer tracked", name()));
            }
            _ => {}
        }
        let attribute = has_special_attribute(&self.0, path)?;
        Some(format!("`{}` has the attribute `{attribute}`", name()))
    }

    fn lies_in_work_tree(&self, path: &[u8]) -> bool {
        let path = Path::new(std::ffi::OsStr::from_bytes(path));
        self.0
            .workdir()
            .is_some_and(|root| root.join(path).symlink_metadata().is_ok())
    }
}

fn has_special_attribute(repository: &Repository, path: &[u8]) -> Option<&'static str> {
    let path = Path::new(std::ffi::OsStr::from_bytes(path));
    SPECIAL_ATTRIBUTES.into_iter().find(|name| {
        let value = repository.get_attr_bytes(path, name, AttrCheckFlags::FILE_THEN_INDEX);
        match value.map(AttrValue::from_bytes) {
            Ok(AttrValue::Unspecified) => false,
            // `diff` without a driver only says that the file is text.
            Ok(AttrValue::True) => *name != "diff",
            _ => true,
        }
    })
}

/// The options that give what the hardened git command gives.
fn options() -> DiffOptions {
    let mut options = DiffOptions::new();
    options
        .context_lines(3)
        .interhunk_lines(0)
        .indent_heuristic(true)
        .id_abbrev(40)
        .old_prefix("a")
        .new_prefix("b")
        .include_typechange(true);
    options
}

/// Prints a diff into the parser.
fn print(diff: &mut Diff<'_>, budget: &mut Budget) -> Result<Vec<FilePatch>, Failure> {
    let mut similar = DiffFindOptions::new();
    similar
        .renames(true)
        .rename_threshold(50)
        .rename_limit(1000);
    diff.find_similar(Some(&mut similar)).map_err(failure)?;

    let mut parser = Parser::new(budget);
    let mut problem: Option<ParseError> = None;
    let mut buffer = Vec::new();
    let printed = diff.print(DiffFormat::Patch, |_, _, line| {
        let fed = feed(
            &mut parser,
            line.origin_value(),
            line.content(),
            &mut buffer,
        );
        problem = fed.err();
        problem.is_none()
    });
    if let Some(problem) = problem {
        return Err(unreadable_patch(&problem));
    }
    printed.map_err(failure)?;
    parser
        .finish()
        .map_err(|problem| unreadable_patch(&problem))
}

/// Hands a piece of libgit2's output to the parser as the lines git would print.
fn feed(
    parser: &mut Parser<'_>,
    kind: DiffLineType,
    content: &[u8],
    buffer: &mut Vec<u8>,
) -> Result<(), ParseError> {
    let sign = match kind {
        DiffLineType::Addition => b'+',
        DiffLineType::Deletion => b'-',
        DiffLineType::Context => b' ',
        _ => {
            let lines = content.split(|&byte| byte == b'\n');
            return lines
                .filter(|line| !line.is_empty())
                .try_for_each(|line| parser.line(line, 0));
        }
    };
    buffer.clear();
    buffer.push(sign);
    buffer.extend_from_slice(content.strip_suffix(b"\n").unwrap_or(content));
    parser.line(buffer, 0)
}
