//! The lines of an engine's protocol, one JSON value each.
//!
//! The lines carry what a model wrote, so they are read like the answer itself: half of a surrogate
//! pair, which engines written in JavaScript pass on, costs no line, and a key that stands twice is
//! never resolved to either of its values.

use diffwarden_actors::answer::{JsonError, parse_json};
use diffwarden_actors::model::{ErrorCode, Failure, Reason};
use serde_json::Value;

use super::one_line;

/// Reads lines, and remembers what makes them unreliable.
#[derive(Debug, Default)]
pub(in crate::engines) struct Lines {
    /// The first key that stood twice in one object.
    twice: Option<String>,
}

impl Lines {
    /// Reads one line; `None` when it is not JSON, or says one thing twice.
    pub(in crate::engines) fn read(&mut self, line: &str) -> Option<Value> {
        match parse_json(line) {
            Ok(value) => Some(value),
            Err(JsonError::Syntax(_)) => None,
            Err(JsonError::DuplicateKey(key)) => {
                self.twice.get_or_insert(key);
                None
            }
        }
    }

    /// Refuses an answer that was taken from these lines when one of them says one thing twice:
    /// nobody can tell which of the two is the answer. `program` printed them.
    ///
    /// # Errors
    ///
    /// Names the key.
    pub(in crate::engines) fn check(&self, program: &str) -> Result<(), Failure> {
        let Some(key) = &self.twice else {
            return Ok(());
        };
        let key = one_line(key);
        Err(Failure::new(
            ErrorCode::ReviewerFailed,
            format!(
                "a message of {program} has the key `{key}` twice, so it is unclear what it says"
            ),
        )
        .reason(Reason::Protocol)
        .hint("try again, or choose another model"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn half_of_a_pair_costs_no_line() {
        let mut lines = Lines::default();
        let read = lines.read(r#"{"text":"a \ud83d b","whole":"\ud83d\ude00"}"#);
        let expected = json!({"text": "a \u{fffd} b", "whole": "\u{1f600}"});
        assert_eq!(read, Some(expected));
        assert!(lines.check("claude").is_ok());
    }

    #[test]
    fn a_key_that_stands_twice_is_remembered_and_named() {
        let mut lines = Lines::default();
        let twice = r#"{"type":"result","out":{"findings":[1],"findings":[]}}"#;
        assert_eq!(lines.read(twice), None);
        assert!(lines.read(r#"{"type":"result"}"#).is_some());
        let failure = lines.check("claude").unwrap_err();
        assert_eq!(failure.reason, Some(Reason::Protocol));
        assert!(failure.message.contains("claude"), "{failure}");
        assert!(failure.message.contains("`findings`"), "{failure}");
    }

    #[test]
    fn noise_is_no_reason_for_doubt() {
        let mut lines = Lines::default();
        for line in ["", "noise", "{", r#"{"a":1,"a":2} and more"#] {
            assert_eq!(lines.read(line), None, "{line}");
        }
        assert!(lines.check("codex").is_ok());
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_passed_over(line in "[{}\\[\\]\":,a-b\\\\ud8 ]{0,60}") {
            let mut lines = Lines::default();
            match (lines.read(&line), serde_json::from_str::<Value>(&line)) {
                (Some(read), Ok(value)) => prop_assert_eq!(read, value),
                (None, Ok(_)) => prop_assert!(lines.check("x").is_err()),
                (Some(_), Err(_)) => prop_assert!(line.contains("\\ud")),
                (None, Err(_)) => {}
            }
        }
    }
}
