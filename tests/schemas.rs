//! The schemas in `docs/schemas` say what the types say, and the binary prints what they say.
//!
//! `UPDATE_SCHEMAS=1 cargo test schemas` writes them anew.

use std::fs;
use std::path::{Path, PathBuf};

use diffwarden::cli::{
    ConfigCreated, ReviewerAdded, ReviewerEdited, ReviewerList, ReviewerRemoved, SetChanged,
    ShownConfig, TrustList,
};
use diffwarden::config::config_schema;
use diffwarden::discovery::Discovery;
use diffwarden::doctor::DoctorReport;
use diffwarden::report::Report;
use diffwarden::schema::schema_of;
use diffwarden::sinks::ErrorObject;
use diffwarden_actors::model::{DegradedKind, DegradedTopic, Frame, ReviewArtifact, RunArtifact};
use jsonschema::Validator;
use serde_json::{Value, json};

use crate::support::{Run, TestEnvironment};

const ARTIFACT: &str = "review-artifact";
const RUN: &str = "run-artifact";
const REPORT: &str = "report";
const FRAME: &str = "event-frame";
const ERROR: &str = "error";
const REVIEWERS: &str = "reviewers-list";
pub(crate) const DISCOVERY: &str = "reviewers-discover";
pub(crate) const DOCTOR: &str = "doctor";
const ADDED: &str = "reviewers-add";
const EDITED: &str = "reviewers-edit";
const REMOVED: &str = "reviewers-remove";
const SET: &str = "reviewers-set";
const INIT: &str = "init";
const CONFIG: &str = "config";
const CONFIG_SHOW: &str = "config-show";
const TRUST_LIST: &str = "config-trust";

fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        (ARTIFACT, schema_of::<ReviewArtifact>()),
        (RUN, schema_of::<RunArtifact>()),
        (REPORT, schema_of::<Report<'_>>()),
        (FRAME, schema_of::<Frame>()),
        (ERROR, schema_of::<ErrorObject>()),
        (REVIEWERS, schema_of::<ReviewerList>()),
        (DISCOVERY, schema_of::<Discovery>()),
        (DOCTOR, schema_of::<DoctorReport>()),
        (ADDED, schema_of::<ReviewerAdded>()),
        (EDITED, schema_of::<ReviewerEdited>()),
        (REMOVED, schema_of::<ReviewerRemoved>()),
        (SET, schema_of::<SetChanged>()),
        (INIT, schema_of::<ConfigCreated>()),
        (CONFIG, config_schema()),
        (CONFIG_SHOW, schema_of::<ShownConfig>()),
        (TRUST_LIST, schema_of::<TrustList>()),
    ]
}

fn path_of(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/schemas");
    folder.join(format!("{name}.schema.json"))
}

#[test]
fn the_published_schemas_are_those_of_the_types() {
    let mut stale = Vec::new();
    for (name, schema) in schemas() {
        let path = path_of(name);
        let text = format!("{schema:#}\n");
        if std::env::var_os("UPDATE_SCHEMAS").is_some() {
            fs::write(&path, text).expect("a written schema");
        } else if fs::read_to_string(&path).ok() != Some(text) {
            stale.push(path);
        }
    }
    assert!(
        stale.is_empty(),
        "not what the types say; `UPDATE_SCHEMAS=1 cargo test schemas` writes them anew: {stale:?}"
    );
}

/// A published schema, ready to judge.
pub(crate) struct Published(Validator);

impl Published {
    pub(crate) fn read(name: &str) -> Self {
        let text = fs::read_to_string(path_of(name)).expect("the schema is checked in");
        let schema = serde_json::from_str(&text).expect("the schema is JSON");
        Self(jsonschema::validator_for(&schema).expect("the schema is one"))
    }

    pub(crate) fn accept(&self, value: &Value) {
        let problems: Vec<String> = self
            .0
            .iter_errors(value)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert!(problems.is_empty(), "{problems:#?}\nin {value:#}");
    }
}

/// Runs a review that prints an artifact and checks it; the stream of the same run is checked too.
fn check_review(environment: &TestEnvironment, reviewers: &[&str]) -> Value {
    let mut args = vec!["review"];
    args.extend(reviewers.iter().flat_map(|id| ["--reviewer", id]));
    let printed = environment.run(&[&args[..], &["--json"]].concat()).json();
    Published::read(ARTIFACT).accept(&printed);
    Published::read(RUN).accept(&printed);
    check_frames(&environment.run(&[&args[..], &["--ndjson"]].concat()));
    printed
}

