//! Whole reviews: what comes back, in which form, and with which exit code.

mod failures;
mod merging;
mod outputs;
mod success;
mod surface;
mod trust;

use serde_json::Value;

/// Returns the reasons why a review is not a full one.
fn trust_reasons(artifact: &Value) -> Vec<&str> {
    let reasons = artifact["trust"]["reasons"].as_array().expect("reasons");
    assert_eq!(artifact["trust"]["clean"], reasons.is_empty());
    reasons.iter().filter_map(Value::as_str).collect()
}
