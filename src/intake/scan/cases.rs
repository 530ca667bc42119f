//! The labelled table: what must be found, and what must stay silent.
//!
//! Each row of the table is a small file. `@{a|b}` in a line joins `a` and `b`, so that no file of
//! this repository holds the shape of a real credential, and `\u{...}` writes a character by its
//! code point.

use std::path::Path;

use diffwarden_actors::engine::CancelToken;
use diffwarden_actors::model::{
    Anchor, Body, Change, FilePatch, Finding, Hunk, Line, LineKind, Patch, RepoPath,
};
use serde::Deserialize;

use super::{Allowlist, ScanInput, scan};

const TABLE: &str = include_str!("../../../fixtures/corpus/scans.jsonl");

/// One row of the table.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// Which scan it is about; the corpus counts by it.
    #[serde(rename = "class")]
    _class: String,
    /// What the row shows.
    name: String,
    /// Where the text stands: a path, or `commit` or `branch`.
    #[serde(default = "default_path")]
    at: String,
    /// The added lines.
    #[serde(default)]
    lines: Vec<String>,
    /// What must be found, in order: `P1 3-4 a part of the title`, or `P1 path a part of ...`; `P?`
    /// is any priority.
    #[serde(default)]
    finds: Vec<String>,
}

fn default_path() -> String {
    "src/main.rs".to_owned()
}

/// Builds an added file.
pub(super) fn added_file(path: &str, lines: &[impl AsRef<[u8]>]) -> FilePatch {
    let mut content = Vec::new();
    let mut made = Vec::new();
    for line in lines {
        let line = line.as_ref();
        made.push(Line {
            kind: LineKind::Added,
            no_newline: false,
            start: u32::try_from(content.len()).unwrap(),
            len: u32::try_from(line.len()).unwrap(),
        });
        content.extend_from_slice(line);
        content.push(b'\n');
    }
    let hunk = Hunk {
        old_start: 0,
        old_lines: 0,
        new_start: 1,
        new_lines: u32::try_from(lines.len()).unwrap(),
        section: Vec::new(),
        lines: made,
    };
    FilePatch {
        old_path: None,
        new_path: Some(RepoPath::from(path)),
        change: Change::Added,
        old_mode: None,
        new_mode: None,
        old_id: None,
        new_id: None,
        similarity: None,
        body: Body::Hunks(vec![hunk]),
        content,
    }
}

/// Scans files alone.
pub(super) fn scan_files(files: Vec<FilePatch>) -> Vec<Finding> {
    run(&Patch { files }, &[], None)
}

fn run(patch: &Patch, commit_messages: &[String], branch: Option<&str>) -> Vec<Finding> {
    let input = ScanInput {
        patch,
        repo_root: Path::new("/repo"),
        commit_messages,
        branch,
        allow: &Allowlist::default(),
    };
    scan(&input, &CancelToken::default())
}

fn found(case: &Case) -> Vec<Finding> {
    let lines: Vec<String> = case.lines.iter().map(|line| expand(line)).collect();
    let nothing = Patch::default();
    match case.at.as_str() {
        "commit" => run(&nothing, &[lines.join("\n")], None),
        "branch" => run(&nothing, &[], Some(&lines.join("\n"))),
        path => scan_files(vec![added_file(&expand(path), &lines)]),
    }
}

/// Joins `@{a|b}` and replaces `\u{...}`.
fn expand(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("@{").into_iter().chain(rest.find("\\u{")).min() {
        out.push_str(&rest[..start]);
        let end = start + rest[start..].find('}').expect("an open brace is closed");
        if rest[start..].starts_with("@{") {
            out.push_str(&rest[start + 2..end].replace('|', ""));
        } else {
            let code = u32::from_str_radix(&rest[start + 3..end], 16).unwrap();
            out.push(char::from_u32(code).unwrap());
        }
        rest = &rest[end + 1..];
    }
    out + rest
}

fn matches(finding: &Finding, expected: &str) -> bool {
    let mut parts = expected.splitn(3, ' ');
    let (priority, place, title) = (
        parts.next().unwrap(),
        parts.next().unwrap(),
        parts.next().unwrap(),
    );
    let range = finding.code_location.line_range;
    let at = match finding.anchor {
        Some(Anchor::Path) => "path".to_owned(),
        Some(Anchor::CommitMessage) => "commit".to_owned(),
        Some(Anchor::Branch) => "branch".to_owned(),
        None => format!("{}-{}", range.start, range.end),
    };
    let number = finding.priority.map(|priority| format!("P{}", priority.0));
    let number = number.unwrap_or_default();
    finding.title.starts_with(&format!("[{number}] "))
        && finding.title.to_lowercase().contains(&title.to_lowercase())
        && (priority == "P?" || number == priority)
        && at == place
        && (finding.anchor.is_none() || (range.start, range.end) == (1, 1))
}

#[test]
fn the_table_holds() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in TABLE.lines().filter(|line| !line.is_empty()) {
        let case: Case =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        count += 1;
        let found = found(&case);
        let fits = found.len() == case.finds.len()
            && found
                .iter()
                .zip(&case.finds)
                .all(|(finding, expected)| matches(finding, expected));
        if !fits {
            let titles: Vec<_> = found
                .iter()
                .map(|finding| {
                    let range = finding.code_location.line_range;
                    format!(
                        "{} {}-{} {:?}",
                        finding.title, range.start, range.end, finding.anchor
                    )
                })
                .collect();
            wrong.push(format!(
                "{}: wanted {:?}, found {titles:?}",
                case.name, case.finds
            ));
        }
    }
    assert!(count >= 80, "the table has lost rows: {count}");
    assert!(
        wrong.is_empty(),
        "{} of {count} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn deleted_and_untouched_files_are_not_sensitive() {
    let mut deleted = added_file(".env", &["A=1"]);
    deleted.old_path = deleted.new_path.take();
    deleted.change = Change::Deleted;
    assert!(scan_files(vec![deleted]).is_empty());

    let mut mode_only = added_file(".env", &["A=1"]);
    mode_only.change = Change::Modified;
    mode_only.body = Body::Unchanged;
    assert!(scan_files(vec![mode_only]).is_empty());
}

