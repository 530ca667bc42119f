//! From a typed target to the resolved target and everything that belongs to it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use diffwarden_actors::model::{
    Degraded, DegradedTopic, Failure, FilePatch, Patch, RepoPath, ReviewTarget, TargetKind,
    TrustReason,
};
use diffwarden_actors::source::SourceReader;

use super::base::{Base, resolve_base};
use super::collect::Draft;
use super::history::{message_of, parents_of, shallow_boundary};
use super::limits::{Budget, ReadLimits};
use super::repository::{Repository, list, user_failure};
use super::revision::find_commit;
use super::source::{commit_source, work_tree_source};
use super::target::TargetSpec;
use super::unread;

/// What is said when the work tree holds another tree than the reviewed commit's.
pub(super) const ELSEWHERE: &str = "the work tree is not at the reviewed commit";

const UNCOMMITTED_COMMAND: &str = "git diff --staged && git diff && git ls-files --others --exclude-standard --exclude='.diffwarden/reports/**'";

/// How a target is resolved.
#[derive(Debug, Clone, Default)]
pub struct ResolveOptions {
    /// Adds what is not committed to a `base:` target.
    pub include_uncommitted: bool,
    /// A file, absolute and without links, that is no part of a change as long as git does not
    /// know it: the artifact of an earlier run, which this one replaces.
    pub exclude: Option<PathBuf>,
    /// How much is read.
    pub limits: ReadLimits,
}

/// A target with its change.
pub struct Resolved {
    /// The target as artifacts show it.
    pub target: ReviewTarget,
    /// What changed; empty for `custom:`.
    pub patch: Patch,
    /// What people should know about the choice of the change.
    pub degraded: Vec<Degraded>,
    /// What the choice of the change speaks against a clean result.
    pub doubts: Vec<TrustReason>,
    /// The commit whose files the change starts from; `None` when it starts from nothing, and for
    /// `custom:`.
    pub before: Option<String>,
    /// How many files of the patch, from its end, git does not know: nobody but the user put them
    /// there.
    pub untracked: usize,
    /// Whether the change leads to the work tree as it is, and not to a commit.
    pub has_work_tree: bool,
    /// The current branch; `None` on a detached HEAD.
    pub branch: Option<String>,
    /// The messages of the commits under review, newest first.
    pub commit_messages: Vec<String>,
    /// The text of the files after the change.
    pub source: Arc<dyn SourceReader>,
}

impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resolved")
            .field("target", &self.target)
            .field("degraded", &self.degraded)
            .field("doubts", &self.doubts)
            .finish_non_exhaustive()
    }
}

impl Resolved {
    /// Takes back that the work tree is another than the reviewed one: engines do not see it.
    pub fn forget_work_tree(doubts: &mut Vec<TrustReason>, degraded: &mut Vec<Degraded>) {
        doubts.retain(|doubt| *doubt != TrustReason::TreeDiffers);
        degraded.retain(|it| it.message != ELSEWHERE);
    }
}

impl Repository {
    /// Resolves every name of a target and collects its change.
    ///
    /// # Errors
    ///
    /// `invalid_cli` where the target does not name a change of this repository, and
    /// `missing_requirement` where only the git executable could make the patch and there is
    /// none. A repository that cannot be read is `reviewer_environment_failed`.
    pub fn resolve(
        &self,
        spec: &TargetSpec,
        options: &ResolveOptions,
    ) -> Result<Resolved, Failure> {
        match spec {
            TargetSpec::Uncommitted => self.resolve_uncommitted(options),
            TargetSpec::Base(branch) => self.resolve_branch(branch, options),
            TargetSpec::Commit(_) | TargetSpec::Custom(_) if options.include_uncommitted => {
                Err(user_failure(
                    "--include-uncommitted goes with a `base:` target, not with `commit:` or `custom:`",
                ))
            }
            TargetSpec::Commit(name) => self.resolve_commit(name, options),
            TargetSpec::Custom(text) => self.resolve_custom(text),
        }
    }

