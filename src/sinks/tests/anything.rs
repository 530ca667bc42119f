//! What holds for every artifact that the types can make, as `review show` may meet it.

use diffwarden_actors::model::{
    Anchor, BatchKind, CodeLocation, Coverage, CoverageFile, Degraded, DegradedTopic, Finding,
    InvalidLocation, LaneArtifact, LaneId, LaneKind, LaneStatus, LineRange, MergedResult, Priority,
    ReportedFinding, ReviewBatchArtifact, ReviewLane, ReviewPlan, ReviewTarget, ReviewerError,
    Score, Sent, TargetKind, Trust, TrustReason,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::artifact::parse_artifact;

/// Text with whatever a terminal, a reader or a parser could take amiss.
fn text() -> impl Strategy<Value = String> {
    let pieces = select(vec![
        "\0",
        "\x07",
        "\x08",
        "\r",
        "\n",
        "\t",
        "\x1b[2J",
        "\x1b]8;;x\x07",
        "\x7f",
        "\u{85}",
        "\u{9b}31m",
        "\u{200b}",
        "\u{202e}",
        "\u{2028}",
        "\u{2066}",
        "\u{feff}",
        "\u{e0041}",
        "é",
        "x",
        " ",
        ":",
        "-",
        "\"",
        "\\",
        "Trust: clean",
        "```",
        "",
    ]);
    prop_oneof![
        vec(pieces, 0..5).prop_map(|pieces| pieces.concat()),
        any::<String>(),
    ]
}

fn score() -> impl Strategy<Value = Score> {
    (0.0..=1.0_f64).prop_map(Score)
}

fn finding() -> impl Strategy<Value = Finding> {
    let anchors = select(vec![Anchor::Path, Anchor::CommitMessage, Anchor::Branch]);
    let priority = option::of((0_u8..=3).prop_map(Priority));
    let lines = (1_u32.., any::<u32>());
    (
        text(),
        text(),
        text(),
        score(),
        priority,
        lines,
        option::of(anchors),
    )
        .prop_map(
            |(title, body, path, score, priority, (start, length), anchor)| Finding {
                title,
                body,
                confidence_score: score,
                priority,
                code_location: CodeLocation {
                    absolute_file_path: path,
                    line_range: LineRange {
                        start,
                        end: start.saturating_add(length),
                    },
                },
                anchor,
            },
        )
}

fn reported() -> impl Strategy<Value = ReportedFinding> {
    (
        text(),
        finding(),
        vec(text(), 0..3),
        option::of(vec(text(), 0..3)),
    )
        .prop_map(|(id, finding, reviewers, lanes)| ReportedFinding {
            id,
            finding,
            reviewer_ids: reviewers.into_iter().map(ReviewerId).collect(),
            lane_ids: lanes.map(|lanes| lanes.into_iter().map(LaneId).collect()),
        })
}

fn merged() -> impl Strategy<Value = MergedResult> {
    (vec(reported(), 0..4), text(), text(), score()).prop_map(
        |(findings, overall_correctness, overall_explanation, score)| MergedResult {
            findings,
            overall_correctness,
            overall_explanation,
            overall_confidence_score: score,
        },
    )
}

fn error() -> impl Strategy<Value = ReviewerError> {
    let reason = option::of(select(vec![Reason::Auth, Reason::MaxTime]));
    (
        text(),
        any::<u8>(),
        reason,
        vec(text(), 0..3),
        option::of(text()),
    )
        .prop_map(
            |(message, exit_code, reason, recovery, hint)| ReviewerError {
                code: ErrorCode::ReviewerFailed,
                message,
                exit_code,
                reason,
                recovery,
                reviewer_id: None,
                engine: None,
                hint,
            },
        )
}

fn target() -> impl Strategy<Value = ReviewTarget> {
    let kinds = select(vec![
        TargetKind::Uncommitted,
        TargetKind::Base,
        TargetKind::Commit,
        TargetKind::Pr,
        TargetKind::Custom,
    ]);
    (kinds, option::of(text()), text()).prop_map(|(kind, name, words)| ReviewTarget {
        kind,
        repo_root: words.clone(),
        base_ref: name.clone(),
        base_sha: None,
        head_sha: None,
        commit_sha: name.clone(),
        instructions: name,
        diff_command: words.clone(),
        changed_files: vec![words],
    })
}

fn trust() -> impl Strategy<Value = Trust> {
    let reasons = select(vec![
        TrustReason::ReviewerFailed,
        TrustReason::FallbackText,
        TrustReason::EmptyDiff,
        TrustReason::MaxTime,
    ]);
    prop_oneof![
        Just(Trust::default()),
        vec(reasons, 0..4).prop_map(Trust::from_reasons),
    ]
}

fn coverage() -> impl Strategy<Value = Coverage> {
    let sent = select(vec![Sent::Whole, Sent::Masked, Sent::Clipped, Sent::Pruned]);
    let file = (text(), sent, option::of(text())).prop_map(|(path, sent, reason)| CoverageFile {
        path,
        sent,
        added: 1,
        removed: 0,
        reason,
    });
    vec(file, 0..9).prop_map(|files| Coverage {
        files,
        patch_bytes: 1,
        patch_sha256: "0".repeat(64),
    })
}

/// A review around the fixture of one reviewer that answered and one that failed.
fn review() -> impl Strategy<Value = ReviewArtifact> {
    let parts = (merged(), target(), trust(), coverage(), error());
    let words = (
        text(),
        text(),
        vec(text(), 0..3),
        any::<usize>(),
        option::of(text()),
    );
    (parts, words).prop_map(
        |((result, target, trust, coverage, error), (cwd, name, warnings, index, raw_text))| {
            let mut artifact = partial();
            artifact.validation.invalid_locations = vec![InvalidLocation {
                index: index % 5,
                reason: name.clone(),
            }];
            for entry in &mut artifact.reviewers {
                match entry {
                    ReviewerEntry::Success(entry) => entry.identity.id = ReviewerId(name.clone()),
                    ReviewerEntry::Failed(entry) => {
                        entry.identity.id = ReviewerId(name.clone());
                        entry.error = error.clone();
                    }
                }
            }
            ReviewArtifact {
                cwd,
                result,
                target,
                trust,
                coverage,
                degraded: warnings.iter().map(degraded).collect(),
                warnings,
                raw_text,
                ..artifact
            }
        },
    )
}

fn degraded(message: &String) -> Degraded {
    Degraded::warning(DegradedTopic::Scans, format!("{message}, in other words"))
}

fn lane() -> impl Strategy<Value = LaneArtifact> {
    let ending = prop_oneof![
        review().prop_map(|review| (LaneStatus::Success, Some(Box::new(review)), None)),
        error().prop_map(|error| (LaneStatus::Failed, None, Some(error))),
    ];
    (text(), option::of(text()), ending).prop_map(|(id, focus, (status, artifact, error))| {
        LaneArtifact {
            lane: ReviewLane {
                id: LaneId(id),
                kind: LaneKind::Focus,
                focus,
            },
            status,
            artifact,
            error,
            timing_ms: None,
        }
    })
}

fn run() -> impl Strategy<Value = RunArtifact> {
    let batch = (review(), vec(lane(), 0..3)).prop_map(|(review, lanes)| {
        RunArtifact::Batch(Box::new(ReviewBatchArtifact {
            schema_version: 2,
            kind: BatchKind::Batch,
            plan: ReviewPlan {
                include_overview: false,
                focus: Vec::new(),
                lanes: lanes.iter().map(|lane| lane.lane.clone()).collect(),
            },
            cwd: review.cwd,
            target: review.target,
            result: review.result,
            validation: review.validation,
            warnings: review.warnings,
            degraded: review.degraded,
            trust: review.trust,
            coverage: review.coverage,
            clusters: review.clusters,
            snapshot: review.snapshot,
            timing_ms: review.timing_ms,
            lanes,
        }))
    });
    prop_oneof![review().prop_map(RunArtifact::from), batch]
}

/// Whether a terminal would do something else with it than show it, or nothing at all.
fn is_active(c: char) -> bool {
    let is_blank = matches!(c, '\u{200b}' | '\u{feff}' | '\u{e0041}');
    c != '\t' && (is_blank || is_active_in_json(c))
}

/// Whether a terminal would do something else with it than show it. JSON has no raw tabs.
fn is_active_in_json(c: char) -> bool {
    (c.is_control() && c != '\n') || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn whatever_is_shown_is_only_shown(artifact in run()) {
        let colourful = Style { colour: true, width: Some(40) };
        for mode in [OutputMode::Human, OutputMode::Agent] {
            let shown = shown_run(&artifact, mode);
            let active: Vec<_> = shown.chars().filter(|c| is_active(*c)).collect();
            prop_assert!(active.is_empty(), "{active:?}");
            let shown = render_artifact(&artifact, mode, colourful, &Redactor::default());
            let escapes = shown.split('\x1b').skip(1);
            let ours = |rest: &str| ["[0m", "[31m", "[32m", "[33m", "[35m", "[36m", "[90m"]
                .iter()
                .any(|code| rest.starts_with(code));
            prop_assert!(escapes.into_iter().all(ours));
        }
        for mode in [OutputMode::Json, OutputMode::Ndjson] {
            prop_assert!(!shown_run(&artifact, mode).contains(is_active_in_json));
        }
    }

    #[test]
    fn what_is_written_reads_back(artifact in run()) {
        // The redactor may take a random word for a token; then the text is another one.
        let json = serde_json::to_string(&artifact).unwrap();
        let read = parse_artifact("x", json.as_bytes()).unwrap();
        prop_assert_eq!(&read, &artifact);
        let shown = shown_run(&artifact, OutputMode::Json);
        prop_assert!(parse_artifact("x", shown.as_bytes()).is_ok());
    }
}
