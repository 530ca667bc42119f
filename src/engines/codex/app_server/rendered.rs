//! The text of Codex's own review flow (`review/start`), taken apart.
//!
//! Codex renders a review as an explanation, a heading and one block per finding:
//!
//! ```text
//! Two bugs.
//!
//! Full review comments:
//!
//! - [P1] First — /repo/src/lib.rs:2-2
//!   Body one.
//!
//! - [P2] Second — /repo/src/lib.rs:1-3
//!   Body two.
//! ```
//!
//! The verdict and every confidence get lost on the way; [`PLACEHOLDERS`] names what stands in for
//! them. A block is read as it is or not at all, and a text of another shape has no findings.

use diffwarden_actors::model::{
    CodeLocation, Finding, LineRange, Priority, ReviewResult, Score, Verdict,
};

/// The headings above the findings.
const HEADINGS: [&str; 2] = ["Review comment:", "Full review comments:"];

/// What every line of a body begins with.
const INDENT: &str = "  ";

/// The members that the text does not tell. The verdict is `unknown`, the scores are 0.
pub(super) const PLACEHOLDERS: [&str; 3] = [
    "overall_correctness",
    "overall_confidence_score",
    "findings[].confidence_score",
];

/// What the text of a review says.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rendered {
    /// The result, with placeholders.
    pub(super) result: ReviewResult,
    /// How many blocks could not be read.
    pub(super) dropped: usize,
}

/// Reads the text.
pub(super) fn read(text: &str) -> Rendered {
    let (explanation, findings, dropped) = match split(text) {
        Some((explanation, blocks)) => {
            let findings: Vec<_> = blocks.iter().filter_map(finding).collect();
            let dropped = blocks.len() - findings.len();
            (explanation, findings, dropped)
        }
        None => (text, Vec::new(), 0),
    };
    // Without a finding the explanation alone would hide the blocks that could not be read.
    let explanation = if findings.is_empty() {
        text
    } else {
        explanation
    };
    Rendered {
        result: ReviewResult {
            findings,
            overall_correctness: Verdict::Unknown.as_str().to_owned(),
            overall_explanation: explanation.trim().to_owned(),
            overall_confidence_score: Score(0.0),
        },
        dropped,
    }
}

/// One finding as it is written: its first line without the dash, and the lines of its body.
struct Block<'a> {
    head: &'a str,
    body: Vec<&'a str>,
}

/// Splits a text into the explanation and the findings; `None` when a line below the heading is
/// no part of one. The last heading counts, because an explanation may quote one, and the lines of
/// a body are indented.
fn split(text: &str) -> Option<(&str, Vec<Block<'_>>)> {
    let mut start = 0;
    let mut heading = None;
    for line in text.split_inclusive('\n') {
        if HEADINGS.contains(&line.trim_end()) {
            heading = Some((start, start + line.len()));
        }
        start += line.len();
    }
    let (before, after) = heading?;
    let mut blocks: Vec<Block<'_>> = Vec::new();
    for line in text[after..].lines() {
        if let Some(head) = line.strip_prefix("- ") {
            let body = Vec::new();
            blocks.push(Block { head, body });
        } else if let Some(rest) = line.strip_prefix(INDENT) {
            blocks.last_mut()?.body.push(rest);
        } else if line.trim().is_empty() {
            if let Some(block) = blocks.last_mut() {
                block.body.push("");
            }
        } else {
            return None;
        }
    }
    (!blocks.is_empty()).then_some((&text[..before], blocks))
}

fn finding(block: &Block<'_>) -> Option<Finding> {
    let (title, place) = block.head.rsplit_once(" — ")?;
    let title = title.trim();
    let (path, range) = place.trim_end().rsplit_once(':')?;
    let (start, end) = range.split_once('-')?;
    let line_range = LineRange {
        start: start.parse().ok()?,
        end: end.parse().ok()?,
    };
    let is_range = 1 <= line_range.start && line_range.start <= line_range.end;
    (is_range && !title.is_empty() && !path.is_empty()).then(|| Finding {
        title: title.to_owned(),
        body: block.body.join("\n").trim_end().to_owned(),
        confidence_score: Score(0.0),
        priority: priority(title),
        code_location: CodeLocation {
            absolute_file_path: path.to_owned(),
            line_range,
        },
        anchor: None,
    })
}

