//! Spots sentences which say that there was nothing to review, or that nothing was reviewed.

use super::words::{CHANGE, FILLERS, is_end, is_in_prompt, is_whole, speaks_of_itself};

/// What lies around the change.
const FILES: [&str; 4] = ["files", "repository", "repo", "code"];

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

/// Ways of saying that no attempt was made.
const OMISSIONS: [&[&str]; 6] = [
    &["have", "not"],
    &["haven't"],
    &["had", "not"],
    &["hadn't"],
    &["did", "not"],
    &["didn't"],
];

/// What was attempted.
const READING: [&str; 13] = [
    "read", "access", "open", "view", "see", "load", "retrieve", "inspect", "examine", "review",
    "fetch", "obtain", "analyze",
];

/// What was, or was not, done to the change.
const READ: [&str; 14] = [
    "read",
    "accessed",
    "opened",
    "viewed",
    "seen",
    "loaded",
    "retrieved",
    "inspected",
    "examined",
    "reviewed",
    "fetched",
    "obtained",
    "analyzed",
    "parsed",
];

/// What one does with a review, and has done with one.
const REVIEWING: [&str; 7] = [
    "perform", "complete", "do", "conduct", "provide", "make", "carry",
];
const REVIEWED: [&str; 8] = [
    "performed",
    "completed",
    "done",
    "conducted",
    "provided",
    "made",
    "carried",
    "possible",
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

/// What is done with a change to have it reviewed.
const GIVEN: [&str; 7] = [
    "provided",
    "supplied",
    "included",
    "given",
    "attached",
    "available",
    "received",
];

/// What may stand before the change when all of it is meant.
const DETERMINERS: [&str; 13] = [
    "so",
    "and",
    "but",
    "the",
    "this",
    "your",
    "a",
    "an",
    "provided",
    "given",
    "supplied",
    "submitted",
    "git",
];

const BE: [&str; 4] = ["was", "were", "is", "are"];
const BE_NOT: [&str; 4] = ["wasn't", "weren't", "isn't", "aren't"];

/// Whether a sentence says that the change was not there or was not looked at.
pub(super) fn misses_change(words: &[&str]) -> bool {
    missed(words, &CHANGE)
        || lacks_change(words)
        || whole_subject(words, &CHANGE).is_some_and(|rest| is_unseen(rest) || is_empty(rest))
        || nothing_done(words)
        || no_review(words)
}

/// Whether a sentence says that the files or the tools were out of reach.
pub(super) fn misses_files(words: &[&str]) -> bool {
    missed(words, &FILES)
        || counts_nothing(words)
        || whole_subject(words, &FILES).is_some_and(is_unseen)
        || is_denied(words)
}

/// `I was unable to read the diff`, `Could not access any files`, `I do not have the patch`, `I
/// have not reviewed the changes`, `I could not complete the review`.
fn missed(words: &[&str], objects: &[&str]) -> bool {
    (0..words.len()).any(|at| {
        let object = missing_object(&words[at..]);
        let is_missed = object.is_some_and(|object| is_whole(object, objects));
        is_missed && speaks_of_itself(&words[..at])
    })
}

/// Returns what follows when the words begin with a failure to read, an omission or a lack.
fn missing_object<'w, 't>(words: &'w [&'t str]) -> Option<&'w [&'t str]> {
    if let Some(lacking) = after(words, &LACKS) {
        return Some(lacking);
    }
    let (verb, object) = unread(words)?;
    match (verb, object) {
        // `I cannot see any changes that break callers` is praise.
        ("see" | "seen", ["any", ..]) => None,
        ("look" | "looked", ["at", object @ ..]) => Some(object),
        _ => (READING.contains(&verb) || READ.contains(&verb)).then_some(object),
    }
}

/// Returns the verb that was not done, and what follows it.
fn unread<'w, 't>(words: &'w [&'t str]) -> Option<(&'t str, &'w [&'t str])> {
    let tail = after(words, &ATTEMPTS).or_else(|| after(words, &OMISSIONS))?;
    let tail = match tail {
        ["yet" | "actually", tail @ ..] => tail,
        tail => tail,
    };
    let (verb, object) = tail.split_first()?;
    Some((verb, object))
}

fn after<'w, 't>(words: &'w [&'t str], phrases: &[&[&str]]) -> Option<&'w [&'t str]> {
    let phrase = phrases.iter().find(|phrase| words.starts_with(phrase))?;
    words.get(phrase.len()..)
}

/// Returns what is said of one of `subjects`, when the sentence begins with all of it.
fn whole_subject<'w, 't>(words: &'w [&'t str], subjects: &[&str]) -> Option<&'w [&'t str]> {
    let skipped = words.iter().take_while(|word| DETERMINERS.contains(word));
    let (subject, rest) = words[skipped.count()..].split_first()?;
    subjects.contains(subject).then_some(rest)
}

/// `could not be read`, `was not provided`, `is missing`.
fn is_unseen(rest: &[&str]) -> bool {
    let (state, end) = match rest {
        ["could" | "can", "not", "be", state, end @ ..]
        | ["couldn't" | "cannot" | "can't", "be", state, end @ ..] => (state, end),
        [be, "not", state, end @ ..] if BE.contains(be) => (state, end),
        [be, "missing", end @ ..] if BE.contains(be) => {
            return is_end(end) && end.first() != Some(&"from");
        }
        [be, state, end @ ..] if BE_NOT.contains(be) => (state, end),
        _ => return false,
    };
    (READ.contains(state) || GIVEN.contains(state)) && is_end(end)
}

