//! The command line of the bench. `cargo test` hands every test program the arguments of the test
//! runner, so what is not known here is read as that runner reads it: options mean nothing, and
//! other words are filters.

/// What was asked for.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Whether the rows are only listed.
    pub(crate) is_list: bool,
    /// Whether every row is run, not only the few of a smoke test.
    pub(crate) is_all: bool,
    /// Whether real models review, instead of the loopback provider.
    pub(crate) is_live: bool,
    /// Whether diffwarden's own time is measured, instead of what comes of a row.
    pub(crate) is_overhead: bool,
    /// The executable of diffwarden, if it is another one than that of this build.
    pub(crate) bin: Option<String>,
    /// The only path that is run.
    pub(crate) path: Option<String>,
    /// The only row that is run.
    pub(crate) scenario: Option<String>,
    /// Parts of names; a row is run when its name holds one of them.
    pub(crate) filters: Vec<String>,
    /// How many rows run at a time.
    pub(crate) jobs: usize,
}

/// How many rows run at a time unless told otherwise: they mostly wait.
const JOBS: usize = 2;

/// Options of the test runner that have a value.
const WITH_VALUE: [&str; 7] = [
    "--skip",
    "--test-threads",
    "--format",
    "--color",
    "--logfile",
    "--shuffle-seed",
    "-Z",
];

impl Options {
    /// Reads the arguments after the program's name.
    pub(crate) fn parse(args: impl IntoIterator<Item = String>) -> Self {
        let mut options = Self {
            jobs: JOBS,
            ..Self::default()
        };
        let mut is_smoke = false;
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--list" => options.is_list = true,
                "--smoke" => is_smoke = true,
                "--all" => options.is_all = true,
                "--live" => options.is_live = true,
                "--overhead" => options.is_overhead = true,
                "--bin" => options.bin = args.next(),
                "--path" => options.path = args.next(),
                "--scenario" => options.scenario = args.next(),
                "--jobs" => {
                    let jobs = args.next().and_then(|jobs| jobs.parse().ok());
                    options.jobs = jobs.filter(|&jobs| jobs > 0).unwrap_or(JOBS);
                }
                it if WITH_VALUE.contains(&it) => drop(args.next()),
                it if it.starts_with('-') => {}
                _ => options.filters.push(arg),
            }
        }
        // Who names a path or a row means all of it.
        let is_named = options.path.is_some() || options.scenario.is_some();
        options.is_all = (options.is_all || is_named) && !is_smoke;
        options
    }

    /// Whether a row is chosen.
    pub(crate) fn choose(&self, path: &str, scenario: &str, is_smoke: bool) -> bool {
        let name = name(path, scenario);
        let is_wanted =
            |wanted: &Option<String>, it: &str| wanted.as_ref().is_none_or(|wanted| wanted == it);
        (self.is_all || is_smoke)
            && is_wanted(&self.path, path)
            && is_wanted(&self.scenario, scenario)
            && (self.filters.is_empty() || self.filters.iter().any(|part| name.contains(part)))
    }
}

/// Returns the whole name of a row.
pub(crate) fn name(path: &str, scenario: &str) -> String {
    format!("engines/{path}/{scenario}")
}
