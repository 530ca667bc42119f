//! What the attempts of a course came to, and what is reported of them.
//!
//! What must stay true: a reader can tell from the metadata that an answer is not the first one,
//! and why; what was said is kept, also when nothing of it can be read; and all that was spent is
//! counted, whatever came of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Step;
use crate::answer::{self, Parsed, Repair, SALVAGED, Salvaged, add_usage};
use crate::engine::CaptureMode;
use crate::model::{ErrorCode, Failure, ParseMode, Reason};
use crate::prompt::Prompt;

/// An answer that was read, perhaps only as prose.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    /// The answer.
    pub(crate) parsed: Parsed,
    /// What the adapter and the attempts recorded, `captureMode` included.
    pub(crate) metadata: Map<String, Value>,
    /// What it answers.
    pub(crate) prompt: Arc<Prompt>,
}

/// What every step of a course came to.
#[derive(Debug, Default)]
pub(crate) struct Record {
    /// Why the course ended before it had an answer: preflight failed, or a wait was cut short.
    halted: Option<Failure>,
    first: Option<Result<Reading, Failure>>,
    repair: Option<Result<Repair, Failure>>,
    second: Option<Result<Reading, Failure>>,
    usage: Option<Value>,
    waited: Option<Duration>,
}

impl Record {
    /// Notes what a review came to. After a wait the same step is noted again.
    pub(crate) fn reviewed(&mut self, step: Step, outcome: Result<Reading, Failure>) {
        match step {
            Step::Rerun => self.second = Some(outcome),
            _ => self.first = Some(outcome),
        }
    }

    /// Notes what a repair came to.
    pub(crate) fn repaired(&mut self, outcome: Result<Repair, Failure>) {
        self.repair = Some(outcome);
    }

    /// Notes why there is no answer to wait for.
    pub(crate) fn halted(&mut self, failure: Failure) {
        self.halted = Some(failure);
    }

    /// Notes a wait.
    pub(crate) fn waited(&mut self, time: Duration) {
        self.waited = Some(time);
    }

    /// Counts what an answer cost, whatever it is worth.
    pub(crate) fn spent(&mut self, usage: Option<Value>) {
        self.usage = match (self.usage.take(), usage) {
            (Some(before), Some(usage)) => Some(add_usage(&before, &usage)),
            (before, usage) => usage.or(before),
        };
    }

    /// Returns the first answer while it is the only one.
    pub(crate) fn first_answer(&self) -> Option<&Parsed> {
        let reading = self.first.as_ref()?.as_ref().ok()?;
        Some(&reading.parsed)
    }

    /// Returns what is reported, and what all of it cost. `strict` is for all or nothing.
    pub(crate) fn settle(self, strict: bool) -> (Result<Reading, Failure>, Option<Value>) {
        let waited = self.waited;
        let usage = self.usage.clone();
        let outcome = self.choose(strict).map(|mut reading| {
            if let Some(time) = waited {
                let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                reading
                    .metadata
                    .insert("rateLimitWaitMs".to_owned(), time.into());
            }
            reading
        });
        (outcome, usage)
    }

    fn choose(self, strict: bool) -> Result<Reading, Failure> {
        let refused = self
            .repair
            .as_ref()
            .and_then(|repair| repair.as_ref().err());
        let refused = refused.map(|failure| failure.message.clone());
        let stop = [
            self.halted.as_ref(),
            self.repair
                .as_ref()
                .and_then(|repair| repair.as_ref().err()),
            self.second
                .as_ref()
                .and_then(|second| second.as_ref().err()),
        ];
        if let Some(stop) = stop
            .into_iter()
            .flatten()
            .find(|stop| is_interruption(stop))
        {
            return Err(stop.clone());
        }
        let mut reading = match (self.first, self.repair, self.second) {
            (Some(Ok(first)), Some(Ok(repair)), None) => return Ok(transcribed(first, repair)),
            (Some(first), _, Some(second)) => second_attempt(first, second, strict)?,
            (Some(first), _, None) => match self.halted {
                Some(failure) if first.is_err() => return Err(failure),
                _ => kept(first?, strict),
            },
            (None, ..) => return Err(self.halted.unwrap_or_else(nothing_tried)),
        };
        if let Some(why) = refused {
            label(&mut reading.metadata, "repairRejectedReason", why.into());
        }
        Ok(reading)
    }
}

