//! From everybody's entries to the outcome of the run. Pure.
//!
//! The order of the questions is the contract: was the run interrupted, did strict mode see a
//! failure, did nobody answer, did strict mode see a bad answer; only then is there an artifact.

use crate::judgement;
use crate::model::{
    ARTIFACT_SCHEMA_VERSION, Coverage, EngineName, ErrorCode, FailedReviewer, Failure, Finding,
    ParseMode, Reason, ReviewArtifact, ReviewResult, ReviewValidation, ReviewerEntry,
    ReviewerError, ReviewerId, ReviewerIdentity, ReviewerStatus, Score, SuccessfulReviewer,
    Verdict,
};
use crate::plan::RunPlan;
use crate::sink::{Interrupt, RunFailure, RunOutcome};

/// The name under which diffwarden reports what it found itself.
const INTEGRITY: &str = "integrity";

/// Makes the outcome. `entries` holds one entry per selected reviewer, in the order asked for.
pub(crate) fn conclude(
    plan: &RunPlan,
    entries: Vec<ReviewerEntry>,
    interrupt: Option<Interrupt>,
    timing_ms: u64,
) -> RunOutcome {
    let failed = interrupt
        .map(|interrupt| (interrupted(interrupt), None))
        .or_else(|| strict_failure(plan, &entries))
        .or_else(|| total_failure(&entries))
        .or_else(|| strict_doubt(plan, &entries));
    if let Some((failure, reviewer)) = failed {
        return RunOutcome::Failed(RunFailure {
            failure,
            reviewer,
            integrity: plan.integrity.clone(),
        });
    }
    RunOutcome::Finished(std::sync::Arc::new(artifact(plan, entries, timing_ms)))
}

/// Why a run has no artifact, and whose doing it is when it is one reviewer's.
type Verdictless = (Failure, Option<(ReviewerId, EngineName)>);

/// Returns the failure of a run that was ended from outside.
pub(crate) fn interrupted(interrupt: Interrupt) -> Failure {
    let failure = match interrupt {
        Interrupt::Signal(number) => {
            let name = match number {
                1 => "SIGHUP".to_owned(),
                2 => "SIGINT".to_owned(),
                15 => "SIGTERM".to_owned(),
                other => format!("signal {other}"),
            };
            let mut failure = Failure::new(
                ErrorCode::ReviewerFailed,
                format!("the review was interrupted by {name}"),
            );
            failure.exit_code = u8::try_from(number).ok().and_then(|n| n.checked_add(128));
            failure
        }
        Interrupt::OutputClosed => Failure::new(
            ErrorCode::ReviewerFailed,
            "the review was ended because its output is closed or full",
        ),
    };
    failure.reason(Reason::Interrupted)
}

fn strict_failure(plan: &RunPlan, entries: &[ReviewerEntry]) -> Option<Verdictless> {
    if !plan.policy.strict {
        return None;
    }
    // Reviewers that were stopped because another one failed are not the cause.
    let causes: Vec<_> = failures(entries)
        .filter(|entry| entry.error.reason != Some(Reason::Interrupted))
        .collect();
    (!causes.is_empty()).then(|| joint(entries, &causes, "Reviewer failed in strict mode"))
}

fn total_failure(entries: &[ReviewerEntry]) -> Option<Verdictless> {
    let failed: Vec<_> = failures(entries).collect();
    let nobody = !entries.is_empty() && failed.len() == entries.len();
    nobody.then(|| joint(entries, &failed, "All reviewers failed"))
}

/// Returns the run's failure: the reviewer's own when it ran alone, else one that names each.
fn joint(entries: &[ReviewerEntry], failed: &[&FailedReviewer], title: &str) -> Verdictless {
    if let ([_], [only]) = (entries, failed) {
        let who = (only.identity.id.clone(), only.identity.engine);
        return (failure_of(&only.error), Some(who));
    }
    let list: Vec<_> = failed
        .iter()
        .map(|entry| format!("{}: {}", entry.identity.id, entry.error.message))
        .collect();
    let mut failure = Failure::new(
        ErrorCode::ReviewerFailed,
        format!("{title}: {}", list.join("; ")),
    );
    let reason = failed.first().and_then(|entry| entry.error.reason);
    if failed.iter().all(|entry| entry.error.reason == reason) {
        failure.reason = reason;
    }
    (failure, None)
}

fn failure_of(error: &ReviewerError) -> Failure {
    let own = error.exit_code != error.code.exit_code();
    Failure {
        code: error.code,
        message: error.message.clone(),
        reason: error.reason,
        recovery: error.recovery.clone(),
        hint: error.hint.clone(),
        exit_code: own.then_some(error.exit_code),
    }
}

/// Strict mode, after everybody answered: answers that could not be read, then bad locations.
fn strict_doubt(plan: &RunPlan, entries: &[ReviewerEntry]) -> Option<Verdictless> {
    if !plan.policy.strict {
        return None;
    }
    let unread = |v: &ReviewValidation| !v.valid_schema || v.parse_mode == ParseMode::FallbackText;
    if let Some(entry) = successes(entries).find(|entry| unread(&entry.validation)) {
        let failure = Failure::new(
            ErrorCode::ParseFailed,
            format!(
                "the answer of {} does not fit the result schema",
                entry.identity.id
            ),
        )
        .hint("Without --strict its text is shown as it is.");
        return Some((failure, Some(identify(entry))));
    }
    let entry = successes(entries).find(|entry| !entry.validation.valid_locations)?;
    let reasons: Vec<_> = entry.validation.invalid_locations.iter().collect();
    let first = reasons.first().map_or("", |bad| bad.reason.as_str());
    let failure = Failure::new(
        ErrorCode::ValidationFailed,
        format!(
            "{} of the findings of {} point outside the change: {first}",
            reasons.len(),
            entry.identity.id
        ),
    )
    .hint("Without --strict such findings are kept and marked.");
    Some((failure, Some(identify(entry))))
}

