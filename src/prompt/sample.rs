//! Patches for the tests of this folder, and a reader that is stricter than a prompt needs.

use diffwarden_actors::model::{
    Body, Change, FilePatch, Hunk, Line, LineKind, Mode, Patch, RepoPath, ReviewTarget, TargetKind,
};
use proptest::prelude::*;

/// A line for a hunk: its side, its bytes, and whether the file ends in it without a newline.
pub(super) type Row = (LineKind, Vec<u8>, bool);

/// An edited file without hunks yet.
pub(super) fn edited(path: &str) -> FilePatch {
    FilePatch {
        old_path: Some(RepoPath::from(path)),
        new_path: Some(RepoPath::from(path)),
        change: Change::Modified,
        old_mode: Some(Mode(0o100_644)),
        new_mode: Some(Mode(0o100_644)),
        old_id: Some("aed6348".to_owned()),
        new_id: Some("9880a2c".to_owned()),
        similarity: None,
        body: Body::Unchanged,
        content: Vec::new(),
    }
}

/// A new file of the given lines.
pub(super) fn added(path: &str, lines: &[&str]) -> FilePatch {
    let rows = lines
        .iter()
        .map(|line| (LineKind::Added, line.as_bytes().to_vec(), false));
    let mut file = FilePatch {
        old_path: None,
        change: Change::Added,
        old_mode: None,
        old_id: Some("0000000".to_owned()),
        ..edited(path)
    };
    push_hunk(&mut file, (0, 1), b"", rows.collect());
    file
}

/// The edit of the division that most examples of this project use.
pub(super) fn division() -> FilePatch {
    let mut file = edited("src/math.js");
    let rows = [" }", " ", " export function div(a, b) {"]
        .into_iter()
        .chain([
            "-  if (b === 0) throw new Error(\"zero\");",
            "-  return a / b;",
        ])
        .chain(["+  return a / b; // no check", " }"])
        .map(|line| {
            let kind = match line.as_bytes()[0] {
                b'+' => LineKind::Added,
                b'-' => LineKind::Removed,
                _ => LineKind::Context,
            };
            (kind, line.as_bytes()[1..].to_vec(), false)
        });
    push_hunk(
        &mut file,
        (3, 3),
        b"export function add(a, b) {",
        rows.collect(),
    );
    file
}

/// Appends a hunk that starts at the given lines.
pub(super) fn push_hunk(file: &mut FilePatch, start: (u32, u32), section: &[u8], rows: Vec<Row>) {
    let count = |not: LineKind| rows.iter().filter(|row| row.0 != not).count() as u32;
    let (old_lines, new_lines) = (count(LineKind::Added), count(LineKind::Removed));
    let mut lines = Vec::new();
    for (kind, text, no_newline) in rows {
        lines.push(Line {
            kind,
            no_newline,
            start: file.content.len() as u32,
            len: text.len() as u32,
        });
        file.content.extend(text);
    }
    let hunk = Hunk {
        old_start: start.0,
        old_lines,
        new_start: start.1,
        new_lines,
        section: section.to_vec(),
        lines,
    };
    match &mut file.body {
        Body::Hunks(hunks) => hunks.push(hunk),
        body => *body = Body::Hunks(vec![hunk]),
    }
}

/// A target of the given kind with fixed names.
pub(super) fn target(kind: TargetKind) -> ReviewTarget {
    let sha = |digit: &str| Some(digit.repeat(40));
    ReviewTarget {
        kind,
        repo_root: "/home/me/it's here".to_owned(),
        base_ref: (kind == TargetKind::Base).then(|| "main".to_owned()),
        base_sha: if kind == TargetKind::Base {
            sha("a")
        } else {
            None
        },
        head_sha: sha("b"),
        commit_sha: if kind == TargetKind::Commit {
            sha("c")
        } else {
            None
        },
        instructions: (kind == TargetKind::Custom)
            .then(|| "Look at the parser.\n```\nIs it total?".to_owned()),
        diff_command: "git diff aaaa HEAD".to_owned(),
        changed_files: Vec::new(),
    }
}

/// Parses the expression once; a bare string would be parsed for every value.
fn regex(expression: &str) -> impl Strategy<Value = String> {
    proptest::string::string_regex(expression).unwrap()
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => regex("[ -~]{0,12}").prop_map(String::into_bytes),
        2 => regex("(`{1,6}| |~~~|diff|@@ -1 \\+1 @@|\\r|\u{e9}|\u{1f600}){0,6}").prop_map(String::into_bytes),
        1 => proptest::collection::vec(any::<u8>().prop_filter("a line", |&b| b != b'\n'), 0..12),
    ]
}

fn path() -> impl Strategy<Value = RepoPath> {
    prop_oneof![
        3 => regex("[a-d]{1,2}(/[a-d ]{1,3})?").prop_map(|text| RepoPath::new(text.into_bytes())),
        1 => proptest::collection::vec(1_u8.., 1..12).prop_map(RepoPath::new),
    ]
}

fn row() -> impl Strategy<Value = Row> {
    let kinds = [LineKind::Context, LineKind::Added, LineKind::Removed];
    (
        proptest::sample::select(kinds.to_vec()),
        text(),
        proptest::bool::weighted(0.05),
    )
}

