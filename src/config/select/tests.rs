//! Tables of selections and what comes of them.

use std::path::PathBuf;
use std::time::Duration;

use diffwarden_actors::model::Transport;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::config::discover::ConfigKind;
use crate::config::resolve::by_default;
use crate::config::validate::validate;
use crate::engines::settings::Effort;

fn loaded(value: &Value) -> LoadedConfig {
    LoadedConfig {
        path: PathBuf::from("/c.json"),
        sha256: String::new(),
        kind: ConfigKind::User,
        overlay: None,
        config: validate(value, ConfigKind::User).unwrap(),
    }
}

fn sets() -> Value {
    json!({
        "defaultReviewerSet": "2",
        "reviewerSets": {
            "1": ["alpha"], "2": ["alpha", "beta"], "3": ["alpha", "beta", "gamma"],
            "again": ["alpha", "alpha"], "lost": ["alpha", "nobody"], "empty": []
        },
        "reviewers": [
            {"id": "alpha", "engine": "codex", "model": "model-alpha"},
            {"id": "beta", "engine": "codex", "model": "model-beta", "profile": "deep"},
            {"id": "gamma", "engine": "codex", "model": "model-gamma", "effort": "high"},
            {"id": "off", "engine": "codex", "profile": "off", "enabled": false},
            {"id": "gemini", "engine": "codex", "model": "mine"},
            {"id": "team:deep", "engine": "codex"}
        ]
    })
}

/// Reads `--flag value` pairs and `NAME=value` variables.
fn select(config: Option<&Value>, words: &str) -> Result<Vec<ReviewerSettings>, Failure> {
    let mut flags = SelectionFlags::default();
    let mut variables = vec![("HOME".to_owned(), "/home/u".to_owned())];
    let mut words = words.split_whitespace();
    while let Some(word) = words.next() {
        if let Some((name, value)) = word.split_once('=') {
            variables.push((name.to_owned(), value.to_owned()));
            continue;
        }
        let value = words.next().map(str::to_owned);
        match word {
            "--reviewer" => flags.reviewers.extend(value),
            "--reviewer-set" => flags.reviewer_set = value,
            "--model" => flags.model = value,
            "--effort" => flags.effort = value,
            "--fallback-model" => flags.fallback_model = value,
            "--timeout" => flags.timeout = value,
            _ => panic!("unknown word {word}"),
        }
    }
    let config = config.map(loaded);
    select_reviewers(&flags, &variables.into_iter().collect(), config.as_ref())
}

#[track_caller]
fn ids(config: Option<&Value>, words: &str) -> Vec<String> {
    let settings = select(config, words).unwrap_or_else(|failure| panic!("{words}: {failure}"));
    settings.into_iter().map(|one| one.id.0).collect()
}

#[track_caller]
fn only(config: &Value, words: &str) -> ReviewerSettings {
    let mut settings = select(Some(config), words).unwrap();
    assert_eq!(settings.len(), 1);
    settings.remove(0)
}

#[track_caller]
fn refused(config: Option<&Value>, words: &str, code: ErrorCode, parts: &[&str]) {
    let failure = select(config, words).unwrap_err();
    assert_eq!(failure.code, code, "{words}: {failure}");
    assert_eq!(failure.exit_code(), 2, "{words}: {failure}");
    for part in parts {
        assert!(failure.message.contains(part), "{words}: {failure}");
    }
}

#[test]
fn flags_then_variables_then_the_default_set() {
    let config = sets();
    for (words, expected) in [
        ("", &["alpha", "beta"][..]),
        (
            "--reviewer beta --reviewer alpha --reviewer beta",
            &["beta", "alpha", "beta"],
        ),
        ("--reviewer-set 3", &["alpha", "beta", "gamma"]),
        ("--reviewer-set again", &["alpha", "alpha"]),
        ("DIFFWARDEN_REVIEWERS=gamma,codex", &["gamma", "codex"]),
        ("DIFFWARDEN_REVIEWER_SET=1", &["alpha"]),
        (
            "--reviewer beta DIFFWARDEN_REVIEWERS=alpha DIFFWARDEN_REVIEWER_SET=3",
            &["beta"],
        ),
        ("--reviewer-set 1 DIFFWARDEN_REVIEWERS=a:b:c", &["alpha"]),
        ("--reviewer codex:deep", &["beta"]),
        ("--reviewer team:deep", &["team:deep"]),
        ("--reviewer surface --reviewer fake", &["surface", "fake"]),
    ] {
        assert_eq!(ids(Some(&config), words), expected, "{words}");
    }
    let no_default = json!({
        "reviewerSets": {"1": ["a"]}, "reviewers": [{"id": "a", "engine": "codex"}]
    });
    assert_eq!(ids(Some(&no_default), ""), ["a"]);
    assert_eq!(ids(None, "--reviewer codex"), ["codex"]);
    assert_eq!(ids(None, "--reviewer surface"), ["surface"]);
}

