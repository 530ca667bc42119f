//! What diffwarden costs on top of the engine: `--overhead`.
//!
//! Every run is measured against itself: the engine's own time is taken where it is started, with the
//! same prompt and options by definition, and what is left of the run is diffwarden's. So the time that
//! an engine happens to take falls out, which differs more from run to run than what is to be measured.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::options::Options;
use crate::scenario::EnginePath;
use crate::situations as given;
use crate::world::World;
use crate::{Bench, paths};

/// Runs of each path.
const RUNS: usize = 10;

/// What diffwarden may cost at the median, in milliseconds.
const LIMIT: f64 = 50.0;

/// What one run has taken, in milliseconds.
struct Times {
    /// Everything.
    total: f64,
    /// The preflight.
    preflight: f64,
    /// What the executable was run for in the preflight, each time added up.
    probes: f64,
    /// The engine's review.
    engine: f64,
    /// What is left.
    overhead: f64,
}

/// Measures every installed path and prints a table.
///
/// # Errors
///
/// Fails when a review fails, because then nothing was measured.
pub(crate) fn run(options: &Options, bench: &Bench) -> io::Result<ExitCode> {
    let mut out = io::stdout();
    writeln!(
        out,
        "{:16} {:>9} {:>9} {:>9} {:>9} {:>9}  (ms, median of {RUNS}; at most {LIMIT} over the engine)",
        "path", "run", "preflight", "probes", "engine", "overhead"
    )?;
    let mut is_within = true;
    for path in paths::ALL.iter().filter(|path| bench.has(path)) {
        if !options.choose(path.name, given::SUCCESS.name, true) {
            continue;
        }
        let runs: Vec<Times> = (0..RUNS)
            .map(|_| measure(path, bench))
            .collect::<io::Result<_>>()?;
        let median = |of: fn(&Times) -> f64| {
            let mut all: Vec<f64> = runs.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            f64::midpoint(all[(RUNS - 1) / 2], all[RUNS / 2])
        };
        let overhead = median(|it| it.overhead);
        is_within &= overhead <= LIMIT;
        writeln!(
            out,
            "{:16} {:9.1} {:9.1} {:9.1} {:9.1} {overhead:9.1}{}",
            path.name,
            median(|it| it.total),
            median(|it| it.preflight),
            median(|it| it.probes),
            median(|it| it.engine),
            if overhead <= LIMIT {
                ""
            } else {
                "  over the limit"
            }
        )?;
    }
    Ok(if is_within {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn measure(path: &EnginePath, bench: &Bench) -> io::Result<Times> {
    let world = World::new(&[path], &given::TAPPED, bench)?;
    let provider = world.provider(path, given::TAPPED.script)?;
    let mut command = world.command(path, &given::TAPPED, &provider.url(), "--ndjson")?;
    let begin = Instant::now();
    let output = command.output()?;
    let total = milliseconds(begin.elapsed());
    let stdout = String::from_utf8_lossy(&output.stdout);
    let frames: Vec<Value> = stdout
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect();
    let frame = |kind| frames.iter().find(|frame| frame["type"] == kind);
    if frame("reviewer_result").is_none() {
        return Err(io::Error::other(format!("{}: {stdout}", path.name)));
    }
    let preflight = frame("preflight_finished").and_then(|it| it["timing_ms"].as_f64());
    let mut calls = world.taps()?;
    calls.sort_by_key(|call| call["begin"].as_u64());
    let review = calls
        .pop()
        .ok_or_else(|| io::Error::other("the engine was not run"))?;
    let preflight = preflight.unwrap_or_default();
    let engine = took(&review);
    Ok(Times {
        total,
        preflight,
        probes: calls.iter().map(took).sum(),
        engine,
        overhead: total - preflight - engine,
    })
}

/// How long a call took: to its end, or to the last word of an engine that was killed.
fn took(call: &Value) -> f64 {
    match (call["begin"].as_f64(), call["last"].as_f64()) {
        (Some(begin), Some(last)) => (last - begin) / 1_000.0,
        _ => 0.0,
    }
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
