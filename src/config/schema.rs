//! The JSON Schema of config files, for editors.
//!
//! The keys are types, the rules that differ between engines come from the capability matrix. The
//! reader in `validate` decides what is valid; the schema agrees with it about keys, types, words
//! and ranges, and leaves out what needs a look at the whole file, such as duplicate ids.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::reviewer;
use crate::engines::capabilities::{self, Capability, OptionBag, OptionKey, OptionKind};
use crate::engines::settings::Effort;
use crate::schema::schema_of_input;

/// Returns the schema of config files.
pub fn config_schema() -> Value {
    let mut schema = schema_of_input::<File>();
    schema["title"] = json!("diffwarden config");
    // The generator takes keys that have a schema of their own for required ones.
    schema["required"] = json!([]);
    let reviewer = &mut schema["$defs"]["Reviewer"];
    reviewer["required"] = json!(["id", "engine"]);
    reviewer["allOf"] = Value::Array(rules_of_engines());
    schema
}

/// A diffwarden.config.json.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "the fields are read by the schema generator alone"
)]
struct File {
    /// The schema, for editors; not read.
    #[schemars(rename = "$schema", regex(pattern = r"\S"))]
    schema: Option<String>,
    /// The set that runs when nobody is named; without it, the set named 1.
    #[schemars(regex(pattern = r"\S"))]
    default_reviewer_set: Option<String>,
    /// Reviewer specs by the name of their set.
    #[schemars(schema_with = "sets")]
    reviewer_sets: Option<BTreeMap<String, Vec<String>>>,
    /// The configured reviewers.
    #[schemars(length(max = 1024))]
    reviewers: Option<Vec<Reviewer>>,
    /// Reviewers may only read; this cannot be turned off.
    #[schemars(schema_with = "only_true")]
    readonly: Option<bool>,
    /// The time in seconds of each reviewer that has none of its own.
    #[schemars(extend("exclusiveMinimum" = 0))]
    timeout_seconds: Option<f64>,
    /// How many reviewers run at a time, over all lanes.
    #[schemars(range(min = 1, max = 1024))]
    max_concurrency: Option<u16>,
    /// How many reviewers of one engine run at a time.
    #[schemars(range(min = 1, max = 1024))]
    max_concurrency_per_engine: Option<u16>,
    /// The lanes of a run.
    review_plan: Option<ReviewPlan>,
    /// The reports of runs.
    reporting: Option<Reporting>,
    /// What happens to the change before a model sees it.
    intake: Option<Intake>,
}

/// The lanes of a run.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "the fields are read by the schema generator alone"
)]
struct ReviewPlan {
    /// Whether runs with a focus also review as a whole.
    include_overview: Option<bool>,
}

/// The reports of runs.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "the fields are read by the schema generator alone"
)]
struct Reporting {
    /// Whether runs keep a report.
    enabled: Option<bool>,
    /// Whose history it goes to: the user's or the repository's.
    scope: Option<Scope>,
    /// The folder of the history.
    #[schemars(regex(pattern = r"\S"))]
    dir: Option<String>,
    /// Whether a report holds everything, or no texts of findings.
    mode: Option<Mode>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", inline)]
#[expect(dead_code, reason = "the words are read by the schema generator alone")]
enum Scope {
    Global,
    Repo,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase", inline)]
#[expect(dead_code, reason = "the words are read by the schema generator alone")]
enum Mode {
    Full,
    Metadata,
}

/// What happens to the change before a model sees it.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "the fields are read by the schema generator alone"
)]
struct Intake {
    /// Whether generated files are left out of prompts.
    prune: Option<bool>,
    /// A file with a larger diff, in bytes, is cut short in prompts.
    #[schemars(range(min = 1, max = 1_099_511_627_776_u64))]
    max_file_bytes: Option<u64>,
    /// Above this, in bytes, files at the end of the patch are only named in prompts.
    #[schemars(range(min = 1, max = 1_099_511_627_776_u64))]
    max_patch_bytes: Option<u64>,
    /// A tree with more files and folders is not copied for a snapshot.
    #[schemars(range(min = 1, max = 1_099_511_627_776_u64))]
    max_snapshot_files: Option<u64>,
    /// A tree with more bytes is not copied for a snapshot.
    #[schemars(range(min = 1, max = 1_099_511_627_776_u64))]
    max_snapshot_bytes: Option<u64>,
    /// A file that says which credentials are none, in the format of gitleaks.
    #[schemars(regex(pattern = r"^(/|~/)"))]
    allowlist: Option<String>,
}

