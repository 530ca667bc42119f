//! What several paths, or several commands after one another, have to do together.

use std::io::{self, Write as _};
use std::process::{Command, Stdio};
use std::time::Instant;

use serde_json::{Value, json};

use crate::Bench;
use crate::harness::Verdict;
use crate::live;
use crate::paths;
use crate::provider::Provider;
use crate::scenario::{Credentials, EnginePath, Situation};
use crate::situations as given;
use crate::world::World;

/// One journey.
pub(crate) struct Journey {
    /// What it is about.
    pub(crate) topic: &'static str,
    /// The name, unique within the topic.
    pub(crate) name: &'static str,
    /// The paths that take part. Their engines have to be installed.
    pub(crate) paths: &'static [&'static EnginePath],
    /// Whether it is one of the few that `--smoke` runs.
    pub(crate) is_smoke: bool,
    /// What it is for and leaves: beginnings of paths.
    leaves: &'static [&'static str],
    /// What the models are asked for, and the repository.
    situation: Situation,
    /// Walks it, and returns whatever is not as expected.
    walk: fn(&mut Walk<'_>) -> io::Result<()>,
}

/// The journeys, in the order of the table.
pub(crate) const ALL: &[Journey] = &[
    Journey {
        topic: "codex+claude",
        name: "three-lanes",
        paths: &[&paths::codex_cli::PATH, &paths::claude_cli::PATH],
        is_smoke: true,
        leaves: &["home/.config/"],
        situation: given::READ,
        walk: three_lanes,
    },
    Journey {
        topic: "codex+claude",
        name: "from-nothing",
        paths: &[&paths::codex_cli::PATH, &paths::claude_sdk::PATH],
        is_smoke: true,
        leaves: &["home/.config/", "home/.codex/"],
        situation: given::SUCCESS,
        walk: from_nothing,
    },
    // The live reviews with the loopback provider in place of a real model.
    Journey {
        topic: "live",
        name: "switches",
        paths: &[&paths::codex_cli::PATH],
        is_smoke: false,
        leaves: &[],
        situation: given::BUG,
        walk: live_switches,
    },
];

/// A journey under way: a world with a model service for each of its paths.
struct Walk<'a> {
    world: &'a World,
    providers: &'a [Provider],
    variables: Vec<(&'static str, String)>,
    problems: Vec<String>,
}

/// What one command has printed.
struct Said {
    stdout: String,
    stderr: String,
}

/// Walks a journey.
///
/// # Errors
///
/// Fails when the world cannot be built, which says nothing about the engines.
pub(crate) fn run(journey: &Journey, bench: &Bench) -> io::Result<Verdict> {
    let world = World::new(journey.paths, &journey.situation, bench)?;
    let mut providers = Vec::new();
    let mut variables = Vec::new();
    for path in journey.paths {
        let provider = world.provider(path, journey.situation.script)?;
        let home = world.path("home");
        variables.extend((path.configure)(&home, &provider.url(), Credentials::Some));
        providers.push(provider);
    }
    let before = world.look()?;
    let mut walk = Walk {
        world: &world,
        providers: &providers,
        variables,
        problems: Vec::new(),
    };
    let begin = Instant::now();
    (journey.walk)(&mut walk)?;
    let took = begin.elapsed();
    let mut problems = walk.problems;
    problems.extend(world.problems(&before, journey.leaves)?);
    let got = if problems.is_empty() { "0" } else { "not that" };
    Ok(Verdict {
        got: got.to_owned(),
        took,
        problems,
        known: None,
    })
}

/// Live reviews are off unless both switches are on, and leave out what they are told to. One that
/// is on finds the bug.
fn live_switches(walk: &mut Walk<'_>) -> io::Result<()> {
    let this = std::env::current_exe()?;
    let disabled = "codex, claude/cli,claude/sdk, gemini,opencode";
    for (on, said) in [("", "live: off"), ("0", "live: off"), ("1", "disabled")] {
        let mut command = walk.world.tool(&this);
        command.arg("--live").env("INTEGRATION_TEST_ON", on);
        let output = command.env("INTEGRATION_DISABLE", disabled).output()?;
        let stdout = String::from_utf8_lossy(&output.stdout);
        let is_right = stdout.lines().all(|line| line.contains(said)) && !stdout.is_empty();
        walk.must(output.status.success() && is_right, || {
            format!("INTEGRATION_TEST_ON={on:?} printed {stdout}")
        });
    }
    walk.must(walk.providers[0].requests().is_empty(), || {
        "a model was asked".to_owned()
    });
    let mut command = walk.world.program();
    command.envs(walk.variables.clone());
    let path = &paths::codex_cli::PATH;
    for problem in live::find_bug(path, walk.world, command)? {
        walk.problem(&problem);
    }
    Ok(())
}

