//! Where a run's events and its outcome go.
//!
//! A sink writes to something that may be slow or closed, so each lives on a thread of its own
//! behind an unbounded queue (events are few and small; engine output never passes here). Nobody
//! waits for a sink until the run is over.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::model::{Failure, Frame, Reason, RunArtifact};

/// How long an interrupted run waits for its sinks. A reader that stalls must not keep a program
/// alive that was told to end.
pub const PATIENCE_AFTER_INTERRUPT: Duration = Duration::from_secs(1);

/// One consumer of a run.
pub trait Sink: Send {
    /// Takes an event that is not terminal.
    ///
    /// # Errors
    ///
    /// Fails when the output is closed or full; the run is then cancelled.
    fn event(&mut self, frame: &Frame) -> io::Result<()>;

    /// Takes how the run ended. This is the only place that writes a terminal frame, so there is
    /// exactly one.
    ///
    /// # Errors
    ///
    /// Fails when the output is closed or full.
    fn finish(self: Box<Self>, outcome: &RunOutcome) -> io::Result<()>;
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub enum RunOutcome {
    /// With an artifact, perhaps of a partial review.
    Finished(Arc<RunArtifact>),
    /// Without one.
    Failed(RunFailure),
}

/// Why a run has no artifact.
#[derive(Debug, Clone, PartialEq)]
pub struct RunFailure {
    /// The terminal error.
    pub failure: Failure,
    /// The reviewer it belongs to, when it is one's.
    pub reviewer: Option<(crate::model::ReviewerId, crate::model::EngineName)>,
    /// What diffwarden itself found; it is kept when every reviewer fails.
    pub integrity: Vec<crate::model::Finding>,
    /// What had finished when the run was ended from outside, if at least one reviewer had
    /// answered. It is not the run's result and goes to `--out` only.
    pub partial: Option<Arc<RunArtifact>>,
}

impl From<Failure> for RunFailure {
    fn from(failure: Failure) -> Self {
        Self {
            failure,
            reviewer: None,
            integrity: Vec::new(),
            partial: None,
        }
    }
}

/// What can end a run from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interrupt {
    /// A signal with this number. The first asks, the second ends at once.
    Signal(i32),
    /// Nobody reads the output any more, or it is full.
    OutputClosed,
}

impl Interrupt {
    /// Returns the failure of a program that was ended by it.
    pub fn failure(self) -> Failure {
        crate::conclude::interrupted(self)
    }
}

impl RunOutcome {
    /// Whether the run was ended from outside.
    pub fn was_interrupted(&self) -> bool {
        matches!(self, Self::Failed(failed) if failed.failure.reason == Some(Reason::Interrupted))
    }
}

/// Sends [`Interrupt`]s to a run, from any thread.
pub type InterruptSender = tokio::sync::mpsc::UnboundedSender<Interrupt>;

/// Where a run hears of [`Interrupt`]s.
pub type InterruptReceiver = tokio::sync::mpsc::UnboundedReceiver<Interrupt>;

/// Creates the channel that ends a run from outside.
pub fn interrupt_channel() -> (InterruptSender, InterruptReceiver) {
    tokio::sync::mpsc::unbounded_channel()
}

/// The sinks of a run, each on a thread of its own.
#[derive(Debug)]
pub struct SinkSet {
    publisher: Publisher,
    threads: Vec<SinkThread>,
}

/// Hands frames to every sink; never waits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Publisher(Vec<Sender<Delivery>>);

#[derive(Debug)]
struct SinkThread {
    /// Yields the sink's end; disconnects when the thread is gone.
    ended: Receiver<io::Result<()>>,
    /// `None` when the system had no thread to give.
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Clone)]
enum Delivery {
    Event(Arc<Frame>),
    Finish(Arc<RunOutcome>),
}