#[test]
fn a_rename_onto_a_sensitive_name_is_found_without_lines() {
    let mut renamed = added_file(".env", &["A=1"]);
    renamed.old_path = Some(RepoPath::from("env.txt"));
    renamed.change = Change::Renamed;
    renamed.body = Body::Unchanged;
    let found = scan_files(vec![renamed]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].anchor, Some(Anchor::Path));
    assert_eq!(found[0].code_location.absolute_file_path, "/repo/.env");
}

#[test]
fn only_added_lines_are_read_and_numbered_on_the_new_side() {
    let mut file = added_file("a.rs", &["x\u{202E}", "plain", "y\u{202E}"]);
    let Body::Hunks(hunks) = &mut file.body else {
        panic!("the helper makes hunks");
    };
    hunks[0].new_start = 10;
    hunks[0].lines[0].kind = LineKind::Removed;
    hunks[0].lines[1].kind = LineKind::Context;
    let found = scan_files(vec![file]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code_location.line_range.start, 11);
}

#[test]
fn messages_and_branch_point_at_the_repository() {
    let messages = ["Fix\u{202E} it".to_owned()];
    let found = run(&Patch::default(), &messages, Some("a\u{202E}b"));
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].anchor, Some(Anchor::CommitMessage));
    assert_eq!(found[1].anchor, Some(Anchor::Branch));
    assert_eq!(found[0].code_location.absolute_file_path, "/repo");
}

#[test]
fn findings_follow_the_order_of_the_files() {
    let files = ["b.rs", "a.rs"].map(|path| added_file(path, &["\u{202E}", "\u{200B}"]));
    let found = scan_files(files.into());
    let places: Vec<_> = found
        .iter()
        .map(|finding| {
            let location = &finding.code_location;
            (
                location.absolute_file_path.as_str(),
                location.line_range.start,
            )
        })
        .collect();
    assert_eq!(
        places,
        [
            ("/repo/b.rs", 1),
            ("/repo/b.rs", 2),
            ("/repo/a.rs", 1),
            ("/repo/a.rs", 2)
        ]
    );
}

#[test]
fn a_large_change_gives_what_its_files_give_one_by_one() {
    let filling = "x".repeat(super::LARGE / 20);
    let files: Vec<FilePatch> = (0..25)
        .map(|number| added_file(&format!("src/{number}.rs"), &["\u{202E}", &filling]))
        .collect();
    let alone: Vec<Finding> = files
        .iter()
        .flat_map(|file| scan_files(vec![file.clone()]))
        .collect();
    assert_eq!(alone.len(), 25);
    assert_eq!(scan_files(files), alone);
}

#[test]
fn every_file_is_in_one_share() {
    for count in 0..40 {
        let files = vec![added_file("a", &["x"]); count];
        for share in 1..12 {
            let (own, others) = super::split_last_share(&files, share);
            assert_eq!(others.len() % share, 0);
            assert_eq!(own.len() + others.len(), count);
            assert!(own.len() <= share && (count == 0 || !own.is_empty()));
        }
    }
}

#[test]
fn a_cancelled_scan_stops_between_files() {
    let cancel = CancelToken::default();
    cancel.cancel();
    let patch = Patch {
        files: vec![added_file("a.rs", &["\u{202E}"])],
    };
    let input = ScanInput {
        patch: &patch,
        repo_root: Path::new("/repo"),
        commit_messages: &[],
        branch: None,
        allow: &Allowlist::default(),
    };
    assert!(scan(&input, &cancel).is_empty());
}

#[test]
fn a_flood_of_hits_is_bounded() {
    let lines: Vec<String> = (0..2_000)
        .map(|line| if line % 2 == 0 { "\u{202E}" } else { "x" }.to_owned())
        .collect();
    let found = scan_files(vec![added_file("a.rs", &lines)]);
    assert_eq!(found.len(), super::report::MAX_PER_RULE);
}

#[test]
fn a_flood_of_questions_hides_no_credential() {
    let token = concat!("gh", "p_q7Wm2Zx9Lk4Vt8Rb3Ny6Hc1Jd5Gf0Ps2Ua7E");
    let mut lines = Vec::new();
    for number in 0..25 {
        lines.push(format!("k{number} = '{token}' # gitleaks:allow"));
        lines.push(String::new());
    }
    lines.push(format!("real = '{token}'"));
    let found = scan_files(vec![added_file("src/a.py", &lines)]);
    assert_eq!(found.len(), super::report::MAX_PER_RULE);
    let last = &found[found.len() - 1];
    assert_eq!(last.priority.map(|priority| priority.0), Some(0));
    assert_eq!(last.code_location.line_range.start, 51);
    assert!(last.body.contains("(P3 6)"), "{}", last.body);
}

#[test]
fn text_that_git_calls_binary_is_read() {
    let mut file = added_file("a.txt", &["x"]);
    file.body = Body::Binary;
    file.content.clear();
    assert!(scan_files(vec![file.clone()]).is_empty());
    let token = concat!("gh", "p_q7Wm2Zx9Lk4Vt8Rb3Ny6Hc1Jd5Gf0Ps2Ua7E");
    file.content = format!("\u{FEFF}one\r\nk = '{token}'\r\n").into_bytes();
    let found = scan_files(vec![file]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code_location.line_range.start, 2);
}
