//! What went wrong, read from OpenCode's own channels: its `error` events, and on standard error
//! the lines of its log and what it says before it starts. Text written by a model never gets here.

use std::time::Duration;

use diffwarden_actors::model::{Failure, Reason};
use serde_json::Value;

use super::PROGRAM;
use crate::engines::shared::{Kind, Refusal, head};

/// How many bytes of the service's own words are looked at.
const BODY_LIMIT: usize = 64 << 10;

/// Returns the failure behind the `error` member of an event, with what the log said about it.
pub(super) fn of_event(error: &Value, stderr: &str) -> Failure {
    let name = error
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let data = error.get("data").unwrap_or(&Value::Null);
    let text_of = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
    let said = text_of("message");
    let kind = match name {
        "APIError" if data.get("statusCode").is_none() => {
            Kind::unreachable(&PROGRAM, "the provider's baseURL")
        }
        "APIError" => return refusal(data, said).into_failure(&PROGRAM),
        "ProviderAuthError" => Kind::auth("OpenCode is not logged in", PROGRAM.login),
        "ContextOverflowError" => Kind::too_long(),
        "MessageOutputLengthError" => Kind::cut_off(),
        "ContentFilterError" => Kind::declined(),
        _ => return of_other(said, stderr),
    };
    kind.into_failure(said)
}

/// Returns the failure behind an error whose reason only the log tells, if anything does.
fn of_other(said: &str, stderr: &str) -> Failure {
    if let Some(words) = unknown_model(stderr) {
        let hint = format!("`opencode models` lists what it has; {}", PROGRAM.login);
        let lead = "OpenCode does not have the model, or no key for its provider";
        return Kind::failed(Some(Reason::Model), lead, hint).into_failure(&words);
    }
    let words = first_words(said, stderr);
    let hint = format!("try again; run `{}` by hand to see more", PROGRAM.command);
    Kind::failed(None, "OpenCode failed", hint).into_failure(&words)
}

/// Returns the failure of an OpenCode that ended with `code` without saying why in its events.
pub(super) fn of_start(code: i32, stderr: &str) -> Failure {
    let said = plain(stderr);
    if said.starts_with("opencode run") {
        return Kind::misfit(&PROGRAM).into_failure("");
    }
    if said.contains("postinstall script was not run") {
        let hint = format!(
            "reinstall it with `{}`, with install scripts allowed",
            PROGRAM.install
        );
        return Kind::environment("the installation of OpenCode is not complete", hint)
            .into_failure(&said);
    }
    if said.starts_with("Error: You must provide a message") {
        return Kind::no_prompt(&PROGRAM).into_failure("");
    }
    PROGRAM.crashed(code, &said)
}

/// Returns the failure of a run that went on with an agent other than the generated one.
pub(super) fn of_lost_agent(stderr: &str) -> Option<Failure> {
    let said = plain(stderr);
    let line = said.lines().find(|line| {
        let words = line.strip_prefix('!').unwrap_or_default().trim_start();
        words.starts_with("agent ") && words.ends_with("Falling back to default agent")
    })?;
    let kind = Kind::environment(
        "OpenCode did not run as the agent that may only read",
        format!("update it with `{}`, and diffwarden", PROGRAM.install),
    );
    Some(kind.into_failure(line))
}

/// Returns standard error without the codes for colours.
pub(super) fn plain(stderr: &str) -> String {
    let mut plain = String::with_capacity(stderr.len());
    let mut parts = stderr.split("\u{1b}[");
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let is_code = |c: char| c.is_ascii_digit() || c == ';';
        let rest = part.trim_start_matches(is_code);
        plain.push_str(rest.strip_prefix('m').unwrap_or(rest));
    }
    plain.trim().to_owned()
}