fn check_frames(run: &Run) {
    let published = Published::read(FRAME);
    let frames = run.frames();
    assert!(!frames.is_empty(), "{}", run.stderr);
    frames.iter().for_each(|frame| published.accept(frame));
}

fn add_surprises(environment: &TestEnvironment) {
    environment.write("src/lib.rs", "pub fn one() -> u8 {\n    2 // \u{202e}\n}\n");
    environment.write(".env", "A=1\n");
}

#[test]
fn built_in_reviewers_print_what_the_schemas_say() {
    let environment = TestEnvironment::with_edit();
    add_surprises(&environment);
    check_review(&environment, &["fake"]);
    let surface = check_review(&environment, &["surface"]);
    assert!(
        surface["result"]["findings"]
            .as_array()
            .is_some_and(|it| it.len() > 1)
    );
    check_review(&environment, &["fake", "surface"]);
}

#[test]
fn answers_and_failures_of_engines_print_what_the_schemas_say() {
    let environment = TestEnvironment::with_edit();
    add_surprises(&environment);
    environment.write_config(&json!({
        "reviewers": [
            {"id": "one", "engine": "codex", "model": "model-one"},
            {"id": "two", "engine": "codex", "model": "model-two"},
            {"id": "off", "engine": "codex", "model": "model-off"},
        ],
        "reviewerSets": {"1": ["one", "two"]},
        "defaultReviewerSet": "1",
    }));
    let finding = |line: u32| {
        json!({
            "title": "[P1] Return one", "body": "The name promises 1.", "confidence_score": 0.8,
            "priority": 1, "code_location": {
                "absolute_file_path": "{REPO}/src/lib.rs", "line_range": {"start": line, "end": line}
            }
        })
    };
    let reply = |line| {
        json!({"reply": {
            "findings": [finding(line)], "overall_correctness": "patch is incorrect",
            "overall_explanation": "`one` returns 2 in src/lib.rs.", "overall_confidence_score": 0.9
        }})
    };
    environment.install_codex(&json!({"runs": [
        {"contains": "model-one", "steps": [reply(2)]},
        {"contains": "model-two", "steps": [{"text": "Looks wrong to me: src/lib.rs returns 2."}]},
        {"steps": [{"stderr": "401 Unauthorized\n"}, {"exit": 1}]}
    ]}));

    let mixed = check_review(&environment, &["one", "two", "off"]);
    let states: Vec<_> = mixed["reviewers"]
        .as_array()
        .map_or(Vec::new(), |reviewers| {
            reviewers.iter().map(|it| it["status"].clone()).collect()
        });
    assert!(
        states.contains(&json!("failed")) && states.contains(&json!("success")),
        "{mixed:#}"
    );

    let failed = ["review", "--reviewer", "off"];
    let object = environment.run(&[&failed[..], &["--json"]].concat());
    assert_eq!(object.code, 3, "{}", object.stderr);
    assert!(object.json()["integrity"].is_array(), "{}", object.stdout);
    Published::read(ERROR).accept(&object.json());
    check_frames(&environment.run(&[&failed[..], &["--ndjson"]].concat()));

    let list = environment.run(&["reviewers", "list", "--json"]);
    Published::read(REVIEWERS).accept(&list.json());
    check_config(&environment);
}

/// Checks what is said about the configuration: where it is valid, trusted and broken.
fn check_config(environment: &TestEnvironment) {
    let show = [
        "config",
        "show",
        "--json",
        "--model",
        "m",
        "--reviewer",
        "one",
    ];
    Published::read(CONFIG_SHOW).accept(&environment.run(&show).json());
    environment.write("diffwarden.config.json", "{}");
    let trust = environment.run(&["config", "trust", "--json"]).json();
    assert_eq!(trust["trusted"][0]["state"], "trusted", "{trust:#}");
    Published::read(TRUST_LIST).accept(&trust);
    let shown = environment.run(&show).json();
    assert_eq!(shown["files"][0]["trust"], "trusted", "{shown:#}");
    assert_ne!(shown["problems"], json!([]), "{shown:#}");
    Published::read(CONFIG_SHOW).accept(&shown);
}

