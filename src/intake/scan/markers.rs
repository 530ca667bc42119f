//! Merge markers left in a file.
//!
//! A start marker with its label is enough: nothing else begins with it. Without a label the whole
//! conflict must be there. A lone row of equals signs is a heading underline, and an end marker
//! alone is reported outside prose, where it could be a quotation.

use super::report::{Hit, Report, Words};
use super::text::Text;

const RULE: &str = "merge-marker";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Start { labelled: bool },
    Separator,
    End { labelled: bool },
}

/// Where in a conflict a line is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    /// In a conflict that is reported already.
    Inside,
    /// Behind a start marker without a label, which may be none.
    Perhaps {
        start: u32,
        separated: bool,
    },
}

/// Reports each conflict once, at its first marker.
pub(super) fn scan(text: &Text<'_>, report: &mut Report) {
    let mut place = Place::Outside;
    let mut add = |line, priority, confidence| {
        let priority = text.kind.soften(priority);
        report.add(Hit::on_line(RULE, line, priority, confidence), words);
    };
    for line in &text.lines {
        let Some(marker) = marker(text.without_mark(*line)) else {
            continue;
        };
        place = match (marker, place) {
            (Marker::Start { labelled: true }, _) => {
                add(line.number, 1, 0.95);
                Place::Inside
            }
            (Marker::Start { labelled: false }, Place::Inside) => Place::Inside,
            (Marker::Start { labelled: false }, _) => Place::Perhaps {
                start: line.number,
                separated: false,
            },
            (Marker::Separator, Place::Perhaps { start, .. }) => Place::Perhaps {
                start,
                separated: true,
            },
            (Marker::Separator, place) => place,
            (
                Marker::End { .. },
                Place::Perhaps {
                    start,
                    separated: true,
                },
            ) => {
                add(start, 1, 0.9);
                Place::Outside
            }
            (Marker::End { labelled: true }, Place::Outside | Place::Perhaps { .. }) => {
                if !text.kind.prose {
                    add(line.number, 2, 0.7);
                }
                Place::Outside
            }
            (Marker::End { .. }, _) => Place::Outside,
        };
    }
}

fn marker(line: &[u8]) -> Option<Marker> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let (head, rest) = line.split_at_checked(7)?;
    // Git writes exactly seven signs, and a label after a blank where it knows one.
    let labelled = match rest {
        [] => false,
        [b' ', _, ..] => true,
        _ => return None,
    };
    match head {
        b"<<<<<<<" => Some(Marker::Start { labelled }),
        b"=======" if !labelled => Some(Marker::Separator),
        b">>>>>>>" => Some(Marker::End { labelled }),
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
        let (labelled, bare) = (true, false);
        let start = |labelled| Some(Marker::Start { labelled });
        let end = |labelled| Some(Marker::End { labelled });
        assert_eq!(marker(b"<<<<<<< HEAD"), start(labelled));
        assert_eq!(marker(b"<<<<<<<"), start(bare));
        assert_eq!(marker(b">>>>>>> feature\r"), end(labelled));
        assert_eq!(marker(b">>>>>>>\r"), end(bare));
        assert_eq!(marker(b"=======\r"), Some(Marker::Separator));
        for other in [
            "<<<<<<<< HEAD",
            "<<<<<<< ",
            "======= x",
            " <<<<<<< HEAD",
            "========",
            "=======x",
            ">>>",
        ] {
            assert_eq!(marker(other.as_bytes()), None, "{other}");
        }
    }
}
