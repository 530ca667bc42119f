//! What is learned about an executable before a review, without spending a token.
//!
//! A conversation with the server is not part of it: the server drops what it was asked when its
//! input ends, and a probe has no other way to end. The list of models is printed by a command of
//! its own, from the catalog that the executable carries.

use std::collections::BTreeSet;

use diffwarden_actors::engine::{
    Capabilities, Captured, CommandSpec, ExitKind, Place, PreflightPass,
};
use diffwarden_actors::model::{CheckStatus, Failure, PreflightCheck, PreflightReport};
use serde_json::Value;

use super::PROGRAM;
use super::options::ServerOptions;
use crate::engines::codex::command;
use crate::engines::codex::home::CodexHome;
use crate::engines::codex::sandbox::{self, Evidence};
use crate::engines::executable::Resolved;
use crate::engines::shared::{self, check};

/// Options of `codex app-server` without which there is no review.
const REQUIRED_FLAGS: [&str; 2] = ["--config", "--listen"];

/// What is known of the user's side before anything runs.
#[derive(Debug)]
pub(super) struct Known {
    /// The reviewer's choices.
    pub(super) options: ServerOptions,
    /// The executable.
    pub(super) executable: Resolved,
    /// Whether there are credentials in a file.
    pub(super) has_credentials: bool,
    /// Whether the user's configuration talks to a model service of its own, which has its own
    /// credentials and its own models.
    pub(super) has_provider: bool,
}

impl Known {
    /// Puts together what preflight needs.
    ///
    /// # Errors
    ///
    /// Fails when the user's Codex configuration cannot be read.
    pub(super) fn new(
        options: &ServerOptions,
        executable: Resolved,
        home: &CodexHome,
    ) -> Result<Self, Failure> {
        let config = home.config()?;
        let names = ["model_provider", "openai_base_url"];
        Ok(Self {
            options: options.clone(),
            executable,
            has_credentials: home.credentials().is_some() || home.unreachable_store(),
            has_provider: names.iter().any(|name| config.contains_key(*name)),
        })
    }

    /// Returns the commands to run: the version, the help of `codex app-server`, the trial of the
    /// sandbox, and the models when there is one to look up.
    ///
    /// They run in the private folder with that folder as their home, so that asking leaves no
    /// trace in the user's home and depends on nothing in the repository.
    pub(super) fn probes(&self, place: &Place) -> Vec<CommandSpec> {
        let ask = |args: &[&str]| command::probe(&self.executable, place, args);
        let mut probes = vec![ask(&["--version"]), ask(&["app-server", "--help"])];
        probes.extend(sandbox::probes(&self.executable, place));
        if self.is_looked_up() {
            probes.push(ask(&["debug", "models", "--bundled"]));
        }
        probes
    }

    fn is_looked_up(&self) -> bool {
        self.options.common.choices.model.is_some() && !self.has_provider
    }

    /// Judges what the probes printed.
    ///
    /// # Errors
    ///
    /// Fails when the executable does not start or is too old. An unreadable answer is only a
    /// reservation: Codex itself refuses what it does not know, before anything runs.
    pub(super) fn judge(&self, captured: &[Captured]) -> Result<PreflightPass, Failure> {
        let mut probes = captured.iter();
        let version = probes
            .next()
            .and_then(|version| shared::version(version, "codex-cli ", ""));
        let help = probes
            .next()
            .and_then(|help| shared::readable_help(help, "Usage:"));
        if version.is_none()
            && help.is_none()
            && let Some(first) = captured.first()
            && first.exit != ExitKind::Code(0)
        {
            return Err(PROGRAM.does_not_start(&self.executable, first));
        }
        let flags = help.map(shared::long_options).unwrap_or_default();
        if help.is_some() {
            PROGRAM.require_flags(version.as_deref(), &REQUIRED_FLAGS, &flags)?;
        }
        let evidence = match (probes.next(), probes.next()) {
            (Some(help), Some(trial)) => Evidence::judge(help, trial)?,
            _ => Evidence::Bench,
        };
        let models = probes.next().and_then(models);
        let choices = &self.options.common.choices;
        let mut metadata = choices.transport_metadata(&self.executable);
        metadata.append(&mut evidence.metadata());
        metadata.append(&mut self.options.metadata());
        if let Some(version) = &version {
            metadata.insert("version".to_owned(), version.as_str().into());
        }
        let mut checks = self.checks(models.as_ref(), evidence);
        let unread = [
            (
                version.is_some(),
                "version",
                "The executable did not tell its version.",
            ),
            (
                help.is_some(),
                "options",
                "The help of `codex app-server` could not be read; only options every Codex has \
                 are used.",
            ),
        ];
        for (is_read, name, detail) in unread {
            if !is_read {
                checks.push(check(name, CheckStatus::Warning, detail));
            }
        }
        let mut capabilities = Capabilities { version, flags };
        evidence.note(&mut capabilities);
        Ok(PreflightPass {
            report: PreflightReport { checks, metadata },
            capabilities,
        })
    }