    fn resolve_uncommitted(&self, options: &ResolveOptions) -> Result<Resolved, Failure> {
        let head = self.history()?.head()?;
        let mut budget = Budget::new(&options.limits);
        let draft = self.work_tree_draft(head.as_deref(), options, &mut budget)?;
        let mut target = self.target(TargetKind::Uncommitted, UNCOMMITTED_COMMAND);
        target.head_sha.clone_from(&head);
        target.changed_files = sorted_names(&draft.files);
        self.finish(
            target,
            head,
            draft,
            Vec::new(),
            Arc::new(work_tree_source(&self.root)),
        )
    }

    fn resolve_branch(&self, branch: &str, options: &ResolveOptions) -> Result<Resolved, Failure> {
        let history = self.history()?;
        let Base {
            head,
            base,
            warning,
        } = resolve_base(self, branch)?;
        let mut budget = Budget::new(&options.limits);
        let mut draft;
        let mut target = self.target(TargetKind::Base, "");
        let source: Arc<dyn SourceReader> = if options.include_uncommitted {
            draft = self.work_tree_draft(Some(&base), options, &mut budget)?;
            target.diff_command = format!(
                "git diff {base} && git ls-files --others --exclude-standard --exclude='.diffwarden/reports/**'"
            );
            target.changed_files = sorted_names(&draft.files);
            Arc::new(work_tree_source(&self.root))
        } else {
            let check = self.start_dirty_check(Some(&head))?;
            draft = self.commit_draft(Some(&base), &head, &mut budget)?;
            target.diff_command = format!("git diff {base} HEAD");
            target.changed_files = names(&draft.files);
            let dirty = self.dirty_paths(check, options)?;
            if !dirty.is_empty() {
                let message = left_out(&dirty);
                let entry = Degraded::actionable(DegradedTopic::WorkTree, message);
                draft.degraded.push(entry);
                draft.doubts.push(TrustReason::TreeDiffers);
            }
            Arc::new(self.commit_source(&head))
        };
        let newer = warning.map(|it| Degraded::actionable(DegradedTopic::DiffSource, it));
        draft.degraded.extend(newer);
        target.base_ref = Some(branch.to_owned());
        target.base_sha = Some(base.clone());
        let messages = history.messages(&base, &head)?;
        target.head_sha = Some(head);
        self.finish(target, Some(base), draft, messages, source)
    }

    fn resolve_commit(&self, name: &str, options: &ResolveOptions) -> Result<Resolved, Failure> {
        let history = self.history()?;
        let commit = find_commit(history, name)?;
        let raw = history.raw_commit(&commit)?;
        let parent = parents_of(&raw).into_iter().next();
        if parent.is_some() && shallow_boundary(&self.common_dir).contains(&commit) {
            return Err(user_failure(format!(
                "the clone is shallow and ends at {commit}: its parent is not here, so what it changed is not known"
            ))
            .hint(UNSHALLOW));
        }
        let mut budget = Budget::new(&options.limits);
        let is_head = history.head()?.as_ref() == Some(&commit);
        let check = is_head
            .then(|| self.start_dirty_check(Some(&commit)))
            .transpose()?;
        let mut draft = self.commit_draft(parent.as_deref(), &commit, &mut budget)?;
        let is_there = match check {
            Some(check) => self.dirty_paths(check, options)?.is_empty(),
            None => false,
        };
        if !is_there {
            draft.doubts.push(TrustReason::TreeDiffers);
            let entry = Degraded::warning(DegradedTopic::WorkTree, ELSEWHERE);
            draft.degraded.push(entry);
        }
        let command = match &parent {
            Some(parent) => format!("git diff {parent} {commit}"),
            None => format!("git diff-tree --root --patch --no-commit-id {commit}"),
        };
        let mut target = self.target(TargetKind::Commit, &command);
        target.changed_files = names(&draft.files);
        let source = Arc::new(self.commit_source(&commit));
        target.commit_sha = Some(commit);
        self.finish(target, parent, draft, vec![message_of(&raw)], source)
    }

    fn resolve_custom(&self, text: &str) -> Result<Resolved, Failure> {
        let mut target = self.target(TargetKind::Custom, "custom instructions");
        target.head_sha = self.history()?.head()?;
        target.instructions = Some(text.to_owned());
        let draft = Draft::default();
        self.finish(
            target,
            None,
            draft,
            Vec::new(),
            Arc::new(work_tree_source(&self.root)),
        )
    }

