//! The one place that linearizes: it owns the order of events and everybody's entries.
//!
//! Reviewers are the source of truth for themselves, the aggregator for what the outside sees. It
//! does not know which sinks exist, and publishes no terminal frame: sinks write that one when
//! they are handed the outcome. What must stay true: a lane is concluded once, after the last of
//! its reviewers, and its last frame comes before the outcome.

use std::sync::Arc;

use actix::prelude::*;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::Instant;

use crate::conclude::{LaneOutcome, conclude_lane, conclude_run, tell_tree_changes};
use crate::messages::{Conclude, Fact, Observed, RunBegan};
use crate::model::{Frame, ReviewEvent, ReviewerEntry, ReviewerSummary};
use crate::plan::RunPlan;
use crate::process::crashed;
use crate::schedule::Slot;
use crate::sink::{Publisher, RunFailure, RunOutcome};

/// Owns the run's events and entries.
pub(crate) struct Aggregator {
    plan: Arc<RunPlan>,
    publisher: Publisher,
    /// In the order of the plan.
    lanes: Vec<LaneState>,
    began: Instant,
}

/// What is known of one lane.
struct LaneState {
    /// One per reviewer, in the order asked for.
    entries: Vec<Option<ReviewerEntry>>,
    /// How many of them are missing.
    missing: usize,
    /// Its conclusion, from the moment the last entry came.
    conclusion: Option<JoinHandle<LaneOutcome>>,
}

impl Aggregator {
    pub(crate) fn new(plan: Arc<RunPlan>, publisher: Publisher) -> Self {
        let reviewers = plan.reviewers.len();
        let lane = || LaneState {
            entries: vec![None; reviewers],
            missing: reviewers,
            conclusion: None,
        };
        Self {
            lanes: plan.lanes.iter().map(|_| lane()).collect(),
            plan,
            publisher,
            began: Instant::now(),
        }
    }

    /// Publishes what happened in a lane; a run without lanes of its own names none.
    fn publish(&self, lane: usize, event: ReviewEvent) {
        self.publisher.publish(match &self.plan.batch {
            None => Frame::new(event),
            Some(_) => Frame::in_lane(self.plan.lanes[lane].lane.id.clone(), event),
        });
    }

    fn summaries(&self) -> Vec<ReviewerSummary> {
        let reviewers = self.plan.reviewers.iter();
        let summaries = reviewers.map(|reviewer| ReviewerSummary {
            id: reviewer.id.clone(),
            engine: reviewer.engine_name,
        });
        summaries.collect()
    }

    fn keep(&mut self, slot: Slot, entry: ReviewerEntry) {
        let lane = &mut self.lanes[slot.lane];
        if lane.entries[slot.reviewer].replace(entry).is_none() {
            lane.missing = lane.missing.saturating_sub(1);
        }
        if lane.missing == 0 {
            self.close(slot.lane);
        }
    }

    /// Begins to conclude a lane. Its frame is published as soon as its artifact is made.
    fn close(&mut self, position: usize) {
        let lane = &mut self.lanes[position];
        if lane.conclusion.is_some() {
            return;
        }
        let entries: Vec<_> = lane.entries.iter_mut().filter_map(Option::take).collect();
        let (plan, publisher) = (Arc::clone(&self.plan), self.publisher.clone());
        let timing_ms = elapsed_ms(self.began);
        lane.conclusion = Some(tokio::spawn(async move {
            let judged = Arc::clone(&plan);
            let conclude = move || {
                ended(
                    &judged,
                    position,
                    conclude_lane(&judged, entries, timing_ms),
                )
            };
            let (outcome, event) = spawn_blocking(conclude).await.unwrap_or_else(|error| {
                ended(
                    &plan,
                    position,
                    LaneOutcome::failed(crashed(&error), timing_ms),
                )
            });
            if let Some(event) = event {
                publisher.publish(Frame::new(event));
            }
            outcome
        }));
    }
}

