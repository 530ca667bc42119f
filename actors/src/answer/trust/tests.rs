use super::*;
use crate::answer::samples::{answered, coverage, failed, finding, good, result, success};

fn reasons(reviewers: &[ReviewerEntry], files: &[(&str, Sent)]) -> Vec<TrustReason> {
    assess(reviewers, &coverage(files), []).reasons
}

#[test]
fn a_full_review_is_clean_whatever_it_found() {
    let files = [
        ("a", Sent::Whole),
        ("b", Sent::Metadata),
        ("c", Sent::Binary),
        ("d", Sent::Pruned),
    ];
    let found = success(
        "a",
        EngineName::Codex,
        ParseMode::StrictJson,
        result(
            "patch is incorrect",
            "x",
            0.5,
            vec![finding("t", "p", 1, 1)],
        ),
    );
    for reviewers in [vec![good("a")], vec![found, good("b")]] {
        let trust = assess(&reviewers, &coverage(&files), []);
        assert!(trust.clean);
        assert_eq!(trust.reasons, []);
    }
    let surface = answered("s", EngineName::Surface, ParseMode::ToolOutput, "Scanned.");
    assert_eq!(reasons(&[surface], &files), []);
}

#[test]
fn every_shortcoming_is_named_once() {
    let prose = || answered("p", EngineName::Codex, ParseMode::FallbackText, "All good.");
    let blind = answered(
        "v",
        EngineName::Codex,
        ParseMode::ToolOutput,
        "I was unable to read the diff.",
    );
    let files = [
        ("a", Sent::Clipped),
        ("b", Sent::Masked),
        ("c", Sent::Clipped),
    ];
    assert_eq!(
        reasons(&[good("a"), failed(), prose(), prose(), blind], &files),
        [
            TrustReason::ReviewerFailed,
            TrustReason::FallbackText,
            TrustReason::Clipped,
            TrustReason::Masked,
            TrustReason::VacuousAnswer,
        ]
    );
}

#[test]
fn given_doubts_are_kept() {
    let doubts = [TrustReason::TreeDiffers, TrustReason::EmptyDiff];
    let trust = assess(&[], &coverage(&[]), doubts);
    assert!(!trust.clean);
    assert_eq!(
        trust.reasons,
        [TrustReason::EmptyDiff, TrustReason::TreeDiffers]
    );
}

#[test]
fn a_wholly_pruned_change_is_named() {
    let pruned = [("a", Sent::Pruned), ("b", Sent::Pruned)];
    assert_eq!(reasons(&[], &pruned), [TrustReason::AllPruned]);
}

#[test]
fn the_fixture_alone_is_not_a_review() {
    let fake = || answered("f", EngineName::Fake, ParseMode::ToolOutput, "3 files.");
    let own = || {
        answered(
            INTEGRITY_ID,
            EngineName::Surface,
            ParseMode::ToolOutput,
            "Scanned.",
        )
    };
    let vacuous = [TrustReason::VacuousAnswer];
    assert_eq!(reasons(&[fake()], &[]), vacuous);
    assert_eq!(reasons(&[fake(), fake(), own()], &[]), vacuous);
    assert_eq!(reasons(&[fake(), good("a")], &[]), []);
    // Who failed has not looked either.
    assert_eq!(
        reasons(&[fake(), failed(), own()], &[]),
        [TrustReason::ReviewerFailed, TrustReason::VacuousAnswer]
    );
    assert_eq!(reasons(&[failed()], &[]), [TrustReason::ReviewerFailed]);
    assert_eq!(reasons(&[own()], &[]), []);
}

#[test]
fn coverage_is_the_worst_over_reviewers() {
    let best = coverage(&[("a", Sent::Whole), ("b", Sent::Masked), ("c", Sent::Pruned)]);
    let one = coverage(&[
        ("a", Sent::Clipped),
        ("b", Sent::Masked),
        ("c", Sent::Pruned),
    ]);
    let two = coverage(&[
        ("b", Sent::Clipped),
        ("c", Sent::Whole),
        ("x", Sent::Clipped),
    ]);
    let worst = worst_coverage(&best, [one.files.as_slice(), &two.files]);
    assert_eq!(
        worst,
        coverage(&[
            ("a", Sent::Clipped),
            ("b", Sent::Clipped),
            ("c", Sent::Pruned)
        ])
    );
    assert_eq!(worst_coverage(&best, []), best);
    assert_eq!(
        shortfall(&best, &one),
        Some(coverage(&[("a", Sent::Clipped)]).files)
    );
    assert_eq!(shortfall(&best, &best), None);
}

fn with(metadata: &serde_json::Value, usage: serde_json::Value) -> ReviewerEntry {
    let ReviewerEntry::Success(mut entry) = good("a") else {
        panic!("a good reviewer succeeds");
    };
    entry.adapter_metadata = metadata.as_object().cloned();
    entry.usage = Some(usage);
    ReviewerEntry::Success(entry)
}

#[test]
fn an_answer_of_a_model_that_was_sent_nothing_is_vacuous() {
    use serde_json::json;
    let nothing = json!({ "input_tokens": 0, "output_tokens": 20 });
    assert_eq!(
        reasons(&[with(&json!({}), nothing.clone())], &[]),
        [TrustReason::VacuousAnswer]
    );
    assert_eq!(
        reasons(&[with(&json!({ "toolCalls": 2 }), nothing)], &[]),
        []
    );
    let some = json!({ "input_tokens": 100 });
    assert_eq!(reasons(&[with(&json!({}), some)], &[]), []);
}

#[test]
fn a_salvaged_answer_is_said_to_be_one() {
    use serde_json::json;
    let salvaged = json!({ "salvaged": { "kept": 1, "dropped": 1 } });
    assert_eq!(
        reasons(&[with(&salvaged, json!({}))], &[]),
        [TrustReason::Salvaged]
    );
}
