//! `reviewers discover`: what it sees, what it never does, and what it never says.

use std::fs;

use serde_json::{Value, json};

use crate::schemas::{DISCOVERY, Published};
use crate::support::{Run, TestEnvironment};

/// Every name under which an executable is looked for.
const NAMES: [&str; 11] = [
    "agent",
    "agy",
    "claude",
    "codex",
    "copilot",
    "cursor-agent",
    "droid",
    "gemini",
    "grok",
    "node",
    "opencode",
];

/// Runs discovery on a machine that has nothing but git and what the test installed.
fn discover(environment: &TestEnvironment, variables: &[(&str, &str)], args: &[&str]) -> Run {
    let mut command = environment.command(["reviewers", "discover"].iter().chain(args));
    if !environment.bin().join("git").exists() {
        environment.hide_other_programs(&mut command);
    }
    command.env("PATH", environment.bin());
    command.envs(variables.iter().copied());
    Run::of(command.output().expect("the binary runs"))
}

/// Returns the printed value, which the published schema accepts.
fn discovered(environment: &TestEnvironment, variables: &[(&str, &str)], args: &[&str]) -> Value {
    let run = discover(environment, variables, &[&["--json"], args].concat());
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{}", run.stdout);
    let value = run.json();
    Published::read(DISCOVERY).accept(&value);
    value
}

fn candidate(discovery: &Value, engine: &str, transport: &str) -> Value {
    let candidates = discovery["candidates"].as_array().expect("a list");
    let mut found = candidates
        .iter()
        .filter(|it| it["engine"] == engine && it["transport"] == transport);
    let candidate = found
        .next()
        .unwrap_or_else(|| panic!("{engine} {transport}"));
    assert!(found.next().is_none(), "{engine} {transport}");
    candidate.clone()
}

fn install_traps(environment: &TestEnvironment) {
    for name in NAMES {
        environment.write_trap(&environment.bin().join(name));
    }
}

fn log_in_to_codex(environment: &TestEnvironment, text: &str) {
    let folder = environment.home().join(".codex");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("auth.json"), text).expect("a login");
}

#[test]
fn a_shallow_look_runs_nothing_and_reads_no_config() {
    let environment = TestEnvironment::with_edit();
    install_traps(&environment);
    let folder = environment.home().join(".config/diffwarden");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("diffwarden.config.json"), "{ broken").expect("a config");
    environment.write("diffwarden.config.json", "[\"broken\"");
    let discovery = discovered(&environment, &[], &[]);
    assert_eq!(discovery["schema_version"], 1);
    assert_eq!(discovery["deep"], false);
    assert_eq!(discovery["cwd"], json!(environment.repo()));
    let claude = candidate(&discovery, "claude", "cli");
    assert_eq!(
        claude["executable"],
        json!({"name": "claude", "resolved": true, "path": environment.bin().join("claude")})
    );
    assert!(!environment.trace().exists(), "something was run");
    assert!(environment.left_over().is_empty());
    let run = discover(&environment, &[], &[]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    assert!(!environment.trace().exists(), "something was run");
}

#[test]
fn every_path_is_there_once_and_the_summary_sorts_them() {
    let environment = TestEnvironment::new();
    let discovery = discovered(&environment, &[], &[]);
    let candidates = discovery["candidates"].as_array().expect("a list");
    for (engine, transports) in [
        ("antigravity", &["cli"][..]),
        ("acp", &["acp"]),
        ("claude", &["sdk", "cli"]),
        ("codex", &["cli", "app-server"]),
        ("copilot", &["sdk", "cli"]),
        ("cursor", &["sdk", "cli"]),
        ("droid", &["sdk", "cli"]),
        ("gemini", &["cli"]),
        ("grok", &["cli"]),
        ("opencode", &["cli"]),
        ("pi", &["sdk", "cli"]),
    ] {
        for transport in transports {
            let candidate = candidate(&discovery, engine, transport);
            assert_eq!(candidate["status"], "missing_executable", "{candidate:#}");
            assert_eq!(candidate["authState"], "missing");
            assert!(candidate.get("recommended").is_none());
            let has_package = engine == "cursor" && *transport == "sdk";
            assert_eq!(candidate.get("sdkPackage").is_some(), has_package);
            let has_executable = !has_package && engine != "acp";
            assert_eq!(candidate.get("executable").is_some(), has_executable);
        }
    }
    assert_eq!(candidates.len(), 17);
    let summary = &discovery["summary"];
    assert_eq!(summary["available"], json!([]));
    assert_eq!(summary["needsAttention"], json!([]));
    assert_eq!(summary["missing"].as_array().map(Vec::len), Some(17));
    assert_eq!(summary["missing"][0], "acp:acp");
}

