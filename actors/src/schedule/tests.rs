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
