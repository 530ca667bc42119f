//! What a provider answers, and how.

use std::time::Duration;

use serde_json::{Value, json};

/// The course of a run: what requests for a review and requests to transcribe are answered. The
/// last reply of a list is given for ever.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Script {
    /// Answers to requests for a review.
    pub(crate) review: &'static [Reply],
    /// Answers to requests to transcribe an answer that could not be read.
    pub(crate) repair: &'static [Reply],
}

/// The answer to one request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reply {
    /// The review with one finding, through the tool for structured answers where the request
    /// offers one, else as JSON text.
    Review,
    /// The review as a text of a certain form.
    Text(Form),
    /// A JSON object that is no review, through the same channel as a review.
    WrongSchema,
    /// A faithful transcription of the review.
    Transcription,
    /// A transcription that says it cannot be done.
    NotFixable,
    /// Asks for the tools of a list one after the other, then gives the review.
    Tools(Wish),
    /// The review, after a while.
    Slow(Duration),
    /// Nothing, until the other side hangs up.
    Hang,
    /// The first half of the review, and then the end of the connection.
    Cut,
    /// An HTTP error in the service's own words.
    Status(u16),
}

/// What a model wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Read a file of the change.
    Read,
    /// Read files outside of the repository.
    Outside,
    /// Write a file into the repository.
    Write,
    /// Run a command that writes files into the repository, the home and the temporary folder.
    Shell,
}

/// How a text holds the review.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Form {
    /// Without a word of JSON.
    Prose,
    /// Inside a code fence, with chatter around it.
    Fenced,
    /// The first half of the JSON.
    Half,
    /// JSON inside a JSON string.
    DoubleEncoded,
}

/// A call of one of an engine's tools.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ToolCall {
    /// The tool.
    pub(crate) name: String,
    /// Its arguments: an object, or a text for a tool that takes free text.
    pub(crate) arguments: Value,
}

/// The title of the one finding.
pub(crate) const TITLE: &str = "[P1] Two is not one";

/// What the review says in prose.
const PROSE: &str = "I looked at the change. The function returns two where one is expected.";

/// Returns the review of a repository.
pub(crate) fn review(repo: &str) -> Value {
    json!({
        "findings": [{
            "title": TITLE,
            "body": "The function `one` of src/lib.rs returns two, which its callers do not expect.",
            "confidence_score": 0.9,
            "priority": 1,
            "code_location": {
                "absolute_file_path": format!("{repo}/src/lib.rs"),
                "line_range": {"start": 2, "end": 2},
            },
        }],
        "overall_correctness": "patch is incorrect",
        "overall_explanation": "`one` in src/lib.rs was read with its callers; it returns two.",
        "overall_confidence_score": 0.9,
    })
}

impl Form {
    /// Returns the review as a text of this form.
    pub(crate) fn text(self, review: &Value) -> String {
        let json = review.to_string();
        match self {
            Self::Prose => PROSE.to_owned(),
            Self::Fenced => format!("Here is my review.\n\n```json\n{review:#}\n```\n\nDone."),
            Self::Half => json.chars().take(json.chars().count() / 2).collect(),
            Self::DoubleEncoded => Value::String(json).to_string(),
        }
    }
}
