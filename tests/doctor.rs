//! `doctor`: the preflight of the selected reviewers, and what helps those that fail.

use std::fs;

use serde_json::{Value, json};

use crate::schemas::{DOCTOR, Published};
use crate::support::{Run, TestEnvironment};

/// Runs the doctor on a machine that has nothing but git and what the test installed.
fn doctor(environment: &TestEnvironment, variables: &[(&str, &str)], args: &[&str]) -> Run {
    let mut command = environment.command(["doctor"].iter().chain(args));
    if !environment.bin().join("git").exists() {
        environment.hide_other_programs(&mut command);
    }
    command.env("PATH", environment.bin());
    command.envs(variables.iter().copied());
    Run::of(command.output().expect("the binary runs"))
}

/// Returns the exit code and the printed value, which the published schema accepts.
fn checked(
    environment: &TestEnvironment,
    variables: &[(&str, &str)],
    args: &[&str],
) -> (i32, Value) {
    let run = doctor(environment, variables, &[&["--json"], args].concat());
    assert_eq!(run.stderr, "");
    let value = run.json();
    Published::read(DOCTOR).accept(&value);
    (run.code, value)
}

fn names(checks: &Value) -> Vec<&str> {
    let checks = checks.as_array().expect("a list");
    checks.iter().filter_map(|it| it["name"].as_str()).collect()
}

#[test]
fn a_reviewer_that_can_work_passes_with_all_that_is_known() {
    let environment = TestEnvironment::with_edit();
    environment.install_codex(&json!({"version": "codex-cli 9.8.7"}));
    environment.write_config(&json!({
        "reviewers": [{"id": "main", "engine": "codex", "profile": "deep", "model": "model-a",
                       "effort": "high"}],
        "reviewerSets": {"1": ["main"]},
    }));
    let (code, report) = checked(&environment, &[("CODEX_API_KEY", "k")], &[]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["schema_version"], 2);
    assert_eq!(report["cwd"], json!(environment.repo()));
    let main = &report["reviewers"][0];
    for (key, value) in [
        ("id", "main"),
        ("engine", "codex"),
        ("status", "passed"),
        ("transport", "cli"),
        ("profile", "deep"),
        ("model", "model-a"),
        ("effort", "high"),
    ] {
        assert_eq!(main[key], value, "{key}");
    }
    assert!(
        main.get("error").is_none() && main.get("fix").is_none(),
        "{main:#}"
    );
    let checks = names(&main["preflight"]["checks"]);
    assert_eq!(
        checks,
        ["executable", "readonly", "auth", "model", "effort"]
    );
    assert_eq!(main["preflight"]["metadata"]["version"], "9.8.7");
    assert_eq!(names(&main["host"]), ["login"]);
    assert_eq!(main["host"][0]["status"], "passed");
    assert!(environment.left_over().is_empty());
    assert!(environment.recorded("argv").is_empty());
}

#[test]
fn the_checks_are_those_of_a_review() {
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[]);
    let (_, report) = checked(&environment, &[], &["--reviewer", "codex"]);
    let mut command = environment.review_command(&["--json", "--reviewer", "codex"]);
    command.env("PATH", environment.bin());
    let review = Run::of(command.output().expect("the binary runs")).json();
    assert_eq!(
        report["reviewers"][0]["preflight"],
        review["reviewers"][0]["preflight"]
    );
}

