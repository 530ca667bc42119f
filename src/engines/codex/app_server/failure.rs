//! What went wrong, read from the server's own channel: the kind (`codexErrorInfo`) that comes with
//! every failed turn, and the error object of a refused request.
//!
//! A kind of its own is taken at its word. Where it says no more than that something failed, the
//! rules for messages of `codex exec` decide, because both print the same sentences.

use diffwarden_actors::model::{ErrorCode, Failure, Reason};
use serde_json::Value;

use crate::engines::codex::{PROGRAM, failure as messages};
use crate::engines::shared::{self, Kind};

/// The server takes no key from the environment.
const LOGIN: &str = "run `codex login`; the app server does not read CODEX_API_KEY";

/// Returns the failure behind the error object of a turn.
pub(super) fn of_turn(error: &Value) -> Failure {
    let text_of = |key: &str| error.get(key).and_then(Value::as_str);
    let message = text_of("message").unwrap_or("no reason was given");
    // A retry notice keeps the service's sentence apart from its own count.
    let details = text_of("additionalDetails").filter(|details| !details.is_empty());
    let said = match details {
        Some(details) if message.starts_with("Reconnecting") => details.to_owned(),
        Some(details) if !message.contains(details) => format!("{message} ({details})"),
        _ => message.to_owned(),
    };
    let info = error.get("codexErrorInfo").unwrap_or(&Value::Null);
    let failure = match kind_of(info) {
        Some(kind) => kind.into_failure(&messages::unpacked(&said).0),
        None => messages::of_turn(&said),
    };
    let failure = match messages::retry_after(&said) {
        Some(wait) if failure.reason == Some(Reason::RateLimit) => failure.retry_after(wait),
        _ => failure,
    };
    with_login(failure)
}

/// Returns the failure behind a retry notice that no retry can cure: refused credentials.
///
/// A refusal of the WebSocket transport alone is none, because Codex goes on over HTTPS.
pub(super) fn of_hopeless_retry(error: &Value) -> Option<Failure> {
    let status = status_of(error.get("codexErrorInfo")?)?;
    let details = error.get("additionalDetails").and_then(Value::as_str);
    let is_websocket = details.is_some_and(|details| details.contains("url: ws"));
    (matches!(status, 401 | 403) && !is_websocket).then(|| of_turn(error))
}

/// Returns the failure of a request that the server refused.
pub(super) fn of_request(method: &str, error: &Value) -> Failure {
    let said = error.get("message").and_then(Value::as_str);
    let said = said.unwrap_or("no reason was given");
    let code = error.pointer("/data/input_error_code");
    if code.and_then(Value::as_str) == Some("input_too_large") {
        return Kind::too_long().into_failure(said);
    }
    if said.contains("unknown variant") {
        return Kind::environment(
            "this Codex does not know what a review asks of its app server",
            "update Codex and diffwarden",
        )
        .into_failure(said);
    }
    let said = shared::one_line(said);
    Failure::new(
        ErrorCode::ReviewerFailed,
        format!("Codex's app server refused `{method}`: {said}"),
    )
    .reason(Reason::Protocol)
    .hint("update Codex and diffwarden, or use the `cli` transport")
}

/// Returns the failure of a server that ended with `code` before it said anything.
///
/// The server names the place of a fault in its configuration without the sentence that `codex
/// exec` has before it, and adds a backtrace.
pub(super) fn of_start(code: i32, stderr: &str) -> Failure {
    let said = messages::without_noise(stderr);
    let said = said.split("\nStack backtrace:").next().unwrap_or_default();
    let is_config = said
        .lines()
        .any(|line| line.starts_with("Error: ") && line.contains("/config.toml:"));
    if is_config && let Some((_, problem)) = said.split_once("Error: ") {
        return messages::of_start(code, &format!("Error loading config.toml:\n{problem}"));
    }
    messages::of_start(code, said)
}

/// Returns the failure of a server that broke its own protocol.
pub(super) fn of_protocol(message: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::ReviewerFailed, message)
        .reason(Reason::Protocol)
        .hint("try again; update Codex and diffwarden, or use the `cli` transport")
}

