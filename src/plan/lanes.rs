//! Which lanes a run has (SPEC 5.2, 7.3.1).

use diffwarden_actors::model::{ErrorCode, Failure, LaneId, LaneKind, ReviewLane, ReviewPlan};

use crate::git::TargetSpec;

/// What the flags say about lanes, as typed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LaneFlags {
    /// `--focus`, in order.
    pub focus: Vec<String>,
    /// `--overview`.
    pub overview: bool,
    /// `--no-overview`.
    pub no_overview: bool,
}

/// Flags that make sense together.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LaneChoice {
    focus: Vec<String>,
    include_overview: Option<bool>,
}

impl LaneFlags {
    /// Checks the flags against each other and against the target. A blank focus is refused rather
    /// than dropped: a script whose variable is empty would get another review than it asked for.
    pub(super) fn check(&self, target: &TargetSpec) -> Result<LaneChoice, Failure> {
        let include_overview = match (self.overview, self.no_overview) {
            (true, true) => {
                return Err(invalid("--overview and --no-overview exclude each other")
                    .hint("give one of them, or neither to go by the config"));
            }
            (false, false) => None,
            (overview, _) => Some(overview),
        };
        let focus: Vec<String> = self.focus.iter().map(|it| it.trim().to_owned()).collect();
        if let Some(position) = focus.iter().position(String::is_empty) {
            return Err(
                invalid(format!("--focus number {} has no text", position + 1))
                    .hint("say what to look at, such as --focus \"error handling\""),
            );
        }
        if focus.is_empty() && include_overview.is_some() {
            return Err(
                invalid("--overview and --no-overview mean something with --focus only")
                    .hint("a review without --focus is one overview already"),
            );
        }
        if !focus.is_empty() && matches!(target, TargetSpec::Custom(_)) {
            return Err(
                invalid("--focus needs a target with a diff, which custom:<text> is not")
                    .hint("put what to look at into the text of the custom target"),
            );
        }
        Ok(LaneChoice {
            focus,
            include_overview,
        })
    }
}

impl LaneChoice {
    /// Returns the lanes of a run with `--focus`, and nothing for one without. `configured` is what
    /// the config says about the overview; there is one when nobody says anything.
    pub(super) fn review_plan(self, configured: Option<bool>) -> Option<ReviewPlan> {
        if self.focus.is_empty() {
            return None;
        }
        let include_overview = self.include_overview.or(configured).unwrap_or(true);
        let overview = include_overview.then(ReviewLane::overview);
        let lanes = self
            .focus
            .iter()
            .enumerate()
            .map(|(position, focus)| ReviewLane {
                id: LaneId(format!("focus-{}", position + 1)),
                kind: LaneKind::Focus,
                focus: Some(focus.clone()),
            });
        Some(ReviewPlan {
            include_overview,
            lanes: overview.into_iter().chain(lanes).collect(),
            focus: self.focus,
        })
    }
}

fn invalid(message: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::InvalidCli, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(focus: &[&str], overview: bool, no_overview: bool) -> LaneFlags {
        LaneFlags {
            focus: focus.iter().map(|&text| text.to_owned()).collect(),
            overview,
            no_overview,
        }
    }

    fn plan(flags: &LaneFlags, configured: Option<bool>) -> Option<ReviewPlan> {
        let choice = flags.check(&TargetSpec::Uncommitted).unwrap();
        choice.review_plan(configured)
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        let custom = TargetSpec::Custom("look".to_owned());
        let cases = [
            (
                flags(&["x"], true, true),
                TargetSpec::Uncommitted,
                "--no-overview",
            ),
            (
                flags(&["x", " \t"], false, false),
                TargetSpec::Uncommitted,
                "--focus number 2",
            ),
            (flags(&[], true, false), TargetSpec::Uncommitted, "--focus"),
            (flags(&[], false, true), TargetSpec::Uncommitted, "--focus"),
            (flags(&["x"], false, false), custom, "custom:"),
        ];
        for (flags, target, word) in cases {
            let failure = flags.check(&target).unwrap_err();
            assert_eq!(failure.code, ErrorCode::InvalidCli);
            assert!(failure.message.contains(word), "{failure}");
        }
    }

    #[test]
    fn without_focus_there_are_no_lanes() {
        assert_eq!(plan(&flags(&[], false, false), Some(true)), None);
        let custom = TargetSpec::Custom("look".to_owned());
        let choice = LaneFlags::default().check(&custom).unwrap();
        assert_eq!(choice.review_plan(None), None);
    }

    #[test]
    fn the_overview_comes_first_and_focus_texts_are_numbered_and_trimmed() {
        let plan = plan(&flags(&[" state ", "errors"], false, false), None).unwrap();
        assert_eq!(
            serde_json::to_value(&plan).unwrap(),
            serde_json::json!({
                "include_overview": true,
                "focus": ["state", "errors"],
                "lanes": [
                    { "id": "overview", "kind": "overview" },
                    { "id": "focus-1", "kind": "focus", "focus": "state" },
                    { "id": "focus-2", "kind": "focus", "focus": "errors" }
                ]
            })
        );
    }

    #[test]
    fn flags_beat_the_config() {
        let has = |overview, no_overview, configured| {
            plan(&flags(&["x"], overview, no_overview), configured)
                .unwrap()
                .include_overview
        };
        assert!(!has(false, false, Some(false)));
        assert!(has(true, false, Some(false)));
        assert!(!has(false, true, Some(true)));
        assert!(!has(false, true, None));
    }
}
