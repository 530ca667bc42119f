//! Turns what the scans hit into findings: groups neighbours, limits repetition, orders.
//!
//! Owns the hits of one file (or message, or name) until [`Report::finish`]. At most
//! [`MAX_PER_RULE`] findings of one rule leave it, so a hostile patch cannot flood a review. They
//! are the most urgent ones: harmless hits must never hide one that a gate stops at. The last one
//! says how many places of which priority it stands for.

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
    /// The places of each rule and priority.
    places: BTreeMap<(&'static str, u8), Places>,
}

/// The places where one rule matched with one priority.
#[derive(Debug, Default)]
struct Places {
    /// The first ones, at most [`MAX_PER_RULE`].
    listed: Vec<Group>,
    /// How many there are beside the listed ones.
    unlisted: usize,
    /// The last line of the last place, listed or not.
    end: u32,
}

/// Neighbouring lines with one finding.
#[derive(Debug)]
struct Group {
    hit: Hit,
    words: Words,
}

impl Report {
    /// Starts a report; `path` is what its findings point at.
    pub(super) fn new(path: String, anchor: Option<Anchor>) -> Self {
        Self {
            path,
            anchor,
            places: BTreeMap::new(),
        }
    }

    /// Takes a hit. A rule's hits must come in the order of lines; `words` is only asked when the
    /// hit opens a finding of its own.
    pub(super) fn add(&mut self, mut hit: Hit, words: impl FnOnce() -> Words) {
        if self.anchor.is_some() {
            hit.lines = LineRange { start: 1, end: 1 };
        }
        let places = self.places.entry((hit.rule, hit.priority)).or_default();
        let is_first = places.listed.is_empty();
        let is_adjacent = !is_first && hit.lines.start <= places.end.saturating_add(1);
        places.end = places.end.max(hit.lines.end);
        if is_adjacent {
            if let (0, Some(last)) = (places.unlisted, places.listed.last_mut()) {
                last.hit.lines.end = places.end;
            }
        } else if places.listed.len() < MAX_PER_RULE {
            let words = words();
            places.listed.push(Group { hit, words });
        } else {
            places.unlisted += 1;
        }
    }

    /// Appends the findings in the order of lines, then of rules and priorities.
    pub(super) fn finish(self, findings: &mut Vec<Finding>) {
        let mut rules: BTreeMap<&'static str, Vec<(u8, Places)>> = BTreeMap::new();
        for ((rule, priority), places) in self.places {
            rules.entry(rule).or_default().push((priority, places));
        }
        let mut groups: Vec<Group> = rules.into_values().flat_map(most_urgent).collect();
        groups.sort_by_key(|group| (group.hit.lines.start, group.hit.rule, group.hit.priority));
        let (path, anchor) = (&self.path, self.anchor);
        findings.extend(groups.into_iter().map(|group| {
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

/// Returns the most urgent places of one rule, whose priorities come in order, and lets the last
/// of them in the file tell of the rest.
fn most_urgent(priorities: Vec<(u8, Places)>) -> Vec<Group> {
    let mut kept: Vec<Group> = Vec::new();
    let mut left_out = Vec::new();
    for (
        priority,
        Places {
            listed, unlisted, ..
        },
    ) in priorities
    {
        let room = MAX_PER_RULE - kept.len();
        let more = unlisted + listed.len().saturating_sub(room);
        kept.extend(listed.into_iter().take(room));
        if more > 0 {
            left_out.push((priority, more));
        }
    }
    let last = kept.iter_mut().max_by_key(|group| group.hit.lines.start);
    if let (Some(last), false) = (last, left_out.is_empty()) {
        last.words.body.push_str(&rest(&left_out));
    }
    kept
}

/// Says how many places are not listed, by priority.
fn rest(left_out: &[(u8, usize)]) -> String {
    let count: usize = left_out.iter().map(|(_, count)| count).sum();
    let counts: Vec<_> = left_out
        .iter()
        .map(|(priority, count)| format!("P{priority} {count}"))
        .collect();
    let (places, are) = match count {
        1 => ("place", "is"),
        _ => ("places", "are"),
    };
    format!(
        " The same rule matched at {count} more {places} in this file that {are} not listed ({}).",
        counts.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
        assert!(
            last.contains("980 more places in this file that are not listed (P2 980)"),
            "{last}"
        );
    }

    #[test]
    fn harmless_hits_hide_nothing_urgent() {
        let mut report = Report::new("/r/a".to_owned(), None);
        for line in 0..1_000 {
            let priority = match line {
                500 => 1,
                999 => 0,
                _ => 3,
            };
            report.add(Hit::on_line("rule", 1 + line * 2, priority, 0.5), words);
        }
        let mut found = Vec::new();
        report.finish(&mut found);
        let priorities: Vec<_> = found
            .iter()
            .map(|it| it.priority.unwrap_or(Priority(9)).0)
            .collect();
        let mut expected = [3; MAX_PER_RULE];
        expected[MAX_PER_RULE - 2..].copy_from_slice(&[1, 0]);
        assert_eq!(priorities, expected);
        let last = &found[MAX_PER_RULE - 1].body;
        assert!(last.contains("(P3 980)"), "{last}");
    }

    #[test]
    fn one_more_place_reads_well() {
        let count = u32::try_from(MAX_PER_RULE).unwrap_or(0);
        let found = findings((0..=count).map(|line| 1 + line * 2), None);
        let last = &found[MAX_PER_RULE - 1].body;
        assert!(
            last.contains("1 more place in this file that is not listed (P2 1)"),
            "{last}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn the_cap_changes_no_gate(priorities in prop::collection::vec(0..4_u8, 1..200)) {
            let mut report = Report::new("/r/a".to_owned(), None);
            for (line, &priority) in (1..).step_by(2).zip(&priorities) {
                report.add(Hit::on_line("rule", line, priority, 0.5), words);
            }
            let mut found = Vec::new();
            report.finish(&mut found);
            prop_assert_eq!(found.len(), priorities.len().min(MAX_PER_RULE));
            let mut shown: Vec<u8> = found.iter().filter_map(|it| Some(it.priority?.0)).collect();
            shown.sort_unstable();
            let mut all = priorities;
            all.sort_unstable();
            prop_assert_eq!(&shown[..], &all[..shown.len()]);
        }
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
