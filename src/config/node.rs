//! Reading JSON values strictly: every reader adds what is wrong to the list and goes on, so that
//! one run names every problem of a file.

use serde_json::{Map, Value};

use super::problem::Problems;
use super::{secret, suggest};

/// A value and the path to it.
#[derive(Debug, Clone)]
pub(super) struct Node<'a> {
    pub(super) value: &'a Value,
    pub(super) at: String,
}

/// An object and the path to it.
#[derive(Debug, Clone)]
pub(super) struct Object<'a> {
    pub(super) entries: &'a Map<String, Value>,
    pub(super) at: String,
}

impl<'a> Node<'a> {
    /// Returns the root of a file.
    pub(super) fn root(value: &'a Value) -> Self {
        Self {
            value,
            at: String::new(),
        }
    }

    /// Reads an object.
    pub(super) fn object(&self, problems: &mut Problems) -> Option<Object<'a>> {
        match self.value {
            Value::Object(entries) => Some(Object {
                entries,
                at: self.at.clone(),
            }),
            _ => self.mismatch("an object", problems),
        }
    }

    /// Reads an array.
    pub(super) fn items(&self, problems: &mut Problems) -> Option<Vec<Self>> {
        match self.value {
            Value::Array(items) => Some(
                items
                    .iter()
                    .enumerate()
                    .map(|(index, value)| Self {
                        value,
                        at: format!("{}[{index}]", self.at),
                    })
                    .collect(),
            ),
            _ => self.mismatch("an array", problems),
        }
    }

    /// Reads a text that is not blank.
    pub(super) fn text(&self, problems: &mut Problems) -> Option<&'a str> {
        let Value::String(text) = self.value else {
            return self.mismatch("a string", problems);
        };
        if text.trim().is_empty() {
            problems.add(&self.at, "expected a string that is not blank");
            return None;
        }
        Some(text)
    }

    /// Reads `true` or `false`.
    pub(super) fn flag(&self, problems: &mut Problems) -> Option<bool> {
        match self.value {
            Value::Bool(flag) => Some(*flag),
            _ => self.mismatch("true or false", problems),
        }
    }

    /// Reads a finite number above zero.
    pub(super) fn positive(&self, problems: &mut Problems) -> Option<f64> {
        let Some(number) = self.value.as_f64() else {
            return self.mismatch("a number", problems);
        };
        if !(number.is_finite() && number > 0.0) {
            problems.add(&self.at, "expected a number above 0");
            return None;
        }
        Some(number)
    }

    /// Reads a whole number from 1 to `most`.
    pub(super) fn count(&self, most: u64, problems: &mut Problems) -> Option<u64> {
        if !self.value.is_number() {
            return self.mismatch("a whole number", problems);
        }
        match self.value.as_u64() {
            Some(count) if (1..=most).contains(&count) => Some(count),
            _ => {
                problems.add(
                    &self.at,
                    format!("expected a whole number from 1 to {most}"),
                );
                None
            }
        }
    }

    /// Reads one of the given words.
    pub(super) fn word<T: Copy>(
        &self,
        choices: &[(&'static str, T)],
        problems: &mut Problems,
    ) -> Option<T> {
        let text = self.text(problems)?;
        if let Some((_, meaning)) = choices.iter().find(|(word, _)| *word == text) {
            return Some(*meaning);
        }
        let words: Vec<&str> = choices.iter().map(|(word, _)| *word).collect();
        let meant = suggestion(text, words.iter().copied());
        problems.add(
            &self.at,
            format!("expected one of {}{meant}", words.join(", ")),
        );
        None
    }

    fn mismatch<T>(&self, expected: &str, problems: &mut Problems) -> Option<T> {
        problems.add(
            &self.at,
            format!("expected {expected}, found {}", kind(self.value)),
        );
        None
    }
}

impl<'a> Object<'a> {
    /// Returns the value of a key, if it is there.
    pub(super) fn get(&self, key: &str) -> Option<Node<'a>> {
        self.entries.get(key).map(|value| Node {
            value,
            at: self.path(key),
        })
    }

    /// Returns every key and value, in the order of the file.
    pub(super) fn nodes(&self) -> impl Iterator<Item = (&'a str, Node<'a>)> {
        self.entries.iter().map(|(key, value)| {
            let at = self.path(key);
            (key.as_str(), Node { value, at })
        })
    }

    /// Adds a problem for every key that is not in `known`.
    pub(super) fn only(&self, known: &[&'static str], problems: &mut Problems) {
        for key in self.entries.keys() {
            if !known.contains(&key.as_str()) {
                let meant = suggestion(key, known.iter().copied());
                problems.add(
                    &self.at,
                    format!("unrecognized key `{}`{meant}", shown(key)),
                );
            }
        }
    }

    /// Returns the path of a key.
    pub(super) fn path(&self, key: &str) -> String {
        let key = shown(key);
        if self.at.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.at)
        }
    }
}

/// Returns a key as messages may repeat it: somebody may have pasted a secret in its place.
pub(super) fn shown(key: &str) -> &str {
    if secret::has_key_shape(key) {
        "(looks like a secret)"
    } else {
        key
    }
}

fn suggestion<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    suggest::closest(word, known)
        .map_or(String::new(), |meant| format!("; did you mean `{meant}`?"))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
