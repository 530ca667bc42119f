//! Who runs when: permits, the stop level and what a failure does to the others.
//!
//! Pure. The supervisor owns the one [`Schedule`] of a run, tells it what happened and carries out
//! the [`Step`]s it answers with. What must stay true: every slot is started at most once, every
//! slot ends exactly once (by itself or skipped), no more run at a time than the limits say, and
//! [`Step::Conclude`] comes exactly once, as the last step of the run.

use std::collections::VecDeque;

use crate::model::EngineName;

/// One reviewer in one lane, by their positions in the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Slot {
    /// Position in `RunPlan::lanes`.
    pub(crate) lane: usize,
    /// Position in `RunPlan::reviewers`.
    pub(crate) reviewer: usize,
}

/// How urgently a run is being ended. It only ever rises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StopLevel {
    /// Not at all.
    Run,
    /// Children are asked to end and get their grace.
    Gracefully,
    /// Children are killed.
    Now,
}

/// What the supervisor has to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Give this slot its permit.
    Start(Slot),
    /// Give this slot its permit back: its wait is over.
    Resume(Slot),
    /// Report this slot as ended without having begun.
    Skip(Slot),
    /// End everything that runs.
    Stop(StopLevel),
    /// End what runs in this lane; it has failed already.
    StopLane(usize),
    /// Nothing runs and nothing waits: make the outcome.
    Conclude,
}

/// How many slots run at a time; 0 counts as 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Of all.
    pub(crate) total: usize,
    /// Of one engine's.
    pub(crate) per_engine: usize,
}

/// The queues, the permits and the stop level of one run.
#[derive(Debug)]
pub(crate) struct Schedule {
    /// One queue per engine, so that a busy engine holds up nobody else.
    queues: Vec<Queue>,
    /// The queue of each reviewer, by its position.
    queue_of: Vec<usize>,
    running: Vec<Slot>,
    /// Begun, and without a permit because they wait for their provider.
    paused: Vec<Slot>,
    /// Begun, and waiting for a permit again. They go first: their time runs.
    resuming: VecDeque<Slot>,
    limits: Limits,
    strict: bool,
    level: StopLevel,
    concluded: bool,
}

/// The slots of one engine.
#[derive(Debug, Default)]
struct Queue {
    /// Each with its turn in the order of the whole run.
    waiting: VecDeque<(usize, Slot)>,
    running: usize,
}

impl Schedule {
    /// Creates the schedule of every (lane, reviewer) pair; `engines` names the reviewers' engines.
    pub(crate) fn new(lanes: usize, engines: &[EngineName], limits: Limits, strict: bool) -> Self {
        let mut kinds: Vec<EngineName> = Vec::new();
        let mut queue_of = Vec::new();
        for engine in engines {
            let known = kinds.iter().position(|kind| kind == engine);
            queue_of.push(known.unwrap_or(kinds.len()));
            if known.is_none() {
                kinds.push(*engine);
            }
        }
        let mut queues: Vec<Queue> = kinds.iter().map(|_| Queue::default()).collect();
        for (turn, slot) in fair_order(lanes, engines.len()).enumerate() {
            queues[queue_of[slot.reviewer]]
                .waiting
                .push_back((turn, slot));
        }
        Self {
            queues,
            queue_of,
            running: Vec::new(),
            paused: Vec::new(),
            resuming: VecDeque::new(),
            limits,
            strict,
            level: StopLevel::Run,
            concluded: false,
        }
    }

    /// Opens the run.
    pub(crate) fn begin(&mut self) -> Vec<Step> {
        self.advance()
    }

    /// Takes note that a slot ended. In strict mode the first failure ends its lane: the others'
    /// answers could not change the lane's outcome any more, and they cost money.
    pub(crate) fn ended(&mut self, slot: Slot, succeeded: bool) -> Vec<Step> {
        if !(self.yield_permit(slot) || take(&mut self.paused, slot) || self.unqueue(slot)) {
            return Vec::new();
        }
        let mut steps = if self.strict && !succeeded {
            self.give_up(slot.lane)
        } else {
            Vec::new()
        };
        steps.extend(self.advance());
        steps
    }

    /// Takes a slot's permit for the time of its wait.
    pub(crate) fn paused(&mut self, slot: Slot) -> Vec<Step> {
        if !self.yield_permit(slot) {
            return Vec::new();
        }
        self.paused.push(slot);
        self.advance()
    }

