//! How saved artifacts are read back.
//!
//! What is written is what the derived `Serialize` says; reading is stricter and more patient. It
//! refuses values that no run can produce, because an artifact file is input like any other. It
//! accepts artifacts without the fields that go beyond the specification. Entries are read through
//! flat shapes: the derived code for flattened and untagged types would lose track of where in the
//! file it is, and of keys that nobody knows.

use serde::de::{Deserialize, Deserializer, Error};
use serde_json::{Map, Value};

use super::{
    Anchor, CodeLocation, CoverageFile, EngineName, FailedReviewer, Finding, LaneArtifact, LaneId,
    LaneKind, LaneStatus, LineRange, PreflightReport, Priority, ReportedFinding, ReviewArtifact,
    ReviewLane, ReviewResult, ReviewValidation, ReviewerEntry, ReviewerError, ReviewerId,
    ReviewerIdentity, ReviewerStatus, Score, SuccessfulReviewer, Transport, Trust, TrustReason,
};

impl<'de> Deserialize<'de> for Score {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let score = f64::deserialize(deserializer)?;
        if (0.0..=1.0).contains(&score) {
            Ok(Self(score))
        } else {
            Err(D::Error::custom(format!(
                "a confidence lies between 0 and 1, not at {score}"
            )))
        }
    }
}

impl<'de> Deserialize<'de> for Priority {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u8::deserialize(deserializer)? {
            level @ 0..=3 => Ok(Self(level)),
            other => Err(D::Error::custom(format!(
                "a priority is a number from 0 to 3, not {other}"
            ))),
        }
    }
}

#[derive(serde::Deserialize)]
struct RangeShape {
    start: u32,
    end: u32,
}

impl<'de> Deserialize<'de> for LineRange {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let RangeShape { start, end } = RangeShape::deserialize(deserializer)?;
        if start == 0 || end < start {
            return Err(D::Error::custom(format!(
                "lines count from 1 and do not run backwards, as {start} to {end} does"
            )));
        }
        Ok(Self { start, end })
    }
}

#[derive(serde::Deserialize)]
struct TrustShape {
    clean: bool,
    reasons: Vec<TrustReason>,
}

impl<'de> Deserialize<'de> for Trust {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let TrustShape { clean, reasons } = TrustShape::deserialize(deserializer)?;
        if clean != reasons.is_empty() {
            return Err(D::Error::custom(
                "`clean` is true when there are no reasons against it, and only then",
            ));
        }
        Ok(Self { clean, reasons })
    }
}

#[derive(serde::Deserialize)]
struct ReportedShape {
    /// Absent in artifacts of other programs that follow the specification.
    #[serde(default)]
    id: String,
    title: String,
    body: String,
    confidence_score: Score,
    #[serde(default)]
    priority: Option<Priority>,
    code_location: CodeLocation,
    #[serde(default)]
    anchor: Option<Anchor>,
    #[serde(default)]
    reviewer_ids: Vec<ReviewerId>,
    #[serde(default)]
    lane_ids: Option<Vec<LaneId>>,
}

impl<'de> Deserialize<'de> for ReportedFinding {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let shape = ReportedShape::deserialize(deserializer)?;
        Ok(Self {
            id: shape.id,
            finding: Finding {
                title: shape.title,
                body: shape.body,
                confidence_score: shape.confidence_score,
                priority: shape.priority,
                code_location: shape.code_location,
                anchor: shape.anchor,
            },
            reviewer_ids: shape.reviewer_ids,
            lane_ids: shape.lane_ids,
        })
    }
}

#[derive(serde::Deserialize)]
struct LaneShape {
    id: LaneId,
    kind: LaneKind,
    #[serde(default)]
    focus: Option<String>,
    status: LaneStatus,
    #[serde(default)]
    artifact: Option<Box<ReviewArtifact>>,
    #[serde(default)]
    error: Option<ReviewerError>,
    #[serde(default)]
    timing_ms: Option<u64>,
}

impl<'de> Deserialize<'de> for LaneArtifact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let shape = LaneShape::deserialize(deserializer)?;
        match (shape.status, &shape.artifact, &shape.error) {
            (LaneStatus::Success, Some(_), None) | (LaneStatus::Failed, None, Some(_)) => {}
            (LaneStatus::Success, ..) => {
                return Err(D::Error::custom(
                    "a lane with status `success` has an `artifact` and no `error`",
                ));
            }
            (LaneStatus::Failed, ..) => {
                return Err(D::Error::custom(
                    "a lane with status `failed` has an `error` and no `artifact`",
                ));
            }
        }
        Ok(Self {
            lane: ReviewLane {
                id: shape.id,
                kind: shape.kind,
                focus: shape.focus,
            },
            status: shape.status,
            artifact: shape.artifact,
            error: shape.error,
            timing_ms: shape.timing_ms,
        })
    }
}

