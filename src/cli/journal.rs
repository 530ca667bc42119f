//! The report of a review: what the command line knows about it.

use diffwarden_actors::model::Failure;
use diffwarden_actors::sink::RunOutcome;

use super::args::ReviewArgs;
use crate::config::{LoadedConfig, Overrides};
use crate::env::Environment;
use crate::plan::Setting;
use crate::report::{
    ConfigReport, Invocation, ReportFacts, ReportFlags, Reporting, ReviewerSelection,
};
use crate::sinks::{OutputMode, Redactor};

/// The report that a run will write.
#[derive(Debug)]
pub(super) struct Journal {
    reporting: Reporting,
    facts: ReportFacts,
}

impl Journal {
    /// Decides whether the run writes a report. `None` when it does not.
    pub(super) fn prepare(
        args: &ReviewArgs,
        setting: &Setting,
        env: &Environment,
    ) -> Result<Option<Self>, Failure> {
        let typed = &args.reporting;
        let flags = ReportFlags {
            // `--no-report` wins over everything.
            enabled: match (typed.no_report, typed.report) {
                (true, _) => Some(false),
                (false, true) => Some(true),
                (false, false) => None,
            },
            dir: typed.report_dir.clone(),
            scope: typed.report_scope,
            mode: typed.report_mode,
        };
        let config = setting.config.as_ref();
        let places = (setting.cwd.as_path(), setting.repo_root.as_path());
        let Some(reporting) = Reporting::resolve(&flags, config, places, env)? else {
            return Ok(None);
        };
        reporting.check()?;
        let facts = ReportFacts {
            invocation: invocation(args),
            config: config.map(|loaded| ConfigReport {
                path: loaded.path.to_string_lossy().into_owned(),
                sha256: loaded.sha256.clone(),
            }),
            selection: selection(setting),
            storage: reporting.storage(),
        };
        Ok(Some(Self { reporting, facts }))
    }

    /// Writes the report of a run that has an artifact; of another there is none.
    pub(super) fn write(&self, outcome: &RunOutcome, redactor: &Redactor) -> Result<(), Failure> {
        match outcome {
            RunOutcome::Finished(artifact) => self
                .reporting
                .write(&self.facts, artifact, redactor)
                .map(drop),
            RunOutcome::Failed(_) => Ok(()),
        }
    }
}

fn invocation(args: &ReviewArgs) -> Invocation<'static> {
    let mode = match args.output.mode() {
        OutputMode::Human => "human",
        OutputMode::Agent => "agent",
        OutputMode::Json => "json",
        OutputMode::Ndjson => "ndjson",
    };
    Invocation {
        target: args.target.clone(),
        reviewers: args.reviewers.clone(),
        reviewer_set: args.reviewer_set.clone(),
        model: args.model.clone(),
        effort: args.effort.clone(),
        timeout_seconds: args
            .timeout
            .as_deref()
            .and_then(|text| text.trim().parse().ok()),
        strict: args.strict,
        fail_on_findings: args.fail_on_findings.clone(),
        format: mode,
        output_mode: mode,
        ..Invocation::default()
    }
}

/// Says who was asked for: by flags, else by variables, else by the config's default set.
fn selection(setting: &Setting) -> ReviewerSelection {
    let config = setting.config.as_ref();
    let Overrides {
        requested,
        environment,
        ..
    } = &setting.overrides;
    let asked = if requested.is_empty() {
        environment
    } else {
        requested
    };
    let set = match (asked.is_empty(), &asked.set) {
        (false, set) => set.clone(),
        (true, _) => config.map(|loaded| loaded.config.default_set_name().to_owned()),
    };
    let members = set.as_deref().and_then(|name| members(config, name));
    ReviewerSelection {
        reviewer_set: set,
        requested_reviewers: members.unwrap_or_else(|| asked.reviewers.clone()),
        resolved_reviewers: setting.reviewers.iter().map(|id| id.0.clone()).collect(),
    }
}

fn members(config: Option<&LoadedConfig>, name: &str) -> Option<Vec<String>> {
    let set = config?.config.set(name)?;
    Some(set.members.clone())
}
