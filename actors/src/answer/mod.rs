//! From raw material to a merged result: pure functions, no clock, no I/O.
//!
//! The one exception is [`Disk`], which [`Locator`] asks what symbolic links resolve to.

mod extract;
mod locate;
mod parse;
mod schema;
mod validate;
mod wire;
mod wrapper;

#[cfg(test)]
mod samples;

pub use extract::{Extracted, extract};
pub use locate::{Disk, LocalDisk, Located, Locator};
pub use parse::{Parsed, parse_payload};
pub use schema::{SchemaError, read_result, result_schema, result_schema_text, strict_schema};
pub use validate::validate;
pub use wrapper::{find_result, read_output};
