//! Watching the work tree while it is reviewed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use diffwarden_actors::model::{EngineName, Failure};
use diffwarden_actors::plan::TreeGuard;

use crate::engines::settings::ReviewerSettings;
use crate::env::Environment;
use crate::git::{Repository, TreeState, own_outputs};

/// A first look at the work tree that is under way beside the rest of the planning.
pub(super) struct FirstLook {
    place: Place,
    looking: Option<JoinHandle<Result<TreeState, Failure>>>,
}

/// Where to look.
#[derive(Clone)]
struct Place {
    cwd: PathBuf,
    env: Environment,
}

/// The work tree as it was before the first engine ran.
struct Watched {
    place: Place,
    before: Result<TreeState, Failure>,
}

impl FirstLook {
    /// Starts to look; reviewers inside diffwarden alone need no watching.
    pub(super) fn start(
        cwd: &Path,
        env: &Environment,
        selected: &[ReviewerSettings],
    ) -> Option<Self> {
        let inside = |engine| matches!(engine, EngineName::Surface | EngineName::Fake);
        if selected.iter().all(|settings| inside(settings.engine)) {
            return None;
        }
        let place = Place {
            cwd: cwd.to_owned(),
            env: env.clone(),
        };
        let there = place.clone();
        // Without a thread it is looked at when the state is asked for.
        let looking = Builder::new().spawn(move || there.look()).ok();
        Some(Self { place, looking })
    }

    /// Waits for the look to end.
    pub(super) fn finish(self) -> Arc<dyn TreeGuard> {
        let looked = self.looking.and_then(|looking| looking.join().ok());
        let before = looked.unwrap_or_else(|| self.place.look());
        Arc::new(Watched {
            place: self.place,
            before,
        })
    }
}

impl Place {
    /// Opens the repository anew: a handle belongs to one thread at a time, and what was known of
    /// the repository may be what changed.
    fn look(&self) -> Result<TreeState, Failure> {
        Repository::open(&self.cwd, &self.env)?.fingerprint(&own_outputs())
    }
}

impl TreeGuard for Watched {
    fn changed_paths(&self) -> Result<Vec<String>, Failure> {
        let before = self.before.as_ref().map_err(Clone::clone)?;
        let changed = self.place.look()?.changes_since(before);
        Ok(changed.iter().map(ToString::to_string).collect())
    }
}
