use serde_json::json;

use super::*;
use crate::answer::assess;
use crate::answer::samples::{answered, coverage, failed, good};
use crate::model::{
    DegradedKind, EngineName, Failure, InvalidLocation, ParseMode, PreflightCheck, ReviewerEntry,
};

/// The entry of a reviewer that read everything, after a change.
fn changed(change: impl FnOnce(&mut SuccessfulReviewer)) -> ReviewerEntry {
    let mut entry = good("a");
    if let ReviewerEntry::Success(success) = &mut entry {
        change(success);
    }
    entry
}

fn with_metadata(metadata: &Value) -> ReviewerEntry {
    changed(|success| success.adapter_metadata = metadata.as_object().cloned())
}

fn only(entries: &[ReviewerEntry]) -> Degraded {
    let mut degraded = shortfalls(entries);
    assert_eq!(degraded.len(), 1, "{degraded:?}");
    degraded.remove(0)
}

#[test]
fn whatever_speaks_against_a_result_is_explained_by_more_than_an_info() {
    let prose = answered("p", EngineName::Codex, ParseMode::FallbackText, "All good.");
    let blind = "I was unable to read the diff.";
    let blind = answered("v", EngineName::Codex, ParseMode::ToolOutput, blind);
    let salvaged = with_metadata(&json!({"salvaged": {"kept": 1, "dropped": 2}}));
    let cases = [
        (vec![failed()], Sent::Whole),
        (vec![prose], Sent::Whole),
        (vec![blind], Sent::Whole),
        (vec![salvaged], Sent::Whole),
        (vec![good("a")], Sent::Clipped),
        (vec![good("a")], Sent::Masked),
    ];
    for (entries, sent) in cases {
        let coverage = coverage(&[("src/a.rs", sent)]);
        let trust = assess(&entries, &coverage, []);
        assert_eq!(trust.reasons.len(), 1, "{entries:?}");
        let told = [unsent(&coverage), shortfalls(&entries)].concat();
        let more = told.iter().filter(|it| it.kind != DegradedKind::Info);
        assert_eq!(more.count(), 1, "{:?}: {told:?}", trust.reasons);
    }
}

#[test]
fn a_full_review_has_no_more_than_infos() {
    let files = [
        ("a", Sent::Whole),
        ("b", Sent::Metadata),
        ("c", Sent::Binary),
        ("d", Sent::Pruned),
    ];
    let told = unsent(&coverage(&files));
    assert!(told.iter().all(|it| it.kind == DegradedKind::Info));
    let topics: Vec<_> = told.iter().map(|it| it.topic).collect();
    assert_eq!(topics, [Pruning, Binary]);
    assert_eq!(shortfalls(&[good("a")]), []);
}

#[test]
fn the_first_paths_are_named_and_the_others_counted() {
    let names: Vec<String> = (1..=7).map(|number| format!("f{number}")).collect();
    let files: Vec<_> = names
        .iter()
        .map(|name| (name.as_str(), Sent::Masked))
        .collect();
    let told = unsent(&coverage(&files));
    let end = "f1, f2, f3, f4, f5, and 2 more";
    assert!(told[0].message.ends_with(end), "{told:?}");
}

#[test]
fn what_a_user_can_mend_is_actionable() {
    for (code, kind) in [
        (ErrorCode::MissingAuth, DegradedKind::Actionable),
        (ErrorCode::MissingRequirement, DegradedKind::Actionable),
        (ErrorCode::ReviewerFailed, DegradedKind::Warning),
        (ErrorCode::Timeout, DegradedKind::Warning),
    ] {
        let mut entry = failed();
        if let ReviewerEntry::Failed(failed) = &mut entry {
            failed.error = Failure::new(code, "no").to_error(None);
        }
        let told = only(&[entry]);
        assert_eq!((told.kind, told.topic), (kind, ReviewerHealth), "{code:?}");
        assert_eq!(told.message, "Reviewer b failed: no");
    }
}

#[test]
fn what_an_adapter_recorded_is_told_as_an_info() {
    let cases = [
        (json!({"captureMode": "repaired"}), Answers, "transcribed"),
        (json!({"attempts": 2}), Answers, "run again"),
        (json!({"rateLimitWaitMs": 10}), Time, "pause"),
        (
            json!({"effortDropped": "cli-unsupported"}),
            Engines,
            "effort",
        ),
        (
            json!({"fallbackModelDropped": "cli-unsupported"}),
            Engines,
            "fallback",
        ),
        (
            json!({"fallbackModelUsed": "true"}),
            Engines,
            "fallback model answered",
        ),
        (
            json!({"warnings": ["its own words"]}),
            Engines,
            "its own words",
        ),
    ];
    for (metadata, topic, part) in cases {
        let told = only(&[with_metadata(&metadata)]);
        assert_eq!((told.kind, told.topic), (DegradedKind::Info, topic));
        assert!(told.message.starts_with("Reviewer a: "), "{told:?}");
        assert!(told.message.contains(part), "{told:?}");
    }
    let nothing =
        json!({"attempts": 1, "captureMode": "native-structured", "fallbackModelUsed": "false"});
    assert_eq!(shortfalls(&[with_metadata(&nothing)]), []);
}

#[test]
fn misplaced_findings_and_reserved_checks_are_told() {
    let misplaced = changed(|success| {
        success.validation.valid_locations = false;
        success.validation.invalid_locations = vec![InvalidLocation {
            index: 0,
            reason: "elsewhere".to_owned(),
        }];
    });
    let told = only(&[misplaced]);
    assert_eq!((told.kind, told.topic), (DegradedKind::Warning, Locations));
    let check = |status, name: &str| PreflightCheck {
        name: name.to_owned(),
        status,
        detail: "The catalog was not read.".to_owned(),
    };
    let reserved = changed(|success| {
        success.preflight = Some(PreflightReport {
            checks: vec![
                check(CheckStatus::Passed, "executable"),
                check(CheckStatus::Warning, "effort"),
                check(CheckStatus::Skipped, "auth"),
            ],
            ..PreflightReport::default()
        });
    });
    let told = only(&[reserved]);
    assert_eq!(
        told.message,
        "Reviewer a: effort: The catalog was not read."
    );
}