    fn checks(&self, models: Option<&BTreeSet<String>>, evidence: Evidence) -> Vec<PreflightCheck> {
        vec![
            shared::found(&self.executable),
            check("readonly", CheckStatus::Passed, evidence.detail()),
            self.auth_check(),
            self.model_check(models),
            self.options.common.choices.effort_check(),
        ]
    }

    fn auth_check(&self) -> PreflightCheck {
        if self.has_credentials || self.has_provider {
            return check("auth", CheckStatus::Skipped, "Left to the executable.");
        }
        check(
            "auth",
            CheckStatus::Warning,
            "Codex has no auth.json, and its app server does not read CODEX_API_KEY; run `codex \
             login`.",
        )
    }

    /// A name that the catalog lacks is only a reservation, because Codex sends it on and the
    /// model service decides.
    fn model_check(&self, models: Option<&BTreeSet<String>>) -> PreflightCheck {
        let Some(model) = self.options.common.choices.model_argument() else {
            return check(
                "model",
                CheckStatus::Skipped,
                "Nobody asked for a special model.",
            );
        };
        match models {
            Some(models) if !models.contains(&model) => check(
                "model",
                CheckStatus::Warning,
                format!(
                    "Codex is asked for model {model}, which is not in its catalog ({}).",
                    listed(models)
                ),
            ),
            _ => check(
                "model",
                CheckStatus::Passed,
                format!("Codex is asked for model {model}."),
            ),
        }
    }
}

fn listed(models: &BTreeSet<String>) -> String {
    let names: Vec<_> = models.iter().map(String::as_str).collect();
    shared::one_line(&names.join(", "))
}

