//! Signs of life, on their way from an engine to the outside.
//!
//! What must stay true: however often an engine speaks, no more than about one sign of life a
//! second goes on, and the first one goes on at once.

use std::time::Duration;

use tokio::time::Instant;

use crate::aggregator::elapsed_ms;
use crate::engine::{Action, Answer, Captured, Dialogue, Progress};
use crate::model::Failure;

/// The least time between two signs of life.
const INTERVAL: Duration = Duration::from_secs(1);

/// A dialogue whose signs of life are passed on, with the milliseconds since the permit.
pub(crate) struct Watched<F> {
    dialogue: Box<dyn Dialogue>,
    permitted: Instant,
    last: Option<Instant>,
    seen: Progress,
    tell: F,
}

impl<F: FnMut(Progress, u64) + Send + 'static> Watched<F> {
    /// Watches a dialogue.
    pub(crate) fn watch(
        dialogue: Box<dyn Dialogue>,
        permitted: Instant,
        tell: F,
    ) -> Box<dyn Dialogue> {
        Box::new(Self {
            dialogue,
            permitted,
            last: None,
            seen: Progress::default(),
            tell,
        })
    }

    fn pass_on(&mut self, actions: &[Action]) {
        let signs = actions.iter().filter_map(|action| match action {
            Action::Progress(progress) => Some(progress),
            _ => None,
        });
        let mut alive = false;
        for sign in signs {
            alive = true;
            // A sign that leaves a count out does not take it back.
            self.seen = Progress {
                turns: sign.turns.or(self.seen.turns),
                tools: sign.tools.or(self.seen.tools),
                tokens: sign.tokens.or(self.seen.tokens),
            };
        }
        let now = Instant::now();
        if alive && self.last.is_none_or(|last| now - last >= INTERVAL) {
            self.last = Some(now);
            (self.tell)(self.seen, elapsed_ms(self.permitted));
        }
    }
}

impl<F: FnMut(Progress, u64) + Send + 'static> Dialogue for Watched<F> {
    fn on_line(&mut self, line: &str) -> Vec<Action> {
        let actions = self.dialogue.on_line(line);
        self.pass_on(&actions);
        actions
    }

    fn on_cancel(&mut self) -> Vec<Action> {
        self.dialogue.on_cancel()
    }

    fn on_exit(self: Box<Self>, captured: Captured) -> Result<Answer, Failure> {
        self.dialogue.on_exit(captured)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// Counts its lines as tools; every tenth is a turn.
    struct Busy(u64);

    impl Dialogue for Busy {
        fn on_line(&mut self, line: &str) -> Vec<Action> {
            if line.is_empty() {
                return Vec::new();
            }
            self.0 += 1;
            vec![Action::Progress(Progress {
                turns: self.0.is_multiple_of(10).then_some(self.0 / 10),
                tools: Some(self.0),
                tokens: None,
            })]
        }

        fn on_exit(self: Box<Self>, _: Captured) -> Result<Answer, Failure> {
            unreachable!("it is never asked")
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_sign_of_life_a_second_goes_on_with_what_is_known_by_then() {
        let (told, signs) = mpsc::channel();
        let tell = move |progress, elapsed_ms| told.send((progress, elapsed_ms)).unwrap();
        let mut watched = Watched::watch(Box::new(Busy(0)), Instant::now(), tell);
        watched.on_line("");
        for _ in 0..25 {
            assert_eq!(watched.on_line("x").len(), 1);
            tokio::time::advance(Duration::from_millis(100)).await;
        }
        let signs: Vec<_> = signs.try_iter().collect();
        let counts: Vec<_> = signs
            .iter()
            .map(|(sign, at)| (sign.tools, sign.turns, *at))
            .collect();
        assert_eq!(
            counts,
            [
                (Some(1), None, 0),
                (Some(11), Some(1), 1000),
                (Some(21), Some(2), 2000)
            ]
        );
    }
}
