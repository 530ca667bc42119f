//! Whether a result may be read as a full review.
//!
//! What must stay true: whatever made the review less than full is named, and what was found plays
//! no part in it.

use std::collections::HashMap;

use super::merge::INTEGRITY_ID;
use super::usage::denies_receipt;
use super::vacuous::is_vacuous;
use crate::model::{
    Coverage, CoverageFile, EngineName, ParseMode, Reason, ReviewerEntry, Sent, SuccessfulReviewer,
    Trust, TrustReason,
};

/// The key of adapter metadata under which a run says that only a part of its answer was kept.
pub const SALVAGED: &str = "salvaged";

/// Judges a run by its reviewers' entries, by what reached them at worst, and by the doubts that
/// are known already.
pub fn assess(
    reviewers: &[ReviewerEntry],
    coverage: &Coverage,
    doubts: impl IntoIterator<Item = TrustReason>,
) -> Trust {
    let reasons = reviewers.iter().flat_map(entry_reasons);
    Trust::from_reasons(
        reasons
            .chain(coverage_reasons(coverage))
            .chain(nobody_looked(reviewers))
            .chain(doubts),
    )
}

/// Returns what of the patch reached the reviewers at worst. `best` has every file; the others may
/// list all of them or only those that went short.
pub fn worst_coverage<'a>(
    best: &Coverage,
    received: impl IntoIterator<Item = &'a [CoverageFile]>,
) -> Coverage {
    let mut worst = best.clone();
    let index = by_path(&best.files);
    for file in received.into_iter().flatten() {
        let Some(&at) = index.get(file.path.as_str()) else {
            continue;
        };
        if worst.files[at].sent < file.sent {
            worst.files[at] = file.clone();
        }
    }
    worst
}

/// Returns the files of which a reviewer received less than `best` says, if there are any.
pub fn shortfall(best: &Coverage, received: &Coverage) -> Option<Vec<CoverageFile>> {
    let index = by_path(&best.files);
    let is_less = |file: &&CoverageFile| {
        let at = index.get(file.path.as_str());
        at.is_some_and(|&at| best.files[at].sent < file.sent)
    };
    let files: Vec<CoverageFile> = received.files.iter().filter(is_less).cloned().collect();
    (!files.is_empty()).then_some(files)
}

fn by_path(files: &[CoverageFile]) -> HashMap<&str, usize> {
    let indexed = files.iter().enumerate();
    indexed.map(|(at, file)| (file.path.as_str(), at)).collect()
}

/// Returns what speaks against one reviewer.
pub(super) fn entry_reasons(entry: &ReviewerEntry) -> Vec<TrustReason> {
    let entry = match entry {
        ReviewerEntry::Failed(entry) => {
            let cut_short = match entry.error.reason {
                Some(Reason::Interrupted) => Some(TrustReason::Interrupted),
                Some(Reason::MaxTime) => Some(TrustReason::MaxTime),
                _ => None,
            };
            return [TrustReason::ReviewerFailed]
                .into_iter()
                .chain(cut_short)
                .collect();
        }
        ReviewerEntry::Success(entry) => entry,
    };
    let mut reasons = Vec::new();
    if entry.validation.parse_mode == ParseMode::FallbackText || !entry.validation.valid_schema {
        reasons.push(TrustReason::FallbackText);
    }
    let metadata = entry.adapter_metadata.as_ref();
    if metadata.is_some_and(|metadata| metadata.contains_key(SALVAGED)) {
        reasons.push(TrustReason::Salvaged);
    }
    if is_vacuous(&entry.result) || received_nothing(entry) {
        reasons.push(TrustReason::VacuousAnswer);
    }
    reasons
}

/// Whether an answer without findings comes from a model that, by the engine's own account, was
/// sent nothing and did nothing.
fn received_nothing(entry: &SuccessfulReviewer) -> bool {
    let metadata = entry.adapter_metadata.as_ref();
    let calls = metadata.and_then(|metadata| metadata.get("toolCalls")?.as_u64());
    entry.result.findings.is_empty()
        && calls.unwrap_or_default() == 0
        && entry.usage.as_ref().is_some_and(denies_receipt)
}

fn coverage_reasons(coverage: &Coverage) -> Vec<TrustReason> {
    let any = |sent| coverage.files.iter().any(|file| file.sent == sent);
    let all_pruned = coverage.files.iter().all(|file| file.sent == Sent::Pruned);
    let reasons = [
        (any(Sent::Clipped), TrustReason::Clipped),
        (any(Sent::Masked), TrustReason::Masked),
        (
            all_pruned && !coverage.files.is_empty(),
            TrustReason::AllPruned,
        ),
    ];
    let holding = reasons.into_iter().filter(|&(holds, _)| holds);
    holding.map(|(_, reason)| reason).collect()
}

/// A run in which only the fixture engine answered shows no sign that the patch was read, whoever
/// else failed. A run without reviewers had nothing to review, which is a doubt of its own, and one
/// in which all failed has no answer to doubt.
fn nobody_looked(reviewers: &[ReviewerEntry]) -> Option<TrustReason> {
    let mut answered = reviewers
        .iter()
        .filter_map(|entry| match entry {
            ReviewerEntry::Success(entry) => Some(&entry.identity),
            ReviewerEntry::Failed(_) => None,
        })
        .filter(|identity| identity.id.0 != INTEGRITY_ID)
        .peekable();
    answered.peek()?;
    answered
        .all(|identity| identity.engine == EngineName::Fake)
        .then_some(TrustReason::VacuousAnswer)
}

#[cfg(test)]
mod tests;
