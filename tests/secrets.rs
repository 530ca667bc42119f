//! Secrets of a change: they are sent to nobody, and nothing that is written repeats them.
//!
//! Values are put together here, so that no file of this repository holds the shape of one.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Run, TestEnvironment, reply};

/// A secret, and how a line of a file holds it.
struct Planted {
    value: String,
    line: String,
}

fn planted(value: String, line: impl Fn(&str) -> String) -> Planted {
    let line = line(&value);
    Planted { value, line }
}

/// Returns secrets of different kinds, each in a line as people write it.
fn secrets() -> Vec<Planted> {
    let token = |start: &str, rest: &str| format!("{start}{rest}");
    let named = "k9Qz7vLm2Xc4Rt8Wb1Np";
    vec![
        planted(
            token("ghp_", "k9Qz7vLm2Xc4Rt8Wb1NpYd5Fg3Hj6Ks0Ta2U"),
            |it| format!("let github = \"{it}\";"),
        ),
        planted(token("glpat-", "Zk9Qz7vLm2Xc4Rt8Wb1N"), |it| {
            format!("// removed with {it}")
        }),
        planted(
            token("npm_", "Rt8Wb1NpYd5Fg3Hj6Ks0Ta2Uk9Qz7vLm2Xc4"),
            |it| format!("let context = \"{it}\";"),
        ),
        planted(named.to_owned(), |it| format!("let api_key = \"{it}\";")),
        planted("Tr0ub4dorX9z".to_owned(), |it| {
            format!("connect(\"postgres://app:{it}@db.acme.io/app\");")
        }),
        planted(
            // The base64 of a GitHub token in an assignment.
            "dG9rZW49Z2hwX2o4UHk2dUtsMVdiM1FzM3Y3WGM5TG00RmdIMnpUbjVSZDA4QQ==".to_owned(),
            |it| format!("let encoded = \"{it}\";"),
        ),
    ]
}

/// A token that stands in a commit message, one in a path and one in the name of the branch.
fn elsewhere() -> [String; 3] {
    let rests = [
        "m1Qz7vLm2Xc4Rt8Wb1NpYd5Fg3Hj6Ks0Ta2U",
        "p2Qz7vLm2Xc4Rt8Wb1NpYd5Fg3Hj6Ks0Ta2U",
        "b3Qz7vLm2Xc4Rt8Wb1NpYd5Fg3Hj6Ks0Ta2U",
    ];
    rests.map(|rest| format!("{}{rest}", "ghp_"))
}

/// Returns a repository whose branch adds, removes and stands beside secrets, and all of these.
fn repository() -> (TestEnvironment, Vec<String>) {
    let environment = TestEnvironment::new();
    let secrets = secrets();
    let [message, path, branch] = elsewhere();
    let (removed, context) = (&secrets[1].line, &secrets[2].line);
    environment.write("src/lib.rs", format!("{context}\n{removed}\nfn a() {{}}\n"));
    environment.commit("base");
    environment.git(&["checkout", "--quiet", "-b", &format!("try-{branch}")]);
    let added: Vec<_> = [0, 3, 4, 5].map(|at| secrets[at].line.as_str()).into();
    let text = format!("{context}\n{}\nfn a() {{}}\n", added.join("\n"));
    environment.write("src/lib.rs", text);
    environment.write(&format!("src/{path}.rs"), "fn b() {}\n");
    environment.commit(&format!("Use {message} for now"));
    let mut values: Vec<_> = secrets.into_iter().map(|it| it.value).collect();
    values.extend([message, path, branch]);
    (environment, values)
}

#[track_caller]
fn assert_none(text: &str, values: &[String], place: &str) {
    for value in values {
        assert!(!text.contains(value.as_str()), "{place}: {value}\n{text}");
    }
}

/// Reads every file below a folder.
fn read_all(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            text.push_str(&read_all(&path));
        } else {
            text.push_str(&String::from_utf8_lossy(&fs::read(&path).expect("a file")));
        }
    }
    text
}

#[track_caller]
fn assert_nothing_leaks(environment: &TestEnvironment, run: &Run, values: &[String]) {
    assert_none(&run.stdout, values, "stdout");
    assert_none(&run.stderr, values, "stderr");
    for what in ["stdin", "argv", "env"] {
        for text in environment.recorded(what) {
            assert_none(&text, values, what);
        }
    }
    assert_none(&read_all(&environment.home()), values, "home");
    assert_eq!(environment.left_over(), [] as [std::path::PathBuf; 0]);
}

/// Returns the steps of an engine that read the files and repeats what it read wherever it can.
fn talkative(environment: &TestEnvironment, values: &[String]) -> Value {
    let said = values.join(" and ");
    let finding = json!({
        "title": format!("[P1] The token {} is in the code", values[0]),
        "body": format!("It holds {said}."),
        "confidence_score": 0.9,
        "priority": 1,
        "code_location": {
            "absolute_file_path": "{REPO}/src/lib.rs",
            "line_range": {"start": 2, "end": 2},
        },
    });
    json!([
        environment.record(),
        {"stderr": format!("warning: read {said}\n")},
        {"event": {"type": "item.completed", "item": {"type": "reasoning", "text": said}}},
        reply(&[finding]),
    ])
}

