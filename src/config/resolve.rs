//! The values a selected reviewer runs with: resolved from flags, variables, config and matrix, and
//! checked against what its engine can do.

use diffwarden_actors::model::{EngineName, ErrorCode, Failure, ReviewerId};

use super::model::{Config, ConfiguredReviewer};
use super::overrides::Overrides;
use crate::engines::capabilities::{self, Capability, EffortSupport};
use crate::engines::settings::{Chosen, Effort, EngineOptions, Origin, ReviewerSettings};

/// A reviewer that a spec stands for.
pub(super) enum Reviewer<'a> {
    /// An engine with nothing configured.
    BuiltIn(EngineName),
    /// An entry of the config.
    Configured(&'a ConfiguredReviewer),
}

impl Reviewer<'_> {
    /// Returns the reviewer with every value resolved and checked.
    pub(super) fn settings(
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

/// Returns a value that diffwarden chose.
pub(super) fn by_default<T>(value: T) -> Chosen<T> {
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
    if row.model_flag.is_none() {
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
pub(super) fn require_built(settings: &ReviewerSettings) -> Result<(), Failure> {
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
