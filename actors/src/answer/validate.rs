//! The checks that come after parsing and before anything is shown (SPEC 13).
//!
//! Checking never drops a finding: what does not hold is listed, and strict mode decides later.

use super::locate::{Located, Locator};
use crate::model::{Finding, InvalidLocation, ParseMode, Priority, ReviewResult, ReviewValidation};

/// Checks one reviewer's result.
pub fn validate(
    result: &ReviewResult,
    parse_mode: ParseMode,
    valid_schema: bool,
    locator: &Locator<'_>,
) -> ReviewValidation {
    let located: Vec<Located> = result.findings.iter().map(|f| locator.locate(f)).collect();
    validate_located(
        result.findings.iter().zip(&located),
        parse_mode,
        valid_schema,
        locator.is_diff_backed(),
    )
}

/// Checks findings whose locations were already judged.
pub(super) fn validate_located<'a>(
    findings: impl Iterator<Item = (&'a Finding, &'a Located)>,
    parse_mode: ParseMode,
    valid_schema: bool,
    is_diff_backed: bool,
) -> ReviewValidation {
    let mut invalid_locations = Vec::new();
    let mut missing_title_prefix = Vec::new();
    let mut title_priority_differs = Vec::new();
    for (index, (finding, located)) in findings.enumerate() {
        if let Some(reason) = located.problem.clone() {
            invalid_locations.push(InvalidLocation { index, reason });
        }
        match title_priority(&finding.title) {
            None => missing_title_prefix.push(index),
            said if said != finding.priority => title_priority_differs.push(index),
            Some(_) => {}
        }
    }
    let valid_locations = invalid_locations.is_empty();
    ReviewValidation {
        parse_mode,
        valid_schema,
        // A custom target has no diff that a finding could miss.
        findings_overlap_diff: valid_locations || !is_diff_backed,
        valid_locations,
        invalid_locations,
        missing_title_prefix,
        title_priority_differs,
    }
}

/// Sums up how the answers behind a merged result were read: the common way, or tool output when
/// they differ.
pub(super) fn common_reading<'a>(
    validations: impl IntoIterator<Item = &'a ReviewValidation>,
) -> (ParseMode, bool) {
    let mut modes = Vec::new();
    let mut valid_schema = true;
    for validation in validations {
        modes.push(validation.parse_mode);
        valid_schema &= validation.valid_schema;
    }
    modes.dedup();
    match modes.as_slice() {
        [mode] => (*mode, valid_schema),
        _ => (ParseMode::ToolOutput, valid_schema),
    }
}

/// Returns the priority that a title begins with.
fn title_priority(title: &str) -> Option<Priority> {
    match title.as_bytes() {
        [b'[', b'P', digit @ b'0'..=b'3', b']', ..] => Some(Priority(digit - b'0')),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::locate::LocalDisk;
    use crate::answer::samples::{finding, result};
    use crate::model::{LineRange, RepoPath};
    use crate::plan::Scope;

    fn scope(changed: Option<Vec<RepoPath>>) -> Scope {
        let range = LineRange { start: 5, end: 5 };
        Scope {
            repo_root: "/no/such/repo".into(),
            real_root: "/no/such/repo".into(),
            changed,
            added: [(RepoPath::from("a"), vec![range])].into(),
        }
    }

    #[test]
    fn one_bad_location_does_not_sink_the_others() {
        let scope = scope(Some(vec![RepoPath::from("a")]));
        let locator = Locator::new(&scope, &LocalDisk);
        let findings = vec![
            finding("[P2] good", "a", 5, 5),
            finding("[P2] apart", "a", 6, 9),
            finding("Division by zero", "b", 1, 1),
        ];
        let result = result("patch is incorrect", "x", 0.5, findings);
        let validation = validate(&result, ParseMode::StrictJson, true, &locator);
        assert_eq!(
            serde_json::to_value(&validation).unwrap(),
            serde_json::json!({
                "parse_mode": "strict-json",
                "valid_schema": true,
                "findings_overlap_diff": false,
                "valid_locations": false,
                "invalid_locations": [
                    { "index": 1, "reason": "Finding line range does not overlap changed lines: a" },
                    { "index": 2, "reason": "Finding path is not in changed files: b" }
                ],
                "missing_title_prefix": [2]
            })
        );
    }

    #[test]
    fn a_custom_target_always_overlaps() {
        let scope = scope(None);
        let locator = Locator::new(&scope, &LocalDisk);
        let result = result(
            "patch is incorrect",
            "x",
            0.5,
            vec![finding("t", "a", 1, 1)],
        );
        let validation = validate(&result, ParseMode::ToolOutput, true, &locator);
        assert!(validation.findings_overlap_diff);
        assert!(!validation.valid_locations);
        assert_eq!(
            validation.invalid_locations[0].reason,
            "Finding path does not exist: a"
        );
    }

    #[test]
    fn a_title_that_names_another_priority_is_noted() {
        let scope = scope(Some(vec![RepoPath::from("a")]));
        let locator = Locator::new(&scope, &LocalDisk);
        let of = |title, priority: Option<u8>| Finding {
            priority: priority.map(Priority),
            ..finding(title, "a", 5, 5)
        };
        let findings = vec![
            of("[P1] same", Some(1)),
            of("[P0] less", Some(3)),
            of("[P0] not said", None),
            of("no prefix", Some(2)),
        ];
        let result = result("patch is incorrect", "x", 0.5, findings);
        let validation = validate(&result, ParseMode::StrictJson, true, &locator);
        assert_eq!(validation.title_priority_differs, [1, 2]);
        assert_eq!(validation.missing_title_prefix, [3]);
    }

    #[test]
    fn titles_begin_with_their_priority() {
        for (title, priority) in [("[P0] x", 0), ("[P3]x", 3), ("[P1]", 1)] {
            assert_eq!(title_priority(title), Some(Priority(priority)), "{title}");
        }
        for title in [
            "", "x", "P1 x", "[P4] x", "[p1] x", " [P1] x", "[P1 x", "[P10] x", "[Pé] x",
        ] {
            assert_eq!(title_priority(title), None, "{title}");
        }
    }

    #[test]
    fn answers_read_in_different_ways_count_as_tool_output() {
        let one = |parse_mode, valid_schema| ReviewValidation {
            parse_mode,
            valid_schema,
            findings_overlap_diff: true,
            valid_locations: true,
            invalid_locations: Vec::new(),
            missing_title_prefix: Vec::new(),
            title_priority_differs: Vec::new(),
        };
        let strict = one(ParseMode::StrictJson, true);
        let prose = one(ParseMode::FallbackText, false);
        for (validations, expected) in [
            (vec![], (ParseMode::ToolOutput, true)),
            (vec![&strict, &strict], (ParseMode::StrictJson, true)),
            (vec![&prose], (ParseMode::FallbackText, false)),
            (vec![&strict, &prose], (ParseMode::ToolOutput, false)),
            (
                vec![&strict, &prose, &strict],
                (ParseMode::ToolOutput, false),
            ),
        ] {
            assert_eq!(common_reading(validations), expected);
        }
    }
}