    fn target(&self, kind: TargetKind, command: &str) -> ReviewTarget {
        ReviewTarget {
            kind,
            repo_root: self.root.to_string_lossy().into_owned(),
            base_ref: None,
            base_sha: None,
            head_sha: None,
            commit_sha: None,
            instructions: None,
            diff_command: command.to_owned(),
            changed_files: Vec::new(),
        }
    }

    fn finish(
        &self,
        target: ReviewTarget,
        before: Option<String>,
        mut draft: Draft,
        commit_messages: Vec<String>,
        source: Arc<dyn SourceReader>,
    ) -> Result<Resolved, Failure> {
        let submodules = submodule_warning(&draft.files);
        let unread = unread::warning(&draft.files);
        let unread = unread.map(|it| Degraded::actionable(DegradedTopic::DiffSource, it));
        let submodules = submodules.map(|it| Degraded::info(DegradedTopic::DiffSource, it));
        draft.degraded.extend(submodules.into_iter().chain(unread));
        Ok(Resolved {
            target,
            patch: Patch { files: draft.files },
            untracked: draft.untracked,
            has_work_tree: draft.is_of_work_tree,
            before,
            degraded: draft.degraded,
            doubts: draft.doubts,
            branch: self.history()?.branch()?,
            commit_messages,
            source,
        })
    }

    fn commit_source(&self, commit: &str) -> impl SourceReader + use<> {
        let git = self.git.clone().filter(|_| self.library.is_none());
        commit_source(&self.root, git, commit)
    }
}

/// Advice for clones that lack history.
pub(super) const UNSHALLOW: &str =
    "fetch the history first: `git fetch --unshallow`, or `fetch-depth: 0` in a CI checkout";

/// Returns the changed paths in the order of the patch, each once.
fn names(files: &[FilePatch]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(files.len());
    let mut seen = std::collections::HashSet::with_capacity(files.len());
    for file in files {
        if seen.insert(file.path()) {
            names.push(file.path().to_string());
        }
    }
    names
}

/// Returns the changed paths sorted by UTF-16 code unit, each once: the order of consumers that
/// sort such names themselves.
fn sorted_names(files: &[FilePatch]) -> Vec<String> {
    let mut names = names(files);
    names.sort_by(|a, b| a.encode_utf16().cmp(b.encode_utf16()));
    names
}

fn left_out(dirty: &[RepoPath]) -> String {
    let (are, they) = if dirty.len() == 1 {
        ("1 changed file of the work tree is", "it")
    } else {
        (
            &*format!("{} changed files of the work tree are", dirty.len()),
            "them",
        )
    };
    format!(
        "{are} not part of this review: {}; commit {they}, or use --include-uncommitted",
        list(dirty.iter())
    )
}

fn submodule_warning(files: &[FilePatch]) -> Option<String> {
    let moved: Vec<_> = files
        .iter()
        .filter(|file| file.is_submodule())
        .map(FilePatch::path)
        .collect();
    (!moved.is_empty()).then(|| {
        format!(
            "of a submodule only the commit it points to is reviewed, not what changed inside: {}",
            list(moved.iter().copied())
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_as_utf_16() {
        let mut files = Vec::new();
        for name in ["\u{ff5e}", "b", "\u{1f600}", "a", "b"] {
            files.push(crate::git::parse::note_block(name.into(), "note"));
        }
        assert_eq!(sorted_names(&files), ["a", "b", "\u{1f600}", "\u{ff5e}"]);
        assert_eq!(names(&files), ["\u{ff5e}", "b", "\u{1f600}", "a"]);
    }

    #[test]
    fn warnings_name_only_the_first_paths() {
        let paths: Vec<RepoPath> = (0..13).map(|n| RepoPath::from(&*format!("f{n}"))).collect();
        let text = left_out(&paths);
        assert!(text.starts_with("13 changed files"), "{text}");
        assert!(text.contains("f9, and 3 more;"), "{text}");
        assert!(!left_out(&paths[..1]).contains("more"));
    }
}
