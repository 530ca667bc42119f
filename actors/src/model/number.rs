use schemars::JsonSchema;
use serde::{Serialize, Serializer};

/// A confidence between 0 and 1.
///
/// Printed as JSON the way JavaScript prints numbers: `1`, not `1.0`, because consumers of the
/// contract compare the text of artifacts.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, JsonSchema)]
#[serde(transparent)]
pub struct Score(#[schemars(range(min = 0.0, max = 1.0))] pub f64);

impl Serialize for Score {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 == 0.0 {
            serializer.serialize_u64(0)
        } else if self.0 == 1.0 {
            serializer.serialize_u64(1)
        } else {
            serializer.serialize_f64(self.0)
        }
    }
}
