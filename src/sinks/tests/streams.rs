//! What goes to which stream, and when.

use diffwarden_actors::model::LaneId;
use insta::assert_snapshot;

use super::*;

#[test]
fn people_see_a_run_as_it_happens() {
    let outcome = finished(partial());
    let (out, err) = written(options(OutputMode::Human), &frames(), &outcome);
    let (run, result) = out.split_once("\n\nResult\n").unwrap();
    assert_snapshot!(run, @r"
    diffwarden review
    Target: base:main
    Reviewers: alpha, beta
    Note: `fake` is a fixture for trying diffwarden out; it does not review anything
    • alpha preflight
    ✓ alpha preflight passed (0.1s)
    ✗ beta preflight failed (0.1s)
    ✗ beta failed (61.0s): not logged in
    → alpha reviewing
    ✓ alpha finished (0.1s)
    ");
    assert!(result.starts_with("Verdict: patch is incorrect\n"));
    assert_eq!(err, "");
}

#[test]
fn a_lane_is_named_in_front_of_its_reviewers() {
    let mut frame = frames().remove(1);
    frame.lane_id = Some(LaneId("focus-1".to_owned()));
    let outcome = finished(partial());
    let (out, _) = written(options(OutputMode::Human), &[frame], &outcome);
    assert!(out.starts_with("• [focus-1] alpha preflight\n"));
}

#[test]
fn a_failed_run_is_told_on_both_streams() {
    let (out, err) = written(options(OutputMode::Human), &[], &failed());
    assert_snapshot!(out, @r"
    Review failed: All reviewers failed: a: x b: y

    Integrity findings
    - P0 [P0] A key
      /repo/.env:3-3 · integrity
    ");
    assert_snapshot!(err, @r"
    All reviewers failed: a: x
      b: y
    Hint: run `diffwarden doctor`
    Try: try again
    ");
}

#[test]
fn an_agent_reads_a_failure_on_standard_error() {
    let (out, err) = written(options(OutputMode::Agent), &frames(), &failed());
    assert_eq!(out, "");
    assert_snapshot!(err, @r"
    All reviewers failed: a: x
      b: y
    Hint: run `diffwarden doctor`
    Try: try again

    Integrity findings:
    1. P0 [P0] A key
    File: /repo/.env:3-3
    Confidence: 1.00
    Reviewers: integrity
    ");
}

#[test]
fn json_is_the_artifact_alone() {
    let artifact = partial();
    let outcome = finished(artifact.clone());
    let (out, err) = written(options(OutputMode::Json), &frames(), &outcome);
    assert_eq!(err, "");
    assert!(out.starts_with("{\n  \"schema_version\": 2,\n"));
    assert!(out.ends_with("}\n") && !out.ends_with("\n\n"));
    assert_eq!(
        serde_json::from_str::<ReviewArtifact>(&out).unwrap(),
        artifact
    );
    let file = crate::artifact::write_artifact(&artifact.into(), &Redactor::default());
    assert_eq!(out.as_bytes(), file);
}

#[test]
fn json_of_a_failed_run_is_one_error_object() {
    let (out, err) = written(options(OutputMode::Json), &frames(), &failed());
    assert_eq!(err, "");
    let value: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(value["schema_version"], 1);
    assert_eq!(value["error"]["code"], "reviewer_failed");
    assert_eq!(value["error"]["reason"], "crash");
    assert_eq!(value["integrity"][0]["priority"], 0);
}

#[test]
fn ndjson_ends_with_one_terminal_frame() {
    for (outcome, last) in [(finished(partial()), "final_result"), (failed(), "error")] {
        let (out, err) = written(options(OutputMode::Ndjson), &frames(), &outcome);
        assert_eq!(err, "");
        let lines: Vec<Value> = out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let types: Vec<_> = lines
            .iter()
            .map(|line| line["type"].as_str().unwrap())
            .collect();
        assert_eq!(types.len(), frames().len() + 1);
        assert_eq!(types[0], "run_started");
        assert_eq!(types.last(), Some(&last));
        assert!(lines.iter().all(|line| line["schema_version"] == 2));
    }
}

#[test]
fn silent_modes_show_progress_on_a_terminal() {
    let outcome = finished(partial());
    for mode in [OutputMode::Json, OutputMode::Agent, OutputMode::Ndjson] {
        let options = SinkOptions {
            progress: Some(Style::PLAIN),
            ..options(mode)
        };
        let (_, err) = written(options, &frames(), &outcome);
        assert_eq!(
            err.contains("→ alpha reviewing\n"),
            mode != OutputMode::Ndjson
        );
    }
}

#[test]
fn a_closed_output_is_told() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut stream = sink_for(options(OutputMode::Ndjson), Closed, io::sink());
    let error = stream.event(&frames()[0]).unwrap_err();
    assert!(output::is_closed(&error));
    // People who close the pipe early do not end the review.
    let mut people = sink_for(options(OutputMode::Human), Closed, io::sink());
    for frame in frames() {
        people.event(&frame).unwrap();
    }
    for mode in [OutputMode::Human, OutputMode::Agent, OutputMode::Json] {
        let sink = sink_for(options(mode), Closed, io::sink());
        let outcome = finished(partial());
        assert!(output::is_closed(&sink.finish(&outcome).unwrap_err()));
    }
}
