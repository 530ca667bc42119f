//! The check-up for people.

use diffwarden_actors::model::{CheckStatus, PreflightCheck};
use serde_json::Value;

use super::report::{DoctorReport, DoctorReviewer, DoctorStatus};
use crate::engines::capabilities;
use crate::sinks::{Cell, Redactor, Role, Sheet, Style};

/// The columns of a check's outcome and of its name.
const STATUS_WIDTH: usize = 6;
const NAME_WIDTH: usize = 16;

/// Returns the page of `doctor`.
pub fn doctor_text(report: &DoctorReport, style: Style, redactor: &Redactor) -> String {
    let mut sheet = Sheet::new(style, redactor);
    sheet.heading("Can the reviewers work here?");
    fact(&mut sheet, "Folder", &report.cwd);
    let config = report.config.as_deref().unwrap_or("(none)");
    fact(&mut sheet, "Config", config);
    for reviewer in &report.reviewers {
        sheet.blank();
        one(&mut sheet, reviewer);
    }
    sheet.blank();
    sheet.sentence(0, &verdict(report));
    sheet.finish()
}

fn fact(sheet: &mut Sheet<'_>, name: &str, value: &str) {
    let cells = [Cell {
        text: name,
        width: 8,
        role: Some(Role::Muted),
    }];
    sheet.entry(0, &cells, value);
}

fn one(sheet: &mut Sheet<'_>, reviewer: &DoctorReviewer) {
    let (word, role) = match reviewer.status {
        DoctorStatus::Passed => ("ready", Role::Success),
        DoctorStatus::Failed => ("FAILED", Role::Danger),
    };
    let cells = [
        Cell {
            text: reviewer.id.0.as_str(),
            width: 0,
            role: Some(Role::Heading),
        },
        Cell {
            text: word,
            width: 0,
            role: Some(role),
        },
    ];
    sheet.entry(0, &cells, &format!("({})", identity(reviewer)));
    if let Some(error) = &reviewer.error {
        sheet.sentence(2, &error.message);
    }
    let checks = reviewer.preflight.iter().flat_map(|it| &it.checks);
    // What diffwarden saw of a login says more than that the engine was not asked for one.
    let has_login = reviewer.host.iter().any(|it| it.name == "login");
    let is_said_better =
        |it: &&PreflightCheck| has_login && it.name == "auth" && it.status == CheckStatus::Skipped;
    let checks = checks.filter(|it| !is_said_better(it));
    for check in checks.chain(&reviewer.host) {
        line(sheet, check);
    }
    for fix in &reviewer.fix {
        let cells = [Cell {
            text: "Fix:",
            width: 5,
            role: Some(Role::Accent),
        }];
        sheet.entry(2, &cells, fix);
    }
}

/// Says in a few words what runs: engine, transport, version, model, effort, and how long it took.
fn identity(reviewer: &DoctorReviewer) -> String {
    let mut words = vec![match reviewer.transport {
        Some(transport) => {
            format!(
                "{} over {}",
                reviewer.engine,
                capabilities::config_word(transport)
            )
        }
        None => "built in".to_owned(),
    }];
    let metadata = reviewer.preflight.as_ref().map(|it| &it.metadata);
    let version = metadata
        .and_then(|it| it.get("version"))
        .and_then(Value::as_str);
    for (name, value) in [
        ("version", version),
        ("profile", reviewer.profile.as_deref()),
        ("provider", reviewer.provider.as_deref()),
        ("model", reviewer.model.as_deref()),
        ("effort", reviewer.effort.as_deref()),
    ] {
        words.extend(value.map(|value| format!("{name} {value}")));
    }
    words.push(seconds(reviewer.timing_ms));
    words.join(", ")
}

fn seconds(timing_ms: u64) -> String {
    format!("{}.{} s", timing_ms / 1000, timing_ms % 1000 / 100)
}

fn line(sheet: &mut Sheet<'_>, check: &PreflightCheck) {
    let (word, role) = match check.status {
        CheckStatus::Passed => ("ok", Role::Success),
        CheckStatus::Warning => ("warn", Role::Warning),
        CheckStatus::Skipped => ("-", Role::Muted),
    };
    let cells = [
        Cell {
            text: word,
            width: STATUS_WIDTH,
            role: Some(role),
        },
        Cell {
            text: &check.name,
            width: NAME_WIDTH,
            role: None,
        },
    ];
    sheet.entry(2, &cells, &check.detail);
}

fn verdict(report: &DoctorReport) -> String {
    let all = report.reviewers.len();
    let failed = report
        .reviewers
        .iter()
        .filter(|it| it.status == DoctorStatus::Failed);
    let noun = if all == 1 { "reviewer" } else { "reviewers" };
    match failed.count() {
        0 => format!("{all} {noun}: ready. No model was asked, and nothing was spent."),
        failed => format!("{all} {noun}: {} ready, {failed} failed.", all - failed),
    }
}