#[test]
fn one_failure_is_exit_3_and_each_comes_with_a_fix() {
    let environment = TestEnvironment::new();
    environment.install_codex(&json!({}));
    environment.write_config(&json!({
        "reviewers": [
            {"id": "fine", "engine": "codex"},
            {"id": "absent", "engine": "gemini"},
            {"id": "misplaced", "engine": "codex", "cliOptions": {"executable": "/no/such/codex"}},
        ],
        "reviewerSets": {"1": ["fine", "absent", "misplaced"]},
    }));
    let (code, report) = checked(
        &environment,
        &[("CODEX_API_KEY", "k")],
        &[
            "--reviewer",
            "fine",
            "--reviewer",
            "absent",
            "--reviewer",
            "misplaced",
            "--reviewer",
            "surface",
        ],
    );
    assert_eq!(code, 3, "{report:#}");
    let statuses: Vec<_> = (0..4)
        .map(|at| report["reviewers"][at]["status"].clone())
        .collect();
    assert_eq!(statuses, ["passed", "failed", "failed", "passed"]);
    for (at, fix) in [
        (1, "npm install -g @google/gemini-cli"),
        (2, "cliOptions.executable"),
    ] {
        let reviewer = &report["reviewers"][at];
        assert_eq!(
            reviewer["error"]["code"], "missing_requirement",
            "{reviewer:#}"
        );
        assert!(reviewer["fix"].to_string().contains(fix), "{reviewer:#}");
        assert!(reviewer.get("preflight").is_none());
    }
    let text = doctor(&environment, &[], &["--reviewer", "absent"]);
    assert_eq!((text.code, text.stderr.as_str()), (3, ""));
    for needed in [
        "absent FAILED",
        "Fix: install it with `npm install -g @google/gemini-cli`",
        "1 failed",
    ] {
        assert!(text.stdout.contains(needed), "{needed}: {}", text.stdout);
    }
}

#[test]
fn an_executable_that_is_too_old_fails_like_in_a_review() {
    let environment = TestEnvironment::new();
    environment.install_codex(&json!({"help": "Usage: codex exec --json"}));
    let (code, report) = checked(&environment, &[], &["--reviewer", "codex"]);
    assert_eq!(code, 3);
    let codex = &report["reviewers"][0];
    assert_eq!(codex["error"]["code"], "reviewer_environment_failed");
    assert!(
        codex["error"]["message"]
            .to_string()
            .contains("--output-schema"),
        "{codex:#}"
    );
    assert!(
        codex["fix"].to_string().contains("update it with"),
        "{codex:#}"
    );
}

#[test]
fn variables_that_the_config_names_must_be_set() {
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[]);
    environment.write_config(&json!({"reviewers": [
        {"id": "routed", "engine": "codex", "provider": "openrouter", "model": "m",
         "providerOptions": {"apiKeyEnv": "MY_ROUTER_KEY", "baseUrlEnv": "MY_ROUTER_URL"}},
    ]}));
    let secret = "Zx81mQp03LkR77tUwY2b";
    let address = "https://router.example.com/v1";
    let args = ["--reviewer", "routed"];
    for (variables, code, needed) in [
        (&[][..], 3, "MY_ROUTER_KEY, which is not set"),
        (
            &[("MY_ROUTER_KEY", secret)],
            3,
            "MY_ROUTER_URL, which is not set",
        ),
        (
            &[("MY_ROUTER_KEY", secret), ("MY_ROUTER_URL", secret)],
            3,
            "does not hold a URL",
        ),
        (
            &[("MY_ROUTER_KEY", secret), ("MY_ROUTER_URL", address)],
            0,
            "MY_ROUTER_KEY and MY_ROUTER_URL are set",
        ),
    ] {
        for json in [&[][..], &["--json"]] {
            let run = doctor(&environment, variables, &[&args[..], json].concat());
            assert_eq!(run.code, code, "{}", run.stdout);
            let flat = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(flat.contains(needed), "{needed}: {}", run.stdout);
            assert!(!run.stdout.contains(secret), "{}", run.stdout);
        }
    }
    let review = environment.review(&["--json", "--reviewer", "routed"]);
    assert_eq!(review.code, 3, "{}", review.stdout);
    assert_eq!(review.json()["error"]["code"], "missing_auth");
    let calls = environment.recorded("argv");
    assert!(
        !calls.iter().any(|argv| argv.contains("\nexec\n")),
        "{calls:?}"
    );
}

#[test]
fn a_missing_login_warns_and_says_how_to_log_in() {
    let environment = TestEnvironment::new();
    environment.install_codex(&json!({}));
    let (code, report) = checked(&environment, &[], &["--reviewer", "codex"]);
    assert_eq!(code, 0, "{report:#}");
    let codex = &report["reviewers"][0];
    assert_eq!(codex["host"][0]["name"], "login");
    assert_eq!(codex["host"][0]["status"], "warning");
    assert!(
        codex["fix"].to_string().contains("codex login"),
        "{codex:#}"
    );
}

