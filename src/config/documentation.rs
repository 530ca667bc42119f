//! `docs/configuration.md` names every key, variable, word and limit that the code knows.

use super::{reviewer, validate};
use crate::engines::capabilities::{self, OptionKind, ProjectUse, config_word};
use crate::engines::settings::Effort;
use crate::prompt::SendLimits;

const TEXT: &str = include_str!("../../docs/configuration.md");

/// Returns the row of a table that begins with `` `name` ``.
fn row(name: &str) -> &'static str {
    let start = format!("| `{name}` |");
    TEXT.lines()
        .find(|line| line.starts_with(&start))
        .unwrap_or_else(|| panic!("`{name}` is missing"))
}

fn is_named(name: &str) -> bool {
    TEXT.contains(&format!("`{name}`"))
}

#[test]
fn every_key_has_its_row() {
    for key in validate::KEYS.iter().chain(reviewer::KEYS) {
        let is_section = TEXT.contains(&format!("| `{key}."));
        assert!(is_section || is_named(key), "{key}");
    }
    for (section, keys) in [
        ("reviewPlan", validate::REVIEW_PLAN_KEYS),
        ("reporting", validate::REPORTING_KEYS),
        ("intake", validate::INTAKE_KEYS),
    ] {
        for key in keys {
            row(&format!("{section}.{key}"));
        }
    }
}

#[test]
fn every_option_has_its_row_with_its_words_and_its_limits() {
    for capability in capabilities::rows() {
        for option in capability.options {
            let row = row(&format!("{}.{}", option.bag.key(), option.name));
            let project = row.rsplit('|').nth(1).unwrap_or_default().trim();
            match option.project {
                ProjectUse::Refused => assert_eq!(project, "no", "{row}"),
                ProjectUse::Allowed => assert_eq!(project, "yes", "{row}"),
                ProjectUse::Only(words) => {
                    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                    assert_eq!(project, format!("{} only", words.join(", ")), "{row}");
                }
            }
            if let OptionKind::Choice(words) = option.kind {
                assert!(
                    words.iter().all(|word| row.contains(&format!("`{word}`"))),
                    "{row}"
                );
            }
        }
    }
}

#[test]
fn variables_words_and_numbers_are_those_of_the_code() {
    let names = include_str!("overrides.rs").split('"');
    for name in names.filter(|word| word.starts_with("DIFFWARDEN_") && !word.contains(' ')) {
        assert!(is_named(name), "{name}");
    }
    for effort in Effort::ALL {
        assert!(is_named(effort.as_str()), "{effort}");
    }
    for transport in capabilities::rows().iter().filter_map(|row| row.transport) {
        assert!(row("transport").contains(config_word(transport)));
    }
    for (key, bytes) in [
        ("intake.maxFileBytes", SendLimits::DEFAULT_MAX_FILE_BYTES),
        ("intake.maxPatchBytes", SendLimits::DEFAULT_MAX_PATCH_BYTES),
    ] {
        assert!(row(key).contains(&format!("| {bytes} |")), "{}", row(key));
    }
    let most = diffwarden_actors::plan::Policy::default().max_concurrency;
    assert!(row("maxConcurrency").contains(&format!("| {most} |")));
}

#[test]
fn the_example_is_a_config_that_a_project_may_have() {
    let example: String = TEXT
        .lines()
        .skip_while(|line| *line != "```json")
        .skip(1)
        .take_while(|line| *line != "```")
        .collect();
    let value = serde_json::from_str(&example).unwrap();
    validate::validate(&value, super::ConfigKind::Project).unwrap();
}
