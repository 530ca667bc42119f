//! Where each value of a config comes from.

use std::time::Duration;

use diffwarden_actors::plan::Policy;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::discover::{ConfigKind, Sources};
use super::overrides::{Overrides, SelectionFlags};
use super::reviewer::known_options;
use super::validate::{INTAKE_KEYS, KEYS, REPORTING_KEYS, REVIEW_PLAN_KEYS};
use super::{Config, secret};
use crate::engines::capabilities::{OptionBag, config_word};
use crate::engines::settings::{Chosen, Origin, ReviewerSettings};
use crate::prompt::SendLimits;
use crate::snapshot::SnapshotLimits;

/// What stands in the place of a value that is not shown.
const HIDDEN: &str = "(not shown)";

/// Who set a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Source {
    /// Nobody: it is diffwarden's default.
    Default,
    /// The user config.
    User,
    /// The overlay of the user config.
    Overlay,
    /// The project config.
    Project,
    /// An environment variable.
    Environment {
        /// Its name.
        name: &'static str,
    },
    /// A flag of the command line.
    Flag {
        /// The flag.
        name: &'static str,
    },
}

/// A value and who set it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Setting {
    /// The path of its key, such as `reviewPlan.includeOverview` or `reviewers[main].model`.
    pub key: String,
    /// The value. What may be a secret is not shown.
    pub value: Value,
    /// Who set it.
    pub origin: Source,
}

/// Returns what the files say, and diffwarden's defaults where they say nothing.
pub(super) fn settings(sources: Option<&Sources>, config: Option<&Config>) -> Vec<Setting> {
    let empty = Map::new();
    let merged = sources.and_then(|sources| sources.merged.as_object());
    let local = sources.and_then(|sources| sources.overlay.as_ref().map(|(_, value)| value));
    let base = match sources.map(|sources| sources.found.kind) {
        Some(ConfigKind::Project | ConfigKind::TrustedProject) => Source::Project,
        Some(ConfigKind::User) | None => Source::User,
    };
    let mut collector = Collector {
        base,
        settings: Vec::new(),
    };
    let merged = merged.unwrap_or(&empty);
    for key in KEYS.iter().filter(|key| **key != "$schema") {
        let value = merged.get(*key);
        let local = local.and_then(|local| local.get(*key));
        match (*key, value) {
            ("reviewers", Some(Value::Array(entries))) => {
                collector.reviewers(entries, local, config);
            }
            ("reviewers", _) => {}
            (_, Some(value)) => collector.collect(key.to_string(), value, local),
            (_, None) => {}
        }
        collector.add_defaults(key);
    }
    collector.settings
}

struct Collector {
    /// Who set what the overlay did not.
    base: Source,
    settings: Vec<Setting>,
}

impl Collector {
    /// Collects the values below a key. The overlay won wherever it says something.
    fn collect(&mut self, key: String, value: &Value, local: Option<&Value>) {
        if let Value::Object(entries) = value {
            for (name, value) in entries {
                let local = local.and_then(|local| local.get(name));
                self.collect(format!("{key}.{name}"), value, local);
            }
            return;
        }
        let origin = local.map_or(self.base, |_| Source::Overlay);
        let value = shown(&key, value);
        self.settings.push(Setting { key, value, origin });
    }

    fn reviewers(&mut self, entries: &[Value], local: Option<&Value>, config: Option<&Config>) {
        for entry in entries {
            let Some(id) = entry.get("id").and_then(Value::as_str) else {
                continue;
            };
            let locals = local.and_then(Value::as_array).into_iter().flatten();
            let local = locals.into_iter().find(|it| it["id"] == *id);
            for (name, value) in entry.as_object().into_iter().flatten() {
                let key = format!("reviewers[{id}].{name}");
                let local = local.and_then(|local| local.get(name));
                match OptionBag::ALL.into_iter().find(|bag| bag.key() == name) {
                    _ if name == "id" => {}
                    None => self.collect(key, value, local),
                    Some(bag) => self.options(&key, (bag, value, local), id, config),
                }
            }
        }
    }