#[test]
fn selection_is_that_of_a_review_and_its_errors_are_exit_2() {
    let environment = TestEnvironment::new();
    environment.write_config(&json!({
        "reviewers": [{"id": "off", "engine": "codex", "enabled": false}],
        "reviewerSets": {"quick": ["surface"]},
    }));
    for (args, needed) in [
        (&[][..], "no reviewer is selected"),
        (&["--reviewer", "off"], "disabled"),
        (&["--reviewer", "nobody"], "nobody"),
        (
            &["--reviewer", "codex", "--reviewer-set", "quick"],
            "not both",
        ),
        (&["--reviewer", "gemini", "--effort", "high"], "effort"),
        (&["--reviewer", "codex", "--timeout", "0"], "timeout"),
        (&["--nope"], "--nope"),
    ] {
        let run = doctor(&environment, &[], args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args:?}");
        assert!(run.stderr.contains(needed), "{args:?}: {}", run.stderr);
        let run = doctor(&environment, &[], &[args, &["--json"]].concat());
        assert_eq!(run.code, 2, "{args:?}");
        assert_eq!(run.json()["error"]["exit_code"], 2, "{args:?}");
    }
    let (code, report) = checked(&environment, &[], &["--reviewer-set", "quick"]);
    assert_eq!(code, 0);
    let surface = &report["reviewers"][0];
    assert!(
        surface.get("host").is_none() && surface.get("transport").is_none(),
        "{surface:#}"
    );
}

#[test]
fn a_preflight_that_hangs_ends_with_the_budget() {
    let environment = TestEnvironment::new();
    environment.install_codex(&json!({"probe": ["hang"]}));
    let (code, report) = checked(
        &environment,
        &[],
        &["--reviewer", "codex", "--timeout", "0.3"],
    );
    assert_eq!(code, 3);
    assert_eq!(report["reviewers"][0]["error"]["code"], "timeout");
    assert!(
        report["reviewers"][0]["fix"]
            .to_string()
            .contains("--timeout")
    );
    assert!(environment.processes().is_empty());
    assert!(environment.left_over().is_empty());
}

#[test]
fn it_works_outside_a_repository_and_never_runs_programs_of_one() {
    let environment = TestEnvironment::new();
    environment.install_codex(&json!({}));
    let home = environment.home();
    let home = home.to_str().expect("a UTF-8 path");
    let (code, report) = checked(&environment, &[], &["--reviewer", "codex", "--cwd", home]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["cwd"], home);

    environment.write_trap(&environment.repo().join("codex"));
    fs::remove_file(environment.bin().join("codex")).expect("it was there");
    let mut command = environment.command(["doctor", "--reviewer", "codex"]);
    command.env("PATH", environment.repo());
    let run = Run::of(command.output().expect("the binary runs"));
    assert_eq!(run.code, 3, "{}", run.stdout);
    assert!(
        !environment.trace().exists(),
        "a program of the repository was run"
    );
}

#[test]
fn the_page_fits_and_hides_nothing_active() {
    let environment = TestEnvironment::new();
    environment.install_codex(&json!({}));
    let odd = environment.home().join("odd\u{202e}\u{1b}[2J");
    fs::create_dir(&odd).expect("a new folder");
    let cwd = odd.to_str().expect("a UTF-8 path");
    let run = doctor(&environment, &[], &["--reviewer", "codex", "--cwd", cwd]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("odd\\u{202e}"), "{}", run.stdout);
    assert!(
        !run.stdout.contains(['\x1b', '\u{202e}']),
        "{:?}",
        run.stdout
    );
    let long = run.stdout.lines().filter(|line| line.chars().count() > 80);
    // Only paths, which stay whole, may be longer.
    let words: Vec<_> = long.filter(|line| !line.contains('/')).collect();
    assert!(words.is_empty(), "{words:?}");
}
