//! Discovery for people, most of all for somebody who sets the tool up for the first time.

use std::collections::BTreeMap;

use crate::sinks::{Cell, Redactor, Role, Sheet, Style};

use super::model::{Candidate, CandidateStatus, Discovery};

/// The columns of an engine's name and of a transport.
const ENGINE_WIDTH: usize = 13;
const TRANSPORT_WIDTH: usize = 12;

/// Returns the page of `reviewers discover`.
pub fn discovery_text(discovery: &Discovery, style: Style, redactor: &Redactor) -> String {
    let mut sheet = Sheet::new(style, redactor);
    sheet.heading("Reviewers on this machine");
    let is_ready = |it: &&Candidate| it.status == CandidateStatus::Available;
    let is_missing = |it: &&Candidate| it.status == CandidateStatus::MissingExecutable;
    let (ready, others): (Vec<_>, Vec<_>) = usable(discovery).partition(is_ready);
    let (missing, attention): (Vec<_>, Vec<_>) = others.into_iter().partition(is_missing);

    sheet.heading(&format!("Ready to use ({})", ready.len() + 1));
    ready
        .iter()
        .for_each(|it| entry(&mut sheet, it, Role::Success));
    row(
        &mut sheet,
        ("surface", "built in"),
        Role::Success,
        "Scans the change without a model; needs no account.",
    );
    for (title, role, members) in [
        ("Needs attention", Role::Warning, attention),
        ("Not installed", Role::Muted, missing),
    ] {
        if !members.is_empty() {
            sheet.heading(&format!("{title} ({})", members.len()));
            members.iter().for_each(|it| entry(&mut sheet, it, role));
        }
    }
    unsupported(&mut sheet, discovery);
    next_steps(&mut sheet, discovery, ready.first().copied());
    sheet.finish()
}

/// Returns the candidates that this version could use.
fn usable(discovery: &Discovery) -> impl Iterator<Item = &Candidate> {
    discovery.candidates.iter().filter(|it| it.built)
}

fn entry(sheet: &mut Sheet<'_>, candidate: &Candidate, role: Role) {
    let names = (candidate.engine.as_str(), candidate.transport.as_str());
    let detail = match &candidate.version {
        Some(version) => format!("Version {version}. {}", candidate.detail),
        None => candidate.detail.clone(),
    };
    row(sheet, names, role, &detail);
    for fix in &candidate.fix {
        sheet.sentence(2 + ENGINE_WIDTH + TRANSPORT_WIDTH, &format!("-> {fix}"));
    }
}

fn row(sheet: &mut Sheet<'_>, (engine, transport): (&str, &str), role: Role, sentence: &str) {
    let cells = [
        Cell {
            text: engine,
            width: ENGINE_WIDTH,
            role: Some(role),
        },
        Cell {
            text: transport,
            width: TRANSPORT_WIDTH,
            role: None,
        },
    ];
    sheet.entry(2, &cells, sentence);
}

/// Names what this version cannot use, so that nobody installs it in vain.
fn unsupported(sheet: &mut Sheet<'_>, discovery: &Discovery) {
    let mut engines: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for candidate in discovery.candidates.iter().filter(|it| !it.built) {
        let transports = engines.entry(candidate.engine.as_str()).or_default();
        transports.push(candidate.transport.as_str());
    }
    if engines.is_empty() {
        return;
    }
    sheet.heading("Not supported by this version of diffwarden yet");
    let named = engines.iter_mut().map(|(engine, transports)| {
        transports.sort_unstable();
        format!("{engine} ({})", transports.join(", "))
    });
    sheet.sentence(2, &named.collect::<Vec<_>>().join("; "));
}

fn next_steps(sheet: &mut Sheet<'_>, discovery: &Discovery, ready: Option<&Candidate>) {
    sheet.heading("Next");
    if !discovery.deep {
        sheet.sentence(
            2,
            "Only files and variables were looked at; nothing was run. To ask the executables \
             themselves: diffwarden reviewers discover --deep",
        );
    }
    match ready.and_then(|it| it.recommended.as_ref()) {
        Some(entry) => {
            sheet.sentence(2, "To keep a reviewer in your config:");
            let transport = entry.transport.map_or_else(String::new, |transport| {
                format!(" --transport {} --id {}", transport.as_str(), entry.id)
            });
            let command = format!("diffwarden reviewers add {}{transport}", entry.engine);
            sheet.sentence(4, &command);
        }
        None => {
            sheet.sentence(
                2,
                "Without any of them, the built-in scans review all the same:",
            );
            sheet.sentence(4, "diffwarden review --reviewer surface");
        }
    }
}
