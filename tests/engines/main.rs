//! The bench: every path to an engine, run against the real executable and a model service on the
//! loopback interface. No account is needed, and nothing leaves the machine.
//!
//! `tests/engines/install` puts the engines where the bench finds them; without any the bench is
//! skipped, so that `cargo test` needs no network. `docs/engines.md` says how to run it, and
//! `paths/mod.rs` how to add a path.

mod check;
mod harness;
mod journeys;
mod live;
mod options;
mod overhead;
mod paths;
mod provider;
mod repository;
mod scenario;
mod situations;
mod tap;
mod world;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use crate::harness::Verdict;
use crate::journeys::Journey;
use crate::options::Options;
use crate::scenario::{EnginePath, Row};

/// One line of the table.
#[derive(Clone, Copy)]
enum Case {
    /// One path in one situation.
    Row(&'static EnginePath, &'static Row),
    /// Several paths or commands.
    Journey(&'static Journey),
}

impl Case {
    fn all() -> impl Iterator<Item = Self> {
        let rows = paths::ALL.iter().flat_map(|path| {
            path.rows
                .iter()
                .copied()
                .flatten()
                .map(move |row| Self::Row(path, row))
        });
        rows.chain(journeys::ALL.iter().map(Self::Journey))
    }

    /// The path or the topic, and the name within it.
    fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::Row(path, row) => (path.name, row.situation.name),
            Self::Journey(journey) => (journey.topic, journey.name),
        }
    }

    fn is_smoke(self) -> bool {
        match self {
            Self::Row(_, row) => row.is_smoke,
            Self::Journey(journey) => journey.is_smoke,
        }
    }

    /// The outcome that is expected.
    fn expected(self) -> String {
        match self {
            Self::Row(_, row) => row.expected.outcome(),
            Self::Journey(_) => "0".to_owned(),
        }
    }

    /// Whether all engines it needs fulfil a condition.
    fn needs(self, is_installed: impl Fn(&EnginePath) -> bool) -> bool {
        match self {
            Self::Row(path, _) => is_installed(path),
            Self::Journey(journey) => journey.paths.iter().all(|path| is_installed(path)),
        }
    }

    fn run(self, bench: &Bench) -> io::Result<Verdict> {
        match self {
            Self::Row(path, row) => harness::run(path, row, bench),
            Self::Journey(journey) => journeys::run(journey, bench),
        }
    }
}

/// What every row is run with.
struct Bench {
    /// The executable of diffwarden.
    program: PathBuf,
    /// The folder of the installed engines.
    engines: PathBuf,
}

impl Bench {
    /// Returns the folder in which npm links the engine of a path.
    fn folder(&self, path: &EnginePath) -> PathBuf {
        self.engines.join(path.command).join("node_modules/.bin")
    }

    /// Whether the engine of a path is installed.
    fn has(&self, path: &EnginePath) -> bool {
        self.folder(path).join(path.command).exists()
    }
}

