//! The course of one (lane, reviewer): preflight, the review, done.
//!
//! Pure: the reviewer feeds in what happened and carries out the [`Effect`] it gets back. What must
//! stay true: a course ends with exactly one [`Effect::Report`], and a failed preflight never leads
//! to a review.
//!
//! Repair and the labelled re-run (SPEC 10) belong in [`Attempt::answered`], the only place that
//! sees an unreadable answer: new states and effects there make every `match` on [`Effect`]
//! incomplete until the reviewer carries them out.

use crate::model::Failure;

/// What the reviewer has to do next. `P` is a passed preflight, `A` a validated answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect<P, A> {
    /// Find out whether the engine can work.
    Preflight,
    /// Run the review.
    Review(P),
    /// The course is over: hand this back.
    Report(Result<A, Failure>),
}

/// Where a course stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// The engine is being checked.
    Preflight,
    /// The first review runs.
    First,
    /// The outcome has been reported.
    Done,
}

impl Attempt {
    /// Begins a course.
    pub(crate) fn begin<P, A>() -> (Self, Effect<P, A>) {
        (Self::Preflight, Effect::Preflight)
    }

    /// Takes the outcome of preflight.
    pub(crate) fn checked<P, A>(&mut self, outcome: Result<P, Failure>) -> Effect<P, A> {
        debug_assert_eq!(*self, Self::Preflight);
        match outcome {
            Ok(pass) => {
                *self = Self::First;
                Effect::Review(pass)
            }
            Err(failure) => self.report(Err(failure)),
        }
    }

    /// Takes the outcome of a review.
    pub(crate) fn answered<P, A>(&mut self, outcome: Result<A, Failure>) -> Effect<P, A> {
        debug_assert_eq!(*self, Self::First);
        self.report(outcome)
    }

    fn report<P, A>(&mut self, outcome: Result<A, Failure>) -> Effect<P, A> {
        *self = Self::Done;
        Effect::Report(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ErrorCode;

    fn failure() -> Failure {
        Failure::new(ErrorCode::MissingAuth, "not logged in")
    }

    #[test]
    fn a_passed_preflight_leads_to_one_review() {
        let (mut attempt, effect) = Attempt::begin::<u8, u8>();
        assert_eq!(effect, Effect::Preflight);
        assert_eq!(attempt.checked::<u8, u8>(Ok(1)), Effect::Review(1));
        assert_eq!(attempt, Attempt::First);
        assert_eq!(attempt.answered::<u8, u8>(Ok(2)), Effect::Report(Ok(2)));
        assert_eq!(attempt, Attempt::Done);
    }

    #[test]
    fn a_failed_preflight_is_reported_without_a_review() {
        let (mut attempt, _) = Attempt::begin::<u8, u8>();
        assert_eq!(
            attempt.checked::<u8, u8>(Err(failure())),
            Effect::Report(Err(failure()))
        );
        assert_eq!(attempt, Attempt::Done);
    }

    #[test]
    fn a_failed_review_is_reported_as_it_is() {
        let (mut attempt, _) = Attempt::begin::<u8, u8>();
        attempt.checked::<u8, u8>(Ok(1));
        assert_eq!(
            attempt.answered::<u8, u8>(Err(failure())),
            Effect::Report(Err(failure()))
        );
    }
}
