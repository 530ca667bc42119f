//! How a config file is laid out, so that a change of one value is a change of one line.

use serde::Serialize as _;
use serde_json::Serializer;
use serde_json::ser::PrettyFormatter;

use super::Document;
use crate::config::read::BYTE_ORDER_MARK;

/// Nobody indents one level by more.
const WIDEST_INDENT: usize = 16;

/// The habits of a file. Without a file: two spaces and line feeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    has_mark: bool,
    indent: Vec<u8>,
    has_carriage_returns: bool,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            has_mark: false,
            indent: b"  ".to_vec(),
            has_carriage_returns: false,
        }
    }
}

impl Layout {
    /// Reads the habits of a JSON text. No string of JSON spans lines, so the first line that is
    /// indented is indented by one level.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let text = bytes.strip_prefix(BYTE_ORDER_MARK);
        let has_mark = text.is_some();
        let text = text.unwrap_or(bytes);
        let mut lines = text.split_inclusive(|byte| *byte == b'\n');
        let first_line = lines.next().unwrap_or_default();
        let is_indent = |byte: &&u8| matches!(byte, b' ' | b'\t');
        let indent = lines
            .map(|line| line.iter().take_while(is_indent).copied().collect())
            .find(|indent: &Vec<u8>| (1..=WIDEST_INDENT).contains(&indent.len()));
        Self {
            has_mark,
            indent: indent.unwrap_or_else(|| Self::default().indent),
            has_carriage_returns: first_line.ends_with(b"\r\n"),
        }
    }

    /// Returns the text of a document, ending in a line end.
    pub(super) fn render(&self, document: &Document) -> Vec<u8> {
        let mut bytes = Vec::new();
        let formatter = PrettyFormatter::with_indent(&self.indent);
        document
            .serialize(&mut Serializer::with_formatter(&mut bytes, formatter))
            .expect("a JSON value can be written as JSON");
        bytes.push(b'\n');
        if self.has_carriage_returns {
            // A line feed inside a string is escaped, so each is a line end.
            let lines = bytes.split_inclusive(|byte| *byte == b'\n');
            bytes = lines
                .flat_map(|line| [&line[..line.len() - 1], b"\r\n"].concat())
                .collect();
        }
        if self.has_mark {
            bytes.splice(0..0, BYTE_ORDER_MARK.iter().copied());
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn document() -> Document {
        let value = json!({"b": {"z": 1, "a": [true, "x\ny"]}, "a": [], "e": {}});
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_new_file_is_indented_by_two_spaces() {
        let text = String::from_utf8(Layout::default().render(&document())).unwrap();
        insta::assert_snapshot!(text, @r#"
        {
          "b": {
            "z": 1,
            "a": [
              true,
              "x\ny"
            ]
          },
          "a": [],
          "e": {}
        }
        "#);
    }

    #[test]
    fn what_was_laid_out_in_one_way_stays_so() {
        for indent in ["  ", "    ", "\t", " "] {
            for has_carriage_returns in [false, true] {
                for has_mark in [false, true] {
                    let layout = Layout {
                        has_mark,
                        indent: indent.as_bytes().to_vec(),
                        has_carriage_returns,
                    };
                    let bytes = layout.render(&document());
                    assert_eq!(Layout::of(&bytes), layout);
                    assert_eq!(Layout::of(&bytes).render(&document()), bytes);
                }
            }
        }
    }

    #[test]
    fn without_a_habit_there_is_a_default() {
        let wide = format!("{{\n{}\"a\": 1}}", " ".repeat(40));
        for text in ["", "{}", "{\"a\": 1}\n", "{\n}\n", "\n\n", &wide] {
            assert_eq!(Layout::of(text.as_bytes()), Layout::default(), "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn any_bytes_have_a_layout(bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b' '), Just(b'\t'), any::<u8>()], 0..64)) {
            let layout = Layout::of(&bytes);
            prop_assert_eq!(Layout::of(&layout.render(&document())), layout);
        }
    }
}