/// One configured reviewer.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(
    dead_code,
    reason = "the fields are read by the schema generator alone"
)]
struct Reviewer {
    /// The name it is selected and reported by.
    #[schemars(regex(pattern = r"\S"))]
    id: String,
    /// Its engine.
    #[schemars(schema_with = "engine")]
    engine: String,
    /// How the engine is reached; without it, the first way of its engine.
    #[schemars(schema_with = "transport")]
    transport: Option<String>,
    /// Makes it selectable as engine:profile.
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"))]
    profile: Option<String>,
    /// The provider it routes through.
    #[schemars(regex(pattern = r"\S"))]
    provider: Option<String>,
    /// Whether it can be selected; without it, it can.
    enabled: Option<bool>,
    /// The model.
    #[schemars(regex(pattern = r"\S"))]
    model: Option<String>,
    /// How much the model thinks.
    #[schemars(schema_with = "effort")]
    effort: Option<String>,
    /// The only models it may run with.
    #[schemars(schema_with = "models")]
    model_catalog: Option<Vec<String>>,
    /// The only efforts it may run with.
    #[schemars(schema_with = "efforts")]
    effort_catalog: Option<Vec<String>>,
    /// Its time in seconds.
    #[schemars(extend("exclusiveMinimum" = 0))]
    timeout_seconds: Option<f64>,
    /// The model to fall back to under load.
    #[schemars(regex(pattern = r"\S"))]
    fallback_model: Option<String>,
    /// The limit of model turns.
    #[schemars(range(min = 1))]
    max_turns: Option<u32>,
    /// The limit of money in US dollars; compared after each response.
    #[schemars(extend("exclusiveMinimum" = 0))]
    max_budget_usd: Option<f64>,
    /// Reviewers may only read; this cannot be turned off.
    #[schemars(schema_with = "only_true")]
    readonly: Option<bool>,
    /// What the command line of one engine alone knows.
    cli_options: Option<Map<String, Value>>,
    /// What the app server of one engine alone knows.
    app_server_options: Option<Map<String, Value>>,
    /// What the SDK of one engine alone knows.
    sdk_options: Option<Map<String, Value>>,
    /// What one provider alone knows; names of variables, never keys.
    provider_options: Option<Map<String, Value>>,
}

fn text() -> Value {
    json!({"type": "string", "pattern": r"\S"})
}

fn sets(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "propertyNames": {"pattern": r"\S"},
        "additionalProperties": {"type": "array", "items": text(), "maxItems": 256}
    })
}

fn only_true(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"const": true})
}

fn engine(_: &mut SchemaGenerator) -> Schema {
    let engines: Vec<_> = reviewer::configurable_engines()
        .into_iter()
        .map(|(word, _)| word)
        .collect();
    json_schema!({ "enum": engines })
}

fn transport(_: &mut SchemaGenerator) -> Schema {
    let words = reviewer::TRANSPORTS.map(|(word, _)| word);
    json_schema!({ "enum": words })
}

fn effort(_: &mut SchemaGenerator) -> Schema {
    let words = Effort::ALL.map(Effort::as_str);
    json_schema!({ "enum": words })
}

fn models(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": text(), "minItems": 1})
}

fn efforts(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": effort(generator), "minItems": 1})
}

