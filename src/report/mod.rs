//! The history of reviews: one report file per run that has a result (`--report`).
//!
//! A report is the artifact with its provenance and its numbers: what was typed, which config and
//! which patch it was. [`build_report`] makes it and does no I/O; [`Reporting`] knows where reports
//! go and writes them. Secrets are taken out as in every other output, and the patch is never kept.

mod build;
mod place;
mod shape;

pub use build::{ReportFacts, Stamp, build_report};
pub use place::{ReportFlags, Reporting};
pub use shape::{
    ConfigReport, Counts, FindingReport, Invocation, InvocationReport, LaneReport, ProgramReport,
    Provenance, Report, ReportStorage, ReportedReviewer, Resolution, ReviewerSelection,
    StorageScope, Summary, TargetProvenance, TargetReport,
};

/// The version of the report files.
pub const REPORT_SCHEMA_VERSION: u32 = 3;
