//! How many reviewers the system's limit of open files has room for.
//!
//! A reviewer that cannot open a file fails, and one that waits for its turn does not; so a limit
//! lower than the user's wish (256 on macOS, and in many containers) lowers how many run at a time.

use rustix::process::{Resource, getrlimit};

/// What one reviewer needs at most: its folder, the pipes and handles of three probes side by side,
/// and the files that are written or removed at that moment.
const PER_REVIEWER: u64 = 12;

/// What the rest of the process needs: its streams, its outputs, its signals, the repository.
const RESERVED: u64 = 40;

/// Returns how many reviewers may run at a time when `wanted` are wanted.
pub(crate) fn affordable(wanted: usize) -> usize {
    // What has no limit tells no number.
    let limit = getrlimit(Resource::Nofile).current;
    let room = limit.map_or(usize::MAX, room_for);
    if room < wanted {
        tracing::warn!(
            wanted,
            room,
            "fewer reviewers run at a time, for lack of open files"
        );
    }
    wanted.min(room)
}

fn room_for(limit: u64) -> usize {
    let reviewers = limit.saturating_sub(RESERVED) / PER_REVIEWER;
    usize::try_from(reviewers).unwrap_or(usize::MAX).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_low_limit_leaves_room_for_some_and_always_for_one() {
        assert_eq!(room_for(256), 18);
        assert_eq!(room_for(1024), 82);
        assert_eq!(room_for(RESERVED), 1);
        assert_eq!(room_for(0), 1);
        assert!(room_for(u64::MAX) > 1 << 32);
    }

    #[test]
    fn nobody_gets_more_than_was_wanted() {
        assert_eq!(affordable(0), 0);
        assert_eq!(affordable(1), 1);
    }
}