#[test]
fn logins_are_seen_by_variable_file_and_reputation() {
    let environment = TestEnvironment::new();
    install_traps(&environment);
    let states = |variables: &[(&str, &str)]| {
        let discovery = discovered(&environment, variables, &[]);
        ["codex", "gemini"].map(|engine| {
            let it = candidate(&discovery, engine, "cli");
            let words = [&it["status"], &it["authState"]].map(|it| it.as_str().unwrap_or_default());
            words.join(" ")
        })
    };
    let none = ["missing_auth missing", "available unverified"];
    assert_eq!(states(&[]), none);
    assert_eq!(
        states(&[("CODEX_API_KEY", " "), ("GEMINI_API_KEY", "")]),
        none
    );
    assert_eq!(
        states(&[("CODEX_API_KEY", "k"), ("GEMINI_API_KEY", "k")]),
        ["available verified", "available verified"]
    );
    log_in_to_codex(&environment, " \n");
    assert_eq!(states(&[]), none, "a blank file is no login");
    log_in_to_codex(&environment, "{\"tokens\": {}}");
    assert_eq!(states(&[])[0], "available verified");
    let elsewhere = environment.path("elsewhere");
    let elsewhere = elsewhere.to_str().expect("a UTF-8 path");
    assert_eq!(
        states(&[("CODEX_HOME", elsewhere)])[0],
        "missing_auth missing"
    );
}

#[test]
fn what_is_available_comes_with_an_entry_that_the_config_takes() {
    let environment = TestEnvironment::with_edit();
    install_traps(&environment);
    log_in_to_codex(&environment, "{\"tokens\": {}}");
    let discovery = discovered(&environment, &[], &[]);
    let codex = candidate(&discovery, "codex", "cli");
    assert_eq!(
        codex["recommended"],
        json!({"id": "codex", "engine": "codex"})
    );
    assert_eq!(
        codex["authSignals"]["credentialFile"],
        json!({"path": "~/.codex/auth.json", "baseEnvVar": "CODEX_HOME"})
    );
    let claude = candidate(&discovery, "claude", "cli");
    assert_eq!(
        claude["recommended"],
        json!({"id": "claude-cli", "engine": "claude", "transport": "cli", "model": "sonnet"})
    );
    let candidates = discovery["candidates"].as_array().expect("a list").iter();
    let entries: Vec<_> = candidates
        .filter_map(|it| it.get("recommended").cloned())
        .collect();
    for candidate in discovery["candidates"].as_array().expect("a list") {
        let is_available = candidate["status"] == "available";
        assert_eq!(
            candidate.get("recommended").is_some(),
            is_available,
            "{candidate:#}"
        );
        assert!(!is_available || candidate["built"] == true, "{candidate:#}");
    }
    environment.write_config(&json!({"reviewers": entries}));
    let list = environment.run(&["reviewers", "list", "--json"]);
    assert_eq!(list.code, 0, "{}", list.stderr);
    let listed = list.json()["reviewers"].as_array().map(Vec::len);
    assert_eq!(listed, Some(entries.len()));
}

#[test]
fn programs_of_the_repository_do_not_count() {
    let environment = TestEnvironment::new();
    let folder = environment.repo().join("node_modules/.bin");
    fs::create_dir_all(&folder).expect("a folder");
    environment.write_trap(&folder.join("codex"));
    fs::create_dir(environment.repo().join("deep")).expect("a folder");
    let mut path = folder.clone().into_os_string();
    path.push(":");
    path.push(environment.bin());
    for (cwd, is_found) in [
        (environment.repo(), false),
        (environment.repo().join("deep"), false),
        (environment.home(), true),
    ] {
        for depth in [&[][..], &["--deep"]] {
            let args = [
                &["reviewers", "discover", "--json", "--cwd"][..],
                &[cwd.to_str().expect("UTF-8")],
                depth,
            ]
            .concat();
            let mut command = environment.command(&args);
            command.env("PATH", &path);
            let run = Run::of(command.output().expect("the binary runs"));
            let codex = candidate(&run.json(), "codex", "cli");
            assert_eq!(codex["executable"]["resolved"], is_found, "{codex:#}");
            assert!(
                is_found || codex["detail"].to_string().contains("passed over"),
                "{codex:#}"
            );
        }
        assert_eq!(environment.trace().exists(), is_found, "{}", cwd.display());
    }
}