/// Two engines review in three focus lanes, and a program follows along.
fn three_lanes(walk: &mut Walk<'_>) -> io::Result<()> {
    // `codex exec` does not tell which model answers, so the config names it.
    let codex = json!({"id": "codex", "engine": "codex", "model": paths::codex_cli::PATH.model});
    walk.world.write(
        "home/.config/diffwarden/diffwarden.config.json",
        &json!({"reviewers": [codex]}).to_string(),
    )?;
    let said = walk.run(&[
        "review",
        "--ndjson",
        "--no-overview",
        "--focus",
        "errors",
        "--focus",
        "security",
        "--focus",
        "tests",
        "--reviewer",
        "codex",
        "--reviewer",
        "claude",
    ])?;
    let schema = json_of(include_str!("../../docs/schemas/event-frame.schema.json"));
    let validator = jsonschema::validator_for(&schema).map_err(io::Error::other)?;
    let mut terminal = Vec::new();
    let mut finished = 0;
    let frames: Vec<Value> = said.stdout.lines().map(json_of).collect();
    for frame in &frames {
        if let Err(error) = validator.validate(frame) {
            walk.problem(&format!("a frame is against the schema: {error}: {frame}"));
        }
        match frame["type"].as_str() {
            Some("final_result" | "final_error") => terminal.push(frame),
            Some("reviewer_result") => finished += 1,
            _ => {}
        }
    }
    walk.must(
        terminal.len() == 1 && frames.last() == terminal.first().copied(),
        || format!("{} terminal frames", terminal.len()),
    );
    walk.must(finished == 6, || {
        format!("{finished} reviewers finished instead of 6")
    });
    let artifact = &frames.last().unwrap_or(&Value::Null)["artifact"];
    let lanes = artifact["lanes"].as_array().cloned().unwrap_or_default();
    walk.must(lanes.len() == 3, || {
        format!("{} lanes instead of 3", lanes.len())
    });
    for entry in lanes.iter().flat_map(|lane| {
        let entries = lane["artifact"]["reviewers"].as_array();
        entries.cloned().unwrap_or_default()
    }) {
        walk.check_entry(&entry);
    }
    let requests: Vec<usize> = walk
        .providers
        .iter()
        .map(|it| it.requests().len())
        .collect();
    // A file is read before each answer.
    walk.must(requests == [6, 6], || format!("{requests:?} requests"));
    Ok(())
}

/// A user who logs in to two engines gets to a review.
fn from_nothing(walk: &mut Walk<'_>) -> io::Result<()> {
    walk.log_in_to_codex()?;
    let found = json_of(&walk.run(&["reviewers", "discover", "--json"])?.stdout);
    for (engine, transport) in [("codex", "cli"), ("claude", "sdk")] {
        let entries = found["candidates"].as_array().cloned().unwrap_or_default();
        let entry = entries
            .iter()
            .find(|it| it["engine"] == engine && it["transport"] == transport);
        let status = entry.map_or("missing".to_owned(), |it| it["status"].to_string());
        walk.must(status == "\"available\"", || {
            format!("{engine} is found as {status}")
        });
    }
    let text = walk.run(&["reviewers", "discover"])?.stdout;
    for engine in ["codex", "claude"] {
        walk.must(text.contains(engine), || {
            format!("{engine} is not in: {text}")
        });
    }
    let created = json_of(&walk.run(&["init", "--discover", "--json"])?.stdout);
    let ids: Vec<&str> = created["reviewers"]
        .as_array()
        .map(|all| all.iter().filter_map(|it| it["id"].as_str()).collect())
        .unwrap_or_default();
    walk.must(
        ids == ["claude", "codex"] || ids == ["codex", "claude"],
        || format!("the config has {created}"),
    );
    let checked = json_of(&walk.run(&["doctor", "--json"])?.stdout);
    let checked = checked["reviewers"].as_array().map_or(0, Vec::len);
    walk.must(checked == 2, || {
        format!("doctor checked {checked} reviewers")
    });
    let review = json_of(
        &walk
            .run(&["review", "--target", "uncommitted", "--json"])?
            .stdout,
    );
    let entries = review["reviewers"].as_array().cloned().unwrap_or_default();
    walk.must(entries.len() == 2, || {
        format!("the reviewers are {entries:?}")
    });
    let findings = &review["result"]["findings"];
    walk.must(findings.as_array().map(Vec::len) == Some(1), || {
        format!("the findings are {findings}")
    });
    walk.must(review["trust"]["clean"] == true, || {
        format!("the trust is {}", review["trust"])
    });
    Ok(())
}

impl Walk<'_> {
    /// Runs a command of the program, which has to succeed.
    fn run(&mut self, args: &[&str]) -> io::Result<Said> {
        let mut command: Command = self.world.program();
        let output = command.args(args).envs(self.variables.clone()).output()?;
        let said = Said {
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        let exit = output.status.code();
        self.must(exit == Some(0), || {
            format!(
                "{args:?} ended with {exit:?}: {} {}",
                said.stdout, said.stderr
            )
        });
        Ok(said)
    }

    /// Claude's key is a variable; Codex keeps one in its home.
    fn log_in_to_codex(&mut self) -> io::Result<()> {
        let mut codex = self.world.tool("codex".as_ref());
        codex
            .args(["login", "--with-api-key"])
            .stdin(Stdio::piped());
        let mut child = codex.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
        let key = child
            .stdin
            .take()
            .map(|mut it| it.write_all(b"a-key-of-the-bench\n"));
        key.transpose()?;
        let status = child.wait()?;
        self.must(status.success(), || {
            format!("codex login ended with {status}")
        });
        Ok(())
    }

    /// What an engine has told of its work is in its entry.
    fn check_entry(&mut self, entry: &Value) {
        let told = &entry["adapter_metadata"];
        let is_claude = entry["engine"] == "claude";
        let facts = [
            ("a status", entry["status"] == "success"),
            ("a model", told["resolvedModel"].is_string()),
            ("one tool call", told["toolCalls"] == 1),
            ("input tokens", told["inputTokens"] == 200),
            ("output tokens", told["outputTokens"].is_u64()),
            ("usage", entry["usage"].is_object()),
            // Codex tells no cost.
            ("a cost", !is_claude || told["totalCostUsd"].is_number()),
        ];
        for (what, holds) in facts {
            self.must(holds, || format!("{what} is missing in {entry}"));
        }
    }

    fn must(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problem(&problem());
        }
    }

    fn problem(&mut self, problem: &str) {
        self.problems.push(problem.chars().take(2_000).collect());
    }
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| json!({"unreadable": error.to_string()}))
}
