//! Whether a transcription says what the answer says (SPEC 10: findings are neither invented nor
//! dropped).
//!
//! The model is told so, but its word is no proof: a transcription without the answer's findings
//! would read as a clean review. So what the answer spells out under the keys of a review, its
//! titles and its verdict, has to come back. Prose spells nothing out, and there only the model can
//! judge.
//!
//! What must stay true: a doubt costs a second review and never a finding, so comparing is strict
//! about the words and lenient about how they are written (blanks, case, escapes, the prefix).

use std::collections::HashSet;

use crate::model::{ReviewResult, Verdict};

/// How a transcription differs from the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// A finding of the answer is not in it.
    LeavesOut,
    /// It has a finding that the answer does not have.
    Adds,
    /// Its verdict is not the answer's.
    OtherVerdict,
}

impl Difference {
    /// Returns the difference in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LeavesOut => "the transcription leaves out a finding of the answer",
            Self::Adds => "the transcription has a finding that the answer does not have",
            Self::OtherVerdict => "the transcription gives another verdict than the answer",
        }
    }
}

/// Compares a transcription with the text it was made from.
pub(super) fn compare(answer: &str, review: &ReviewResult) -> Result<(), Difference> {
    compare_titles(&spelled(answer, "\"title\""), review)?;
    let known = [Verdict::Correct, Verdict::Incorrect].map(|verdict| loosely(verdict.as_str()));
    let mut verdicts = spelled(answer, "\"overall_correctness\"");
    verdicts.retain(|it| known.contains(&it.words));
    let said = loosely(&review.overall_correctness);
    if verdicts.is_empty() || verdicts.iter().any(|it| it.words == said) {
        Ok(())
    } else {
        Err(Difference::OtherVerdict)
    }
}

fn compare_titles(answered: &[Spelled], review: &ReviewResult) -> Result<(), Difference> {
    if answered.is_empty() {
        return Ok(());
    }
    let titles = review.findings.iter().map(|it| without_prefix(&it.title));
    let titles: HashSet<String> = titles.collect();
    let (whole, begun): (Vec<_>, Vec<_>) = answered.iter().partition(|it| it.end == End::Closed);
    let whole: HashSet<&str> = whole.iter().map(|it| strip(&it.words)).collect();
    let is_begun = |title: &String| {
        let mut begun = begun.iter().map(|it| strip(&it.words));
        begun.any(|words| !words.is_empty() && title.starts_with(words))
    };
    let come_back = whole.iter().all(|words| titles.contains(*words))
        && begun.iter().all(|it| {
            let words = strip(&it.words);
            // What was cut off may be left out: it cannot be completed without guessing.
            it.end == End::Cut || titles.iter().any(|title| title.starts_with(words))
        });
    if !come_back {
        return Err(Difference::LeavesOut);
    }
    let is_answered = |title: &String| whole.contains(title.as_str()) || is_begun(title);
    if titles.iter().all(is_answered) {
        Ok(())
    } else {
        Err(Difference::Adds)
    }
}

/// A string that stands under a key.
struct Spelled {
    words: String,
    end: End,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// What follows may follow a string.
    Closed,
    /// Something else follows, such as the rest of words with quotes among them.
    Odd,
    /// The text ends first.
    Cut,
}

/// Returns the strings that stand under a key, wherever the text has it.
fn spelled(text: &str, key: &str) -> Vec<Spelled> {
    let values = text.match_indices(key).filter_map(|(at, _)| {
        let value = text[at + key.len()..].trim_start().strip_prefix(':')?;
        let value = value.trim_start().strip_prefix('"')?;
        Some(read_string(value))
    });
    values.collect()
}

/// Reads a string from behind its opening quote.
fn read_string(text: &str) -> Spelled {
    let mut is_escaped = false;
    let quote = text.bytes().position(|byte| {
        let is_quote = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_quote
    });
    let Some(quote) = quote else {
        return Spelled {
            words: loosely(text),
            end: End::Cut,
        };
    };
    let rest = text[quote + 1..].trim_start();
    let inside = &text[..quote];
    let decoded = serde_json::from_str::<String>(&format!("\"{inside}\""));
    Spelled {
        words: decoded.map_or_else(|_| loosely(inside), |words| loosely(&words)),
        end: match rest.chars().next() {
            None | Some(',' | '}' | ']') => End::Closed,
            Some(_) => End::Odd,
        },
    }
}