/// Pairs an outcome with the last event of its lane, which only a batch tells.
fn ended(
    plan: &RunPlan,
    position: usize,
    outcome: LaneOutcome,
) -> (LaneOutcome, Option<ReviewEvent>) {
    if plan.batch.is_none() {
        return (outcome, None);
    }
    let artifact = outcome.to_artifact(&plan.lanes[position].lane);
    let (lane_id, timing_ms) = (artifact.lane.id, outcome.timing_ms);
    let event = match (artifact.artifact, artifact.error) {
        (Some(artifact), _) => ReviewEvent::LaneFinished {
            lane_id,
            artifact,
            timing_ms,
        },
        (None, error) => ReviewEvent::LaneFailed {
            lane_id,
            error: error.expect("a lane without an artifact has an error"),
            timing_ms,
        },
    };
    (outcome, Some(event))
}

impl Actor for Aggregator {
    type Context = Context<Self>;
}

impl Handler<RunBegan> for Aggregator {
    type Result = ();

    fn handle(&mut self, _: RunBegan, _: &mut Self::Context) {
        let (cwd, target) = (&self.plan.cwd, self.plan.target.as_ref());
        if let Some(plan) = &self.plan.batch {
            self.publisher
                .publish(Frame::new(ReviewEvent::BatchStarted {
                    cwd: cwd.clone(),
                    target: target.clone(),
                    reviewers: self.summaries(),
                    plan: plan.clone(),
                }));
        }
        for lane in 0..self.lanes.len() {
            let event = ReviewEvent::RunStarted {
                cwd: cwd.clone(),
                target: target.clone(),
                reviewers: self.summaries(),
            };
            self.publish(lane, event);
        }
        for lane in 0..self.lanes.len() {
            for reviewer in &self.plan.reviewers {
                let reviewer_id = reviewer.id.clone();
                self.publish(lane, ReviewEvent::PreflightStarted { reviewer_id });
            }
        }
        // Without reviewers nobody will report.
        if self.plan.reviewers.is_empty() {
            (0..self.lanes.len()).for_each(|lane| self.close(lane));
        }
    }
}

impl Handler<Observed> for Aggregator {
    type Result = ();

    fn handle(&mut self, Observed { slot, fact }: Observed, _: &mut Self::Context) {
        let reviewer_id = self.plan.reviewers[slot.reviewer].id.clone();
        let (event, entry) = match fact {
            Fact::PreflightDone { ok, timing_ms } => {
                let event = ReviewEvent::PreflightFinished {
                    reviewer_id,
                    ok,
                    timing_ms,
                };
                (event, None)
            }
            Fact::Started => (ReviewEvent::ReviewerStarted { reviewer_id }, None),
            Fact::Progress {
                progress,
                elapsed_ms,
            } => {
                let event = ReviewEvent::ReviewerProgress {
                    reviewer_id,
                    turns: progress.turns,
                    tools: progress.tools,
                    tokens: progress.tokens,
                    elapsed_ms,
                };
                (event, None)
            }
            Fact::Ended(entry) => {
                let event = match entry.as_ref() {
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
                };
                (event, Some(*entry))
            }
        };
        self.publish(slot.lane, event);
        if let Some(entry) = entry {
            self.keep(slot, entry);
        }
    }
}

impl Handler<Conclude> for Aggregator {
    type Result = ResponseFuture<RunOutcome>;

    fn handle(&mut self, message: Conclude, _: &mut Self::Context) -> Self::Result {
        let plan = Arc::clone(&self.plan);
        (0..self.lanes.len()).for_each(|lane| self.close(lane));
        let lanes = self.lanes.iter_mut();
        let conclusions: Vec<_> = lanes.filter_map(|lane| lane.conclusion.take()).collect();
        let began = self.began;
        let integrity = self.plan.integrity.clone();
        Box::pin(async move {
            let mut lanes = Vec::new();
            for conclusion in conclusions {
                let outcome = conclusion.await;
                lanes.push(outcome.unwrap_or_else(|error| {
                    LaneOutcome::failed(crashed(&error), elapsed_ms(began))
                }));
            }
            let timing_ms = elapsed_ms(began);
            let conclude = move || {
                let outcome = conclude_run(&plan, lanes, message.interrupt, timing_ms);
                tell_tree_changes(&plan, outcome)
            };
            spawn_blocking(conclude).await.unwrap_or_else(|error| {
                RunOutcome::Failed(RunFailure {
                    integrity,
                    ..RunFailure::from(crashed(&error))
                })
            })
        })
    }
}

/// Returns the time since `start` in milliseconds.
pub(crate) fn elapsed_ms(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}
