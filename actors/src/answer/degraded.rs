//! What a run fell short of, entry by entry.
//!
//! What must stay true: every reason in [`Trust`](crate::model::Trust) that comes from an entry or
//! from the coverage is explained here by an entry that is more than an info.

use serde_json::{Map, Value};

use super::trust::{SALVAGED, entry_reasons};
use crate::model::DegradedTopic::{
    self, Answers, Binary, Clipping, Engines, Locations, Masking, Pruning, ReviewerHealth, Time,
};
use crate::model::{
    CheckStatus, Coverage, CoverageFile, Degraded, ErrorCode, FailedReviewer, PreflightReport,
    ReviewerEntry, Sent, SuccessfulReviewer, TrustReason,
};

/// How many paths an entry names.
const NAMED: usize = 5;

/// Returns what the entries of one lane's reviewers fell short of, in their order.
pub fn shortfalls(entries: &[ReviewerEntry]) -> Vec<Degraded> {
    let of_entry = |entry: &ReviewerEntry| match entry {
        ReviewerEntry::Failed(entry) => vec![of_failure(entry)],
        ReviewerEntry::Success(success) => of_answer(entry, success),
    };
    entries.iter().flat_map(of_entry).collect()
}

/// Returns what did not reach the reviewers as it is.
pub fn unsent(coverage: &Coverage) -> Vec<Degraded> {
    let told = |sent, tell: &dyn Fn(String) -> Degraded| {
        let files = coverage.files.iter().filter(|file| file.sent == sent);
        list(files).map(tell)
    };
    [
        told(Sent::Clipped, &|files| {
            let message = format!("not sent whole because of a size limit: {files}");
            Degraded::actionable(Clipping, message)
        }),
        told(Sent::Masked, &|files| {
            Degraded::warning(Masking, format!("sent with secrets blanked: {files}"))
        }),
        told(Sent::Pruned, &|files| {
            let message = format!("not sent, because nobody writes them by hand: {files}");
            Degraded::info(Pruning, message)
        }),
        told(Sent::Binary, &|files| {
            Degraded::info(
                Binary,
                format!("binary, so that nobody reads them: {files}"),
            )
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn of_failure(entry: &FailedReviewer) -> Degraded {
    let (id, error) = (&entry.identity.id, &entry.error);
    let message = format!("Reviewer {id} failed: {}", error.message);
    failure(ReviewerHealth, error.code, message)
}

/// Returns the entry of a failure. One that no waiting mends is the user's to act on.
pub fn failure(topic: DegradedTopic, code: ErrorCode, message: String) -> Degraded {
    match code {
        ErrorCode::MissingAuth
        | ErrorCode::MissingRequirement
        | ErrorCode::InvalidModel
        | ErrorCode::InvalidEffort
        | ErrorCode::InvalidConfig
        | ErrorCode::ReviewerEnvironmentFailed => Degraded::actionable(topic, message),
        _ => Degraded::warning(topic, message),
    }
}

fn of_answer(entry: &ReviewerEntry, success: &SuccessfulReviewer) -> Vec<Degraded> {
    let id = &success.identity.id;
    let mut degraded = Vec::new();
    for reason in entry_reasons(entry) {
        let said = match reason {
            TrustReason::FallbackText => "answered in prose, of which nothing could be checked",
            TrustReason::Salvaged => "gave an answer of which only some findings could be kept",
            TrustReason::VacuousAnswer => "shows no sign of having read the change",
            _ => continue,
        };
        degraded.push(Degraded::warning(Answers, format!("Reviewer {id} {said}")));
    }
    let misplaced = success.validation.invalid_locations.len();
    if misplaced > 0 {
        let message = format!("Reviewer {id}: findings that point outside the change: {misplaced}");
        degraded.push(Degraded::warning(Locations, message));
    }
    if let Some(metadata) = &success.adapter_metadata {
        degraded.extend(of_metadata(metadata, &id.0));
    }
    if let Some(preflight) = &success.preflight {
        degraded.extend(of_preflight(preflight, &id.0));
    }
    degraded
}

/// What the adapter recorded: see the table of adapter metadata in `docs/contract.md`.
fn of_metadata<'a>(
    metadata: &'a Map<String, Value>,
    id: &'a str,
) -> impl Iterator<Item = Degraded> + 'a {
    let has = |key: &str| metadata.contains_key(key);
    let again = metadata.get("attempts").and_then(Value::as_u64);
    let facts = [
        (
            metadata
                .get("captureMode")
                .is_some_and(|it| it == "repaired"),
            Answers,
            "the answer could not be read as it was; the same engine transcribed it",
        ),
        (
            again.is_some_and(|attempts| attempts > 1) && !has(SALVAGED),
            Answers,
            "the first answer could not be read; the review was run again",
        ),
        (
            has("rateLimitWaitMs"),
            Time,
            "the provider asked for a pause, which was made",
        ),
        (
            has("effortDropped"),
            Engines,
            "the effort asked for is not known to the executable or the model, and was left out",
        ),
        (
            has("fallbackModelDropped"),
            Engines,
            "the executable does not know a fallback model, which was left out",
        ),
        (
            metadata
                .get("fallbackModelUsed")
                .is_some_and(|it| it == "true"),
            Engines,
            "the fallback model answered",
        ),
    ];
    let holding = facts.into_iter().filter(|(holds, ..)| *holds);
    let holding = holding.map(move |(_, topic, said)| (topic, said.to_owned()));
    let own = metadata.get("warnings").and_then(Value::as_array);
    let own = own.into_iter().flatten().filter_map(Value::as_str);
    let own = own.map(|warning| (Engines, warning.to_owned()));
    holding
        .chain(own)
        .map(move |(topic, said)| Degraded::info(topic, format!("Reviewer {id}: {said}")))
}

fn of_preflight<'a>(
    preflight: &'a PreflightReport,
    id: &'a str,
) -> impl Iterator<Item = Degraded> + 'a {
    let checks = preflight.checks.iter();
    let reserved = checks.filter(|check| check.status == CheckStatus::Warning);
    reserved.map(move |check| {
        let message = format!("Reviewer {id}: {}: {}", check.name, check.detail);
        Degraded::info(Engines, message)
    })
}

/// Names the first of some files; `None` when there are none.
fn list<'a>(files: impl Iterator<Item = &'a CoverageFile>) -> Option<String> {
    let paths: Vec<&str> = files.map(|file| file.path.as_str()).collect();
    let (first, rest) = paths.split_at(paths.len().min(NAMED));
    let mut text = first.join(", ");
    if !rest.is_empty() {
        text.push_str(&format!(", and {} more", rest.len()));
    }
    (!paths.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