#[test]
fn a_configured_id_wins_over_an_engine_name() {
    let settings = only(&sets(), "--reviewer gemini");
    assert_eq!(settings.engine, EngineName::Codex);
    assert_eq!(settings.model.unwrap().value, "mine");
    let disabled = json!({"reviewers": [{"id": "codex", "engine": "codex", "enabled": false}]});
    refused(
        Some(&disabled),
        "--reviewer codex",
        ErrorCode::InvalidCli,
        &["codex", "disabled"],
    );
}

#[test]
fn selections_that_lead_nowhere_are_refused() {
    use ErrorCode::{InvalidCli, InvalidConfig};
    let config = sets();
    let some = Some(&config);
    let no_sets = json!({"reviewers": [{"id": "alpha", "engine": "codex"}]});
    let lost_default = json!({"defaultReviewerSet": "x", "reviewerSets": {"1": ["codex"]}});
    for (config, words, code, parts) in [
        (
            some,
            "--reviewer a --reviewer-set 1",
            InvalidCli,
            &["--reviewer-set"][..],
        ),
        (
            some,
            "DIFFWARDEN_REVIEWERS=alpha DIFFWARDEN_REVIEWER_SET=1",
            InvalidCli,
            &["--reviewer-set"],
        ),
        (some, "--reviewer codex:a:b", InvalidCli, &["codex:a:b"]),
        (some, "--reviewer codex:-x", InvalidCli, &["codex:-x"]),
        (some, "--reviewer codex:none", InvalidCli, &["codex:none"]),
        (some, "--reviewer nobody", InvalidCli, &["nobody"]),
        (some, "--reviewer-set lost", InvalidCli, &["nobody"]),
        (some, "--reviewer-set empty", InvalidCli, &["empty"]),
        (
            some,
            "--reviewer-set constructor",
            InvalidCli,
            &["constructor"],
        ),
        (some, "--reviewer off", InvalidCli, &["off", "disabled"]),
        (
            some,
            "--reviewer codex:off",
            InvalidCli,
            &["`off`", "codex:off", "disabled"],
        ),
        (Some(&no_sets), "", InvalidConfig, &["defaultReviewerSet"]),
        (
            Some(&lost_default),
            "",
            InvalidConfig,
            &["defaultReviewerSet", "`x`"],
        ),
        (
            None,
            "",
            InvalidConfig,
            &["init", "/home/u/.config/diffwarden/diffwarden.config.json"],
        ),
        (None, "DIFFWARDEN_REVIEWERS=codex", InvalidConfig, &["init"]),
        (
            None,
            "DIFFWARDEN_REVIEWER_SET=1 DIFFWARDEN_REVIEWERS=codex",
            InvalidConfig,
            &["init"],
        ),
        (None, "--reviewer-set 1", InvalidConfig, &["init", "`1`"]),
        (
            None,
            "--reviewer codex:deep",
            InvalidConfig,
            &["init", "codex:deep"],
        ),
        (None, "--reviewer nobody", InvalidCli, &["init", "nobody"]),
        (
            None,
            "--reviewer fake DIFFWARDEN_REVIEWERS=a,,b",
            InvalidCli,
            &["DIFFWARDEN_REVIEWERS"],
        ),
    ] {
        refused(config, words, code, parts);
    }
}

