//! What the live catalog makes of a reviewer's choices (SPEC 5.3 and 5.4).
//!
//! A choice that somebody made is kept or refused, never dropped; a default gives way. The two
//! highest levels of effort stand in for each other, because models have had one, the other or
//! both.

use std::collections::BTreeSet;

use diffwarden_actors::model::{ErrorCode, Failure, Reason};
use serde_json::{Map, Value};

use super::catalog::{self, Catalog, Model};
use crate::engines::capabilities::NativeEffort;
use crate::engines::claude::features::Features;
use crate::engines::claude::options::Options;
use crate::engines::settings::{Chosen, Effort, Origin};

/// The highest levels of effort.
const TOP: [&str; 2] = ["xhigh", "max"];

/// Marks the level that preflight settled on among what is known of the executable.
const EFFORT: &str = "--effort=";

/// Checks the model and returns its entry, if it is listed.
///
/// # Errors
///
/// Fails when a complete list of the service's models proves that there is no such model.
pub(super) fn model<'a>(
    catalog: &'a Catalog,
    is_direct: bool,
    chosen: Option<&Chosen<String>>,
) -> Result<Option<&'a Model>, Failure> {
    let Some(chosen) = chosen else {
        return Ok(catalog.find("default"));
    };
    let listed = catalog.find(&chosen.value);
    let is_complete = is_direct && catalog.is_first_party && catalog.lists_models();
    if listed.is_none() && is_complete && !catalog::is_plausible(&chosen.value) {
        return Err(Failure::new(
            ErrorCode::InvalidModel,
            format!("Claude has no model `{}`", chosen.value),
        )
        .reason(Reason::Model)
        .hint(format!("it lists {}", catalog.names())));
    }
    Ok(listed)
}

/// Returns whether the fallback takes part. A default that the service does not list stays away.
///
/// # Errors
///
/// Fails like [`model`] for a fallback that somebody chose.
pub(super) fn fallback(
    catalog: &Catalog,
    is_direct: bool,
    chosen: Option<&Chosen<String>>,
) -> Result<bool, Failure> {
    let Some(chosen) = chosen else {
        return Ok(false);
    };
    if chosen.origin == Origin::Default {
        return Ok(!catalog.lists_models() || catalog.find(&chosen.value).is_some());
    }
    model(catalog, is_direct, Some(chosen)).map(|_| true)
}

/// Returns the word for `--effort`; `None` when there is none, or when the default gave way.
///
/// # Errors
///
/// Fails when the model has no such level and somebody asked for it.
pub(super) fn effort(
    options: &Options,
    model: Option<&Model>,
) -> Result<Option<&'static str>, Failure> {
    let (Some(asked), Some(native)) = (&options.choices.effort, options.choices.mapped_effort())
    else {
        return Ok(None);
    };
    let word = match native {
        NativeEffort::Omitted => return Ok(None),
        NativeEffort::ThinkingDisabled => {
            return thinking_can_stop(options, model).map(|()| None);
        }
        NativeEffort::Word(word) => word,
    };
    let Some(model) = model else {
        return Ok(Some(word));
    };
    let equal = TOP.into_iter().filter(|_| TOP.contains(&word));
    let mut words = std::iter::once(word).chain(equal);
    match words.find(|word| model.takes(word)) {
        Some(word) => Ok(Some(word)),
        None if asked.origin == Origin::Default => Ok(None),
        None => Err(refused(options, asked.value, &levels(model))),
    }
}

/// Refuses the effort `off` for a model that thinks whatever it is told.
///
/// # Errors
///
/// Fails when the catalog says so.
pub(in crate::engines::claude) fn thinking_can_stop(
    options: &Options,
    model: Option<&Model>,
) -> Result<(), Failure> {
    let is_off = options.choices.mapped_effort() == Some(NativeEffort::ThinkingDisabled);
    match model {
        Some(model) if is_off && model.can_stop_thinking == Some(false) => {
            Err(refused(options, Effort::Off, &levels(model)))
        }
        _ => Ok(()),
    }
}

fn levels(model: &Model) -> String {
    let levels = model.levels.as_deref().unwrap_or_default();
    levels.join(", ")
}

fn refused(options: &Options, effort: Effort, levels: &str) -> Failure {
    let model = options
        .choices
        .model
        .as_ref()
        .map(|model| model.value.as_str());
    let model = model.unwrap_or("default");
    let problem = if effort == Effort::Off {
        format!("the model {model} always thinks, so the effort off cannot be had")
    } else {
        format!("the model {model} does not take the effort {effort}")
    };
    let advice = if levels.is_empty() {
        "leave the effort out, or choose another model".to_owned()
    } else {
        format!("it takes {levels}; or choose another model")
    };
    Failure::new(ErrorCode::InvalidEffort, problem).hint(advice)
}

/// Writes what was settled among the options that are known to work, for the runs that follow.
pub(super) fn settle(flags: &mut BTreeSet<String>, effort: Option<&str>, takes_fallback: bool) {
    if let Some(effort) = effort {
        flags.insert(format!("{EFFORT}{effort}"));
    }
    if !takes_fallback {
        flags.remove("--fallback-model");
    }
}

/// Returns the effort that was settled on.
pub(super) fn settled_effort(flags: &BTreeSet<String>) -> Option<&str> {
    flags.iter().find_map(|flag| flag.strip_prefix(EFFORT))
}

/// Corrects the metadata of the choices by what was settled.
pub(super) fn describe(
    options: &Options,
    features: &Features,
    settled: Option<&str>,
    metadata: &mut Map<String, Value>,
) {
    let Some(NativeEffort::Word(asked)) = options.choices.mapped_effort() else {
        return;
    };
    match settled {
        Some(word) if word != asked => {
            metadata.insert("resolvedEffort".to_owned(), word.into());
            let source = "effortResolutionSource".to_owned();
            metadata.insert(source, "adapter-selection".into());
        }
        Some(_) => {}
        None if features.effort => {
            metadata.remove("resolvedEffort");
            metadata.remove("effortResolutionSource");
            metadata.insert("effortDropped".to_owned(), "model-unsupported".into());
        }
        None => {}
    }
}
