//! Compares what came of a row with what had to.

use serde_json::Value;

use crate::harness::Outcome;
use crate::provider::Request;
use crate::scenario::{Check, DIRTY, EnginePath, PLANTED, Repository, Row, SECRET};

/// How many characters of a text a problem quotes.
const QUOTED: usize = 400;

/// Returns whatever is not as expected.
pub(crate) fn problems(path: &EnginePath, row: &Row, outcome: &Outcome) -> Vec<String> {
    let expected = &row.expected;
    let mut problems = Vec::new();
    let mut must = |holds: bool, problem: &dyn Fn() -> String| {
        if !holds {
            problems.push(problem());
        }
    };
    let as_expected = outcome.exit == Some(expected.exit)
        && outcome.error("code") == expected.code
        && outcome.error("reason") == expected.reason;
    must(as_expected, &|| format!("ended with {}", told(outcome)));
    if !expected.hint.is_empty() {
        let hint = outcome.error("hint").unwrap_or_default();
        must(hint.contains(expected.hint), &|| {
            format!("the hint is {hint:?}")
        });
    }
    let within = expected.within + path.patience;
    must(outcome.took.as_secs() < within, &|| {
        format!("took longer than {within} s")
    });
    let reviews = reviews(outcome).count();
    let (least, most) = expected.reviews;
    must((least..=most).contains(&reviews), &|| {
        format!("{reviews} requests for a review instead of {least} to {most}")
    });
    for check in expected.checks {
        if let Err(problem) = hold(*check, outcome) {
            problems.push(problem);
        }
    }
    problems.extend(match row.situation.repository {
        Repository::Planted => leak(outcome, PLANTED, "planted text"),
        Repository::Past => leak(outcome, &outcome.repo, "the checkout's path")
            .or_else(|| leak(outcome, DIRTY, "the work tree")),
        Repository::Secret => leak(outcome, SECRET, "the secret"),
        Repository::Edit | Repository::Huge | Repository::Bug => None,
    });
    // A review has nothing else to ask the service: no telemetry, no list of models.
    problems.extend(
        outcome
            .others
            .iter()
            .map(|it| format!("it also asked for {it}")),
    );
    let unreadable = outcome
        .requests
        .iter()
        .filter(|request| request.body.get("unreadable").is_some());
    problems.extend(unreadable.map(|request| format!("{}: {}", path.name, request.body)));
    problems
}

fn reviews(outcome: &Outcome) -> impl Iterator<Item = &Request> {
    outcome
        .requests
        .iter()
        .filter(|request| !request.is_repair())
}

/// Says so when a text reached the model that must not.
fn leak(outcome: &Outcome, text: &str, what: &str) -> Option<String> {
    has_on_wire(outcome, text).then(|| format!("{what} reached the model"))
}

fn hold(check: Check, outcome: &Outcome) -> Result<(), String> {
    match check {
        Check::Findings(count) => {
            let findings = outcome.output["result"]["findings"].as_array();
            let found = findings.map(Vec::len);
            verify(found == Some(count), || {
                format!("{found:?} findings: {}", told(outcome))
            })
        }
        Check::Output(place, json) => {
            equal("the output", place, outcome.output.pointer(place), json)
        }
        Check::OutputHas(place) => verify(outcome.output.pointer(place).is_some(), || {
            format!("the output has no {place}: {}", told(outcome))
        }),
        Check::OutputLacks(place) => verify(outcome.output.pointer(place).is_none(), || {
            format!("the output has {place}: {}", told(outcome))
        }),
        Check::Wire(place, json) => {
            let request = reviews(outcome).next();
            let found = request.and_then(|request| request.body.pointer(place));
            equal("the request", place, found, json)
        }
        Check::Path(end) => {
            let path = reviews(outcome).next().map(|request| request.path.as_str());
            let path = path.unwrap_or_default();
            verify(path.ends_with(end), || format!("{path} was asked"))
        }
        Check::WireHas(text) => verify(has_on_wire(outcome, text), || {
            format!("no request holds {text:?}")
        }),
        Check::WireLacks(text) => verify(!has_on_wire(outcome, text), || {
            format!("a request holds {text:?}")
        }),
        Check::Tools(names) => {
            let offered = reviews(outcome).next().map(Request::tools);
            let offered = offered.unwrap_or_default();
            verify(offered == names, || {
                format!("the model was offered {offered:?}")
            })
        }
        Check::ToolSaid(text) => {
            let last = outcome.requests.last().map(Request::tool_results);
            let results = last.unwrap_or_default();
            verify(results.iter().any(|result| result.contains(text)), || {
                format!("the tools said {}", cut(&results.join(" | ")))
            })
        }
        Check::Repairs(count) => {
            let repairs = outcome.requests.iter().filter(|it| it.is_repair()).count();
            verify(repairs == count, || {
                format!("{repairs} requests to transcribe instead of {count}")
            })
        }
        Check::LongestText(limit) => {
            let longest = outcome.requests.iter().map(|it| longest_text(&it.body));
            let longest = longest.max().unwrap_or_default();
            verify(longest <= limit, || {
                format!("a text of {longest} characters was sent")
            })
        }
    }
}

fn verify(holds: bool, problem: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(problem()) }
}

fn equal(what: &str, place: &str, found: Option<&Value>, json: &str) -> Result<(), String> {
    let wanted: Value = serde_json::from_str(json).expect("the table holds JSON");
    verify(found == Some(&wanted), || match found {
        Some(found) => format!("{place} of {what} is {}", cut(&found.to_string())),
        None => format!("{what} has no {place}"),
    })
}

fn has_on_wire(outcome: &Outcome, text: &str) -> bool {
    let mut requests = outcome.requests.iter();
    requests.any(|request| request.body.to_string().contains(text))
}

fn longest_text(value: &Value) -> usize {
    match value {
        Value::String(text) => text.chars().count(),
        Value::Array(members) => members.iter().map(longest_text).max().unwrap_or(0),
        Value::Object(members) => members.values().map(longest_text).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns what the program told, in short.
fn told(outcome: &Outcome) -> String {
    let output = match outcome.output.get("error") {
        Some(error) => error.to_string(),
        None => outcome.output.to_string(),
    };
    let exit = outcome.exit;
    let stderr = outcome.stderr.trim();
    format!("{exit:?}: {} {}", cut(&output), cut(stderr))
}

fn cut(text: &str) -> String {
    text.chars().take(QUOTED).collect()
}
