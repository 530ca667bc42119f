//! Spots answers that admit they read nothing.
//!
//! An engine whose tools were refused still answers, politely and without findings, and looks like
//! a clean review. The check is narrow on purpose: it only reads answers without findings, only
//! what the reviewer says about itself, and nothing that is quoted, because an explanation may well
//! speak of code that was "unable to read the file".

use crate::model::ReviewResult;

/// Whether an answer without findings says that its author could not read what it was to review.
pub fn is_vacuous(result: &ReviewResult) -> bool {
    if !result.findings.is_empty() {
        return false;
    }
    let prose = unquoted(&result.overall_explanation);
    let sentences = sentences(&prose);
    let any = |says: fn(&[&str]) -> bool| sentences.iter().any(|words| says(words));
    // The diff is part of the prompt, so who speaks of it without saying that it was missing may
    // have reviewed it without opening a single file.
    any(|words| missed(words, &CHANGE) || lacks_change(words))
        || any(|words| missed(words, &FILES) || counts_nothing(words))
            && !any(|words| words.iter().any(|word| SIGHTINGS.contains(word)))
}

/// The change itself; without it there is no review.
const CHANGE: [&str; 4] = ["diff", "patch", "changes", "changeset"];

/// What lies around the change.
const FILES: [&str; 4] = ["files", "repository", "repo", "code"];

/// Words of somebody who saw the change.
const SIGHTINGS: [&str; 6] = ["diff", "patch", "hunk", "hunks", "change", "changes"];

/// Ways of saying that an attempt did not work.
const ATTEMPTS: [&[&str]; 9] = [
    &["unable", "to"],
    &["not", "able", "to"],
    &["wasn't", "able", "to"],
    &["could", "not"],
    &["couldn't"],
    &["cannot"],
    &["can", "not"],
    &["can't"],
    &["failed", "to"],
];

/// What was attempted.
const READING: [&str; 12] = [
    "read", "access", "open", "view", "see", "load", "retrieve", "inspect", "examine", "review",
    "fetch", "obtain",
];

/// Ways of saying that something is not there.
const LACKS: [&[&str]; 6] = [
    &["did", "not", "receive"],
    &["didn't", "receive"],
    &["do", "not", "have"],
    &["don't", "have"],
    &["did", "not", "have"],
    &["didn't", "have"],
];

/// What may stand between the verb and its object.
const FILLERS: [&str; 11] = [
    "the", "a", "any", "of", "this", "your", "provided", "given", "changed", "access", "to",
];

/// What may follow when the sentence is about the whole of the object.
const ENDINGS: [&str; 15] = [
    "because",
    "due",
    "since",
    "as",
    "at",
    "so",
    "and",
    "or",
    "therefore",
    "from",
    "contents",
    "content",
    "itself",
    "here",
    "directly",
];

/// `I was unable to read the diff`, `Could not access any files`, `I do not have the patch`.
fn missed(words: &[&str], objects: &[&str]) -> bool {
    (0..words.len()).any(|at| {
        let object = missing_object(&words[at..]);
        object.is_some_and(|object| is_whole(object, objects)) && speaks_of_itself(&words[..at])
    })
}

/// Returns what follows when the words begin with a failure to read or a lack.
fn missing_object<'w, 't>(words: &'w [&'t str]) -> Option<&'w [&'t str]> {
    let after = |phrases: &[&[&str]]| {
        let phrase = phrases.iter().find(|phrase| words.starts_with(phrase))?;
        words.get(phrase.len()..)
    };
    let Some(tail) = after(&ATTEMPTS) else {
        return after(&LACKS);
    };
    match tail.split_first()? {
        // `I cannot see any changes that break callers` is praise.
        (&"see", ["any", ..]) => None,
        (verb, object) => READING.contains(verb).then_some(object),
    }
}

/// Whether the subject is the reviewer: it is named right before, or left out altogether.
fn speaks_of_itself(before: &[&str]) -> bool {
    let own = ["i", "i'm", "i've", "we", "we're"];
    let between = [
        "was",
        "am",
        "were",
        "are",
        "have",
        "been",
        "also",
        "sorry",
        "unfortunately",
    ];
    match before.iter().rev().find(|word| !between.contains(word)) {
        Some(word) => own.contains(word),
        None => true,
    }
}

/// Whether the words begin with one of `objects` as a whole, and not with a part of it.
fn is_whole(words: &[&str], objects: &[&str]) -> bool {
    let skipped = words.iter().take_while(|word| FILLERS.contains(word));
    match &words[skipped.count()..] {
        [object] => objects.contains(object),
        [object, "in", "this", ..] => objects.contains(object),
        [object, next, ..] => objects.contains(object) && ENDINGS.contains(next),
        [] => false,
    }
}

/// `Files examined: none`.
fn counts_nothing(words: &[&str]) -> bool {
    let how = ["examined", "reviewed", "read", "inspected", "opened"];
    let counts = |words: &[&str]| match words {
        ["files", verb, count] => how.contains(verb) && ["none", "0", "zero"].contains(count),
        _ => false,
    };
    words.len() <= 6 && words.windows(3).any(counts)
}

/// `No diff was provided`.
fn lacks_change(words: &[&str]) -> bool {
    let how = [
        "provided",
        "supplied",
        "included",
        "given",
        "attached",
        "available",
        "received",
    ];
    match words {
        ["no", object, "was" | "were" | "is" | "are", verb, ..]
        | [
            "there",
            "was" | "were" | "is" | "are",
            "no",
            object,
            verb,
            ..,
        ] => CHANGE.contains(object) && how.contains(verb),
        _ => false,
    }
}

/// Splits prose into sentences of lower-case words.
fn sentences(text: &str) -> Vec<Vec<&str>> {
    let is_end = |c: char| matches!(c, '.' | '!' | '?' | ';' | ',' | '\n' | '(' | ')');
    let is_word = |c: char| c.is_alphanumeric() || c == '\'';
    text.split(is_end)
        .map(|sentence| {
            let words = sentence.split(|c| !is_word(c));
            words.filter(|word| !word.is_empty()).collect()
        })
        .collect()
}

/// Returns the text in lower case without fenced blocks, code spans and quotations.
fn unquoted(text: &str) -> String {
    let mut prose = String::with_capacity(text.len());
    let mut in_fence = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence {
            push_unquoted(&mut prose, line);
            prose.push('\n');
        }
    }
    prose.to_lowercase().replace('\u{2019}', "'")
}

/// Appends a line without what stands between backticks or double quotes on it.
fn push_unquoted(prose: &mut String, line: &str) {
    let mut rest = line;
    while let Some(open) = rest.find(['`', '"', '\u{201c}']) {
        let quote = rest[open..].chars().next().expect("a quote was found");
        let inside = &rest[open + quote.len_utf8()..];
        let close = if quote == '\u{201c}' {
            '\u{201d}'
        } else {
            quote
        };
        prose.push_str(&rest[..open]);
        match inside.find(close) {
            // A word that cannot be part of any phrase stands for what was quoted.
            Some(end) => {
                prose.push_str(" quoted ");
                rest = &inside[end + close.len_utf8()..];
            }
            None => rest = inside,
        }
    }
    prose.push_str(rest);
}

#[cfg(test)]
mod tests;
