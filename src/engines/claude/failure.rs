//! What went wrong, read from Claude's own channel.
//!
//! A failed run ends with a record that has a subtype, the HTTP status and error type of the model
//! service, and often only a sentence of Claude's own; the stream names the kind of error beside
//! it. Those are read in that order. Text written by a model never gets here: a record that is an
//! error holds Claude's sentence in place of an answer.

use diffwarden_actors::model::{ErrorCode, Failure, Reason};

use super::record::Record;
use crate::engines::shared;

const LOGIN: &str = "run `claude` and log in with /login, or set ANTHROPIC_API_KEY";
const AGAIN: &str = "try again; run `claude -p` by hand to see more";

/// What a failure of Claude means.
struct Kind {
    code: ErrorCode,
    reason: Option<Reason>,
    /// What stands before Claude's own words.
    lead: &'static str,
    hint: &'static str,
}

impl Kind {
    const fn failed(reason: Option<Reason>, lead: &'static str, hint: &'static str) -> Self {
        Self {
            code: ErrorCode::ReviewerFailed,
            reason,
            lead,
            hint,
        }
    }

    fn into_failure(self, said: &str) -> Failure {
        let said = shared::one_line(said);
        let message = if said.is_empty() {
            self.lead.to_owned()
        } else {
            format!("{}: {said}", self.lead)
        };
        let failure = Failure::new(self.code, message).hint(self.hint);
        match self.reason {
            Some(reason) => failure.reason(reason),
            None => failure,
        }
    }
}

/// Returns the failure of a run whose final record is an error. `kind` is what the stream called
/// the error, and `is_limit_reached` tells that it announced a used-up limit.
pub(super) fn of_record(record: &Record, kind: Option<&str>, is_limit_reached: bool) -> Failure {
    let said = record.complaint();
    if record.text("subtype") == Some("error_max_budget_usd") {
        return of_budget(record, &said);
    }
    kind_of_subtype(record)
        .or_else(|| kind_of_service(record, is_limit_reached))
        .or_else(|| kind_of_stream(kind?))
        .or_else(|| kind_of_sentence(record, &said))
        .unwrap_or(Kind::failed(None, "Claude failed", AGAIN))
        .into_failure(&said)
}

/// Returns the failure behind a retry that no retry can cure: refused credentials.
pub(super) fn of_refusal(status: Option<u64>) -> Failure {
    let said = status.map(|status| format!("HTTP status {status}"));
    refused().into_failure(&said.unwrap_or_default())
}

/// Returns the failure of a Claude that ended with `code` without a record.
pub(super) fn of_start(code: i32, stderr: &str) -> Failure {
    let said = stderr.trim();
    let begins = |start: &str| said.lines().any(|line| line.starts_with(start));
    let kind = if begins("error: unknown option") || begins("error: option '") {
        Kind {
            code: ErrorCode::ReviewerEnvironmentFailed,
            reason: Some(Reason::Environment),
            lead: "this Claude does not take the options of a review; it is too old or too new",
            hint: "update Claude Code and diffwarden",
        }
    } else if begins("Error: --json-schema") {
        Kind {
            code: ErrorCode::ReviewerEnvironmentFailed,
            reason: Some(Reason::Environment),
            lead: "this Claude does not take the schema of a review",
            hint: "update Claude Code and diffwarden",
        }
    } else if begins("Error: piped stdin input exceeds") {
        too_long()
    } else if begins("Error: Input must be provided") {
        Kind::failed(
            Some(Reason::Protocol),
            "Claude did not get its prompt",
            AGAIN,
        )
    } else {
        let message = if said.is_empty() {
            format!("claude ended with exit code {code} and said nothing")
        } else {
            format!(
                "claude ended with exit code {code}: {}",
                shared::one_line(said)
            )
        };
        return Failure::new(ErrorCode::ReviewerFailed, message)
            .reason(Reason::Crash)
            .hint("run `claude -p` by hand to see more");
    };
    kind.into_failure(said)
}

