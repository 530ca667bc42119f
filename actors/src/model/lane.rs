use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The name of a lane: `overview`, `focus-1` and so on.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct LaneId(pub String);

impl fmt::Display for LaneId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a lane looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaneKind {
    /// The whole diff, without a focus.
    Overview,
    /// The whole diff, looked at for one thing.
    Focus,
}

/// One way of looking at the diff (SPEC 7.3.1).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReviewLane {
    /// The lane's name.
    pub id: LaneId,
    /// What it looks for.
    pub kind: LaneKind,
    /// The focus text of a focus lane.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub focus: Option<String>,
}

impl ReviewLane {
    /// Returns the lane that every run without `--focus` has.
    pub fn overview() -> Self {
        Self {
            id: LaneId("overview".to_owned()),
            kind: LaneKind::Overview,
            focus: None,
        }
    }
}
