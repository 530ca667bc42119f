//! From everybody's entries to the outcome of the run. Pure.
//!
//! The order of the questions is the contract: was the run interrupted, did strict mode see a
//! failure, did nobody answer, did strict mode see a bad answer; only then is there an artifact.

use crate::answer::{self, Ground, INTEGRITY_ID, LocalDisk, Locator, Review};
use crate::model::{
    ARTIFACT_SCHEMA_VERSION, EngineName, ErrorCode, FailedReviewer, Failure, Finding, ParseMode,
    Reason, ReviewArtifact, ReviewResult, ReviewValidation, ReviewerEntry, ReviewerError,
    ReviewerId, ReviewerIdentity, ReviewerStatus, RunArtifact, Score, SuccessfulReviewer, Verdict,
};
use crate::plan::RunPlan;
use crate::sink::{Interrupt, RunFailure, RunOutcome};

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
    let artifact = artifact(plan, entries, timing_ms);
    RunOutcome::Finished(std::sync::Arc::new(RunArtifact::Review(Box::new(artifact))))
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
        retry_after: None,
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
    let locator = Locator::new(&plan.scope, &LocalDisk);
    let answers: Vec<_> = successes(&entries).collect();
    let reviews: Vec<_> = answers
        .iter()
        .map(|answer| Review {
            id: &answer.identity.id,
            result: &answer.result,
            validation: &answer.validation,
        })
        .collect();
    let ground = Ground {
        locator: &locator,
        patch: &plan.patch,
        source: plan.source.as_ref(),
    };
    let conclusion = answer::conclude(&reviews, entries.len(), &plan.integrity, ground);
    let received = answers.iter().filter_map(|answer| answer.sent.as_deref());
    let coverage = answer::worst_coverage(&plan.coverage, received);
    let trust = answer::assess(&entries, &coverage, plan.doubts.iter().copied());
    let failed = failures(&entries).map(|entry| {
        let (id, message) = (&entry.identity.id, &entry.error.message);
        format!("Reviewer {id} failed: {message}")
    });
    let warnings = plan.warnings.iter().cloned().chain(failed).collect();
    // Consumers of a single review find its facts at the top as well.
    let (engine, raw_text) = match (entries.as_slice(), answers.as_slice()) {
        ([_], [alone]) => (Some(alone.identity.engine), alone.raw_text.clone()),
        _ => (None, None),
    };
    if !plan.integrity.is_empty() {
        entries.push(integrity_entry(&plan.integrity, &locator));
    }
    ReviewArtifact {
        schema_version: ARTIFACT_SCHEMA_VERSION,
        engine,
        reviewers: entries,
        cwd: plan.cwd.clone(),
        target: plan.target.as_ref().clone(),
        result: conclusion.result,
        raw_text,
        validation: conclusion.validation,
        warnings,
        trust,
        coverage,
        clusters: conclusion.clusters,
        timing_ms: Some(timing_ms),
    }
}

/// Returns the entry under which diffwarden's own findings stand.
fn integrity_entry(findings: &[Finding], locator: &Locator<'_>) -> ReviewerEntry {
    let explanation = match findings.len() {
        1 => "diffwarden's own checks of the change found 1 problem.".to_owned(),
        count => format!("diffwarden's own checks of the change found {count} problems."),
    };
    let result = ReviewResult {
        findings: findings.to_vec(),
        overall_correctness: Verdict::Incorrect.as_str().to_owned(),
        overall_explanation: explanation,
        overall_confidence_score: Score(1.0),
    };
    let validation = answer::validate(&result, ParseMode::ToolOutput, true, locator);
    ReviewerEntry::Success(Box::new(SuccessfulReviewer {
        identity: ReviewerIdentity {
            id: ReviewerId(INTEGRITY_ID.to_owned()),
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

fn failures(entries: &[ReviewerEntry]) -> impl Iterator<Item = &FailedReviewer> {
    entries.iter().filter_map(|entry| match entry {
        ReviewerEntry::Failed(entry) => Some(entry.as_ref()),
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
