//! Guided setup in a real terminal: what is shown and what is written. Every dialogue that ends
//! here is asserted to leave the terminal as it was.

mod dialogue;
mod screen;

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::TestEnvironment;
use dialogue::{BACKSPACE, CTRL_C, DOWN, Dialogue, ENTER, ESC, UP};

const QUIT: &str = "✕ quit";
const PICK: &str = "Which reviewers?";
const DOCTOR: &str = "Check now whether it works?";

fn config_path(environment: &TestEnvironment) -> PathBuf {
    environment
        .home()
        .join(".config/diffwarden/diffwarden.config.json")
}

fn config(environment: &TestEnvironment) -> Value {
    let text = fs::read_to_string(config_path(environment)).expect("a config");
    serde_json::from_str(&text).expect("a config is JSON")
}

/// A machine with Codex and Gemini, both logged in, and no config.
fn machine() -> TestEnvironment {
    let environment = TestEnvironment::with_edit();
    environment.install_codex(&json!({"version": "codex-cli 9.8.7"}));
    let codex = fs::read_link(environment.bin().join("codex")).expect("a link");
    std::os::unix::fs::symlink(codex, environment.bin().join("gemini")).expect("a link");
    for (folder, name) in [(".codex", "auth.json"), (".gemini", "oauth_creds.json")] {
        let folder = environment.home().join(folder);
        fs::create_dir(&folder).expect("a folder");
        fs::write(folder.join(name), "{\"tokens\": \"t\"}").expect("a login");
    }
    environment
}

/// Two configured reviewers.
fn configured() -> TestEnvironment {
    let environment = machine();
    environment.write_config(&json!({
        "defaultReviewerSet": "1",
        "reviewerSets": {"1": ["a", "b"], "deep": ["b"]},
        "reviewers": [
            {"id": "a", "engine": "codex", "model": "model-a", "effort": "low", "timeoutSeconds": 9},
            {"id": "b", "engine": "gemini"},
        ],
    }));
    environment
}

fn start(environment: &TestEnvironment, words: &str) -> Dialogue {
    let args: Vec<&str> = words.split(' ').collect();
    Dialogue::start(environment, 80, &[], &args)
}

/// Holds a dialogue that must change nothing, and returns how it ended.
#[track_caller]
fn changes_nothing(
    environment: &TestEnvironment,
    words: &str,
    hold: impl FnOnce(&mut Dialogue),
) -> u32 {
    let before = fs::read(config_path(environment)).ok();
    let mut dialogue = start(environment, words);
    hold(&mut dialogue);
    let (code, stdout) = dialogue.end();
    assert_eq!(stdout, "", "{words}: {}", dialogue.screen());
    assert_eq!(fs::read(config_path(environment)).ok(), before, "{words}");
    code
}

#[test]
fn reviewers_are_chosen_edited_and_added() {
    let environment = machine();
    let mut dialogue = start(&environment, "reviewers add --set deep");
    dialogue.at(PICK, "codex over cli").keys(DOWN);
    dialogue.at(PICK, "codex over app-server").keys(DOWN);
    dialogue.at(PICK, "gemini over cli").keys(UP);
    dialogue.at(PICK, "codex over app-server").keys(UP);
    dialogue.at(PICK, "codex over cli").keys(" ");
    dialogue.shows("> [x] codex over cli").keys(ENTER);
    let menu = "Reviewer codex";
    dialogue.take(menu, &["✓ save", "transport", "model"]);
    dialogue.writing("Model (blank: default)", "").keys("gpt-x");
    dialogue
        .writing("Model (blank: default)", "gpt-x")
        .keys(ENTER);
    let way = ["✓ save", "transport", "model: gpt-x", "effort"];
    dialogue.take(menu, &way);
    let levels = ["default", "off", "minimal", "low"];
    dialogue.take("Effort", &levels);
    let way = ["✓ save", "transport", "model", "effort: low", "id: codex"];
    dialogue.take(menu, &way);
    dialogue.writing("Id", "codex").keys(&BACKSPACE.repeat(5));
    dialogue.writing("Id", "").keys("mine");
    dialogue.writing("Id", "mine").keys(ENTER);
    dialogue.take("Reviewer mine", &["✓ save"]);
    dialogue.shows("diffwarden review --reviewer mine");
    dialogue.take(DOCTOR, &["yes", "no"]);
    let (code, stdout) = dialogue.end();
    assert_eq!(code, 0, "{}", dialogue.screen());
    let path = config_path(&environment);
    let line = format!(
        "Added mine and put them into reviewer set deep in {}, a new file\n",
        path.display()
    );
    assert_eq!(stdout, line);
    let entry = json!({"id": "mine", "engine": "codex", "model": "gpt-x", "effort": "low"});
    assert_eq!(
        config(&environment),
        json!({"reviewers": [entry], "reviewerSets": {"deep": ["mine"]}})
    );
}