/// Replaces the advice for refused credentials by one that holds for the server.
pub(super) fn with_login(failure: Failure) -> Failure {
    if failure.hint.as_deref() == Some(PROGRAM.login) {
        return failure.hint(LOGIN);
    }
    failure
}

fn kind_of(info: &Value) -> Option<Kind> {
    match info {
        Value::String(name) => kind_of_name(name),
        Value::Object(_) => kind_of_status(info),
        _ => None,
    }
}

fn kind_of_name(name: &str) -> Option<Kind> {
    Some(match name {
        "modelNotFound" => Kind::model(),
        "unauthorized" => Kind::refused(&PROGRAM),
        "usageLimitExceeded" | "sessionBudgetExceeded" => Kind::quota(&PROGRAM),
        "rateLimitExceeded" => Kind::rate_limit(),
        "contextWindowExceeded" => Kind::too_long(),
        "serverOverloaded"
        | "flexUnavailable"
        | "policyCapacityUnavailable"
        | "internalServerError" => Kind::fault(),
        "cyberPolicy" | "bioPolicy" | "misalignmentPolicyViolation" => Kind::declined(),
        "sandboxError" => Kind::environment(
            "Codex's sandbox does not work",
            "check that user namespaces are allowed, or run `codex sandbox -- true` to see more",
        ),
        // `badRequest`, `other` and what is not known yet: the message says more.
        _ => return None,
    })
}

fn kind_of_status(info: &Value) -> Option<Kind> {
    Some(match status_of(info)? {
        401 | 403 => Kind::refused(&PROGRAM),
        429 => Kind::rate_limit(),
        413 => Kind::too_long(),
        500..=599 => Kind::fault(),
        _ => return None,
    })
}

