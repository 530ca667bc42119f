//! What went wrong, read from Gemini's own channels.
//!
//! A request that the model service refused ends in a `result` record with the service's words and
//! with the HTTP status, less 256, as exit code. A failed start has an exit code of Gemini's own
//! and says why on standard error. Text written by a model never gets here.

use std::time::Duration;

use diffwarden_actors::model::Failure;
use serde_json::Value;

use super::PROGRAM;
use crate::engines::shared::{Kind, Refusal};

/// Exit codes of Gemini's own.
mod exit {
    pub(super) const AUTH: i32 = 41;
    pub(super) const NO_INPUT: i32 = 42;
    pub(super) const CONFIG: i32 = 52;
    pub(super) const TURN_LIMIT: i32 = 53;
    pub(super) const UNTRUSTED: i32 = 55;
}

/// Returns the failure behind the message of a `result` record, with the exit code that followed.
pub(super) fn of_result(message: &str, code: Option<i32>) -> Failure {
    read(message, code).into_failure(&PROGRAM)
}

/// Returns the failure of a Gemini that ended with `code` and without a final record.
pub(super) fn of_start(code: i32, stderr: &str) -> Failure {
    let said = without_noise(stderr);
    let update = || format!("update it with `{}`, and diffwarden", PROGRAM.install);
    let kind = match code {
        exit::AUTH => Kind::auth("Gemini is not logged in", PROGRAM.login),
        exit::NO_INPUT => Kind::no_prompt(&PROGRAM),
        exit::CONFIG => Kind::environment("Gemini does not take its configuration", update()),
        exit::TURN_LIMIT => Kind::failed(
            None,
            "Gemini reached its limit of turns",
            "review a smaller change",
        ),
        exit::UNTRUSTED => {
            Kind::environment("Gemini does not trust its private working folder", update())
        }
        1 if is_usage_error(&said) => {
            let first = said.lines().next().unwrap_or_default();
            return Kind::misfit(&PROGRAM).into_failure(first);
        }
        _ => return PROGRAM.crashed(code, &said),
    };
    kind.into_failure(&said)
}

/// Returns the failure of a run whose policy was not read, which Gemini only mentions.
pub(super) fn of_lost_policy(stderr: &str) -> Option<Failure> {
    let line = stderr
        .lines()
        .find(|line| line.starts_with('[') && line.contains("] Policy file error in "))?;
    let kind = Kind::environment(
        "Gemini did not read the policy of the review",
        format!("update it with `{}`, and diffwarden", PROGRAM.install),
    );
    Some(kind.into_failure(line))
}

/// Returns standard error without what Gemini says in every run.
pub(super) fn without_noise(stderr: &str) -> String {
    let kept: Vec<_> = stderr.lines().filter(|line| !is_noise(line)).collect();
    kept.join("\n").trim().to_owned()
}

