//! Merge markers left in a file.
//!
//! A start marker is enough: nothing else begins with it. A lone row of equals signs is a heading
//! underline, and an end marker alone is reported outside prose, where it could be a quotation.

use super::report::{Hit, Report, Words};
use super::text::Text;

const RULE: &str = "merge-marker";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Start,
    Separator,
    End,
}

/// Reports each conflict once, at its first marker.
pub(super) fn scan(text: &Text<'_>, report: &mut Report) {
    let mut inside = false;
    for line in &text.lines {
        match marker(line.bytes) {
            Some(Marker::Start) => {
                inside = true;
                let priority = text.kind.soften(1);
                report.add(Hit::on_line(RULE, line.number, priority, 0.95), words);
            }
            Some(Marker::End) if inside => inside = false,
            Some(Marker::End) if !text.kind.prose => {
                let priority = text.kind.soften(2);
                report.add(Hit::on_line(RULE, line.number, priority, 0.7), words);
            }
            Some(Marker::End | Marker::Separator) | None => {}
        }
    }
}

fn marker(line: &[u8]) -> Option<Marker> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (head, rest) = line.split_at_checked(7)?;
    let marker = match head {
        b"<<<<<<<" => Marker::Start,
        b"=======" => Marker::Separator,
        b">>>>>>>" => Marker::End,
        _ => return None,
    };
    // Git writes exactly seven signs and a label after a blank.
    match (marker, rest) {
        (Marker::Separator, []) => Some(marker),
        (Marker::Start | Marker::End, [b' ', _, ..]) => Some(marker),
        _ => None,
    }
}

fn words() -> Words {
    Words {
        title: "Unresolved merge conflict marker".to_owned(),
        body: "This added line is a marker that git leaves where a merge could not be resolved. \
               The file holds both sides of the conflict and the markers as text, so it will not \
               compile, or it will say things that nobody wrote. Resolve the conflict, delete the \
               markers and check that one side was not lost."
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_exact_markers_count() {
        assert_eq!(marker(b"<<<<<<< HEAD"), Some(Marker::Start));
        assert_eq!(marker(b">>>>>>> feature\r"), Some(Marker::End));
        assert_eq!(marker(b"=======\r"), Some(Marker::Separator));
        for other in [
            "<<<<<<<",
            "<<<<<<<< HEAD",
            " <<<<<<< HEAD",
            "========",
            "=======x",
            ">>>",
        ] {
            assert_eq!(marker(other.as_bytes()), None, "{other}");
        }
    }
}
