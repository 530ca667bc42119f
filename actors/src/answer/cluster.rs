//! Points out findings of several reviewers about the same place.
//!
//! The exact merge leaves apart what two reviewers word differently. A cluster says that such
//! findings lie together; it never drops, rewords or judges one, because two different defects can
//! share a line.

use std::collections::BTreeMap;

use super::merge::{MergedFinding, path_text};
use super::patch_lines::{PatchLines, Side};
use crate::model::{Cluster, LineRange, ReviewerId};

/// How many lines two findings of a cluster may lie apart.
const MAX_GAP: u32 = 3;

/// Finds the clusters among `findings`, whose names are `ids`, ordered by their first members.
/// `order` lists the reviewers as they were asked for.
pub fn find_clusters(
    findings: &[MergedFinding],
    ids: &[String],
    lines: &PatchLines<'_>,
    order: &[ReviewerId],
) -> Vec<Cluster> {
    let mut places: BTreeMap<(String, Side), Vec<usize>> = BTreeMap::new();
    for (index, merged) in findings.iter().enumerate() {
        // What is about no line lies beside none.
        if merged.finding.anchor.is_some() {
            continue;
        }
        let range = merged.finding.code_location.line_range;
        let path = merged.located.path.as_ref();
        let side = path.map_or(Side::Right, |path| lines.side(path, range));
        let place = (path_text(&merged.finding, &merged.located), side);
        places.entry(place).or_default().push(index);
    }
    let mut clusters: Vec<(usize, Cluster)> = Vec::new();
    for ((path, _), members) in places {
        for (line_range, members) in neighbours(findings, members) {
            let reported_by = reporters(findings, &members, order);
            if members.len() < 2 || reported_by.len() < 2 {
                continue;
            }
            let cluster = Cluster {
                path: path.clone(),
                line_range,
                members: members.iter().map(|&index| ids[index].clone()).collect(),
                reported_by,
            };
            clusters.push((members[0], cluster));
        }
    }
    clusters.sort_by_key(|&(first, _)| first);
    clusters.into_iter().map(|(_, cluster)| cluster).collect()
}

/// Chains findings of one place that overlap or lie close together, each chain with its range and
/// its members in result order.
fn neighbours(findings: &[MergedFinding], mut members: Vec<usize>) -> Vec<(LineRange, Vec<usize>)> {
    let range = |index: usize| findings[index].finding.code_location.line_range;
    members.sort_by_key(|&index| (range(index).start, range(index).end, index));
    let mut chains: Vec<(LineRange, Vec<usize>)> = Vec::new();
    for index in members {
        let next = range(index);
        match chains.last_mut() {
            Some((whole, chain)) if next.start <= whole.end.saturating_add(MAX_GAP) => {
                whole.end = whole.end.max(next.end);
                chain.push(index);
            }
            _ => chains.push((next, vec![index])),
        }
    }
    for (_, chain) in &mut chains {
        chain.sort_unstable();
    }
    chains
}

/// Returns who reported any of the members, in reviewer order; names not in `order` come last.
fn reporters(
    findings: &[MergedFinding],
    members: &[usize],
    order: &[ReviewerId],
) -> Vec<ReviewerId> {
    let mut names: Vec<&ReviewerId> = Vec::new();
    for name in members
        .iter()
        .flat_map(|&index| &findings[index].reviewer_ids)
    {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.sort_by_key(|name| {
        order
            .iter()
            .position(|id| id == *name)
            .unwrap_or(usize::MAX)
    });
    names.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::samples::{file_patch, finding, merged};
    use crate::model::{Anchor, Finding, Patch, RepoPath};
    use std::collections::HashSet;

    fn clusters_in(patch: &Patch, findings: &[(&str, Finding)]) -> Vec<Cluster> {
        let findings = merged(findings);
        let ids: Vec<String> = (0..findings.len()).map(|i| format!("f-{i}")).collect();
        let order = ["alpha", "beta", "gamma"].map(|name| ReviewerId(name.to_owned()));
        let path = RepoPath::from("a");
        let lines = PatchLines::new(patch, &HashSet::from([&path]));
        find_clusters(&findings, &ids, &lines, &order)
    }

    fn clusters(findings: &[(&str, Finding)]) -> Vec<Cluster> {
        clusters_in(&Patch::default(), findings)
    }

    fn at(path: &str, start: u32, end: u32) -> Finding {
        finding("[P1] t", path, start, end)
    }

    #[test]
    fn near_findings_of_two_reviewers_are_one_cluster() {
        for (start, end) in [(6, 6), (9, 9), (1, 3), (4, 20)] {
            let found = clusters(&[("beta", at("a", 6, 6)), ("alpha", at("a", start, end))]);
            assert_eq!(found.len(), 1, "{start}-{end}");
            assert_eq!(found[0].path, "a");
            assert_eq!(found[0].line_range.start, start.min(6));
            assert_eq!(found[0].line_range.end, end.max(6));
            assert_eq!(found[0].members, ["f-0", "f-1"]);
            let names: Vec<_> = found[0]
                .reported_by
                .iter()
                .map(|id| id.0.as_str())
                .collect();
            assert_eq!(names, ["alpha", "beta"]);
        }
    }

    #[test]
    fn far_findings_other_files_and_lone_reviewers_are_none() {
        let base = ("alpha", at("a", 6, 6));
        for other in [
            ("beta", at("a", 10, 10)),
            ("beta", at("a", 1, 2)),
            ("beta", at("b", 6, 6)),
            ("alpha", at("a", 6, 6)),
            (
                "beta",
                Finding {
                    anchor: Some(Anchor::Path),
                    ..at("a", 6, 6)
                },
            ),
        ] {
            assert_eq!(clusters(&[base.clone(), other]), []);
        }
        assert_eq!(clusters(&[("alpha,beta", at("a", 6, 6))]), []);
        assert_eq!(clusters(&[]), []);
    }

    #[test]
    fn chains_reach_as_far_as_their_links() {
        let found = clusters(&[
            ("alpha", at("a", 30, 30)),
            ("alpha", at("a", 1, 1)),
            ("beta", at("a", 7, 7)),
            ("alpha", at("a", 4, 4)),
            ("gamma", at("a", 33, 33)),
        ]);
        let members: Vec<_> = found.iter().map(|c| c.members.clone()).collect();
        assert_eq!(members, [vec!["f-0", "f-4"], vec!["f-1", "f-2", "f-3"]]);
    }

    #[test]
    fn two_defects_on_one_line_both_stay_members() {
        let found = clusters(&[
            ("alpha", finding("[P0] Injection", "a", 6, 6)),
            ("alpha", finding("[P2] Wrong unit", "a", 6, 6)),
            ("beta", finding("[P1] Unescaped", "a", 6, 6)),
        ]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].members, ["f-0", "f-1", "f-2"]);
    }

    #[test]
    fn removed_and_new_lines_of_one_number_stay_apart() {
        let shrunk = Patch {
            files: vec![file_patch("a", 9, 9, &[" i", "-j", "-k", "-l", "-m", " n"])],
        };
        let left = ("alpha", at("a", 13, 13));
        let right = ("beta", at("a", 10, 10));
        assert_eq!(clusters_in(&shrunk, &[left.clone(), right]), []);
        let also_left = ("beta", at("a", 12, 12));
        assert_eq!(clusters_in(&shrunk, &[left, also_left]).len(), 1);
    }

    #[test]
    fn the_largest_line_number_does_not_overflow() {
        let far = at("a", u32::MAX, u32::MAX);
        assert_eq!(clusters(&[("alpha", far.clone()), ("beta", far)]).len(), 1);
    }
}
