//! One file's part of the patch as it is sent: whole, cut short, or only named.

use diffwarden_actors::model::{Body, FilePatch, Mode, Sent};

use super::cut::push_hunks;
use super::fence::longest_run;
use super::print::{size_clause, write_file, write_header, write_remark, write_sides};
use super::quote::quoted_name;

/// One file's part of the sent text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// The text, ending in a line feed.
    pub(super) text: String,
    /// What it takes.
    pub(super) size: Size,
    /// How many added and removed lines can be seen in it.
    pub(super) shown: Counts,
    /// How much of the file's change that is.
    pub(super) sent: Sent,
    /// Why it is less than the whole, or what it is instead of lines.
    pub(super) reason: Option<String>,
}

/// The size of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Size {
    /// In bytes of UTF-8.
    pub(super) bytes: usize,
    /// In Unicode scalar values.
    pub(super) chars: usize,
    /// The longest run of backticks.
    pub(super) run: usize,
}

/// Numbers of changed lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Counts {
    /// Lines added.
    pub(super) added: u64,
    /// Lines removed.
    pub(super) removed: u64,
}

/// What is known of a file's change before any of it is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Extent {
    /// The size of its canonical text, in bytes.
    pub(super) bytes: u64,
    /// Its changed lines.
    pub(super) counts: Counts,
}

/// The limit that a file's change went over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Limit {
    /// Bytes of one file.
    File(usize),
    /// Bytes of the whole patch.
    Patch(usize),
    /// Unicode scalar values of the whole prompt.
    Prompt(usize),
}

impl Limit {
    fn describe(self) -> String {
        match self {
            Self::File(bytes) => format!("one file may take {bytes} bytes"),
            Self::Patch(bytes) => format!("the whole patch may take {bytes} bytes"),
            Self::Prompt(chars) => format!("the whole prompt may take {chars} characters"),
        }
    }
}

impl Size {
    /// Measures a text.
    pub(super) fn of(text: &str) -> Self {
        Self {
            bytes: text.len(),
            chars: text.chars().count(),
            run: longest_run(text),
        }
    }

    /// Returns the size of two texts that are separated by a line feed.
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            chars: self.chars + other.chars,
            run: self.run.max(other.run),
        }
    }
}

impl Counts {
    /// Counts the changed lines of a file.
    pub(super) fn of(file: &FilePatch) -> Self {
        let (added, removed) = file.counts();
        Self { added, removed }
    }

    /// Whether there are none.
    pub(super) fn is_empty(self) -> bool {
        self == Self::default()
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "+{} -{}", self.added, self.removed)
    }
}

impl Block {
    /// Prints a file, cut short when it would take more than `max_bytes`.
    ///
    /// The header and one remark are always there, also when they alone are over the limit.
    pub(super) fn new(file: &FilePatch, extent: &Extent, max_bytes: usize) -> Self {
        let can_be_cut = !file.hunks().is_empty();
        if can_be_cut && extent.bytes > max_bytes as u64 {
            return Self::cut(file, extent, max_bytes);
        }
        let text = printed(|out| write_file(file, out));
        // Replacing what is no UTF-8 can make it longer than its bytes were.
        if can_be_cut && text.len() > max_bytes {
            return Self::cut(file, extent, max_bytes);
        }
        let (sent, reason) = describe_whole(file);
        // A file whose lines were never read has a count of them and shows none.
        let shown = if can_be_cut {
            extent.counts
        } else {
            Counts::default()
        };
        Self::of(text, shown, sent, reason)
    }

    /// Says that secrets are masked in the file. One that is cut short or left out stays so: what
    /// the reason adds is how much of the rest can be read.
    pub(super) fn mask(&mut self, reason: &str) {
        if self.sent < Sent::Masked {
            self.sent = Sent::Masked;
        }
        if self.sent == Sent::Pruned {
            return;
        }
        self.reason = Some(match self.reason.take() {
            Some(other) => format!("{other}; {reason}"),
            None => reason.to_owned(),
        });
    }

    /// Prints nothing, for whoever reads the patch itself.
    pub(super) fn unprinted(file: &FilePatch, extent: &Extent) -> Self {
        let (sent, reason) = describe_whole(file);
        Self::of(String::new(), extent.counts, sent, reason)
    }

