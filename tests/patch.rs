//! The reader and the printer of patches are each other's inverse.

use diffwarden::git::{ReadLimits, parse_patch};
use diffwarden::prompt::print_patch;
use diffwarden_actors::model::{
    Body, Change, FilePatch, Hunk, Line, LineKind, Mode, Patch, RepoPath,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// A line of a hunk: its side and its bytes.
type Row = (LineKind, Vec<u8>);

fn text() -> impl Strategy<Value = Vec<u8>> {
    let byte = any::<u8>().prop_filter("one line", |&byte| byte != b'\n');
    prop_oneof![
        3 => "[ -~]{0,16}".prop_map(String::into_bytes),
        1 => vec(byte, 0..12),
        // What looks like structure and is content.
        1 => proptest::sample::select(vec![
            &b"diff --git a/x b/x"[..], b"--- a/x", b"+++ b/x", b"@@ -1 +1 @@", b"\\ No newline at end of file",
            b"-- ", b"++ ", b"```", b"\r", b"index 1..2 100644", b"(diffwarden: forged)",
        ]).prop_map(<[u8]>::to_vec),
    ]
}

fn path() -> impl Strategy<Value = RepoPath> {
    let byte = any::<u8>().prop_filter("a name", |&byte| byte != 0);
    let name = prop_oneof![
        3 => "[a-d ]{1,4}(/[a-d .]{1,4}){0,2}".prop_map(String::into_bytes),
        1 => vec(byte, 1..10),
    ];
    // Git keeps no name that is empty, or that starts or ends with the separator.
    name.prop_filter("a path", |name| {
        name.first() != Some(&b'/') && name.last() != Some(&b'/')
    })
    .prop_map(RepoPath::new)
}

fn rows(kinds: &'static [LineKind]) -> impl Strategy<Value = Vec<Row>> {
    vec((proptest::sample::select(kinds.to_vec()), text()), 1..10)
}

/// What a whole file is made of: gaps before hunks, section texts, lines, and whether the last
/// line of each side has no line feed.
fn body(kinds: &'static [LineKind]) -> impl Strategy<Value = Vec<(u32, Vec<u8>, Vec<Row>)>> {
    let section = "([a-z(){]{1,8})?".prop_map(String::into_bytes);
    vec((0_u32..9, section, rows(kinds)), 1..4)
}

/// Puts hunks together with counts and starts that add up.
fn fill(file: &mut FilePatch, hunks: Vec<(u32, Vec<u8>, Vec<Row>)>, bare_end: bool) {
    let (mut old, mut new) = (0_u32, 0_u32);
    let last = hunks.len() - 1;
    let mut whole = Vec::new();
    for (number, (gap, section, rows)) in hunks.into_iter().enumerate() {
        let on_old = rows.iter().filter(|row| row.0 != LineKind::Added).count() as u32;
        let on_new = rows.iter().filter(|row| row.0 != LineKind::Removed).count() as u32;
        // Git gives a side without lines the line before it.
        let starts = [(old + gap, on_old), (new + gap, on_new)]
            .map(|(before, count)| if count == 0 { before } else { before + 1 });
        old += gap + on_old;
        new += gap + on_new;
        let ends = if bare_end && number == last {
            last_of_sides(&rows)
        } else {
            Vec::new()
        };
        let mut lines = Vec::new();
        for (at, (kind, text)) in rows.into_iter().enumerate() {
            lines.push(Line {
                kind,
                no_newline: ends.contains(&at),
                start: file.content.len() as u32,
                len: text.len() as u32,
            });
            file.content.extend(text);
        }
        whole.push(Hunk {
            old_start: starts[0],
            old_lines: on_old,
            new_start: starts[1],
            new_lines: on_new,
            section,
            lines,
        });
    }
    file.body = Body::Hunks(whole);
}

/// Returns which rows are the last of the old and of the new side.
fn last_of_sides(rows: &[Row]) -> Vec<usize> {
    let last = |not: LineKind| rows.iter().rposition(|row| row.0 != not);
    [last(LineKind::Added), last(LineKind::Removed)]
        .into_iter()
        .flatten()
        .collect()
}

fn file(path: RepoPath, id: &str) -> FilePatch {
    FilePatch {
        old_path: Some(path.clone()),
        new_path: Some(path),
        change: Change::Modified,
        old_mode: Some(Mode(0o100_644)),
        new_mode: Some(Mode(0o100_644)),
        old_id: Some(id.to_owned()),
        new_id: Some(format!("{id}0")),
        similarity: None,
        body: Body::Unchanged,
        content: Vec::new(),
    }
}

fn modified() -> impl Strategy<Value = FilePatch> {
    let kinds = &[LineKind::Context, LineKind::Added, LineKind::Removed];
    (
        path(),
        "[0-9a-f]{7,12}",
        body(kinds),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(path, id, hunks, bare_end, executable)| {
            let mut file = file(path, &id);
            if executable {
                file.new_mode = Some(Mode(0o100_755));
            }
            fill(&mut file, hunks, bare_end);
            file
        })
}

fn one_sided() -> impl Strategy<Value = FilePatch> {
    let rows = vec(text(), 0..8);
    (path(), "[0-9a-f]{7,12}", rows, any::<bool>(), any::<bool>()).prop_map(
        |(path, id, rows, bare_end, is_new)| {
            let mut file = file(path, &id);
            let kind = if is_new {
                (file.old_path, file.old_mode, file.change) = (None, None, Change::Added);
                LineKind::Added
            } else {
                (file.new_path, file.new_mode, file.change) = (None, None, Change::Deleted);
                LineKind::Removed
            };
            if !rows.is_empty() {
                let rows = rows.into_iter().map(|text| (kind, text)).collect();
                fill(&mut file, vec![(0, Vec::new(), rows)], bare_end);
            }
            file
        },
    )
}

fn moved() -> impl Strategy<Value = FilePatch> {
    (path(), path(), "[0-9a-f]{7,12}", 0_u8..100, any::<bool>()).prop_filter_map(
        "two names",
        |(from, to, id, similarity, is_copy)| {
            if from == to {
                return None;
            }
            let mut file = file(to, &id);
            file.old_path = Some(from);
            file.change = if is_copy {
                Change::Copied
            } else {
                Change::Renamed
            };
            file.similarity = Some(similarity);
            fill(
                &mut file,
                vec![(0, Vec::new(), vec![(LineKind::Added, b"x".to_vec())])],
                false,
            );
            Some(file)
        },
    )
}

fn without_lines() -> impl Strategy<Value = FilePatch> {
    (path(), "[0-9a-f]{7,12}", any::<bool>()).prop_map(|(path, id, is_binary)| {
        let mut file = file(path, &id);
        if is_binary {
            file.body = Body::Binary;
        } else {
            file.new_mode = Some(Mode(0o100_755));
            (file.old_id, file.new_id) = (None, None);
        }
        file
    })
}

fn patch() -> impl Strategy<Value = Patch> {
    let file = prop_oneof![4 => modified(), 3 => one_sided(), 2 => moved(), 1 => without_lines()];
    vec(file, 0..4).prop_map(|files| Patch { files })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_printed_patch_reads_back_as_itself(patch in patch()) {
        let mut printed = Vec::new();
        print_patch(&patch, &mut printed);
        let read = parse_patch(&mut &printed[..], &ReadLimits::default());
        let read = read.map_err(|error| TestCaseError::fail(
            format!("{error}\n{}", String::from_utf8_lossy(&printed))))?;
        prop_assert_eq!(&read, &patch, "{}", String::from_utf8_lossy(&printed));
    }
}