fn identify(entry: &SuccessfulReviewer) -> (ReviewerId, EngineName) {
    (entry.identity.id.clone(), entry.identity.engine)
}

fn artifact(plan: &RunPlan, mut entries: Vec<ReviewerEntry>, timing_ms: u64) -> ReviewArtifact {
    let integrity_id = ReviewerId(INTEGRITY.to_owned());
    let answers: Vec<_> = successes(&entries).collect();
    let alone = match (entries.as_slice(), answers.as_slice()) {
        ([_], [only]) => Some(*only),
        _ => None,
    };
    let result = judgement::merge(plan, &answers, &plan.integrity, &integrity_id);
    let validation = match alone {
        Some(only) => only.validation.clone(),
        None => common_validation(plan, &answers, &result),
    };
    let failed = failures(&entries).map(|entry| {
        format!(
            "Reviewer {} failed: {}",
            entry.identity.id, entry.error.message
        )
    });
    let warnings = plan.warnings.iter().cloned().chain(failed).collect();
    let clusters = judgement::clusters(plan, &result);
    let trust = judgement::assess(plan, &entries);
    let coverage = worst_coverage(&plan.coverage, &answers);
    let (engine, raw_text) = (
        alone.map(|only| only.identity.engine),
        alone.and_then(|only| only.raw_text.clone()),
    );
    if !plan.integrity.is_empty() {
        entries.push(integrity_entry(plan, integrity_id));
    }
    ReviewArtifact {
        schema_version: ARTIFACT_SCHEMA_VERSION,
        engine,
        reviewers: entries,
        cwd: plan.cwd.clone(),
        target: plan.target.as_ref().clone(),
        result,
        raw_text,
        validation,
        warnings,
        trust,
        coverage,
        clusters,
        timing_ms: Some(timing_ms),
    }
}

/// Checks the merged findings; indexes refer to the merged list.
fn common_validation(
    plan: &RunPlan,
    answers: &[&SuccessfulReviewer],
    merged: &crate::model::MergedResult,
) -> ReviewValidation {
    let mut modes = answers.iter().map(|answer| answer.validation.parse_mode);
    let first = modes.next().unwrap_or(ParseMode::ToolOutput);
    let mode = if modes.all(|mode| mode == first) {
        first
    } else {
        ParseMode::ToolOutput
    };
    let valid_schema = answers.iter().all(|answer| answer.validation.valid_schema);
    let findings = merged.findings.iter().map(|f| f.finding.clone()).collect();
    let result = ReviewResult {
        findings,
        overall_correctness: merged.overall_correctness.clone(),
        overall_explanation: String::new(),
        overall_confidence_score: merged.overall_confidence_score,
    };
    judgement::validate(&result, mode, valid_schema, &plan.scope)
}

/// Returns, file by file, the least that any reviewer received.
fn worst_coverage(best: &Coverage, answers: &[&SuccessfulReviewer]) -> Coverage {
    let mut worst = best.clone();
    let mut positions = std::collections::HashMap::new();
    for (position, file) in best.files.iter().enumerate() {
        positions.entry(file.path.as_str()).or_insert(position);
    }
    for less in answers.iter().filter_map(|a| a.sent.as_deref()).flatten() {
        if let Some(&position) = positions.get(less.path.as_str())
            && let Some(file) = worst.files.get_mut(position)
            && less.sent > file.sent
        {
            *file = less.clone();
        }
    }
    worst
}

/// Returns the entry under which diffwarden's own findings stand.
fn integrity_entry(plan: &RunPlan, id: ReviewerId) -> ReviewerEntry {
    let result = ReviewResult {
        findings: plan.integrity.clone(),
        overall_correctness: Verdict::Incorrect.as_str().to_owned(),
        overall_explanation: explain(&plan.integrity),
        overall_confidence_score: Score(1.0),
    };
    let validation = judgement::validate(&result, ParseMode::ToolOutput, true, &plan.scope);
    ReviewerEntry::Success(Box::new(SuccessfulReviewer {
        identity: ReviewerIdentity {
            id,
            engine: EngineName::Surface,
            status: ReviewerStatus::Success,
            transport: None,
            profile: None,
            provider: None,
            model: None,
            effort: None,
        },
        result,
        validation,
        timing_ms: None,
        raw_text: None,
        preflight: None,
        adapter_metadata: None,
        usage: None,
        sent: None,
    }))
}

fn explain(findings: &[Finding]) -> String {
    match findings.len() {
        1 => "diffwarden's own checks of the change found 1 problem.".to_owned(),
        count => format!("diffwarden's own checks of the change found {count} problems."),
    }
}

fn failures(entries: &[ReviewerEntry]) -> impl Iterator<Item = &FailedReviewer> {
    entries.iter().filter_map(|entry| match entry {
        ReviewerEntry::Failed(entry) => Some(entry),
        ReviewerEntry::Success(_) => None,
    })
}

fn successes(entries: &[ReviewerEntry]) -> impl Iterator<Item = &SuccessfulReviewer> {
    entries.iter().filter_map(|entry| match entry {
        ReviewerEntry::Success(entry) => Some(entry.as_ref()),
        ReviewerEntry::Failed(_) => None,
    })
}

#[cfg(test)]
mod tests;
