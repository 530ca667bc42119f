//! Which reviewers a run has, and with which values (SPEC 5.2 to 5.4, 15).

use diffwarden_actors::model::{EngineName, ErrorCode, Failure, ReviewerId};

use super::discover::{LoadedConfig, missing_config};
use super::model::{Config, ConfiguredReviewer};
use super::overrides::{Overrides, Requested, SelectionFlags};
use super::spec::ReviewerSpec;
use super::suggest;
use crate::engines::capabilities::{self, Capability, EffortSupport};
use crate::engines::settings::{Chosen, Effort, EngineOptions, Origin, ReviewerSettings};
use crate::env::Environment;

/// Returns the reviewers of a run, in order, a reviewer that was named twice twice.
///
/// Flags beat variables, which beat the reviewer's entry, which beats what holds for the whole
/// config. Variables that name reviewers or a set count only when there is a config and no flag
/// names any. For reviewers inside diffwarden, the variables for model, effort and fallback mean
/// nothing: they are wishes for whatever engine a run has, and there is none.
///
/// # Errors
///
/// Fails with a code of exit 2 for whatever can be known to be wrong before anything runs, the
/// cheapest checks first, and last for an engine that this version cannot reach.
pub fn select_reviewers(
    flags: &SelectionFlags,
    environment: &Environment,
    loaded: Option<&LoadedConfig>,
) -> Result<Vec<ReviewerSettings>, Failure> {
    let overrides = Overrides::parse(flags, environment)?;
    let config = loaded.map(|loaded| &loaded.config);
    let specs = requested_specs(&overrides, environment, config)?;
    let reviewers = specs
        .iter()
        .map(|spec| resolve(spec, environment, config))
        .collect::<Result<Vec<_>, _>>()?;
    if reviewers.len() > 1 {
        refuse_single_overrides(&overrides)?;
    }
    let settings = reviewers
        .iter()
        .map(|reviewer| reviewer.settings(&overrides, config))
        .collect::<Result<Vec<_>, _>>()?;
    settings.iter().try_for_each(require_built)?;
    Ok(settings)
}

/// Returns the specs that flags, variables or the config ask for.
fn requested_specs(
    overrides: &Overrides,
    environment: &Environment,
    config: Option<&Config>,
) -> Result<Vec<String>, Failure> {
    if !overrides.requested.is_empty() {
        return specs_of(&overrides.requested, environment, config);
    }
    let Some(config) = config else {
        return Err(missing_config(environment, "no reviewer is selected"));
    };
    if !overrides.environment.is_empty() {
        overrides.environment.check()?;
        return specs_of(&overrides.environment, environment, Some(config));
    }
    if config.default_reviewer_set.is_none() && config.set(config.default_set_name()).is_none() {
        return Err(Failure::new(
            ErrorCode::InvalidConfig,
            "no reviewer is selected, and the config has neither defaultReviewerSet nor a reviewer \
             set named 1",
        )
        .hint("name a reviewer with --reviewer, or add a defaultReviewerSet to the config"));
    }
    members_of(config, config.default_set_name(), "defaultReviewerSet")
}

fn specs_of(
    requested: &Requested,
    environment: &Environment,
    config: Option<&Config>,
) -> Result<Vec<String>, Failure> {
    let Some(set) = &requested.set else {
        return Ok(requested.reviewers.clone());
    };
    match config {
        Some(config) => members_of(config, set, "--reviewer-set"),
        None => Err(missing_config(
            environment,
            &format!("reviewer set `{set}` comes from a config"),
        )),
    }
}

fn members_of(config: &Config, name: &str, source: &str) -> Result<Vec<String>, Failure> {
    let Some(set) = config.set(name) else {
        let names = config.reviewer_sets.iter().map(|set| set.name.as_str());
        return Err(Failure::new(
            ErrorCode::InvalidConfig,
            format!("{source} names `{name}`, but the config has no such reviewer set"),
        )
        .hint(known_names("reviewer sets", name, names)));
    };
    if set.members.is_empty() {
        return Err(Failure::new(
            ErrorCode::InvalidConfig,
            format!("reviewer set `{name}` ({source}) is empty"),
        ));
    }
    Ok(set.members.clone())
}

