//! Prose taken apart: sentences of lower-case words, without anything that is quoted.

/// What may stand between the verb and its object.
pub(super) const FILLERS: [&str; 11] = [
    "the", "a", "any", "of", "this", "your", "provided", "given", "changed", "access", "to",
];

/// What may follow when the sentence is about the whole of the object.
pub(super) const ENDINGS: [&str; 15] = [
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

/// The change itself; without it there is no review.
pub(super) const CHANGE: [&str; 4] = ["diff", "patch", "changes", "changeset"];

/// Words of somebody who saw the change.
const SIGHTINGS: [&str; 6] = ["diff", "patch", "hunk", "hunks", "change", "changes"];

/// Whether a sentence speaks of the change, whatever it says.
pub(super) fn sights_change(words: &[&str]) -> bool {
    words.iter().any(|word| SIGHTINGS.contains(word))
}

/// Whether nothing follows that would make the sentence one about a part.
pub(super) fn is_end(words: &[&str]) -> bool {
    words.first().is_none_or(|word| ENDINGS.contains(word)) || is_in_prompt(words)
}

/// `in the prompt`, `with your request`.
pub(super) fn is_in_prompt(words: &[&str]) -> bool {
    let places = [
        "prompt",
        "request",
        "message",
        "conversation",
        "input",
        "context",
        "task",
    ];
    match words {
        [
            "in" | "within" | "with" | "inside",
            "the" | "this" | "your" | "my",
            place,
            rest @ ..,
        ] => places.contains(place) && rest.first().is_none_or(|word| ENDINGS.contains(word)),
        _ => false,
    }
}

/// Whether the subject is the reviewer: it is named right before, or left out altogether.
pub(super) fn speaks_of_itself(before: &[&str]) -> bool {
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
pub(super) fn is_whole(words: &[&str], objects: &[&str]) -> bool {
    let skipped = words.iter().take_while(|word| FILLERS.contains(word));
    match &words[skipped.count()..] {
        [object] => objects.contains(object),
        [object, "in", "this", ..] => objects.contains(object),
        [object, next, ..] => objects.contains(object) && ENDINGS.contains(next),
        [] => false,
    }
}

/// Splits prose into sentences of lower-case words.
pub(super) fn sentences(text: &str) -> Vec<Vec<&str>> {
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
pub(super) fn unquoted(text: &str) -> String {
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
