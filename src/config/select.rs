//! Which reviewers a run has, and with which values (SPEC 5.2 to 5.4, 15).

use diffwarden_actors::model::{EngineName, ErrorCode, Failure};

use super::discover::{LoadedConfig, missing_config};
use super::model::{Config, ConfiguredReviewer, ReviewerSet};
use super::overrides::{Overrides, Requested, SelectionFlags};
use super::resolve::{Reviewer, require_built};
use super::spec::ReviewerSpec;
use super::suggest;
use crate::engines::settings::{Chosen, Origin, ReviewerSettings};
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

/// Returns what is wrong with the members of a set that some run may use.
pub(super) fn check_set(
    set: &ReviewerSet,
    environment: &Environment,
    loaded: Option<&LoadedConfig>,
) -> Vec<String> {
    let config = loaded.map(|loaded| &loaded.config);
    set.members
        .iter()
        .filter_map(|member| resolve(member, environment, config).err())
        .map(|failure| format!("reviewer set `{}`: {}", set.name, failure.message))
        .collect()
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
        return Err(missing_config(
            environment,
            &nobody_selected(&overrides.environment),
        ));
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
    members_of(
        config,
        config.default_set_name(),
        ("defaultReviewerSet", ErrorCode::InvalidConfig),
    )
}

/// Says that nobody was named, and of a variable that names somebody why that does not count.
fn nobody_selected(environment: &Requested) -> String {
    let variable = match environment {
        Requested { set: Some(_), .. } => "DIFFWARDEN_REVIEWER_SET",
        Requested { reviewers, .. } if !reviewers.is_empty() => "DIFFWARDEN_REVIEWERS",
        _ => return "no reviewer is selected".to_owned(),
    };
    format!("no reviewer is selected: {variable} counts only where there is a config")
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
        Some(config) => members_of(config, set, ("--reviewer-set", ErrorCode::InvalidCli)),
        None => Err(missing_config(
            environment,
            &format!("reviewer set `{set}` comes from a config"),
        )),
    }
}

fn members_of(
    config: &Config,
    name: &str,
    (source, code): (&str, ErrorCode),
) -> Result<Vec<String>, Failure> {
    let Some(set) = config.set(name) else {
        let names = config.reviewer_sets.iter().map(|set| set.name.as_str());
        return Err(Failure::new(
            code,
            format!("{source} names `{name}`, but the config has no such reviewer set"),
        )
        .hint(known_names("reviewer sets", name, names)));
    };
    if set.members.is_empty() {
        return Err(Failure::new(
            code,
            format!("reviewer set `{name}` ({source}) is empty"),
        ));
    }
    Ok(set.members.clone())
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
        return Failure {
            code: ErrorCode::InvalidCli,
            ..missing_config(environment, &format!("reviewer `{text}` is not an engine"))
        };
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

#[cfg(test)]
mod tests;