#[test]
fn secrets_are_never_said() {
    let environment = TestEnvironment::new();
    environment.install_codex(&json!({}));
    let secret = "Zx81mQp03LkR77tUwY2b";
    log_in_to_codex(&environment, &json!({"OPENAI_API_KEY": secret}).to_string());
    let variables = [
        "CODEX_API_KEY",
        "CURSOR_API_KEY",
        "FACTORY_API_KEY",
        "ANTHROPIC_API_KEY",
    ]
    .map(|name| (name, secret));
    for args in [&[][..], &["--json"], &["--deep"], &["--deep", "--json"]] {
        let run = discover(&environment, &variables, args);
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(
            !run.stdout.contains(secret) && !run.stderr.contains(secret),
            "{args:?}"
        );
        assert!(run.stdout.contains("CODEX_API_KEY"), "{}", run.stdout);
    }
}

#[test]
fn a_deep_look_makes_the_preflight_of_what_is_there() {
    let environment = TestEnvironment::new();
    environment.install_codex(&json!({"version": "codex-cli 9.8.7"}));
    environment.write_trap(&environment.bin().join("gemini"));
    let discovery = discovered(&environment, &[("CODEX_API_KEY", "k")], &["--deep"]);
    assert_eq!(discovery["deep"], true);
    let codex = candidate(&discovery, "codex", "cli");
    assert_eq!(codex["status"], "available", "{codex:#}");
    assert_eq!(codex["authState"], "verified");
    assert_eq!(codex["version"], "9.8.7");
    let gemini = candidate(&discovery, "gemini", "cli");
    assert_eq!(gemini["status"], "unsupported_host", "{gemini:#}");
    assert!(gemini.get("recommended").is_none());
    assert!(
        gemini["fix"].to_string().contains("npm install"),
        "{gemini:#}"
    );
    assert!(environment.trace().exists());
    assert!(environment.left_over().is_empty());

    let codex = candidate(&discovered(&environment, &[], &["--deep"]), "codex", "cli");
    assert_eq!(
        codex["status"], "missing_auth",
        "a preflight finds no login: {codex:#}"
    );
    environment.install_codex(&json!({"help": "Usage: codex exec --json"}));
    let codex = candidate(
        &discovered(&environment, &[("CODEX_API_KEY", "k")], &["--deep"]),
        "codex",
        "cli",
    );
    assert_eq!(codex["status"], "unsupported_host", "{codex:#}");
    assert!(
        codex["detail"].to_string().contains("--output-schema"),
        "{codex:#}"
    );
}

#[test]
fn people_are_told_what_to_do_next() {
    let environment = TestEnvironment::new();
    let empty = discover(&environment, &[], &[]);
    for needed in [
        "Ready to use (1)",
        "surface",
        "npm install -g @openai/codex",
        "diffwarden review --reviewer surface",
        "--deep",
    ] {
        assert!(empty.stdout.contains(needed), "{needed}: {}", empty.stdout);
    }
    environment.install_codex(&json!({}));
    let without_login = discover(&environment, &[], &[]);
    assert!(
        without_login.stdout.contains("`codex login`"),
        "{}",
        without_login.stdout
    );
    let ready = discover(&environment, &[("CODEX_API_KEY", "k")], &[]);
    let command = "diffwarden reviewers add codex\n";
    assert!(ready.stdout.ends_with(command), "{}", ready.stdout);
    for page in [empty.stdout, without_login.stdout, ready.stdout] {
        let widest = page.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{widest:?}: {page}");
        assert!(page.lines().all(|line| line.trim_end() == line), "{page}");
        assert!(!page.contains('\x1b'));
    }
}

#[test]
fn a_folder_that_is_not_there_is_a_usage_error() {
    let run = discover(
        &TestEnvironment::new(),
        &[],
        &["--json", "--cwd", "/no/such/folder"],
    );
    assert_eq!(run.code, 2);
    assert_eq!(run.json()["error"]["code"], "invalid_cli");
}
