//! What went wrong, read from Codex's own channel.
//!
//! Codex names the reason of a failed turn in its `turn.failed` event and that of a failed start on
//! standard error. The rules below match how those messages begin (or, where the model service
//! wrote them, fixed parts of its sentences). Text written by a model never gets here.

use std::time::Duration;

use diffwarden_actors::model::{Failure, Reason};
use serde_json::Value;

use super::PROGRAM;
use crate::engines::shared::Kind;

/// Returns the failure behind the message of a `turn.failed` event.
pub(super) fn of_turn(message: &str) -> Failure {
    let (said, code) = unpacked(message);
    let kind = code
        .as_deref()
        .and_then(kind_of_code)
        .or_else(|| kind_of_turn(&said))
        .unwrap_or(Kind::failed(
            None,
            "Codex failed",
            "try again; run `codex exec` by hand to see more",
        ));
    let failure = kind.into_failure(&said);
    match retry_after(&said) {
        Some(wait) if failure.reason == Some(Reason::RateLimit) => failure.retry_after(wait),
        _ => failure,
    }
}

/// Returns how long the model service asks to wait. Its sentence is `Please try again in 11.054s.`,
/// with `ms`, `s` or `seconds`, or with minutes before the seconds (`1m30s`).
pub(super) fn retry_after(said: &str) -> Option<Duration> {
    let (_, rest) = said.split_once("try again in ")?;
    let rest = rest.trim_start();
    let (number, rest) = leading_number(rest)?;
    let unit = rest.trim_start();
    let word: String = unit.chars().take_while(char::is_ascii_alphabetic).collect();
    let seconds = match word.as_str() {
        "ms" | "milliseconds" => number / 1000.0,
        "s" | "second" | "seconds" => number,
        "m" | "minute" | "minutes" => {
            let after = unit[word.len()..].trim_start();
            let more = leading_number(after).filter(|(_, rest)| rest.starts_with('s'));
            number * 60.0 + more.map_or(0.0, |(seconds, _)| seconds)
        }
        _ => return None,
    };
    Duration::try_from_secs_f64(seconds).ok()
}

fn leading_number(text: &str) -> Option<(f64, &str)> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let number = text[..end].parse().ok()?;
    Some((number, &text[end..]))
}

/// Returns the failure behind a retry notice that no retry can cure: refused credentials.
///
/// A refusal of the WebSocket transport alone is none, because Codex goes on over HTTPS.
pub(super) fn of_hopeless_retry(message: &str) -> Option<Failure> {
    let (_, cause) = message.strip_prefix("Reconnecting... ")?.split_once(" (")?;
    let is_refusal = is_refused(cause) && !cause.contains("url: ws");
    is_refusal.then(|| of_turn(cause.strip_suffix(')').unwrap_or(cause)))
}

/// Returns the failure of a Codex that ended with `code` without saying why in its events.
pub(super) fn of_start(code: i32, stderr: &str) -> Failure {
    let said = without_noise(stderr);
    if code == 2 && said.starts_with("error: ") && said.contains("--help") {
        return Kind::misfit(&PROGRAM).into_failure(said.lines().next().unwrap_or_default());
    }
    if let Some(problem) = config_problem(&said) {
        return Kind::environment(
            "Codex does not take its configuration",
            "correct Codex's config.toml, or update Codex and diffwarden",
        )
        .into_failure(&problem);
    }
    if let Some(kind) = kind_of_start(&said) {
        return kind.into_failure(&said);
    }
    PROGRAM.crashed(code, &said)
}

/// Returns standard error without what Codex says because of where its private home lies.
pub(super) fn without_noise(stderr: &str) -> String {
    let lines = stderr.lines();
    let kept: Vec<_> = lines.filter(|line| !is_noise(line)).collect();
    kept.join("\n").trim().to_owned()
}

fn is_noise(line: &str) -> bool {
    line.starts_with("WARNING: proceeding, even though we could not create PATH aliases")
}

/// Takes a message that is the service's error body apart: its sentence and its code.
pub(super) fn unpacked(message: &str) -> (String, Option<String>) {
    let body = message.trim_start();
    let value = body
        .starts_with('{')
        .then(|| serde_json::from_str::<Value>(body).ok())
        .flatten();
    let Some(value) = value else {
        return (message.to_owned(), None);
    };
    let error = value.get("error").unwrap_or(&value);
    let text_of = |key: &str| error.get(key).and_then(Value::as_str).map(str::to_owned);
    let said = text_of("message").or_else(|| text_of("detail"));
    let code = text_of("code").or_else(|| text_of("type"));
    (said.unwrap_or_else(|| message.to_owned()), code)
}

pub(super) fn kind_of_code(code: &str) -> Option<Kind> {
    Some(match code {
        "model_not_found" => Kind::model(),
        "invalid_api_key" => Kind::refused(&PROGRAM),
        "insufficient_quota" => Kind::quota(&PROGRAM),
        "rate_limit_exceeded" => Kind::rate_limit(),
        "context_length_exceeded" => Kind::too_long(),
        "invalid_json_schema" => Kind::failed(
            Some(Reason::Protocol),
            "the model service does not take the schema of a review",
            "choose a model or a provider that supports structured output",
        ),
        _ => return None,
    })
}

