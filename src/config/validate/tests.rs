//! Tables of what configs may and may not say.

use super::*;
use proptest::prelude::*;
use serde_json::json;

fn problems(value: &Value) -> Vec<(String, String)> {
    match validate(value, ConfigKind::User) {
        Ok(_) => Vec::new(),
        Err(problems) => problems
            .0
            .into_iter()
            .map(|problem| (problem.at, problem.message))
            .collect(),
    }
}

/// Asserts that a config has exactly one problem, at a path and with these words in it.
#[track_caller]
fn refused(value: &Value, at: &str, words: &str) {
    let found = problems(value);
    assert_eq!(found.len(), 1, "{value}: {found:?}");
    assert_eq!(found[0].0, at, "{value}: {found:?}");
    assert!(found[0].1.contains(words), "{value}: {found:?}");
}

#[track_caller]
fn accepted(value: &Value) -> Config {
    validate(value, ConfigKind::User).unwrap_or_else(|problems| panic!("{value}: {problems:?}"))
}

/// Reads a table of lines `where | words | JSON`.
fn rows(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str, Value)> {
    table.lines().filter(|line| !line.is_empty()).map(|line| {
        let mut cells = line.splitn(3, '|').map(str::trim);
        let (at, words) = (cells.next().unwrap(), cells.next().unwrap());
        let value = serde_json::from_str(cells.next().unwrap()).unwrap();
        (at, words, value)
    })
}

fn with_reviewer(entry: &Value) -> Value {
    json!({ "reviewers": [entry] })
}

#[test]
fn the_example_of_the_spec_is_valid() {
    let config = accepted(&json!({
        "$schema": "https://example.com/schema.json",
        "defaultReviewerSet": "1",
        "reviewerSets": {
            "1": ["pi"], "2": ["pi", "claude"], "3": ["pi", "claude", "cursor"],
            "deep": ["pi:openrouter-high", "claude-deep", "cursor-fast"], "none": []
        },
        "reviewers": [
            {"id": "pi", "engine": "pi", "model": "claude-sonnet-4-20250514", "effort": "medium"},
            {"id": "cursor-fast", "engine": "cursor", "model": "composer-2.5",
             "modelCatalog": ["composer-2.5"], "effort": "medium"},
            {"id": "claude-deep", "engine": "claude", "model": "sonnet",
             "modelCatalog": ["sonnet", "opus"], "effort": "max", "fallbackModel": "opus",
             "maxTurns": 5, "maxBudgetUsd": 1.5, "timeoutSeconds": 0.5, "readonly": true},
            {"id": "pi-openrouter-high", "engine": "pi", "profile": "openrouter-high",
             "provider": "openrouter", "model": "anthropic/claude-sonnet", "effort": "high",
             "effortCatalog": ["low", "high"],
             "providerOptions": {"baseUrlEnv": "OPENROUTER_BASE_URL",
                                 "apiKeyEnv": "OPENROUTER_API_KEY"},
             "sdkOptions": {"providerProfile": "openrouter"}}
        ],
        "readonly": true, "timeoutSeconds": 300, "maxConcurrency": 4,
        "maxConcurrencyPerEngine": 2,
        "reviewPlan": {"includeOverview": true},
        "reporting": {"enabled": true, "scope": "repo", "dir": "/tmp/r", "mode": "metadata"},
        "intake": {"prune": false, "maxFileBytes": 1000, "maxPatchBytes": 100000}
    }));
    assert_eq!(config.timeout, Some(Duration::from_secs(300)));
    assert_eq!(config.max_concurrency, Some(4));
    assert_eq!(config.max_concurrency_per_engine, Some(2));
    assert_eq!(config.review_plan.include_overview, Some(true));
    assert_eq!(config.reporting.mode, Some(ReportMode::Metadata));
    assert_eq!(config.intake.max_file_bytes, Some(1000));
    assert_eq!(config.intake.prune, Some(false));
    let names: Vec<&str> = config
        .reviewer_sets
        .iter()
        .map(|set| set.name.as_str())
        .collect();
    assert_eq!(names, ["1", "2", "3", "deep", "none"]);
    let claude = config.reviewer("claude-deep").unwrap();
    assert_eq!(claude.max_turns, Some(5));
    assert_eq!(claude.timeout, Some(Duration::from_millis(500)));
}

/// What is refused in a file: where, in which words, and the file.
const WRONG_FILES: &str = r#"
 | expected an object, found an array | []
 | found null | null
 | `reviewerz`; did you mean `reviewers`? | {"reviewerz": []}
 | unrecognized key `xyzzy` | {"xyzzy": 1}
