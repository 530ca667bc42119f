//! What a terminal is sent: nothing it cannot show, nothing that a config smuggles in, and
//! everything that gives it back.

use rustix::process::Signal;
use serde_json::json;

use super::dialogue::{BACKSPACE, DOWN, Dialogue, ENTER, ESC};
use super::{DOCTOR, QUIT, changes_nothing, configured, machine, start};

#[test]
fn a_dumb_terminal_is_told_what_to_type() {
    let environment = configured();
    for (words, instead) in [
        ("reviewers add", "diffwarden reviewers add codex"),
        ("reviewers edit", "diffwarden reviewers edit codex --effort"),
        ("reviewers remove", "diffwarden reviewers remove codex"),
        ("init", "diffwarden init --discover"),
    ] {
        let args: Vec<&str> = words.split(' ').collect();
        let mut dialogue = Dialogue::start(&environment, 80, &[("TERM", "dumb")], &args);
        let (code, stdout) = dialogue.end();
        assert_eq!((code, stdout.as_str()), (2, ""), "{words}");
        dialogue.shows("TERM is `dumb`").shows(instead);
        assert!(!dialogue.raw().contains('\x1b'), "{words}");
    }
}

#[test]
fn colour_is_only_for_those_who_want_it() {
    let environment = configured();
    for (variables, expected) in [(&[][..], true), (&[("NO_COLOR", "1")][..], false)] {
        let mut dialogue = Dialogue::start(&environment, 80, variables, &["reviewers", "edit"]);
        dialogue.at("Which reviewer?", "a (codex").keys(ESC);
        dialogue.end();
        assert_eq!(dialogue.raw().contains("\x1b[38;5;"), expected);
    }
}

#[test]
fn forty_columns_are_enough() {
    let environment = machine();
    let long = "a-reviewer-whose-name-is-far-longer-than-the-terminal-is-wide";
    environment.write_config(&json!({"reviewers": [
        {"id": long, "engine": "codex", "model": format!("model-{long}")},
        {"id": "b", "engine": "gemini"},
    ]}));
    let args = ["reviewers", "edit"];
    let mut dialogue = Dialogue::start(&environment, 40, &[("NO_COLOR", "")], &args);
    for _ in 0..3 {
        dialogue.at("Which reviewer?", "a-reviewer").keys(DOWN);
        dialogue.at("Which reviewer?", "b (gemini").keys(DOWN);
        dialogue.at("Which reviewer?", QUIT).keys(DOWN);
    }
    dialogue.at("Which reviewer?", "a-reviewer");
    insta::assert_snapshot!(dialogue.screen(), @r"
    ? Which reviewer?
    > a-reviewer-whose-name-is-far-lo…
      b (gemini over cli)
      ✕ quit
    [↑↓, enter, esc goes back]
    ");
    dialogue.keys(ENTER);
    dialogue.at("Reviewer a-reviewer", "✓ save").keys(DOWN);
    dialogue.at("Reviewer a-reviewer", "transport").keys(DOWN);
    dialogue.at("Reviewer a-reviewer", "model").keys(ENTER);
    dialogue
        .shows("[enter")
        .keys(&BACKSPACE.repeat(6 + long.len()));
    dialogue.writing("Model (blank: default)", "").keys(ESC);
    dialogue.at("Reviewer a-reviewer", "✓ save").keys(ESC);
    dialogue.at("Which reviewer?", "a-reviewer").keys(ESC);
    dialogue.end();
}

#[test]
fn a_signal_gives_the_terminal_back() {
    let environment = configured();
    for (signal, expected) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130)] {
        let code = changes_nothing(&environment, "reviewers edit", |dialogue| {
            dialogue.take("Which reviewer?", &["a (codex"]);
            dialogue.at("Reviewer a", "✓ save");
            dialogue.signal(signal);
        });
        assert_eq!(code, expected);
        // What was made stays made when the offer of a check is ended.
        let mut dialogue = start(&environment, "reviewers edit a");
        dialogue.take("Reviewer a", &["✓ save", "transport", "model"]);
        let model = format!("-{expected}");
        dialogue.shows("Model (blank").keys(&model);
        dialogue.shows(&model).keys(ENTER);
        dialogue.take("Reviewer a", &["✓ save"]);
        dialogue.at(DOCTOR, "yes");
        dialogue.signal(signal);
        let (code, stdout) = dialogue.end();
        assert_eq!(code, expected);
        assert!(stdout.starts_with("Updated reviewer a"), "{stdout}");
    }
}

#[test]
fn what_a_config_says_cannot_act_on_the_terminal() {
    let environment = machine();
    environment.write_config(&json!({"reviewers": [
        {"id": "a", "engine": "codex", "model": "m\u{202e}x", "profile": "p"},
    ]}));
    let mut dialogue = start(&environment, "reviewers edit");
    dialogue.at("Which reviewer?", "a (codex").keys(ENTER);
    dialogue.at("Reviewer a", "✓ save");
    dialogue.shows("model: m\\u{202e}x").keys(ESC);
    dialogue.at("Which reviewer?", "a (codex").keys(ESC);
    dialogue.end();
    assert!(!dialogue.raw().contains('\u{202e}'));
}