#[test]
fn a_cleared_model_and_the_default_effort_leave_the_file() {
    let environment = configured();
    let mut dialogue = start(&environment, "reviewers edit a");
    dialogue.take("Reviewer a", &["✓ save", "transport", "model: model-a"]);
    dialogue.writing("Model (blank: default)", "model-a");
    dialogue.keys(&BACKSPACE.repeat(7));
    dialogue.writing("Model (blank: default)", "").keys(ENTER);
    let way = ["✓ save", "transport", "model: default", "effort: low"];
    dialogue.take("Reviewer a", &way);
    for level in ["low", "minimal", "off"] {
        dialogue.at("Effort", level).keys(UP);
    }
    dialogue.at("Effort", "default").keys(ENTER);
    dialogue.take("Reviewer a", &["✓ save"]);
    dialogue.at(DOCTOR, "yes").keys(ESC);
    let (code, stdout) = dialogue.end();
    assert_eq!(code, 0);
    assert!(stdout.starts_with("Updated reviewer a in "), "{stdout}");
    let entry = json!({"id": "a", "engine": "codex", "timeoutSeconds": 9});
    assert_eq!(config(&environment)["reviewers"][0], entry);
}

#[test]
fn escape_and_interrupt_lead_one_level_back() {
    let environment = configured();
    for back in [ESC, CTRL_C] {
        let code = changes_nothing(&environment, "reviewers edit", |dialogue| {
            dialogue.take("Which reviewer?", &["a (codex", "b (gemini"]);
            dialogue.take("Reviewer b", &["✓ save", "transport", "model"]);
            dialogue.writing("Model (blank: default)", "").keys("m");
            dialogue.writing("Model (blank: default)", "m").keys(back);
            dialogue.at("Reviewer b", "✓ save").keys(back);
            // The list stands where it stood.
            dialogue.at("Which reviewer?", "b (gemini").keys(back);
            dialogue.shows("Nothing was changed.");
        });
        assert_eq!(code, 0);
    }
}

#[test]
fn quit_leaves_at_once() {
    let environment = configured();
    for words in ["reviewers edit", "reviewers remove"] {
        let code = changes_nothing(&environment, words, |dialogue| {
            dialogue.shows("a (codex over cli)").keys(UP);
            dialogue.shows(&format!("> {QUIT}")).keys(ENTER);
            dialogue.shows("Nothing was changed.");
        });
        assert_eq!(code, 0, "{words}");
    }
    let code = changes_nothing(&machine(), "reviewers add", |dialogue| {
        dialogue.at(PICK, "codex").keys(UP);
        dialogue.at(PICK, QUIT).keys(" ");
        dialogue.shows(&format!("> [x] {QUIT}")).keys(ENTER);
    });
    assert_eq!(code, 0);
}