#[derive(serde::Deserialize)]
struct EntryShape {
    id: ReviewerId,
    engine: EngineName,
    /// The specification's own type has none: then an entry with a result succeeded.
    #[serde(default)]
    status: Option<ReviewerStatus>,
    #[serde(default)]
    transport: Option<Transport>,
    #[serde(default)]
    profile: Option<String>,
    #[serde(default)]
    provider: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    effort: Option<String>,
    #[serde(default)]
    result: Option<ReviewResult>,
    #[serde(default)]
    validation: Option<ReviewValidation>,
    #[serde(default)]
    timing_ms: Option<u64>,
    #[serde(default)]
    raw_text: Option<String>,
    #[serde(default)]
    preflight: Option<PreflightReport>,
    #[serde(default)]
    adapter_metadata: Option<Map<String, Value>>,
    #[serde(default)]
    usage: Option<Value>,
    #[serde(default)]
    sent: Option<Vec<CoverageFile>>,
    #[serde(default)]
    error: Option<ReviewerError>,
}

impl<'de> Deserialize<'de> for ReviewerEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let shape = EntryShape::deserialize(deserializer)?;
        let entry = match shape.status {
            Some(ReviewerStatus::Success) => shape.success(),
            Some(ReviewerStatus::Failed) => shape.failed(),
            None if shape.result.is_some() => shape.success(),
            None => shape.failed(),
        };
        entry.map_err(D::Error::custom)
    }
}

impl EntryShape {
    fn success(self) -> Result<ReviewerEntry, &'static str> {
        let identity = self.identity(ReviewerStatus::Success);
        let (Some(result), Some(validation), None) = (self.result, self.validation, self.error)
        else {
            return Err("a reviewer that succeeded has a `result`, a `validation` and no `error`");
        };
        Ok(ReviewerEntry::Success(Box::new(SuccessfulReviewer {
            identity,
            result,
            validation,
            timing_ms: self.timing_ms,
            raw_text: self.raw_text,
            preflight: self.preflight,
            adapter_metadata: self.adapter_metadata,
            usage: self.usage,
            sent: self.sent,
        })))
    }

    fn failed(self) -> Result<ReviewerEntry, &'static str> {
        let identity = self.identity(ReviewerStatus::Failed);
        let has_answer = self.result.is_some()
            || self.validation.is_some()
            || self.raw_text.is_some()
            || self.adapter_metadata.is_some()
            || self.usage.is_some()
            || self.sent.is_some();
        match self.error {
            Some(error) if !has_answer => Ok(ReviewerEntry::Failed(Box::new(FailedReviewer {
                identity,
                preflight: self.preflight,
                error,
                timing_ms: self.timing_ms,
            }))),
            _ => Err("a reviewer that failed has an `error` and nothing of an answer"),
        }
    }

    fn identity(&self, status: ReviewerStatus) -> ReviewerIdentity {
        ReviewerIdentity {
            id: self.id.clone(),
            engine: self.engine,
            status,
            transport: self.transport,
            profile: self.profile.clone(),
            provider: self.provider.clone(),
            model: self.model.clone(),
            effort: self.effort.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json};

    use super::*;

    fn refusal<T: serde::de::DeserializeOwned + std::fmt::Debug>(value: Value) -> String {
        from_value::<T>(value).unwrap_err().to_string()
    }

    #[test]
    fn numbers_that_no_run_writes_are_refused() {
        assert!(refusal::<Score>(json!(1.5)).contains("between 0 and 1"));
        assert!(refusal::<Score>(json!(-0.1)).contains("between 0 and 1"));
        assert!(refusal::<Priority>(json!(4)).contains("0 to 3"));
        for (start, end) in [(0, 0), (2, 1)] {
            let range = json!({"start": start, "end": end});
            assert!(refusal::<LineRange>(range).contains("count from 1"));
        }
    }

    #[test]
    fn trust_has_to_agree_with_itself() {
        let clean = json!({"clean": true, "reasons": ["clipped"]});
        assert!(refusal::<Trust>(clean).contains("only then"));
        let unclean = json!({"clean": false, "reasons": []});
        assert!(refusal::<Trust>(unclean).contains("only then"));
        let trust: Trust = from_value(json!({"clean": true, "reasons": []})).unwrap();
        assert_eq!(trust, Trust::from_reasons([]));
    }

    #[test]
    fn an_entry_is_what_its_status_says() {
        let error = json!({"code": "timeout", "message": "late", "exit_code": 3});
        let failed = json!({"id": "a", "engine": "pi", "status": "failed", "error": error});
        let entry: ReviewerEntry = from_value(failed.clone()).unwrap();
        assert!(matches!(entry, ReviewerEntry::Failed(_)));
        assert_eq!(serde_json::to_value(&entry).unwrap(), failed);

        let mut mixed = failed.clone();
        mixed["usage"] = json!({});
        assert!(refusal::<ReviewerEntry>(mixed).contains("nothing of an answer"));
        let mut mixed = failed;
        mixed["status"] = json!("success");
        assert!(refusal::<ReviewerEntry>(mixed).contains("has a `result`"));
    }

    #[test]
    fn a_lane_has_an_artifact_or_an_error() {
        let lane = json!({"id": "overview", "kind": "overview", "status": "success"});
        assert!(refusal::<LaneArtifact>(lane).contains("has an `artifact`"));
        let lane = json!({"id": "overview", "kind": "overview", "status": "failed"});
        assert!(refusal::<LaneArtifact>(lane).contains("has an `error`"));
    }
}
