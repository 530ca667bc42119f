//! From JSON to a typed config: the keys of the file as a whole.

use std::path::PathBuf;
use std::time::Duration;

use diffwarden_actors::model::EngineName;
use serde_json::Value;

use super::discover::ConfigKind;
use super::model::{
    Config, IntakeSettings, ReportMode, ReportScope, ReportingSettings, ReviewPlanSettings,
    ReviewerSet,
};
use super::node::{Node, Object, shown};
use super::problem::Problems;
use super::{names, project, reviewer, secret};

const KEYS: &[&str] = &[
    "$schema",
    "defaultReviewerSet",
    "reviewerSets",
    "reviewers",
    "readonly",
    "timeoutSeconds",
    "maxConcurrency",
    "maxConcurrencyPerEngine",
    "reviewPlan",
    "reporting",
    "intake",
];

/// More reviewers at a time than any machine can hold.
const MOST_CONCURRENT: u64 = 1024;
/// More bytes than any patch that a model could read.
const MOST_BYTES: u64 = 1 << 40;

/// The shortest and the longest budget; values outside are moved to the nearer end, so that no
/// deadline can overflow a clock and none is over before it starts.
const SHORTEST_TIMEOUT: Duration = Duration::from_millis(1);
const LONGEST_TIMEOUT: Duration = Duration::from_secs(u32::MAX as u64);

/// Checks a file and returns what it says.
///
/// # Errors
///
/// Returns every problem that was found.
pub(super) fn validate(value: &Value, kind: ConfigKind) -> Result<Config, Problems> {
    let mut problems = Problems::default();
    let root = Node::root(value);
    let config = root
        .object(&mut problems)
        .map(|object| read(&object, &mut problems));
    find_secrets("", &root, &mut problems);
    if kind == ConfigKind::Project {
        project::refuse(&root, &mut problems);
    }
    match config {
        Some(config) if problems.0.is_empty() => Ok(config),
        _ => Err(problems),
    }
}

fn read(object: &Object<'_>, problems: &mut Problems) -> Config {
    object.only(KEYS, problems);
    if let Some(node) = object.get("$schema") {
        node.text(problems);
    }
    read_readonly(object, problems);
    let mut config = Config {
        default_reviewer_set: object
            .get("defaultReviewerSet")
            .and_then(|node| node.text(problems))
            .map(str::to_owned),
        reviewer_sets: read_sets(object, problems),
        reviewers: Vec::new(),
        timeout: read_timeout(object, problems),
        max_concurrency: read_concurrency(object, "maxConcurrency", problems),
        max_concurrency_per_engine: read_concurrency(object, "maxConcurrencyPerEngine", problems),
        review_plan: section(object, "reviewPlan", problems, read_review_plan),
        reporting: section(object, "reporting", problems, read_reporting),
        intake: section(object, "intake", problems, read_intake),
    };
    config.reviewers = reviewer::read_all(object, problems);
    check_default_set(&config, problems);
    config
}

/// Checks `readonly`, which can only be true: diffwarden never lets a reviewer write (SPEC 3).
pub(super) fn read_readonly(object: &Object<'_>, problems: &mut Problems) {
    if let Some(node) = object.get("readonly")
        && node.flag(problems) == Some(false)
    {
        problems.add(node.at, "readonly can only be true");
    }
}

/// Reads `timeoutSeconds` of the file or of a reviewer.
pub(super) fn read_timeout(object: &Object<'_>, problems: &mut Problems) -> Option<Duration> {
    let seconds = object.get("timeoutSeconds")?.positive(problems)?;
    timeout_of_seconds(seconds)
}

/// Returns a budget of so many seconds, moved into the range that clocks can hold; `None` unless
/// the number is finite and above zero.
pub(super) fn timeout_of_seconds(seconds: f64) -> Option<Duration> {
    if !(seconds.is_finite() && seconds > 0.0) {
        return None;
    }
    Some(
        Duration::try_from_secs_f64(seconds)
            .unwrap_or(LONGEST_TIMEOUT)
            .clamp(SHORTEST_TIMEOUT, LONGEST_TIMEOUT),
    )
}

fn read_concurrency(object: &Object<'_>, key: &str, problems: &mut Problems) -> Option<usize> {
    let count = object.get(key)?.count(MOST_CONCURRENT, problems)?;
    usize::try_from(count).ok()
}

