//! The session of one reviewer: one plain async function that drives an [`Attempt`].
//!
//! It carries nothing but inputs and results. What must stay true: every task has private folders of
//! its own, and they are gone before anybody hears of its outcome.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use actix::prelude::*;
use tokio::task::spawn_blocking;
use tokio::time::Instant;

use super::ending::{failed_entry, identity, out_of_time, timed_out};
use crate::aggregator::{Aggregator, elapsed_ms};
use crate::answer::{self, LocalDisk, Locator, Repair};
use crate::attempt::{Attempt, Effect, Outcome, Reading, Record, label};
use crate::engine::{
    Answer, Capabilities, Place, PreflightPass, RepairRequest, ReviewRequest, Start,
};
use crate::messages::{Fact, Observed, PermitPaused, PermitWanted};
use crate::model::{
    ErrorCode, Failure, PreflightReport, Reason, ReviewerEntry, ReviewerStatus, SuccessfulReviewer,
};
use crate::plan::{ReviewerPlan, RunPlan};
use crate::preflight::{self, blocking};
use crate::process::{Halt, Leash, converse, crashed};
use crate::progress::Watched;
use crate::prompt::Prompt;
use crate::run_dir::RunDir;
use crate::schedule::Slot;
use crate::shared::Shared;
use crate::snapshot::Spelling;
use crate::supervisor::Supervisor;

/// The longest wait for a provider in a run without a time limit.
const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// The inputs of one session.
pub(super) struct Session {
    pub(super) plan: Arc<RunPlan>,
    pub(super) slot: Slot,
    pub(super) shared: Arc<Shared>,
    pub(super) supervisor: Addr<Supervisor>,
    pub(super) aggregator: Addr<Aggregator>,
    pub(super) permitted: Instant,
    pub(super) leash: Leash,
    /// How paths of a snapshot are spelled outside this session.
    pub(super) spelling: Spelling,
}

/// What of the budget is being spent, for the message of a time-out.
#[derive(Clone, Copy)]
enum Phase {
    Preflight,
    Run,
}

impl Session {
    /// Runs the whole course.
    pub(super) async fn run(self) -> ReviewerEntry {
        let mut record = Record::default();
        let mut pass: Option<PreflightPass> = None;
        let (mut attempt, mut effect) = Attempt::begin();
        loop {
            let capabilities = || {
                let known = pass.as_ref().map(|pass| pass.capabilities.clone());
                known.unwrap_or_default()
            };
            let outcome = match effect {
                Effect::Preflight => match self.shared_preflight().await {
                    Ok(passed) => {
                        pass = Some(passed);
                        self.checked(true);
                        self.observe(Fact::Started);
                        Outcome::Done
                    }
                    Err(halt) => {
                        self.checked(false);
                        record.halted(self.failure(halt, Phase::Preflight));
                        Outcome::Failed
                    }
                },
                Effect::Review => {
                    let reading = self.review(capabilities(), &mut record).await;
                    let outcome = self.judged(&reading);
                    let reading = reading.map_err(|halt| self.failure(halt, Phase::Run));
                    record.reviewed(attempt.step(), reading);
                    outcome
                }
                Effect::Repair => self.repair(capabilities(), &mut record).await,
                Effect::Wait(time) => {
                    record.waited(time);
                    match self.wait(time).await {
                        Ok(()) => Outcome::Done,
                        Err(halt) => {
                            record.halted(self.failure(halt, Phase::Run));
                            Outcome::Halted
                        }
                    }
                }
                Effect::Report => return self.entry(record, pass.map(|pass| pass.report)).await,
            };
            effect = attempt.next(outcome);
        }
    }

    /// Tells what a review came to, as far as the course is concerned.
    fn judged(&self, reading: &Result<Reading, Halt>) -> Outcome {
        match reading {
            Ok(reading) if reading.parsed.problem.is_some() => Outcome::Unreadable,
            Ok(_) => Outcome::Done,
            Err(Halt::Failed(failure)) => self.failed(failure),
            Err(Halt::Deadline | Halt::Stopped) => Outcome::Halted,
        }
    }

    fn failed(&self, failure: &Failure) -> Outcome {
        match (failure.reason, failure.retry_after) {
            (Some(Reason::Empty), _) => Outcome::Empty,
            (Some(Reason::RateLimit), Some(time)) if self.has_time_for(time) => {
                Outcome::RateLimited(time)
            }
            _ => Outcome::Failed,
        }
    }

