//! A reviewer owns one session: one engine, looked at once, asked once.
//!
//! The actor only holds the brake. The session itself is one plain async function that drives an
//! [`Attempt`]; it carries nothing but inputs and results. What must stay true: the reviewer's
//! deadline counts from its permit and covers preflight and review; its private folders are gone
//! before anybody hears of its outcome; a panic in an engine is this reviewer's failure.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::Instant;

use crate::aggregator::{Aggregator, elapsed_ms};
use crate::answer::{self, LocalDisk, Locator, Parsed};
use crate::attempt::{Attempt, Effect};
use crate::engine::{
    Answer, CancelToken, Capabilities, Captured, CommandSpec, Place, Preflight, PreflightPass,
    ReviewRequest, Start,
};
use crate::messages::{Fact, Observed, Review, StopReview};
use crate::model::{
    CoverageFile, ErrorCode, FailedReviewer, Failure, PreflightReport, Reason, ReviewValidation,
    ReviewerEntry, ReviewerIdentity, ReviewerStatus, SuccessfulReviewer,
};
use crate::plan::{ReviewerPlan, RunPlan};
use crate::process::{Halt, Leash, collect, converse, crashed};
use crate::prompt::Prompt;
use crate::run_dir::RunDir;
use crate::schedule::{Slot, StopLevel};
use crate::shared::Shared;

/// Timers cannot be set further ahead than about two years; nobody waits for one.
pub(crate) const LONGEST_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// Owns one session.
pub(crate) struct Reviewer {
    plan: Arc<RunPlan>,
    slot: Slot,
    shared: Arc<Shared>,
    stop: watch::Sender<StopLevel>,
    aggregator: Addr<Aggregator>,
}

impl Reviewer {
    pub(crate) fn new(
        plan: Arc<RunPlan>,
        slot: Slot,
        shared: Arc<Shared>,
        aggregator: Addr<Aggregator>,
    ) -> Self {
        Self {
            plan,
            slot,
            shared,
            stop: watch::Sender::new(StopLevel::Run),
            aggregator,
        }
    }
}

impl Actor for Reviewer {
    type Context = Context<Self>;
}

impl Handler<StopReview> for Reviewer {
    type Result = ();

    fn handle(&mut self, StopReview(level): StopReview, _: &mut Self::Context) {
        self.stop.send_if_modified(|now| {
            level > *now && {
                *now = level;
                true
            }
        });
    }
}

impl Handler<Review> for Reviewer {
    type Result = ResponseActFuture<Self, ReviewerEntry>;

    fn handle(&mut self, _: Review, _: &mut Self::Context) -> Self::Result {
        let permitted = Instant::now();
        let timeout = self.plan.reviewers[self.slot.reviewer].timeout;
        let own_end = timeout.map(|timeout| permitted + timeout.min(LONGEST_TIMEOUT));
        let session = Session {
            plan: Arc::clone(&self.plan),
            slot: self.slot,
            shared: Arc::clone(&self.shared),
            aggregator: self.aggregator.clone(),
            permitted,
            leash: Leash {
                stop: self.stop.subscribe(),
                deadline: own_end.into_iter().chain(self.shared.deadline).min(),
                grace: self.plan.policy.grace,
                max_output: self.plan.policy.max_output,
            },
        };
        Box::pin(session.run().into_actor(self))
    }
}

/// The inputs of one session.
struct Session {
    plan: Arc<RunPlan>,
    slot: Slot,
    shared: Arc<Shared>,
    aggregator: Addr<Aggregator>,
    permitted: Instant,
    leash: Leash,
}

/// A read and checked answer.
struct Reviewed {
    parsed: Parsed,
    validation: ReviewValidation,
    metadata: serde_json::Map<String, Value>,
    usage: Option<Value>,
    sent: Option<Vec<CoverageFile>>,
}

/// What of the budget is being spent, for the message of a time-out.
#[derive(Clone, Copy)]
enum Phase {
    Preflight,
    Run,
}

impl Session {
    async fn run(self) -> ReviewerEntry {
        let mut report = None;
        let (mut attempt, mut effect) = Attempt::begin();
        loop {
            effect = match effect {
                Effect::Preflight => {
                    let preflight = self.shared.preflight(self.slot.reviewer);
                    let outcome = preflight.get(self.leash.clone(), self.preflight()).await;
                    let outcome = outcome.map_err(|halt| self.failure(halt, Phase::Preflight));
                    self.observe(Fact::PreflightDone {
                        ok: outcome.is_ok(),
                        timing_ms: elapsed_ms(self.permitted),
                    });
                    attempt.checked(outcome)
                }
                Effect::Review(pass) => {
                    let PreflightPass {
                        report: found,
                        capabilities,
                    } = pass;
                    report = Some(found);
                    self.observe(Fact::Started);
                    let outcome = self.review(capabilities).await;
                    attempt.answered(outcome.map_err(|halt| self.failure(halt, Phase::Run)))
                }
                Effect::Report(outcome) => return self.entry(outcome, report),
            };
        }
    }