#[test]
fn removing_asks_and_expects_no() {
    let environment = configured();
    let list = "Remove which reviewer?";
    changes_nothing(&environment, "reviewers remove", |dialogue| {
        dialogue.take(list, &["a (codex", "b (gemini"]);
        dialogue.shows("sets: 1, deep");
        dialogue.at("Remove b?", "no").keys(ESC);
        dialogue.at(list, "b (gemini").keys(ENTER);
        dialogue.at("Remove b?", "no").keys(ENTER);
    });
    let mut dialogue = start(&environment, "reviewers remove");
    dialogue.take(list, &["a (codex", "b (gemini"]);
    dialogue.take("Remove b?", &["no", "yes"]);
    let (code, stdout) = dialogue.end();
    assert_eq!(code, 0);
    assert!(stdout.starts_with("Removed reviewer b from "), "{stdout}");
    assert_eq!(config(&environment)["reviewerSets"]["1"], json!(["a"]));
    // Nobody would be left to review, so the refusal is told and the list is shown again.
    changes_nothing(&environment, "reviewers remove", |dialogue| {
        dialogue.take(list, &["a (codex"]);
        dialogue.take("Remove a?", &["no", "yes"]);
        dialogue.shows("--force");
        dialogue.at(list, "a (codex").keys(ESC);
    });
}

#[test]
fn init_begins_with_what_is_found_and_runs_doctor() {
    let environment = machine();
    let mut dialogue = start(&environment, "init");
    dialogue.at(PICK, "codex").keys(DOWN);
    dialogue.at(PICK, "gemini").keys(" ");
    dialogue.shows("> [ ] gemini").keys(ENTER);
    dialogue.take("Reviewer codex", &["✓ save"]);
    dialogue.shows("To review: diffwarden review");
    dialogue.take(DOCTOR, &["yes"]);
    let (code, stdout) = dialogue.end();
    assert_eq!(code, 0, "{}", dialogue.screen());
    assert!(stdout.starts_with("Created "), "{stdout}");
    assert!(stdout.contains("9.8.7"), "{stdout}");
    assert_eq!(
        config(&environment),
        json!({"defaultReviewerSet": "1", "reviewerSets": {"1": ["codex"]},
            "reviewers": [{"id": "codex", "engine": "codex"}], "readonly": true})
    );
    // A config that exists is told before anything is asked.
    let code = changes_nothing(&environment, "init", |dialogue| {
        dialogue.shows("already exists");
    });
    assert_eq!(code, 2);
    let empty = TestEnvironment::new();
    changes_nothing(&empty, "init", |dialogue| {
        dialogue.at("How to go on?", "write").keys(DOWN);
        dialogue.at("How to go on?", QUIT).keys(ENTER);
    });
}

#[test]
fn json_is_never_mixed_with_questions() {
    let environment = machine();
    for words in [
        "reviewers add --json",
        "reviewers add --interactive --json",
        "reviewers edit --json",
        "reviewers edit a --interactive --json",
        "reviewers remove --json",
        "init --interactive --json",
    ] {
        let mut dialogue = start(&environment, words);
        let (code, stdout) = dialogue.end();
        assert_eq!(code, 2, "{words}");
        let value: Value = serde_json::from_str(&stdout).expect("JSON alone");
        assert_eq!(value["error"]["code"], "invalid_cli", "{words}");
        assert!(!dialogue.raw().contains('\x1b'), "{words}");
    }
    assert!(!config_path(&environment).exists());
    let mut dialogue = start(&environment, "init --json");
    let (code, stdout) = dialogue.end();
    let value: Value = serde_json::from_str(&stdout).expect("JSON alone");
    assert_eq!((code, &value["created"]), (0, &json!(true)));
    assert_eq!(dialogue.raw(), "");
}

#[test]
fn what_names_a_target_asks_nothing() {
    let other = machine();
    let mut dialogue = start(&other, "init --discover");
    let (code, stdout) = dialogue.end();
    assert_eq!((code, stdout.lines().count()), (0, 1), "{stdout}");
    assert_eq!(dialogue.raw(), "");
    let environment = machine();
    for words in [
        "reviewers add codex",
        "reviewers edit codex --effort high",
        "reviewers remove codex",
    ] {
        let mut dialogue = start(&environment, words);
        let (code, stdout) = dialogue.end();
        assert_eq!((code, stdout.lines().count()), (0, 1), "{words}: {stdout}");
        assert_eq!(dialogue.raw(), "", "{words}");
    }
    for words in [
        "reviewers add codex --interactive",
        "reviewers edit codex --interactive --effort low",
        "reviewers add --model m",
    ] {
        assert_eq!(changes_nothing(&environment, words, |_| ()), 2, "{words}");
    }
}
