//! Integrity scans: what no model may talk away. Their findings follow SPEC 7.2.
//!
//! Five scans look at every added line of every changed file, pruned files included, and at the
//! paths, the commit messages and the branch name: hidden Unicode, credentials, sensitive file
//! names, text addressed to a reviewer, and merge markers. They are pure functions of their input:
//! the same patch gives the same findings in the same order. No finding ever repeats a secret or a
//! hidden character; the words of a finding are diffwarden's own, never the patch's.

mod addressed;
pub(super) mod credentials;
mod decode;
mod markers;
mod report;
mod sensitive;
pub(super) mod text;
mod unicode;

#[cfg(test)]
mod cases;
#[cfg(test)]
mod properties;

use std::ops::Range;
use std::path::Path;
use std::thread;

use diffwarden_actors::engine::CancelToken;
use diffwarden_actors::model::{Anchor, Change, FilePatch, Finding, Patch, RepoPath};

pub use credentials::Allowlist;
use report::Report;
use text::{PathKind, Text};

/// The scans, as people read their names.
pub const SCAN_NAMES: [&str; 5] = [
    "hidden Unicode",
    "credentials",
    "sensitive files",
    "text addressed to a reviewer",
    "merge markers",
];

/// A change with more text than this is scanned on several threads, in bytes: below it, a thread
/// takes longer to start than it saves.
const LARGE: usize = 1 << 20;
/// The most threads: there is little left to gain beyond.
const MOST_THREADS: usize = 8;

/// What the scans look at.
#[derive(Debug, Clone, Copy)]
pub struct ScanInput<'a> {
    /// The whole change, before anything is pruned.
    pub patch: &'a Patch,
    /// The root of the work tree; findings carry paths below it.
    pub repo_root: &'a Path,
    /// The messages of the reviewed commits, newest first or in any other stable order.
    pub commit_messages: &'a [String],
    /// The name of the current branch, if there is one.
    pub branch: Option<&'a str>,
    /// Which credentials the repository allowed before the change.
    pub allow: &'a Allowlist,
}

/// Returns where a text holds credentials that can be told by their shape alone, in order.
pub fn credential_shapes(text: &str) -> Vec<Range<usize>> {
    credentials::shapes(text.as_bytes())
}

/// Returns what the scans found, in the order of the files, then of lines, then of rules; commit
/// messages and the branch name come last.
///
/// A finding without a line of code has an [`Anchor`] and the range 1-1; for a commit message and
/// a branch name its path is the repository root. A cancelled scan returns what it has so far.
pub fn scan(input: &ScanInput<'_>, cancel: &CancelToken) -> Vec<Finding> {
    let mut findings = scan_files(input, cancel);
    let root = input.repo_root.to_string_lossy();
    for message in input.commit_messages {
        if cancel.is_cancelled() {
            return findings;
        }
        scan_words(
            message,
            &root,
            Anchor::CommitMessage,
            input.allow,
            &mut findings,
        );
    }
    if let Some(branch) = input.branch {
        scan_words(branch, &root, Anchor::Branch, input.allow, &mut findings);
    }
    findings
}

/// Scans the files, those of a large change on several threads.
fn scan_files(input: &ScanInput<'_>, cancel: &CancelToken) -> Vec<Finding> {
    let files = &input.patch.files;
    let bytes: usize = files.iter().map(|file| file.content.len()).sum();
    let threads = match thread::available_parallelism() {
        Ok(count) if bytes >= LARGE => count.get().min(MOST_THREADS),
        _ => 1,
    };
    let share = files.len().div_ceil(threads).max(1);
    let scan = |files: &[FilePatch]| scan_some(files, input, cancel);
    thread::scope(|scope| {
        // The last share is this thread's own, so that a small change starts no other.
        let (own, others) = split_last_share(files, share);
        let others: Vec<_> = others
            .chunks(share)
            .map(|files| scope.spawn(move || scan(files)))
            .collect();
        let own = scan(own);
        let mut findings = Vec::new();
        for other in others {
            let found = other.join();
            findings.extend(found.unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        findings.extend(own);
        findings
    })
}

/// Splits off what is left after as many whole shares as leave something.
fn split_last_share(files: &[FilePatch], share: usize) -> (&[FilePatch], &[FilePatch]) {
    let whole = files.len().saturating_sub(1) / share;
    let (others, own) = files.split_at(whole * share);
    (own, others)
}

fn scan_some(files: &[FilePatch], input: &ScanInput<'_>, cancel: &CancelToken) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files {
        if cancel.is_cancelled() {
            break;
        }
        if let Some(path) = &file.new_path {
            scan_file(file, path, input, &mut findings);
        }
    }
    findings
}

fn scan_file(
    file: &FilePatch,
    path: &RepoPath,
    input: &ScanInput<'_>,
    findings: &mut Vec<Finding>,
) {
    let allow = input.allow;
    let shown = path.under(input.repo_root).to_string_lossy().into_owned();
    let kind = PathKind::of(path);
    let text = Text::of_file(file, kind);

    let mut on_path = Report::new(shown.clone(), Some(Anchor::Path));
    sensitive::scan(file, path, &text, &mut on_path);
    if matches!(
        file.change,
        Change::Added | Change::Renamed | Change::Copied
    ) {
        scan_name(path.as_bytes(), kind, allow, &mut on_path);
    }
    on_path.finish(findings);

    let mut on_lines = Report::new(shown, None);
    unicode::scan(&text, &mut on_lines);
    credentials::scan(&text, allow, &mut on_lines);
    addressed::scan(&text, &mut on_lines);
    markers::scan(&text, &mut on_lines);
    on_lines.finish(findings);
}

fn scan_words(
    words: &str,
    root: &str,
    anchor: Anchor,
    allow: &Allowlist,
    findings: &mut Vec<Finding>,
) {
    let mut report = Report::new(root.to_owned(), Some(anchor));
    if anchor == Anchor::Branch {
        scan_name(words.as_bytes(), PathKind::default(), allow, &mut report);
    } else {
        let text = Text::of_message(words);
        unicode::scan(&text, &mut report);
        credentials::scan(&text, allow, &mut report);
        addressed::scan(&text, &mut report);
    }
    report.finish(findings);
}

/// Scans a path or a branch name. Its separators stand for blanks where words are looked for.
fn scan_name(name: &[u8], kind: PathKind, allow: &Allowlist, report: &mut Report) {
    let text = Text::of_name(name, kind);
    unicode::scan(&text, report);
    credentials::scan(&text, allow, report);
    let spaced: Vec<u8> = name
        .iter()
        .map(|&byte| if b"/_-.+".contains(&byte) { b' ' } else { byte })
        .collect();
    addressed::scan(&Text::of_name(&spaced, kind), report);
}