defaultReviewerSet | not blank | {"defaultReviewerSet": " "}
defaultReviewerSet | a string, found a number | {"defaultReviewerSet": 2}
reviewerSets | an object | {"reviewerSets": []}
reviewerSets.1 | an array, found a string | {"reviewerSets": {"1": "codex"}}
reviewerSets.1[1] | not blank | {"reviewerSets": {"1": ["a", ""]}}
reviewerSets | must not be blank | {"reviewerSets": {"": ["a"]}}
reviewers | an array | {"reviewers": {}}
reviewers[0] | an object | {"reviewers": [1]}
readonly | only be true | {"readonly": false}
readonly | true or false | {"readonly": "yes"}
timeoutSeconds | above 0 | {"timeoutSeconds": 0}
timeoutSeconds | above 0 | {"timeoutSeconds": -1.5}
timeoutSeconds | a number, found a string | {"timeoutSeconds": "300"}
maxConcurrency | from 1 to | {"maxConcurrency": 0}
maxConcurrency | from 1 to | {"maxConcurrency": 1.5}
maxConcurrencyPerEngine | whole number | {"maxConcurrencyPerEngine": true}
reviewPlan | unrecognized key | {"reviewPlan": {"overview": true}}
reviewPlan.includeOverview | true or | {"reviewPlan": {"includeOverview": 1}}
reporting.scope | did you mean `global`? | {"reporting": {"scope": "globl"}}
reporting.mode | one of full, metadata | {"reporting": {"mode": "x"}}
reporting.dir | not blank | {"reporting": {"dir": ""}}
intake.maxFileBytes | from 1 to | {"intake": {"maxFileBytes": -1}}
intake.prune | found null | {"intake": {"prune": null}}
$schema | a string | {"$schema": 1}
"#;

#[test]
fn the_file_is_strict() {
    for (at, words, value) in rows(WRONG_FILES) {
        refused(&value, at, words);
    }
}

/// What is refused in a reviewer: where in it, in which words, and its entry.
const WRONG_REVIEWERS: &str = r#"
.id | missing | {"engine": "pi"}
.engine | missing | {"id": "a"}
.engine | one of cursor, claude | {"id": "a", "engine": "fake"}
.engine | one of cursor, claude | {"id": "a", "engine": "surface"}
.engine | did you mean `claude`? | {"id": "a", "engine": "cladue"}
.id | inside diffwarden | {"id": "surface", "engine": "pi"}
.id | engine:profile | {"id": "codex:x", "engine": "pi"}
.id | no reviewer spec | {"id": "a:b:c", "engine": "pi"}
.profile | a profile is | {"id": "a", "engine": "pi", "profile": "-x"}
 | did you mean `model`? | {"id": "a", "engine": "pi", "modle": "x"}
.enabled | true or false | {"id": "a", "engine": "pi", "enabled": "no"}
.readonly | only be true | {"id": "a", "engine": "pi", "readonly": false}
.effort | off, minimal | {"id": "a", "engine": "pi", "effort": "huge"}
.effort | did you mean `high` | {"id": "a", "engine": "pi", "effort": "hig"}
.effortCatalog[0] | max | {"id": "a", "engine": "pi", "effortCatalog": ["x"]}
.effortCatalog | empty | {"id": "a", "engine": "pi", "effortCatalog": []}
.modelCatalog[0] | blank | {"id": "a", "engine": "pi", "modelCatalog": [""]}
.modelCatalog | an array | {"id": "a", "engine": "pi", "modelCatalog": "x"}
.timeoutSeconds | above 0 | {"id": "a", "engine": "pi", "timeoutSeconds": 0}
.transport | pi has no app-server transport; it has sdk, cli | {"id": "a", "engine": "pi", "transport": "app-server"}
.transport | codex has no sdk transport; it has cli, app-server | {"id": "a", "engine": "codex", "transport": "sdk"}
.transport | it has cli | {"id": "a", "engine": "grok", "transport": "sdk"}
.transport | one of sdk | {"id": "a", "engine": "pi", "transport": "native"}
.fallbackModel | codex over cli cannot honour fallbackModel | {"id": "a", "engine": "codex", "fallbackModel": "x"}
.maxTurns | maxTurns | {"id": "a", "engine": "codex", "maxTurns": 5}
.maxTurns | claude over cli cannot honour maxTurns | {"id": "a", "engine": "claude", "transport": "cli", "maxTurns": 5}
.maxBudgetUsd | cannot | {"id": "a", "engine": "pi", "maxBudgetUsd": 1}
.maxBudgetUsd | above 0 | {"id": "a", "engine": "claude", "maxBudgetUsd": 0}
.maxTurns | whole number | {"id": "a", "engine": "claude", "maxTurns": 1.5}
.cliOptions | an object | {"id": "a", "engine": "codex", "cliOptions": []}
.cliOptions.executable | not blank | {"id": "a", "engine": "codex", "cliOptions": {"executable": ""}}
.cliOptions.webSearch | enabled, disabled, inherit | {"id": "a", "engine": "codex", "cliOptions": {"webSearch": "on"}}
.appServerOptions | `mode`? | {"id": "a", "engine": "codex", "transport": "app-server", "appServerOptions": {"mod": "auto"}}
.appServerOptions.mode | one of auto, attach | {"id": "a", "engine": "codex", "appServerOptions": {"mode": "x"}}
.appServerOptions | pi takes no appServerOptions | {"id": "a", "engine": "pi", "appServerOptions": {"mode": "auto"}}
.providerOptions.apiKeyEnv | name of an environment variable | {"id": "a", "engine": "pi", "providerOptions": {"apiKeyEnv": "not a name"}}
"#;

