//! From JSON to typed reviewers: the entries of `reviewers`, each by itself and beside the others.

use std::collections::HashMap;

use diffwarden_actors::model::{EngineName, Transport};
use serde_json::{Map, Value};

use super::model::ConfiguredReviewer;
use super::node::{Node, Object};
use super::problem::Problems;
use super::{names, spec, validate};
use crate::engines::capabilities::{
    self, Capability, OptionBag, OptionKey, OptionKind, config_word,
};
use crate::engines::settings::{Effort, EngineOptions};

pub(super) const KEYS: &[&str] = &[
    "id",
    "engine",
    "transport",
    "profile",
    "provider",
    "enabled",
    "model",
    "effort",
    "modelCatalog",
    "effortCatalog",
    "timeoutSeconds",
    "fallbackModel",
    "maxTurns",
    "maxBudgetUsd",
    "readonly",
    "cliOptions",
    "appServerOptions",
    "sdkOptions",
    "providerOptions",
];

/// More reviewers than anybody configures; looking one up goes through all of them.
const MOST_REVIEWERS: usize = 1024;

pub(super) const TRANSPORTS: [(&str, Transport); 4] = [
    ("sdk", Transport::Native),
    ("cli", Transport::Cli),
    ("app-server", Transport::AppServer),
    ("acp", Transport::Acp),
];

/// Reads every reviewer of a file.
pub(super) fn read_all(object: &Object<'_>, problems: &mut Problems) -> Vec<ConfiguredReviewer> {
    let Some(items) = object
        .get("reviewers")
        .and_then(|node| node.items(problems))
    else {
        return Vec::new();
    };
    if items.len() > MOST_REVIEWERS {
        problems.add(
            object.path("reviewers"),
            format!("a config has at most {MOST_REVIEWERS} reviewers"),
        );
        return Vec::new();
    }
    let mut entries = Vec::new();
    let mut seen = Seen::default();
    for item in &items {
        if let Some(object) = item.object(problems)
            && let Some(entry) = read(&object, problems)
        {
            seen.check(&entry, &object, problems);
            entries.push(entry);
        }
    }
    entries
}

/// Where ids and profiles were used first.
#[derive(Default)]
struct Seen {
    ids: HashMap<String, String>,
    profiles: HashMap<(EngineName, String), String>,
}

impl Seen {
    fn check(&mut self, entry: &ConfiguredReviewer, object: &Object<'_>, problems: &mut Problems) {
        if let Some(first) = self.ids.get(&entry.id) {
            let message = format!("duplicate reviewer id, used first at {first}");
            problems.add(object.path("id"), message);
        } else {
            self.ids.insert(entry.id.clone(), object.at.clone());
        }
        let Some(profile) = &entry.profile else {
            return;
        };
        let key = (entry.engine, profile.clone());
        if let Some(first) = self.profiles.get(&key) {
            let message = format!("duplicate engine and profile, used first at {first}");
            problems.add(object.path("profile"), message);
        } else {
            self.profiles.insert(key, object.at.clone());
        }
    }
}

/// Reads one entry; `None` when it is too broken to be compared with others.
fn read(object: &Object<'_>, problems: &mut Problems) -> Option<ConfiguredReviewer> {
    object.only(KEYS, problems);
    validate::read_readonly(object, problems);
    let id = required(object, "id", problems).and_then(|node| node.text(problems));
    if let Some(defect) = id.and_then(names::defect_of_id) {
        problems.add(object.path("id"), defect);
    }
    let engine = required(object, "engine", problems)
        .and_then(|node| node.word(&configurable_engines(), problems));
    let transport = object
        .get("transport")
        .and_then(|node| node.word(&TRANSPORTS, problems));
    let profile = text(object, "profile", problems);
    if profile
        .as_deref()
        .is_some_and(|profile| !spec::is_profile(profile))
    {
        problems.add(
            object.path("profile"),
            "a profile is letters, digits, `.`, `_` and `-`, and starts with a letter or digit",
        );
    }
    if let Some(row) = engine.and_then(|engine| capability(engine, transport, object, problems)) {
        check_limits(row, object, problems);
        check_options(row, object, problems);
    }
    Some(ConfiguredReviewer {
        transport,
        profile,
        provider: text(object, "provider", problems),
        enabled: validate::flag(object, "enabled", problems).unwrap_or(true),
        model: text(object, "model", problems),
        effort: object
            .get("effort")
            .and_then(|node| node.word(&efforts(), problems)),
        model_catalog: catalog(object, "modelCatalog", problems, |node, problems| {
            node.text(problems).map(str::to_owned)
        }),
        effort_catalog: catalog(object, "effortCatalog", problems, |node, problems| {
            node.word(&efforts(), problems)
        }),
        timeout: validate::read_timeout(object, problems),
        fallback_model: text(object, "fallbackModel", problems),
        max_turns: object
            .get("maxTurns")
            .and_then(|node| node.count(u64::from(u32::MAX), problems))
            .and_then(|count| u32::try_from(count).ok()),
        max_budget_usd: object
            .get("maxBudgetUsd")
            .and_then(|node| node.positive(problems)),
        options: read_options(object, problems),
        // Last, because without them the reading ends here.
        id: id?.to_owned(),
        engine: engine?,
    })
}

fn required<'a>(object: &Object<'a>, key: &str, problems: &mut Problems) -> Option<Node<'a>> {
    let node = object.get(key);
    if node.is_none() {
        problems.add(object.path(key), format!("`{key}` is missing"));
    }
    node
}