fn is_interruption(failure: &Failure) -> bool {
    failure.reason == Some(Reason::Interrupted)
}

fn nothing_tried() -> Failure {
    Failure::new(ErrorCode::ReviewerFailed, "the reviewer was never asked")
        .reason(Reason::Crash)
        .hint("This is a defect of diffwarden; please report it.")
}

/// An accepted repair: its findings, the answer's own words.
fn transcribed(first: Reading, repair: Repair) -> Reading {
    let Reading {
        parsed,
        mut metadata,
        prompt,
        ..
    } = first;
    let mode = CaptureMode::Repaired.as_str();
    metadata.insert("captureMode".to_owned(), mode.into());
    let confidence = repair.confidence.as_str();
    label(&mut metadata, "repairConfidence", confidence.into());
    label(&mut metadata, "repairFailureReason", why(&parsed).into());
    Reading {
        parsed: Parsed {
            result: repair.result,
            parse_mode: ParseMode::ToolOutput,
            valid_schema: true,
            raw_text: parsed.raw_text,
            problem: None,
        },
        metadata,
        prompt,
    }
}

fn second_attempt(
    first: Result<Reading, Failure>,
    second: Result<Reading, Failure>,
    strict: bool,
) -> Result<Reading, Failure> {
    let reason = match &first {
        Ok(first) => why(&first.parsed),
        Err(failure) => failure.message.clone(),
    };
    let (mut reading, second_reason) = match (first, second) {
        (Ok(first), Ok(second)) => (better(first, second, strict), None),
        (Err(_), Ok(second)) => (kept(second, strict), None),
        // What was said is better than nothing, and says itself that it is no review.
        (Ok(first), Err(failure)) => (kept(first, strict), Some(failure.message)),
        (Err(_), Err(mut failure)) => {
            failure.message = format!(
                "{} (second attempt, after the first ended with: {reason})",
                failure.message
            );
            return Err(failure);
        }
    };
    let metadata = &mut reading.metadata;
    label(metadata, "attempts", 2.into());
    label(metadata, "firstAttemptFailureReason", reason.into());
    if let Some(reason) = second_reason {
        label(metadata, "secondAttemptFailureReason", reason.into());
    }
    Ok(reading)
}

/// Returns the answer that more can be kept of, the second one when in doubt.
fn better(first: Reading, second: Reading, strict: bool) -> Reading {
    if second.parsed.problem.is_none() || strict {
        return second;
    }
    match (rescue(&first), rescue(&second)) {
        (Some(of_first), of_second)
            if of_second.as_ref().is_none_or(|of_second| {
                of_second.result.findings.len() < of_first.result.findings.len()
            }) =>
        {
            rescued(first, of_first)
        }
        (_, Some(of_second)) => rescued(second, of_second),
        (_, None) => second,
    }
}

/// Returns the reading with what can be salvaged of it, if it needs that.
fn kept(reading: Reading, strict: bool) -> Reading {
    match rescue(&reading) {
        Some(salvaged) if !strict => rescued(reading, salvaged),
        _ => reading,
    }
}

fn rescue(reading: &Reading) -> Option<Salvaged> {
    reading.parsed.problem.as_ref()?;
    answer::salvage(reading.parsed.raw_text.as_deref()?)
}

fn rescued(mut reading: Reading, salvaged: Salvaged) -> Reading {
    let kept = salvaged.result.findings.len();
    let counts = json!({ "kept": kept, "dropped": salvaged.dropped });
    label(&mut reading.metadata, SALVAGED, counts);
    reading.parsed.result = salvaged.result;
    reading
}

/// Why an answer could only be kept as prose.
fn why(parsed: &Parsed) -> String {
    parsed
        .problem
        .as_ref()
        .map_or_else(String::new, ToString::to_string)
}

/// Adds a label. The contract's order: the selection, how the answer was captured, what kept the
/// engine from writing.
pub(crate) fn label(metadata: &mut Map<String, Value>, name: &str, value: Value) {
    let readonly = metadata.keys().position(|key| key == "readonlyCapability");
    let place = readonly.unwrap_or(metadata.len());
    metadata.shift_insert(place, name.to_owned(), value);
}