#[test]
fn reviewers_are_strict() {
    for (at, words, entry) in rows(WRONG_REVIEWERS) {
        refused(&with_reviewer(&entry), &format!("reviewers[0]{at}"), words);
    }
}

#[test]
fn claude_takes_its_limits_and_bags_stay_open() {
    accepted(&with_reviewer(&json!({
        "id": "a", "engine": "claude", "fallbackModel": "opus", "maxTurns": 5, "maxBudgetUsd": 1.5
    })));
    accepted(&with_reviewer(&json!({
        "id": "a", "engine": "claude", "transport": "cli", "maxBudgetUsd": 2
    })));
    accepted(&with_reviewer(&json!({
        "id": "e", "engine": "codex", "transport": "app-server",
        "appServerOptions": {"mode": "launch", "reviewMode": "native", "codexHome": "~/.codex"},
        "cliOptions": {"secret": "S3CRET"}, "providerOptions": {"k": "S3CRET"},
        "sdkOptions": {"k": {"deep": [1, null]}}
    })));
}

#[test]
fn reviewers_are_unique() {
    let duplicate_id = json!({"reviewers": [
        {"id": "a", "engine": "codex"}, {"id": "a", "engine": "pi"}
    ]});
    refused(&duplicate_id, "reviewers[1].id", "first at reviewers[0]");
    let duplicate_profile = json!({"reviewers": [
        {"id": "a", "engine": "pi", "profile": "x"}, {"id": "b", "engine": "codex", "profile": "x"},
        {"id": "c", "engine": "pi", "profile": "x"}
    ]});
    refused(
        &duplicate_profile,
        "reviewers[2].profile",
        "first at reviewers[0]",
    );
}

#[test]
fn every_problem_is_listed_in_order_of_the_file() {
    let value = json!({
        "nope": 1, "readonly": false, "timeoutSeconds": 0,
        "reviewers": [{"id": "", "engine": "x", "transport": "cli", "enabled": 0}]
    });
    let places: Vec<String> = problems(&value).into_iter().map(|(at, _)| at).collect();
    assert_eq!(
        places,
        [
            "",
            "readonly",
            "timeoutSeconds",
            "reviewers[0].id",
            "reviewers[0].engine",
            "reviewers[0].enabled"
        ]
    );
    let failure = validate(&value, ConfigKind::User)
        .unwrap_err()
        .into_failure("/c.json", None);
    assert!(
        failure
            .message
            .starts_with("Invalid config at /c.json:\n✖ unrecognized key `nope`"),
        "{failure}"
    );
    assert!(
        failure
            .message
            .contains("\n✖ readonly can only be true\n  → at readonly\n")
    );
    assert_eq!((failure.exit_code(), failure.hint), (2, None));
}