    fn reviewer(&self) -> &ReviewerPlan {
        &self.plan.reviewers[self.slot.reviewer]
    }

    fn observe(&self, fact: Fact) {
        let slot = self.slot;
        self.aggregator.do_send(Observed { slot, fact });
    }

    async fn preflight(&self) -> Result<PreflightPass, Halt> {
        let run_dir = RunDir::create(&self.plan.scope.repo_root)?;
        let outcome = self.check(run_dir.path().into()).await;
        run_dir.remove().await;
        outcome
    }

    async fn check(&self, folder: Arc<Path>) -> Result<PreflightPass, Halt> {
        let engine = Arc::clone(&self.reviewer().engine);
        let place = self.place(&folder);
        match self.blocking(move |_| engine.preflight(&place)).await? {
            Preflight::Known(pass) => Ok(pass),
            Preflight::Probe { commands, judge } => {
                let captured = self.probe(commands, &folder).await?;
                self.blocking(move |_| judge(captured)).await
            }
        }
    }

    /// Runs the commands side by side; the first that cannot run ends the others.
    async fn probe(
        &self,
        commands: Vec<CommandSpec>,
        folder: &Arc<Path>,
    ) -> Result<Vec<Captured>, Halt> {
        let mut captured: Vec<Option<Captured>> = commands.iter().map(|_| None).collect();
        let mut probes = JoinSet::new();
        for (position, command) in commands.into_iter().enumerate() {
            let (folder, leash) = (Arc::clone(folder), self.leash.clone());
            probes.spawn(async move { (position, collect(command, folder, leash).await) });
        }
        while let Some(probe) = probes.join_next().await {
            let outcome = match probe {
                Ok((position, outcome)) => outcome.map(|found| captured[position] = Some(found)),
                Err(error) => Err(crashed(&error).into()),
            };
            if let Err(halt) = outcome {
                // A time-out or a stop reaches the others as well, and they end their children in
                // order; any other failure leaves nothing to wait for.
                match halt {
                    Halt::Failed(_) => probes.shutdown().await,
                    Halt::Deadline | Halt::Stopped => while probes.join_next().await.is_some() {},
                }
                return Err(halt);
            }
        }
        Ok(captured.into_iter().flatten().collect())
    }

    async fn review(&self, capabilities: Capabilities) -> Result<Reviewed, Halt> {
        let run_dir = RunDir::create(&self.plan.scope.repo_root)?;
        let outcome = self.ask(run_dir.path().into(), capabilities).await;
        run_dir.remove().await;
        let (answer, prompt) = outcome?;
        self.read(answer, prompt).await
    }

    async fn ask(
        &self,
        folder: Arc<Path>,
        capabilities: Capabilities,
    ) -> Result<(Answer, Arc<Prompt>), Halt> {
        let (plan, slot, place) = (Arc::clone(&self.plan), self.slot, self.place(&folder));
        let prepare = move |_: &CancelToken| {
            let reviewer = &plan.reviewers[slot.reviewer];
            let lane = &plan.lanes[slot.lane].lane;
            let prompt = plan.prompts.build(lane, &reviewer.prompt)?;
            let start = reviewer.engine.review(&ReviewRequest {
                place,
                capabilities,
                prompt: Arc::clone(&prompt),
                target: Arc::clone(&plan.target),
                patch: Arc::clone(&plan.patch),
            })?;
            Ok((start, prompt))
        };
        let (start, prompt) = self.blocking(prepare).await?;
        let answer = match start {
            Start::InProcess(work) => self.blocking(move |token| work(token)).await?,
            Start::Process { command, dialogue } => {
                converse(command, folder, dialogue, self.leash.clone()).await?
            }
        };
        Ok((answer, prompt))
    }

    /// Reads and checks the answer. It is there, so the deadline no longer matters.
    async fn read(&self, answer: Answer, prompt: Arc<Prompt>) -> Result<Reviewed, Halt> {
        let plan = Arc::clone(&self.plan);
        let read = spawn_blocking(move || {
            let parsed = answer::parse_payload(answer.payload)?;
            let locator = Locator::new(&plan.scope, &LocalDisk);
            let (mode, valid_schema) = (parsed.parse_mode, parsed.valid_schema);
            let validation = answer::validate(&parsed.result, mode, valid_schema, &locator);
            let mut metadata = answer.metadata;
            let mode = answer.capture_mode.as_str();
            // The contract's order: the selection, how the answer was captured, what kept the
            // engine from writing.
            let readonly = metadata.keys().position(|key| key == "readonlyCapability");
            let place = readonly.unwrap_or(metadata.len());
            metadata.shift_insert(place, "captureMode".to_owned(), mode.into());
            Ok(Reviewed {
                parsed,
                validation,
                metadata,
                usage: answer.usage,
                sent: answer::shortfall(&plan.coverage, &prompt.coverage),
            })
        });
        let read: Result<Reviewed, Failure> =
            read.await.unwrap_or_else(|error| Err(crashed(&error)));
        Ok(read?)
    }