/// A reviewer that a spec stands for.
enum Reviewer<'a> {
    /// An engine with nothing configured.
    BuiltIn(EngineName),
    /// An entry of the config.
    Configured(&'a ConfiguredReviewer),
}

/// Looks a spec up. A configured id wins over an engine of the same spelling.
fn resolve<'a>(
    text: &str,
    environment: &Environment,
    config: Option<&'a Config>,
) -> Result<Reviewer<'a>, Failure> {
    let spec = ReviewerSpec::parse(text)?;
    if let Some(entry) = config.and_then(|config| config.reviewer(text)) {
        return enabled(entry, text);
    }
    let (engine, profile) = match spec {
        ReviewerSpec::Engine(engine) => return Ok(Reviewer::BuiltIn(engine)),
        ReviewerSpec::Id(_) => return Err(unknown(text, environment, config)),
        ReviewerSpec::Profile { engine, profile } => (engine, profile),
    };
    let Some(config) = config else {
        let what = format!("reviewer profile `{text}` comes from a config");
        return Err(missing_config(environment, &what));
    };
    let Some(entry) = config.profile(engine, profile) else {
        return Err(Failure::new(
            ErrorCode::InvalidCli,
            format!(
                "unknown reviewer profile `{text}`: no configured reviewer has engine {engine} \
                 and profile {profile}"
            ),
        ));
    };
    enabled(entry, text)
}

fn enabled<'a>(entry: &'a ConfiguredReviewer, text: &str) -> Result<Reviewer<'a>, Failure> {
    if entry.enabled {
        return Ok(Reviewer::Configured(entry));
    }
    let id = &entry.id;
    let name = if id == text {
        String::new()
    } else {
        format!(" (`{text}`)")
    };
    Err(Failure::new(
        ErrorCode::InvalidCli,
        format!("reviewer `{id}`{name} is disabled in the config"),
    )
    .hint("enable it in the config, or select another reviewer"))
}

fn unknown(text: &str, environment: &Environment, config: Option<&Config>) -> Failure {
    let Some(config) = config else {
        return missing_config(environment, &format!("reviewer `{text}` is not an engine"));
    };
    let engines = EngineName::ALL.iter().map(|engine| engine.as_str());
    let ids = config.reviewers.iter().map(|entry| entry.id.as_str());
    Failure::new(
        ErrorCode::InvalidCli,
        format!("unknown reviewer `{text}`: it is neither a configured id nor an engine"),
    )
    .hint(known_names("reviewers", text, ids.chain(engines)))
}

fn known_names<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    if let Some(meant) = suggest::closest(name, known.iter().copied()) {
        return format!("did you mean `{meant}`?");
    }
    if known.is_empty() {
        return format!("the config has no {what}");
    }
    format!("known {what}: {}", known.join(", "))
}

/// Refuses one-off values that cannot be meant for several reviewers (SPEC 5.3).
fn refuse_single_overrides(overrides: &Overrides) -> Result<(), Failure> {
    let given = [
        (
            "--model",
            "DIFFWARDEN_MODEL",
            origin(overrides.model.as_ref()),
        ),
        (
            "--effort",
            "DIFFWARDEN_EFFORT",
            origin(overrides.effort.as_ref()),
        ),
        (
            "--fallback-model",
            "DIFFWARDEN_FALLBACK_MODEL",
            origin(overrides.fallback_model.as_ref()),
        ),
    ];
    for (flag, variable, origin) in given {
        let source = match origin {
            None => continue,
            Some(Origin::Environment) => format!("{flag} (here from {variable})"),
            Some(_) => flag.to_owned(),
        };
        return Err(Failure::new(
            ErrorCode::InvalidCli,
            format!("{source} can only be used with a single reviewer"),
        )
        .hint("give each reviewer its own values in the config"));
    }
    Ok(())
}

