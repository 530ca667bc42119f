//! Who reviews: the selected reviewers with their engines, as far as they may see the change.

use std::sync::Arc;

use diffwarden_actors::engine::Engine;
use diffwarden_actors::model::{Degraded, DegradedTopic, EngineName, Failure, Patch, TrustReason};
use diffwarden_actors::plan::ReviewerPlan;
use diffwarden_actors::snapshot::PlannedSnapshot;

use super::refuse;
use super::scanned::Scanned;
use crate::engines::capabilities::{self, Capability};
use crate::engines::settings::ReviewerSettings;
use crate::engines::surface::{ScanContext, Surface};
use crate::engines::{self, Host, coherence};
use crate::git::{Repository, Resolved};
use crate::intake::prune::Pruning;
use crate::snapshot::is_engine;

/// What people should know of a change of which nothing is sent.
const NOTHING_TO_SEND: &str = "every changed file is one that nobody writes by hand, so no engine \
     was started; --no-prune has them reviewed";

/// What decides who reviews.
pub(super) struct Recruiting<'a> {
    pub(super) selected: &'a [ReviewerSettings],
    pub(super) host: &'a Host,
    pub(super) repository: &'a Repository,
    pub(super) resolved: &'a Resolved,
    pub(super) patch: &'a Patch,
    pub(super) pruning: &'a Pruning,
    pub(super) scanned: &'a Scanned,
    pub(super) allow_unsafe_input: bool,
    /// Whether engines look at a snapshot, which holds no hazards.
    pub(super) is_frozen: bool,
}

/// Who reviews, and what has to be said about the run for it.
pub(super) struct Crew {
    pub(super) reviewers: Vec<ReviewerPlan>,
    pub(super) degraded: Vec<Degraded>,
    pub(super) doubts: Vec<TrustReason>,
}

impl Crew {
    /// Gives the engines a snapshot to look at, if there is one and an engine is left. What lies in
    /// the work tree does not matter to them then.
    pub(super) fn look_at(&mut self, frozen: Option<PlannedSnapshot>) -> Option<PlannedSnapshot> {
        let mut reviewers = self.reviewers.iter();
        let snapshot = frozen.filter(|_| reviewers.any(|it| is_engine(it.engine_name)))?;
        Resolved::forget_work_tree(&mut self.doubts, &mut self.degraded);
        Some(snapshot)
    }
}

impl Recruiting<'_> {
    /// Plans the reviewers; none for an empty change, and no engine when nothing is sent.
    pub(super) fn recruit(&self) -> Result<Crew, Failure> {
        let Self {
            selected,
            resolved,
            patch,
            pruning,
            ..
        } = self;
        let mut crew = Crew {
            reviewers: Vec::new(),
            degraded: resolved.degraded.clone(),
            doubts: resolved.doubts.clone(),
        };
        crew.degraded.extend(self.scanned.degraded.clone());
        let notes = pruning.notes.iter();
        let notes = notes.map(|note| Degraded::warning(DegradedTopic::Pruning, note));
        crew.degraded.extend(notes);
        if resolved.target.is_diff_backed() && patch.is_empty() {
            crew.doubts.push(TrustReason::EmptyDiff);
            return Ok(crew);
        }
        let context = ScanContext {
            commit_messages: resolved.commit_messages.clone(),
            branch: resolved.branch.clone(),
            allow: Arc::clone(&self.scanned.allow),
        };
        crew.reviewers = plan_reviewers(selected, self.host, &context)?;
        crew.degraded.extend(nobody_looks(selected));
        if pruning.is_total() {
            crew.doubts.push(TrustReason::AllPruned);
            let entry = Degraded::actionable(DegradedTopic::Pruning, NOTHING_TO_SEND);
            crew.degraded.push(entry);
            crew.reviewers
                .retain(|reviewer| reviewer.prompt.reads_patch);
        }
        let verdict = refuse::refuse(&mut crew.reviewers, self)?;
        crew.degraded.extend(verdict.degraded);
        crew.doubts.extend(verdict.doubts);
        Ok(crew)
    }
}

/// Warns of a run in which only the fixture answers.
fn nobody_looks(selected: &[ReviewerSettings]) -> Option<Degraded> {
    let only_fake = selected.iter().all(|it| it.engine == EngineName::Fake);
    let message = "only the fake reviewer ran: nobody looked at the change";
    only_fake.then(|| Degraded::warning(DegradedTopic::Answers, message))
}

/// Returns the reviewers as a run would have them, for looking at them alone.
///
/// # Errors
///
/// Fails with exit code 2 for what a run would refuse before it begins.
pub fn plan_check_up(
    selected: &[ReviewerSettings],
    host: &Host,
) -> Result<Vec<ReviewerPlan>, Failure> {
    plan_reviewers(selected, host, &ScanContext::default())
}

/// Plans the reviewers, in order. Equal ones get one engine, so its preflight is made once.
fn plan_reviewers(
    selected: &[ReviewerSettings],
    host: &Host,
    context: &ScanContext,
) -> Result<Vec<ReviewerPlan>, Failure> {
    let mut plans: Vec<ReviewerPlan> = Vec::new();
    for (position, settings) in selected.iter().enumerate() {
        let twin = selected[..position].iter().position(|it| it == settings);
        plans.push(match twin {
            Some(at) => plans[at].clone(),
            None => plan_reviewer(settings, host, context)?,
        });
    }
    Ok(plans)
}

fn plan_reviewer(
    settings: &ReviewerSettings,
    host: &Host,
    context: &ScanContext,
) -> Result<ReviewerPlan, Failure> {
    let engine: Arc<dyn Engine> = match settings.engine {
        EngineName::Surface => Arc::new(Surface::new(context.clone())),
        _ => coherence::guard(engines::build(settings, host)?, settings, &host.env),
    };
    Ok(ReviewerPlan {
        id: settings.id.clone(),
        engine_name: settings.engine,
        transport: settings.transport,
        profile: settings.profile.clone(),
        provider: settings.provider.clone(),
        model: settings.model.as_ref().map(|model| model.value.clone()),
        effort: settings
            .effort
            .as_ref()
            .map(|effort| effort.value.as_str().to_owned()),
        timeout: settings.timeout,
        prompt: capabilities::find(settings.engine, settings.transport)
            .map(Capability::prompt_shape)
            .unwrap_or_default(),
        engine,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, SelectionFlags};
    use crate::env::Environment;

    #[test]
    fn equal_reviewers_share_an_engine_and_others_do_not() {
        let flags = SelectionFlags {
            reviewers: ["fake", "surface", "fake"].map(str::to_owned).into(),
            ..SelectionFlags::default()
        };
        let env = Environment::default();
        let selected = config::select_reviewers(&flags, &env, None).unwrap();
        let host = Host {
            env,
            repo_root: None,
        };
        let plans = plan_reviewers(&selected, &host, &ScanContext::default()).unwrap();
        let ids: Vec<_> = plans.iter().map(|plan| plan.id.0.as_str()).collect();
        assert_eq!(ids, ["fake", "surface", "fake"]);
        assert!(Arc::ptr_eq(&plans[0].engine, &plans[2].engine));
        assert!(!Arc::ptr_eq(&plans[0].engine, &plans[1].engine));
    }
}