    /// Whether the budget has room for a wait; without a budget, whether anybody would wait so long.
    fn has_time_for(&self, wait: Duration) -> bool {
        let left = self
            .leash
            .deadline
            .map(|end| end.duration_since(Instant::now()));
        left.map_or(wait <= LONGEST_WAIT, |left| wait < left)
    }

    fn checked(&self, ok: bool) {
        self.observe(Fact::PreflightDone {
            ok,
            timing_ms: elapsed_ms(self.permitted),
        });
    }

    /// Waits for the provider as long as it asked, without a permit, and then for a permit.
    async fn wait(&self, time: Duration) -> Result<(), Halt> {
        tracing::info!(reviewer = %self.reviewer().id, ?time, "waiting, as the provider asks");
        self.supervisor.do_send(PermitPaused(self.slot));
        let permitted = async {
            tokio::time::sleep(time).await;
            self.supervisor.send(PermitWanted(self.slot)).await
        };
        let mut leash = self.leash.clone();
        tokio::select! {
            permit = permitted => permit.map_err(|_| Halt::Stopped),
            halt = leash.halted() => Err(halt),
        }
    }

    fn reviewer(&self) -> &ReviewerPlan {
        &self.plan.reviewers[self.slot.reviewer]
    }

    fn observe(&self, fact: Fact) {
        let slot = self.slot;
        self.aggregator.do_send(Observed { slot, fact });
    }

    /// Checks the engine, unless another lane already has.
    async fn shared_preflight(&self) -> Result<PreflightPass, Halt> {
        let shared = self.shared.preflight(self.slot.reviewer);
        let engine = &self.reviewer().engine;
        shared
            .get(self.leash.clone(), preflight::check(engine, &self.leash))
            .await
            .map(|mut pass| {
                self.spelling.preflight(&mut pass);
                pass
            })
            .map_err(|halt| self.spelling.halt(halt))
    }

    /// Asks for a review and reads the answer, perhaps only as prose.
    async fn review(
        &self,
        capabilities: Capabilities,
        record: &mut Record,
    ) -> Result<Reading, Halt> {
        let (plan, slot) = (Arc::clone(&self.plan), self.slot);
        let prepare = move |place| {
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
            Ok(Some((start, prompt)))
        };
        let (answer, prompt) = self.ask(prepare).await?.ok_or_else(no_review)?;
        record.spent(answer.usage.clone());
        // The answer is there, so the deadline no longer matters.
        let read = spawn_blocking(move || read(answer, prompt)).await;
        Ok(read.unwrap_or_else(|error| Err(crashed(&error)))?)
    }

    /// Has the first answer transcribed, where the engine can do that.
    async fn repair(&self, capabilities: Capabilities, record: &mut Record) -> Outcome {
        let Some(malformed) = record.first_answer().cloned() else {
            return Outcome::Failed;
        };
        let (plan, slot) = (Arc::clone(&self.plan), self.slot);
        let text = malformed.raw_text.unwrap_or_default();
        let original = text.clone();
        let prepare = move |place| {
            let reviewer = &plan.reviewers[slot.reviewer];
            let problem = malformed.problem.map(|problem| problem.to_string());
            let limit = reviewer.prompt.max_chars;
            let prompt = plan
                .prompts
                .repair(&text, &problem.unwrap_or_default(), limit);
            let Some(prompt) = prompt else {
                return Ok(None);
            };
            let start = reviewer.engine.repair(&RepairRequest {
                place,
                capabilities,
                prompt,
                schema: answer::repair_schema(),
            });
            Ok(start.transpose()?.map(|start| (start, ())))
        };
        let repair = match self.ask(prepare).await {
            // There is no such thing as a repair here, and nothing to tell about it.
            Ok(None) => return Outcome::Failed,
            Ok(Some((answer, ()))) => {
                record.spent(answer.usage.clone());
                transcription(answer, original).await
            }
            Err(halt) => Err(halt),
        };
        let outcome = match &repair {
            Ok(_) => Outcome::Done,
            Err(Halt::Failed(failure)) => self.failed(failure),
            Err(Halt::Deadline | Halt::Stopped) => Outcome::Halted,
        };
        record.repaired(repair.map_err(|halt| self.failure(halt, Phase::Run)));
        outcome
    }