fn is_noise(line: &str) -> bool {
    [
        "Warning: 256-color support not detected",
        "Ripgrep is not available",
        "[STARTUP] ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
}

fn is_usage_error(said: &str) -> bool {
    [
        "Unknown argument",
        "Invalid values:",
        "Not enough arguments",
    ]
    .iter()
    .any(|start| said.starts_with(start))
}

/// Takes the message of a refusal apart.
fn read(message: &str, code: Option<i32>) -> Refusal {
    let inner = message.strip_prefix("[API Error: ").unwrap_or(message);
    let mut refusal = Refusal {
        // Statuses of errors begin at 400, so their last byte at 144.
        status: code
            .filter(|code| (144..=255).contains(code))
            .map(|code| i64::from(code) + 256),
        ..Refusal::default()
    };
    let mut values = serde_json::Deserializer::from_str(inner).into_iter::<Value>();
    match values.next() {
        Some(Ok(body)) if body.is_object() => {
            take(&mut refusal, body.get("error").unwrap_or(&body));
        }
        _ => {
            let first = inner.lines().next().unwrap_or_default();
            first.trim_end_matches(']').clone_into(&mut refusal.said);
        }
    }
    refusal.is_spent |= refusal.said.starts_with("You have exhausted your");
    // Of a model that the service lacks Gemini passes on the sentence alone, and ends with 1.
    if refusal.status.is_none() && refusal.said.contains(" is not found for API version ") {
        refusal.status = Some(404);
    }
    refusal
}

fn take(refusal: &mut Refusal, error: &Value) {
    let text_of = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
    text_of("message").clone_into(&mut refusal.said);
    refusal.status = refusal.status.or_else(|| error.get("code")?.as_i64());
    let details = error.get("details").and_then(Value::as_array);
    for detail in details.into_iter().flatten() {
        let reason = detail.get("reason").and_then(Value::as_str);
        refusal.has_bad_key |= reason == Some("API_KEY_INVALID");
        if let Some(delay) = detail.get("retryDelay").and_then(Value::as_str) {
            refusal.wait = seconds(delay);
        }
        let violations = detail.get("violations").and_then(Value::as_array);
        refusal.is_spent |= violations.into_iter().flatten().any(|violation| {
            let id = violation.get("quotaId").and_then(Value::as_str);
            id.is_some_and(|id| id.contains("PerDay"))
        });
    }
}

/// Reads a duration as the service writes it: seconds with an `s`.
fn seconds(text: &str) -> Option<Duration> {
    let number = text.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use diffwarden_actors::model::{ErrorCode, Reason};
    use proptest::prelude::*;
    use serde_json::json;

    fn api(error: &Value) -> String {
        format!("[API Error: {}]", json!({"error": error}))
    }

    #[test]
    fn a_bad_key_is_a_missing_login_although_the_status_is_400() {
        let message = api(&json!({"code": 400, "message": "API key not valid.",
            "status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}));
        let failure = of_result(&message, Some(144));
        assert_eq!(failure.code, ErrorCode::MissingAuth);
        assert_eq!(failure.reason, Some(Reason::Auth));
        let other = of_result(
            &api(&json!({"code": 400, "message": "Too long."})),
            Some(144),
        );
        assert_eq!(
            (other.code, other.reason),
            (ErrorCode::ReviewerFailed, None)
        );
    }

    #[test]
    fn a_daily_limit_is_a_spent_quota_and_others_are_a_rate() {
        let of = |id: &str| {
            let message = api(
                &json!({"code": 429, "message": "Quota exceeded.", "details": [
                {"violations": [{"quotaId": id}]}, {"retryDelay": "34.5s"}]}),
            );
            of_result(&message, Some(173))
        };
        assert_eq!(of("RequestsPerDayPerProject").reason, Some(Reason::Quota));
        let rate = of("RequestsPerMinutePerProject");
        assert_eq!(rate.reason, Some(Reason::RateLimit));
        assert_eq!(rate.retry_after, Some(Duration::from_millis(34_500)));
        let spent = "[API Error: You have exhausted your daily quota on this model.]\nWait.";
        assert_eq!(of_result(spent, Some(173)).reason, Some(Reason::Quota));
    }

    #[test]
    fn an_unknown_model_is_known_by_the_service_s_sentence() {
        let said = "[API Error: models/x is not found for API version v1beta, or is not \
                    supported for generateContent.]";
        assert_eq!(of_result(said, Some(1)).reason, Some(Reason::Model));
    }

    #[test]
    fn words_in_a_message_do_not_make_a_kind() {
        let message = api(&json!({"message": "401 quota API_KEY_INVALID model not found"}));
        let failure = of_result(&message, Some(1));
        assert_eq!(
            (failure.code, failure.reason),
            (ErrorCode::ReviewerFailed, None)
        );
    }

    #[test]
    fn a_policy_that_was_not_read_is_seen() {
        let line = "x\n[ADMIN] Policy file error in p.toml:\n";
        assert!(of_lost_policy(line).is_some());
        assert!(of_lost_policy("Error executing tool: Policy file error in x").is_none());
    }

    proptest! {
        #[test]
        fn any_message_becomes_a_bounded_failure(
            text in "(\\[API Error: )?[{\\[\"a:0-9]{0,40}.{0,80}", code in 0..260, has_code: bool,
        ) {
            let code = has_code.then_some(code);
            for failure in [of_result(&text, code), of_start(code.unwrap_or(1), &text)] {
                prop_assert!(failure.message.chars().count() < 700);
                prop_assert!(!failure.message.contains(char::is_control));
            }
        }
    }
}