fn main() -> io::Result<ExitCode> {
    let mut args = std::env::args().skip(1).peekable();
    if args.next_if(|arg| arg == "--tap").is_some() {
        return tap::run(args);
    }
    let options = Options::parse(args);
    let rows = chosen(&options);
    if options.is_list {
        return list(&rows);
    }
    let built = env!("CARGO_BIN_EXE_diffwarden");
    let bench = Bench {
        program: Path::new(options.bin.as_deref().unwrap_or(built)).canonicalize()?,
        engines: engines(),
    };
    if options.is_live {
        return live::run(&options, &bench);
    }
    let mut out = io::stdout();
    if !paths::ALL.iter().any(|path| bench.has(path)) {
        writeln!(out, "engines: skipped: run tests/engines/install")?;
        return Ok(ExitCode::SUCCESS);
    }
    if options.is_overhead {
        return overhead::run(&options, &bench);
    }
    for path in paths::ALL.iter().filter(|path| !bench.has(path)) {
        writeln!(
            out,
            "{}: skipped: {} is not installed",
            path.name, path.command
        )?;
    }
    let (rows, rest): (Vec<Case>, Vec<Case>) = rows
        .into_iter()
        .partition(|case| case.needs(|path| bench.has(path)));
    let asked = options.path.is_some() || options.scenario.is_some();
    if asked && rows.is_empty() {
        writeln!(
            out,
            "nothing was run: see --list, and tests/engines/install"
        )?;
        return Ok(ExitCode::FAILURE);
    }
    if !rows.is_empty() {
        head()?;
    }
    let failed = run_all(&rows, &bench, options.jobs)?;
    writeln!(
        out,
        "\nbench: {} rows hold, {failed} do not, {} skipped{}",
        rows.len() - failed,
        rest.len(),
        if options.is_all {
            ""
        } else {
            " (smoke only: --all runs every row)"
        }
    )?;
    Ok(if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn chosen(options: &Options) -> Vec<Case> {
    Case::all()
        .filter(|case| {
            let (path, name) = case.name();
            options.choose(path, name, case.is_smoke())
        })
        .collect()
}

fn list(rows: &[Case]) -> io::Result<ExitCode> {
    let mut out = io::stdout();
    for case in rows {
        let (path, name) = case.name();
        writeln!(out, "{}: test", options::name(path, name))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the folder of the installed engines, beside the build that this program is part of.
fn engines() -> PathBuf {
    // <target>/<profile>/diffwarden
    let program = Path::new(env!("CARGO_BIN_EXE_diffwarden"));
    let target = program.ancestors().nth(2).unwrap_or(program);
    let beside = target.join("engines");
    if beside.is_dir() {
        return beside;
    }
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/engines")
}

/// Runs rows, some at a time, and returns how many do not hold.
fn run_all(rows: &[Case], bench: &Bench, jobs: usize) -> io::Result<usize> {
    let next = AtomicUsize::new(0);
    let failed = AtomicUsize::new(0);
    let error = Mutex::new(None);
    thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some(case) = rows.get(next.fetch_add(1, Ordering::SeqCst)) {
                    let verdict = case.run(bench).unwrap_or_else(|error| Verdict {
                        got: "nothing".to_owned(),
                        took: Duration::ZERO,
                        problems: vec![format!("the bench failed: {error}")],
                        known: None,
                    });
                    if !verdict.problems.is_empty() {
                        failed.fetch_add(1, Ordering::SeqCst);
                    }
                    if let Err(problem) = tell(*case, &verdict) {
                        *error.lock().unwrap_or_else(PoisonError::into_inner) = Some(problem);
                    }
                }
            });
        }
    });
    match error.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(error) => Err(error),
        None => Ok(failed.into_inner()),
    }
}

fn head() -> io::Result<()> {
    let columns = ["path", "scenario", "expected", "got", "time", "ok"];
    write_row(columns.map(str::to_owned), &[])
}

fn tell(case: Case, verdict: &Verdict) -> io::Result<()> {
    let is_ok = verdict.problems.is_empty();
    let (path, name) = case.name();
    let columns = [
        path.to_owned(),
        name.to_owned(),
        case.expected(),
        verdict.got.clone(),
        format!("{:.1} s", verdict.took.as_secs_f64()),
        match (is_ok, verdict.known) {
            (true, None) => "ok",
            (true, Some(_)) => "known",
            (false, _) => "FAILED",
        }
        .to_owned(),
    ];
    let known = verdict.known.map(|why| format!("known: {why}"));
    let notes: Vec<String> = verdict.problems.iter().cloned().chain(known).collect();
    write_row(columns, &notes)
}

fn write_row(columns: [String; 6], notes: &[String]) -> io::Result<()> {
    let [path, scenario, expected, got, time, ok] = columns;
    let mut text = format!("{path:16} {scenario:24} {expected:42} {got:42} {time:>8} {ok}\n");
    for note in notes {
        text.push_str(&format!("    {note}\n"));
    }
    // In one piece, because rows end at the same time.
    io::stdout().write_all(text.as_bytes())
}
