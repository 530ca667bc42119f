//! The canonical text of a patch: what git would print, from the model.
//!
//! Hunks are printed without loss, so reading the text back gives the same hunks. What the model
//! holds no lines for gets a remark on a line that starts with `(diffwarden:`; lines of files start
//! with a blank, `+`, `-` or `\`, so neither can be taken for the other.

use diffwarden_actors::model::{
    Body, Change, FilePatch, Hunk, Line, LineKind, Mode, Patch, RepoPath,
};

use super::quote::{file_name, one_line};

const NO_NEWLINE: &[u8] = b"\\ No newline at end of file\n";

/// Takes the text piece by piece, so that it can be measured without being kept.
pub(super) trait Output {
    /// Takes the next bytes.
    fn put(&mut self, bytes: &[u8]);
}

impl Output for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

/// Prints every file of a patch, in its order.
pub fn print_patch(patch: &Patch, out: &mut Vec<u8>) {
    for file in &patch.files {
        print_file(file, out);
    }
}

/// Prints one file of a patch.
pub fn print_file(file: &FilePatch, out: &mut Vec<u8>) {
    write_file(file, out);
}

/// Writes one file of a patch.
pub(super) fn write_file(file: &FilePatch, out: &mut impl Output) {
    write_header(file, out);
    match &file.body {
        Body::Unchanged => {}
        Body::Binary => {
            let [old, new] = labels(file);
            write_line(out, &["Binary files ", &old, " and ", &new, " differ"]);
        }
        Body::Hunks(hunks) if hunks.is_empty() => {}
        Body::Hunks(hunks) => {
            write_sides(file, out);
            for hunk in hunks {
                write_hunk(file, hunk, out);
            }
        }
        Body::Omitted { size, reason, .. } => {
            let size = size_clause(*size);
            write_remark(&format!("contents not shown: {reason}{size}"), out);
        }
        Body::Note(note) => write_remark(note, out),
    }
}

/// Returns what is said about the size of a file without lines; nothing where it is not known.
pub(super) fn size_clause(size: u64) -> String {
    match size {
        0 => String::new(),
        size => format!("; the file has {size} bytes"),
    }
}

/// Writes the lines before the contents: names, modes, similarity and ids.
pub(super) fn write_header(file: &FilePatch, out: &mut impl Output) {
    let old = file.old_path.as_ref().unwrap_or_else(|| file.path());
    let new = file.path();
    let [from, to] = [
        file_name("a/", old.as_bytes()),
        file_name("b/", new.as_bytes()),
    ];
    write_line(out, &["diff --git ", &from, " ", &to]);
    write_modes(file, out);
    if matches!(file.change, Change::Renamed | Change::Copied) {
        write_origin(file, old, new, out);
    }
    if let (Some(old_id), Some(new_id)) = (&file.old_id, &file.new_id) {
        let mode = match (file.old_mode, file.new_mode) {
            (Some(old), Some(new)) if old == new => format!(" {}", octal(old)),
            _ => String::new(),
        };
        write_line(out, &["index ", old_id, "..", new_id, &mode]);
    }
}

fn write_modes(file: &FilePatch, out: &mut impl Output) {
    let mut say = |what: &str, mode: Option<Mode>| {
        if let Some(mode) = mode {
            write_line(out, &[what, &octal(mode)]);
        }
    };
    match file.change {
        Change::Added => say("new file mode ", file.new_mode),
        Change::Deleted => say("deleted file mode ", file.old_mode),
        Change::Modified | Change::Renamed | Change::Copied => {
            if file.old_mode.is_some() && file.new_mode.is_some() && file.old_mode != file.new_mode
            {
                say("old mode ", file.old_mode);
                say("new mode ", file.new_mode);
            }
        }
    }
}

fn write_origin(file: &FilePatch, old: &RepoPath, new: &RepoPath, out: &mut impl Output) {
    let verb = match file.change {
        Change::Copied => "copy",
        _ => "rename",
    };
    if let Some(percent) = file.similarity {
        write_line(out, &["similarity index ", &percent.to_string(), "%"]);
    }
    write_line(out, &[verb, " from ", &file_name("", old.as_bytes())]);
    write_line(out, &[verb, " to ", &file_name("", new.as_bytes())]);
}

