//! Whether engines look at a frozen copy of the reviewed tree, and what they are told of it.

use std::sync::Arc;

use diffwarden_actors::model::{Failure, Patch, ReviewTarget, TargetKind, TrustReason};
use diffwarden_actors::snapshot::PlannedSnapshot;

use super::{Request, SnapshotChoice, resolve_options};
use crate::config::LoadedConfig;
use crate::engines::settings::ReviewerSettings;
use crate::git::{Repository, Resolved};
use crate::snapshot::{Freezing, SnapshotLimits, is_engine};

/// Plans the copy that engines look at, where there is to be one and somebody to look at it.
pub(super) fn freeze(
    request: &Request,
    config: Option<&LoadedConfig>,
    repository: &Repository,
    resolved: &Resolved,
    patch: &Patch,
    selected: &[ReviewerSettings],
) -> Result<Option<PlannedSnapshot>, Failure> {
    let target = &resolved.target;
    let is_wanted = match request.snapshot {
        SnapshotChoice::Always => true,
        SnapshotChoice::Never => false,
        SnapshotChoice::WhereNeeded => {
            target.kind == TargetKind::Commit && resolved.doubts.contains(&TrustReason::TreeDiffers)
        }
    };
    let is_empty = target.is_diff_backed() && patch.is_empty();
    let is_seen = selected.iter().any(|it| is_engine(it.engine));
    if !is_wanted || !is_seen || is_empty {
        return Ok(None);
    }
    let freezing = Freezing {
        repository,
        resolved,
        options: &resolve_options(request),
        patch,
        selected,
        allow_instructions: request.allow_unsafe_input,
        limits: snapshot_limits(config),
    };
    freezing.plan().map(Some)
}

/// Returns the target as models are told of it: its folder is the one they can look at.
pub(super) fn told_target(
    target: &Arc<ReviewTarget>,
    snapshot: Option<&PlannedSnapshot>,
) -> Arc<ReviewTarget> {
    let Some(snapshot) = snapshot else {
        return Arc::clone(target);
    };
    let mut told = target.as_ref().clone();
    told.repo_root = snapshot.tree().to_string_lossy().into_owned();
    Arc::new(told)
}

fn snapshot_limits(config: Option<&LoadedConfig>) -> SnapshotLimits {
    let intake = config.map(|loaded| loaded.config.intake.clone());
    SnapshotLimits::new(&intake.unwrap_or_default())
}
