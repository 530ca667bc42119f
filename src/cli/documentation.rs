//! Help fits the narrowest usual terminal, and documents name only what can be typed.

use clap::{Command, CommandFactory as _};

use super::args::Cli;

const DOCUMENTS: [(&str, &str); 4] = [
    ("README.md", include_str!("../../README.md")),
    (
        "configuration.md",
        include_str!("../../docs/configuration.md"),
    ),
    ("contract.md", include_str!("../../docs/contract.md")),
    ("args.rs", include_str!("args.rs")),
];

/// Flags of other programs that the documents mention.
const FOREIGN: [&str; 1] = ["--path"];

/// Every command, with the words that lead to it.
fn commands() -> Vec<(String, Command)> {
    fn walk(words: &str, command: Command, all: &mut Vec<(String, Command)>) {
        for inner in command.get_subcommands() {
            let words = format!("{words} {}", inner.get_name());
            walk(&words, inner.clone(), all);
        }
        all.push((words.to_owned(), command));
    }
    let mut root = Cli::command();
    root.build();
    let mut all = Vec::new();
    walk("diffwarden", root, &mut all);
    all
}

#[test]
fn every_help_fits_eighty_columns() {
    let all = commands();
    assert!(all.len() > 8, "{}", all.len());
    for (words, mut command) in all {
        for help in [command.render_help(), command.render_long_help()] {
            for line in help.to_string().lines() {
                assert!(line.chars().count() <= 80, "{words}: {line}");
            }
        }
    }
}

#[test]
fn every_option_says_what_it_does() {
    for (words, command) in commands() {
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{words}: {argument}");
        }
        assert!(command.get_about().is_some(), "{words}");
    }
}

/// Returns every `--word` of a text.
fn flags(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("--").filter_map(|(at, _)| {
        let is_start =
            !text[..at].ends_with(|before: char| before == '-' || before.is_alphanumeric());
        let rest = &text[at + 2..];
        let end = rest
            .find(|letter: char| !(letter.is_ascii_lowercase() || letter == '-'))
            .unwrap_or(rest.len());
        let is_word = rest.starts_with(|first: char| first.is_ascii_lowercase());
        (is_start && is_word).then(|| &text[at..at + 2 + end])
    })
}

#[test]
fn every_documented_flag_exists() {
    let known: Vec<String> = commands()
        .iter()
        .flat_map(|(_, command)| command.get_arguments())
        .filter_map(|argument| Some(format!("--{}", argument.get_long()?)))
        .collect();
    for (name, text) in DOCUMENTS {
        let mut count = 0;
        for flag in flags(text).filter(|flag| !FOREIGN.contains(flag)) {
            assert!(known.iter().any(|it| it == flag), "{name}: {flag}");
            count += 1;
        }
        assert!(count > 5, "{name}: {count}");
    }
}

/// Splits a line of a shell into words, as far as the documents need it.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut is_open, mut is_quoted) = (false, false);
    for letter in line.chars() {
        if !is_quoted && letter == ' ' {
            is_open = false;
            continue;
        }
        if !is_quoted && !is_open && "#|&>;".contains(letter) {
            break;
        }
        if !is_open {
            words.push(String::new());
            is_open = true;
        }
        match words.last_mut() {
            _ if letter == '\'' || letter == '"' => is_quoted = !is_quoted,
            Some(word) => word.push(letter),
            None => {}
        }
    }
    words
}

#[test]
fn every_documented_command_can_be_typed() {
    for (name, text) in DOCUMENTS {
        for line in text.lines().map(str::trim_start) {
            if !line.starts_with("diffwarden ") || line.contains('…') {
                continue;
            }
            let parsed = Cli::command().try_get_matches_from(words(line));
            assert!(parsed.is_ok(), "{name}: {line}: {}", parsed.unwrap_err());
        }
    }
    let line = "diffwarden review --focus 'missing tests' --json   # why";
    assert_eq!(
        words(line),
        ["diffwarden", "review", "--focus", "missing tests", "--json"]
    );
}