fn origin<T>(chosen: Option<&Chosen<T>>) -> Option<Origin> {
    chosen.map(|chosen| chosen.origin)
}

impl Reviewer<'_> {
    /// Returns the reviewer with every value resolved and checked.
    fn settings(
        &self,
        overrides: &Overrides,
        config: Option<&Config>,
    ) -> Result<ReviewerSettings, Failure> {
        let entry = match self {
            Self::BuiltIn(_) => None,
            Self::Configured(entry) => Some(*entry),
        };
        let (id, row) = match self {
            Self::BuiltIn(engine) => (engine.as_str(), capabilities::default_row(*engine)),
            Self::Configured(entry) => (entry.id.as_str(), entry.capability()),
        };
        let settings = ReviewerSettings {
            id: ReviewerId(id.to_owned()),
            engine: row.engine,
            transport: row.transport,
            profile: entry.and_then(|entry| entry.profile.clone()),
            provider: entry.and_then(|entry| entry.provider.clone()),
            model: pick(
                row,
                overrides.model.as_ref(),
                entry.and_then(|entry| entry.model.clone()),
            )
            .or_else(|| row.default_model.map(|model| by_default(model.to_owned()))),
            effort: pick(
                row,
                overrides.effort.as_ref(),
                entry.and_then(|entry| entry.effort),
            )
            .or_else(|| default_effort(row, entry).map(by_default)),
            fallback_model: pick(
                row,
                overrides.fallback_model.as_ref(),
                entry.and_then(|entry| entry.fallback_model.clone()),
            ),
            max_turns: entry.and_then(|entry| entry.max_turns),
            max_budget_usd: entry.and_then(|entry| entry.max_budget_usd),
            timeout: overrides
                .timeout
                .or(entry.and_then(|entry| entry.timeout))
                .or(config.and_then(|config| config.timeout)),
            options: entry.map_or_else(EngineOptions::default, |entry| entry.options.clone()),
        };
        check_model(&settings, row, entry)?;
        check_effort(&settings, row, entry)?;
        check_fallback(&settings, row)?;
        Ok(settings)
    }
}

/// Returns the override, else what the config says.
fn pick<T: Clone>(
    row: &Capability,
    chosen: Option<&Chosen<T>>,
    configured: Option<T>,
) -> Option<Chosen<T>> {
    let inside = row.transport.is_none();
    chosen
        .filter(|chosen| !(inside && chosen.origin == Origin::Environment))
        .cloned()
        .or(configured.map(|value| Chosen {
            value,
            origin: Origin::Config,
        }))
}

fn by_default<T>(value: T) -> Chosen<T> {
    Chosen {
        value,
        origin: Origin::Default,
    }
}

/// Returns the default effort, unless the reviewer's catalog leaves it out (SPEC 5.3).
fn default_effort(row: &Capability, entry: Option<&ConfiguredReviewer>) -> Option<Effort> {
    let catalog = entry.and_then(|entry| entry.effort_catalog.as_ref());
    row.default_effort
        .filter(|effort| catalog.is_none_or(|catalog| catalog.contains(effort)))
}

fn check_model(
    settings: &ReviewerSettings,
    row: &Capability,
    entry: Option<&ConfiguredReviewer>,
) -> Result<(), Failure> {
    let Some(model) = &settings.model else {
        return Ok(());
    };
    let (id, model) = (&settings.id, &model.value);
    if !row.supports_model {
        return Err(Failure::new(
            ErrorCode::InvalidModel,
            format!("reviewer `{id}`: {} cannot be given a model", row.label()),
        ));
    }
    match entry.and_then(|entry| entry.model_catalog.as_ref()) {
        Some(catalog) if !catalog.contains(model) => Err(Failure::new(
            ErrorCode::InvalidModel,
            format!("model `{model}` is not in the modelCatalog of reviewer `{id}`"),
        )
        .hint(format!("it allows {}", catalog.join(", ")))),
        _ => Ok(()),
    }
}

