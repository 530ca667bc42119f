//! `diffwarden review --print-prompt`: what would be sent, without a run.

use diffwarden_actors::model::Failure;
use diffwarden_actors::plan::{ReviewerPlan, RunPlan};

use crate::sinks::{Foreign, sanitize};

/// Returns every prompt of a run with the lane and the reviewers it is for. Secrets of the change
/// are masked in it, as they are in what is sent.
///
/// # Errors
///
/// Fails when a prompt does not fit what a reviewer takes.
pub(super) fn text(plan: &RunPlan, foreign: Foreign<'_>) -> Result<String, Failure> {
    let mut text = String::new();
    for lane in &plan.lanes {
        let mut left: Vec<&ReviewerPlan> = plan.reviewers.iter().collect();
        while let Some(first) = left.first().copied() {
            let (same, others): (Vec<_>, Vec<_>) =
                left.into_iter().partition(|it| it.prompt == first.prompt);
            left = others;
            let ids: Vec<_> = same.iter().map(|it| foreign.name(&it.id.0)).collect();
            let (lane_id, ids) = (foreign.name(&lane.lane.id.0), ids.join(", "));
            text.push_str(&format!("===== lane {lane_id}, reviewer {ids} =====\n"));
            if first.prompt.reads_patch {
                text.push_str("(reads the change itself and is sent no prompt)\n\n");
                continue;
            }
            let prompt = plan.prompts.build(&lane.lane, &first.prompt)?;
            for part in prompt.system.as_deref().into_iter().chain([&*prompt.user]) {
                text.push_str(&sanitize::block(&foreign.0.redact(part)));
                text.push('\n');
            }
        }
    }
    if text.is_empty() {
        text.push_str("nothing would be sent\n");
    }
    Ok(text)
}
