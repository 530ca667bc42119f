//! Turns what the scans hit into findings: groups neighbours, limits repetition, orders.
//!
//! Owns the hits of one file (or message, or name) until [`Report::finish`]. At most
//! [`MAX_PER_RULE`] findings of one rule leave it, so a hostile patch cannot flood a review; the
//! last one says how many places it stands for.

use std::collections::BTreeMap;

use diffwarden_actors::model::{Anchor, CodeLocation, Finding, LineRange, Priority, Score};

/// How many findings of one rule are listed for one file.
pub(super) const MAX_PER_RULE: usize = 20;

/// One place where a rule matched.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hit {
    /// The rule's stable name.
    pub(super) rule: &'static str,
    /// The lines it matched on.
    pub(super) lines: LineRange,
    /// How urgent it is, 0 to 3.
    pub(super) priority: u8,
    /// How sure the rule is, 0 to 1.
    pub(super) confidence: f64,
}

impl Hit {
    /// Creates a hit on one line.
    pub(super) fn on_line(rule: &'static str, line: u32, priority: u8, confidence: f64) -> Self {
        let lines = LineRange {
            start: line,
            end: line,
        };
        Self {
            rule,
            lines,
            priority,
            confidence,
        }
    }
}

/// What a finding says. Must never hold text of the patch.
#[derive(Debug)]
pub(super) struct Words {
    /// The title without its `[Pn]` prefix.
    pub(super) title: String,
    /// One paragraph.
    pub(super) body: String,
}

/// The findings of one file, message or name in the making.
#[derive(Debug)]
pub(super) struct Report {
    path: String,
    anchor: Option<Anchor>,
    groups: Vec<Group>,
    rules: BTreeMap<&'static str, RuleState>,
}

#[derive(Debug)]
struct Group {
    hit: Hit,
    words: Words,
}

#[derive(Debug)]
struct RuleState {
    last: usize,
    listed: usize,
    unlisted: usize,
}

impl Report {
    /// Starts a report; `path` is what its findings point at.
    pub(super) fn new(path: String, anchor: Option<Anchor>) -> Self {
        Self {
            path,
            anchor,
            groups: Vec::new(),
            rules: BTreeMap::new(),
        }
    }

    /// Takes a hit. A rule's hits must come in the order of lines; `words` is only asked when the
    /// hit opens a finding of its own.
    pub(super) fn add(&mut self, mut hit: Hit, words: impl FnOnce() -> Words) {
        if self.anchor.is_some() {
            hit.lines = LineRange { start: 1, end: 1 };
        }
        if let Some(state) = self.rules.get_mut(hit.rule) {
            let last = &mut self.groups[state.last].hit;
            let adjacent = hit.lines.start <= last.lines.end.saturating_add(1);
            if adjacent && last.priority == hit.priority && state.unlisted == 0 {
                last.lines.end = last.lines.end.max(hit.lines.end);
                return;
            }
            if state.listed == MAX_PER_RULE {
                state.unlisted += 1;
                return;
            }
            state.listed += 1;
            state.last = self.groups.len();
        } else {
            let state = RuleState {
                last: self.groups.len(),
                listed: 1,
                unlisted: 0,
            };
            self.rules.insert(hit.rule, state);
        }
        let words = words();
        self.groups.push(Group { hit, words });
    }

    /// Appends the findings in the order of lines, then of rules.
    pub(super) fn finish(mut self, findings: &mut Vec<Finding>) {
        for state in self.rules.values().filter(|state| state.unlisted > 0) {
            let more = format!(
                " The same rule matched at {} more places in this file that are not listed.",
                state.unlisted
            );
            self.groups[state.last].words.body.push_str(&more);
        }
        self.groups
            .sort_by_key(|group| (group.hit.lines.start, group.hit.rule));
        let (path, anchor) = (&self.path, self.anchor);
        findings.extend(self.groups.into_iter().map(|group| {
            let Group { hit, words } = group;
            Finding {
                title: format!("[P{}] {}", hit.priority, words.title),
                body: words.body,
                confidence_score: Score(hit.confidence),
                priority: Some(Priority(hit.priority)),
                code_location: CodeLocation {
                    absolute_file_path: path.clone(),
                    line_range: hit.lines,
                },
                anchor,
            }
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        Words {
            title: "Title".to_owned(),
            body: "Body.".to_owned(),
        }
    }

    fn findings(lines: impl IntoIterator<Item = u32>, anchor: Option<Anchor>) -> Vec<Finding> {
        let mut report = Report::new("/r/a".to_owned(), anchor);
        for line in lines {
            report.add(Hit::on_line("rule", line, 2, 0.5), words);
        }
        let mut findings = Vec::new();
        report.finish(&mut findings);
        findings
    }

    #[test]
    fn neighbours_become_one_finding() {
        let found = findings([3, 4, 4, 5, 9], None);
        let ranges: Vec<_> = found
            .iter()
            .map(|finding| finding.code_location.line_range)
            .map(|range| (range.start, range.end))
            .collect();
        assert_eq!(ranges, [(3, 5), (9, 9)]);
        assert_eq!(found[0].title, "[P2] Title");
    }

    #[test]
    fn a_flood_is_counted_and_not_listed() {
        let found = findings((0..1_000).map(|line| 1 + line * 3), None);
        assert_eq!(found.len(), MAX_PER_RULE);
        let last = &found[MAX_PER_RULE - 1].body;
        assert!(last.contains("980 more places"), "{last}");
    }

    #[test]
    fn what_has_no_lines_is_one_finding_at_line_one() {
        let found = findings([3, 9, 12], Some(Anchor::CommitMessage));
        assert_eq!(found.len(), 1);
        let range = found[0].code_location.line_range;
        assert_eq!((range.start, range.end), (1, 1));
    }

    #[test]
    fn findings_are_sorted_by_line_then_rule() {
        let mut report = Report::new("/r/a".to_owned(), None);
        for (rule, line) in [("b", 7), ("b", 9), ("a", 2), ("a", 9)] {
            report.add(Hit::on_line(rule, line, 1, 0.5), || Words {
                title: format!("{rule}{line}"),
                body: String::new(),
            });
        }
        let mut found = Vec::new();
        report.finish(&mut found);
        let titles: Vec<_> = found.iter().map(|finding| finding.title.as_str()).collect();
        assert_eq!(titles, ["[P1] a2", "[P1] b7", "[P1] a9", "[P1] b9"]);
    }
}