fn text(object: &Object<'_>, key: &str, problems: &mut Problems) -> Option<String> {
    object.get(key)?.text(problems).map(str::to_owned)
}

fn catalog<T>(
    object: &Object<'_>,
    key: &str,
    problems: &mut Problems,
    read: impl Fn(&Node<'_>, &mut Problems) -> Option<T>,
) -> Option<Vec<T>> {
    let node = object.get(key)?;
    let items = node.items(problems)?;
    if items.is_empty() {
        problems.add(
            node.at,
            "an empty catalog allows nothing; leave it out to allow all",
        );
        return None;
    }
    Some(
        items
            .iter()
            .filter_map(|item| read(item, problems))
            .collect(),
    )
}

/// The engines that an entry may name: those inside diffwarden need no configuration.
pub(super) fn configurable_engines() -> Vec<(&'static str, EngineName)> {
    EngineName::ALL
        .into_iter()
        .filter(|engine| !matches!(engine, EngineName::Surface | EngineName::Fake))
        .map(|engine| (engine.as_str(), engine))
        .collect()
}

fn efforts() -> [(&'static str, Effort); 7] {
    Effort::ALL.map(|effort| (effort.as_str(), effort))
}

fn capability(
    engine: EngineName,
    transport: Option<Transport>,
    object: &Object<'_>,
    problems: &mut Problems,
) -> Option<&'static Capability> {
    let Some(transport) = transport else {
        return Some(capabilities::default_row(engine));
    };
    let row = capabilities::find(engine, Some(transport));
    if row.is_none() {
        let known: Vec<&str> = capabilities::of_engine(engine)
            .filter_map(|row| row.transport.map(config_word))
            .collect();
        problems.add(
            object.path("transport"),
            format!(
                "{engine} has no {} transport; it has {}",
                config_word(transport),
                known.join(", ")
            ),
        );
    }
    row
}

/// Returns the keys of limits, and whether a path honours them.
pub(super) fn limits(row: &Capability) -> [(&'static str, bool); 3] {
    [
        ("fallbackModel", row.supports_fallback_model),
        ("maxTurns", row.supports_max_turns),
        ("maxBudgetUsd", row.supports_max_budget_usd),
    ]
}

/// Refuses limits that the engine would silently ignore (SPEC 5.4).
fn check_limits(row: &Capability, object: &Object<'_>, problems: &mut Problems) {
    for (key, supported) in limits(row) {
        if object.get(key).is_some() && !supported {
            let message = format!("{} cannot honour {key}", row.label());
            problems.add(object.path(key), message);
        }
    }
}

fn read_options(object: &Object<'_>, problems: &mut Problems) -> EngineOptions {
    let mut bag = |bag: OptionBag| -> Map<String, Value> {
        object
            .get(bag.key())
            .and_then(|node| node.object(problems))
            .map(|inner| inner.entries.clone())
            .unwrap_or_default()
    };
    EngineOptions {
        cli: bag(OptionBag::Cli),
        app_server: bag(OptionBag::AppServer),
        sdk: bag(OptionBag::Sdk),
        provider: bag(OptionBag::Provider),
    }
}

/// Checks the options that diffwarden knows. Bags stay open for what only an engine knows (SPEC
/// 7.4), except `appServerOptions`, which is diffwarden's own.
fn check_options(row: &Capability, object: &Object<'_>, problems: &mut Problems) {
    for bag in OptionBag::ALL {
        let Some(Value::Object(entries)) = object.entries.get(bag.key()) else {
            continue;
        };
        let inner = Object {
            entries,
            at: object.path(bag.key()),
        };
        let known = known_options(row, bag);
        for key in &known {
            if let Some(node) = inner.get(key.name) {
                check_option(key.kind, &node, problems);
            }
        }
        if bag == OptionBag::AppServer && known.is_empty() {
            problems.add(
                &inner.at,
                format!("{} takes no appServerOptions", row.engine),
            );
        } else if bag == OptionBag::AppServer {
            let names: Vec<&'static str> = known.iter().map(|key| key.name).collect();
            inner.only(&names, problems);
        }
        check_variables(&inner, problems);
    }
}

/// Returns the known keys of a bag. Options of the app server are checked for its engine whatever
/// the transport, so that switching the transport of an entry does not bring up old mistakes.
pub(super) fn known_options(row: &Capability, bag: OptionBag) -> Vec<&'static OptionKey> {
    let row = match bag {
        OptionBag::AppServer => capabilities::find(row.engine, Some(Transport::AppServer)),
        _ => Some(row),
    };
    let options = row.map_or(&[][..], |row| row.options);
    options.iter().filter(|key| key.bag == bag).collect()
}

fn check_option(kind: OptionKind, node: &Node<'_>, problems: &mut Problems) {
    match kind {
        // Names of variables are checked by their own rule, known or not.
        OptionKind::Text | OptionKind::Variable => {
            node.text(problems);
        }
        OptionKind::Positive => {
            node.positive(problems);
        }
        OptionKind::Choice(words) => {
            let choices: Vec<(&'static str, ())> = words.iter().map(|word| (*word, ())).collect();
            node.word(&choices, problems);
        }
    }
}

/// Checks that a key that ends in `Env` names a variable. A value of another form is most likely
/// the secret itself.
fn check_variables(inner: &Object<'_>, problems: &mut Problems) {
    for (key, node) in inner.nodes() {
        if let Value::String(value) = node.value
            && key.ends_with("Env")
            && !is_variable_name(value)
        {
            problems.add(node.at, "expected the name of an environment variable");
        }
    }
}

fn is_variable_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
