//! The supervisor of a run: plan, permits, stop level, the run's deadline, exit policy.
//!
//! ```text
//!  signals, sinks ── Interrupted ──► Supervisor ── Permit, StopLane ──► Lane ── Review, StopReview ──► Reviewer
//!                                      ▲   │                             │                               │
//!                                      │   └─ RunBegan, Conclude ──┐     │ Observed(Ended)      Observed │
//!                                      └──── PermitDone ───────────┼─────┤                               │
//!                                                                  ▼     ▼                               │
//!                                                                Aggregator ◄────────────────────────────┘
//! ```
//!
//! It decides nothing itself: the schedule does, and the supervisor carries out its steps. What
//! must stay true: the outcome is handed over only after the last reviewer has reported, so no
//! child is left when the System goes.

pub(crate) mod open_files;

use std::collections::HashMap;
use std::sync::Arc;

use actix::prelude::*;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::aggregator::Aggregator;
use crate::conclude::interrupted;
use crate::lane::Lane;
use crate::messages::{
    Conclude, Fact, Interrupted, Observed, Permit, PermitDone, PermitPaused, PermitWanted,
    RunBegan, Start, StopLane,
};
use crate::model::{ErrorCode, Failure, Finding, Reason};
use crate::plan::RunPlan;
use crate::reviewer::{LONGEST_TIMEOUT, failed_entry, out_of_time};
use crate::schedule::{Limits, Schedule, Slot, Step, StopLevel};
use crate::shared::Shared;
use crate::sink::{Interrupt, Publisher, RunFailure, RunOutcome};

/// Owns the schedule of one run.
pub(crate) struct Supervisor {
    plan: Arc<RunPlan>,
    schedule: Schedule,
    lanes: Vec<Addr<Lane>>,
    aggregator: Addr<Aggregator>,
    /// What ended the run first.
    interrupt: Option<Interrupt>,
    is_out_of_time: bool,
    signals: usize,
    /// Reviewers that want their permits again.
    wanted: HashMap<Slot, oneshot::Sender<()>>,
    done: Option<oneshot::Sender<RunOutcome>>,
}

impl Supervisor {
    pub(crate) fn new(plan: Arc<RunPlan>, publisher: Publisher) -> Self {
        let policy = plan.policy;
        let engines: Vec<_> = plan.reviewers.iter().map(|it| it.engine_name).collect();
        let limits = Limits {
            total: open_files::affordable(policy.max_concurrency),
            per_engine: policy.max_concurrency_per_engine.unwrap_or(usize::MAX),
        };
        Self {
            schedule: Schedule::new(plan.lanes.len(), &engines, limits, policy.strict),
            is_out_of_time: false,
            lanes: Vec::new(),
            aggregator: Aggregator::new(Arc::clone(&plan), publisher).start(),
            plan,
            interrupt: None,
            signals: 0,
            wanted: HashMap::new(),
            done: None,
        }
    }

    fn carry_out(&mut self, steps: Vec<Step>, ctx: &mut Context<Self>) {
        for step in steps {
            match step {
                Step::Start(slot) => self.lanes[slot.lane].do_send(Permit(slot.reviewer)),
                Step::Resume(slot) => {
                    if let Some(permit) = self.wanted.remove(&slot) {
                        // A reviewer that does not listen any more reports its end.
                        permit.send(()).ok();
                    }
                }
                Step::Skip(slot) => self.skip(slot),
                Step::Stop(level) => {
                    for lane in &self.lanes {
                        lane.do_send(StopLane(level));
                    }
                }
                Step::StopLane(lane) => {
                    self.lanes[lane].do_send(StopLane(StopLevel::Gracefully));
                }
                Step::Conclude => self.conclude(ctx),
            }
        }
    }

    /// Reports a reviewer that never began.
    fn skip(&self, slot: Slot) {
        let reviewer = &self.plan.reviewers[slot.reviewer];
        let failure = match self.interrupt {
            Some(interrupt) => interrupted(interrupt),
            None if self.is_out_of_time => {
                out_of_time(&format!("before its turn came: {}", reviewer.id))
            }
            None => Failure::new(
                ErrorCode::ReviewerFailed,
                "not run, because another reviewer failed in strict mode",
            )
            .reason(Reason::Interrupted),
        };
        self.aggregator.do_send(Observed {
            slot,
            fact: Fact::Ended(Box::new(failed_entry(reviewer, &failure, None, 0))),
        });
    }

