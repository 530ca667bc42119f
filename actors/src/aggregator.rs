//! The one place that linearizes: it owns the order of events and everybody's entries.
//!
//! Reviewers are the source of truth for themselves, the aggregator for what the outside sees. It
//! does not know which sinks exist, and publishes no terminal frame: sinks write that one when
//! they are handed the outcome.

use std::sync::Arc;

use actix::prelude::*;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use crate::conclude::conclude;
use crate::messages::{Conclude, Fact, Observed, RunBegan};
use crate::model::{Frame, ReviewEvent, ReviewerEntry, ReviewerId, ReviewerSummary};
use crate::plan::RunPlan;
use crate::process::crashed;
use crate::schedule::Slot;
use crate::sink::{Publisher, RunFailure, RunOutcome};

/// Owns the run's events and entries.
pub(crate) struct Aggregator {
    plan: Arc<RunPlan>,
    publisher: Publisher,
    /// One per reviewer, in the order asked for.
    entries: Vec<Option<ReviewerEntry>>,
    began: Instant,
}

impl Aggregator {
    pub(crate) fn new(plan: Arc<RunPlan>, publisher: Publisher) -> Self {
        Self {
            entries: plan.reviewers.iter().map(|_| None).collect(),
            plan,
            publisher,
            began: Instant::now(),
        }
    }

    fn publish(&self, event: ReviewEvent) {
        self.publisher.publish(Frame::new(event));
    }

    fn name(&self, slot: Slot) -> ReviewerId {
        self.plan.reviewers[slot.reviewer].id.clone()
    }
}

impl Actor for Aggregator {
    type Context = Context<Self>;
}

impl Handler<RunBegan> for Aggregator {
    type Result = ();

    fn handle(&mut self, _: RunBegan, _: &mut Self::Context) {
        let summary = |reviewer: &crate::plan::ReviewerPlan| ReviewerSummary {
            id: reviewer.id.clone(),
            engine: reviewer.engine_name,
        };
        self.publish(ReviewEvent::RunStarted {
            cwd: self.plan.cwd.clone(),
            target: self.plan.target.as_ref().clone(),
            reviewers: self.plan.reviewers.iter().map(summary).collect(),
        });
        for reviewer in &self.plan.reviewers {
            self.publish(ReviewEvent::PreflightStarted {
                reviewer_id: reviewer.id.clone(),
            });
        }
    }
}

impl Handler<Observed> for Aggregator {
    type Result = ();

    fn handle(&mut self, Observed { slot, fact }: Observed, _: &mut Self::Context) {
        let reviewer_id = self.name(slot);
        match fact {
            Fact::PreflightDone { ok, timing_ms } => {
                self.publish(ReviewEvent::PreflightFinished {
                    reviewer_id,
                    ok,
                    timing_ms,
                });
            }
            Fact::Started => self.publish(ReviewEvent::ReviewerStarted { reviewer_id }),
            Fact::Progress {
                progress,
                elapsed_ms,
            } => self.publish(ReviewEvent::ReviewerProgress {
                reviewer_id,
                turns: progress.turns,
                tools: progress.tools,
                tokens: progress.tokens,
                elapsed_ms,
            }),
            Fact::Ended(entry) => {
                self.publish(match entry.as_ref() {
                    ReviewerEntry::Failed(failed) => ReviewEvent::ReviewerFailed {
                        reviewer_id,
                        error: failed.error.clone(),
                        timing_ms: failed.timing_ms.unwrap_or_default(),
                    },
                    ReviewerEntry::Success(_) => ReviewEvent::ReviewerResult {
                        reviewer_id,
                        provisional: true,
                        artifact: entry.clone(),
                    },
                });
                self.entries[slot.reviewer] = Some(*entry);
            }
        }
    }
}

impl Handler<Conclude> for Aggregator {
    type Result = ResponseFuture<RunOutcome>;

    fn handle(&mut self, message: Conclude, _: &mut Self::Context) -> Self::Result {
        let plan = Arc::clone(&self.plan);
        let entries: Vec<_> = self.entries.iter_mut().filter_map(Option::take).collect();
        let timing_ms = elapsed_ms(self.began);
        let integrity = self.plan.integrity.clone();
        Box::pin(async move {
            spawn_blocking(move || conclude(&plan, entries, message.interrupt, timing_ms))
                .await
                .unwrap_or_else(|error| {
                    RunOutcome::Failed(RunFailure {
                        failure: crashed(&error),
                        reviewer: None,
                        integrity,
                    })
                })
        })
    }
}

/// Returns the time since `start` in milliseconds.
pub(crate) fn elapsed_ms(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}
