//! The course of one (lane, reviewer): preflight, the review, perhaps a repair or a second review,
//! done (SPEC 10).
//!
//! ```text
//! Preflight -> First -> Done
//!                |
//!                +-> Repair -> Done       an answer that cannot be read, transcribed
//!                |     |
//!                +-----+-> Rerun -> Done  nothing to transcribe, or no good transcription
//! ```
//!
//! Pure: the reviewer carries out an [`Effect`] and tells what came of it. What must stay true: a
//! course asks for at most two reviews and one repair; only an answer that cannot be read leads to
//! the second request, never a failed engine or a finding in the wrong place; and a wait for the
//! provider happens once, wherever it happens, and counts as neither.

mod record;

use std::time::Duration;

pub(crate) use record::{Reading, Record, label};

/// What the reviewer has to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Find out whether the engine can work.
    Preflight,
    /// Run the review.
    Review,
    /// Have the answer transcribed.
    Repair,
    /// Give the permit back, wait this long and get it again.
    Wait(Duration),
    /// The course is over.
    Report,
}

/// What came of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// What was to be done is done: preflight is passed, the answer is a result, the time is over.
    Done,
    /// The answer is no result, but there is something to transcribe.
    Unreadable,
    /// The engine finished and left nothing to read.
    Empty,
    /// The provider asks to wait this long, and the budget allows it.
    RateLimited(Duration),
    /// It failed, or could not be tried.
    Failed,
    /// The reviewer's time is over, or the run is being stopped.
    Halted,
}

/// Which step of a course is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The engine is being checked.
    Preflight,
    /// The first review runs.
    First,
    /// The first answer is being transcribed.
    Repair,
    /// The second review runs.
    Rerun,
    /// There is nothing more to do.
    Done,
}

/// Where a course stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Attempt {
    step: Step,
    wait: Waiting,
}

/// Waiting for the provider, whatever the step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waiting {
    NotYet,
    Now,
    Over,
}

impl Attempt {
    /// Begins a course.
    pub(crate) fn begin() -> (Self, Effect) {
        let attempt = Self {
            step: Step::Preflight,
            wait: Waiting::NotYet,
        };
        (attempt, Effect::Preflight)
    }

    /// Returns the step that is on.
    pub(crate) fn step(self) -> Step {
        self.step
    }

    /// Takes what came of the last effect.
    pub(crate) fn next(&mut self, outcome: Outcome) -> Effect {
        if self.wait == Waiting::Now {
            self.wait = Waiting::Over;
            return match outcome {
                Outcome::Done => self.ask(),
                _ => self.go(Step::Done),
            };
        }
        if let Outcome::RateLimited(time) = outcome
            && self.wait == Waiting::NotYet
            && self.step != Step::Preflight
        {
            self.wait = Waiting::Now;
            return Effect::Wait(time);
        }
        self.go(match (self.step, outcome) {
            (Step::Preflight, Outcome::Done) => Step::First,
            (Step::First, Outcome::Unreadable) => Step::Repair,
            (Step::First, Outcome::Empty) => Step::Rerun,
            (Step::Repair, Outcome::Done | Outcome::Halted) => Step::Done,
            (Step::Repair, _) => Step::Rerun,
            _ => Step::Done,
        })
    }

    fn go(&mut self, step: Step) -> Effect {
        self.step = step;
        self.ask()
    }