    fn conclude(&mut self, ctx: &mut Context<Self>) {
        let interrupt = self.interrupt;
        let request = self.aggregator.send(Conclude { interrupt });
        ctx.spawn(request.into_actor(self).map(|outcome, supervisor, _| {
            let outcome =
                outcome.unwrap_or_else(|_| internal_error(supervisor.plan.integrity.clone()));
            if let Some(done) = supervisor.done.take() {
                // Main waits for it until the end.
                drop(done.send(outcome));
            }
        }));
    }
}

impl Actor for Supervisor {
    type Context = Context<Self>;
}

impl Handler<Start> for Supervisor {
    type Result = ();

    fn handle(&mut self, Start { done, began }: Start, ctx: &mut Self::Context) {
        self.done = Some(done);
        self.aggregator.do_send(RunBegan);
        let max_time = self.plan.policy.max_time;
        let max_time = max_time.map(|time| time.min(LONGEST_TIMEOUT));
        let deadline = max_time.map(|time| began + time);
        let shared = Arc::new(Shared::new(&self.plan, deadline));
        self.lanes = (0..self.plan.lanes.len())
            .map(|lane| {
                let (supervisor, aggregator) = (ctx.address(), self.aggregator.clone());
                Lane::new(lane, &self.plan, &shared, supervisor, aggregator).start()
            })
            .collect();
        if let Some(deadline) = deadline {
            let left = deadline.saturating_duration_since(Instant::now());
            ctx.run_later(left, |supervisor, ctx| {
                supervisor.is_out_of_time = true;
                let steps = supervisor.schedule.expire();
                supervisor.carry_out(steps, ctx);
            });
        }
        let steps = self.schedule.begin();
        self.carry_out(steps, ctx);
    }
}

impl Handler<PermitDone> for Supervisor {
    type Result = ();

    fn handle(&mut self, message: PermitDone, ctx: &mut Self::Context) {
        let steps = self.schedule.ended(message.slot, message.succeeded);
        self.carry_out(steps, ctx);
    }
}

impl Handler<PermitPaused> for Supervisor {
    type Result = ();

    fn handle(&mut self, PermitPaused(slot): PermitPaused, ctx: &mut Self::Context) {
        let steps = self.schedule.paused(slot);
        self.carry_out(steps, ctx);
    }
}

impl Handler<PermitWanted> for Supervisor {
    type Result = ResponseFuture<()>;

    fn handle(
        &mut self,
        PermitWanted(slot): PermitWanted,
        ctx: &mut Self::Context,
    ) -> Self::Result {
        let (permit, permitted) = oneshot::channel();
        self.wanted.insert(slot, permit);
        let steps = self.schedule.wanted(slot);
        self.carry_out(steps, ctx);
        Box::pin(async move {
            // Without an answer the run is over, and the reviewer hears of that another way.
            if permitted.await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }
}

impl Handler<Interrupted> for Supervisor {
    type Result = ();

    /// The first signal asks, the second ends at once. A closed output only ever asks.
    fn handle(&mut self, Interrupted(interrupt): Interrupted, ctx: &mut Self::Context) {
        self.interrupt.get_or_insert(interrupt);
        if matches!(interrupt, Interrupt::Signal(_)) {
            self.signals += 1;
        }
        let level = if self.signals > 1 {
            StopLevel::Now
        } else {
            StopLevel::Gracefully
        };
        tracing::debug!(?interrupt, ?level, "the run is being ended");
        let steps = self.schedule.stop(level);
        self.carry_out(steps, ctx);
    }
}

/// Returns the outcome of a run whose own machinery failed.
pub(crate) fn internal_error(integrity: Vec<Finding>) -> RunOutcome {
    RunOutcome::Failed(RunFailure {
        failure: Failure::new(
            ErrorCode::ReviewerFailed,
            "an internal error ended the review",
        )
        .reason(Reason::Crash)
        .hint("This is a defect of diffwarden; please report it."),
        reviewer: None,
        integrity,
        partial: None,
    })
}
