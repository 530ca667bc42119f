//! What an answer must look like: the schema that engines are given and the one place that checks
//! it (SPEC 7.1, 7.2, 13.1 to 13.5).
//!
//! Owner of the compiled validator. What must stay true: nothing becomes a [`ReviewResult`] from an
//! engine without having passed [`read_result`], and a value that does not fit is an error, never
//! half a result.

use std::fmt;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde::Deserialize;
use serde_json::{Value, json};

use super::wire;
use crate::model::ReviewResult;

const RESULT_SCHEMA: &str = include_str!("review-result.schema.json");
const PRIORITY: &str = "/properties/findings/items/properties/priority";

/// Longest text of a problem, in characters: it may quote names the engine made up.
const MAX_PROBLEM: usize = 300;

/// Returns the text of the schema that engines are given, as it is checked in.
pub fn result_schema_text() -> &'static str {
    RESULT_SCHEMA
}

/// Returns the schema that engines are given. `priority` may be left out.
///
/// It names no `$schema`: some engines refuse every draft but their own.
pub fn result_schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        serde_json::from_str(RESULT_SCHEMA).expect("the checked-in schema is valid JSON")
    });
    &SCHEMA
}

/// Returns the variant for engines that demand every key to be required: `priority` is required
/// and may be `null`, which [`read_result`] takes for absent. String lengths are left out, because
/// strict structured output does not know them.
pub fn strict_schema() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(|| {
        let mut schema = nullable_priority_schema();
        require_every_property(&mut schema);
        schema
    });
    &SCHEMA
}

/// Reads a value that should be the result object.
///
/// Numbers are numbers (`"2"` is not one), `2.0` is an integer as JSON Schema has it, and a
/// `priority` of `null` means that there is none.
///
/// # Errors
///
/// Fails with the first thing that does not fit.
pub fn read_result(value: &Value) -> Result<ReviewResult, SchemaError> {
    validator().validate(value).map_err(|error| {
        SchemaError::new(
            &dotted(&error.instance_path().to_string()),
            &error.masked().to_string(),
        )
    })?;
    let answer = wire::Answer::deserialize(value)
        .map_err(|error| SchemaError::new("", &error.to_string()))?;
    answer.into_result()
}

/// Why a value is not a result: where, and what is wrong there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// The place, such as `findings[0].title`; empty for the value as a whole.
    pub path: String,
    /// What is wrong; at most a few hundred characters, values are not quoted.
    pub problem: String,
}

impl SchemaError {
    /// Creates an error; a long `problem` is cut.
    pub fn new(path: &str, problem: &str) -> Self {
        Self {
            path: path.to_owned(),
            problem: cut(problem),
        }
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.problem)
        } else {
            write!(f, "{}: {}", self.path, self.problem)
        }
    }
}

impl std::error::Error for SchemaError {}

fn validator() -> &'static Validator {
    static VALIDATOR: LazyLock<Validator> = LazyLock::new(|| {
        jsonschema::validator_for(&nullable_priority_schema())
            .expect("the checked-in schema is a valid JSON Schema")
    });
    &VALIDATOR
}

fn nullable_priority_schema() -> Value {
    let mut schema = result_schema().clone();
    *schema
        .pointer_mut(PRIORITY)
        .expect("the checked-in schema has a priority") =
        json!({ "type": ["integer", "null"], "enum": [0, 1, 2, 3, null] });
    schema
}

/// Makes every property of every object below `schema` required.
fn require_every_property(schema: &mut Value) {
    let Value::Object(object) = schema else {
        return;
    };
    object.remove("minLength");
    if let Some(items) = object.get_mut("items") {
        require_every_property(items);
    }
    let Some(Value::Object(properties)) = object.get_mut("properties") else {
        return;
    };
    properties.values_mut().for_each(require_every_property);
    let names: Vec<Value> = properties.keys().cloned().map(Value::String).collect();
    object.insert("required".to_owned(), Value::Array(names));
}

/// Writes a JSON pointer the way people write paths: `/findings/0/title` as `findings[0].title`.
fn dotted(pointer: &str) -> String {
    let mut path = String::new();
    for part in pointer.split('/').skip(1) {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            path.push('[');
            path.push_str(part);
            path.push(']');
        } else {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(part);
        }
    }
    path
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_PROBLEM) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
