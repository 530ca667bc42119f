//! The vocabulary of a review: what is reviewed, what was found, what went wrong.
//!
//! Everything here is plain data. The types that derive `Serialize` are the published contract
//! (artifact schema version 2, event stream); their field order is the order that is printed, and
//! an absent value is left out rather than written as `null`. Nothing in this module does I/O.

mod artifact;
mod batch;
mod coverage;
mod degraded;
mod event;
mod failure;
mod finding;
mod lane;
mod number;
mod patch;
mod path;
mod reading;
mod result;
mod reviewer;
mod target;
mod trust;

pub use artifact::{ARTIFACT_SCHEMA_VERSION, Cluster, ReviewArtifact, Snapshot};
pub use batch::{
    BatchKind, LaneArtifact, LaneStatus, ReviewBatchArtifact, ReviewPlan, RunArtifact,
};
pub use coverage::{Coverage, CoverageFile, Sent};
pub use degraded::{Degraded, DegradedKind, DegradedTopic};
pub use event::{Frame, ReviewEvent, ReviewerSummary};
pub use failure::{ErrorCode, Failure, Reason, ReviewerError};
pub use finding::{Anchor, CodeLocation, Finding, LineRange, Priority, ReportedFinding};
pub use lane::{LaneId, LaneKind, ReviewLane};
pub use number::Score;
pub use patch::{Body, Change, FilePatch, Hunk, Line, LineKind, Mode, Patch};
pub use path::RepoPath;
pub use result::{
    InvalidLocation, MergedResult, ParseMode, ReviewResult, ReviewValidation, Verdict,
};
pub use reviewer::{
    CheckStatus, EngineName, FailedReviewer, PreflightCheck, PreflightReport, ReadonlyLevel,
    ReviewerEntry, ReviewerId, ReviewerIdentity, ReviewerStatus, SuccessfulReviewer, Transport,
};
pub use target::{ReviewTarget, TargetKind};
pub use trust::{Trust, TrustReason};
