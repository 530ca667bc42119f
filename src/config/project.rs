//! What a config inside the reviewed repository may not say.
//!
//! Such a file comes with the change that is reviewed. It chooses reviewers, sets, models, efforts
//! and plans among what the user has. In option bags it may set only what the capability matrix
//! lets a project set; everything else there is refused, known or not, because adapters pass some
//! bags on and new keys must not become a way in.

use std::path::{Component, Path};

use diffwarden_actors::model::EngineName;
use serde_json::Value;

use super::node::{Node, Object};
use super::problem::Problems;
use super::trust::{Standing, TRUST_FLAG};
use crate::engines::capabilities::{self, OptionBag, OptionKey, ProjectUse};

/// Adds a problem for everything that only the user's own config may say. Values of a wrong type
/// are left to the validation, which has named them already.
pub(super) fn refuse(root: &Node<'_>, problems: &mut Problems) {
    let Value::Object(entries) = root.value else {
        return;
    };
    let object = Object {
        entries,
        at: String::new(),
    };
    refuse_report_folder(&object, problems);
    refuse_allowlist(&object, problems);
    let Some(Value::Array(reviewers)) = entries.get("reviewers") else {
        return;
    };
    for (index, reviewer) in reviewers.iter().enumerate() {
        if let Value::Object(entries) = reviewer {
            let at = format!("reviewers[{index}]");
            refuse_in_reviewer(&Object { entries, at }, problems);
        }
    }
}

fn refuse_report_folder(object: &Object<'_>, problems: &mut Problems) {
    if let Some(Value::Object(entries)) = object.entries.get("reporting")
        && let Some(Value::String(dir)) = entries.get("dir")
        && leaves_folder(Path::new(dir))
    {
        problems.refuse(
            "reporting.dir",
            "a project config may not name a folder outside the repository",
        );
    }
}

fn refuse_allowlist(object: &Object<'_>, problems: &mut Problems) {
    if let Some(Value::Object(entries)) = object.entries.get("intake")
        && entries.contains_key("allowlist")
    {
        problems.refuse(
            "intake.allowlist",
            "a project config may not say which credentials are none",
        );
    }
}

/// Says what to do about a refusal. `standing` is how the content stands with the user, if that
/// is what is wrong with it.
pub(super) fn hint(user_config: Option<&Path>, sha256: &str, standing: Option<Standing>) -> String {
    let place = user_config.map_or(String::new(), |path| format!(" at {}", path.display()));
    let own = format!(
        "a config inside the reviewed repository is part of what is reviewed; put such settings \
         in your own config{place}"
    );
    match standing {
        None => own,
        Some(standing) => {
            let changed = match standing {
                Standing::Changed => ", which is not the content that was trusted",
                Standing::Trusted | Standing::Unknown => "",
            };
            format!(
                "{own}, or read this file{changed}, and trust its exact content with \
                 `diffwarden config trust` (in CI: {TRUST_FLAG} {sha256})"
            )
        }
    }
}

/// Whether a path is absolute or climbs above where it starts.
fn leaves_folder(path: &Path) -> bool {
    let text = path.to_string_lossy();
    path.is_absolute()
        || text.starts_with('~')
        || text.contains('\\')
        || path
            .components()
            .any(|part| matches!(part, Component::ParentDir))
}

fn refuse_in_reviewer(reviewer: &Object<'_>, problems: &mut Problems) {
    let engine = match reviewer.entries.get("engine") {
        Some(Value::String(name)) => EngineName::parse(name),
        _ => None,
    };
    if engine == Some(EngineName::Acp) {
        problems.refuse(
            reviewer.path("engine"),
            "a project config may not use the acp engine, which runs a program of the config's choice",
        );
    }
    for bag in OptionBag::ALL {
        let Some(Value::Object(entries)) = reviewer.entries.get(bag.key()) else {
            continue;
        };
        let inner = Object {
            entries,
            at: reviewer.path(bag.key()),
        };
        for (name, node) in inner.nodes() {
            if !is_allowed(engine, bag, name, node.value) {
                problems.refuse(
                    node.at,
                    "a project config may not set this option; it could name a program, a path, \
                     a network address or a login",
                );
            }
        }
    }
}

fn is_allowed(engine: Option<EngineName>, bag: OptionBag, name: &str, value: &Value) -> bool {
    engine
        .into_iter()
        .flat_map(capabilities::of_engine)
        .flat_map(|row| row.options)
        .filter(|key| key.bag == bag && key.name == name)
        .any(|key| permits(key, value))
}