    fn ask(self) -> Effect {
        match self.step {
            Step::Preflight => Effect::Preflight,
            Step::First | Step::Rerun => Effect::Review,
            Step::Repair => Effect::Repair,
            Step::Done => Effect::Report,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SECOND: Duration = Duration::from_secs(1);
    const LIMITED: Outcome = Outcome::RateLimited(SECOND);
    const WAIT: Effect = Effect::Wait(SECOND);

    /// Returns the effects that these outcomes lead to, the first one included.
    fn course(outcomes: &[Outcome]) -> Vec<Effect> {
        let (mut attempt, first) = Attempt::begin();
        let later = outcomes.iter().map(|&outcome| attempt.next(outcome));
        [first]
            .into_iter()
            .chain(later.collect::<Vec<_>>())
            .collect()
    }

    #[test]
    fn courses_without_a_wait() {
        use Effect::{Preflight, Repair, Report, Review};
        use Outcome::{Done, Empty, Failed, Halted, Unreadable};
        let table: &[(&[Outcome], &[Effect])] = &[
            (&[Failed], &[Preflight, Report]),
            (&[Halted], &[Preflight, Report]),
            (&[LIMITED], &[Preflight, Report]),
            (&[Done, Done], &[Preflight, Review, Report]),
            // An engine that failed is neither repaired nor asked again.
            (&[Done, Failed], &[Preflight, Review, Report]),
            (&[Done, Halted], &[Preflight, Review, Report]),
            (
                &[Done, Unreadable, Done],
                &[Preflight, Review, Repair, Report],
            ),
            (
                &[Done, Unreadable, Halted],
                &[Preflight, Review, Repair, Report],
            ),
            (
                &[Done, Unreadable, Failed, Done],
                &[Preflight, Review, Repair, Review, Report],
            ),
            (
                &[Done, Unreadable, Unreadable, Unreadable],
                &[Preflight, Review, Repair, Review, Report],
            ),
            (
                &[Done, Unreadable, Empty, Failed],
                &[Preflight, Review, Repair, Review, Report],
            ),
            (&[Done, Empty, Done], &[Preflight, Review, Review, Report]),
            (&[Done, Empty, Empty], &[Preflight, Review, Review, Report]),
            (
                &[Done, Empty, Unreadable],
                &[Preflight, Review, Review, Report],
            ),
        ];
        for (outcomes, effects) in table {
            assert_eq!(course(outcomes), *effects, "{outcomes:?}");
        }
    }

    #[test]
    fn a_wait_asks_the_same_again_and_happens_once() {
        use Effect::{Preflight, Repair, Report, Review};
        use Outcome::{Done, Halted, Unreadable};
        let table: &[(&[Outcome], &[Effect])] = &[
            (
                &[Done, LIMITED, Done, Done],
                &[Preflight, Review, WAIT, Review, Report],
            ),
            (
                &[Done, LIMITED, Done, LIMITED],
                &[Preflight, Review, WAIT, Review, Report],
            ),
            (&[Done, LIMITED, Halted], &[Preflight, Review, WAIT, Report]),
            (
                &[Done, LIMITED, Done, Unreadable, LIMITED, Done],
                &[Preflight, Review, WAIT, Review, Repair, Review, Report],
            ),
            (
                &[Done, Unreadable, LIMITED, Done, Done],
                &[Preflight, Review, Repair, WAIT, Repair, Report],
            ),
        ];
        for (outcomes, effects) in table {
            assert_eq!(course(outcomes), *effects, "{outcomes:?}");
        }
    }

    fn any_outcome() -> impl Strategy<Value = Outcome> {
        prop::sample::select(vec![
            Outcome::Done,
            Outcome::Unreadable,
            Outcome::Empty,
            LIMITED,
            Outcome::Failed,
            Outcome::Halted,
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn every_course_ends_after_two_reviews_and_a_repair_at_most(
            outcomes in prop::collection::vec(any_outcome(), 8),
        ) {
            let (mut attempt, mut effect) = Attempt::begin();
            let mut steps = vec![attempt.step()];
            let mut waits = 0;
            for outcome in outcomes {
                if effect == Effect::Report {
                    break;
                }
                effect = attempt.next(outcome);
                waits += usize::from(effect == WAIT);
                if steps.last() != Some(&attempt.step()) {
                    steps.push(attempt.step());
                }
            }
            prop_assert_eq!(effect, Effect::Report);
            prop_assert_eq!(attempt.step(), Step::Done);
            prop_assert!(waits <= 1);
            let order = [Step::Preflight, Step::First, Step::Repair, Step::Rerun, Step::Done];
            let position = |step| order.iter().position(|known| *known == step);
            prop_assert!(steps.is_sorted_by_key(|&step| position(step)));
        }
    }
}
