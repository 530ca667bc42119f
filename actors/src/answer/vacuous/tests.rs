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
fn answers_without_a_change_or_a_review_are_spotted() {
    for explanation in [
        "The diff is empty, so there is nothing to review.",
        "The provided patch appears to be empty.",
        "The diff contains no changes.",
        "There was no diff in the prompt.",
        "There is no patch.",
        "There are no changes to review.",
        "No diff to review.",
        "No diff provided.",
        "No code was supplied for review.",
        "The patch could not be read.",
        "The diff couldn't be loaded due to an error.",
        "The diff was not included in the prompt.",
        "The changes were not provided.",
        "The patch is missing.",
        "The files could not be accessed.",
        "I have not reviewed the changes.",
        "I haven\u{2019}t looked at the diff.",
        "I did not read any files.",
        "Tool calls were blocked; I reviewed nothing.",
        "All tool calls were denied.",
        "Nothing was reviewed.",
        "There is nothing to review here.",
        "Permission denied.",
        "Review skipped.",
        "The review was not performed.",
        "No review was performed.",
        "The review could not be completed because of an error.",
        "I was unable to complete the review.",
        "I did not carry out a code review.",
        "Skipping this review.",
    ] {
        assert!(vacuous(explanation), "{explanation}");
    }
}

#[test]
fn refusals_are_spotted() {
    for explanation in [
        "I cannot help with that request.",
        "I'm sorry, but I can't assist with this.",
        "I am sorry but I cannot assist with that request.",
        "Sorry, I can\u{2019}t help with that.",
        "Unfortunately, I am unable to assist with reviewing this patch.",
        "I won't be part of it. I must decline.",
        "I must decline this request.",
        "I decline to assist with this task.",
        "As an AI, I cannot comply with this request.",
        "Cannot comply with that request.",
    ] {
        assert!(vacuous(explanation), "{explanation}");
        assert!(is_refusal(explanation), "{explanation}");
    }
}

#[test]
fn reviews_that_speak_of_refusing_are_none() {
    for text in [
        "The bot now answers \"I cannot help with that request.\" instead of failing.",
        "The new reply is `I'm sorry, but I can't assist with this.` and fits the tests.",
        "```\nI cannot help with that request.\n```\nis the new reply; correct.",
        "The bot now answers I cannot help with that request.",
        "The diff asks reviewers to approve it. I will not comply with that request.",
        "I will not comply with the instruction hidden in the README; the rest is correct.",
        "I cannot help but praise the tests.",
        "I can't help noticing that the tests are good.",
        "The server will not comply with such a request any more.",
        "It refuses to process requests without a token.",
        "I decline to comment on style. Every hunk was read.",
        "The caller must decline the request. Looks right.",
        "Agents that decline a task are now retried.",
        "I could not process the generated files, but the source is correct.",
    ] {
        assert!(!vacuous(text), "{text}");
        assert!(!is_refusal(text), "{text}");
    }
    let long = format!("I cannot help with that request. {}", "word ".repeat(500));
    assert!(!is_refusal(&long));
}

#[test]
fn an_empty_or_an_echoed_explanation_is_no_answer() {
    for explanation in [
        "",
        " \n",
        "...",
        "-",
        "<the reasons for the verdict in one to three sentences>",
        " <explanation> ",
    ] {
        assert!(vacuous(explanation), "{explanation}");
    }
    for explanation in [
        "ok",
        "Correct.",
        "\u{6b63}\u{3057}\u{3044}\u{3002}",
        "<b>fine</b>",
        "`x` is right.",
    ] {
        assert!(!vacuous(explanation), "{explanation}");
    }
}

#[test]
fn reviews_that_speak_of_code_are_not() {
    for explanation in [
        "The diff is empty when both sides are equal, which the new test shows.",
        "When the diff is empty the command now exits early.",
        "The patch is empty of risk.",
        "The diff contains no changes to public interfaces.",
        "There are no changes in behaviour.",
        "There are no changes.",
        "No code is given special treatment.",
        "No files were included that should not be.",
        "The patch could not be read more easily.",
        "The changes are not available to older clients, as intended.",
        "The changes were not reviewed for style.",
        "The patch was not provided for by the old tests; now it is.",
        "The files could not be accessed before; the patch corrects that.",
        "I did not see any changes that break callers.",
        "I have not reviewed the changes to generated files.",
        "There is nothing to review beyond white space.",
        "It found nothing to read and returns.",
        "The loop read nothing before.",
        "Permission denied is now reported with its path.",
        "Unknown tool calls are rejected now.",
        "Tool calls were blocked, so this rests on the diff alone.",
        "The review was skipped for generated files.",
        "The review queue could not be completed before; now it can.",
        "No review comments are lost.",
        "I did not do a review of the vendored code.",
        "I could not complete a build, but the patch reads well.",
        "Skipping the review step is now impossible.",
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
        let quoted = format!("ok `{}`", text.replace(['`', '\n', '\r'], " "));
        prop_assert!(!vacuous(&quoted));
        let _ = vacuous(&quotes);
    }
}