#[test]
fn one_off_values_need_a_single_reviewer() {
    let config = sets();
    for (words, part) in [
        ("--model x", "--model"),
        ("DIFFWARDEN_MODEL=x", "--model"),
        ("--effort low", "--effort"),
        ("DIFFWARDEN_EFFORT=low", "DIFFWARDEN_EFFORT"),
        ("--fallback-model x", "--fallback-model"),
        ("DIFFWARDEN_FALLBACK_MODEL=x", "--fallback-model"),
        (
            "--reviewer alpha --reviewer alpha --model x",
            "single reviewer",
        ),
    ] {
        refused(Some(&config), words, ErrorCode::InvalidCli, &[part]);
    }
    assert_eq!(ids(Some(&config), "--timeout 5"), ["alpha", "beta"]);
}

#[test]
fn values_come_from_the_strongest_source() {
    let config = json!({
        "timeoutSeconds": 50,
        "reviewers": [{"id": "p", "engine": "codex", "model": "m", "effort": "low",
                       "provider": "openrouter", "timeoutSeconds": 1,
                       "cliOptions": {"webSearch": "enabled"}}]
    });
    let by_config = only(&config, "--reviewer p");
    let model = |settings: &ReviewerSettings| {
        settings
            .model
            .clone()
            .map(|chosen| (chosen.value, chosen.origin))
    };
    assert_eq!(model(&by_config), Some(("m".to_owned(), Origin::Config)));
    assert_eq!(by_config.timeout, Some(Duration::from_secs(1)));
    assert_eq!(by_config.transport, Some(Transport::Cli));
    assert_eq!(by_config.provider.as_deref(), Some("openrouter"));
    assert_eq!(by_config.options.cli["webSearch"], "enabled");

    let variables = "DIFFWARDEN_MODEL=e DIFFWARDEN_EFFORT=max DIFFWARDEN_TIMEOUT_SECONDS=3";
    let by_variables = only(&config, &format!("--reviewer p {variables}"));
    assert_eq!(
        model(&by_variables),
        Some(("e".to_owned(), Origin::Environment))
    );
    assert_eq!(by_variables.effort.unwrap().value, Effort::Max);
    assert_eq!(by_variables.timeout, Some(Duration::from_secs(3)));

    let typed = format!("--reviewer p --model f --effort off --timeout 4 {variables}");
    let by_flags = only(&config, &typed);
    assert_eq!(model(&by_flags), Some(("f".to_owned(), Origin::Flag)));
    assert_eq!(by_flags.effort.unwrap().origin, Origin::Flag);
    assert_eq!(by_flags.timeout, Some(Duration::from_secs(4)));

    let built_in = only(&config, "--reviewer codex");
    assert_eq!(built_in.timeout, Some(Duration::from_secs(50)));
    assert_eq!((built_in.model, built_in.effort), (None, None));
}

#[test]
fn catalogs_and_capabilities_are_held() {
    use ErrorCode::{InvalidCli, InvalidEffort, InvalidModel};
    let config = json!({"reviewers": [
        {"id": "p", "engine": "codex", "effortCatalog": ["low"], "modelCatalog": ["m"]},
        {"id": "wrong", "engine": "codex", "model": "x", "modelCatalog": ["m"]},
        {"id": "ag", "engine": "antigravity", "model": "x"},
        {"id": "cu", "engine": "cursor", "transport": "cli", "effort": "low"}
    ]});
    let some = Some(&config);
    assert_eq!(ids(some, "--reviewer p --model m --effort low"), ["p"]);
    for (config, words, code, parts) in [
        (
            some,
            "--reviewer p --effort high",
            InvalidEffort,
            &["high", "p"][..],
        ),
        (
            some,
            "--reviewer p --model x",
            InvalidModel,
            &["`x`", "modelCatalog"],
        ),
        (some, "--reviewer wrong", InvalidModel, &["`x`", "`wrong`"]),
        (
            some,
            "--reviewer ag",
            InvalidModel,
            &["antigravity over cli"],
        ),
        (some, "--reviewer cu", InvalidEffort, &["cursor over cli"]),
        (
            None,
            "--reviewer gemini --effort low",
            InvalidEffort,
            &["gemini", "effort"],
        ),
        (
            None,
            "--reviewer antigravity --effort low",
            InvalidEffort,
            &["antigravity"],
        ),
        (
            None,
            "--reviewer codex --fallback-model x",
            InvalidCli,
            &["fallback"],
        ),
        (
            None,
            "--reviewer codex DIFFWARDEN_FALLBACK_MODEL=x",
            InvalidCli,
            &["fallback"],
        ),
        (
            None,
            "--reviewer surface --model x",
            InvalidModel,
            &["surface"],
        ),
    ] {
        refused(config, words, code, parts);
    }
    let quiet = "DIFFWARDEN_MODEL=x DIFFWARDEN_EFFORT=low DIFFWARDEN_FALLBACK_MODEL=y";
    assert_eq!(
        ids(None, &format!("--reviewer surface {quiet}")),
        ["surface"]
    );
}

