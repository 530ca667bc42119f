//! The engine of a reviewer that is not started: it fails its preflight, and with it nobody but
//! that reviewer.

use diffwarden_actors::engine::{Engine, Place, Preflight, ReviewRequest, Start};
use diffwarden_actors::model::Failure;

/// An engine that says why it is not run.
#[derive(Debug, Clone)]
pub struct Refused(pub Failure);

impl Engine for Refused {
    fn preflight(&self, _place: &Place) -> Result<Preflight, Failure> {
        Err(self.0.clone())
    }

    fn review(&self, _request: &ReviewRequest) -> Result<Start, Failure> {
        Err(self.0.clone())
    }
}
