use diffwarden_actors::model::{LineKind, Mode};
use proptest::prelude::*;

use super::super::sample::{ReadFile, added, any_file, division, edited, push_hunk, read};
use super::*;

fn extent(file: &FilePatch) -> Extent {
    let mut text = Vec::new();
    write_file(file, &mut text);
    Extent {
        bytes: text.len() as u64,
        counts: Counts::of(file),
    }
}

fn shown(file: &ReadFile) -> Counts {
    let rows = file.hunks.iter().flat_map(|hunk| &hunk.rows);
    rows.fold(Counts::default(), |mut counts, row| {
        counts.added += u64::from(row.0 == LineKind::Added);
        counts.removed += u64::from(row.0 == LineKind::Removed);
        counts
    })
}

#[test]
fn cuts_between_lines_and_says_so() {
    let mut file = added("log.txt", &["a"; 500]);
    file.old_id = None;
    let block = Block::new(&file, &extent(&file), 400);
    assert!(block.size.bytes <= 400);
    assert_eq!(block.sent, Sent::Clipped);
    let expected = "\
diff --git a/log.txt b/log.txt
new file mode 100644
--- /dev/null
+++ b/log.txt
@@ -0,0 +1,44 @@
";
    assert!(block.text.starts_with(expected), "{}", block.text);
    assert_eq!(
        block.text.lines().last().unwrap(),
        "(diffwarden: the diff of \"log.txt\" goes on, but the rest is not shown: it has 1598 \
         bytes and one file may take 400 bytes; +44 -0 of +500 -0 changed lines are shown)"
    );
    assert_eq!(
        block.reason.as_deref(),
        Some(
            "cut short: its diff has 1598 bytes and one file may take 400 bytes; \
             sent +44 -0 of +500 -0 changed lines"
        )
    );
}

#[test]
fn a_cut_side_without_lines_starts_before_the_change() {
    let mut file = edited("a.txt");
    let row = |kind| (kind, b"text of a line".to_vec(), false);
    let mut rows = vec![row(LineKind::Removed); 40];
    rows.extend(vec![row(LineKind::Added); 40]);
    push_hunk(&mut file, (7, 9), b"", rows);
    let block = Block::new(&file, &extent(&file), 420);
    let kept = block.shown.removed;
    assert!(kept > 1 && block.shown.added == 0);
    let header = format!("\n@@ -7,{kept} +8,0 @@\n");
    assert!(block.text.contains(&header), "{}", block.text);
}

#[test]
fn names_a_file_of_which_no_line_fits() {
    let long = "x".repeat(2000);
    let file = added("min.js", &[&long]);
    let extent = extent(&file);
    let block = Block::new(&file, &extent, 1000);
    assert_eq!(block.shown, Counts::default());
    let bytes = extent.bytes;
    let remark =
        format!("\n(diffwarden: diff not shown for its size: {bytes} bytes, +1 -0 lines)\n");
    assert!(block.text.ends_with(&remark), "{}", block.text);
    let reason = format!("only named: its diff has {bytes} bytes and one file may take 1000 bytes");
    assert_eq!(block.reason, Some(reason));
}

#[test]
fn keeps_the_whole_at_the_limit_and_cuts_one_below() {
    let file = added("a.txt", &["some text"; 100]);
    let extent = extent(&file);
    let size = usize::try_from(extent.bytes).unwrap();
    assert_eq!(Block::new(&file, &extent, size).sent, Sent::Whole);
    assert_eq!(Block::new(&file, &extent, size - 1).sent, Sent::Clipped);
}

#[test]
fn tells_what_there_is_to_send() {
    let sent = |file: &FilePatch| Block::new(file, &extent(file), usize::MAX).sent;
    assert_eq!(sent(&division()), Sent::Whole);
    let mut submodule = division();
    submodule.new_mode = Some(Mode(0o160_000));
    assert_eq!(sent(&submodule), Sent::Metadata);
    let mut file = edited("x");
    assert_eq!(sent(&file), Sent::Metadata);
    file.body = Body::Binary;
    assert_eq!(sent(&file), Sent::Binary);
    file.body = Body::Omitted {
        added: 0,
        removed: 0,
        size: 9,
        reason: "over the limit".to_owned(),
    };
    let block = Block::new(&file, &extent(&file), usize::MAX);
    assert_eq!(block.sent, Sent::Clipped);
    assert_eq!(
        block.reason.as_deref(),
        Some("contents not sent: over the limit; the file has 9 bytes")
    );
    file.body = Body::Omitted {
        added: 0,
        removed: 0,
        size: 0,
        reason: "it cannot be read".to_owned(),
    };
    let block = Block::new(&file, &extent(&file), usize::MAX);
    assert_eq!(block.sent, Sent::Clipped);
    assert!(
        block
            .text
            .ends_with("\n(diffwarden: contents not shown: it cannot be read)\n")
    );
}

#[test]
fn a_file_whose_text_grows_in_print_is_named_where_that_is_shorter() {
    let mut is_met = false;
    for length in 0..100 {
        let mut file = edited("a");
        // Each byte that is no UTF-8 takes three in print.
        let rows = vec![(LineKind::Added, vec![0x80; length], false)];
        push_hunk(&mut file, (1, 1), b"", rows);
        let extent = extent(&file);
        let named = Block::named(&file, &extent, Limit::File(0)).text.len();
        let whole = printed(|out| write_file(&file, out)).len();
        is_met |= extent.bytes <= named as u64 && whole > named;
        let block = Block::new(&file, &extent, 0);
        assert_eq!(block.size.bytes, named.min(whole), "{length}");
    }
    assert!(is_met);
}

proptest! {
    #[test]
    fn nothing_goes_over_the_limit_or_missing(file in any_file(), max_bytes in 0_usize..1500) {
        let extent = extent(&file);
        let block = Block::new(&file, &extent, max_bytes);
        let whole = printed(|out| write_file(&file, out));
        let named = Block::named(&file, &extent, Limit::File(max_bytes));
        prop_assert_eq!(block.size, Size::of(&block.text));
        if !file.hunks().is_empty() {
            let least = whole.len().min(named.text.len());
            prop_assert!(block.size.bytes <= max_bytes.max(least));
        }

        let [back] = <[ReadFile; 1]>::try_from(read(block.text.as_bytes())).unwrap();
        let [all] = <[ReadFile; 1]>::try_from(read(whole.as_bytes())).unwrap();
        prop_assert_eq!(block.shown, shown(&back));
        let is_counted_only = matches!(file.body, Body::Omitted { .. });
        if block.text == whole && !is_counted_only {
            prop_assert_eq!(block.shown, extent.counts);
        } else {
            prop_assert_eq!(block.sent, Sent::Clipped);
            prop_assert!(block.reason.is_some() && back.remark.is_some());
        }
        for (index, (part, hunk)) in back.hunks.iter().zip(&all.hunks).enumerate() {
            prop_assert!(hunk.rows.starts_with(&part.rows));
            prop_assert!(index + 1 == back.hunks.len() || part == hunk);
        }
    }
}
