//! A check-up: the preflight of several reviewers, without a review.
//!
//! The same preflight as in a run, with its limits, and what an engine offers to try beside it.
//! What must stay true: every reviewer gets exactly one outcome, at the place it was asked for at;
//! no more are looked at side by side than the limit says; and nobody outlives its time.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::aggregator::elapsed_ms;
use crate::conclude::interrupted;
use crate::engine::{Engine, PreflightPass};
use crate::model::{ErrorCode, Failure, Reason, ReviewerId};
use crate::plan::{Policy, ReviewerPlan};
use crate::preflight;
use crate::process::{Halt, Leash, crashed};
use crate::reviewer::{LONGEST_TIMEOUT, timed_out};
use crate::run_dir;
use crate::schedule::StopLevel;
use crate::shared::SharedPreflight;
use crate::sink::{Interrupt, InterruptReceiver};
use crate::supervisor::open_files;

/// Stands in for a repository where there is none: a place that nothing can lie in.
const NO_REPOSITORY: &str = "/dev/null/no-repository";

/// Whom to look at, and within which limits.
pub struct CheckUp {
    /// The reviewers. Those that share an engine share its preflight.
    pub reviewers: Vec<ReviewerPlan>,
    /// The root of the repository whose programs are never run; `None` outside of one.
    pub repo_root: Option<PathBuf>,
    /// How many are looked at side by side; 0 counts as 1.
    pub max_concurrency: usize,
    /// The time of a reviewer that has none of its own.
    pub timeout: Duration,
}

/// What came of looking at one reviewer.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedUp {
    /// What preflight found, or why the reviewer cannot work.
    pub outcome: Result<PreflightPass, Failure>,
    /// Time from its turn to the outcome, in milliseconds.
    pub timing_ms: u64,
}

/// Looks at the reviewers and returns what came of it, in their order.
///
/// Signals come through `interrupts`. When this returns, no child is left.
///
/// # Errors
///
/// Fails when the check-up was interrupted, and when the system has nothing left to run it with.
pub fn check_up(asked: CheckUp, interrupts: InterruptReceiver) -> Result<Vec<CheckedUp>, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| crate::no_runtime(&error))?;
    let outcome = runtime.block_on(look_at_all(asked, interrupts));
    // Dropping a runtime waits for its blocking threads, and one may hang in foreign code.
    runtime.shutdown_background();
    outcome
}

async fn look_at_all(
    asked: CheckUp,
    mut interrupts: InterruptReceiver,
) -> Result<Vec<CheckedUp>, Failure> {
    tokio::task::spawn_blocking(run_dir::sweep_stale);
    let stop = watch::Sender::new(StopLevel::Run);
    let mut looks = start(asked, &stop);
    let mut found: Vec<Option<CheckedUp>> = (0..looks.len()).map(|_| None).collect();
    let mut interrupt: Option<Interrupt> = None;
    let mut is_open = true;
    loop {
        tokio::select! {
            look = looks.join_next() => match look {
                None => break,
                Some(Ok((position, checked))) => found[position] = Some(checked),
                Some(Err(error)) => return Err(crashed(&error)),
            },
            heard = interrupts.recv(), if is_open => match heard {
                None => is_open = false,
                Some(heard) => {
                    let level = match interrupt {
                        None => StopLevel::Gracefully,
                        Some(_) => StopLevel::Now,
                    };
                    interrupt.get_or_insert(heard);
                    stop.send_replace(level);
                }
            },
        }
    }
    match interrupt {
        Some(interrupt) => Err(Failure {
            message: "the check of the reviewers was interrupted".to_owned(),
            ..interrupted(interrupt)
        }),
        None => Ok(found.into_iter().flatten().collect()),
    }
}

/// Starts to look at everybody, each in its turn.
fn start(asked: CheckUp, stop: &watch::Sender<StopLevel>) -> JoinSet<(usize, CheckedUp)> {
    let policy = Policy::default();
    let repo_root = asked.repo_root.unwrap_or_else(|| NO_REPOSITORY.into());
    let width = open_files::affordable(asked.max_concurrency.max(1)).max(1);
    let permits = Arc::new(Semaphore::new(width));
    let mut looks = JoinSet::new();
    let mut known: Vec<(Arc<dyn Engine>, Arc<SharedPreflight>)> = Vec::new();
    for (position, reviewer) in asked.reviewers.into_iter().enumerate() {
        let shared = match known.iter().find(|it| Arc::ptr_eq(&it.0, &reviewer.engine)) {
            Some((_, shared)) => Arc::clone(shared),
            None => {
                let shared = Arc::<SharedPreflight>::default();
                known.push((Arc::clone(&reviewer.engine), Arc::clone(&shared)));
                shared
            }
        };
        let look = Look {
            timeout: reviewer
                .timeout
                .unwrap_or(asked.timeout)
                .min(LONGEST_TIMEOUT),
            reviewer,
            shared,
            leash: Leash {
                stop: stop.subscribe(),
                deadline: None,
                grace: policy.grace,
                max_output: policy.max_output,
                repo_root: repo_root.as_path().into(),
                work_root: repo_root.as_path().into(),
            },
        };
        let permits = Arc::clone(&permits);
        looks.spawn(async move {
            let permit = permits.acquire().await;
            let checked = look.take().await;
            drop(permit);
            (position, checked)
        });
    }
    looks
}