#[test]
fn no_secret_of_a_change_is_sent_or_written() {
    let (environment, values) = repository();
    environment.codex_does(&talkative(&environment, &values));
    let out = environment.path("out.json");
    let out = out.to_str().expect("a readable path");
    let target = ["--target", "base:main", "--reviewer", "codex"];
    for mode in [
        &["--json", "--report"][..],
        &["--ndjson", "--progress"],
        &["--agent"],
        &["--out", out],
    ] {
        let run = environment.review(&[&target[..], mode].concat());
        assert_eq!(run.code, 0, "{mode:?} {}", run.stderr);
        assert!(!environment.recorded("stdin").is_empty());
        assert_nothing_leaks(&environment, &run, &values);
    }
    assert_none(
        &fs::read_to_string(out).expect("it is there"),
        &values,
        "--out",
    );
    // What stands around the secrets is sent, and where they stood can be seen.
    let sent = environment.recorded("stdin").concat();
    assert!(
        sent.contains("+let github = \"[masked:github-token]\";"),
        "{sent}"
    );
    assert!(
        sent.contains("-// removed with [masked:gitlab-token]"),
        "{sent}"
    );
    assert!(
        sent.contains(" let context = \"[masked:npm-token]\";"),
        "{sent}"
    );
    assert!(
        sent.contains("postgres://app:[masked:url-password]@db.acme.io"),
        "{sent}"
    );
}

#[test]
fn a_masked_file_is_told_and_the_result_is_not_clean() {
    let (environment, _) = repository();
    environment.codex_finds(&[]);
    let run = environment.review(&["--target", "base:main", "--reviewer", "codex", "--json"]);
    let artifact = run.json();
    let reasons = &artifact["trust"]["reasons"];
    assert!(reasons.to_string().contains("\"masked\""), "{reasons}");
    let files = artifact["coverage"]["files"].as_array().expect("files");
    let file = files
        .iter()
        .find(|it| it["path"] == "src/lib.rs")
        .expect("it");
    assert_eq!(file["sent"], "masked");
    assert_eq!(file["reason"], "6 secrets masked");
}

#[test]
fn an_engine_that_fails_repeats_no_secret_either() {
    let (environment, values) = repository();
    let said = values.join(" ");
    for steps in [
        json!([{"stderr": format!("fatal: {said}\n")}, {"exit": 7}]),
        json!([{"fail_turn": format!("bad request: {said}")}, {"exit": 1}]),
        json!([{"text": format!("I read {said} and answer in prose.")}]),
    ] {
        environment.codex_does(&steps);
        for mode in [&["--json"][..], &["--ndjson"], &[]] {
            let target = ["--target", "base:main", "--reviewer", "codex"];
            let run = environment.review(&[&target[..], mode].concat());
            assert_nothing_leaks(&environment, &run, &values);
        }
    }
}

#[test]
fn the_printed_prompt_is_the_masked_one_and_nothing_runs() {
    let (environment, values) = repository();
    environment.codex_does(&json!([environment.record(), {"exit": 1}]));
    let args = [
        "--target",
        "base:main",
        "--reviewer",
        "codex",
        "--print-prompt",
    ];
    let run = environment.review(&args);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(
        run.stdout.contains("[masked:github-token]"),
        "{}",
        run.stdout
    );
    assert!(environment.recorded("argv").is_empty());
    assert_nothing_leaks(&environment, &run, &values);
}

#[test]
fn every_line_of_a_private_key_is_masked() {
    let environment = TestEnvironment::with_edit();
    let row = |seed: &str| seed.repeat(4)[..64].to_owned();
    let rows = [
        row("MIIEpAIBAAKCAQEA7x"),
        row("9Qz7vLm2Xc4Rt8Wb1N"),
        row("pYd5Fg3Hj6Ks0Ta2Uk"),
    ];
    let [begin, end] =
        ["BEGIN", "END"].map(|edge| format!("-----{edge} RSA PRIVATE {}-----", "KEY"));
    let text = format!("{begin}\n{}\nZk9Qz7vLm2==\n{end}\nafter\n", rows.join("\n"));
    environment.write("deploy.txt", text);
    environment.codex_finds(&[]);
    let run = environment.review(&["--reviewer", "codex", "--json"]);
    let mut values = rows.to_vec();
    values.push("Zk9Qz7vLm2==".to_owned());
    assert_nothing_leaks(&environment, &run, &values);
    let sent = environment.recorded("stdin").concat();
    assert_eq!(sent.matches("+[masked:private-key]\n").count(), 6, "{sent}");
    assert!(sent.contains("\n+after\n"), "{sent}");
}

#[test]
fn only_the_side_before_the_change_can_allow() {
    let environment = TestEnvironment::with_edit();
    let value = &secrets()[0].value;
    let list = format!("[[allowlists]]\nstopwords = [\"{}\"]\n", &value[4..20]);
    let change = |environment: &TestEnvironment| {
        environment.write("src/lib.rs", format!("{}\n", secrets()[0].line));
        let run = environment.review(&["--reviewer", "surface", "--json"]);
        run.json()["result"]["findings"]
            .as_array()
            .map_or(0, Vec::len)
    };
    environment.write(".gitleaks.toml", &list);
    assert_eq!(change(&environment), 1);
    environment.write("src/lib.rs", "pub fn one() -> u8 {\n    1\n}\n");
    environment.commit("allow it");
    assert_eq!(change(&environment), 0);
}