/// Returns the letters and digits of a text.
fn loosely(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

fn without_prefix(title: &str) -> String {
    strip(&loosely(title)).to_owned()
}

/// Takes the priority off a title: it may have been what did not fit.
fn strip(words: &str) -> &str {
    ["p0", "p1", "p2", "p3"]
        .into_iter()
        .find_map(|prefix| words.strip_prefix(prefix))
        .unwrap_or(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::samples::{finding, result};
    use proptest::prelude::*;

    fn review(verdict: &str, titles: &[&str]) -> ReviewResult {
        let findings = titles.iter().map(|title| finding(title, "a", 1, 1));
        result(verdict, "x", 0.5, findings.collect())
    }

    fn difference(answer: &str, titles: &[&str]) -> Option<Difference> {
        compare(answer, &review("patch is incorrect", titles)).err()
    }

    #[test]
    fn what_is_spelled_out_has_to_come_back_and_nothing_else() {
        let answer = r#"Here: {"findings": [{"title": "[P1] One", "body": "x"},
            {"body": "x", "title" : "[P2] Two\u0021"},], "overall_correctness": 5"#;
        for (titles, expected) in [
            (&["[P1] One", "[P2] Two!"][..], None),
            (&["[P2] two!", "one"], None),
            (&["[P0] One", "[P1] One", "[P2] Two"], None),
            (&["[P1] One"], Some(Difference::LeavesOut)),
            (&[], Some(Difference::LeavesOut)),
            (&["[P1] Other", "[P2] Two!"], Some(Difference::LeavesOut)),
            (
                &["[P1] One", "[P2] Two!", "[P3] Three"],
                Some(Difference::Adds),
            ),
            (&["[P1] One more", "[P2] Two!"], Some(Difference::LeavesOut)),
        ] {
            assert_eq!(difference(answer, titles), expected, "{titles:?}");
        }
    }

    #[test]
    fn broken_strings_are_taken_as_far_as_they_go() {
        let quoted = r#"{"title": "[P1] Say "hi" twice", "body": ""}"#;
        assert_eq!(difference(quoted, &["[P1] Say \"hi\" twice"]), None);
        assert_eq!(difference(quoted, &[]), Some(Difference::LeavesOut));
        let odd_escape = r#"{"title": "[P1] Regex \s+", "body": ""}"#;
        assert_eq!(difference(odd_escape, &["[P1] Regex \\s+"]), None);
        // The last one is cut off: it may be completed or left out.
        let cut = r#"[{"title": "[P1] One", "body": ""}, {"title": "[P2] Tw"#;
        assert_eq!(difference(cut, &["[P1] One"]), None);
        assert_eq!(difference(cut, &["[P1] One", "[P2] Two"]), None);
        assert_eq!(
            difference(cut, &["[P1] One", "[P2] Else"]),
            Some(Difference::Adds)
        );
    }

    #[test]
    fn prose_and_quoted_code_spell_nothing_out() {
        for answer in [
            "One is not two, see line 4.",
            "{'title': '[P1] One'}",
            r#"{"findings": [{"heading": "One"}]}"#,
            r#"{"body": "the object {\"title\": \"x\"} is wrong"}"#,
            "\"title\"",
            "",
        ] {
            assert_eq!(difference(answer, &["[P1] One"]), None, "{answer}");
        }
    }

    #[test]
    fn a_verdict_that_is_one_has_to_come_back() {
        let answer = |verdict: &str| format!("{{\"overall_correctness\": \"{verdict}\",,}}");
        let correct = review("patch is correct", &[]);
        for (verdict, expected) in [
            ("patch is correct", Ok(())),
            ("patch is incorrect", Err(Difference::OtherVerdict)),
            ("incorrect", Ok(())),
            ("", Ok(())),
        ] {
            assert_eq!(compare(&answer(verdict), &correct), expected, "{verdict}");
        }
        // A draft may have said something else.
        let both = answer("patch is incorrect") + &answer("patch is correct");
        assert_eq!(compare(&both, &correct), Ok(()));
    }

    #[test]
    fn megabytes_of_keys_take_no_time() {
        for text in ["\"title\":\"", "\"title\":\"\\\"", "\"title\":\"x\","] {
            let answer = text.repeat(20_000);
            assert!(difference(&answer, &[]).is_some());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn a_review_transcribes_itself(
            titles in proptest::collection::vec("\\PC{1,20}", 0..5),
            end in 0_usize..200,
        ) {
            let titles: Vec<_> = titles.iter().map(String::as_str).collect();
            let review = review("patch is incorrect", &titles);
            let text = serde_json::to_string(&review).unwrap();
            prop_assert_eq!(compare(&text, &review), Ok(()));
            // Wherever it is cut off, all that was said stays in the whole.
            let end = (0..=end.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
            let result = compare(&text[..end.unwrap()], &review);
            prop_assert_ne!(result, Err(Difference::LeavesOut));
            prop_assert_ne!(result, Err(Difference::OtherVerdict));
        }
    }
}
