//! The engine without a model: the integrity scans as a reviewer.
//!
//! Runs inside diffwarden, needs no account, network or configuration, and writes nothing. Its
//! answer is always structured and says plainly that it is not a review of what the code does.

use std::collections::BTreeSet;
use std::sync::Arc;

use diffwarden_actors::engine::{
    Answer, CancelToken, Capabilities, CaptureMode, Engine, Payload, Place, Preflight,
    PreflightPass, ReviewRequest, Start,
};
use diffwarden_actors::model::{
    Body, Change, CheckStatus, EngineName, ErrorCode, Failure, FilePatch, PreflightCheck,
    PreflightReport, Reason, RepoPath, ReviewResult, Score, Verdict,
};
use serde_json::{Map, Value};

use crate::engines::settings::ReviewerSettings;
use crate::git::TargetSpec;
use crate::intake::scan::{Allowlist, SCAN_NAMES, ScanInput, scan};

/// What the scans read beside the patch.
#[derive(Debug, Clone, Default)]
pub struct ScanContext {
    /// The messages of the reviewed commits; none for uncommitted changes.
    pub commit_messages: Vec<String>,
    /// The name of the current branch, if there is one.
    pub branch: Option<String>,
    /// Which credentials the repository allowed before the change.
    pub allow: Arc<Allowlist>,
}

/// How many files that were not scanned are named; the coverage names all of them.
const MAX_NAMED: usize = 20;

/// Refuses a target without a diff: there is nothing to scan in it, and an answer to it would look
/// like that of somebody who followed the instructions.
///
/// # Errors
///
/// Fails when `surface` is among the selected reviewers of a custom target.
pub fn check_target(target: &TargetSpec, selected: &[ReviewerSettings]) -> Result<(), Failure> {
    let surface = selected
        .iter()
        .find(|settings| settings.engine == EngineName::Surface);
    match (target, surface) {
        (TargetSpec::Custom(_), Some(settings)) => {
            let message = format!(
                "the reviewer `{}` needs a target with a diff, which custom:<text> is not: it scans \
                 what changed and follows no instructions",
                settings.id
            );
            Err(Failure::new(ErrorCode::InvalidCli, message).hint(
                "review `uncommitted`, `base:<branch>` or `commit:<sha>` with it, or leave it out",
            ))
        }
        _ => Ok(()),
    }
}

/// The integrity scans as an engine.
#[derive(Debug, Clone)]
pub struct Surface {
    context: ScanContext,
}

impl Surface {
    /// Creates the engine for one target.
    pub fn new(context: ScanContext) -> Self {
        Self { context }
    }
}

impl Engine for Surface {
    fn preflight(&self, _place: &Place) -> Result<Preflight, Failure> {
        let check = PreflightCheck {
            name: "scans".to_owned(),
            status: CheckStatus::Passed,
            detail: format!("runs inside diffwarden: {}", SCAN_NAMES.join(", ")),
        };
        Ok(Preflight::Known(PreflightPass {
            report: PreflightReport {
                checks: vec![check],
                metadata: metadata(),
            },
            capabilities: Capabilities::default(),
        }))
    }

    fn review(&self, request: &ReviewRequest) -> Result<Start, Failure> {
        let context = self.context.clone();
        let patch = request.patch.clone();
        let root = request.place.repo_root.clone();
        Ok(Start::InProcess(Box::new(move |cancel| {
            let input = ScanInput {
                patch: &patch,
                repo_root: &root,
                commit_messages: &context.commit_messages,
                branch: context.branch.as_deref(),
                allow: &context.allow,
            };
            answer(&input, cancel)
        })))
    }
}

fn answer(input: &ScanInput<'_>, cancel: &CancelToken) -> Result<Answer, Failure> {
    let findings = scan(input, cancel);
    if cancel.is_cancelled() {
        // Half a scan would look like a clean one.
        let message = "the integrity scans were stopped before every file was read";
        return Err(Failure::new(ErrorCode::ReviewerFailed, message)
            .reason(Reason::Interrupted)
            .hint("Run the review again to scan the whole change."));
    }
    let (verdict, confidence) = if findings.is_empty() {
        // Finding nothing proves little: most defects are not what the scans look for.
        (Verdict::Correct, 0.3)
    } else {
        (Verdict::Incorrect, 0.9)
    };
    let result = ReviewResult {
        overall_correctness: verdict.as_str().to_owned(),
        overall_explanation: explain(input, findings.len()),
        overall_confidence_score: Score(confidence),
        findings,
    };
    Ok(Answer {
        payload: Payload::Review(result),
        capture_mode: CaptureMode::NativeStructured,
        metadata: metadata(),
        usage: None,
    })
}

fn metadata() -> Map<String, Value> {
    let mut metadata = Map::new();
    metadata.insert("readonlyCapability".to_owned(), Value::from("enforced"));
    metadata
}

fn explain(input: &ScanInput<'_>, findings: usize) -> String {
    let found = match findings {
        0 => "Nothing was found".to_owned(),
        1 => "There is 1 finding".to_owned(),
        count => format!("There are {count} findings"),
    };
    let files = &input.patch.files;
    let added: u64 = files.iter().map(read_lines).sum();
    // A type change is a deletion and an addition of one path.
    let paths: BTreeSet<&RepoPath> = files.iter().map(FilePatch::path).collect();
    let mut beside = vec!["their paths".to_owned()];
    if !input.commit_messages.is_empty() {
        beside.push(counted(
            input.commit_messages.len() as u64,
            "commit message",
        ));
    }
    if input.branch.is_some() {
        beside.push("the branch name".to_owned());
    }
    format!(
        "{found} by scans for {}, over {} in {}, {}.{} This is not a full review: no model looked \
         at what the code does.",
        SCAN_NAMES.join(", "),
        counted(added, "added line"),
        counted(paths.len() as u64, "changed file"),
        beside.join(", "),
        unread(files),
    )
}

/// Returns how many added lines of a file the scans read.
fn read_lines(file: &FilePatch) -> u64 {
    match file.body {
        Body::Omitted { .. } => 0,
        Body::Binary => file.content.split_inclusive(|&byte| byte == b'\n').count() as u64,
        _ => file.counts().0,
    }
}

/// Names the files of which only the name was read. A deleted one has nothing else to read.
fn unread(files: &[FilePatch]) -> String {
    let is_unread = |file: &&FilePatch| {
        let has_text = match file.body {
            Body::Binary => !file.content.is_empty(),
            Body::Omitted { .. } | Body::Note(_) => false,
            Body::Unchanged | Body::Hunks(_) => true,
        };
        file.change != Change::Deleted && !has_text
    };
    let paths: BTreeSet<&RepoPath> = files
        .iter()
        .filter(is_unread)
        .map(FilePatch::path)
        .collect();
    if paths.is_empty() {
        return String::new();
    }
    let named: Vec<_> = paths
        .iter()
        .take(MAX_NAMED)
        .map(|path| format!("`{path}`"))
        .collect();
    let more = match paths.len() - named.len() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    format!(
        " Not scanned, but for their names (binary, too large, or not to be read): {}{more}.",
        named.join(", ")
    )
}

fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests;
