//! How long the core takes on large and on hostile input.
//!
//! `cargo bench` prints a time for each case; nothing is asserted, because numbers depend on the
//! machine. Whole runs are timed by `whole_runs.py`.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use diffwarden::git::{ReadLimits, parse_patch};
use diffwarden::intake::scan::{Allowlist, ScanInput, scan};
use diffwarden::prompt::print_patch;
use diffwarden_actors::answer::{self, Ground, LocalDisk, Locator, Review};
use diffwarden_actors::engine::CancelToken;
use diffwarden_actors::model::{
    CodeLocation, Finding, LineRange, ParseMode, Patch, Priority, RepoPath, ReviewResult,
    ReviewValidation, ReviewerId, Score,
};
use diffwarden_actors::plan::Scope;
use diffwarden_actors::source::SourceReader;

/// How many files the patch changes, and how many lines it adds to and removes from each.
const FILES: usize = 2_000;
const LINES: usize = 30;

/// How many reviewers report how many findings each.
const REVIEWERS: usize = 8;
const FINDINGS: usize = 100;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    let text = patch_text();
    let patch = parse(&text);
    patches(&mut criterion, &text, &patch);
    answers(&mut criterion);
    merge(&mut criterion, &patch);
    criterion.final_summary();
}

/// Returns about 6 MB of a patch as git prints it: code that calls for no finding, with comments
/// and names that a scan has to look at twice.
fn patch_text() -> String {
    let mut text = String::new();
    for file in 0..FILES {
        let name = file_name(file);
        write!(
            text,
            "diff --git a/{name} b/{name}\nindex 1111111..2222222 100644\n--- a/{name}\n+++ \
             b/{name}\n@@ -1,{LINES} +1,{LINES} @@ fn main() {{\n"
        )
        .expect("a String takes everything");
        for (sign, word) in [('-', "before"), ('+', "after")] {
            for line in 0..LINES {
                let end = match line % 6 {
                    0 => " // the reviewer of this step is told",
                    1 => " // https://example.com/step",
                    _ => "",
                };
                writeln!(
                    text,
                    "{sign}    let {word}_{line} = token_at({file}, {line});{end}"
                )
                .expect("a String takes everything");
            }
        }
    }
    text
}

fn file_name(file: usize) -> String {
    format!("src/part{}/file{file}.rs", file % 40)
}

fn parse(text: &str) -> Patch {
    let limits = ReadLimits::default();
    parse_patch(&mut text.as_bytes(), &limits).expect("git could have printed it")
}

fn patches(criterion: &mut Criterion, text: &str, patch: &Patch) {
    let mut group = criterion.benchmark_group("patch");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("parse", |bencher| bencher.iter(|| parse(black_box(text))));
    group.bench_function("print", |bencher| {
        bencher.iter(|| {
            let mut out = Vec::with_capacity(text.len());
            print_patch(black_box(patch), &mut out);
            out
        });
    });
    let input = ScanInput {
        patch,
        repo_root: Path::new("/repo"),
        commit_messages: &[],
        branch: None,
        allow: &Allowlist::default(),
    };
    group.bench_function("scan", |bencher| {
        bencher.iter(|| scan(black_box(&input), &CancelToken::default()));
    });
    group.finish();
}

/// Reads answers out of what models wrap them in, and out of what is none.
fn answers(criterion: &mut Criterion) {
    let json = serde_json::to_string_pretty(&result(0)).expect("a result is JSON");
    let braces = "if (a) { b({ c: [1, 2] }) } ".repeat(2_000);
    let cases = [
        (
            "fenced",
            format!("Here is my review:\n\n```json\n{json}\n```\nDone."),
        ),
        (
            "prose with braces",
            format!("{braces}\n{json}\nand {braces}"),
        ),
        ("one megabyte of opening braces", "{".repeat(1 << 20)),
        (
            "one megabyte of half objects",
            "{\"findings\":[".repeat(1 << 16),
        ),
    ];
    let mut group = criterion.benchmark_group("extract");
    for (name, text) in &cases {
        group.throughput(Throughput::Bytes(text.len() as u64));
        // What is no answer is an error, which takes as long to find out.
        group.bench_function(*name, |bencher| {
            bencher.iter(|| answer::extract(black_box(text)).is_ok());
        });
    }
    group.finish();
}

/// Merges what reviewers say about the patch: every other finding is one that all report.
fn merge(criterion: &mut Criterion, patch: &Patch) {
    let scope = Scope {
        repo_root: "/repo".into(),
        real_root: "/repo".into(),
        changed: Some((0..FILES).map(changed_path).collect()),
        added: patch.changed_ranges(),
    };
    let results: Vec<ReviewResult> = (0..REVIEWERS).map(result).collect();
    let ids: Vec<ReviewerId> = (0..REVIEWERS)
        .map(|at| ReviewerId(format!("reviewer-{at}")))
        .collect();
    let locator = Locator::new(&scope, &LocalDisk);
    let validations: Vec<ReviewValidation> = results
        .iter()
        .map(|result| answer::validate(result, ParseMode::StrictJson, true, &locator))
        .collect();
    let reviews: Vec<Review<'_>> = (0..REVIEWERS)
        .map(|at| Review {
            id: &ids[at],
            result: &results[at],
            validation: &validations[at],
        })
        .collect();
    let ground = Ground {
        locator: &locator,
        patch,
        source: &Nothing,
    };
    criterion.bench_function("merge of 8 reviewers with 100 findings each", |bencher| {
        bencher.iter(|| answer::conclude(black_box(&reviews), REVIEWERS, &[], ground));
    });
}

fn changed_path(file: usize) -> RepoPath {
    RepoPath::from(file_name(file).as_str())
}

/// Returns the answer of one reviewer.
fn result(reviewer: usize) -> ReviewResult {
    let findings = (0..FINDINGS).map(|at| {
        let author = if at % 2 == 0 { 0 } else { reviewer };
        let line = 1 + u32::try_from(at % LINES).unwrap_or_default();
        Finding {
            title: format!("[P2] Check the bounds of step {at} ({author})"),
            body: "The index may be past the end when the list is empty.".to_owned(),
            confidence_score: Score(0.5),
            priority: Some(Priority(2)),
            code_location: CodeLocation {
                absolute_file_path: format!("/repo/{}", file_name(at * 7)),
                line_range: LineRange {
                    start: line,
                    end: line,
                },
            },
            anchor: None,
        }
    });
    ReviewResult {
        findings: findings.collect(),
        overall_correctness: "patch is incorrect".to_owned(),
        overall_explanation: "Bounds are not checked.".to_owned(),
        overall_confidence_score: Score(0.8),
    }
}

/// A revision without files, so that only the merge itself is timed.
struct Nothing;

impl SourceReader for Nothing {
    fn line(&self, _: &RepoPath, _: u32) -> Option<Vec<u8>> {
        None
    }
}
