//! Several reviewers, one result.

use serde_json::json;

use super::trust_reasons;
use crate::support::{TestEnvironment, edit_finding, finding, reply};

#[test]
fn the_same_finding_of_two_reviewers_is_one() {
    let environment = TestEnvironment::with_edit();
    environment.codex_reviewers(&[
        (
            "alpha",
            json!([{"sleep_ms": 150}, reply(&[edit_finding("[P1] Two is not one")])]),
        ),
        (
            "beta",
            json!([reply(&[edit_finding("[P1]  TWO is not one")])]),
        ),
    ]);
    let run = environment.review(&["--json"]);
    let artifact = run.json();
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let findings = artifact["result"]["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 1, "{findings:?}");
    // In the order asked for, not in the order of completion.
    assert_eq!(findings[0]["title"], "[P1] Two is not one");
    assert_eq!(findings[0]["reviewer_ids"], json!(["alpha", "beta"]));
    assert_eq!(artifact["reviewers"][0]["id"], "alpha");
    assert_eq!(artifact["reviewers"][0]["model"], "model-alpha");
    assert_eq!(artifact.get("engine"), None);
    assert_eq!(trust_reasons(&artifact), [] as [&str; 0]);
    assert_eq!(artifact["result"]["overall_confidence_score"], 0.75);
}

#[test]
fn different_findings_about_one_place_stay_and_are_linked() {
    let environment = TestEnvironment::with_edit();
    let far = finding("[P3] Third", 3, "src/lib.rs", (2, 2));
    environment.codex_reviewers(&[
        ("alpha", json!([reply(&[edit_finding("[P1] First"), far])])),
        (
            "beta",
            json!([reply(&[finding("[P2] Second", 2, "src/lib.rs", (2, 3))])]),
        ),
    ]);
    let artifact = environment.review(&["--json"]).json();
    let findings = artifact["result"]["findings"].as_array().expect("findings");
    assert_eq!(findings.len(), 3);
    let ids: Vec<_> = findings.iter().map(|it| it["id"].clone()).collect();
    assert!(
        ids[0] != ids[1] && ids[1] != ids[2] && ids[0] != ids[2],
        "{ids:?}"
    );
    let clusters = artifact["clusters"].as_array().expect("clusters");
    assert_eq!(clusters.len(), 1, "{clusters:?}");
    assert_eq!(clusters[0]["path"], "src/lib.rs");
    assert_eq!(clusters[0]["line_range"], json!({"start": 2, "end": 3}));
    assert_eq!(clusters[0]["reported_by"], json!(["alpha", "beta"]));
    let members = clusters[0]["members"].as_array().expect("members");
    assert!(
        ids.iter().all(|id| members.contains(id)),
        "{members:?} {ids:?}"
    );
}

#[test]
fn the_same_reviewer_twice_runs_twice() {
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[edit_finding("[P1] Two is not one")]);
    let artifact = environment
        .review(&["--reviewer", "codex", "--reviewer", "codex", "--json"])
        .json();
    assert_eq!(environment.recorded("argv").len(), 2);
    let reviewers = artifact["reviewers"].as_array().expect("reviewers");
    assert_eq!(reviewers.len(), 2);
    assert!(reviewers.iter().all(|entry| entry["id"] == "codex"));
    assert_eq!(
        artifact["result"]["findings"].as_array().map(Vec::len),
        Some(1)
    );
    assert_eq!(
        artifact["result"]["findings"][0]["reviewer_ids"],
        json!(["codex"])
    );
}

#[test]
fn ids_of_findings_do_not_depend_on_lines() {
    let environment = TestEnvironment::with_edit();
    environment.codex_finds(&[edit_finding("[P1] Two is not one")]);
    let before = environment
        .review(&["--reviewer", "codex", "--json"])
        .json();
    environment.write("src/lib.rs", "\n\npub fn one() -> u8 {\n    2\n}\n");
    environment.codex_finds(&[finding("[P1] Two is not one", 1, "src/lib.rs", (4, 4))]);
    let after = environment
        .review(&["--reviewer", "codex", "--json"])
        .json();
    let id = |artifact: &serde_json::Value| artifact["result"]["findings"][0]["id"].clone();
    assert!(id(&before).is_string());
    assert_eq!(id(&before), id(&after));
}

#[test]
fn what_the_scans_find_is_reported_beside_what_a_reviewer_says() {
    let environment = TestEnvironment::with_edit();
    environment.write(
        "src/lib.rs",
        "pub fn one() -> u8 {\n    2 // \u{202e}1\n}\n",
    );
    environment.codex_does(&json!([reply(&[])]));
    let run = environment.review(&["--reviewer", "codex", "--json", "--fail-on-findings", "P1"]);
    let artifact = run.json();
    let reviewers = artifact["reviewers"].as_array().expect("reviewers");
    let ids: Vec<_> = reviewers.iter().map(|entry| &entry["id"]).collect();
    assert_eq!(ids, ["codex", "integrity"]);
    assert_eq!(artifact["engine"], "codex");
    assert_eq!(
        reviewers[0]["result"]["overall_correctness"],
        "patch is correct"
    );
    assert_eq!(
        artifact["result"]["overall_correctness"],
        "patch is incorrect"
    );
    let findings = artifact["result"]["findings"].as_array().expect("findings");
    assert!(!findings.is_empty());
    for found in findings {
        assert_eq!(found["reviewer_ids"], json!(["integrity"]));
        assert!(found["id"].is_string());
        assert_eq!(found["code_location"]["line_range"]["start"], 2);
    }
    assert_eq!(run.code, 1, "the gate counts them: {findings:?}");

    // They cannot stand in for a review.
    environment.codex_does(&json!([{"exit": 1}]));
    let run = environment.review(&["--reviewer", "codex", "--json"]);
    let failed = run.json();
    assert_eq!(run.code, 3);
    assert_eq!(
        failed["integrity"].as_array().map(Vec::len),
        Some(findings.len()),
        "{failed}"
    );
}
