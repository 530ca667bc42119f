//! Cutting a file's change between its lines, so that what is left is still a patch.

use diffwarden_actors::model::{FilePatch, Hunk, LineKind};

use super::block::{Counts, printed};
use super::print::{write_hunk, write_hunk_header};

/// What a `\ No newline at end of file` line takes, in bytes.
const NO_NEWLINE_BYTES: usize = 29;
/// What the header of a hunk can grow by when lines are taken off: `,1` is not printed, `,0` is.
const HEADER_GROWTH: usize = 4;

/// Appends as many hunks, and then lines of the next one, as fit into `room` bytes.
pub(super) fn push_hunks(file: &FilePatch, mut room: usize, text: &mut String) -> Counts {
    let mut shown = Counts::default();
    for hunk in file.hunks() {
        let kept = lines_that_fit(file, hunk, room);
        if kept == 0 {
            break;
        }
        let part = first_lines(hunk, kept);
        let printed = printed(|out| write_hunk(file, &part, out));
        room = room.saturating_sub(printed.len());
        text.push_str(&printed);
        for line in &part.lines {
            match line.kind {
                LineKind::Added => shown.added += 1,
                LineKind::Removed => shown.removed += 1,
                LineKind::Context => {}
            }
        }
        if kept < hunk.lines.len() {
            break;
        }
    }
    shown
}

/// Returns how many lines of a hunk fit; 0 when none of them would be a changed one.
fn lines_that_fit(file: &FilePatch, hunk: &Hunk, room: usize) -> usize {
    let header = printed(|out| write_hunk_header(hunk, out)).len() + HEADER_GROWTH;
    let Some(mut room) = room.checked_sub(header) else {
        return 0;
    };
    let mut kept = 0;
    for line in &hunk.lines {
        let no_newline = if line.no_newline { NO_NEWLINE_BYTES } else { 0 };
        let taken = lossy_length(file.text(line)) + 2 + no_newline;
        let Some(left) = room.checked_sub(taken) else {
            break;
        };
        room = left;
        kept += 1;
    }
    let has_change = hunk.lines[..kept]
        .iter()
        .any(|line| line.kind != LineKind::Context);
    if has_change { kept } else { 0 }
}

/// Returns a hunk of the first `kept` lines, with numbers that say so.
fn first_lines(hunk: &Hunk, kept: usize) -> Hunk {
    let lines = hunk.lines[..kept].to_vec();
    let mut part = Hunk {
        section: hunk.section.clone(),
        lines,
        ..*hunk
    };
    if kept == hunk.lines.len() {
        return part;
    }
    part.old_lines = count(&part, LineKind::Added);
    part.new_lines = count(&part, LineKind::Removed);
    // The start of a side without lines is the line before the change.
    if part.old_lines == 0 && hunk.old_lines > 0 {
        part.old_start = hunk.old_start.saturating_sub(1);
    }
    if part.new_lines == 0 && hunk.new_lines > 0 {
        part.new_start = hunk.new_start.saturating_sub(1);
    }
    part
}

/// Counts the lines of a side: all but those that are only on the other one.
fn count(hunk: &Hunk, not_on_it: LineKind) -> u32 {
    let lines = hunk.lines.iter().filter(|line| line.kind != not_on_it);
    u32::try_from(lines.count()).unwrap_or(u32::MAX)
}

fn lossy_length(bytes: &[u8]) -> usize {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.len(),
        Err(_) => String::from_utf8_lossy(bytes).len(),
    }
}