fn kind_of_turn(said: &str) -> Option<Kind> {
    let begins = |starts: &[&str]| starts.iter().any(|start| said.starts_with(start));
    Some(if is_refused(said) {
        Kind::refused(&PROGRAM)
    } else if begins(&["Missing environment variable"]) {
        Kind::auth(
            "the key of Codex's model provider is missing",
            "set the variable that the provider's env_key names",
        )
    } else if begins(&[
        "You’ve hit your usage limit",
        "You've hit your usage limit",
        "Quota exceeded",
        "You're out of credits",
    ]) {
        Kind::quota(&PROGRAM)
    } else if begins(&[
        "exceeded retry limit, last status: 429",
        "unexpected status 429",
        "stream disconnected before completion: Rate limit reached for ",
    ]) {
        Kind::rate_limit()
    } else if begins(&["The model "]) && said.contains("does not exist or you do not have access")
        || said.contains("model is not supported when using Codex with")
    {
        Kind::model()
    } else if begins(&["Connection failed"]) {
        Kind::unreachable(&PROGRAM, "the provider's base_url")
    } else if begins(&["stream disconnected before completion"]) {
        Kind::failed(None, "the model service broke off its answer", "try again")
    } else if begins(&[
        "We’re currently experiencing high demand",
        "unexpected status 5",
    ]) {
        Kind::fault()
    } else if begins(&[
        "Incomplete response returned, reason: content_filter",
        "cyber policy",
    ]) {
        Kind::declined()
    } else if begins(&["Incomplete response returned"]) {
        Kind::cut_off()
    } else if begins(&["Codex ran out of room"]) || said.starts_with("unexpected status 413") {
        Kind::too_long()
    } else if begins(&["unexpected status 404"]) {
        Kind::failed(
            Some(Reason::Environment),
            "Codex's model provider has no such address",
            "check the provider's base_url",
        )
    } else if begins(&["internal error"]) {
        Kind::failed(Some(Reason::Crash), "Codex failed", "try again")
    } else {
        return None;
    })
}

/// Returns what Codex has against its configuration. Left out are the place, which lies in the
/// private copy, and the quoted line, which may hold a key.
fn config_problem(said: &str) -> Option<String> {
    let (_, report) = said.split_once("Error loading config.toml:")?;
    let mut lines = report.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty())?;
    let in_file = first
        .split_once("config.toml:")
        .and_then(|(_, place)| place.split_once(": "));
    Some(in_file.map_or(first, |(_, problem)| problem).to_owned())
}

fn kind_of_start(said: &str) -> Option<Kind> {
    let holds = |part: &str| said.lines().any(|line| line.starts_with(part));
    Some(if holds("Not inside a trusted directory") {
        Kind::environment("Codex found no git repository", "review inside a work tree")
    } else if holds("Error: Model provider `") {
        Kind::environment(
            "Codex's configuration names an unknown model provider",
            "correct model_provider in Codex's config.toml",
        )
    } else if holds("Error: Unknown feature flag") || holds("Output schema file") {
        Kind::environment(
            "Codex does not take what diffwarden asks for",
            "update diffwarden",
        )
    } else if holds("Error finding codex home")
        || said.contains("failed to initialize in-process app-server client")
    {
        Kind::environment(
            "Codex could not use its private home",
            "check that the folder for temporary files is writable",
        )
    } else if said.contains("\"input_error_code\":\"input_too_large\"") {
        Kind::too_long()
    } else if holds("No prompt provided via stdin") {
        Kind::no_prompt(&PROGRAM)
    } else if holds("Missing optional dependency") {
        let hint = format!("reinstall it with `{}`", PROGRAM.install);
        Kind::environment("the installation of Codex is not complete", hint)
    } else {
        return None;
    })
}

fn is_refused(said: &str) -> bool {
    ["unexpected status ", "exceeded retry limit, last status: "]
        .iter()
        .filter_map(|start| said.strip_prefix(start))
        .any(|status| status.starts_with("401") || status.starts_with("403"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_rate_limit_that_broke_a_stream_off_is_one() {
        let limited = of_turn(
            "stream disconnected before completion: Rate limit reached for m1 in organization o. \
             Please try again in 2s.",
        );
        assert_eq!(limited.reason, Some(Reason::RateLimit));
        assert_eq!(limited.retry_after, Some(Duration::from_secs(2)));
        let broken = of_turn("stream disconnected before completion: the peer went away");
        assert_eq!((broken.reason, broken.retry_after), (None, None));
    }

    #[test]
    fn the_wait_is_read_from_the_service_s_sentence() {
        for (said, millis) in [
            (
                "Rate limit reached for m1. Please try again in 11.054s. Visit x.",
                Some(11_054),
            ),
            ("Please try again in 28ms.", Some(28)),
            ("Try later, or try again in 35 seconds.", Some(35_000)),
            ("Please try again in 1m30s.", Some(90_000)),
            ("Please try again in 2 minutes.", Some(120_000)),
            ("try again at 8:20 PM.", None),
            ("try again in 3 days", None),
            ("try again in a while", None),
            ("try again in ..s", None),
            ("try again in 999999999999999999999999s", None),
            ("", None),
        ] {
            let wait = millis.map(Duration::from_millis);
            assert_eq!(retry_after(said), wait, "{said}");
        }
    }

    #[test]
    fn only_a_rate_limit_tells_how_long_to_wait() {
        let body = |code: &str| {
            format!(r#"{{"error":{{"message":"Please try again in 2s.","code":"{code}"}}}}"#)
        };
        let limited = of_turn(&body("rate_limit_exceeded"));
        assert_eq!(limited.reason, Some(Reason::RateLimit));
        assert_eq!(limited.retry_after, Some(Duration::from_secs(2)));
        assert_eq!(of_turn(&body("insufficient_quota")).retry_after, None);
    }

    proptest! {
        #[test]
        fn any_sentence_is_read(text in "[0-9. msé]{0,30}") {
            retry_after(&format!("try again in {text}"));
        }
    }
}
