//! Config entries for what is usable.

use diffwarden_actors::model::EngineName;

use crate::engines::capabilities::{self, Capability};

use super::model::{CandidateStatus, ConfigTransport, Discovery, RecommendedReviewer};

/// Returns the smallest entry that reaches an engine over a transport: by its own name over its
/// first transport, else as `engine-transport`.
pub(super) fn entry(row: &Capability) -> Option<RecommendedReviewer> {
    let transport = ConfigTransport::of(row.transport?);
    let is_first = capabilities::default_transport(row.engine) == row.transport;
    Some(RecommendedReviewer {
        id: if is_first {
            row.engine.as_str().to_owned()
        } else {
            format!("{}-{}", row.engine, transport.as_str())
        },
        engine: row.engine,
        transport: (!is_first).then_some(transport),
        model: row.default_model.map(str::to_owned),
    })
}

/// Returns the entries of a fresh config: one for each engine that is usable, over the first of its
/// transports that is, engines in alphabetical order. Empty when nothing is usable.
pub fn recommended_reviewers(discovery: &Discovery) -> Vec<RecommendedReviewer> {
    let mut engines = EngineName::ALL;
    engines.sort_by_key(|engine| engine.as_str());
    let of_engine = |engine: EngineName| {
        capabilities::of_engine(engine).find_map(|row| {
            let transport = ConfigTransport::of(row.transport?);
            let candidate = discovery.candidates.iter().find(|candidate| {
                candidate.engine == engine
                    && candidate.transport == transport
                    && candidate.status == CandidateStatus::Available
            })?;
            candidate.recommended.clone()
        })
    };
    engines.into_iter().filter_map(of_engine).collect()
}
