//! Discovery: which engines this machine offers, and how to get the others going (SPEC 5.2).
//!
//! Shallow discovery asks a [`View`] of the machine three kinds of questions: is there an
//! executable, is a variable set, can a credential file be read. What must stay true: it runs
//! nothing, opens no connection, reads no config, and keeps no value of a variable and no content
//! of a file. Deep discovery also makes the preflight that a review would make, of what is there.
//!
//! Everything here is a function of the capability matrix and the view.

mod auth;
mod deep;
mod model;
mod probe;
mod recommend;
#[cfg(test)]
mod tests;
mod text;
mod view;

pub use auth::{Login, LoginSettings, look_for_login};
pub use deep::{Examined, settings_to_examine, with_preflights};
pub use model::{
    AuthSignalsFound, AuthState, Candidate, CandidateStatus, ConfigTransport, CredentialFileProbe,
    Discovery, DiscoverySummary, ProbedExecutable, ProbedPackage, RecommendedReviewer,
};
pub use probe::discover;
pub use recommend::recommended_reviewers;
pub use text::discovery_text;
pub use view::{Credential, Machine, View};