fn check_effort(
    settings: &ReviewerSettings,
    row: &Capability,
    entry: Option<&ConfiguredReviewer>,
) -> Result<(), Failure> {
    let Some(effort) = &settings.effort else {
        return Ok(());
    };
    let (id, effort) = (&settings.id, effort.value);
    if row.effort == EffortSupport::Unsupported {
        return Err(Failure::new(
            ErrorCode::InvalidEffort,
            format!("reviewer `{id}`: {} cannot be given an effort", row.label()),
        ));
    }
    match entry.and_then(|entry| entry.effort_catalog.as_ref()) {
        Some(catalog) if !catalog.contains(&effort) => {
            let allowed: Vec<&str> = catalog.iter().map(|effort| effort.as_str()).collect();
            Err(Failure::new(
                ErrorCode::InvalidEffort,
                format!("effort `{effort}` is not in the effortCatalog of reviewer `{id}`"),
            )
            .hint(format!("it allows {}", allowed.join(", "))))
        }
        _ => Ok(()),
    }
}

fn check_fallback(settings: &ReviewerSettings, row: &Capability) -> Result<(), Failure> {
    if settings.fallback_model.is_none() || row.supports_fallback_model {
        return Ok(());
    }
    Err(Failure::new(
        ErrorCode::InvalidCli,
        format!(
            "reviewer `{}`: {} cannot be given a fallback model",
            settings.id,
            row.label()
        ),
    )
    .hint("--fallback-model works with claude only"))
}

/// Refuses a reviewer whose path is in the matrix but not in this version.
fn require_built(settings: &ReviewerSettings) -> Result<(), Failure> {
    let row = capabilities::find(settings.engine, settings.transport);
    if row.is_some_and(|row| row.built) {
        return Ok(());
    }
    let needs = match settings.transport {
        Some(transport) => format!(
            "the {} engine over {}",
            settings.engine,
            capabilities::config_word(transport)
        ),
        None => format!("the {} engine", settings.engine),
    };
    let built: Vec<String> = capabilities::rows()
        .iter()
        .filter(|row| row.built && row.transport.is_some())
        .map(Capability::label)
        .collect();
    Err(Failure::new(
        ErrorCode::InvalidCli,
        format!(
            "reviewer `{}` needs {needs}, which this version of diffwarden does not have yet; \
             it has {}, and surface, which needs no engine",
            settings.id,
            built.join(", ")
        ),
    ))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Duration;

    use diffwarden_actors::model::Transport;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::config::discover::ConfigKind;
    use crate::config::validate::validate;

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
            (some, "--reviewer-set empty", InvalidConfig, &["empty"]),
            (
                some,
                "--reviewer-set constructor",
                InvalidConfig,
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
                InvalidCli,
                &["init", "/home/u/.config/diffwarden/diffwarden.config.json"],
            ),
            (None, "DIFFWARDEN_REVIEWERS=codex", InvalidCli, &["init"]),
            (
                None,
                "DIFFWARDEN_REVIEWER_SET=1 DIFFWARDEN_REVIEWERS=codex",
                InvalidCli,
                &["init"],
            ),
            (None, "--reviewer-set 1", InvalidCli, &["init", "`1`"]),
            (
                None,
                "--reviewer codex:deep",
                InvalidCli,
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
            {"id": "server", "engine": "codex", "transport": "app-server"}
        ]});
        for (config, words, part) in [
            (None, "--reviewer claude", "claude engine over sdk"),
            (None, "--reviewer acp", "acp engine over acp"),
            (
                None,
                "--reviewer codex --reviewer gemini",
                "gemini engine over cli",
            ),
            (
                Some(&config),
                "--reviewer server",
                "codex engine over app-server",
            ),
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
}