    /// Takes note that a slot's wait is over and that it wants its permit again.
    pub(crate) fn wanted(&mut self, slot: Slot) -> Vec<Step> {
        if !take(&mut self.paused, slot) {
            return Vec::new();
        }
        self.resuming.push_back(slot);
        self.advance()
    }

    /// Raises the stop level; a lower or equal level changes nothing.
    pub(crate) fn stop(&mut self, level: StopLevel) -> Vec<Step> {
        let mut steps = Vec::new();
        if level > self.level {
            self.level = level;
            if self.begun().next().is_some() {
                steps.push(Step::Stop(level));
            }
            steps.extend(self.skip(|_| true));
        }
        steps.extend(self.advance());
        steps
    }

    /// Lets nobody begin any more. Whoever runs has the same deadline and ends by itself.
    pub(crate) fn expire(&mut self) -> Vec<Step> {
        let mut steps = self.skip(|_| true);
        steps.extend(self.advance());
        steps
    }

    fn give_up(&mut self, lane: usize) -> Vec<Step> {
        let mut steps = Vec::new();
        if self.begun().any(|slot| slot.lane == lane) {
            steps.push(Step::StopLane(lane));
        }
        steps.extend(self.skip(|slot| slot.lane == lane));
        steps
    }

    /// Takes the waiting slots that `is_out` names out of the queues, in the order of their turns.
    fn skip(&mut self, is_out: impl Fn(Slot) -> bool) -> Vec<Step> {
        let mut out = Vec::new();
        for queue in &mut self.queues {
            queue.waiting.retain(|&(turn, slot)| {
                let stays = !is_out(slot);
                if !stays {
                    out.push((turn, slot));
                }
                stays
            });
        }
        out.sort_unstable();
        out.into_iter().map(|(_, slot)| Step::Skip(slot)).collect()
    }

    fn advance(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        while self.running.len() < self.limits.total.max(1)
            && let Some(step) = self.next()
        {
            steps.push(step);
        }
        if self.begun().next().is_none() && !self.concluded {
            self.concluded = true;
            steps.push(Step::Conclude);
        }
        steps
    }

    /// Gives a permit to the first that waits to go on, else to the first in turn, whose engine has
    /// one left.
    fn next(&mut self) -> Option<Step> {
        let limit = self.limits.per_engine.max(1);
        let is_free = |slot: &Slot| self.queues[self.queue_of[slot.reviewer]].running < limit;
        if let Some(position) = self.resuming.iter().position(is_free) {
            let slot = self.resuming.remove(position)?;
            self.queues[self.queue_of[slot.reviewer]].running += 1;
            self.running.push(slot);
            return Some(Step::Resume(slot));
        }
        let free = self.queues.iter_mut().filter(|queue| queue.running < limit);
        let queue = free
            .filter(|queue| !queue.waiting.is_empty())
            .min_by_key(|queue| queue.waiting.front().map(|&(turn, _)| turn))?;
        let (_, slot) = queue.waiting.pop_front()?;
        queue.running += 1;
        self.running.push(slot);
        Some(Step::Start(slot))
    }

    /// Everybody who has begun and not ended.
    fn begun(&self) -> impl Iterator<Item = &Slot> {
        self.running
            .iter()
            .chain(&self.paused)
            .chain(&self.resuming)
    }

    /// Takes a running slot's permit and tells whether it had one.
    fn yield_permit(&mut self, slot: Slot) -> bool {
        let had = take(&mut self.running, slot);
        if had {
            self.queues[self.queue_of[slot.reviewer]].running -= 1;
        }
        had
    }

    fn unqueue(&mut self, slot: Slot) -> bool {
        let before = self.resuming.len();
        self.resuming.retain(|&other| other != slot);
        self.resuming.len() < before
    }
}

/// Removes a slot and tells whether it was there.
fn take(slots: &mut Vec<Slot>, slot: Slot) -> bool {
    let before = slots.len();
    slots.retain(|&other| other != slot);
    slots.len() < before
}

/// Returns every pair in rounds. Each round gives every lane one reviewer, and each lane begins
/// with another one, so that neither a lane nor a provider is served first as a whole.
fn fair_order(lanes: usize, reviewers: usize) -> impl Iterator<Item = Slot> {
    (0..reviewers).flat_map(move |round| {
        (0..lanes).map(move |lane| Slot {
            lane,
            reviewer: (round + lane) % reviewers,
        })
    })
}

#[cfg(test)]
mod tests;
