//! The engine without a model: the integrity scans as a reviewer.
//!
//! Runs inside diffwarden, needs no account, network or configuration, and writes nothing. Its
//! answer is always structured and says plainly that it is not a review of what the code does.

use diffwarden_actors::engine::{
    Answer, CancelToken, Capabilities, CaptureMode, Engine, Payload, Place, Preflight,
    PreflightPass, ReviewRequest, Start,
};
use diffwarden_actors::model::{
    Body, CheckStatus, ErrorCode, Failure, Patch, PreflightCheck, PreflightReport, Reason,
    ReviewResult, Score, Verdict,
};
use serde_json::{Map, Value};

use crate::intake::scan::{SCAN_NAMES, ScanInput, scan};

/// What the scans read beside the patch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScanContext {
    /// The messages of the reviewed commits; none for uncommitted changes.
    pub commit_messages: Vec<String>,
    /// The name of the current branch, if there is one.
    pub branch: Option<String>,
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
    let added: u64 = input.patch.files.iter().map(|file| file.counts().0).sum();
    let files = input.patch.files.len();
    let found = match findings {
        0 => "Nothing was found".to_owned(),
        count => format!("There are {}", counted(count as u64, "finding")),
    };
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
        counted(files as u64, "changed file"),
        beside.join(", "),
        unread(input.patch),
    )
}

fn unread(patch: &Patch) -> String {
    let unread = |body: &Body| matches!(body, Body::Binary | Body::Omitted { .. } | Body::Note(_));
    match patch.files.iter().filter(|file| unread(&file.body)).count() {
        0 => String::new(),
        count => format!(
            " Of {}, only the name was read (binary, too large or not a plain file).",
            counted(count as u64, "file")
        ),
    }
}

fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use diffwarden_actors::model::{
        Change, FilePatch, Hunk, Line, LineKind, RepoPath, ReviewTarget, TargetKind,
    };
    use diffwarden_actors::prompt::Prompt;

    use super::*;

    fn patch(path: &str, line: &str) -> Patch {
        let hunk = Hunk {
            old_start: 0,
            old_lines: 0,
            new_start: 1,
            new_lines: 1,
            section: Vec::new(),
            lines: vec![Line {
                kind: LineKind::Added,
                no_newline: false,
                start: 0,
                len: u32::try_from(line.len()).unwrap(),
            }],
        };
        Patch {
            files: vec![FilePatch {
                old_path: None,
                new_path: Some(RepoPath::from(path)),
                change: Change::Added,
                old_mode: None,
                new_mode: None,
                old_id: None,
                new_id: None,
                similarity: None,
                body: Body::Hunks(vec![hunk]),
                content: line.as_bytes().to_vec(),
            }],
        }
    }

    fn place() -> Place {
        Place {
            repo_root: PathBuf::from("/repo"),
            run_dir: PathBuf::from("/run"),
        }
    }

    fn review(patch: Patch, context: ScanContext, cancel: &CancelToken) -> Result<Answer, Failure> {
        let request = ReviewRequest {
            place: place(),
            capabilities: Capabilities::default(),
            prompt: Arc::new(Prompt {
                system: None,
                user: String::new(),
                coverage: Default::default(),
            }),
            target: Arc::new(ReviewTarget {
                kind: TargetKind::Uncommitted,
                repo_root: "/repo".to_owned(),
                base_ref: None,
                base_sha: None,
                head_sha: None,
                commit_sha: None,
                instructions: None,
                diff_command: String::new(),
                changed_files: Vec::new(),
            }),
            patch: Arc::new(patch),
        };
        match Surface::new(context).review(&request)? {
            Start::InProcess(run) => run(cancel),
            Start::Process { .. } => panic!("surface runs inside diffwarden"),
        }
    }

    fn result(answer: Answer) -> ReviewResult {
        match answer.payload {
            Payload::Review(result) => result,
            other => panic!("not a finished review: {other:?}"),
        }
    }

    #[test]
    fn preflight_is_known_and_passes() {
        let Ok(Preflight::Known(pass)) = Surface::new(ScanContext::default()).preflight(&place())
        else {
            panic!("nothing has to be run");
        };
        assert_eq!(pass.report.checks.len(), 1);
        assert_eq!(pass.report.checks[0].name, "scans");
        assert_eq!(pass.report.metadata["readonlyCapability"], "enforced");
    }

    #[test]
    fn nothing_found_is_correct_with_little_confidence() {
        let answer = review(
            patch("a.rs", "let a = 1;"),
            ScanContext::default(),
            &CancelToken::default(),
        )
        .unwrap();
        assert_eq!(answer.capture_mode, CaptureMode::NativeStructured);
        let result = result(answer);
        assert_eq!(result.overall_correctness, "patch is correct");
        assert!(result.overall_confidence_score.0 < 0.5);
        assert!(
            result
                .overall_explanation
                .contains("1 added line in 1 changed file")
        );
        assert!(result.overall_explanation.contains("not a full review"));
    }

    #[test]
    fn a_finding_makes_the_patch_incorrect() {
        let answer = review(
            patch("a.rs", "let a\u{202E} = 1;"),
            ScanContext::default(),
            &CancelToken::default(),
        );
        let result = result(answer.unwrap());
        assert_eq!(result.overall_correctness, "patch is incorrect");
        assert_eq!(result.findings.len(), 1);
        assert_eq!(
            result.findings[0].code_location.absolute_file_path,
            "/repo/a.rs"
        );
    }

    #[test]
    fn messages_and_branch_are_scanned_and_named() {
        let context = ScanContext {
            commit_messages: vec!["Fix\u{200B} it".to_owned()],
            branch: Some("feature\u{200B}".to_owned()),
        };
        let answer = review(patch("a.rs", "1"), context, &CancelToken::default());
        let result = result(answer.unwrap());
        assert_eq!(result.findings.len(), 2);
        assert!(
            result
                .overall_explanation
                .contains("1 commit message, the branch name")
        );
    }

    #[test]
    fn a_stopped_scan_is_a_failure() {
        let cancel = CancelToken::default();
        cancel.cancel();
        let failure = review(patch("a.rs", "1"), ScanContext::default(), &cancel).unwrap_err();
        assert_eq!(failure.reason, Some(Reason::Interrupted));
    }
}
