//! Spots answers that admit they read nothing.
//!
//! An engine whose tools were refused still answers, politely and without findings, and looks like
//! a clean review. The check is narrow on purpose: it only reads answers without findings, only
//! what the reviewer says about itself, and nothing that is quoted, because an explanation may well
//! speak of code that was "unable to read the file".

use crate::model::ReviewResult;

/// Whether an answer without findings says that its author could not read what it was to review.
pub fn is_vacuous(result: &ReviewResult) -> bool {
    result.findings.is_empty()
        && sentences(&unquoted(&result.overall_explanation))
            .iter()
            .any(|words| admits_blindness(words) || counts_nothing(words) || misses_diff(words))
}

/// Ways of saying that something did not work.
const FAILURES: [&[&str]; 13] = [
    &["unable", "to"],
    &["not", "able", "to"],
    &["wasn't", "able", "to"],
    &["could", "not"],
    &["couldn't"],
    &["cannot"],
    &["can", "not"],
    &["can't"],
    &["failed", "to"],
    &["did", "not"],
    &["didn't"],
    &["do", "not"],
    &["don't"],
];

/// Ways of reading; the last two only make sense after a failure to do so.
const READING: [&str; 14] = [
    "read", "access", "open", "view", "see", "load", "retrieve", "inspect", "examine", "review",
    "fetch", "obtain", "receive", "have",
];

/// What may stand between the verb and what was not read.
const FILLERS: [&str; 14] = [
    "the", "a", "any", "of", "this", "that", "your", "provided", "given", "actual", "changed",
    "access", "to", "git",
];

/// What a reviewer has to read.
const OBJECTS: [&str; 8] = [
    "diff",
    "patch",
    "changes",
    "changeset",
    "files",
    "repository",
    "repo",
    "code",
];

/// What may follow when the sentence is about the whole of it.
const ENDINGS: [&str; 25] = [
    "because",
    "due",
    "since",
    "as",
    "at",
    "so",
    "and",
    "or",
    "therefore",
    "for",
    "from",
    "with",
    "contents",
    "content",
    "itself",
    "in",
    "under",
    "given",
    "provided",
    "here",
    "directly",
    "via",
    "using",
    "to",
    "you",
];

/// `I was unable to read the diff`, `Could not access any files`.
fn admits_blindness(words: &[&str]) -> bool {
    (0..words.len()).any(|at| {
        let Some(rest) = FAILURES
            .iter()
            .find_map(|phrase| words[at..].strip_prefix(*phrase))
        else {
            return false;
        };
        let Some((verb, rest)) = rest.split_first() else {
            return false;
        };
        READING.contains(verb) && speaks_of_itself(&words[..at]) && is_whole_object(rest)
    })
}

/// Whether the subject is the reviewer: it is named right before, or left out altogether.
fn speaks_of_itself(before: &[&str]) -> bool {
    let own = ["i", "i'm", "i've", "we", "we're"];
    let verbs = [
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
    match before.iter().rev().find(|word| !verbs.contains(word)) {
        Some(word) => own.contains(word),
        None => true,
    }
}

/// Whether the words begin with the diff, the files or the like, and not with a part of them.
fn is_whole_object(words: &[&str]) -> bool {
    let skipped = words.iter().take_while(|word| FILLERS.contains(word));
    let rest = &words[skipped.count()..];
    match rest {
        [object] => OBJECTS.contains(object),
        [object, next, ..] => OBJECTS.contains(object) && ENDINGS.contains(next),
        [] => false,
    }
}

/// `Files examined: none`.
fn counts_nothing(words: &[&str]) -> bool {
    let what = ["files", "lines", "changes"];
    let how = ["examined", "reviewed", "read", "inspected", "opened"];
    words.windows(3).any(|w| {
        what.contains(&w[0]) && how.contains(&w[1]) && ["none", "0", "zero"].contains(&w[2])
    }) && words.len() <= 6
}

/// `No diff was provided`.
fn misses_diff(words: &[&str]) -> bool {
    let what = ["diff", "patch", "changes", "changeset"];
    let how = [
        "provided",
        "supplied",
        "included",
        "given",
        "attached",
        "available",
        "received",
    ];
    let tail = match words {
        ["no", object, "was" | "were" | "is" | "are", tail @ ..] if what.contains(object) => tail,
        [
            "there",
            "was" | "is" | "were" | "are",
            "no",
            object,
            tail @ ..,
        ] if what.contains(object) => tail,
        _ => return false,
    };
    tail.first().is_some_and(|word| how.contains(word))
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
mod tests {
    use super::*;
    use crate::answer::samples::{finding, result};
    use proptest::prelude::*;

    fn vacuous(explanation: &str) -> bool {
        is_vacuous(&result("patch is correct", explanation, 0.9, Vec::new()))
    }

    #[test]
    fn admissions_are_spotted() {
        for explanation in [
            "I was unable to read the diff, so I found no issues.",
            "Unable to access the repository.",
            "Unfortunately, I could not open any of the changed files because of permissions.",
            "I cannot see the patch. Please paste it.",
            "I can\u{2019}t access any files in this environment.",
            "Sorry, I couldn't read any code.",
            "We were not able to inspect the changes due to a sandbox error.",
            "Failed to read the files.",
            "Files Examined: None",
            "Summary\n\n- **Files examined:** none\n- Issues: none",
            "Files reviewed: 0.",
            "No diff was provided.",
            "There was no patch included in the request.",
            "I do not have access to the repository.",
            "I did not receive a diff.",
            "The tool failed. I was unable to fetch the diff from git.",
        ] {
            assert!(vacuous(explanation), "{explanation}");
        }
    }

    #[test]
    fn reviews_that_speak_of_code_are_not() {
        for explanation in [
            "",
            "Looked at every hunk.",
            "No issues found in the diff.",
            "The loader logs \"unable to read the diff\" and goes on, which is right.",
            "When the helper is unable to read the files it returns an error.",
            "It returns 404 if the server could not open the repository.",
            "The new branch handles `I was unable to read the patch` as a message.",
            "```\nI was unable to read the diff\n```\nis printed now; correct.",
            "The message \u{201c}No diff was provided.\u{201d} is now translated.",
            "I could not find a defect in the patch.",
            "I could not run the tests, but the patch reads well.",
            "I could not open the file that was deleted; the rest is fine.",
            "I could not see the code path that would trigger this.",
            "I was unable to read the patch level of the package, yet nothing depends on it.",
            "Callers that cannot access the repository now get a clear error.",
            "No changes were needed.",
            "Files read: 12. Issues: none.",
            "All files reviewed, none has a defect.",
            "No patch is perfect, but this one is correct.",
            "The function failed to review the changes before; now it does.",
        ] {
            assert!(!vacuous(explanation), "{explanation}");
        }
    }

    #[test]
    fn an_answer_with_findings_was_not_blind() {
        let text = "I was unable to read the diff.";
        let found = result(
            "patch is incorrect",
            text,
            0.9,
            vec![finding("t", "a", 1, 1)],
        );
        assert!(!is_vacuous(&found));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn any_text_is_taken(text in ".{0,200}", quotes in "[`\"\u{201c}\u{201d}a.\n ]{0,60}") {
            let _ = vacuous(&text);
            let quoted = format!("`{}`", text.replace(['`', '\n', '\r'], " "));
            prop_assert!(!vacuous(&quoted));
            let _ = vacuous(&quotes);
        }
    }
}
