//! From the entries of one lane's reviewers to its artifact. Pure.
//!
//! The order of the questions is the contract: did strict mode see a failure, did nobody answer,
//! did strict mode see a bad answer; only then is there an artifact.

use super::{Cause, LaneOutcome, join_failures};
use crate::answer::{self, Ground, INTEGRITY_ID, LocalDisk, Locator, Review};
use crate::model::{
    ARTIFACT_SCHEMA_VERSION, Degraded, EngineName, ErrorCode, FailedReviewer, Failure, Finding,
    ParseMode, Reason, ReviewArtifact, ReviewResult, ReviewValidation, ReviewerEntry,
    ReviewerError, ReviewerId, ReviewerIdentity, ReviewerStatus, Score, SuccessfulReviewer,
    Verdict,
};
use crate::plan::RunPlan;

/// Makes the outcome of a lane. `entries` holds one entry per reviewer, in the order asked for.
///
/// What holds for the whole run (its warnings, diffwarden's own findings) stands in the artifact
/// of a run without lanes; in a batch it stands once, at the top.
pub(crate) fn conclude_lane(
    plan: &RunPlan,
    entries: Vec<ReviewerEntry>,
    timing_ms: u64,
) -> LaneOutcome {
    let failed = strict_failure(plan, &entries)
        .or_else(|| total_failure(&entries))
        .or_else(|| strict_doubt(plan, &entries));
    let answered = successes(&entries).count();
    match failed {
        Some(cause) => LaneOutcome {
            trust: answer::assess(&entries, &plan.coverage, plan.doubts.iter().copied()),
            result: Err(cause),
            answered,
            timing_ms,
        },
        None => {
            let artifact = artifact(plan, entries, timing_ms);
            LaneOutcome {
                trust: artifact.trust.clone(),
                result: Ok(Box::new(artifact)),
                answered,
                timing_ms,
            }
        }
    }
}

fn strict_failure(plan: &RunPlan, entries: &[ReviewerEntry]) -> Option<Cause> {
    if !plan.policy.strict {
        return None;
    }
    // Reviewers that were stopped because another one failed are not the cause.
    let mut causes: Vec<_> = failures(entries)
        .filter(|entry| entry.error.reason != Some(Reason::Interrupted))
        .collect();
    if causes.is_empty() {
        causes = failures(entries).collect();
    }
    (!causes.is_empty()).then(|| joint(entries, &causes, "Reviewer failed in strict mode"))
}

fn total_failure(entries: &[ReviewerEntry]) -> Option<Cause> {
    let failed: Vec<_> = failures(entries).collect();
    let nobody = !entries.is_empty() && failed.len() == entries.len();
    nobody.then(|| joint(entries, &failed, "All reviewers failed"))
}

/// Returns the lane's failure: the reviewer's own when it ran alone, else one that names each.
fn joint(entries: &[ReviewerEntry], failed: &[&FailedReviewer], title: &str) -> Cause {
    if let ([_], [only]) = (entries, failed) {
        return Cause {
            failure: failure_of(&only.error),
            reviewer: Some(Box::new((only.identity.id.clone(), only.identity.engine))),
        };
    }
    let named = failed.iter().map(|entry| {
        let name = entry.identity.id.to_string();
        (name, failure_of(&entry.error))
    });
    Cause::from(join_failures(title, named))
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
fn strict_doubt(plan: &RunPlan, entries: &[ReviewerEntry]) -> Option<Cause> {
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
        return Some(caused_by(entry, failure));
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
    Some(caused_by(entry, failure))
}

fn caused_by(entry: &SuccessfulReviewer, failure: Failure) -> Cause {
    Cause {
        failure,
        reviewer: Some(Box::new((entry.identity.id.clone(), entry.identity.engine))),
    }
}

fn artifact(plan: &RunPlan, mut entries: Vec<ReviewerEntry>, timing_ms: u64) -> ReviewArtifact {
    let (known, integrity): (Vec<Degraded>, _) = match plan.batch {
        None => (plan.known_shortfalls().collect(), plan.integrity.as_slice()),
        Some(_) => Default::default(),
    };
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
    let conclusion = answer::conclude(&reviews, entries.len(), integrity, ground);
    let received = answers.iter().filter_map(|answer| answer.sent.as_deref());
    let coverage = answer::worst_coverage(&plan.coverage, received);
    let trust = answer::assess(&entries, &coverage, plan.doubts.iter().copied());
    let failed = failures(&entries).map(|entry| {
        let (id, message) = (&entry.identity.id, &entry.error.message);
        format!("Reviewer {id} failed: {message}")
    });
    let warned = plan.batch.is_none().then_some(&plan.degraded);
    let warned = warned.into_iter().flatten().map(|it| it.message.clone());
    let warnings = warned.chain(failed).collect();
    let degraded = known
        .into_iter()
        .chain(answer::unsent(&coverage))
        .chain(answer::shortfalls(&entries))
        .collect();
    // Consumers of a single review find its facts at the top as well.
    let (engine, raw_text) = match (entries.as_slice(), answers.as_slice()) {
        ([_], [alone]) => (Some(alone.identity.engine), alone.raw_text.clone()),
        _ => (None, None),
    };
    if !integrity.is_empty() {
        entries.push(integrity_entry(integrity, &locator));
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
        degraded,
        trust,
        coverage,
        clusters: conclusion.clusters,
        snapshot: plan.snapshot_record(),
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
