//! What is learned about an executable before a conversation: its version, its help and what it
//! tells of itself.

use diffwarden_actors::engine::{Captured, PreflightPass};
use diffwarden_actors::model::{CheckStatus, Failure, PreflightCheck};
use serde_json::Value;

use super::catalog::{Account, Catalog, Model};
use super::choice;
use crate::engines::capabilities::NativeEffort;
use crate::engines::claude::environment::Surroundings;
use crate::engines::claude::features::Features;
use crate::engines::claude::options::{AuthMode, Options};
use crate::engines::claude::{PROGRAM, preflight};
use crate::engines::executable::Resolved;
use crate::engines::settings::Chosen;
use crate::engines::shared::{self, Kind, check};

/// What this transport needs beyond the policy of a review.
const REQUIRED: [&str; 1] = ["--input-format"];

/// How many levels of effort the metadata name.
const MAX_LEVELS: usize = 10;

/// Judges what the probes printed: the version, the help and the catalog.
///
/// # Errors
///
/// Fails when the executable is not fit, when it finds no credentials, or when a choice of the
/// reviewer's cannot be had.
pub(super) fn judge(
    options: &Options,
    executable: &Resolved,
    surroundings: &Surroundings,
    captured: &[Captured],
) -> Result<PreflightPass, Failure> {
    let mut capabilities = preflight::inspect(executable, captured)?;
    preflight::require(options, surroundings, &capabilities, &REQUIRED)?;
    let last = captured.last();
    let catalog = last.and_then(Catalog::read).ok_or_else(|| mute(last))?;
    if catalog.account == Account::Missing {
        return Err(logged_out(options.auth_mode));
    }
    let is_direct = surroundings.is_direct();
    let model = choice::model(&catalog, is_direct, options.choices.model.as_ref())?;
    let fallback = options.fallback_model.as_ref();
    let takes_fallback = choice::fallback(&catalog, is_direct, fallback)?;
    let effort = choice::effort(options, model)?;
    let features = Features::of(&capabilities);
    choice::settle(
        &mut capabilities.flags,
        effort.filter(|_| features.effort),
        takes_fallback,
    );
    let mut pass = preflight::pass(options, executable, capabilities);
    let checks = &mut pass.report.checks;
    if features.is_fit_for_login() {
        replace(checks, auth_check(&catalog.account));
    }
    if let Some(chosen) = &options.choices.model {
        replace(checks, model_check("model", chosen, model));
    }
    if let Some(chosen) = fallback.filter(|_| takes_fallback && features.fallback_model) {
        let listed = catalog.find(&chosen.value);
        checks.push(model_check("fallback-model", chosen, listed));
    }
    if let Some(checked) = effort_check(options, effort).filter(|_| features.effort) {
        replace(checks, checked);
    }
    let metadata = &mut pass.report.metadata;
    let settled = effort.filter(|_| features.effort);
    choice::describe(options, &features, settled, metadata);
    if let Account::Found(source) = &catalog.account {
        metadata.insert("authSource".to_owned(), source.as_str().into());
    }
    if let Some(model) = model {
        show_model(model, metadata);
    }
    Ok(pass)
}

fn show_model(model: &Model, metadata: &mut serde_json::Map<String, Value>) {
    if let Some(resolved) = &model.resolved {
        let resolved = shared::cut(&shared::one_line(resolved), 200);
        metadata.insert("catalogModel".to_owned(), resolved.into());
    }
    if let Some(levels) = &model.levels {
        let levels = levels.iter().take(MAX_LEVELS);
        let levels: Vec<Value> = levels.map(|level| shared::cut(level, 40).into()).collect();
        metadata.insert("supportedEffortLevels".to_owned(), levels.into());
    }
}

/// Puts a check in the place of the one with its name.
fn replace(checks: &mut [PreflightCheck], better: PreflightCheck) {
    if let Some(place) = checks.iter_mut().find(|check| check.name == better.name) {
        *place = better;
    }
}

fn auth_check(account: &Account) -> PreflightCheck {
    match account {
        Account::Found(source) => check(
            "auth",
            CheckStatus::Passed,
            format!("Claude found credentials ({source})."),
        ),
        Account::Missing | Account::Unknown => check(
            "auth",
            CheckStatus::Skipped,
            "Claude does not tell whose credentials it has.",
        ),
    }
}