#[test]
fn the_default_set_holds_no_reviewer_inside_diffwarden() {
    for (value, at) in [
        (
            json!({"reviewerSets": {"1": ["codex", "surface"]}}),
            "reviewerSets.1[1]",
        ),
        (
            json!({"reviewerSets": {"1": ["surface"]}}),
            "reviewerSets.1[0]",
        ),
        (
            json!({"defaultReviewerSet": "x", "reviewerSets": {"x": ["fake", "pi"]}}),
            "reviewerSets.x[0]",
        ),
    ] {
        refused(&value, at, "only when it is named");
    }
    accepted(&json!({
        "defaultReviewerSet": "x",
        "reviewerSets": {"x": ["codex"], "1": ["surface", "fake"]}
    }));
    accepted(&json!({"defaultReviewerSet": "p", "reviewerSets": {"p": ["fake"]}}));
}

#[test]
fn literal_secrets_are_refused_and_never_repeated() {
    let secret = "sk-proj-abcdefghijklmnopqrstuv0123";
    let random = "Zx81mQp03LkR77tUwY2b";
    let entry = |options: Value| json!({"id": "a", "engine": "pi", "providerOptions": options});
    for (value, at) in [
        (
            with_reviewer(&entry(json!({"apiKey": random}))),
            "reviewers[0].providerOptions.apiKey",
        ),
        (
            with_reviewer(&entry(json!({"headers": {"x": [1, secret]}}))),
            "reviewers[0].providerOptions.headers.x[1]",
        ),
        (json!({"defaultReviewerSet": secret}), "defaultReviewerSet"),
    ] {
        refused(&value, at, "secret");
        let text = format!("{:?}", problems(&value));
        assert!(!text.contains(secret) && !text.contains(random), "{text}");
    }
    let in_key = json!({ secret: 1 });
    assert!(!format!("{:?}", problems(&in_key)).contains(secret));
    let in_variable = with_reviewer(&entry(json!({"apiKeyEnv": secret})));
    let text = format!("{:?}", problems(&in_variable));
    assert!(
        text.contains("apiKeyEnv") && !text.contains(secret),
        "{text}"
    );
}

#[test]
fn nobody_has_thousands_of_reviewers() {
    let many = |count: usize| vec!["codex"; count];
    accepted(&json!({"reviewerSets": {"1": many(256)}}));
    refused(
        &json!({"reviewerSets": {"1": many(257)}}),
        "reviewerSets.1",
        "at most 256",
    );
    let entries: Vec<Value> = (0..1025)
        .map(|index| json!({"id": format!("a{index}"), "engine": "pi"}))
        .collect();
    refused(&json!({"reviewers": entries}), "reviewers", "at most 1024");
}

#[test]
fn names_are_what_they_look_like() {
    let value = json!({"reviewerSets": {"a\u{200b}": []}});
    refused(&value, "reviewerSets.a\u{200b}", "invisible");
}

#[test]
fn odd_names_are_plain_names() {
    let config = accepted(&json!({
        "reviewerSets": {"constructor": ["__proto__"], "__proto__": ["constructor"]},
        "reviewers": [{"id": "__proto__", "engine": "pi"}, {"id": "toString", "engine": "pi"}]
    }));
    assert!(config.set("constructor").is_some() && config.set("hasOwnProperty").is_none());
    assert!(config.reviewer("toString").is_some() && config.reviewer("valueOf").is_none());
}

#[test]
fn budgets_never_overflow() {
    for (seconds, expected) in [
        (1e308, Some(LONGEST_TIMEOUT)),
        (f64::MIN_POSITIVE, Some(SHORTEST_TIMEOUT)),
        (0.25, Some(Duration::from_millis(250))),
        (f64::INFINITY, None),
        (f64::NAN, None),
        (-0.0, None),
    ] {
        assert_eq!(timeout_of_seconds(seconds), expected, "{seconds}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["codex", "claude", "cli", "sdk", "high", "fake", "1"])
            .prop_map(Value::from),
    ];
    let key = prop_oneof![
        prop::sample::select(vec![
            "defaultReviewerSet",
            "reviewerSets",
            "reviewers",
            "readonly",
            "timeoutSeconds",
            "reporting",
            "intake",
            "id",
            "engine",
            "transport",
            "profile",
            "effort",
            "cliOptions",
            "appServerOptions",
            "providerOptions",
            "executable",
            "apiKeyEnv",
            "dir",
            "1",
            "maxTurns",
            "modelCatalog",
            "effortCatalog",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,8}",
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_json_is_judged(value in any_json()) {
        for kind in [ConfigKind::User, ConfigKind::Project] {
            if let Err(problems) = validate(&value, kind) {
                prop_assert!(!problems.0.is_empty());
                let failure = problems.into_failure("/c.json", None);
                prop_assert_eq!(failure.exit_code(), 2);
            }
        }
    }
}