/// Writes the two lines that name the sides of the hunks.
pub(super) fn write_sides(file: &FilePatch, out: &mut impl Output) {
    for (marker, label) in ["--- ", "+++ "].into_iter().zip(labels(file)) {
        // Git ends a name with blanks in it by a tab, so that it can be told from a time stamp.
        let end = if label.contains(' ') { "\t" } else { "" };
        write_line(out, &[marker, &label, end]);
    }
}

/// Writes one hunk: its header and its lines.
pub(super) fn write_hunk(file: &FilePatch, hunk: &Hunk, out: &mut impl Output) {
    write_hunk_header(hunk, out);
    for line in &hunk.lines {
        write_hunk_line(file, line, out);
    }
}

/// Writes the `@@` line of a hunk.
pub(super) fn write_hunk_header(hunk: &Hunk, out: &mut impl Output) {
    let old = range(hunk.old_start, hunk.old_lines);
    let new = range(hunk.new_start, hunk.new_lines);
    out.put(format!("@@ -{old} +{new} @@").as_bytes());
    if !hunk.section.is_empty() {
        out.put(b" ");
        out.put(&hunk.section);
    }
    out.put(b"\n");
}

/// Writes one line of a hunk.
pub(super) fn write_hunk_line(file: &FilePatch, line: &Line, out: &mut impl Output) {
    out.put(match line.kind {
        LineKind::Context => b" ",
        LineKind::Added => b"+",
        LineKind::Removed => b"-",
    });
    out.put(file.text(line));
    out.put(b"\n");
    if line.no_newline {
        out.put(NO_NEWLINE);
    }
}

/// Writes a remark of diffwarden's own, on one line.
pub(super) fn write_remark(remark: &str, out: &mut impl Output) {
    write_line(out, &["(diffwarden: ", &one_line(remark), ")"]);
}

fn write_line(out: &mut impl Output, pieces: &[&str]) {
    for piece in pieces {
        out.put(piece.as_bytes());
    }
    out.put(b"\n");
}

fn labels(file: &FilePatch) -> [String; 2] {
    let label = |prefix: &str, path: &Option<RepoPath>| match path {
        Some(path) => file_name(prefix, path.as_bytes()),
        None => "/dev/null".to_owned(),
    };
    [label("a/", &file.old_path), label("b/", &file.new_path)]
}

fn range(start: u32, lines: u32) -> String {
    match lines {
        1 => start.to_string(),
        _ => format!("{start},{lines}"),
    }
}

