//! What all lanes of a run share: the run's deadline and each reviewer's preflight.
//!
//! What must stay true: a preflight that came to a verdict is not made again, whoever asks; one
//! that was cut short by its maker's own limits says nothing about the others, so the next in line
//! makes it anew; and nobody waits for another's preflight beyond its own limits.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::engine::PreflightPass;
use crate::model::Failure;
use crate::plan::RunPlan;
use crate::process::{Halt, Leash};

/// Owned by everybody who takes part in a run.
pub(crate) struct Shared {
    /// When the time of the whole run is over.
    pub(crate) deadline: Option<Instant>,
    /// One per reviewer, by its position in the plan.
    preflights: Vec<Arc<SharedPreflight>>,
}

/// The verdict on one reviewer's engine, once somebody has asked for it.
#[derive(Default)]
pub(crate) struct SharedPreflight(Mutex<Option<Result<PreflightPass, Failure>>>);

impl Shared {
    /// Creates what a run shares; reviewers with the same engine instance share one preflight.
    pub(crate) fn new(plan: &RunPlan, deadline: Option<Instant>) -> Self {
        let mut preflights: Vec<Arc<SharedPreflight>> = Vec::new();
        for (position, reviewer) in plan.reviewers.iter().enumerate() {
            let earlier = plan.reviewers[..position]
                .iter()
                .position(|other| Arc::ptr_eq(&other.engine, &reviewer.engine));
            preflights.push(earlier.map_or_else(Arc::default, |at| Arc::clone(&preflights[at])));
        }
        Self {
            deadline,
            preflights,
        }
    }

    /// Returns the preflight of the reviewer at `position`.
    pub(crate) fn preflight(&self, position: usize) -> &SharedPreflight {
        &self.preflights[position]
    }
}

impl SharedPreflight {
    /// Returns the verdict, and makes it with `check` when nobody has.
    ///
    /// # Errors
    ///
    /// The failure that preflight ended with, or why `leash` cut the waiting or the check short.
    pub(crate) async fn get(
        &self,
        mut leash: Leash,
        check: impl Future<Output = Result<PreflightPass, Halt>>,
    ) -> Result<PreflightPass, Halt> {
        let mut verdict = tokio::select! {
            biased;
            verdict = self.0.lock() => verdict,
            halt = leash.halted() => return Err(halt),
        };
        if let Some(verdict) = verdict.as_ref() {
            return verdict.clone().map_err(Halt::Failed);
        }
        let outcome = check.await;
        *verdict = match &outcome {
            Ok(pass) => Some(Ok(pass.clone())),
            Err(Halt::Failed(failure)) => Some(Err(failure.clone())),
            Err(Halt::Deadline | Halt::Stopped) => None,
        };
        outcome
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::watch;

    use super::*;
    use crate::model::{ErrorCode, PreflightReport};
    use crate::schedule::StopLevel;
    use crate::testing::{TestEngine, plan, reviewer};

    fn leash(stop: &watch::Sender<StopLevel>, seconds: u64) -> Leash {
        Leash {
            stop: stop.subscribe(),
            deadline: Some(Instant::now() + Duration::from_secs(seconds)),
            grace: Duration::ZERO,
            max_output: 0,
            repo_root: std::path::Path::new("/no/such/repo").into(),
            work_root: std::path::Path::new("/no/such/repo").into(),
        }
    }

    async fn takes(seconds: u64) -> Result<PreflightPass, Halt> {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        Ok(PreflightPass::default())
    }

    async fn unasked() -> Result<PreflightPass, Halt> {
        panic!("the verdict was known")
    }

    #[tokio::test(start_paused = true)]
    async fn one_asks_and_the_others_wait_for_the_verdict() {
        let (preflight, stop) = (
            SharedPreflight::default(),
            watch::Sender::new(StopLevel::Run),
        );
        let (first, second) = tokio::join!(
            preflight.get(leash(&stop, 60), takes(5)),
            preflight.get(leash(&stop, 60), unasked()),
        );
        assert_eq!(first, Ok(PreflightPass::default()));
        assert_eq!(second, first);
    }

    #[tokio::test]
    async fn a_failure_is_a_verdict_too() {
        let (preflight, stop) = (
            SharedPreflight::default(),
            watch::Sender::new(StopLevel::Run),
        );
        let failure = Failure::new(ErrorCode::MissingAuth, "not logged in");
        let fails = async { Err(Halt::Failed(failure.clone())) };
        for outcome in [
            preflight.get(leash(&stop, 60), fails).await,
            preflight.get(leash(&stop, 60), unasked()).await,
        ] {
            assert_eq!(outcome, Err(Halt::Failed(failure.clone())));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_is_bound_by_its_own_limits() {
        let (preflight, stop) = (
            SharedPreflight::default(),
            watch::Sender::new(StopLevel::Run),
        );
        let (first, second) = tokio::join!(
            preflight.get(leash(&stop, 60), takes(5)),
            preflight.get(leash(&stop, 1), unasked()),
        );
        assert!(first.is_ok());
        assert_eq!(second, Err(Halt::Deadline));
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_ran_out_of_time_is_made_again_by_the_next() {
        let (preflight, stop) = (
            SharedPreflight::default(),
            watch::Sender::new(StopLevel::Run),
        );
        let cut_short = async {
            takes(1).await?;
            Err(Halt::Deadline)
        };
        let report = PreflightReport {
            metadata: [("round".to_owned(), 2.into())].into_iter().collect(),
            ..PreflightReport::default()
        };
        let pass = PreflightPass {
            report,
            ..PreflightPass::default()
        };
        let (first, second, third) = tokio::join!(
            preflight.get(leash(&stop, 60), cut_short),
            preflight.get(leash(&stop, 60), async { Ok(pass.clone()) }),
            preflight.get(leash(&stop, 60), unasked()),
        );
        assert_eq!(first, Err(Halt::Deadline));
        assert_eq!(second, Ok(pass.clone()));
        assert_eq!(third, Ok(pass.clone()));
    }

    #[test]
    fn reviewers_with_one_engine_have_one_preflight() {
        let a = reviewer("a", TestEngine::content());
        let plan = plan(vec![a.clone(), reviewer("b", TestEngine::content()), a]);
        let shared = Shared::new(&plan, None);
        let same = |left: usize, right: usize| {
            Arc::ptr_eq(&shared.preflights[left], &shared.preflights[right])
        };
        assert!(same(0, 2));
        assert!(!same(0, 1));
    }
}