    /// Runs engine code on a blocking thread, within the task's limits. Code that does not give up
    /// when it is told to is left behind; the program's end ends it.
    async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&CancelToken) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Halt> {
        let mut leash = self.leash.clone();
        let token = CancelToken::default();
        let worker = token.clone();
        let mut handle = spawn_blocking(move || work(&worker));
        let halt = tokio::select! {
            // What is done counts, also when the deadline has passed meanwhile.
            biased;
            done = &mut handle => {
                return done
                    .unwrap_or_else(|error| Err(crashed(&error)))
                    .map_err(Halt::Failed);
            }
            halt = leash.halted() => halt,
        };
        token.cancel();
        tokio::select! {
            _ = &mut handle => {}
            () = leash.grace_over() => tracing::warn!(reviewer = %self.reviewer().id, "left behind"),
        }
        Err(halt)
    }

    fn place(&self, folder: &Path) -> Place {
        Place {
            repo_root: self.plan.scope.repo_root.clone(),
            run_dir: folder.to_owned(),
        }
    }

    fn failure(&self, halt: Halt, phase: Phase) -> Failure {
        let id = &self.reviewer().id;
        match halt {
            Halt::Failed(failure) => failure,
            Halt::Deadline => {
                let phase = match phase {
                    Phase::Preflight => "preflight",
                    Phase::Run => "run",
                };
                if self.shared.deadline.is_some() && self.leash.deadline == self.shared.deadline {
                    return out_of_time(&format!("during {phase}: {id}"));
                }
                Failure::new(
                    ErrorCode::Timeout,
                    format!("Reviewer timed out during {phase}: {id}"),
                )
                .reason(Reason::Timeout)
                .hint("Give it more time with --timeout, or review a smaller change.")
            }
            Halt::Stopped => Failure::new(
                ErrorCode::ReviewerFailed,
                format!("Reviewer stopped before it had an answer: {id}"),
            )
            .reason(Reason::Interrupted),
        }
    }

    fn entry(
        &self,
        outcome: Result<Reviewed, Failure>,
        report: Option<PreflightReport>,
    ) -> ReviewerEntry {
        let timing_ms = elapsed_ms(self.permitted);
        match outcome {
            Err(failure) => failed_entry(self.reviewer(), &failure, report, timing_ms),
            Ok(reviewed) => ReviewerEntry::Success(Box::new(SuccessfulReviewer {
                identity: identity(self.reviewer(), ReviewerStatus::Success),
                result: reviewed.parsed.result,
                validation: reviewed.validation,
                timing_ms: Some(timing_ms),
                raw_text: reviewed.parsed.raw_text,
                preflight: report,
                adapter_metadata: Some(reviewed.metadata),
                usage: reviewed.usage,
                sent: reviewed.sent,
            })),
        }
    }
}

/// Returns the failure of a reviewer that the run's own time did not suffice for.
pub(crate) fn out_of_time(when: &str) -> Failure {
    Failure::new(
        ErrorCode::Timeout,
        format!("The time of the whole run was over {when}"),
    )
    .reason(Reason::MaxTime)
    .hint("Give the run more time with --max-time, or ask fewer reviewers.")
}

/// Returns the entry of a reviewer that failed.
pub(crate) fn failed_entry(
    reviewer: &ReviewerPlan,
    failure: &Failure,
    preflight: Option<PreflightReport>,
    timing_ms: u64,
) -> ReviewerEntry {
    ReviewerEntry::Failed(Box::new(FailedReviewer {
        identity: identity(reviewer, ReviewerStatus::Failed),
        preflight,
        error: failure.to_error(None),
        timing_ms: Some(timing_ms),
    }))
}

fn identity(reviewer: &ReviewerPlan, status: ReviewerStatus) -> ReviewerIdentity {
    ReviewerIdentity {
        id: reviewer.id.clone(),
        engine: reviewer.engine_name,
        status,
        transport: reviewer.transport,
        profile: reviewer.profile.clone(),
        provider: reviewer.provider.clone(),
        model: reviewer.model.clone(),
        effort: reviewer.effort.clone(),
    }
}
