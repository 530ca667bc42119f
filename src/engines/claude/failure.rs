//! What went wrong, read from Claude's own channel.
//!
//! A failed run ends with a record that has a subtype, the HTTP status and error type of the model
//! service, and often only a sentence of Claude's own; the stream names the kind of error beside
//! it. Those are read in that order. Text written by a model never gets here: a record that is an
//! error holds Claude's sentence in place of an answer.

use diffwarden_actors::model::{Failure, Reason};

use super::PROGRAM;
use super::record::Record;
use crate::engines::shared::{self, Kind};

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
        .unwrap_or_else(|| {
            let hint = format!("try again; run `{}` by hand to see more", PROGRAM.command);
            Kind::failed(None, "Claude failed", hint)
        })
        .into_failure(&said)
}

/// Returns the failure behind a retry that no retry can cure: refused credentials.
pub(super) fn of_refusal(status: Option<u64>) -> Failure {
    let said = status.map(|status| format!("HTTP status {status}"));
    Kind::refused(&PROGRAM).into_failure(&said.unwrap_or_default())
}

/// Returns the failure of a Claude that offers the model a tool which is not for reading: the
/// policy does not hold.
pub(super) fn of_tool(tool: &str) -> Failure {
    let tool = shared::cut(&shared::one_line(tool), 100);
    shared::unfit(
        format!("this Claude offers the model the tool {tool}, so it is not kept from writing"),
        "update Claude Code and diffwarden; settings of an administrator may add tools",
    )
}

/// Returns the failure of a Claude that ended with `code` without a record.
pub(super) fn of_start(code: i32, stderr: &str) -> Failure {
    let said = stderr.trim();
    let begins = |start: &str| said.lines().any(|line| line.starts_with(start));
    let kind = if begins("error: unknown option") || begins("error: option '") {
        Kind::misfit(&PROGRAM)
    } else if begins("Error: --json-schema") {
        Kind::environment(
            "this Claude does not take the schema of a review",
            "update Claude Code and diffwarden",
        )
    } else if begins("Error: piped stdin input exceeds") {
        Kind::too_long()
    } else if begins("Error: Input must be provided") {
        Kind::no_prompt(&PROGRAM)
    } else {
        return PROGRAM.crashed(code, said);
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
    let hint = "raise maxBudgetUsd or review a smaller change; Claude compares it after each \
                response, so the last one can overshoot it";
    Kind::failed(Some(Reason::Quota), lead, hint).into_failure(said)
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
            "raise maxTurns in the reviewer's entry, or review a smaller change",
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
        return Some(Kind::quota(&PROGRAM));
    }
    if record.text("api_error_type") == Some("billing_error") {
        return Some(Kind::quota(&PROGRAM));
    }
    match record.text("api_error") {
        Some("connection_failed") => {
            return Some(Kind::unreachable(&PROGRAM, "ANTHROPIC_BASE_URL"));
        }
        Some("max_output_tokens") => return Some(Kind::cut_off()),
        _ => {}
    }
    Some(match record.status()? {
        401 | 403 => Kind::refused(&PROGRAM),
        402 => Kind::quota(&PROGRAM),
        404 => Kind::model(),
        413 => Kind::too_long(),
        429 => Kind::rate_limit(),
        500.. => Kind::fault(),
        _ => return None,
    })
}

/// Reads the kind that the stream gives the message of an error.
fn kind_of_stream(kind: &str) -> Option<Kind> {
    Some(match kind {
        "authentication_failed" => Kind::refused(&PROGRAM),
        "billing_error" => Kind::quota(&PROGRAM),
        "rate_limit" => Kind::rate_limit(),
        "model_not_found" => Kind::model(),
        "max_output_tokens" => Kind::cut_off(),
        "server_error" => Kind::fault(),
        _ => return None,
    })
}

/// Reads what is left: why the model stopped, and how Claude's sentence begins.
fn kind_of_sentence(record: &Record, said: &str) -> Option<Kind> {
    let begins = |starts: &[&str]| starts.iter().any(|start| said.starts_with(start));
    Some(if record.text("stop_reason") == Some("refusal") {
        Kind::declined()
    } else if begins(&["Not logged in", "Invalid API key", "Failed to authenticate"]) {
        Kind::refused(&PROGRAM)
    } else if begins(&["Prompt is too long"]) {
        Kind::too_long()
    } else if begins(&["Credit balance is too low", "Claude AI usage limit reached"]) {
        Kind::quota(&PROGRAM)
    } else {
        return None;
    })
}