    /// Collects an option bag. Only what diffwarden knows is shown: the rest belongs to an engine,
    /// and could be anything.
    fn options(
        &mut self,
        key: &str,
        (bag, value, local): (OptionBag, &Value, Option<&Value>),
        id: &str,
        config: Option<&Config>,
    ) {
        let known = config
            .and_then(|config| config.reviewer(id))
            .map_or(Vec::new(), |entry| known_options(entry.capability(), bag));
        for (name, value) in value.as_object().into_iter().flatten() {
            let key = format!("{key}.{name}");
            let local = local.and_then(|local| local.get(name));
            if known.iter().any(|option| option.name == name) {
                self.collect(key, value, local);
            } else {
                self.collect(key, &json!(HIDDEN), local);
            }
        }
    }

    /// Adds the defaults of a key and of those below it.
    fn add_defaults(&mut self, key: &str) {
        let inner = match key {
            "reviewPlan" => REVIEW_PLAN_KEYS,
            "reporting" => REPORTING_KEYS,
            "intake" => INTAKE_KEYS,
            _ => &[],
        };
        let inner = inner.iter().map(|name| format!("{key}.{name}"));
        for key in std::iter::once(key.to_owned()).chain(inner) {
            let is_set = self.settings.iter().any(|setting| setting.key == key);
            if let Some(value) = default_of(&key).filter(|_| !is_set) {
                let origin = Source::Default;
                self.settings.push(Setting { key, value, origin });
            }
        }
    }
}

fn default_of(key: &str) -> Option<Value> {
    Some(match key {
        "defaultReviewerSet" => json!(Config::default().default_set_name()),
        "readonly" | "reviewPlan.includeOverview" | "intake.prune" => json!(true),
        "maxConcurrency" => json!(Policy::default().max_concurrency),
        "intake.maxFileBytes" => json!(SendLimits::DEFAULT_MAX_FILE_BYTES),
        "intake.maxPatchBytes" => json!(SendLimits::DEFAULT_MAX_PATCH_BYTES),
        "intake.maxSnapshotFiles" => json!(SnapshotLimits::DEFAULT_FILES),
        "intake.maxSnapshotBytes" => json!(SnapshotLimits::DEFAULT_BYTES),
        "reporting.enabled" => json!(false),
        "reporting.scope" => json!("global"),
        "reporting.mode" => json!("full"),
        _ => return None,
    })
}

/// Returns a value as it may be repeated. A config that was read holds no secret that can be told
/// by its looks; this is for the one that comes in by another way.
fn shown(key: &str, value: &Value) -> Value {
    let name = key.rsplit('.').next().unwrap_or(key);
    match value {
        Value::String(text) if secret::is_literal(name, text) => json!(HIDDEN),
        Value::Array(items) => items.iter().map(|item| shown(key, item)).collect(),
        // Inside an array; no key of a config has one there.
        Value::Object(_) => json!(HIDDEN),
        other => other.clone(),
    }
}

/// What was typed and exported about a run.
pub(super) struct Wishes<'a> {
    pub(super) flags: &'a SelectionFlags,
    pub(super) overrides: &'a Overrides,
    pub(super) jobs: Option<usize>,
}

