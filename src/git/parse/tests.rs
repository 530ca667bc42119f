use diffwarden_actors::model::Mode;
use proptest::prelude::*;

use super::*;

fn parse(text: &[u8]) -> Result<Vec<FilePatch>, ParseError> {
    parse_patch(&mut &text[..], &ReadLimits::default()).map(|patch| patch.files)
}

fn one(text: &str) -> FilePatch {
    let mut files = parse(text.as_bytes()).unwrap();
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

/// The lines of a file as `sign, text`, with `$` where a newline is missing.
fn lines(file: &FilePatch) -> Vec<String> {
    let lines = file.hunks().iter().flat_map(|hunk| &hunk.lines);
    lines
        .map(|line| {
            let sign = match line.kind {
                LineKind::Context => ' ',
                LineKind::Added => '+',
                LineKind::Removed => '-',
            };
            let end = if line.no_newline { "$" } else { "" };
            format!("{sign}{}{end}", String::from_utf8_lossy(file.text(line)))
        })
        .collect()
}

#[test]
fn a_modified_file_has_its_ids_modes_hunks_and_lines() {
    let file = one(
        "diff --git a/x y b/x y\nindex 0123abc..4567def 100755\n--- a/x y\t\n+++ b/x y\t\n\
         @@ -1,3 +1,4 @@ fn main() {\n one\n-two\n+TWO\r\n+\n three\n\\ No newline at end of file\n\
         @@ -9 +10,0 @@\n-nine\n\\ No newline at end of file\n",
    );
    assert_eq!(file.path(), &"x y".into());
    assert_eq!(file.change, Change::Modified);
    assert_eq!(file.old_id.as_deref(), Some("0123abc"));
    assert_eq!(file.new_mode, Some(Mode(0o100_755)));
    assert_eq!(
        lines(&file),
        [" one", "-two", "+TWO\r", "+", " three$", "-nine$"]
    );
    assert_eq!(file.hunks()[0].section, b"fn main() {");
    assert_eq!(file.counts(), (2, 2));
}

#[test]
fn nothing_inside_a_hunk_is_a_header() {
    let file = one(
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n--- a/y\n-- b/y\n\
         +++ b/evil.js\n+@@ -1,1 +900,1 @@\n+diff --git a/z b/z\n diff --git a/z b/z\n",
    );
    assert_eq!(
        lines(&file),
        [
            "--- a/y",
            "-- b/y",
            "+++ b/evil.js",
            "+@@ -1,1 +900,1 @@",
            "+diff --git a/z b/z",
            " diff --git a/z b/z"
        ]
    );
}

#[test]
fn empty_context_lines_may_come_without_their_blank() {
    let file = one("diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n\n\n-a\n+b\n");
    assert_eq!(lines(&file), [" ", " ", "-a", "+b"]);
}

#[test]
fn headers_without_hunks_say_what_happened() {
    let renamed = one(
        "diff --git a/old name b/new\nsimilarity index 100%\nrename from old name\nrename to new\n",
    );
    assert_eq!(renamed.change, Change::Renamed);
    assert_eq!(renamed.old_path, Some("old name".into()));
    assert_eq!(renamed.new_path, Some("new".into()));
    assert_eq!(renamed.similarity, Some(100));

    let copied = one(
        "diff --git a/a b/b\nsimilarity index 90%\ncopy from a\ncopy to b\nindex 1..2 100644\n\
         --- a/a\n+++ b/b\n@@ -1 +1 @@\n-1\n+2\n",
    );
    assert_eq!(copied.change, Change::Copied);

    let mode = one("diff --git a/b/b b/b/b\nold mode 100644\nnew mode 100755\n");
    assert_eq!((mode.path(), &mode.body), (&"b/b".into(), &Body::Unchanged));

    let empty = one("diff --git a/e b/e\nnew file mode 100644\nindex 0000..e69d\n");
    assert_eq!((empty.change, empty.old_path), (Change::Added, None));

    let gone = one("diff --git a/e b/e\ndeleted file mode 120000\nindex e69d..0000\n");
    assert_eq!((gone.change, gone.new_path), (Change::Deleted, None));

    let binary = one(
        "diff --git a/i.png b/i.png\nold mode 100644\nnew mode 100755\nindex 1..2\n\
         Binary files a/i.png and b/i.png differ\n",
    );
    assert_eq!(binary.body, Body::Binary);
    let literal = parse(
        b"diff --git a/i b/i\nindex 1..2 100644\nGIT binary patch\nliteral 2\nJcmZQz\n\nliteral 0\n\
          HcmV?d00001\n\ndiff --git a/j b/j\nold mode 100644\nnew mode 100755\n",
    );
    let literal = literal.unwrap();
    assert_eq!((literal.len(), &literal[0].body), (2, &Body::Binary));
}

#[test]
fn quoted_names_are_bytes() {
    let file = one(
        "diff --git \"a/t\\tq\\\"\\377\" \"b/t\\tq\\\"\\377\"\nindex 1..2 100644\n\
         --- \"a/t\\tq\\\"\\377\"\n+++ \"b/t\\tq\\\"\\377\"\n@@ -1 +1 @@\n-1\n+2\n",
    );
    assert_eq!(file.path().as_bytes(), b"t\tq\"\xff");
}

#[test]
fn conflicts_become_notes() {
    let files = parse(
        b"* Unmerged path both\ndiff --cc f\nindex 1,2..0\n--- a/f\n+++ b/f\n@@@ -1,1 -1,1 +1,2 @@@\n\
          ++<<<\n +diff --git a/x b/x\ndiff --git a/g b/g\nold mode 100644\nnew mode 100755\n",
    )
    .unwrap();
    let names: Vec<_> = files.iter().map(|file| file.path().to_string()).collect();
    assert_eq!(names, ["both", "f", "g"]);
    assert!(matches!(files[0].body, Body::Note(_)));
    assert!(matches!(files[1].body, Body::Note(_)));
}

#[test]
fn a_block_that_says_nothing_is_left_out() {
    assert!(parse(b"diff --git a/x b/x\n").unwrap().is_empty());
    assert!(parse(b"").unwrap().is_empty());
}

#[test]
fn text_that_does_not_add_up_is_an_error() {
    let head = "diff --git a/x b/x\n--- a/x\n+++ b/x\n";
    for rest in [
        "@@ -1,2 +1,2 @@\n one\n",
        "@@ -1,2 +1,2 @@\n one\ndiff --git a/y b/y\n",
        "@@ -1,1 +1,1 @@\n one\n+two\n",
        "@@ -1,1 +1,0 @@\n+two\n",
        "@@ -1 +4294967295,2 @@\n",
        "@@ -1 +1\n",
        "@@ -1,x +1 @@\n",
        "+stray\n",
    ] {
        assert!(parse(format!("{head}{rest}").as_bytes()).is_err(), "{rest}");
    }
    for text in [
        "stray\n",
        "@@ -1 +1 @@\n",
        "diff --git a/x b/y\nold mode 100644\n",
        "diff --git a/x b/x\nindex zz..yy\n",
        "diff --git a/x b/x\nold mode 9\n",
        "diff --git a/x b/x\n--- x\n",
        "* Unmerged path \n",
    ] {
        assert!(parse(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn what_is_over_the_limit_keeps_its_counts() {
    let text = format!(
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,3 @@\n-1\n+{}\n+2\n+3\n\
         diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-1\n+2\n",
        "long".repeat(100_000)
    );
    let limits = ReadLimits {
        max_file_bytes: 1000,
        max_patch_bytes: 5000,
    };
    let patch = parse_patch(&mut text.as_bytes(), &limits).unwrap();
    let Body::Omitted { size, reason, .. } = &patch.files[0].body else {
        panic!("kept")
    };
    assert_eq!(*size, 400_000 + 7);
    assert!(reason.contains("1000 bytes"), "{reason}");
    assert_eq!(patch.files[0].counts(), (3, 1));
    assert_eq!(lines(&patch.files[1]), ["-1", "+2"]);
}

/// A line of a generated hunk: its sign and its bytes.
fn any_line() -> impl Strategy<Value = (u8, Vec<u8>)> {
    let text =
        proptest::collection::vec(any::<u8>().prop_filter("no feed", |b| *b != b'\n'), 0..12);
    let header = prop::sample::select(vec![
        b"diff --git a/x b/x".to_vec(),
        b"@@ -1 +1 @@".to_vec(),
        b"-- a/x".to_vec(),
        b"++ b/x".to_vec(),
    ]);
    (
        prop::sample::select(b" +-".to_vec()),
        prop_oneof![text, header],
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_are_read_without_panic(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        drop(parse(&text));
    }

    #[test]
    fn any_order_of_patch_lines_is_read_without_panic(
        picks in proptest::collection::vec(0usize..18, 0..30),
    ) {
        let pieces = [
            "diff --git a/x b/x", "--- a/x", "+++ b/x", "@@ -1,2 +1,2 @@", "@@ -0,0 +1 @@ s",
            " c", "+a", "-r", "", "\\ No newline at end of file", "rename from x", "rename to y",
            "new file mode 100644", "deleted file mode 100644", "GIT binary patch",
            "Binary files a/x and b/x differ", "* Unmerged path u", "diff --cc c",
        ];
        let text: Vec<_> = picks.iter().map(|&pick| pieces[pick]).collect();
        if let Ok(files) = parse(text.join("\n").as_bytes()) {
            for file in files {
                file.path();
                file.for_each_added(|_, _| {});
            }
        }
    }

    #[test]
    fn every_line_of_every_hunk_comes_back(
        files in proptest::collection::vec(proptest::collection::vec(any_line(), 1..8), 1..4),
    ) {
        let mut text = Vec::new();
        for (index, lines) in files.iter().enumerate() {
            let side = |other: u8| lines.iter().filter(|(sign, _)| *sign != other).count();
            text.extend(format!(
                "diff --git a/f{index} b/f{index}\n--- a/f{index}\n+++ b/f{index}\n@@ -1,{} +1,{} @@\n",
                side(b'+'), side(b'-'),
            ).bytes());
            for (sign, line) in lines {
                text.push(*sign);
                text.extend(line);
                text.push(b'\n');
            }
        }
        let parsed = parse(&text).unwrap();
        prop_assert_eq!(parsed.len(), files.len());
        for (file, lines) in parsed.iter().zip(&files) {
            let got: Vec<_> = file.hunks()[0].lines.iter().map(|line| {
                let sign = match line.kind {
                    LineKind::Context => b' ',
                    LineKind::Added => b'+',
                    LineKind::Removed => b'-',
                };
                (sign, file.text(line).to_vec())
            }).collect();
            prop_assert_eq!(&got, lines);
        }
    }
}