impl SinkSet {
    /// Starts a thread for every sink. The first error of a sink is sent to `interrupts` as
    /// [`Interrupt::OutputClosed`], once; that sink then gets nothing more.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "every sink gets a clone, and whoever starts them has no further use for it"
    )]
    pub fn spawn(sinks: Vec<Box<dyn Sink>>, interrupts: InterruptSender) -> Self {
        let mut set = Self {
            publisher: Publisher::default(),
            threads: Vec::new(),
        };
        for sink in sinks {
            let (queue, deliveries) = channel();
            let (report, ended) = channel();
            let (reporting, interrupting) = (report.clone(), interrupts.clone());
            let thread = thread::Builder::new()
                .name("sink".to_owned())
                .spawn(move || {
                    // Nobody listens when the run no longer waits for this sink.
                    drop(reporting.send(serve(sink, &deliveries, &interrupting)));
                });
            let thread = thread
                .map_err(|error| {
                    // A sink without a thread is one whose output is closed from the start.
                    drop(report.send(Err(error)));
                    let _ = interrupts.send(Interrupt::OutputClosed);
                })
                .ok();
            set.publisher.0.push(queue);
            set.threads.push(SinkThread { ended, thread });
        }
        set
    }

    /// Hands a frame to every sink; never waits.
    pub fn publish(&self, frame: Frame) {
        self.publisher.publish(frame);
    }

    /// Hands the outcome to every sink and waits until all are done. After an interrupt it waits
    /// for a short time only.
    ///
    /// # Errors
    ///
    /// Returns the first error of a sink, in the order in which they were given.
    pub fn finish(self, outcome: &RunOutcome) -> io::Result<()> {
        let outcome = Arc::new(outcome.clone());
        self.publisher.send(&Delivery::Finish(Arc::clone(&outcome)));
        let patience = outcome
            .was_interrupted()
            .then_some(PATIENCE_AFTER_INTERRUPT);
        let mut first = Ok(());
        for SinkThread { ended, thread } in self.threads {
            let result = match patience {
                None => ended.recv().ok(),
                Some(limit) => ended.recv_timeout(limit).ok(),
            };
            let result = match result {
                Some(result) => {
                    // The thread has reported and returns; its panics were caught on the way.
                    drop(thread.map(JoinHandle::join));
                    result
                }
                None => Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the output is not being read",
                )),
            };
            first = first.and(result);
        }
        first
    }

    pub(crate) fn publisher(&self) -> Publisher {
        self.publisher.clone()
    }
}

impl Publisher {
    pub(crate) fn publish(&self, frame: Frame) {
        self.send(&Delivery::Event(Arc::new(frame)));
    }

    fn send(&self, delivery: &Delivery) {
        for queue in &self.0 {
            // A sink that is gone has reported why.
            drop(queue.send(delivery.clone()));
        }
    }
}

/// Runs one sink until the outcome arrives or the run is dropped.
fn serve(
    mut sink: Box<dyn Sink>,
    deliveries: &Receiver<Delivery>,
    interrupts: &InterruptSender,
) -> io::Result<()> {
    while let Ok(delivery) = deliveries.recv() {
        match delivery {
            Delivery::Event(frame) => {
                if let Err(error) = guarded(|| sink.event(&frame)) {
                    // The run may be over already.
                    let _ = interrupts.send(Interrupt::OutputClosed);
                    return Err(error);
                }
            }
            Delivery::Finish(outcome) => return guarded(|| sink.finish(&outcome)),
        }
    }
    Ok(())
}

/// Turns a panic into an error: a sink is not worth a lost review.
fn guarded(write: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    catch_unwind(AssertUnwindSafe(write)).unwrap_or_else(|panic| {
        let message = panic_message(panic.as_ref());
        Err(io::Error::other(format!(
            "an internal error in an output: {message}"
        )))
    })
}