/// Returns what the capability matrix says: a rule for every path of every engine.
fn rules_of_engines() -> Vec<Value> {
    let engines = reviewer::configurable_engines();
    let transports = engines.iter().map(|(word, engine)| {
        let words: Vec<_> = capabilities::of_engine(*engine)
            .filter_map(|row| row.transport.map(capabilities::config_word))
            .collect();
        json!({
            "if": {"properties": {"engine": {"const": word}}, "required": ["engine"]},
            "then": {"properties": {"transport": {"enum": words}}}
        })
    });
    let rows = engines
        .iter()
        .flat_map(|(_, engine)| capabilities::of_engine(*engine).enumerate());
    let paths = rows.map(|(place, row)| rule_of_path(row, place == 0));
    transports.chain(paths).collect()
}

/// Returns the rule of one path: the limits it cannot honour, and the options it knows.
fn rule_of_path(row: &Capability, is_default: bool) -> Value {
    let word = row.transport.map(capabilities::config_word);
    let mut properties = Map::new();
    for (key, supported) in reviewer::limits(row) {
        if !supported {
            properties.insert(key.to_owned(), Value::Bool(false));
        }
    }
    for bag in OptionBag::ALL {
        let known = reviewer::known_options(row, bag);
        let is_closed = bag == OptionBag::AppServer;
        if known.is_empty() && is_closed {
            properties.insert(bag.key().to_owned(), Value::Bool(false));
        } else if !known.is_empty() {
            let options: Map<String, Value> = known
                .iter()
                .map(|key| (key.name.to_owned(), option(key)))
                .collect();
            let mut rule = json!({ "properties": options });
            if is_closed {
                rule["additionalProperties"] = json!(false);
            }
            properties.insert(bag.key().to_owned(), rule);
        }
    }
    let required = if is_default {
        json!(["engine"])
    } else {
        json!(["engine", "transport"])
    };
    json!({
        "if": {
            "properties": {
                "engine": {"const": row.engine.as_str()}, "transport": {"const": word}
            },
            "required": required
        },
        "then": {"properties": properties}
    })
}

fn option(key: &OptionKey) -> Value {
    match key.kind {
        OptionKind::Text => text(),
        OptionKind::Variable => json!({
            "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$",
            "description": "The name of an environment variable."
        }),
        OptionKind::Positive => json!({"type": "number", "exclusiveMinimum": 0}),
        OptionKind::Choice(words) => json!({ "enum": words }),
    }
}

#[cfg(test)]
mod tests {
    use jsonschema::Validator;

    use super::*;
    use crate::config::ConfigKind;
    use crate::config::validate::{self, validate};

    fn validator() -> Validator {
        jsonschema::validator_for(&config_schema()).unwrap()
    }

    fn keys(schema: &Value) -> Vec<&str> {
        let properties = schema["properties"].as_object().unwrap();
        properties.keys().map(String::as_str).collect()
    }

    #[test]
    fn the_keys_are_those_that_are_read() {
        let schema = config_schema();
        assert_eq!(keys(&schema), validate::KEYS);
        for (name, known) in [
            ("Reviewer", reviewer::KEYS),
            ("ReviewPlan", validate::REVIEW_PLAN_KEYS),
            ("Reporting", validate::REPORTING_KEYS),
            ("Intake", validate::INTAKE_KEYS),
        ] {
            assert_eq!(keys(&schema["$defs"][name]), known, "{name}");
        }
    }

    /// Asserts that schema and reader say the same about a config.
    fn both(validator: &Validator, value: &Value, is_valid: bool) {
        let read = validate(value, ConfigKind::User);
        assert_eq!(read.is_ok(), is_valid, "{value}: {read:?}");
        assert_eq!(validator.is_valid(value), is_valid, "{value}");
    }