fn model_check(name: &str, chosen: &Chosen<String>, listed: Option<&Model>) -> PreflightCheck {
    let asked = &chosen.value;
    match listed {
        Some(model) => {
            let stands_for = model.resolved.as_deref().unwrap_or(asked);
            let stands_for = shared::cut(&shared::one_line(stands_for), 200);
            let detail = format!("Claude lists {asked} ({stands_for}).");
            check(name, CheckStatus::Passed, detail)
        }
        None => check(
            name,
            CheckStatus::Warning,
            format!("Claude does not list {asked}; whether it exists shows in the review."),
        ),
    }
}

fn effort_check(options: &Options, effort: Option<&str>) -> Option<PreflightCheck> {
    let NativeEffort::Word(asked) = options.choices.mapped_effort()? else {
        return None;
    };
    Some(match effort {
        Some(effort) if effort == asked => check(
            "effort",
            CheckStatus::Passed,
            format!("Claude is asked for the effort {effort}."),
        ),
        Some(effort) => check(
            "effort",
            CheckStatus::Warning,
            format!("The model has no {asked}; Claude is asked for the effort {effort}."),
        ),
        None => check(
            "effort",
            CheckStatus::Warning,
            format!("The model does not take the default effort {asked}, so none is asked for."),
        ),
    })
}

/// Returns the failure of a Claude that is not in the conversation.
fn mute(captured: Option<&Captured>) -> Failure {
    let said = captured.map(|captured| &*captured.stderr);
    Kind::environment(
        "this Claude does not answer in its control protocol",
        "update Claude Code, or use this reviewer with the transport cli",
    )
    .into_failure(said.unwrap_or_default())
}

fn logged_out(mode: AuthMode) -> Failure {
    let (problem, hint) = match mode {
        AuthMode::ClaudeCode => (
            "Claude Code is not logged in, and the reviewer asks for its login \
             (sdkOptions.authMode)",
            "run `claude` and log in with /login, or use the authMode auto",
        ),
        AuthMode::Auto | AuthMode::ApiKey => ("Claude has no credentials", PROGRAM.login),
    };
    Kind::auth(problem, hint).into_failure("")
}

#[cfg(test)]
mod tests {
    use super::super::catalog::tests::{printed, told};
    use super::*;
    use crate::engines::claude::options::tests::{chosen, settings};
    use crate::engines::settings::{Effort, Origin, ReviewerSettings};
    use crate::engines::shared::testing::resolved;
    use crate::env::Environment;
    use diffwarden_actors::engine::ExitKind;
    use diffwarden_actors::model::{ErrorCode, Transport};
    use serde_json::json;

    const HELP: &str = include_str!("../../../../fixtures/claude/help.txt");
    const CATALOG: &str = include_str!("../../../../fixtures/claude/sdk/catalog.stdout");
    const KEY: [(&str, &str); 1] = [("ANTHROPIC_API_KEY", "k")];

    fn judged(
        env: &[(&str, &str)],
        help: &str,
        catalog: Captured,
        change: impl FnOnce(&mut ReviewerSettings),
    ) -> Result<PreflightPass, Failure> {
        let mut settings = settings();
        settings.transport = Some(Transport::Native);
        change(&mut settings);
        let options = Options::from_settings(&settings).unwrap();
        let env = Environment::from_iter(env.iter().copied());
        let surroundings = Surroundings::read(&options, None, &env);
        let captured = [printed("2.1.332 (Claude Code)\n"), printed(help), catalog];
        judge(&options, &resolved("claude"), &surroundings, &captured)
    }

    /// Judges one model, which a reviewer asks for by its name `sonnet`.
    fn with_model(
        mut model: Value,
        change: impl FnOnce(&mut ReviewerSettings),
    ) -> Result<PreflightPass, Failure> {
        model["value"] = "sonnet".into();
        judged(
            &KEY,
            HELP,
            told(&json!([model]), &json!({"apiKeySource": "K"})),
            change,
        )
    }