/// `is empty`, `appears to be empty`, `contains no changes`.
fn is_empty(rest: &[&str]) -> bool {
    match rest {
        [
            "contains" | "contained" | "has" | "had",
            "no",
            "changes" | "content",
            end @ ..,
        ]
        | ["appears" | "seems", "to", "be", "empty" | "blank", end @ ..]
        | [
            "is" | "was" | "are" | "were" | "appears" | "seems" | "looks",
            "empty" | "blank",
            end @ ..,
        ] => is_end(end),
        _ => false,
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

/// `No diff was provided`, `There was no diff in the prompt`, `No code was supplied for review`.
fn lacks_change(words: &[&str]) -> bool {
    let (is_said_to_be, rest) = match words {
        ["there", be, "no", rest @ ..] if BE.contains(be) => (true, rest),
        ["no", rest @ ..] => (false, rest),
        _ => return false,
    };
    let Some((object, rest)) = rest.split_first() else {
        return false;
    };
    let (is_change, is_file) = (CHANGE.contains(object), FILES.contains(object));
    let given = match rest {
        [be, state, end @ ..] if BE.contains(be) && GIVEN.contains(state) => Some(end),
        [state, end @ ..] if GIVEN.contains(state) => Some(end),
        _ => None,
    };
    match (given, rest) {
        (Some(end), _) if is_file => is_end(end) || matches!(end, ["for" | "to", "review", ..]),
        (Some(_), _) => is_change,
        (None, []) => is_said_to_be && is_change && *object != "changes",
        (None, ["to", verb, end @ ..]) => {
            (is_change || is_file) && READING.contains(verb) && is_end(end)
        }
        (None, rest) => is_change && is_in_prompt(rest),
    }
}

/// `There is nothing to review`, `I reviewed nothing`, `Nothing was reviewed`.
fn nothing_done(words: &[&str]) -> bool {
    let leads = [
        "so",
        "and",
        "but",
        "there",
        "there's",
        "is",
        "was",
        "i",
        "we",
        "have",
        "had",
        "see",
        "found",
        "therefore",
        "thus",
        "that",
        "since",
        "because",
        "means",
    ];
    let Some(at) = words.iter().position(|&word| word == "nothing") else {
        return false;
    };
    let (before, rest) = (&words[..at], &words[at + 1..]);
    match (before, rest) {
        (_, ["to", verb, end @ ..]) => {
            before.iter().all(|word| leads.contains(word)) && READING.contains(verb) && is_end(end)
        }
        ([.., verb], end) if READ.contains(verb) => {
            speaks_of_itself(&words[..at - 1]) && before.len() > 1 && is_end(end)
        }
        ([], [be, verb, end @ ..]) => BE.contains(be) && READ.contains(verb) && is_end(end),
        _ => false,
    }
}

/// `Review skipped`, `No review was performed`, `The review could not be completed`.
fn no_review(words: &[&str]) -> bool {
    let reviewing = (0..words.len()).any(|at| {
        let object = unread(&words[at..])
            .and_then(|(verb, object)| REVIEWING.contains(&verb).then_some(object));
        let object = match object {
            Some(["out", object @ ..]) => Some(object),
            object => object,
        };
        object.is_some_and(is_the_review) && speaks_of_itself(&words[..at])
    });
    let undone = match whole_subject(words, &["review"]) {
        Some(["skipped" | "aborted", end @ ..]) => is_end(end),
        Some([be, "skipped" | "aborted", end @ ..]) => BE.contains(be) && is_end(end),
        Some(
            ["could" | "can", "not", "be", state, end @ ..]
            | ["couldn't" | "cannot" | "can't", "be", state, end @ ..]
            | ["was" | "is", "not", state, end @ ..]
            | ["wasn't" | "isn't" | "not", state, end @ ..],
        ) => REVIEWED.contains(state) && is_end(end),
        _ => false,
    };
    let none = match words {
        ["no", "review", "was" | "is", state, end @ ..] | ["no", "review", state, end @ ..] => {
            REVIEWED.contains(state) && is_end(end)
        }
        ["i" | "we", "skipped", rest @ ..] | ["skipped" | "skipping", rest @ ..] => {
            is_the_review(rest)
        }
        _ => false,
    };
    reviewing || undone || none
}

/// `the review`, `a code review`, and no part of it.
fn is_the_review(words: &[&str]) -> bool {
    let is_filler = |word: &&&str| FILLERS.contains(word) || **word == "code";
    let skipped = words.iter().take_while(is_filler).count();
    matches!(&words[skipped..], ["review", end @ ..] if is_end(end))
}

/// `Permission denied`, `All tool calls were blocked`.
fn is_denied(words: &[&str]) -> bool {
    let (subject, rest) = match words {
        ["permission" | "access", "denied"] | ["operation", "not", "permitted"] => return true,
        [
            "all" | "my" | "the",
            subject @ ("tool" | "tools"),
            rest @ ..,
        ]
        | [subject @ ("tool" | "tools"), rest @ ..] => (subject, rest),
        _ => return false,
    };
    let rest = match rest {
        ["call" | "calls" | "use" | "access", rest @ ..] if *subject == "tool" => rest,
        rest => rest,
    };
    let how = [
        "blocked",
        "denied",
        "rejected",
        "refused",
        "disabled",
        "unavailable",
    ];
    matches!(rest, [be, state, end @ ..] if BE.contains(be) && how.contains(state) && is_end(end))
}
