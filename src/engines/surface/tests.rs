use std::path::PathBuf;
use std::sync::Arc;

use diffwarden_actors::model::{
    Change, FilePatch, Hunk, Line, LineKind, Patch, RepoPath, ReviewTarget, TargetKind,
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
        allow: Arc::default(),
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

fn explanation(patch: Patch) -> String {
    let cancel = CancelToken::default();
    let answer = review(patch, ScanContext::default(), &cancel).unwrap();
    result(answer).overall_explanation
}

#[test]
fn one_finding_is_one() {
    let one = explanation(patch("a.rs", "let a\u{202E} = 1;"));
    assert!(one.starts_with("There is 1 finding by"), "{one}");
    let mut two = patch("a.rs", "let a\u{202E} = 1;");
    two.files.extend(patch("b.rs", "let b\u{202E} = 1;").files);
    let two = explanation(two);
    assert!(two.starts_with("There are 2 findings by"), "{two}");
}

#[test]
fn what_was_not_read_is_named_and_not_counted() {
    let mut patch = patch("a.rs", "let a = 1;");
    let mut add = |path: &str, change, body| {
        let mut file = patch.files[0].clone();
        file.content.clear();
        (file.new_path, file.change, file.body) = (Some(path.into()), change, body);
        if change == Change::Deleted {
            file.old_path = file.new_path.take();
        }
        patch.files.push(file);
    };
    let large = Body::Omitted {
        size: 9 << 20,
        added: 5_000,
        removed: 0,
        reason: "its change is larger than 8 MiB".to_owned(),
    };
    add("large.py", Change::Added, large);
    add("utf16.txt", Change::Modified, Body::Binary);
    add("gone.png", Change::Deleted, Body::Binary);
    let text = explanation(patch);
    assert!(text.contains("1 added line in 4 changed files"), "{text}");
    assert!(
        text.contains("Not scanned, but for their names (binary, too large, or not to be read): `large.py`, `utf16.txt`."),
        "{text}"
    );
}

#[test]
fn a_type_change_is_one_file() {
    let mut patch = patch("link", "target");
    let mut old = patch.files[0].clone();
    (old.change, old.body) = (Change::Deleted, Body::Unchanged);
    old.old_path = old.new_path.take();
    patch.files.insert(0, old);
    let text = explanation(patch);
    assert!(text.contains("1 added line in 1 changed file,"), "{text}");
}

#[test]
fn a_target_without_a_diff_is_refused() {
    let settings = |names: &[&str]| {
        let flags = crate::config::SelectionFlags {
            reviewers: names.iter().map(|&name| name.to_owned()).collect(),
            ..Default::default()
        };
        crate::config::select_reviewers(&flags, &crate::env::Environment::default(), None).unwrap()
    };
    let custom = TargetSpec::Custom("look at everything".to_owned());
    let both = settings(&["fake", "surface"]);
    let failure = check_target(&custom, &both).unwrap_err();
    assert_eq!(failure.code, ErrorCode::InvalidCli);
    assert!(
        failure
            .message
            .contains("`surface` needs a target with a diff")
    );
    assert_eq!(check_target(&custom, &settings(&["fake"])), Ok(()));
    assert_eq!(check_target(&TargetSpec::Uncommitted, &both), Ok(()));
}
