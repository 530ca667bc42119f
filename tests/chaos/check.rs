//! What has to be true of a run, whatever happened in it.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Value, json};

use super::scenario::{Ending, Scenario, id};
use crate::support::{Run, terminal_frames};

static FRAME: LazyLock<Validator> = LazyLock::new(|| {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas/event-frame.schema.json");
    let schema = fs::read_to_string(path).expect("the schema is checked in");
    let schema = serde_json::from_str(&schema).expect("the schema is JSON");
    jsonschema::validator_for(&schema).expect("the schema is one")
});

/// The story of one reviewer in one lane, and of a lane (without a reviewer).
type Stories<'a> = BTreeMap<(Option<&'a str>, Option<&'a str>), Vec<&'a Value>>;

/// Checks the form and the order of the stream.
pub(super) fn check_frames(scenario: &Scenario, frames: &[Value], told: &str) {
    for frame in frames {
        let problems: Vec<_> = FRAME.iter_errors(frame).map(|it| it.to_string()).collect();
        assert!(problems.is_empty(), "{problems:#?}\nin {frame}\nof {told}");
    }
    let terminal = terminal_frames(frames);
    assert_eq!(terminal.len(), 1, "terminal frames of {told}");
    assert_eq!(terminal.first().copied(), frames.last(), "{told}");
    let first = if scenario.focus == 0 {
        "run_started"
    } else {
        "batch_started"
    };
    assert_eq!(frames[0]["type"], first, "{told}");

    let stories = stories(frames);
    for (lane, name) in scenario.lane_names().iter().enumerate() {
        for position in 0..scenario.reviewers.len() {
            let id = id(position);
            let key = (name.as_deref(), Some(id.as_str()));
            let story = stories.get(&key).map_or(&[][..], Vec::as_slice);
            check_story(
                story,
                scenario.ending(position, lane),
                &format!("{key:?} of {told}"),
            );
        }
        check_lane(frames, name.as_deref(), told);
    }
}

fn stories(frames: &[Value]) -> Stories<'_> {
    let mut stories = Stories::new();
    for frame in frames {
        if let Some(reviewer) = reviewer_of(frame) {
            let key = (frame["lane_id"].as_str(), Some(reviewer));
            stories.entry(key).or_default().push(frame);
        }
    }
    stories
}

fn reviewer_of(frame: &Value) -> Option<&str> {
    match frame["type"].as_str() {
        Some("error") => None,
        _ => frame["reviewer_id"].as_str(),
    }
}

/// A reviewer is checked, perhaps begins, and ends once.
fn check_story(story: &[&Value], ending: Ending, of: &str) {
    let words: Vec<_> = story
        .iter()
        .map(|frame| match (&frame["type"], frame["ok"].as_bool()) {
            (_, Some(ok)) => format!("checked {ok}"),
            (kind, None) => kind.as_str().unwrap_or_default().to_owned(),
        })
        .collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    let is_known = matches!(
        words.as_slice(),
        ["preflight_started", "reviewer_failed"]
            | ["preflight_started", "checked false", "reviewer_failed"]
            | [
                "preflight_started",
                "checked true",
                "reviewer_started",
                "reviewer_result" | "reviewer_failed"
            ]
    );
    assert!(is_known, "{words:?} in {of}");
    let last = story.last().expect("a story has an end");
    let findings = last["artifact"]["result"]["findings"].as_array();
    match ending {
        Ending::Either => {}
        Ending::Failure => assert_eq!(last["type"], "reviewer_failed", "{last} in {of}"),
        Ending::Answer(count) => assert_eq!(findings.map(Vec::len), Some(count), "{last} in {of}"),
    }
}

/// A lane ends once, after all of its reviewers; a run without lanes tells of none.
fn check_lane(frames: &[Value], name: Option<&str>, told: &str) {
    let is_end = |frame: &Value| frame["type"] == "lane_finished" || frame["type"] == "lane_failed";
    let Some(name) = name else {
        assert!(!frames.iter().any(is_end), "{told}");
        return;
    };
    let of_lane = frames.iter().filter(|frame| frame["lane_id"] == name);
    let of_lane: Vec<_> = of_lane.collect();
    assert_eq!(
        of_lane.iter().filter(|frame| is_end(frame)).count(),
        1,
        "{name} of {told}"
    );
    assert!(
        of_lane.last().is_some_and(|last| is_end(last)),
        "{name} of {told}"
    );
    assert_eq!(of_lane[0]["type"], "run_started", "{name} of {told}");
}

/// Checks the exit code, the last frame and the file of `--out` against each other and against what
/// had to happen.
pub(super) fn check_outcome(
    scenario: &Scenario,
    run: &Run,
    frames: &[Value],
    out: &Path,
    told: &str,
) {
    let last = frames.last().expect("a stream is never empty");
    let file = fs::read_to_string(out).ok();
    let file = file.map(|text| serde_json::from_str::<Value>(&text).expect("an artifact"));
    let is_result = last["type"] == "final_result";
    if let Some(expected) = scenario.has_result() {
        assert_eq!(is_result, expected, "{last} of {told}");
    }
    if is_result {
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{told}");
        assert_eq!(file.as_ref(), Some(&last["artifact"]), "{told}");
        return;
    }
    assert_eq!(last["error"]["exit_code"], run.code, "{told}");
    assert!(!run.stderr.is_empty(), "{told}");
    if run.code != 130 {
        assert!(matches!(run.code, 3 | 4), "{} of {told}", run.code);
        assert_eq!(file, None, "{told}");
        return;
    }
    assert!(scenario.interruption.is_some(), "{told}");
    assert_eq!(last["error"]["reason"], "interrupted", "{told}");
    if let Some(partial) = file {
        let reasons = partial["trust"]["reasons"].as_array();
        assert!(
            reasons.is_some_and(|it| it.contains(&json!("interrupted"))),
            "{told}"
        );
    }
}

/// Returns a frame without what a clock says.
pub(super) fn without_times(frame: Option<&Value>) -> Value {
    let mut frame = frame.expect("a stream is never empty").clone();
    forget_times(&mut frame);
    frame
}

fn forget_times(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|key, _| key != "timing_ms");
            members.values_mut().for_each(forget_times);
        }
        Value::Array(items) => items.iter_mut().for_each(forget_times),
        _ => {}
    }
}
