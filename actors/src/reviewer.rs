//! A reviewer owns one session: one engine, looked at once, asked as often as its course says.
//!
//! The actor only holds the brake; [`session`] is what it brakes. What must stay true: the reviewer's
//! deadline counts from its permit and covers preflight and everything that is asked; a panic in an
//! engine is this reviewer's failure.

mod ending;
mod session;

use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use tokio::sync::watch;
use tokio::time::Instant;

use self::session::Session;
use crate::aggregator::Aggregator;
use crate::messages::{Review, StopReview};
use crate::model::ReviewerEntry;
use crate::plan::RunPlan;
use crate::process::Leash;
use crate::schedule::{Slot, StopLevel};
use crate::shared::Shared;
use crate::snapshot::Spelling;
use crate::supervisor::Supervisor;

pub(crate) use self::ending::{failed_entry, out_of_time, timed_out};

/// Timers cannot be set further ahead than about two years; nobody waits for one.
pub(crate) const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Owns one session.
pub(crate) struct Reviewer {
    plan: Arc<RunPlan>,
    slot: Slot,
    shared: Arc<Shared>,
    stop: watch::Sender<StopLevel>,
    supervisor: Addr<Supervisor>,
    aggregator: Addr<Aggregator>,
}

impl Reviewer {
    pub(crate) fn new(
        plan: Arc<RunPlan>,
        slot: Slot,
        shared: Arc<Shared>,
        supervisor: Addr<Supervisor>,
        aggregator: Addr<Aggregator>,
    ) -> Self {
        Self {
            plan,
            slot,
            shared,
            stop: watch::Sender::new(StopLevel::Run),
            supervisor,
            aggregator,
        }
    }
}

impl Actor for Reviewer {
    type Context = Context<Self>;
}

impl Handler<StopReview> for Reviewer {
    type Result = ();

    fn handle(&mut self, StopReview(level): StopReview, _: &mut Self::Context) {
        self.stop.send_if_modified(|now| {
            level > *now && {
                *now = level;
                true
            }
        });
    }
}

impl Handler<Review> for Reviewer {
    type Result = ResponseActFuture<Self, ReviewerEntry>;

    fn handle(&mut self, _: Review, _: &mut Self::Context) -> Self::Result {
        let permitted = Instant::now();
        let timeout = self.plan.reviewers[self.slot.reviewer].timeout;
        let own_end = timeout.map(|timeout| permitted + timeout.min(LONGEST_TIMEOUT));
        let session = Session {
            plan: Arc::clone(&self.plan),
            slot: self.slot,
            shared: Arc::clone(&self.shared),
            supervisor: self.supervisor.clone(),
            aggregator: self.aggregator.clone(),
            permitted,
            spelling: Spelling::of(&self.plan),
            leash: Leash {
                stop: self.stop.subscribe(),
                deadline: own_end.into_iter().chain(self.shared.deadline).min(),
                grace: self.plan.policy.grace,
                max_output: self.plan.policy.max_output,
                repo_root: self.plan.scope.repo_root.as_path().into(),
                work_root: self.plan.work_root().into(),
            },
        };
        Box::pin(session.run().into_actor(self))
    }
}