    /// Prints only what names the file; there can be thousands of them, so it is kept short.
    pub(super) fn named(file: &FilePatch, extent: &Extent, limit: Limit) -> Self {
        let Extent { bytes, counts } = extent;
        let text = printed(|out| {
            write_header(file, out);
            let remark = format!("diff not shown for its size: {bytes} bytes, {counts} lines");
            write_remark(&remark, out);
        });
        let limit = limit.describe();
        let reason = format!("only named: its diff has {bytes} bytes and {limit}");
        Self::of(text, Counts::default(), Sent::Clipped, Some(reason))
    }

    /// Prints only what names the file, because a reviewer should not spend time on it.
    pub(super) fn left_out(file: &FilePatch, extent: &Extent, reason: &str) -> Self {
        let Extent { bytes, counts } = extent;
        let text = printed(|out| {
            write_header(file, out);
            let remark = format!("diff left out, {reason}: {bytes} bytes, {counts} lines");
            write_remark(&remark, out);
        });
        Self::of(
            text,
            Counts::default(),
            Sent::Pruned,
            Some(reason.to_owned()),
        )
    }

    /// Prints what is shorter: the file, or only what names it.
    pub(super) fn brief(file: &FilePatch, extent: &Extent, limit: Limit) -> Self {
        let named = Self::named(file, extent, limit);
        if extent.bytes > named.size.bytes as u64 {
            return named;
        }
        // Replacing what is no UTF-8 can make it longer than its bytes were.
        let whole = Self::new(file, extent, usize::MAX);
        if whole.size.bytes <= named.size.bytes {
            whole
        } else {
            named
        }
    }

    fn cut(file: &FilePatch, extent: &Extent, max_bytes: usize) -> Self {
        let limit = Limit::File(max_bytes);
        let mut text = printed(|out| {
            write_header(file, out);
            write_sides(file, out);
        });
        let longest_remark = cut_remark(file, extent, extent.counts, limit);
        let room = max_bytes.saturating_sub(text.len() + longest_remark.len());
        let shown = push_hunks(file, room, &mut text);
        if shown.is_empty() {
            return Self::brief(file, extent, limit);
        }
        text.push_str(&cut_remark(file, extent, shown, limit));
        let reason = format!(
            "cut short: its diff has {} bytes and {}; sent {shown} of {} changed lines",
            extent.bytes,
            limit.describe(),
            extent.counts,
        );
        Self::of(text, shown, Sent::Clipped, Some(reason))
    }

    fn of(text: String, shown: Counts, sent: Sent, reason: Option<String>) -> Self {
        let size = Size::of(&text);
        Self {
            text,
            size,
            shown,
            sent,
            reason,
        }
    }
}

fn describe_whole(file: &FilePatch) -> (Sent, Option<String>) {
    let is_submodule = [file.old_mode, file.new_mode]
        .into_iter()
        .flatten()
        .any(Mode::is_submodule);
    match &file.body {
        Body::Hunks(hunks) if !hunks.is_empty() && !is_submodule => (Sent::Whole, None),
        Body::Hunks(_) if is_submodule => {
            let reason = "only the commit that the submodule points to, not what changed inside";
            (Sent::Metadata, Some(reason.to_owned()))
        }
        Body::Hunks(_) | Body::Unchanged => (Sent::Metadata, None),
        Body::Binary => (Sent::Binary, None),
        Body::Omitted { size, reason, .. } => {
            let reason = format!("contents not sent: {reason}{}", size_clause(*size));
            (Sent::Clipped, Some(reason))
        }
        Body::Note(note) => (Sent::Metadata, Some(note.clone())),
    }
}

fn cut_remark(file: &FilePatch, extent: &Extent, shown: Counts, limit: Limit) -> String {
    let name = quoted_name("", file.path().as_bytes());
    let Extent { bytes, counts } = extent;
    let limit = limit.describe();
    printed(|out| {
        let remark = format!(
            "the diff of {name} goes on, but the rest is not shown: it has {bytes} bytes and \
             {limit}; {shown} of {counts} changed lines are shown"
        );
        write_remark(&remark, out);
    })
}

/// Returns the text that `write` prints; bytes that are no UTF-8 become U+FFFD.
pub(super) fn printed(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes);
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests;