#[test]
fn paths_that_are_not_built_are_refused_last() {
    let config = json!({"reviewers": [
        {"id": "server", "engine": "droid", "transport": "cli"}
    ]});
    for (config, words, part) in [
        (None, "--reviewer cursor", "cursor engine over sdk"),
        (None, "--reviewer acp", "acp engine over acp"),
        (
            None,
            "--reviewer codex --reviewer grok",
            "grok engine over cli",
        ),
        (Some(&config), "--reviewer server", "droid engine over cli"),
    ] {
        let parts = [part, "codex over cli", "surface", "does not have yet"];
        refused(config, words, ErrorCode::InvalidCli, &parts);
    }
}

#[test]
fn the_default_effort_and_model_of_an_engine() {
    let config = json!({"reviewers": [
        {"id": "plain", "engine": "claude", "transport": "cli"},
        {"id": "low", "engine": "claude", "effortCatalog": ["low"], "maxTurns": 3},
        {"id": "cursor", "engine": "cursor"}
    ]});
    let config = loaded(&config).config;
    let settings = |id: &str| {
        Reviewer::Configured(config.reviewer(id).unwrap())
            .settings(&Overrides::default(), Some(&config))
            .unwrap()
    };
    let plain = settings("plain");
    assert_eq!(plain.effort, Some(by_default(Effort::High)));
    assert_eq!(plain.model, Some(by_default("sonnet".to_owned())));
    assert_eq!(settings("low").effort, None);
    assert_eq!(settings("low").max_turns, Some(3));
    assert_eq!(settings("cursor").model.unwrap().value, "composer-2.5");
    assert_eq!(settings("cursor").effort, None);
}

#[test]
fn advice_names_what_was_meant() {
    let failure = select(Some(&sets()), "--reviewer gama").unwrap_err();
    assert_eq!(failure.hint.unwrap(), "did you mean `gamma`?");
    let failure = select(Some(&sets()), "--reviewer-set zzz").unwrap_err();
    assert!(failure.hint.unwrap().contains("1, 2, 3"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_words_are_judged(
        reviewers in prop::collection::vec("\\PC{0,12}", 0..3),
        set in prop::option::of("\\PC{0,6}"),
        effort in prop::option::of("[a-z]{0,6}"),
        timeout in prop::option::of("[-+0-9a-z.]{0,8}"),
        configured in any::<bool>(),
    ) {
        let flags = SelectionFlags {
            reviewers, reviewer_set: set, effort, timeout, ..SelectionFlags::default()
        };
        let config = configured.then(|| loaded(&sets()));
        match select_reviewers(&flags, &Environment::default(), config.as_ref()) {
            Ok(settings) => prop_assert!(!settings.is_empty()),
            Err(failure) => prop_assert_eq!(failure.exit_code(), 2),
        }
    }
}

#[test]
fn a_variable_that_does_not_count_is_named() {
    for (variable, value) in [
        ("DIFFWARDEN_REVIEWERS", "surface"),
        ("DIFFWARDEN_REVIEWER_SET", "2"),
    ] {
        let environment: Environment = [(variable, value)].into_iter().collect();
        let failure = select_reviewers(&SelectionFlags::default(), &environment, None).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        let words = format!("{variable} counts only where there is a config");
        assert!(failure.message.contains(&words), "{failure}");
    }
    let nobody = select_reviewers(&SelectionFlags::default(), &Environment::default(), None);
    assert!(!nobody.unwrap_err().message.contains("DIFFWARDEN"));
}