/// The inputs of looking at one reviewer.
struct Look {
    reviewer: ReviewerPlan,
    timeout: Duration,
    shared: Arc<SharedPreflight>,
    leash: Leash,
}

impl Look {
    async fn take(mut self) -> CheckedUp {
        let permitted = Instant::now();
        self.leash.deadline = Some(permitted + self.timeout);
        let engine = &self.reviewer.engine;
        let checking = preflight::check(engine, &self.leash);
        let outcome = self.shared.get(self.leash.clone(), checking).await;
        CheckedUp {
            outcome: outcome.map_err(|halt| failure(halt, &self.reviewer.id)),
            timing_ms: elapsed_ms(permitted),
        }
    }
}

fn failure(halt: Halt, id: &ReviewerId) -> Failure {
    match halt {
        Halt::Failed(failure) => failure,
        Halt::Deadline => timed_out("preflight", id).hint("Give it more time with --timeout."),
        Halt::Stopped => Failure::new(
            ErrorCode::ReviewerFailed,
            format!("Reviewer was not checked to the end: {id}"),
        )
        .reason(Reason::Interrupted),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::engine::{CommandSpec, Place, Preflight};

    use crate::sink::interrupt_channel;
    use crate::testing::{TestEngine, reviewer};

    fn asked(reviewers: Vec<ReviewerPlan>) -> CheckUp {
        CheckUp {
            reviewers,
            repo_root: None,
            max_concurrency: 2,
            timeout: Duration::from_secs(60),
        }
    }

    fn look(asked: CheckUp) -> Vec<CheckedUp> {
        let (_open, interrupts) = interrupt_channel();
        check_up(asked, interrupts).unwrap()
    }

    fn shell(script: &str, place: &Place) -> CommandSpec {
        let mut command = CommandSpec::new("/bin/sh", &place.run_dir);
        command.args = vec!["-c".into(), script.into()];
        command
    }

    /// An engine whose preflight takes far longer than anybody waits.
    fn slow() -> TestEngine {
        TestEngine::content().checking(|place| {
            Ok(Preflight::Probe {
                commands: vec![shell("sleep 600", place)],
                judge: Box::new(|_| Ok(PreflightPass::default())),
            })
        })
    }

    #[test]
    fn everybody_gets_an_outcome_in_order_and_no_more_run_than_may() {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let one = |position: usize| {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            let engine = TestEngine::content().checking(move |_| {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                std::thread::sleep(Duration::from_millis(5));
                now.fetch_sub(1, Ordering::SeqCst);
                let failure = Failure::new(ErrorCode::MissingAuth, position.to_string());
                if position.is_multiple_of(2) {
                    Err(failure)
                } else {
                    Ok(Preflight::Known(PreflightPass::default()))
                }
            });
            reviewer(&position.to_string(), engine)
        };
        let checked = look(asked((0..7).map(one).collect()));
        assert_eq!(checked.len(), 7);
        for (position, checked) in checked.iter().enumerate() {
            let said = checked.outcome.as_ref().err().map(|it| it.message.clone());
            let expected = position.is_multiple_of(2).then(|| position.to_string());
            assert_eq!(said, expected);
        }
        assert!((1..=2).contains(&most.load(Ordering::SeqCst)));
    }

    #[test]
    fn one_engine_is_asked_once() {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let engine = TestEngine::content().checking(move |_| {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(Preflight::Known(PreflightPass::default()))
        });
        let twin = reviewer("twin", engine);
        let checked = look(asked(vec![twin.clone(), twin.clone(), twin]));
        assert!(checked.iter().all(|it| it.outcome.is_ok()));
        assert_eq!(calls.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn nobody_outlives_its_time() {
        let mut own = reviewer("own", slow());
        own.timeout = Some(Duration::from_millis(30));
        let mut asked = asked(vec![own, reviewer("usual", slow())]);
        asked.timeout = Duration::from_millis(60);
        for (checked, id) in look(asked).into_iter().zip(["own", "usual"]) {
            let failure = checked.outcome.unwrap_err();
            assert_eq!(failure.code, ErrorCode::Timeout);
            assert!(failure.message.ends_with(id), "{failure}");
        }
    }

    #[test]
    fn a_signal_ends_it_with_its_own_code() {
        let (interrupt, interrupts) = interrupt_channel();
        interrupt.send(Interrupt::Signal(2)).unwrap();
        let failure = check_up(asked(vec![reviewer("a", slow())]), interrupts).unwrap_err();
        assert_eq!(failure.exit_code(), 130);
        assert_eq!(failure.reason, Some(Reason::Interrupted));
    }
}
