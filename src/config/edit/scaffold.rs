//! New configs.

use diffwarden_actors::model::EngineName;
use serde_json::{Value, json};

use super::Document;
use super::draft::ReviewerDraft;

/// The set that a new config runs by default.
const SET: &str = "1";

/// Returns a config with these reviewers, all of them in its default set.
pub fn scaffold(reviewers: &[ReviewerDraft]) -> Document {
    let ids: Vec<&str> = reviewers.iter().map(|draft| draft.id.as_str()).collect();
    let entries: Vec<Value> = reviewers
        .iter()
        .map(|draft| Value::Object(draft.to_entry()))
        .collect();
    let pairs = [
        ("defaultReviewerSet", json!(SET)),
        ("reviewerSets", json!({ SET: ids })),
        ("reviewers", json!(entries)),
        ("readonly", json!(true)),
    ];
    pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

/// Returns the config to start from where nothing is known about the machine: Pi, because it
/// supports the most providers (SPEC 15).
pub fn starter() -> Document {
    scaffold(&[ReviewerDraft {
        id: "pi-default".to_owned(),
        ..ReviewerDraft::new(EngineName::Pi)
    }])
}