/// Takes an answer of the model service with an error status apart.
fn refusal(data: &Value, said: &str) -> Refusal {
    let body = data.get("responseBody").and_then(Value::as_str);
    let body = body
        .and_then(|body| serde_json::from_str::<Value>(head(body, BODY_LIMIT)).ok())
        .unwrap_or_default();
    let code = ["/error/code", "/error/type", "/error/status"]
        .iter()
        .filter_map(|path| body.pointer(path)?.as_str());
    let is_any = |known: &[&str]| code.clone().any(|code| known.contains(&code));
    let status = data.get("statusCode").and_then(Value::as_i64);
    let wait = data.pointer("/responseHeaders/retry-after");
    Refusal {
        status: if is_any(&["model_not_found"]) {
            Some(404)
        } else {
            status
        },
        said: said.to_owned(),
        has_bad_key: is_any(&["invalid_api_key", "authentication_error"]),
        is_spent: is_any(&["insufficient_quota", "usage_limit_reached"]),
        wait: wait
            .and_then(Value::as_str)
            .and_then(|seconds| seconds.parse().ok())
            .map(Duration::from_secs),
    }
}

/// Returns what the log says about a model that OpenCode does not have.
fn unknown_model(stderr: &str) -> Option<String> {
    const NAME: &str = "error=\"ProviderModelNotFoundError: ";
    let line = stderr
        .lines()
        .find(|line| line.starts_with("timestamp=") && line.contains(NAME))?;
    let (_, words) = line.split_once(NAME)?;
    let (words, _) = words.split_once('"')?;
    Some(words.to_owned())
}

fn first_words(said: &str, stderr: &str) -> String {
    let log = plain(stderr);
    let first = log.lines().next().unwrap_or_default();
    format!("{said} {first}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use diffwarden_actors::model::ErrorCode;
    use proptest::prelude::*;
    use serde_json::json;

    fn api(status: i64, body: &Value) -> Failure {
        let error = json!({"name": "APIError", "data": {
            "message": "m", "statusCode": status, "responseBody": body.to_string(),
            "responseHeaders": {"retry-after": "20"}}});
        of_event(&error, "")
    }

    #[test]
    fn the_service_s_code_tells_kinds_apart() {
        let quota = api(429, &json!({"error": {"code": "insufficient_quota"}}));
        assert_eq!(quota.reason, Some(Reason::Quota));
        let rate = api(429, &json!({"error": {"type": "rate_limit"}}));
        assert_eq!(rate.reason, Some(Reason::RateLimit));
        assert_eq!(rate.retry_after, Some(Duration::from_secs(20)));
        let model = api(400, &json!({"error": {"code": "model_not_found"}}));
        assert_eq!(model.reason, Some(Reason::Model));
        let key = api(400, &json!({"error": {"code": "invalid_api_key"}}));
        assert_eq!(
            (key.code, key.reason),
            (ErrorCode::MissingAuth, Some(Reason::Auth))
        );
        let words = api(
            400,
            &json!({"error": {"message": "401 invalid_api_key quota"}}),
        );
        assert_eq!(
            (words.code, words.reason),
            (ErrorCode::ReviewerFailed, None)
        );
    }

    #[test]
    fn colours_are_taken_out() {
        assert_eq!(plain("\u{1b}[93m\u{1b}[1m! \u{1b}[0magent"), "! agent");
    }

    #[test]
    fn an_installation_without_its_script_is_named() {
        let failure = of_start(1, "opencode: postinstall script was not run");
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
    }

    proptest! {
        #[test]
        fn any_error_becomes_a_bounded_failure(
            name in "(APIError|UnknownError|.{0,9})", said in ".{0,600}", stderr in ".{0,600}",
        ) {
            let error = json!({"name": name, "data": {"message": said, "responseBody": stderr}});
            for failure in [of_event(&error, &stderr), of_start(1, &stderr)] {
                prop_assert!(failure.message.chars().count() < 700);
                prop_assert!(!failure.message.contains(char::is_control));
            }
        }
    }
}
