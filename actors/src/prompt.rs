//! The prompt port. Prompts of later lanes and of repairs exist only during a run, so a plan
//! carries a builder and not finished prompts.

use std::sync::Arc;

use crate::model::{Coverage, Failure, ReviewLane};

/// Builds what a model is told.
pub trait PromptBuilder: Send + Sync {
    /// Returns the prompt for one lane and one kind of reviewer. Equal requests share one prompt.
    ///
    /// # Errors
    ///
    /// Fails when not even one file fits into `max_chars`, naming size and limit.
    fn build(&self, lane: &ReviewLane, shape: &PromptShape) -> Result<Arc<Prompt>, Failure>;

    /// Returns the request to transcribe an answer that does not fit, `problem` being what is wrong
    /// with it. `None` when the answer is too long for that: a part of it would lose findings.
    fn repair(&self, answer: &str, problem: &str, max_chars: Option<usize>) -> Option<String> {
        let _ = (answer, problem, max_chars);
        None
    }
}

/// What a reviewer's transport can take; equal shapes get byte-identical prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PromptShape {
    /// Whether diffwarden owns the engine's system prompt (SPEC 8.1).
    pub system: bool,
    /// The read-only tools that the engine really offers, named in the contract; empty when
    /// diffwarden does not control them.
    pub tools: &'static [&'static str],
    /// The engine's measured limit for the whole prompt, in Unicode scalar values.
    pub max_chars: Option<usize>,
    /// Whether the engine reads the patch itself and is told nothing, so that no limit on what is
    /// sent applies to it.
    pub reads_patch: bool,
}

/// What a model is told, and what of the patch is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The stable contract, when the transport takes a system prompt.
    pub system: Option<String>,
    /// The engagement; the whole prompt when there is no system part.
    pub user: String,
    /// What of the patch is in it.
    pub coverage: Coverage,
}