/// Returns the text of a panic, as far as it has one.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::model::{ErrorCode, ReviewEvent, ReviewerId};

    type Log = Arc<Mutex<Vec<String>>>;

    struct Recorder(Log);

    impl Sink for Recorder {
        fn event(&mut self, frame: &Frame) -> io::Result<()> {
            let ReviewEvent::ReviewerStarted { reviewer_id } = &frame.event else {
                return Ok(());
            };
            self.0.lock().unwrap().push(reviewer_id.0.clone());
            Ok(())
        }

        fn finish(self: Box<Self>, _: &RunOutcome) -> io::Result<()> {
            self.0.lock().unwrap().push("end".to_owned());
            Ok(())
        }
    }

    struct Closed;

    impl Sink for Closed {
        fn event(&mut self, _: &Frame) -> io::Result<()> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn finish(self: Box<Self>, _: &RunOutcome) -> io::Result<()> {
            unreachable!("a broken sink gets nothing more")
        }
    }

    struct Panicking;

    impl Sink for Panicking {
        fn event(&mut self, _: &Frame) -> io::Result<()> {
            panic!("boom")
        }

        fn finish(self: Box<Self>, _: &RunOutcome) -> io::Result<()> {
            Ok(())
        }
    }

    /// Blocks in `finish` until the test lets go.
    struct Stalled(Receiver<()>);

    impl Sink for Stalled {
        fn event(&mut self, _: &Frame) -> io::Result<()> {
            Ok(())
        }

        fn finish(self: Box<Self>, _: &RunOutcome) -> io::Result<()> {
            let _ = self.0.recv();
            Ok(())
        }
    }

    fn started(name: &str) -> Frame {
        Frame::new(ReviewEvent::ReviewerStarted {
            reviewer_id: ReviewerId(name.to_owned()),
        })
    }

    fn outcome(reason: Reason) -> RunOutcome {
        let failure = Failure::new(ErrorCode::ReviewerFailed, "over").reason(reason);
        RunOutcome::Failed(failure.into())
    }

    #[test]
    fn every_sink_gets_every_event_in_order_and_then_the_outcome() {
        let logs: Vec<Log> = vec![Log::default(), Log::default()];
        let (interrupts, _receiver) = interrupt_channel();
        let sinks = logs
            .iter()
            .map(|log| Box::new(Recorder(Arc::clone(log))) as Box<dyn Sink>)
            .collect();
        let set = SinkSet::spawn(sinks, interrupts);
        set.publish(started("a"));
        set.publisher().publish(started("b"));
        set.finish(&outcome(Reason::Crash)).unwrap();
        for log in logs {
            assert_eq!(*log.lock().unwrap(), ["a", "b", "end"]);
        }
    }

    #[test]
    fn a_closed_output_interrupts_once_and_leaves_the_others_alone() {
        let log = Log::default();
        let (interrupts, mut receiver) = interrupt_channel();
        let sinks: Vec<Box<dyn Sink>> =
            vec![Box::new(Closed), Box::new(Recorder(Arc::clone(&log)))];
        let set = SinkSet::spawn(sinks, interrupts);
        set.publish(started("a"));
        set.publish(started("b"));
        let error = set.finish(&outcome(Reason::Interrupted)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
        assert_eq!(*log.lock().unwrap(), ["a", "b", "end"]);
        assert_eq!(receiver.try_recv(), Ok(Interrupt::OutputClosed));
        assert!(receiver.try_recv().is_err());
    }

    #[test]
    fn a_panicking_sink_is_an_error_of_that_sink() {
        let (interrupts, mut receiver) = interrupt_channel();
        let set = SinkSet::spawn(vec![Box::new(Panicking)], interrupts);
        set.publish(started("a"));
        let error = set.finish(&outcome(Reason::Crash)).unwrap_err();
        assert!(error.to_string().contains("boom"), "{error}");
        assert_eq!(receiver.try_recv(), Ok(Interrupt::OutputClosed));
    }

    #[test]
    fn an_interrupted_run_does_not_wait_for_a_stalled_reader() {
        let (_hold, gate) = channel();
        let (interrupts, _receiver) = interrupt_channel();
        let set = SinkSet::spawn(vec![Box::new(Stalled(gate))], interrupts);
        let error = set.finish(&outcome(Reason::Interrupted)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
