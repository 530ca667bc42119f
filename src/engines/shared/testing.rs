//! What the tests of the engines have in common.

use std::sync::Arc;

use diffwarden_actors::engine::{
    Capabilities, Captured, ExitKind, Place, RepairRequest, ReviewRequest,
};
use diffwarden_actors::model::{
    CheckStatus, Coverage, EngineName, Patch, PreflightReport, ReviewTarget, ReviewerId,
    TargetKind, Transport,
};
use diffwarden_actors::prompt::Prompt;

use super::Program;
use crate::engines::executable::{Resolved, Source};
use crate::engines::settings::{Chosen, EngineOptions, Origin, ReviewerSettings};

/// A program that does not exist.
pub(in crate::engines) const PROGRAM: Program = Program {
    title: "Agent",
    name: "agent",
    command: "agent run",
    login: "run `agent login`",
    install: "install agent",
};

/// Returns a value that somebody asked for on the command line.
pub(in crate::engines) fn asked<T>(value: T) -> Chosen<T> {
    Chosen {
        value,
        origin: Origin::Flag,
    }
}

/// Returns the settings of a reviewer over `cli` for whom nothing was chosen.
pub(in crate::engines) fn settings(engine: EngineName) -> ReviewerSettings {
    ReviewerSettings {
        id: ReviewerId(engine.as_str().to_owned()),
        engine,
        transport: Some(Transport::Cli),
        profile: None,
        provider: None,
        model: None,
        effort: None,
        fallback_model: None,
        max_turns: None,
        max_budget_usd: None,
        timeout: None,
        options: EngineOptions::default(),
    }
}

/// Returns an executable in `/bin` that nobody asked for by name.
pub(in crate::engines) fn resolved(name: &str) -> Resolved {
    Resolved {
        path: format!("/bin/{name}").into(),
        requested: name.to_owned(),
        source: Source::AdapterDefault,
    }
}

/// Returns what a process left behind.
pub(in crate::engines) fn printed(exit: ExitKind, stdout: &str, stderr: &str) -> Captured {
    Captured {
        exit,
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
        outputs: Vec::new(),
    }
}

/// Returns where the processes of a test would run.
pub(in crate::engines) fn place() -> Place {
    Place {
        repo_root: "/repo".into(),
        run_dir: "/run/review".into(),
    }
}

/// Returns a review of nothing by an executable with these options.
pub(in crate::engines) fn request(user: &str, flags: &[&str]) -> ReviewRequest {
    ReviewRequest {
        place: place(),
        capabilities: Capabilities {
            version: None,
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
        },
        prompt: Arc::new(Prompt {
            system: None,
            user: user.into(),
            coverage: Coverage::default(),
        }),
        target: Arc::new(ReviewTarget {
            kind: TargetKind::Uncommitted,
            repo_root: "/repo".into(),
            base_ref: None,
            base_sha: None,
            head_sha: None,
            commit_sha: None,
            instructions: None,
            diff_command: String::new(),
            changed_files: Vec::new(),
        }),
        patch: Arc::new(Patch::default()),
    }
}

/// Returns a repair by an executable with these options.
pub(in crate::engines) fn repair_request(prompt: &str, flags: &[&str]) -> RepairRequest {
    let ReviewRequest {
        place,
        capabilities,
        ..
    } = request("", flags);
    RepairRequest {
        place,
        capabilities,
        prompt: prompt.into(),
        schema: diffwarden_actors::answer::repair_schema(),
    }
}

/// Returns the names of the checks with a reservation.
pub(in crate::engines) fn warnings(report: &PreflightReport) -> Vec<&str> {
    let checks = report.checks.iter();
    checks
        .filter(|check| check.status == CheckStatus::Warning)
        .map(|check| check.name.as_str())
        .collect()
}