    #[test]
    fn schema_and_reader_agree_about_the_file() {
        let validator = validator();
        for value in [
            json!({}),
            json!({"$schema": "x", "defaultReviewerSet": "a", "readonly": true, "timeoutSeconds": 0.5}),
            json!({"reviewerSets": {"a": ["codex", "x"], "b": []}, "maxConcurrency": 1024}),
            json!({"reporting": {"enabled": true, "scope": "repo", "dir": "x", "mode": "full"}}),
            json!({"intake": {"prune": true, "maxFileBytes": 1, "maxPatchBytes": 1_u64 << 40}}),
            json!({"reviewPlan": {"includeOverview": false}}),
        ] {
            both(&validator, &value, true);
        }
        for value in [
            json!([]),
            json!({"colour": 1}),
            json!({"$schema": 1}),
            json!({"defaultReviewerSet": " "}),
            json!({"defaultReviewerSet": null}),
            json!({"readonly": false}),
            json!({"timeoutSeconds": 0}),
            json!({"maxConcurrency": 0}),
            json!({"maxConcurrency": 1.5}),
            json!({"maxConcurrencyPerEngine": 1025}),
            json!({"reviewerSets": {"a": "codex"}}),
            json!({"reviewerSets": {" ": []}}),
            json!({"reviewerSets": {"a": vec!["codex"; 257]}}),
            json!({"reporting": {"scope": "team"}}),
            json!({"reporting": {"folder": "x"}}),
            json!({"intake": {"maxFileBytes": 0}}),
            json!({"intake": {"maxPatchBytes": (1_u64 << 40) + 1}}),
            json!({"reviewPlan": {"includeOverview": "yes"}}),
        ] {
            both(&validator, &value, false);
        }
    }

    #[test]
    fn schema_and_reader_agree_about_reviewers() {
        let validator = validator();
        let with = |fields: Value| {
            let mut entry = json!({"id": "a"});
            let entry_fields = entry.as_object_mut().unwrap();
            entry_fields.extend(fields.as_object().unwrap().clone());
            json!({ "reviewers": [entry] })
        };
        for row in capabilities::rows()
            .iter()
            .filter(|row| row.transport.is_some())
        {
            let transport = row.transport.map(capabilities::config_word);
            both(
                &validator,
                &with(json!({"engine": row.engine, "transport": transport})),
                true,
            );
            for (key, supported) in reviewer::limits(row) {
                let value = if key == "fallbackModel" {
                    json!("m")
                } else {
                    json!(3)
                };
                let entry = with(json!({"engine": row.engine, "transport": transport, key: value}));
                both(&validator, &entry, supported);
            }
            for option in row.options {
                let (good, bad) = match option.kind {
                    OptionKind::Text => (json!("x"), json!(" ")),
                    OptionKind::Variable => (json!("MY_KEY"), json!("not a name")),
                    OptionKind::Positive => (json!(1), json!(0)),
                    OptionKind::Choice(words) => (json!(words[0]), json!("none of them")),
                };
                for (value, is_valid) in [(good, true), (bad, false)] {
                    let bag = json!({ option.name: value });
                    let entry = json!({
                        "engine": row.engine, "transport": transport, option.bag.key(): bag
                    });
                    both(&validator, &with(entry), is_valid);
                }
            }
        }
        for (fields, is_valid) in [
            (
                json!({"engine": "codex", "cliOptions": {"something": 1}}),
                true,
            ),
            (
                json!({"engine": "codex", "appServerOptions": {"mode": "auto"}}),
                true,
            ),
            (
                json!({"engine": "codex", "appServerOptions": {"something": 1}}),
                false,
            ),
            (json!({"engine": "pi", "appServerOptions": {}}), false),
            (json!({"engine": "claude", "maxTurns": 3}), true),
            (json!({"engine": "codex", "transport": "sdk"}), false),
            (json!({"engine": "fake"}), false),
            (json!({}), false),
            (json!({"engine": "codex", "effort": "huge"}), false),
            (json!({"engine": "codex", "effortCatalog": ["low"]}), true),
            (json!({"engine": "codex", "effortCatalog": []}), false),
            (json!({"engine": "codex", "modelCatalog": [""]}), false),
            (json!({"engine": "codex", "profile": "-x"}), false),
            (json!({"engine": "codex", "maxBudgetUsd": 1}), false),
            (json!({"engine": "codex", "colour": 1}), false),
        ] {
            both(&validator, &with(fields), is_valid);
        }
    }
}
