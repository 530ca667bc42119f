//! A lane routes: permits to its reviewers, their ends to the aggregator and the supervisor.
//!
//! It owns its reviewers' addresses, which keep them alive, and it is where a dead reviewer is
//! noticed: a review that is never answered is that reviewer's failure and nobody else's.

use std::sync::Arc;

use actix::prelude::*;
use tokio::time::Instant;

use crate::aggregator::{Aggregator, elapsed_ms};
use crate::messages::{Fact, Observed, Permit, PermitDone, Review, StopLane, StopReview};
use crate::model::{ErrorCode, Failure, Reason, ReviewerEntry};
use crate::plan::RunPlan;
use crate::reviewer::{Reviewer, failed_entry};
use crate::schedule::Slot;
use crate::shared::Shared;
use crate::supervisor::Supervisor;

/// One way of looking at the change.
pub(crate) struct Lane {
    position: usize,
    plan: Arc<RunPlan>,
    reviewers: Vec<Addr<Reviewer>>,
    supervisor: Addr<Supervisor>,
    aggregator: Addr<Aggregator>,
}

impl Lane {
    /// Creates the lane at `position` in the plan, with all its reviewers.
    pub(crate) fn new(
        position: usize,
        plan: &Arc<RunPlan>,
        shared: &Arc<Shared>,
        supervisor: Addr<Supervisor>,
        aggregator: Addr<Aggregator>,
    ) -> Self {
        let reviewers = (0..plan.reviewers.len())
            .map(|reviewer| {
                let slot = Slot {
                    lane: position,
                    reviewer,
                };
                let (plan, shared) = (Arc::clone(plan), Arc::clone(shared));
                let (supervisor, aggregator) = (supervisor.clone(), aggregator.clone());
                Reviewer::new(plan, slot, shared, supervisor, aggregator).start()
            })
            .collect();
        Self {
            position,
            plan: Arc::clone(plan),
            reviewers,
            supervisor,
            aggregator,
        }
    }

    fn close(&self, slot: Slot, entry: ReviewerEntry) {
        let succeeded = matches!(entry, ReviewerEntry::Success(_));
        self.aggregator.do_send(Observed {
            slot,
            fact: Fact::Ended(Box::new(entry)),
        });
        self.supervisor.do_send(PermitDone { slot, succeeded });
    }
}

impl Actor for Lane {
    type Context = Context<Self>;
}

impl Handler<Permit> for Lane {
    type Result = ();

    fn handle(&mut self, Permit(reviewer): Permit, ctx: &mut Self::Context) {
        let slot = Slot {
            lane: self.position,
            reviewer,
        };
        let permitted = Instant::now();
        let review = self.reviewers[reviewer].send(Review).into_actor(self);
        ctx.spawn(review.map(move |answer, lane, _| {
            let entry = answer.unwrap_or_else(|_| {
                let plan = &lane.plan.reviewers[reviewer];
                failed_entry(plan, &died(), None, elapsed_ms(permitted))
            });
            lane.close(slot, entry);
        }));
    }
}

impl Handler<StopLane> for Lane {
    type Result = ();

    fn handle(&mut self, StopLane(level): StopLane, _: &mut Self::Context) {
        for reviewer in &self.reviewers {
            reviewer.do_send(StopReview(level));
        }
    }
}

fn died() -> Failure {
    Failure::new(
        ErrorCode::ReviewerFailed,
        "an internal error ended the reviewer",
    )
    .reason(Reason::Crash)
    .hint("This is a defect of diffwarden; please report it.")
}