#[test]
fn batches_and_reports_print_what_the_schemas_say() {
    let environment = TestEnvironment::with_edit();
    add_surprises(&environment);
    let folder = environment.path("history");
    let folder_text = folder.to_str().expect("a UTF-8 path");
    for (flags, mode) in [(&[][..], "full"), (&["--focus", "errors"], "metadata")] {
        let keeping = [
            "--report",
            "--report-dir",
            folder_text,
            "--report-mode",
            mode,
        ];
        let args = [&["review", "--reviewer", "surface"], flags, &keeping].concat();
        let printed = environment.run(&[&args[..], &["--json"]].concat()).json();
        Published::read(RUN).accept(&printed);
        let is_batch = !flags.is_empty();
        assert_eq!(printed["kind"] == "batch", is_batch, "{printed:#}");
        assert_eq!(Published::read(ARTIFACT).0.is_valid(&printed), !is_batch);
        check_frames(&environment.run(&[&args[..], &["--ndjson"]].concat()));
        for report in reports_in(&folder) {
            Published::read(REPORT).accept(&report);
        }
    }
    assert_eq!(reports_in(&folder).len(), 4);
}

/// Returns every report below a folder.
fn reports_in(folder: &Path) -> Vec<Value> {
    let entries = fs::read_dir(folder).expect("a folder");
    let read = |path: PathBuf| {
        if path.is_dir() {
            return reports_in(&path);
        }
        let text = fs::read_to_string(&path).expect("a report");
        vec![serde_json::from_str(&text).expect("a report is JSON")]
    };
    entries
        .flat_map(|entry| read(entry.expect("an entry").path()))
        .collect()
}

#[test]
fn what_is_wrong_before_a_run_prints_what_the_schemas_say() {
    let environment = TestEnvironment::with_edit();
    let wrong = ["review", "--reviewer", "nobody"];
    let object = environment.run(&[&wrong[..], &["--json"]].concat());
    Published::read(ERROR).accept(&object.json());
    check_frames(&environment.run(&[&wrong[..], &["--ndjson"]].concat()));
}

#[test]
fn changes_of_the_config_print_what_the_schemas_say() {
    let environment = TestEnvironment::new();
    let commands = [
        (INIT, "init --json"),
        (ADDED, "reviewers add codex --effort high --set deep --json"),
        (ADDED, "reviewers add codex --json"),
        (EDITED, "reviewers edit codex --model m --disabled --json"),
        (SET, "reviewers set add 1 codex --json"),
        (SET, "reviewers set remove 1 pi-default --json"),
        (REMOVED, "reviewers remove codex --force --json"),
    ];
    for (name, command) in commands {
        let words: Vec<&str> = command.split(' ').collect();
        let run = environment.run(&words);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{command}");
        Published::read(name).accept(&run.json());
    }
    let refused = environment.run(&["reviewers", "remove", "codex", "--json"]);
    assert_eq!(refused.code, 2);
    Published::read(ERROR).accept(&refused.json());
}

#[test]
fn the_schemas_refuse_what_is_something_else() {
    let artifact = check_review(&TestEnvironment::with_edit(), &["fake"]);
    for (name, value) in [
        (ARTIFACT, json!({"schema_version": 2})),
        (RUN, json!({"schema_version": 2, "kind": "batch"})),
        (REPORT, artifact.clone()),
        (FRAME, artifact.clone()),
        (ERROR, artifact.clone()),
        (DISCOVERY, artifact.clone()),
        (
            DOCTOR,
            json!({"schema_version": 2, "cwd": "/", "timing_ms": 0}),
        ),
        (REVIEWERS, artifact.clone()),
        (ADDED, artifact.clone()),
        (EDITED, artifact.clone()),
        (REMOVED, artifact.clone()),
        (SET, artifact.clone()),
        (INIT, artifact.clone()),
        (CONFIG, artifact.clone()),
        (CONFIG_SHOW, artifact.clone()),
        (TRUST_LIST, artifact),
    ] {
        assert!(!Published::read(name).0.is_valid(&value), "{name}");
    }
}

#[test]
fn the_documentation_names_every_topic_and_kind_of_a_shortfall() {
    let text = fs::read_to_string("docs/contract.md").expect("the documentation");
    let mut count = 0;
    for schema in [schema_of::<DegradedTopic>(), schema_of::<DegradedKind>()] {
        for word in schema["oneOf"].as_array().expect("the closed list") {
            let word = word["const"].as_str().expect("a word");
            assert!(text.contains(&format!("`{word}`")), "{word}");
            count += 1;
        }
    }
    assert_eq!(count, 18);
}
