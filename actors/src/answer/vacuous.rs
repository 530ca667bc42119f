//! Spots answers that admit they read nothing, or that are no answer at all.
//!
//! An engine whose tools were refused, whose prompt got lost or whose model declines still answers,
//! politely and without findings, and looks like a clean review. The check is narrow on purpose: it
//! only reads answers without findings, only what the reviewer says about itself and about the
//! change as a whole, and nothing that is quoted, because an explanation may well speak of code
//! that was "unable to read the file".

mod absent;
mod refusal;
mod words;

use crate::model::ReviewResult;
pub use refusal::is_refusal;
use words::{sentences, unquoted};

/// Whether an answer without findings shows that its author did not look at the change.
pub fn is_vacuous(result: &ReviewResult) -> bool {
    let explanation = result.overall_explanation.as_str();
    if !result.findings.is_empty() {
        return false;
    }
    if says_nothing(explanation) || is_placeholder(explanation) {
        return true;
    }
    let prose = unquoted(explanation);
    let sentences = sentences(&prose);
    let any = |says: fn(&[&str]) -> bool| sentences.iter().any(|words| says(words));
    // The diff is part of the prompt, so who speaks of it without saying that it was missing may
    // have reviewed it without opening a single file.
    any(absent::misses_change)
        || any(absent::misses_files) && !any(words::sights_change)
        || refusal::declines(&sentences)
}

/// Whether there is no word in it.
fn says_nothing(text: &str) -> bool {
    !text.contains(char::is_alphanumeric)
}

/// Whether the text is what the prompt's template has in this place.
fn is_placeholder(text: &str) -> bool {
    let inside = text
        .trim()
        .strip_prefix('<')
        .and_then(|text| text.strip_suffix('>'));
    inside.is_some_and(|inside| !inside.contains(['<', '>', '/']))
}

#[cfg(test)]
mod tests;