fn section<T: Default>(
    object: &Object<'_>,
    key: &str,
    problems: &mut Problems,
    read: fn(&Object<'_>, &mut Problems) -> T,
) -> T {
    object
        .get(key)
        .and_then(|node| node.object(problems))
        .map(|inner| read(&inner, problems))
        .unwrap_or_default()
}

fn read_review_plan(object: &Object<'_>, problems: &mut Problems) -> ReviewPlanSettings {
    object.only(&["includeOverview"], problems);
    ReviewPlanSettings {
        include_overview: flag(object, "includeOverview", problems),
    }
}

fn read_reporting(object: &Object<'_>, problems: &mut Problems) -> ReportingSettings {
    object.only(&["enabled", "scope", "dir", "mode"], problems);
    ReportingSettings {
        enabled: flag(object, "enabled", problems),
        scope: object.get("scope").and_then(|node| {
            let choices = [("global", ReportScope::Global), ("repo", ReportScope::Repo)];
            node.word(&choices, problems)
        }),
        dir: object
            .get("dir")
            .and_then(|node| node.text(problems))
            .map(PathBuf::from),
        mode: object.get("mode").and_then(|node| {
            let choices = [
                ("full", ReportMode::Full),
                ("metadata", ReportMode::Metadata),
            ];
            node.word(&choices, problems)
        }),
    }
}

fn read_intake(object: &Object<'_>, problems: &mut Problems) -> IntakeSettings {
    object.only(&["prune", "maxFileBytes", "maxPatchBytes"], problems);
    let mut bytes = |key: &str| object.get(key)?.count(MOST_BYTES, problems);
    let max_file_bytes = bytes("maxFileBytes");
    let max_patch_bytes = bytes("maxPatchBytes");
    IntakeSettings {
        prune: flag(object, "prune", problems),
        max_file_bytes,
        max_patch_bytes,
    }
}

pub(super) fn flag(object: &Object<'_>, key: &str, problems: &mut Problems) -> Option<bool> {
    object.get(key)?.flag(problems)
}

fn read_sets(object: &Object<'_>, problems: &mut Problems) -> Vec<ReviewerSet> {
    let Some(sets) = object
        .get("reviewerSets")
        .and_then(|node| node.object(problems))
    else {
        return Vec::new();
    };
    sets.nodes()
        .map(|(name, node)| {
            if name.trim().is_empty() {
                problems.add(&sets.at, "the name of a reviewer set must not be blank");
            } else if let Some(defect) = names::defect_of_name(name) {
                problems.add(&node.at, format!("the name of a reviewer set {defect}"));
            }
            let members = node.items(problems).unwrap_or_default();
            ReviewerSet {
                name: name.to_owned(),
                members: members
                    .iter()
                    .filter_map(|member| member.text(problems))
                    .map(|member| member.trim().to_owned())
                    .collect(),
            }
        })
        .collect()
}

/// Keeps the reviewers inside diffwarden out of the set that runs when nobody named anyone: they
/// run only when named, and must never stand in for a review. A set of the fixture alone is
/// somebody trying out their set-up; nothing it prints can be taken for a review.
fn check_default_set(config: &Config, problems: &mut Problems) {
    let Some(set) = config.set(config.default_set_name()) else {
        return;
    };
    if set.members == [EngineName::Fake.as_str()] {
        return;
    }
    for (index, member) in set.members.iter().enumerate() {
        let inside = [EngineName::Surface, EngineName::Fake];
        if inside.iter().any(|engine| engine.as_str() == member) {
            problems.add(
                format!("reviewerSets.{}[{index}]", shown(&set.name)),
                format!(
                    "`{member}` cannot be in the default reviewer set, because it runs only when \
                     it is named; use --reviewer {member} or a set that is not the default"
                ),
            );
        }
    }
}

/// Adds a problem for every text that is a key instead of the name of a variable that holds one.
fn find_secrets(name: &str, node: &Node<'_>, problems: &mut Problems) {
    match node.value {
        Value::String(text) if secret::is_literal(name, text) => problems.add(
            &node.at,
            "this looks like a secret; configs hold only the names of environment variables, \
             such as apiKeyEnv",
        ),
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                let at = format!("{}[{index}]", node.at);
                find_secrets(name, &Node { value, at }, problems);
            }
        }
        Value::Object(entries) => {
            let at = node.at.clone();
            for (key, inner) in (Object { entries, at }).nodes() {
                find_secrets(key, &inner, problems);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
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

    #[test]
    fn the_file_is_strict() {
        for (value, at, words) in [
            (json!([]), "", "expected an object, found an array"),
            (json!(null), "", "found null"),
            (
                json!({"reviewerz": []}),
                "",
                "`reviewerz`; did you mean `reviewers`?",
            ),
            (json!({"xyzzy": 1}), "", "unrecognized key `xyzzy`"),
            (
                json!({"defaultReviewerSet": " "}),
                "defaultReviewerSet",
                "not blank",
            ),
            (
                json!({"defaultReviewerSet": 2}),
                "defaultReviewerSet",
                "a string, found a number",
            ),
            (json!({"reviewerSets": []}), "reviewerSets", "an object"),
            (
                json!({"reviewerSets": {"1": "codex"}}),
                "reviewerSets.1",
                "an array, found a string",
            ),
            (
                json!({"reviewerSets": {"1": ["a", ""]}}),
                "reviewerSets.1[1]",
                "not blank",
            ),
            (
                json!({"reviewerSets": {"": ["a"]}}),
                "reviewerSets",
                "must not be blank",
            ),
            (
                json!({"reviewerSets": {"a\u{200b}": []}}),
                "reviewerSets.a\u{200b}",
                "invisible",
            ),
            (json!({"reviewers": {}}), "reviewers", "an array"),
            (json!({"reviewers": [1]}), "reviewers[0]", "an object"),
            (json!({"readonly": false}), "readonly", "only be true"),
            (json!({"readonly": "yes"}), "readonly", "true or false"),
            (json!({"timeoutSeconds": 0}), "timeoutSeconds", "above 0"),
            (json!({"timeoutSeconds": -1.5}), "timeoutSeconds", "above 0"),
            (
                json!({"timeoutSeconds": "300"}),
                "timeoutSeconds",
                "a number, found a string",
            ),
            (json!({"maxConcurrency": 0}), "maxConcurrency", "from 1 to"),
            (
                json!({"maxConcurrency": 1.5}),
                "maxConcurrency",
                "from 1 to",
            ),
            (
                json!({"maxConcurrencyPerEngine": true}),
                "maxConcurrencyPerEngine",
                "whole number",
            ),
            (
                json!({"reviewPlan": {"overview": true}}),
                "reviewPlan",
                "unrecognized key",
            ),
            (
                json!({"reviewPlan": {"includeOverview": 1}}),
                "reviewPlan.includeOverview",
                "true or",
            ),
            (
                json!({"reporting": {"scope": "globl"}}),
                "reporting.scope",
                "did you mean `global`?",
            ),
            (
                json!({"reporting": {"mode": "x"}}),
                "reporting.mode",
                "one of full, metadata",
            ),
            (
                json!({"reporting": {"dir": ""}}),
                "reporting.dir",
                "not blank",
            ),
            (
                json!({"intake": {"maxFileBytes": -1}}),
                "intake.maxFileBytes",
                "from 1 to",
            ),
            (
                json!({"intake": {"prune": null}}),
                "intake.prune",
                "found null",
            ),
            (json!({"$schema": 1}), "$schema", "a string"),
        ] {
            refused(&value, at, words);
        }
    }

    #[test]
    fn reviewers_are_strict() {
        let at = |key: &str| format!("reviewers[0]{key}");
        for (entry, path, words) in [
            (json!({"engine": "pi"}), ".id", "missing"),
            (json!({"id": "a"}), ".engine", "missing"),
            (
                json!({"id": "a", "engine": "fake"}),
                ".engine",
                "one of cursor, claude",
            ),
            (
                json!({"id": "a", "engine": "surface"}),
                ".engine",
                "one of cursor, claude",
            ),
            (
                json!({"id": "a", "engine": "cladue"}),
                ".engine",
                "did you mean `claude`?",
            ),
            (
                json!({"id": "surface", "engine": "pi"}),
                ".id",
                "inside diffwarden",
            ),
            (
                json!({"id": "codex:x", "engine": "pi"}),
                ".id",
                "engine:profile",
            ),
            (
                json!({"id": "a:b:c", "engine": "pi"}),
                ".id",
                "no reviewer spec",
            ),
            (
                json!({"id": "a", "engine": "pi", "profile": "-x"}),
                ".profile",
                "a profile is",
            ),
            (
                json!({"id": "a", "engine": "pi", "modle": "x"}),
                "",
                "did you mean `model`?",
            ),
            (
                json!({"id": "a", "engine": "pi", "enabled": "no"}),
                ".enabled",
                "true or false",
            ),
            (
                json!({"id": "a", "engine": "pi", "readonly": false}),
                ".readonly",
                "only be true",
            ),
            (
                json!({"id": "a", "engine": "pi", "effort": "huge"}),
                ".effort",
                "off, minimal",
            ),
            (
                json!({"id": "a", "engine": "pi", "effort": "hig"}),
                ".effort",
                "did you mean `high`",
            ),
            (
                json!({"id": "a", "engine": "pi", "effortCatalog": ["x"]}),
                ".effortCatalog[0]",
                "max",
            ),
            (
                json!({"id": "a", "engine": "pi", "effortCatalog": []}),
                ".effortCatalog",
                "empty",
            ),
            (
                json!({"id": "a", "engine": "pi", "modelCatalog": [""]}),
                ".modelCatalog[0]",
                "blank",
            ),
            (
                json!({"id": "a", "engine": "pi", "modelCatalog": "x"}),
                ".modelCatalog",
                "an array",
            ),
            (
                json!({"id": "a", "engine": "pi", "timeoutSeconds": 0}),
                ".timeoutSeconds",
                "above 0",
            ),
            (
                json!({"id": "a", "engine": "pi", "transport": "app-server"}),
                ".transport",
                "pi has no app-server transport; it has sdk, cli",
            ),
            (
                json!({"id": "a", "engine": "codex", "transport": "sdk"}),
                ".transport",
                "codex has no sdk transport; it has cli, app-server",
            ),
            (
                json!({"id": "a", "engine": "grok", "transport": "sdk"}),
                ".transport",
                "it has cli",
            ),
            (
                json!({"id": "a", "engine": "pi", "transport": "native"}),
                ".transport",
                "one of sdk",
            ),
            (
                json!({"id": "a", "engine": "codex", "fallbackModel": "x"}),
                ".fallbackModel",
                "codex over cli cannot honour fallbackModel",
            ),
            (
                json!({"id": "a", "engine": "codex", "maxTurns": 5}),
                ".maxTurns",
                "maxTurns",
            ),
            (
                json!({"id": "a", "engine": "claude", "transport": "cli", "maxTurns": 5}),
                ".maxTurns",
                "claude over cli cannot honour maxTurns",
            ),
            (
                json!({"id": "a", "engine": "pi", "maxBudgetUsd": 1}),
                ".maxBudgetUsd",
                "cannot",
            ),
            (
                json!({"id": "a", "engine": "claude", "maxBudgetUsd": 0}),
                ".maxBudgetUsd",
                "above 0",
            ),
            (
                json!({"id": "a", "engine": "claude", "maxTurns": 1.5}),
                ".maxTurns",
                "whole number",
            ),
            (
                json!({"id": "a", "engine": "codex", "cliOptions": []}),
                ".cliOptions",
                "an object",
            ),
            (
                json!({"id": "a", "engine": "codex", "cliOptions": {"executable": ""}}),
                ".cliOptions.executable",
                "not blank",
            ),
            (
                json!({"id": "a", "engine": "codex", "cliOptions": {"webSearch": "on"}}),
                ".cliOptions.webSearch",
                "enabled, disabled, inherit",
            ),
            (
                json!({"id": "a", "engine": "codex", "transport": "app-server",
                    "appServerOptions": {"mod": "auto"}}),
                ".appServerOptions",
                "`mode`?",
            ),
            (
                json!({"id": "a", "engine": "pi", "appServerOptions": {"mode": "auto"}}),
                ".appServerOptions",
                "takes no appServerOptions",
            ),
            (
                json!({"id": "a", "engine": "pi", "providerOptions": {"apiKeyEnv": "not a name"}}),
                ".providerOptions.apiKeyEnv",
                "name of an environment variable",
            ),
        ] {
            refused(&with_reviewer(&entry), &at(path), words);
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
}
