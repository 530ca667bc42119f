//! Who runs when: permits, the stop level and what a failure does to the others.
//!
//! Pure. The supervisor owns the one [`Schedule`] of a run, tells it what happened and carries out
//! the [`Step`]s it answers with. What must stay true: every slot is started at most once, every
//! slot ends exactly once (by itself or skipped), at most `limit` run at a time, and
//! [`Step::Conclude`] comes exactly once, as the last step of the run.

use std::collections::VecDeque;

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
    /// Nothing runs and nothing waits: make the outcome.
    Conclude,
}

/// The queue, the permits and the stop level of one run.
#[derive(Debug)]
pub(crate) struct Schedule {
    waiting: VecDeque<Slot>,
    running: Vec<Slot>,
    /// Begun, and without a permit because they wait for their provider.
    paused: Vec<Slot>,
    /// Begun, and waiting for a permit again. They go first: their time runs.
    resuming: VecDeque<Slot>,
    limit: usize,
    strict: bool,
    level: StopLevel,
    concluded: bool,
}

impl Schedule {
    /// Creates the schedule of every (lane, reviewer) pair; a `limit` of 0 counts as 1.
    pub(crate) fn new(lanes: usize, reviewers: usize, limit: usize, strict: bool) -> Self {
        Self {
            waiting: fair_order(lanes, reviewers),
            running: Vec::new(),
            paused: Vec::new(),
            resuming: VecDeque::new(),
            limit: limit.max(1),
            strict,
            level: StopLevel::Run,
            concluded: false,
        }
    }

    /// Opens the run.
    pub(crate) fn begin(&mut self) -> Vec<Step> {
        self.advance()
    }

    /// Takes note that a slot ended. In strict mode the first failure stops the others: their
    /// answers could not change the outcome any more, and they cost money.
    pub(crate) fn ended(&mut self, slot: Slot, succeeded: bool) -> Vec<Step> {
        let is_known =
            take(&mut self.running, slot) || take(&mut self.paused, slot) || self.unqueue(slot);
        if !is_known {
            return Vec::new();
        }
        let mut steps = if self.strict && !succeeded {
            self.raise(StopLevel::Gracefully)
        } else {
            Vec::new()
        };
        steps.extend(self.advance());
        steps
    }

    /// Takes a slot's permit for the time of its wait.
    pub(crate) fn paused(&mut self, slot: Slot) -> Vec<Step> {
        if !take(&mut self.running, slot) {
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
        let mut steps = self.raise(level);
        steps.extend(self.advance());
        steps
    }

    fn raise(&mut self, level: StopLevel) -> Vec<Step> {
        if level <= self.level {
            return Vec::new();
        }
        self.level = level;
        let mut steps = Vec::new();
        if self.is_busy() {
            steps.push(Step::Stop(level));
        }
        steps.extend(self.waiting.drain(..).map(Step::Skip));
        steps
    }

    fn advance(&mut self) -> Vec<Step> {
        let mut steps = Vec::new();
        while self.running.len() < self.limit {
            let step = if let Some(slot) = self.resuming.pop_front() {
                self.running.push(slot);
                Step::Resume(slot)
            } else if let Some(slot) = self.waiting.pop_front() {
                self.running.push(slot);
                Step::Start(slot)
            } else {
                break;
            };
            steps.push(step);
        }
        if !self.is_busy() && !self.concluded {
            self.concluded = true;
            steps.push(Step::Conclude);
        }
        steps
    }

    fn is_busy(&self) -> bool {
        !(self.running.is_empty() && self.paused.is_empty() && self.resuming.is_empty())
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
fn fair_order(lanes: usize, reviewers: usize) -> VecDeque<Slot> {
    (0..reviewers)
        .flat_map(|round| {
            (0..lanes).map(move |lane| Slot {
                lane,
                reviewer: (round + lane) % reviewers,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    fn slot(reviewer: usize) -> Slot {
        Slot { lane: 0, reviewer }
    }

    #[test]
    fn starts_up_to_the_limit_in_order_and_passes_permits_on() {
        let mut schedule = Schedule::new(1, 3, 2, false);
        assert_eq!(
            schedule.begin(),
            [Step::Start(slot(0)), Step::Start(slot(1))]
        );
        assert_eq!(schedule.ended(slot(1), true), [Step::Start(slot(2))]);
        assert_eq!(schedule.ended(slot(0), false), []);
        assert_eq!(schedule.ended(slot(2), true), [Step::Conclude]);
    }

    #[test]
    fn concludes_at_once_without_reviewers() {
        assert_eq!(Schedule::new(1, 0, 8, false).begin(), [Step::Conclude]);
    }

    #[test]
    fn a_strict_failure_stops_the_running_and_skips_the_waiting() {
        let mut schedule = Schedule::new(1, 3, 2, true);
        schedule.begin();
        assert_eq!(
            schedule.ended(slot(0), false),
            [Step::Stop(StopLevel::Gracefully), Step::Skip(slot(2))]
        );
        assert_eq!(schedule.ended(slot(1), false), [Step::Conclude]);
    }

    #[test]
    fn the_second_interrupt_escalates_and_a_third_changes_nothing() {
        let mut schedule = Schedule::new(1, 2, 1, false);
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
    fn a_pause_lends_the_permit_and_the_end_of_it_comes_before_the_waiting() {
        let mut schedule = Schedule::new(1, 3, 1, false);
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
        let mut schedule = Schedule::new(1, 1, 1, false);
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
        let order: Vec<_> = fair_order(2, 3).into();
        let pairs: Vec<_> = order.iter().map(|s| (s.lane, s.reviewer)).collect();
        assert_eq!(pairs, [(0, 0), (1, 1), (0, 1), (1, 2), (0, 2), (1, 0)]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn every_slot_ends_once_whatever_happens(
            lanes in 1_usize..4,
            reviewers in 0_usize..6,
            limit in 0_usize..5,
            strict: bool,
            events in prop::collection::vec((0_usize..8, any::<bool>(), 0_usize..12), 0..60),
        ) {
            let mut schedule = Schedule::new(lanes, reviewers, limit, strict);
            let mut running = Vec::new();
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
                        Step::Stop(_) => {}
                        Step::Conclude => concluded += 1,
                    }
                }
                prop_assert!(running.len() <= limit.max(1));
                if running.is_empty() && paused.is_empty() && queued.is_empty() {
                    break;
                }
                let (pick, succeeded, signal) = events.next().unwrap_or((0, true, 11));
                let pausable = !running.is_empty();
                steps = match signal {
                    0 => schedule.stop(StopLevel::Gracefully),
                    1 => schedule.stop(StopLevel::Now),
                    2 | 3 if pausable => {
                        let slot = running.swap_remove(pick % running.len());
                        paused.push(slot);
                        schedule.paused(slot)
                    }
                    4 | 5 if !paused.is_empty() => {
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