fn octal(mode: Mode) -> String {
    format!("{:06o}", mode.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sample::{ReadHunk, added, any_patch, division, edited, push_hunk, read};
    use super::*;

    fn printed(file: &FilePatch) -> String {
        let mut out = Vec::new();
        print_file(file, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn prints_an_edit_as_git_does() {
        let expected = "\
diff --git a/src/math.js b/src/math.js
index aed6348..9880a2c 100644
--- a/src/math.js
+++ b/src/math.js
@@ -3,6 +3,5 @@ export function add(a, b) {
 }
 
 export function div(a, b) {
-  if (b === 0) throw new Error(\"zero\");
-  return a / b;
+  return a / b; // no check
 }
";
        assert_eq!(printed(&division()), expected);
    }

    #[test]
    fn prints_new_and_deleted_files() {
        let new = added("dir with space/new file.txt", &["one\r"]);
        assert_eq!(
            printed(&new),
            "diff --git a/dir with space/new file.txt b/dir with space/new file.txt\n\
             new file mode 100644\n\
             index 0000000..9880a2c\n\
             --- /dev/null\n\
             +++ b/dir with space/new file.txt\t\n\
             @@ -0,0 +1 @@\n\
             +one\r\n"
        );

        let mut deleted = edited("gone.bin");
        deleted.change = Change::Deleted;
        deleted.new_path = None;
        deleted.new_mode = None;
        deleted.body = Body::Binary;
        assert_eq!(
            printed(&deleted),
            "diff --git a/gone.bin b/gone.bin\n\
             deleted file mode 100644\n\
             index aed6348..9880a2c\n\
             Binary files a/gone.bin and /dev/null differ\n"
        );

        let mut empty = added("empty.txt", &[]);
        empty.body = Body::Unchanged;
        empty.old_id = None;
        assert_eq!(
            printed(&empty),
            "diff --git a/empty.txt b/empty.txt\nnew file mode 100644\n"
        );
    }

    #[test]
    fn prints_renames_and_modes() {
        let mut moved = edited("new.sh");
        moved.change = Change::Renamed;
        moved.old_path = Some(RepoPath::new(b"old\xe9.sh".to_vec()));
        moved.similarity = Some(83);
        moved.new_mode = Some(Mode(0o100_755));
        assert_eq!(
            printed(&moved),
            "diff --git \"a/old\\351.sh\" b/new.sh\n\
             old mode 100644\n\
             new mode 100755\n\
             similarity index 83%\n\
             rename from \"old\\351.sh\"\n\
             rename to new.sh\n\
             index aed6348..9880a2c\n"
        );
        moved.change = Change::Copied;
        moved.new_mode = moved.old_mode;
        moved.new_id = None;
        let copied = printed(&moved);
        assert!(copied.contains("copy from \"old\\351.sh\"\ncopy to new.sh\n"));
        assert!(!copied.contains("index aed") && !copied.contains("mode"));
    }

    #[test]
    fn prints_a_missing_newline() {
        let mut link = added("leak.txt", &[]);
        link.new_mode = Some(Mode(0o120_000));
        link.body = Body::Unchanged;
        let target = (LineKind::Added, b"../secret.txt".to_vec(), true);
        push_hunk(&mut link, (0, 1), b"", vec![target]);
        let text = printed(&link);
        assert!(text.ends_with("@@ -0,0 +1 @@\n+../secret.txt\n\\ No newline at end of file\n"));
    }

    #[test]
    fn says_in_one_line_what_it_has_no_lines_for() {
        let mut file = added("big.log", &[]);
        file.body = Body::Omitted {
            added: 0,
            removed: 0,
            size: 62_914_560,
            reason: "over the limit\n+forged line".to_owned(),
        };
        let text = printed(&file);
        assert_eq!(
            text.lines().last().unwrap(),
            "(diffwarden: contents not shown: over the limit +forged line; \
             the file has 62914560 bytes)"
        );
        file.body = Body::Note("a folder that holds another repository".to_owned());
        let text = printed(&file);
        assert!(text.ends_with("\n(diffwarden: a folder that holds another repository)\n"));
    }

    fn hunks_of(file: &FilePatch) -> Vec<ReadHunk> {
        let rows = |hunk: &Hunk| {
            let lines = hunk.lines.iter();
            lines
                .map(|line| (line.kind, file.text(line).to_vec(), line.no_newline))
                .collect()
        };
        file.hunks()
            .iter()
            .map(|hunk| ReadHunk {
                start: (hunk.old_start, hunk.new_start),
                section: hunk.section.clone(),
                rows: rows(hunk),
            })
            .collect()
    }

    proptest! {
        #[test]
        fn hunks_are_printed_without_loss(patch in any_patch()) {
            let mut text = Vec::new();
            print_patch(&patch, &mut text);
            let files = read(&text);
            prop_assert_eq!(files.len(), patch.files.len());
            for (file, back) in patch.files.iter().zip(files) {
                prop_assert_eq!(hunks_of(file), back.hunks);
                let has_remark = matches!(file.body, Body::Omitted { .. } | Body::Note(_));
                prop_assert_eq!(back.remark.is_some(), has_remark);
                prop_assert!(back.header.iter().all(|line| !line.contains(&b'\r')));
            }
        }
    }
}