/// An exhausted budget fails the reviewer with an error of its own (SPEC 5.4).
fn of_budget(record: &Record, said: &str) -> Failure {
    let spent = record.number("total_cost_usd");
    let spent = spent.map(|cost| format!(" after spending ${}", (cost * 1e4).round() / 1e4));
    let lead = format!(
        "the budget of this reviewer (maxBudgetUsd) is used up{}",
        spent.unwrap_or_default()
    );
    Failure::new(
        ErrorCode::ReviewerFailed,
        format!("{lead}: {}", shared::one_line(said)),
    )
    .reason(Reason::Quota)
    .hint(
        "raise maxBudgetUsd or review a smaller change; Claude compares it after each response, so \
         the last one can overshoot it",
    )
}

fn kind_of_subtype(record: &Record) -> Option<Kind> {
    Some(match record.text("subtype")? {
        "error_max_structured_output_retries" => Kind::failed(
            Some(Reason::Empty),
            "Claude gave up on structured output",
            "try again, or choose another model",
        ),
        "error_max_turns" => Kind::failed(
            None,
            "Claude reached its limit of turns",
            "review a smaller change",
        ),
        "error_during_execution"
            if record
                .text("terminal_reason")
                .is_some_and(|reason| reason.starts_with("aborted")) =>
        {
            Kind::failed(Some(Reason::Crash), "Claude was interrupted", "try again")
        }
        _ => return None,
    })
}

/// Reads the HTTP status and the error type of the model service.
fn kind_of_service(record: &Record, is_limit_reached: bool) -> Option<Kind> {
    if is_limit_reached {
        return Some(quota());
    }
    if record.text("api_error_type") == Some("billing_error") {
        return Some(quota());
    }
    match record.text("api_error") {
        Some("connection_failed") => return Some(unreachable()),
        Some("max_output_tokens") => return Some(cut_off()),
        _ => {}
    }
    Some(match record.status()? {
        401 | 403 => refused(),
        402 => quota(),
        404 => model(),
        413 => too_long(),
        429 => rate_limit(),
        500.. => fault(),
        _ => return None,
    })
}

/// Reads the kind that the stream gives the message of an error.
fn kind_of_stream(kind: &str) -> Option<Kind> {
    Some(match kind {
        "authentication_failed" => refused(),
        "billing_error" => quota(),
        "rate_limit" => rate_limit(),
        "model_not_found" => model(),
        "max_output_tokens" => cut_off(),
        "server_error" => fault(),
        _ => return None,
    })
}

/// Reads what is left: why the model stopped, and how Claude's sentence begins.
fn kind_of_sentence(record: &Record, said: &str) -> Option<Kind> {
    let begins = |starts: &[&str]| starts.iter().any(|start| said.starts_with(start));
    Some(if record.text("stop_reason") == Some("refusal") {
        Kind::failed(
            Some(Reason::Refused),
            "the model declined to review",
            "choose another model",
        )
    } else if begins(&["Not logged in", "Invalid API key", "Failed to authenticate"]) {
        refused()
    } else if begins(&["Prompt is too long"]) {
        too_long()
    } else if begins(&["Credit balance is too low", "Claude AI usage limit reached"]) {
        quota()
    } else {
        return None;
    })
}

fn refused() -> Kind {
    Kind {
        code: ErrorCode::MissingAuth,
        reason: Some(Reason::Auth),
        lead: "the model service does not accept Claude's credentials",
        hint: LOGIN,
    }
}

fn quota() -> Kind {
    Kind::failed(
        Some(Reason::Quota),
        "Claude's quota is used up",
        "wait until it is renewed, or use another account or engine",
    )
}

fn rate_limit() -> Kind {
    Kind::failed(
        Some(Reason::RateLimit),
        "the model service asks to slow down",
        "try again later, or run fewer reviewers at a time",
    )
}

fn model() -> Kind {
    Kind::failed(
        Some(Reason::Model),
        "the model cannot be used",
        "choose another one with --model or in the reviewer's entry",
    )
}

fn fault() -> Kind {
    Kind::failed(None, "the model service has a fault", "try again later")
}

fn unreachable() -> Kind {
    Kind::failed(
        Some(Reason::Environment),
        "Claude could not reach its model service",
        "check the network, the proxy and ANTHROPIC_BASE_URL",
    )
}

fn cut_off() -> Kind {
    Kind::failed(
        None,
        "the model's answer was cut off",
        "review a smaller change, or choose another model",
    )
}

fn too_long() -> Kind {
    Kind::failed(
        None,
        "the change is too long for the model",
        "review a smaller change, or choose a model with more room",
    )
}
