//! The request to transcribe an answer that does not fit (SPEC 10).
//!
//! What must stay true: the answer is in it whole, as data that cannot end its fence, or there is
//! no request. A part of an answer would lose findings.

use diffwarden_actors::answer::result_schema_text;

use super::fence::fenced;
use super::quote::one_line;
use super::template::REPAIR;

/// The longest answer that is worth transcribing, in Unicode scalar values. A review has hundreds
/// or thousands; what is longer is a log.
const MAX_ANSWER_CHARS: usize = 200_000;

/// Returns the request, if the answer and the whole of the request are short enough.
pub(super) fn repair_prompt(
    answer: &str,
    problem: &str,
    max_chars: Option<usize>,
) -> Option<String> {
    if answer.chars().count() > MAX_ANSWER_CHARS {
        return None;
    }
    let prompt = REPAIR.fill([
        &fenced("json", result_schema_text()),
        &fenced("text", &one_line(problem)),
        &fenced("text", answer),
    ]);
    let fits = max_chars.is_none_or(|limit| prompt.chars().count() <= limit);
    fits.then_some(prompt)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fence::closing_line;
    use super::*;

    #[test]
    fn the_request_reads_well() {
        let answer = "{\"findings\": [{\"title\": \"[P1] Division by zero\",}]}";
        let problem = "trailing comma at line 1 column 50";
        insta::assert_snapshot!(repair_prompt(answer, problem, None).unwrap());
    }

    #[test]
    fn what_is_too_long_is_never_cut() {
        let longest = "\u{e9}".repeat(MAX_ANSWER_CHARS);
        let whole = repair_prompt(&longest, "x", None).unwrap();
        assert!(whole.contains(&longest));
        assert_eq!(repair_prompt(&(longest + "x"), "x", None), None);

        let size = repair_prompt("a", "x", None).unwrap().chars().count();
        assert!(repair_prompt("a", "x", Some(size)).is_some());
        assert_eq!(repair_prompt("a", "x", Some(size - 1)), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn nothing_ends_the_fence_early(
            answer in "([`~ \t\r\na{}+-]|```|\\{\\{answer\\}\\}){0,40}",
            problem in "([`\n\r a]|```){0,10}",
        ) {
            let prompt = repair_prompt(&answer, &problem, None).unwrap();
            let (_, rest) = prompt.split_once("\n# The text\n").unwrap();
            let lines: Vec<&str> = rest.split(['\n', '\r']).collect();
            let opening = lines.iter().position(|line| line.ends_with("`text")).unwrap();
            let fence = lines[opening].strip_suffix("text").unwrap();
            let inside = &lines[opening + 1..];
            prop_assert_eq!(closing_line(fence, inside), Some(inside.len() - 1));
            prop_assert!(rest.contains(&answer));
        }
    }
}