/// Reads the catalog; `None` when it is none.
fn models(captured: &Captured) -> Option<BTreeSet<String>> {
    let catalog: Value = serde_json::from_str(&captured.stdout).ok()?;
    let models = catalog.get("models")?.as_array()?;
    let names = models
        .iter()
        .filter_map(|model| model.get("slug")?.as_str());
    let names: BTreeSet<_> = names.map(str::to_owned).collect();
    (captured.exit == ExitKind::Code(0) && !names.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::super::options::tests::options;
    use super::*;
    use crate::engines::executable::Source;
    use crate::engines::settings::{Chosen, Origin};
    use diffwarden_actors::model::ErrorCode;
    use proptest::prelude::*;
    use serde_json::json;

    const HELP: &str = include_str!("../../../../fixtures/codex/app-server/help.txt");

    fn known(model: Option<&str>) -> Known {
        let mut options = options(&json!({"reviewMode": "native"}));
        options.common.choices.model = model.map(|model| Chosen {
            value: model.to_owned(),
            origin: Origin::Config,
        });
        Known {
            options,
            executable: Resolved {
                path: "/bin/codex".into(),
                requested: "codex".into(),
                source: Source::AdapterDefault,
            },
            has_credentials: true,
            has_provider: false,
        }
    }

    fn printed(code: i32, stdout: &str) -> Captured {
        Captured {
            exit: ExitKind::Code(code),
            stdout: stdout.to_owned(),
            stderr: String::new(),
            outputs: Vec::new(),
        }
    }

    fn found(pass: &PreflightPass, name: &str) -> (CheckStatus, String) {
        let mut checks = pass.report.checks.iter();
        let found = checks.find(|check| check.name == name).unwrap();
        (found.status, found.detail.clone())
    }

    #[test]
    fn the_real_help_passes() {
        let captured = [printed(0, "codex-cli 0.171.0\n"), printed(0, HELP)];
        let pass = known(None).judge(&captured).unwrap();
        assert!(pass.capabilities.flags.contains("--strict-config"));
        insta::assert_json_snapshot!(pass.report);
    }

    #[test]
    fn a_codex_without_an_app_server_is_too_old() {
        let help = "Usage: codex [OPTIONS]\n  --config\n";
        let captured = [printed(0, "codex-cli 0.20.1"), printed(0, help)];
        let failure = known(None).judge(&captured).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        assert!(failure.message.contains("--listen"), "{failure}");
        let broken = [printed(127, ""), printed(127, "")];
        let failure = known(None).judge(&broken).unwrap_err();
        assert!(failure.message.contains("exit code 127"), "{failure}");
    }

    #[test]
    fn a_model_outside_the_catalog_is_a_reservation() {
        let catalog = json!({"models": [{"slug": "gpt-5.5"}, {"slug": "b"}, {}]}).to_string();
        for (model, listing, expected) in [
            ("gpt-5.5", printed(0, &catalog), CheckStatus::Passed),
            ("gpt-4", printed(0, &catalog), CheckStatus::Warning),
            ("gpt-4", printed(1, &catalog), CheckStatus::Passed),
            ("gpt-4", printed(0, "noise"), CheckStatus::Passed),
            ("gpt-4", printed(0, "{\"models\":[]}"), CheckStatus::Passed),
        ] {
            let known = known(Some(model));
            let captured = [
                printed(0, "codex-cli 0.171.0"),
                printed(0, HELP),
                printed(0, ""),
                printed(0, "refused"),
                listing,
            ];
            let (status, detail) = found(&known.judge(&captured).unwrap(), "model");
            assert_eq!(status, expected, "{detail}");
            assert_eq!(
                detail.contains("gpt-5.5, ") || detail.contains("b, "),
                expected == CheckStatus::Warning
            );
        }
    }

    #[test]
    fn models_are_only_looked_up_where_the_catalog_knows_them() {
        let place = Place {
            repo_root: "/repo".into(),
            run_dir: "/run/review".into(),
        };
        let mut elsewhere = known(Some("m"));
        elsewhere.has_provider = true;
        for (known, count) in [(known(None), 4), (known(Some("m")), 5), (elsewhere, 4)] {
            let probes = known.probes(&place);
            assert_eq!(probes.len(), count);
            for probe in probes {
                assert_eq!(probe.cwd, place.run_dir);
                let home = ("CODEX_HOME".into(), Some("/run/review".into()));
                assert!(probe.env.contains(&home));
                assert!(probe.keep_stdout);
            }
        }
    }

    #[test]
    fn missing_credentials_are_a_reservation() {
        let captured = || [printed(0, "codex-cli 0.171.0"), printed(0, HELP)];
        for (has_credentials, has_provider, expected) in [
            (true, false, CheckStatus::Skipped),
            (false, true, CheckStatus::Skipped),
            (false, false, CheckStatus::Warning),
        ] {
            let known = Known {
                has_credentials,
                has_provider,
                ..known(None)
            };
            let pass = known.judge(&captured()).unwrap();
            assert_eq!(found(&pass, "auth").0, expected);
        }
    }

    proptest! {
        #[test]
        fn any_output_is_judged(
            out in ".{0,99}", help in "(Usage: )?.{0,99}", models in "[{}\\[\\]\":a-z]{0,60}", code in -1..3,
        ) {
            let captured = [printed(code, &out), printed(code, &help), printed(code, &models)];
            if let Err(failure) = known(Some("m")).judge(&captured) {
                prop_assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
            }
        }
    }
}
