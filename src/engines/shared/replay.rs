//! How the tests of every engine replay what a real executable printed.

use std::fs;
use std::path::{Path, PathBuf};

use diffwarden_actors::engine::{Action, Answer, Captured, Dialogue, ExitKind, Payload};
use diffwarden_actors::model::{ErrorCode, Failure, Reason};

/// What a run amounts to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::engines) enum End {
    /// Structured output.
    Structured,
    /// Text that begins like this.
    Text(&'static str),
    /// A failure whose message holds this.
    Failed(ErrorCode, Option<Reason>, &'static str),
    /// The same, seen before the process has ended.
    FailedEarly(ErrorCode, Option<Reason>, &'static str),
}

/// A failed review whose message holds this.
pub(in crate::engines) const fn failed(reason: Option<Reason>, part: &'static str) -> End {
    End::Failed(ErrorCode::ReviewerFailed, reason, part)
}

/// An executable or configuration that does not fit.
pub(in crate::engines) const fn unfit(part: &'static str) -> End {
    End::Failed(
        ErrorCode::ReviewerEnvironmentFailed,
        Some(Reason::Environment),
        part,
    )
}

/// Missing or refused credentials.
pub(in crate::engines) const fn no_login(part: &'static str) -> End {
    End::Failed(ErrorCode::MissingAuth, Some(Reason::Auth), part)
}

/// A capture: its name, how the process ended, what that amounts to.
pub(in crate::engines) type Capture = (&'static str, ExitKind, End);

/// How a replay ended; a failure tells whether it was seen before the process had ended.
pub(in crate::engines) type Outcome = Result<Answer, (bool, Failure)>;

fn folder(engine: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures")
        .join(engine)
}

/// Returns one stream of a capture; a stream that was not captured was empty.
pub(in crate::engines) fn capture(engine: &str, name: &str, stream: &str) -> String {
    fs::read_to_string(folder(engine).join(format!("{name}.{stream}"))).unwrap_or_default()
}

/// Runs a dialogue over lines; the first failure of a line ends it, as the process owner does.
pub(in crate::engines) fn converse(
    mut dialogue: Box<dyn Dialogue>,
    stdout: &str,
    captured: Captured,
) -> Outcome {
    for line in stdout.lines() {
        for action in dialogue.on_line(line) {
            if let Action::Fail(failure) = action {
                return Err((true, *failure));
            }
        }
    }
    dialogue
        .on_exit(captured)
        .map_err(|failure| (false, failure))
}

/// Replays every capture, and compares what it amounts to with what it should.
pub(in crate::engines) fn check_all(
    captures: &[Capture],
    replay: impl Fn(&str, ExitKind) -> Outcome,
) {
    for &(name, exit, expected) in captures {
        check(name, replay(name, exit), expected);
    }
}

fn check(name: &str, outcome: Outcome, expected: End) {
    match (outcome, expected) {
        (Ok(answer), End::Structured) => {
            let Payload::Structured(value) = answer.payload else {
                panic!("{name}: {:?}", answer.payload);
            };
            assert_eq!(value["overall_explanation"], "One bug.", "{name}");
            assert_eq!(answer.capture_mode.as_str(), "native-structured");
            assert!(answer.usage.is_some(), "{name}");
        }
        (Ok(answer), End::Text(start)) => {
            let Payload::Text(text) = answer.payload else {
                panic!("{name}: {:?}", answer.payload);
            };
            assert!(text.starts_with(start), "{name}: {text}");
            assert_eq!(answer.capture_mode.as_str(), "text");
        }
        (Err((true, failure)), End::FailedEarly(code, reason, part))
        | (Err((false, failure)), End::Failed(code, reason, part)) => {
            assert_eq!(
                (failure.code, failure.reason),
                (code, reason),
                "{name}: {failure}"
            );
            assert!(failure.message.contains(part), "{name}: {failure}");
            for noise in ["sk-mock", "se cret", "256-color"] {
                assert!(!failure.message.contains(noise), "{name}: {failure}");
            }
            assert!(failure.hint.is_some(), "{name}: no advice");
        }
        (outcome, expected) => panic!("{name}: {outcome:?} instead of {expected:?}"),
    }
}

/// Makes sure that every capture in the folder is replayed, but for those of `others`.
pub(in crate::engines) fn check_listed(engine: &str, captures: &[Capture], others: &[&str]) {
    for entry in fs::read_dir(folder(engine)).unwrap() {
        let entry = entry.unwrap();
        // A folder holds the captures of another transport.
        if entry.file_type().unwrap().is_dir() {
            continue;
        }
        let name = entry.file_name().into_string().unwrap();
        let stem = name.rsplit_once('.').unwrap().0;
        let is_listed = captures.iter().any(|(listed, ..)| *listed == stem);
        assert!(is_listed || others.contains(&stem), "{name}");
    }
}
