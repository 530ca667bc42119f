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
        "I don't have the patch.",
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
        "I did not review the code for style.",
        "I don't have any changes to suggest.",
        "I cannot see any changes in behaviour.",
        "I can't see any code from here that breaks.",
        "I could not access the repository, so this rests on the diff alone.",
        "Files examined: none; the patch is self-contained.",
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