/// Returns what a review would use: who reviews, and the values that flags and variables have a
/// say in.
pub(super) fn run_settings(
    wishes: &Wishes<'_>,
    selected: &[ReviewerSettings],
    settings: &[Setting],
) -> Vec<Setting> {
    let find = |key: &str| settings.iter().find(|setting| setting.key == key);
    let origin = |key: &str| find(key).map(|setting| setting.origin);
    let chosen_by = origin_of_selection(wishes.overrides)
        .or(origin("defaultReviewerSet"))
        .unwrap_or(Source::Default);
    let mut run = Run(Vec::new());
    let ids: Vec<&str> = selected.iter().map(|it| it.id.0.as_str()).collect();
    run.add("reviewers", json!(ids), chosen_by);
    match (wishes.jobs, find("maxConcurrency")) {
        (Some(jobs), _) => run.add("maxConcurrency", json!(jobs), flag("--jobs")),
        (None, Some(setting)) => run.add("maxConcurrency", setting.value.clone(), setting.origin),
        (None, None) => {}
    }
    for (place, reviewer) in selected.iter().enumerate() {
        if selected[..place].iter().any(|it| it.id == reviewer.id) {
            continue;
        }
        let key = |name: &str| format!("reviewers[{}].{name}", reviewer.id);
        let of_file = |name: &str| origin(&key(name));
        run.add(
            &key("engine"),
            json!(reviewer.engine),
            of_file("engine").unwrap_or(chosen_by),
        );
        if let Some(transport) = reviewer.transport {
            let by = of_file("transport").unwrap_or(Source::Default);
            run.add(&key("transport"), json!(config_word(transport)), by);
        }
        let named = [
            (
                "model",
                reviewer.model.as_ref(),
                ("--model", "DIFFWARDEN_MODEL"),
            ),
            (
                "fallbackModel",
                reviewer.fallback_model.as_ref(),
                ("--fallback-model", "DIFFWARDEN_FALLBACK_MODEL"),
            ),
        ];
        for (name, chosen, names) in named {
            if let Some(chosen) = chosen {
                let by = origin_of(chosen, names, of_file(name));
                run.add(&key(name), shown(name, &json!(chosen.value)), by);
            }
        }
        if let Some(effort) = &reviewer.effort {
            let by = origin_of(effort, ("--effort", "DIFFWARDEN_EFFORT"), of_file("effort"));
            run.add(&key("effort"), json!(effort.value.as_str()), by);
        }
        if let Some(timeout) = reviewer.timeout {
            let by = origin_of_timeout(wishes)
                .or(of_file("timeoutSeconds"))
                .or(origin("timeoutSeconds"))
                .unwrap_or(Source::Default);
            run.add(&key("timeoutSeconds"), seconds(timeout), by);
        }
    }
    run.0
}

struct Run(Vec<Setting>);

impl Run {
    fn add(&mut self, key: &str, value: Value, origin: Source) {
        let key = key.to_owned();
        self.0.push(Setting { key, value, origin });
    }
}

fn flag(name: &'static str) -> Source {
    Source::Flag { name }
}

fn environment(name: &'static str) -> Source {
    Source::Environment { name }
}

/// Returns who says who reviews, if it is not the config.
fn origin_of_selection(overrides: &Overrides) -> Option<Source> {
    let asked = [
        (
            &overrides.requested,
            flag("--reviewer"),
            flag("--reviewer-set"),
        ),
        (
            &overrides.environment,
            environment("DIFFWARDEN_REVIEWERS"),
            environment("DIFFWARDEN_REVIEWER_SET"),
        ),
    ];
    let (requested, by_name, by_set) = asked.into_iter().find(|(it, ..)| !it.is_empty())?;
    Some(if requested.set.is_some() {
        by_set
    } else {
        by_name
    })
}

fn origin_of<T>(
    chosen: &Chosen<T>,
    (typed, variable): (&'static str, &'static str),
    of_file: Option<Source>,
) -> Source {
    match chosen.origin {
        Origin::Flag => flag(typed),
        Origin::Environment => environment(variable),
        Origin::Config => of_file.unwrap_or(Source::Default),
        Origin::Default => Source::Default,
    }
}

fn origin_of_timeout(wishes: &Wishes<'_>) -> Option<Source> {
    match (&wishes.flags.timeout, wishes.overrides.timeout) {
        (Some(_), _) => Some(flag("--timeout")),
        (None, Some(_)) => Some(environment("DIFFWARDEN_TIMEOUT_SECONDS")),
        (None, None) => None,
    }
}

/// Returns a number of seconds, as whole as it is.
fn seconds(time: Duration) -> Value {
    if time.subsec_nanos() == 0 {
        json!(time.as_secs())
    } else {
        json!(time.as_secs_f64())
    }
}
