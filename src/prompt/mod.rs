//! The prompt: rubric, engagement and output contract (SPEC 8).
//!
//! What must stay true:
//! - The contract (rubric, tools, form of the answer) depends on the tools alone, never on the
//!   target, the lane or the patch (SPEC 8.1).
//! - Text of others (patch, focus, instructions, paths) stands inside fences that nothing in it can
//!   close, and is never filled in again as a template.
//! - What is left out of the patch is named in the text and in the coverage.
//!
//! ```text
//! Patch -> print -> block (one file) -> clip (limits) -> builder (frame + fence) -> Prompt
//! ```

mod block;
mod builder;
mod clip;
mod coverage;
mod cut;
mod engagement;
mod fence;
mod print;
mod quote;
mod repair;
mod template;

#[cfg(test)]
mod sample;

pub use builder::{Builder, BuilderInput};
pub use clip::SendLimits;
pub use print::{print_file, print_patch};