/// Returns the HTTP status in kinds such as `{"httpConnectionFailed": {"httpStatusCode": 401}}`.
fn status_of(info: &Value) -> Option<u64> {
    let details = info.as_object()?.values().next()?;
    details.get("httpStatusCode")?.as_u64()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use std::time::Duration;

    use ErrorCode::{MissingAuth, ReviewerEnvironmentFailed, ReviewerFailed};

    #[test]
    fn kinds_are_taken_at_their_word() {
        let status = |name: &str, status: u64| json!({name: {"httpStatusCode": status}});
        for (info, code, reason) in [
            (json!("modelNotFound"), ReviewerFailed, Some(Reason::Model)),
            (
                json!("usageLimitExceeded"),
                ReviewerFailed,
                Some(Reason::Quota),
            ),
            (
                json!("rateLimitExceeded"),
                ReviewerFailed,
                Some(Reason::RateLimit),
            ),
            (json!("unauthorized"), MissingAuth, Some(Reason::Auth)),
            (json!("cyberPolicy"), ReviewerFailed, Some(Reason::Refused)),
            (json!("contextWindowExceeded"), ReviewerFailed, None),
            (json!("serverOverloaded"), ReviewerFailed, None),
            (
                json!("sandboxError"),
                ReviewerEnvironmentFailed,
                Some(Reason::Environment),
            ),
            (
                status("httpConnectionFailed", 401),
                MissingAuth,
                Some(Reason::Auth),
            ),
            (
                status("responseTooManyFailedAttempts", 429),
                ReviewerFailed,
                Some(Reason::RateLimit),
            ),
            (
                status("responseStreamConnectionFailed", 503),
                ReviewerFailed,
                None,
            ),
            // Not from words in a message: this one only quotes them.
            (json!("other"), ReviewerFailed, None),
            (json!("notKnownYet"), ReviewerFailed, None),
            (Value::Null, ReviewerFailed, None),
        ] {
            let error = json!({"message": "login 401 quota", "codexErrorInfo": info});
            let failure = of_turn(&error);
            assert_eq!((failure.code, failure.reason), (code, reason), "{info}");
            assert!(failure.message.contains("login 401 quota"), "{failure}");
            assert!(failure.hint.is_some());
            assert_ne!(failure.hint.as_deref(), Some(PROGRAM.login));
        }
    }

    #[test]
    fn a_kind_that_says_nothing_leaves_it_to_the_message() {
        let turn = |message: &str| of_turn(&json!({"message": message, "codexErrorInfo": "other"}));
        let missing = turn("Missing environment variable: `MOCK_KEY`.");
        assert_eq!(missing.code, MissingAuth);
        assert!(missing.hint.unwrap().contains("env_key"));
        let schema = json!({"error": {"message": "Invalid schema", "code": "invalid_json_schema"}});
        assert_eq!(turn(&schema.to_string()).reason, Some(Reason::Protocol));
    }

    #[test]
    fn a_rate_limit_tells_how_long_to_wait() {
        let failure = of_turn(&json!({
            "message": "Rate limit reached. Please try again in 2s.",
            "codexErrorInfo": "rateLimitExceeded",
        }));
        assert_eq!(failure.retry_after, Some(Duration::from_secs(2)));
    }

    #[test]
    fn only_refused_credentials_make_a_retry_hopeless() {
        let notice = |status: Value, url: &str| {
            of_hopeless_retry(&json!({
                "message": "Reconnecting... 1/5",
                "codexErrorInfo": {"responseStreamDisconnected": {"httpStatusCode": status}},
                "additionalDetails": format!("unexpected status {status}: no sk-abc, url: {url}"),
            }))
        };
        let failure = notice(json!(401), "https://x").unwrap();
        assert_eq!(failure.code, MissingAuth);
        assert!(failure.message.contains("no [redacted]"), "{failure}");
        assert_eq!(failure.hint.as_deref(), Some(LOGIN));
        assert!(notice(json!(401), "wss://x").is_none());
        assert!(notice(json!(503), "https://x").is_none());
        assert!(notice(Value::Null, "https://x").is_none());
        assert!(of_hopeless_retry(&json!({"codexErrorInfo": "other"})).is_none());
    }

    #[test]
    fn a_server_that_does_not_start_says_why() {
        let trace = "\n\nStack backtrace:\n   0: <unknown>\n";
        for (said, code, part) in [
            (
                "Error: /run/x/codex-home/config.toml:8:12: `wire_api = \"chat\"` is no longer \
                 supported.",
                ReviewerEnvironmentFailed,
                "configuration: `wire_api",
            ),
            (
                "Error: Model provider `nope` not found",
                ReviewerEnvironmentFailed,
                "`nope` not found",
            ),
            (
                "thread panicked",
                ReviewerFailed,
                "exit code 1: thread panicked",
            ),
        ] {
            let failure = of_start(1, &format!("{said}{trace}"));
            assert_eq!(failure.code, code, "{failure}");
            assert!(failure.message.contains(part), "{failure}");
            assert!(!failure.message.contains("backtrace"), "{failure}");
            assert!(!failure.message.contains("/run/x"), "{failure}");
        }
    }

    #[test]
    fn refused_requests_name_the_method() {
        let failure = of_request(
            "thread/start",
            &json!({"code": -32600, "message": "no sk-abc"}),
        );
        assert_eq!(failure.reason, Some(Reason::Protocol));
        assert_eq!(
            failure.message,
            "Codex's app server refused `thread/start`: no [redacted]"
        );
        let unknown = json!({"message": "Invalid request: unknown variant `review/start`"});
        assert_eq!(
            of_request("review/start", &unknown).code,
            ReviewerEnvironmentFailed
        );
        let large = json!({"message": "m", "data": {"input_error_code": "input_too_large"}});
        let failure = of_request("turn/start", &large);
        assert!(failure.message.contains("too long"), "{failure}");
    }

    proptest! {
        #[test]
        fn any_error_is_a_failure(
            message in ".{0,60}", name in "[a-zA-Z]{0,20}", status in any::<Option<u64>>(),
        ) {
            for info in [json!(name), json!({name.as_str(): {"httpStatusCode": status}}), json!(status)] {
                let error = json!({"message": message, "codexErrorInfo": info});
                prop_assert!(of_turn(&error).message.chars().count() < 700);
                of_hopeless_retry(&error);
                of_request("x", &error);
            }
        }
    }
}
