//! Spots a model that declines to review.
//!
//! Only the beginning of an answer is read, only the model may be the subject, and only a request
//! as a whole may be what it declines: a review may well say that it will not follow what the
//! change asks of it. Who speaks of the change elsewhere in the answer has seen it.

use super::words::{sentences, sights_change, unquoted};

/// How many sentences, or parts of one between commas, are the beginning.
const BEGINNING: usize = 4;

/// How many bytes a text may have to be nothing but a refusal.
const MAX_TEXT: usize = 2_000;

/// What may stand before a refusal in its sentence.
const LEADS: [&str; 20] = [
    "i",
    "i'm",
    "we",
    "am",
    "but",
    "so",
    "sorry",
    "apologies",
    "apologize",
    "apologise",
    "afraid",
    "regret",
    "unfortunately",
    "however",
    "that",
    "therefore",
    "thus",
    "as",
    "an",
    "ai",
];

/// Ways of saying that one does not do what follows.
const UNWILLING: [&[&str]; 13] = [
    &["cannot"],
    &["can", "not"],
    &["can't"],
    &["could", "not"],
    &["couldn't"],
    &["will", "not"],
    &["won't"],
    &["unable", "to"],
    &["not", "able", "to"],
    &["must", "decline", "to"],
    &["have", "to", "decline", "to"],
    &["decline", "to"],
    &["refuse", "to"],
];

/// Ways of saying no to everything.
const DECLINING: [&[&str]; 4] = [
    &["must", "decline"],
    &["must", "refuse"],
    &["have", "to", "decline"],
    &["decline"],
];

/// What a model declines to do.
const SERVING: [&str; 11] = [
    "help",
    "assist",
    "comply",
    "fulfill",
    "fulfil",
    "process",
    "continue",
    "proceed",
    "engage",
    "participate",
    "answer",
];

/// Words for the request as a whole.
const REQUEST: [&str; 31] = [
    "with",
    "in",
    "to",
    "you",
    "here",
    "this",
    "that",
    "the",
    "a",
    "an",
    "your",
    "such",
    "these",
    "those",
    "any",
    "request",
    "requests",
    "task",
    "tasks",
    "prompt",
    "review",
    "reviews",
    "reviewing",
    "code",
    "patch",
    "diff",
    "change",
    "changes",
    "it",
    "of",
    "kind",
];

/// Whether a text that is no structured answer is a refusal, and nothing else.
pub fn is_refusal(text: &str) -> bool {
    text.len() <= MAX_TEXT && declines(&sentences(&unquoted(text)))
}

/// Whether an answer begins with a refusal and never speaks of the change otherwise.
pub(super) fn declines(sentences: &[Vec<&str>]) -> bool {
    let spoken = || sentences.iter().filter(|words| !words.is_empty());
    let refusing = spoken().take(BEGINNING).position(|words| refuses(words));
    refusing.is_some_and(|refusing| {
        let others = spoken().enumerate().filter(|&(at, _)| at != refusing);
        !others.into_iter().any(|(_, words)| sights_change(words))
    })
}

/// `I'm sorry but I can't assist with this`, `I must decline`.
fn refuses(words: &[&str]) -> bool {
    let lead = words.iter().take_while(|word| LEADS.contains(word)).count();
    let is_own = words[..lead]
        .iter()
        .any(|word| ["i", "i'm", "we"].contains(word));
    let said = &words[lead..];
    let after = |phrases: &[&[&str]]| {
        let phrase = phrases.iter().find(|phrase| said.starts_with(phrase))?;
        said.get(phrase.len()..)
    };
    if let Some([verb, rest @ ..]) = after(&UNWILLING)
        && (is_own || lead == 0)
    {
        return SERVING.contains(verb) && is_request(rest);
    }
    is_own && after(&DECLINING).is_some_and(is_request)
}

fn is_request(words: &[&str]) -> bool {
    words.iter().all(|word| REQUEST.contains(word))
}