fn permits(key: &OptionKey, value: &Value) -> bool {
    match key.project {
        ProjectUse::Refused => false,
        ProjectUse::Allowed => true,
        ProjectUse::Only(words) => value.as_str().is_some_and(|word| words.contains(&word)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::config::discover::ConfigKind;
    use crate::config::validate::validate;

    fn refused_places(value: &Value) -> Vec<String> {
        match validate(value, ConfigKind::Project) {
            Ok(_) => Vec::new(),
            Err(problems) => problems
                .0
                .into_iter()
                .filter(|problem| problem.project_only)
                .map(|problem| problem.at)
                .collect(),
        }
    }

    fn reviewer(engine: &str, bag: &str, options: &Value) -> Value {
        json!({"reviewers": [{"id": "a", "engine": engine, bag: options}]})
    }

    #[test]
    fn a_project_config_names_no_program_path_address_or_login() {
        for (engine, bag, name, value) in [
            ("codex", "cliOptions", "executable", json!("./evil.sh")),
            ("codex", "cliOptions", "executable", json!(7)),
            ("codex", "cliOptions", "webSearch", json!("enabled")),
            ("codex", "cliOptions", "newOption", json!("x")),
            ("codex", "appServerOptions", "codexHome", json!("/x")),
            ("codex", "appServerOptions", "mode", json!("attach")),
            ("pi", "providerOptions", "apiKeyEnv", json!("HOME")),
            ("pi", "providerOptions", "baseUrlEnv", json!("EVIL_URL")),
            ("pi", "providerOptions", "baseUrl", json!("http://evil")),
            ("pi", "sdkOptions", "authPath", json!("x")),
            ("pi", "sdkOptions", "authSource", json!("shared")),
            ("claude", "sdkOptions", "authMode", json!("api-key")),
            (
                "claude",
                "sdkOptions",
                "pathToClaudeCodeExecutable",
                json!("x"),
            ),
            ("opencode", "cliOptions", "agent", json!("build")),
            ("nonsense", "cliOptions", "webSearch", json!("disabled")),
        ] {
            let value = reviewer(engine, bag, &json!({name: value}));
            assert_eq!(
                refused_places(&value),
                [format!("reviewers[0].{bag}.{name}")],
                "{value}"
            );
        }
        let list = json!({"intake": {"allowlist": "/etc/hosts"}});
        assert_eq!(refused_places(&list), ["intake.allowlist"]);
        let acp = json!({"reviewers": [{"id": "a", "engine": "acp"}]});
        assert_eq!(refused_places(&acp), ["reviewers[0].engine"]);
    }

    #[test]
    fn a_project_config_chooses_among_what_the_user_has() {
        let value = json!({
            "defaultReviewerSet": "x", "reviewerSets": {"x": ["a", "claude"]},
            "timeoutSeconds": 60, "maxConcurrency": 2, "intake": {"prune": true},
            "reporting": {"enabled": true, "dir": "build/reports"},
            "reviewers": [
                {"id": "a", "engine": "codex", "model": "m", "effort": "low", "provider": "p",
                 "cliOptions": {"webSearch": "disabled"}},
                {"id": "b", "engine": "codex", "transport": "app-server",
                 "appServerOptions": {"reviewMode": "native"}}
            ]
        });
        assert!(validate(&value, ConfigKind::Project).is_ok());
    }

    #[test]
    fn reports_of_a_project_stay_in_it() {
        for dir in ["/tmp/x", "../x", "a/../../x", "~/x", "..", "a\\..\\x"] {
            let value = json!({"reporting": {"dir": dir}});
            assert_eq!(refused_places(&value), ["reporting.dir"], "{dir}");
            assert!(validate(&value, ConfigKind::User).is_ok(), "{dir}");
        }
    }

    #[test]
    fn the_refusal_says_where_such_settings_belong() {
        let value = reviewer("codex", "cliOptions", &json!({"executable": "./evil.sh"}));
        let failure = validate(&value, ConfigKind::Project)
            .unwrap_err()
            .into_failure(
                "/r/c.json",
                Some(hint(
                    Some(Path::new("/home/u/c.json")),
                    "0123",
                    Some(Standing::Changed),
                )),
            );
        assert_eq!(failure.exit_code(), 2);
        let hint = failure.hint.unwrap();
        for needed in [
            "/home/u/c.json",
            "config trust",
            "--trust-project-config 0123",
            "not the content",
        ] {
            assert!(hint.contains(needed), "{needed}: {hint}");
        }
        assert!(!failure.message.contains("evil.sh"));
    }
}
