//! From raw material to a merged result: pure functions, no clock, no I/O.
//!
//! ```text
//! Payload -> parse_payload -> validate        one reviewer
//!                   reviews -> conclude       all of them: merge, names, clusters, checks
//!                     lanes -> conclude_batch the same for what several lanes came to
//!                   entries -> assess         whether it may be read as a full review
//! ```
//!
//! The one exception to purity is [`Disk`], which [`Locator`] asks what symbolic links resolve to.

mod batch;
mod cluster;
mod conclude;
mod degraded;
mod extract;
mod fingerprint;
mod json;
mod locate;
mod merge;
mod parse;
mod patch_lines;
mod repair;
mod salvage;
mod schema;
mod transcription;
mod trust;
mod usage;
mod vacuous;
mod validate;
mod wire;
mod wrapper;

#[cfg(test)]
mod samples;

pub use batch::{LaneReview, conclude_batch};
pub use cluster::find_clusters;
pub use conclude::{Conclusion, Ground, conclude};
pub use degraded::{failure as degraded_by_failure, shortfalls, unsent};
pub use extract::{Extracted, extract};
pub use fingerprint::name_findings;
pub use json::{JsonError, parse_json};
pub use locate::{Disk, LocalDisk, Located, Locator};
pub use merge::{
    Duplicates, INTEGRITY_ID, MergeSource, MergedFinding, Opinion, Review, Summary, merge_findings,
    merge_reviews, summarise, summarise_reviews,
};
pub use parse::{Parsed, parse_payload};
pub use patch_lines::{PatchLines, Side};
pub use repair::{Refusal, Repair, RepairConfidence, read_repair, repair_schema};
pub use salvage::{Salvaged, salvage};
pub use schema::{SchemaError, read_result, result_schema, result_schema_text, strict_schema};
pub use transcription::Difference;
pub use trust::{SALVAGED, assess, shortfall, worst_coverage};
pub use usage::add_usage;
pub use vacuous::{is_refusal, is_vacuous};
pub use validate::validate;
pub use wrapper::{find_result, read_output};