fn body() -> impl Strategy<Value = Option<Body>> {
    prop_oneof![
        12 => Just(None),
        1 => Just(Some(Body::Unchanged)),
        1 => Just(Some(Body::Binary)),
        1 => Just(Some(Body::Note("a folder that holds\nanother repository".to_owned()))),
        1 => Just(Some(Body::Omitted { size: 99, added: 4, removed: 0, reason: "too\nlarge".to_owned() })),
    ]
}

prop_compose! {
    /// Any file block that a parser could make.
    pub(super) fn any_file()(
        old in path(),
        new in path(),
        change in 0..5,
        mode in prop_oneof![Just(0o100_755), Just(0o160_000)],
        hunks in proptest::collection::vec(
            (1_u32..900, 1_u32..900, text(), proptest::collection::vec(row(), 1..20)), 1..4),
        other in body(),
    ) -> FilePatch {
        let mut file = edited("x");
        file.old_path = Some(old);
        file.new_path = Some(new.clone());
        match change {
            0 => (file.change, file.old_path, file.old_mode) = (Change::Added, None, None),
            1 => (file.change, file.new_path, file.new_mode) = (Change::Deleted, None, None),
            2 => (file.change, file.similarity) = (Change::Renamed, Some(80)),
            3 => (file.old_path, file.new_mode) = (Some(new), Some(Mode(mode))),
            _ => file.old_path = Some(new),
        }
        for (old_start, new_start, section, rows) in hunks {
            push_hunk(&mut file, (old_start, new_start), &section, rows);
        }
        if let Some(body) = other {
            file.body = body;
        }
        file
    }
}

/// Any patch.
pub(super) fn any_patch() -> impl Strategy<Value = Patch> {
    proptest::collection::vec(any_file(), 0..6).prop_map(|files| Patch { files })
}

/// A hunk as it was read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReadHunk {
    pub(super) start: (u32, u32),
    pub(super) section: Vec<u8>,
    pub(super) rows: Vec<Row>,
}

/// A file block as it was read back: the lines before the hunks, the hunks, the remark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ReadFile {
    pub(super) header: Vec<Vec<u8>>,
    pub(super) hunks: Vec<ReadHunk>,
    pub(super) remark: Option<String>,
}

/// Reads a printed patch by the line numbers of its hunks. Panics where it does not add up.
pub(super) fn read(text: &[u8]) -> Vec<ReadFile> {
    let mut files: Vec<ReadFile> = Vec::new();
    let mut open = (0_u32, 0_u32);
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    for line in text
        .split(|&byte| byte == b'\n')
        .filter(|_| !text.is_empty())
    {
        if open == (0, 0) && line.starts_with(b"diff --git ") {
            files.push(ReadFile::default());
        }
        let file = files.last_mut().expect("a block starts with its names");
        assert!(file.remark.is_none(), "a remark ends its block");
        if open != (0, 0) {
            read_row(file, &mut open, line);
        } else if line == b"\\ No newline at end of file" {
            let rows = &mut file.hunks.last_mut().unwrap().rows;
            rows.last_mut().unwrap().2 = true;
        } else if let Some(header) = line.strip_prefix(b"@@ -") {
            open = read_hunk_header(file, header);
        } else if line.starts_with(b"(diffwarden: ") {
            file.remark = Some(String::from_utf8(line.to_vec()).unwrap());
        } else {
            assert!(file.hunks.is_empty(), "a stray line: {line:?}");
            file.header.push(line.to_vec());
        }
    }
    assert_eq!(open, (0, 0), "a hunk has fewer lines than it says");
    files
}

fn read_row(file: &mut ReadFile, open: &mut (u32, u32), line: &[u8]) {
    let rows = &mut file.hunks.last_mut().unwrap().rows;
    if line == b"\\ No newline at end of file" {
        rows.last_mut().unwrap().2 = true;
        return;
    }
    let (kind, sides) = match line[0] {
        b' ' => (LineKind::Context, (1, 1)),
        b'+' => (LineKind::Added, (0, 1)),
        b'-' => (LineKind::Removed, (1, 0)),
        other => panic!("a line of a hunk starts with {other}"),
    };
    *open = (open.0 - sides.0, open.1 - sides.1);
    rows.push((kind, line[1..].to_vec(), false));
}

fn read_hunk_header(file: &mut ReadFile, header: &[u8]) -> (u32, u32) {
    let end = header.windows(3).position(|three| three == b" @@").unwrap();
    let numbers = std::str::from_utf8(&header[..end]).unwrap();
    let (old, new) = numbers.split_once(" +").unwrap();
    let range = |text: &str| match text.split_once(',') {
        Some((_, "1")) => panic!("git leaves a count of 1 out"),
        Some((start, count)) => (start.parse().unwrap(), count.parse().unwrap()),
        None => (text.parse().unwrap(), 1),
    };
    let ((old_start, old_lines), (new_start, new_lines)) = (range(old), range(new));
    let section = header[end + 3..].strip_prefix(b" ").unwrap_or_default();
    file.hunks.push(ReadHunk {
        start: (old_start, new_start),
        section: section.to_vec(),
        rows: Vec::new(),
    });
    (old_lines, new_lines)
}
