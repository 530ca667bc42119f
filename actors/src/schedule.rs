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
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn slot(reviewer: usize) -> Slot {
        Slot { lane: 0, reviewer }
    }

    fn limits(total: usize) -> Limits {
        Limits {
            total,
            per_engine: usize::MAX,
        }
    }

    fn schedule(lanes: usize, reviewers: usize, total: usize, strict: bool) -> Schedule {
        let engines = vec![EngineName::Fake; reviewers];
        Schedule::new(lanes, &engines, limits(total), strict)
    }

    #[test]
    fn starts_up_to_the_limit_in_order_and_passes_permits_on() {
        let mut schedule = schedule(1, 3, 2, false);
        assert_eq!(
            schedule.begin(),
            [Step::Start(slot(0)), Step::Start(slot(1))]
        );
        assert_eq!(schedule.ended(slot(1), true), [Step::Start(slot(2))]);
        assert_eq!(schedule.ended(slot(0), false), []);
        assert_eq!(schedule.ended(slot(2), true), [Step::Conclude]);
    }

    #[test]
    fn a_busy_engine_holds_up_nobody_else() {
        use EngineName::{Claude, Codex};
        let limits = Limits {
            total: 8,
            per_engine: 1,
        };
        let mut schedule = Schedule::new(1, &[Codex, Codex, Claude, Codex], limits, false);
        assert_eq!(
            schedule.begin(),
            [Step::Start(slot(0)), Step::Start(slot(2))]
        );
        assert_eq!(schedule.ended(slot(2), true), []);
        assert_eq!(schedule.ended(slot(0), true), [Step::Start(slot(1))]);
        assert_eq!(
            schedule.stop(StopLevel::Gracefully),
            [Step::Stop(StopLevel::Gracefully), Step::Skip(slot(3))]
        );
        assert_eq!(schedule.ended(slot(1), false), [Step::Conclude]);
    }

    #[test]
    fn concludes_at_once_without_reviewers() {
        assert_eq!(schedule(1, 0, 8, false).begin(), [Step::Conclude]);
    }

    #[test]
    fn a_strict_failure_stops_the_running_and_skips_the_waiting_of_its_lane() {
        let mut schedule = schedule(2, 2, 3, true);
        let at = |lane, reviewer| Slot { lane, reviewer };
        assert_eq!(
            schedule.begin(),
            [at(0, 0), at(1, 1), at(0, 1)].map(Step::Start)
        );
        assert_eq!(
            schedule.ended(at(0, 0), false),
            [Step::StopLane(0), Step::Start(at(1, 0))]
        );
        assert_eq!(schedule.ended(at(0, 1), false), []);
        assert_eq!(schedule.ended(at(1, 1), true), []);
        assert_eq!(schedule.ended(at(1, 0), true), [Step::Conclude]);

        let mut schedule = self::schedule(1, 3, 1, true);
        schedule.begin();
        assert_eq!(
            schedule.ended(slot(0), false),
            [Step::Skip(slot(1)), Step::Skip(slot(2)), Step::Conclude]
        );
    }

    #[test]
    fn the_second_interrupt_escalates_and_a_third_changes_nothing() {
        let mut schedule = schedule(1, 2, 1, false);
        schedule.begin();
        assert_eq!(
            schedule.stop(StopLevel::Gracefully),
            [Step::Stop(StopLevel::Gracefully), Step::Skip(slot(1))]
        );
        assert_eq!(schedule.stop(StopLevel::Now), [Step::Stop(StopLevel::Now)]);
        assert_eq!(schedule.stop(StopLevel::Now), []);
        assert_eq!(schedule.ended(slot(0), false), [Step::Conclude]);
        assert_eq!(schedule.ended(slot(0), false), []);
    }

    #[test]
    fn when_the_time_is_over_nobody_begins_and_nobody_is_stopped() {
        let mut schedule = schedule(1, 3, 1, false);
        schedule.begin();
        assert_eq!(
            schedule.expire(),
            [Step::Skip(slot(1)), Step::Skip(slot(2))]
        );
        assert_eq!(schedule.ended(slot(0), true), [Step::Conclude]);
        assert_eq!(schedule.expire(), []);
    }

    #[test]
    fn a_pause_lends_the_permit_and_the_end_of_it_comes_before_the_waiting() {
        let mut schedule = schedule(1, 3, 1, false);
        schedule.begin();
        assert_eq!(schedule.paused(slot(0)), [Step::Start(slot(1))]);
        assert_eq!(schedule.wanted(slot(0)), []);
        assert_eq!(schedule.ended(slot(1), true), [Step::Resume(slot(0))]);
        assert_eq!(schedule.ended(slot(0), true), [Step::Start(slot(2))]);
        assert_eq!(schedule.paused(slot(2)), []);
        // The pause of one that is ended by its deadline.
        assert_eq!(schedule.ended(slot(2), false), [Step::Conclude]);
    }

    #[test]
    fn a_stop_reaches_those_that_pause() {
        let mut schedule = schedule(1, 1, 1, false);
        schedule.begin();
        schedule.paused(slot(0));
        assert_eq!(
            schedule.stop(StopLevel::Gracefully),
            [Step::Stop(StopLevel::Gracefully)]
        );
        assert_eq!(schedule.ended(slot(0), false), [Step::Conclude]);
    }

    #[test]
    fn every_lane_gets_a_turn_in_every_round() {
        let pairs: Vec<_> = fair_order(2, 3).map(|s| (s.lane, s.reviewer)).collect();
        assert_eq!(pairs, [(0, 0), (1, 1), (0, 1), (1, 2), (0, 2), (1, 0)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn every_slot_ends_once_whatever_happens(
            lanes in 1_usize..4,
            reviewers in 0_usize..6,
            (total, per_engine) in (0_usize..5, 0_usize..4),
            strict: bool,
            events in prop::collection::vec((0_usize..8, any::<bool>(), 0_usize..12), 0..60),
        ) {
            let engines = &EngineName::ALL.repeat(2)[..reviewers];
            let engines: Vec<_> = engines.iter().map(|engine| match engine {
                EngineName::Claude | EngineName::Droid => EngineName::Cursor,
                other => *other,
            }).collect();
            let limits = Limits { total, per_engine };
            let mut schedule = Schedule::new(lanes, &engines, limits, strict);
            let mut running: Vec<Slot> = Vec::new();
            let mut paused: Vec<Slot> = Vec::new();
            let mut queued: Vec<Slot> = Vec::new();
            let mut begun = BTreeSet::new();
            let mut ended = BTreeSet::new();
            let mut concluded = 0;
            let mut steps = schedule.begin();
            // Random events first, then everybody still running ends.
            let mut events = events.into_iter();
            loop {
                for step in steps.drain(..) {
                    prop_assert_eq!(concluded, 0);
                    match step {
                        Step::Start(slot) => {
                            prop_assert!(begun.insert(slot));
                            running.push(slot);
                        }
                        Step::Resume(slot) => {
                            let at = queued.iter().position(|&other| other == slot);
                            prop_assert!(at.is_some());
                            queued.remove(at.unwrap());
                            running.push(slot);
                        }
                        Step::Skip(slot) => {
                            prop_assert!(!begun.contains(&slot));
                            prop_assert!(ended.insert(slot));
                        }
                        Step::Stop(_) | Step::StopLane(_) => {}
                        Step::Conclude => concluded += 1,
                    }
                }
                prop_assert!(running.len() <= total.max(1));
                for engine in &engines {
                    let of_engine = running.iter().filter(|s| engines[s.reviewer] == *engine);
                    prop_assert!(of_engine.count() <= per_engine.max(1));
                }
                if running.is_empty() && paused.is_empty() && queued.is_empty() {
                    break;
                }
                let (pick, succeeded, signal) = events.next().unwrap_or((0, true, 11));
                steps = match signal {
                    0 => schedule.stop(StopLevel::Gracefully),
                    1 => schedule.stop(StopLevel::Now),
                    2 => schedule.expire(),
                    3 | 4 if !running.is_empty() => {
                        let slot = running.swap_remove(pick % running.len());
                        paused.push(slot);
                        schedule.paused(slot)
                    }
                    5 | 6 if !paused.is_empty() => {
                        let slot = paused.swap_remove(pick % paused.len());
                        queued.push(slot);
                        schedule.wanted(slot)
                    }
                    _ => {
                        // Whoever waits can end as well: its time may be over.
                        let groups = [&mut running, &mut paused, &mut queued];
                        let group = groups.into_iter().find(|group| !group.is_empty()).unwrap();
                        let slot = group.swap_remove(pick % group.len());
                        prop_assert!(ended.insert(slot));
                        schedule.ended(slot, succeeded)
                    }
                };
            }
            prop_assert_eq!(concluded, 1);
            prop_assert_eq!(ended.len(), lanes * reviewers);
        }
    }
}
