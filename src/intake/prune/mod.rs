//! Pruning: which changed files a reviewer should not spend time on.
//!
//! Lockfiles, build output, minified files, source maps and generated code stay in the list of
//! changed files and in the coverage, and the integrity scans still read their added lines; only
//! their diff is not sent. Every pruned file carries the rule that pruned it.
//!
//! What must stay true: nothing a change adds can prune code of that same change. Attributes are
//! read from the side before the change; a header counts only where it stood before too, or where
//! the name of a new file says the same; a name alone prunes only what nobody writes by hand.

mod attributes;
mod header;
mod minified;
mod names;

#[cfg(test)]
mod cases;

use diffwarden_actors::model::{FilePatch, Patch, RepoPath};
use diffwarden_actors::source::SourceReader;

use attributes::{Attributes, Says};
use names::{NameRule, Trust};

/// Reads a file as it was before the change; `None` when there was none or it cannot be read.
pub type ReadBefore<'a> = dyn Fn(&RepoPath) -> Option<Vec<u8>> + 'a;

/// What pruning looks at.
#[derive(Clone, Copy)]
pub struct PruneInput<'a> {
    /// The whole change.
    pub patch: &'a Patch,
    /// The files before it.
    pub base: &'a ReadBefore<'a>,
    /// The files after it.
    pub source: &'a dyn SourceReader,
}

/// Which files of a patch are not sent, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruning {
    /// For each file of the patch, in its order, the reason it is left out.
    pub reasons: Vec<Option<Pruned>>,
    /// What people should know about the choice, a sentence each.
    pub notes: Vec<String>,
}

/// Why a file is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pruned {
    /// The kind of file, such as `lockfile`.
    pub rule: &'static str,
    /// Who says so.
    pub source: Source,
}

/// Who says that a file is not worth reading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Its name.
    Name,
    /// Its name and its contents.
    Contents,
    /// A mark at its top, there before the change as well.
    Header,
    /// The repository's attributes, as they were before the change.
    Attributes,
}

impl Pruned {
    /// Returns the reason as the coverage shows it, such as `lockfile (by its name)`.
    pub fn describe(&self) -> String {
        let source = match self.source {
            Source::Name => "by its name",
            Source::Contents => "by its name and contents",
            Source::Header => "by the mark at its top",
            Source::Attributes => "by .gitattributes before the change",
        };
        format!("{} ({source})", self.rule)
    }
}

impl Pruning {
    /// Returns a pruning that leaves every file of the patch in.
    pub fn none(patch: &Patch) -> Self {
        Self {
            reasons: vec![None; patch.files.len()],
            notes: Vec::new(),
        }
    }

    /// Whether there is a change and none of its files is sent.
    pub fn is_total(&self) -> bool {
        !self.reasons.is_empty() && self.reasons.iter().all(Option::is_some)
    }
}

/// Decides for every file of a patch whether it is sent.
pub fn prune(input: &PruneInput<'_>) -> Pruning {
    let files = &input.patch.files;
    let attributes = Attributes::read(files.iter().map(FilePatch::path), input.base);
    let reasons = files
        .iter()
        .map(|file| judge(file, input, &attributes))
        .collect();
    Pruning {
        reasons,
        notes: changed_attributes(files).into_iter().collect(),
    }
}

fn judge(file: &FilePatch, input: &PruneInput<'_>, attributes: &Attributes) -> Option<Pruned> {
    // A link or a submodule is one line that says where it leads.
    if file.is_submodule()
        || [file.old_mode, file.new_mode]
            .iter()
            .flatten()
            .any(|mode| mode.is_symlink())
    {
        return None;
    }
    let pruned = |rule, source| Some(Pruned { rule, source });
    match attributes.of(file.path()) {
        Says::Keep => return None,
        Says::Prune(rule) => return pruned(rule, Source::Attributes),
        Says::Nothing => {}
    }
    let by_name = names::find(file.path());
    match by_name {
        Some(NameRule {
            rule,
            trust: Trust::Name,
        }) => return pruned(rule, Source::Name),
        Some(NameRule {
            rule,
            trust: Trust::Dense,
        }) if minified::is_dense(file) => {
            return pruned(rule, Source::Contents);
        }
        Some(NameRule {
            rule,
            trust: Trust::SourceMap,
        }) if minified::is_source_map(file) => {
            return pruned(rule, Source::Contents);
        }
        _ => {}
    }
    let generated = by_name.filter(|found| found.trust == Trust::Header);
    header::is_marked(file, generated.is_some(), input).then_some(Pruned {
        rule: "generated code",
        source: Source::Header,
    })
}

/// Says that new rules of the change itself are not followed.
fn changed_attributes(files: &[FilePatch]) -> Option<String> {
    let changed = files
        .iter()
        .map(FilePatch::path)
        .find(|path| attributes::is_attribute_file(path))?;
    Some(format!(
        "the change edits {changed}: which files are left out of the review follows the attributes from before it"
    ))
}