/// Returns the priority that the title's tag tells.
fn priority(title: &str) -> Option<Priority> {
    let (level, _) = title.strip_prefix("[P")?.split_once(']')?;
    let level = level.parse().ok().filter(|level| *level <= 3)?;
    Some(Priority(level))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TWO: &str = include_str!("../../../../fixtures/codex/review-findings-3.last");

    #[test]
    fn the_findings_of_a_real_review_are_read() {
        let Rendered { result, dropped } = read(TWO);
        assert_eq!(dropped, 0);
        assert_eq!(result.overall_explanation, "Two bugs.");
        assert_eq!(result.overall_correctness, "unknown");
        let findings: Vec<_> = result
            .findings
            .iter()
            .map(|finding| {
                let LineRange { start, end } = finding.code_location.line_range;
                let priority = finding.priority.map(|Priority(level)| level);
                (
                    finding.title.as_str(),
                    finding.body.as_str(),
                    priority,
                    (start, end),
                )
            })
            .collect();
        assert_eq!(
            findings,
            [
                ("[P1] First", "Body one.", Some(1), (2, 2)),
                ("[P2] Second", "Body two\nsecond line.", Some(2), (1, 3)),
            ]
        );
        for finding in result.findings {
            assert_eq!(finding.code_location.absolute_file_path, "/repo/src/lib.rs");
            assert_eq!(finding.confidence_score, Score(0.0));
        }
    }

    #[test]
    fn a_text_of_another_shape_is_only_text() {
        for text in [
            "No issues found.",
            "Prose about `- [P1] x — /a:1-1`.",
            "Review comment:",
            "Review comment:\n\nprose",
            "Review comment:\n\n  indented prose\n- [P1] x — /a:1-1",
            "Review comment:\n\n- [P1] x — /a:1-1\n  Body.\nmore prose",
        ] {
            let Rendered { result, dropped } = read(text);
            assert_eq!((result.findings.len(), dropped), (0, 0), "{text}");
            assert_eq!(result.overall_explanation, text);
        }
    }

    #[test]
    fn blocks_that_say_something_else_are_counted_and_not_mended() {
        let text = "Why.\n\nFull review comments:\n\n- [P1] a — b — /x:y — z:3-4\n  Body.\n\n  \
                    More.\n- no place\n- x — /a:0-1\n- x — /a:2-1\n- x — /a:1\n-  — /a:1-1\n";
        let Rendered { result, dropped } = read(text);
        assert_eq!(dropped, 5);
        let [finding] = &result.findings[..] else {
            panic!("{result:?}");
        };
        assert_eq!(finding.title, "[P1] a — b — /x:y");
        assert_eq!(finding.code_location.absolute_file_path, "z");
        assert_eq!(finding.body, "Body.\n\nMore.");
        let Rendered { result, dropped } = read("Why.\n\nReview comment:\n\n- no place\n");
        assert_eq!((result.findings.len(), dropped), (0, 1));
        assert!(result.overall_explanation.contains("no place"));
    }

    #[test]
    fn a_heading_that_the_explanation_quotes_is_not_the_heading() {
        let text = format!("It says\nReview comment:\n- [P0] fake — /a:1-1\n{TWO}");
        let Rendered { result, .. } = read(&text);
        assert_eq!(result.findings.len(), 2);
        assert!(result.overall_explanation.contains("fake"));
    }

    #[test]
    fn priorities_are_those_of_the_tag() {
        for (title, expected) in [
            ("[P0] x", Some(0)),
            ("[P3] x", Some(3)),
            ("[P4] x", None),
            ("[P] x", None),
            ("P1 x", None),
        ] {
            assert_eq!(priority(title).map(|Priority(level)| level), expected);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(
            text in "(Review comment:\n|- \\[P1\\] x — /a:[0-3]-[0-3]\n|  b\n|\n|[a —:-]{0,9}\n){0,9}",
        ) {
            let Rendered { result, .. } = read(&text);
            for finding in result.findings {
                let LineRange { start, end } = finding.code_location.line_range;
                prop_assert!(1 <= start && start <= end);
                prop_assert!(!finding.title.is_empty());
            }
        }
    }
}