    fn asking(effort: Effort, origin: Origin) -> impl FnOnce(&mut ReviewerSettings) {
        move |settings| {
            settings.effort = Some(Chosen {
                value: effort,
                origin,
            });
        }
    }

    fn statuses(pass: &PreflightPass) -> Vec<(&str, CheckStatus)> {
        let checks = pass.report.checks.iter();
        checks
            .map(|check| (check.name.as_str(), check.status))
            .collect()
    }

    #[test]
    fn the_real_claude_passes_and_tells_what_is_known() {
        let pass = judged(&KEY, HELP, printed(CATALOG), |_| ()).unwrap();
        insta::assert_json_snapshot!(pass.report);
        let known = &pass.capabilities.flags;
        assert_eq!(choice::settled_effort(known), Some("high"));
        // Sonnet has no fallback, so there is nothing to pass.
        assert!(!known.contains("--fallback-model"));
    }

    #[test]
    fn a_claude_that_does_not_converse_is_unfit() {
        let silent = Captured {
            exit: ExitKind::Code(1),
            stderr: "error: unknown option '--input-format'".to_owned(),
            ..printed("")
        };
        let failure = judged(&KEY, HELP, silent, |_| ()).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ReviewerEnvironmentFailed);
        assert!(failure.message.contains("unknown option"), "{failure}");
        let old = HELP.replace("--input-format", "--other");
        let failure = judged(&KEY, &old, printed(CATALOG), |_| ()).unwrap_err();
        assert!(failure.message.contains("--input-format"), "{failure}");
    }

    #[test]
    fn nobody_logged_in_fails_and_silence_about_it_does_not() {
        let nobody = json!({"tokenSource": "none", "apiProvider": "firstParty"});
        let failure = judged(&[], HELP, told(&json!([]), &nobody), |_| ()).unwrap_err();
        assert_eq!(failure.code, ErrorCode::MissingAuth);
        let pass = judged(&[], HELP, told(&json!([]), &json!({})), |_| ()).unwrap();
        assert!(statuses(&pass).contains(&("auth", CheckStatus::Skipped)));
    }

    #[test]
    fn an_old_claude_is_used_with_a_key_and_not_with_a_login() {
        let old = HELP.replace("--no-session-persistence", "--other");
        let mode = |mode: &'static str| {
            move |settings: &mut ReviewerSettings| {
                let mode = ("authMode".to_owned(), mode.into());
                settings.options.sdk.extend([mode]);
            }
        };
        for (auth_mode, env, is_fit) in [
            ("auto", &KEY[..], true),
            ("api-key", &KEY[..], true),
            ("auto", &[], false),
            ("claude-code", &[], false),
            ("claude-code", &KEY[..], false),
            ("claude-code", &[("CLAUDE_CODE_OAUTH_TOKEN", "t")], false),
        ] {
            match judged(env, &old, printed(CATALOG), mode(auth_mode)) {
                Ok(pass) => {
                    assert!(is_fit, "{auth_mode} {env:?}");
                    assert!(statuses(&pass).contains(&("auth", CheckStatus::Warning)));
                    assert_eq!(pass.report.metadata["authFallback"], "environment");
                }
                Err(failure) => {
                    assert!(!is_fit, "{auth_mode} {env:?}: {failure}");
                    assert_eq!(failure.exit_code(), 3);
                    assert!(failure.message.contains("--no-session-persistence"));
                }
            }
        }
    }

    #[test]
    fn the_two_highest_levels_stand_in_for_each_other() {
        for (levels, asked, resolved) in [
            (json!(["high", "max"]), Effort::Xhigh, "max"),
            (json!(["high", "xhigh"]), Effort::Max, "xhigh"),
            (json!(["xhigh", "max"]), Effort::Max, "max"),
            (json!(["low"]), Effort::Minimal, "low"),
        ] {
            let model = json!({"supportsEffort": true, "supportedEffortLevels": levels});
            let pass = with_model(model, asking(asked, Origin::Flag)).unwrap();
            let metadata = &pass.report.metadata;
            assert_eq!(metadata["requestedEffort"], asked.as_str());
            assert_eq!(metadata["resolvedEffort"], resolved, "{asked}");
            let settled = choice::settled_effort(&pass.capabilities.flags);
            assert_eq!(settled, Some(resolved));
        }
    }

    #[test]
    fn a_default_effort_gives_way_and_a_chosen_one_is_refused() {
        for model in [
            json!({"supportsEffort": false}),
            json!({"supportsEffort": true, "supportedEffortLevels": ["low"]}),
        ] {
            let by_default = asking(Effort::High, Origin::Default);
            let pass = with_model(model.clone(), by_default).unwrap();
            let metadata = &pass.report.metadata;
            assert_eq!(metadata["effortDropped"], "model-unsupported");
            assert!(!metadata.contains_key("resolvedEffort"));
            assert_eq!(choice::settled_effort(&pass.capabilities.flags), None);
            assert!(statuses(&pass).contains(&("effort", CheckStatus::Warning)));
            for effort in [Effort::High, Effort::Max] {
                for origin in [Origin::Flag, Origin::Environment, Origin::Config] {
                    let failure = with_model(model.clone(), asking(effort, origin)).unwrap_err();
                    assert_eq!(failure.code, ErrorCode::InvalidEffort);
                    assert!(failure.message.contains(effort.as_str()), "{failure}");
                }
            }
        }
    }

    #[test]
    fn thinking_is_switched_off_only_where_that_can_be() {
        let off = || asking(Effort::Off, Origin::Flag);
        let failure = with_model(json!({"supportsThinkingOff": false}), off()).unwrap_err();
        assert_eq!(failure.code, ErrorCode::InvalidEffort);
        assert!(failure.message.contains("always thinks"), "{failure}");
        for model in [json!({"supportsThinkingOff": true}), json!({})] {
            let pass = with_model(model, off()).unwrap();
            assert_eq!(pass.report.metadata["resolvedEffort"], "thinking-disabled");
        }
    }

    #[test]
    fn a_model_is_refused_only_by_a_complete_list() {
        let model = |name: &'static str| {
            move |settings: &mut ReviewerSettings| {
                settings.model = Some(chosen(name, Origin::Flag));
            }
        };
        let gateway = [KEY[0], ("ANTHROPIC_BASE_URL", "http://gateway.example")];
        let failure = judged(&KEY, HELP, printed(CATALOG), model("gpt-5")).unwrap_err();
        assert_eq!(failure.code, ErrorCode::InvalidModel);
        assert!(failure.hint.unwrap().contains("sonnet"));
        for (env, name, status) in [
            (&gateway[..], "gpt-5", CheckStatus::Warning),
            (&KEY[..], "claude-sonnet-4-20250514", CheckStatus::Warning),
            (&KEY[..], "claude-opus-5-5", CheckStatus::Passed),
        ] {
            let pass = judged(env, HELP, printed(CATALOG), model(name)).unwrap();
            assert!(statuses(&pass).contains(&("model", status)), "{name}");
        }
    }

    #[test]
    fn a_fallback_is_checked_like_a_model_and_a_default_one_only_kept_when_listed() {
        let asked = |name: &'static str| {
            move |settings: &mut ReviewerSettings| {
                settings.fallback_model = Some(chosen(name, Origin::Config));
            }
        };
        let failure = judged(&KEY, HELP, printed(CATALOG), asked("gpt-5")).unwrap_err();
        assert_eq!(failure.code, ErrorCode::InvalidModel);
        let pass = judged(&KEY, HELP, printed(CATALOG), asked("haiku")).unwrap();
        assert!(statuses(&pass).contains(&("fallback-model", CheckStatus::Passed)));
        let opus = |settings: &mut ReviewerSettings| {
            settings.model = Some(chosen("opus", Origin::Flag));
        };
        let pass = judged(&KEY, HELP, printed(CATALOG), opus).unwrap();
        let source = &pass.report.metadata["fallbackModelSource"];
        assert_eq!(source, "diffwarden-default");
        let without = told(&json!([{"value": "opus"}]), &json!({"apiKeySource": "K"}));
        let pass = judged(&KEY, HELP, without, opus).unwrap();
        assert!(!pass.report.metadata.contains_key("fallbackModel"));
        assert!(!pass.capabilities.flags.contains("--fallback-model"));
    }
}