    /// Runs one task in a private folder of its own; nothing when there is no such task.
    async fn ask<T: Send + 'static>(
        &self,
        prepare: impl FnOnce(Place) -> Result<Option<(Start, T)>, Failure> + Send + 'static,
    ) -> Result<Option<(Answer, T)>, Halt> {
        let run_dir = RunDir::create(&self.plan.scope.repo_root)?;
        let outcome = self.run_task(run_dir.path().into(), prepare).await;
        run_dir.remove().await;
        match outcome {
            Ok(Some((mut answer, with))) => {
                self.spelling.answer(&mut answer);
                Ok(Some((answer, with)))
            }
            Ok(None) => Ok(None),
            Err(halt) => Err(self.spelling.halt(halt)),
        }
    }

    async fn run_task<T: Send + 'static>(
        &self,
        folder: Arc<Path>,
        prepare: impl FnOnce(Place) -> Result<Option<(Start, T)>, Failure> + Send + 'static,
    ) -> Result<Option<(Answer, T)>, Halt> {
        let place = self.place(&folder);
        let Some((start, with)) = blocking(&self.leash, move |_| prepare(place)).await? else {
            return Ok(None);
        };
        let answer = match start {
            Start::InProcess(work) => blocking(&self.leash, move |token| work(token)).await?,
            Start::Process { command, dialogue } => {
                let dialogue = if self.plan.policy.progress {
                    let (slot, aggregator) = (self.slot, self.aggregator.clone());
                    Watched::watch(dialogue, self.permitted, move |progress, elapsed_ms| {
                        let fact = Fact::Progress {
                            progress,
                            elapsed_ms,
                        };
                        aggregator.do_send(Observed { slot, fact });
                    })
                } else {
                    dialogue
                };
                converse(command, folder, dialogue, self.leash.clone()).await?
            }
        };
        Ok(Some((answer, with)))
    }

    fn place(&self, folder: &Path) -> Place {
        Place {
            repo_root: self.leash.work_root.to_path_buf(),
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
                timed_out(phase, id)
            }
            Halt::Stopped => Failure::new(
                ErrorCode::ReviewerFailed,
                format!("Reviewer stopped before it had an answer: {id}"),
            )
            .reason(Reason::Interrupted),
        }
    }

    /// Settles what is reported, checks it and makes the reviewer's entry of it.
    async fn entry(&self, record: Record, report: Option<PreflightReport>) -> ReviewerEntry {
        let (plan, slot) = (Arc::clone(&self.plan), self.slot);
        let permitted = self.permitted;
        let settled = spawn_blocking(move || {
            let (reading, usage) = record.settle(plan.policy.strict);
            let reading = reading?;
            let parsed = reading.parsed;
            let locator = Locator::new(&plan.scope, &LocalDisk);
            let (mode, valid_schema) = (parsed.parse_mode, parsed.valid_schema);
            Ok(SuccessfulReviewer {
                identity: identity(&plan.reviewers[slot.reviewer], ReviewerStatus::Success),
                validation: answer::validate(&parsed.result, mode, valid_schema, &locator),
                result: parsed.result,
                timing_ms: Some(elapsed_ms(permitted)),
                raw_text: parsed.raw_text,
                preflight: None,
                adapter_metadata: Some(reading.metadata),
                usage,
                sent: answer::shortfall(&plan.coverage, &reading.prompt.coverage),
            })
        });
        let settled = settled.await.unwrap_or_else(|error| Err(crashed(&error)));
        match settled {
            Ok(mut entry) => {
                entry.preflight = report;
                ReviewerEntry::Success(Box::new(entry))
            }
            Err(failure) => failed_entry(self.reviewer(), &failure, report, elapsed_ms(permitted)),
        }
    }
}

/// Reads an answer, perhaps only as prose.
fn read(answer: Answer, prompt: Arc<Prompt>) -> Result<Reading, Failure> {
    let mut metadata = answer.metadata;
    let mode = answer.capture_mode.as_str();
    label(&mut metadata, "captureMode", mode.into());
    Ok(Reading {
        parsed: answer::parse_payload(answer.payload)?,
        metadata,
        prompt,
    })
}

async fn transcription(answer: Answer, original: String) -> Result<Repair, Halt> {
    let read = spawn_blocking(move || {
        answer::read_repair(&answer.payload, &original)
            .map_err(|refusal| Failure::new(ErrorCode::ReviewerFailed, refusal.to_string()))
    });
    let read = read.await.unwrap_or_else(|error| Err(crashed(&error)));
    Ok(read?)
}

fn no_review() -> Failure {
    Failure::new(ErrorCode::ReviewerFailed, "the engine offers no review").reason(Reason::Crash)
}
