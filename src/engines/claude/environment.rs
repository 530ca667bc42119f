//! What Claude's process inherits, and where its state lives.
//!
//! With credentials from the environment everything Claude writes goes into the run folder. Its own
//! login cannot be moved: it lies beside its settings and is rewritten in place.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use diffwarden_actors::model::{ErrorCode, Failure, Reason};

use super::options::{AuthMode, Options};
use crate::engines::capabilities::NativeEffort;
use crate::env::Environment;

/// One change to the inherited environment: a value sets, `None` removes.
type Change = (OsString, Option<OsString>);

/// Keys of the model service; Claude prefers them to its own login.
const KEYS: [&str; 2] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"];

/// What else makes Claude's own login needless.
const OTHER_CREDENTIALS: [&str; 3] = [
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
];

/// Switches off what is no part of a review: files that the prompt mentions with `@`, instructions
/// from files and from memory, and traffic to anything but the model service. Of the first two,
/// older versions (2.1.197) know only the second.
const SWITCHED_ON: [&str; 8] = [
    "CLAUDE_CODE_DISABLE_FILE_MENTIONS",
    "CLAUDE_CODE_DISABLE_ATTACHMENTS",
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY",
    "DISABLE_TELEMETRY",
    "DISABLE_ERROR_REPORTING",
    "DISABLE_AUTOUPDATER",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
];

/// Variables that would overrule the command line: the effort, the tools that are offered, the
/// limits of turns, output and attempts, and a wrapper that not every system has.
const DROPPED: [&str; 6] = [
    "CLAUDE_CODE_EFFORT_LEVEL",
    "CLAUDE_CODE_SIMPLE",
    "CLAUDE_CODE_MAX_TURNS",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS",
    "MAX_STRUCTURED_OUTPUT_RETRIES",
    "CLAUDE_CODE_SUBPROCESS_ENV_SCRUB",
];

/// Name the folders of what does not outlive a process.
const PASSING: [&str; 2] = ["TMPDIR", "XDG_RUNTIME_DIR"];

/// How many tokens a model may think; 0 switches thinking off where the model can do that.
const THINKING: &str = "MAX_THINKING_TOKENS";

/// How often Claude tries again.
const RETRIES: &str = "CLAUDE_CODE_MAX_RETRIES";

/// The seconds that Claude has waited before its first, second, ... retry (measured).
const WAITED: [u64; 10] = [1, 2, 5, 9, 19, 37, 69, 104, 137, 170];

/// The environment of one reviewer's processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Surroundings {
    /// Whether Claude's own login is not needed.
    has_credentials: bool,
    /// Whether a key is needed and missing.
    lacks_key: bool,
    /// Whether requests go to Anthropic itself, as far as the environment tells.
    is_direct: bool,
    changes: Vec<Change>,
}

impl Surroundings {
    /// Reads the inherited environment. `timeout` is the whole time the reviewer has.
    pub(super) fn read(options: &Options, timeout: Option<Duration>, env: &Environment) -> Self {
        let has = |name: &str| env.text(name).is_some();
        let has_key = KEYS.iter().any(|name| has(name));
        let is_own_login = options.auth_mode == AuthMode::ClaudeCode;
        let mut changes: Vec<Change> = Vec::new();
        changes.extend(SWITCHED_ON.map(|name| set(name, "1")));
        changes.extend(DROPPED.map(removed));
        if is_own_login {
            changes.extend(KEYS.map(removed));
        }
        let no_thinking = options.choices.mapped_effort() == Some(NativeEffort::ThinkingDisabled);
        changes.push(if no_thinking {
            set(THINKING, "0")
        } else {
            removed(THINKING)
        });
        if let (Some(timeout), false) = (timeout, has(RETRIES)) {
            changes.push(set(RETRIES, &retries_within(timeout).to_string()));
        }
        Self {
            has_credentials: (has_key && !is_own_login)
                || OTHER_CREDENTIALS.iter().any(|name| has(name)),
            is_direct: !has("ANTHROPIC_BASE_URL"),
            lacks_key: options.auth_mode == AuthMode::ApiKey && !has_key,
            changes,
        }
    }

    /// Checks what is known without asking Claude.
    ///
    /// # Errors
    ///
    /// Fails when the configuration asks for a key and the environment has none.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if !self.lacks_key {
            return Ok(());
        }
        Err(Failure::new(
            ErrorCode::MissingAuth,
            "the reviewer asks for an API key (sdkOptions.authMode), and neither ANTHROPIC_API_KEY \
             nor ANTHROPIC_AUTH_TOKEN is set",
        )
        .reason(Reason::Auth)
        .hint("set one of them, or use the authMode auto or claude-code"))
    }

    /// Whether all that Claude keeps lies in the run folder, and no part of it is the user's own.
    pub(super) fn is_private(&self) -> bool {
        self.has_credentials
    }

    /// Whether no gateway with models of its own stands between Claude and Anthropic.
    pub(super) fn is_direct(&self) -> bool {
        self.is_direct
    }

    /// Returns the changes for a process that lives in `run_dir`.
    pub(super) fn changes(&self, run_dir: &Path) -> Vec<Change> {
        let mut changes = self.changes.clone();
        // Claude leaves folders behind where temporary files and sockets go.
        for name in PASSING {
            changes.push((name.into(), Some(run_dir.into())));
        }
        if self.has_credentials {
            let home = run_dir.join("claude-home");
            changes.push(("CLAUDE_CONFIG_DIR".into(), Some(home.into())));
        }
        changes
    }
}

fn set(name: &str, value: &str) -> Change {
    (name.into(), Some(value.into()))
}

fn removed(name: &str) -> Change {
    (name.into(), None)
}

/// Returns how many retries leave half of the time to the review itself.
fn retries_within(timeout: Duration) -> usize {
    let half = timeout.as_secs() / 2;
    WAITED.iter().filter(|waited| **waited <= half).count()
}

#[cfg(test)]
mod tests {
    use super::super::options::tests::settings;
    use super::*;
    use crate::engines::settings::{Chosen, Effort, Origin};

    fn read(mode: &str, timeout: Option<u64>, env: &[(&str, &str)]) -> Surroundings {
        let mut settings = settings();
        let name = ("authMode".to_owned(), mode.into());
        settings.options.sdk.extend([name]);
        let options = Options::from_settings(&settings).unwrap();
        let env = Environment::from_iter(env.iter().copied());
        Surroundings::read(&options, timeout.map(Duration::from_secs), &env)
    }

    fn value(surroundings: &Surroundings, name: &str) -> Option<Option<String>> {
        let changes = surroundings.changes(Path::new("/run/review"));
        let mut values = changes.into_iter().filter(|(key, _)| key == name);
        let (_, value) = values.next()?;
        assert!(values.next().is_none(), "{name} is changed twice");
        Some(value.map(|value| value.into_string().unwrap()))
    }

    #[test]
    fn policy_switches_are_set_and_overrides_removed() {
        let surroundings = read("auto", None, &[]);
        for name in SWITCHED_ON {
            assert_eq!(value(&surroundings, name), Some(Some("1".to_owned())));
        }
        for name in DROPPED.into_iter().chain([THINKING]) {
            assert_eq!(value(&surroundings, name), Some(None), "{name}");
        }
        assert_eq!(value(&surroundings, RETRIES), None);
        for name in PASSING {
            let private = Some(Some("/run/review".to_owned()));
            assert_eq!(value(&surroundings, name), private);
        }
    }

    #[test]
    fn state_is_private_unless_the_login_lies_beside_it() {
        let private = Some(Some("/run/review/claude-home".to_owned()));
        for (mode, env, is_private) in [
            ("auto", vec![], false),
            ("auto", vec![("ANTHROPIC_API_KEY", "k")], true),
            ("auto", vec![("ANTHROPIC_API_KEY", " ")], false),
            ("auto", vec![("ANTHROPIC_AUTH_TOKEN", "t")], true),
            ("auto", vec![("CLAUDE_CODE_OAUTH_TOKEN", "t")], true),
            ("auto", vec![("CLAUDE_CODE_USE_BEDROCK", "1")], true),
            ("api-key", vec![("ANTHROPIC_API_KEY", "k")], true),
            ("claude-code", vec![("ANTHROPIC_API_KEY", "k")], false),
            ("claude-code", vec![("CLAUDE_CODE_OAUTH_TOKEN", "t")], true),
        ] {
            let home = value(&read(mode, None, &env), "CLAUDE_CONFIG_DIR");
            let expected = is_private.then(|| private.clone()).flatten();
            assert_eq!(home, expected, "{mode} {env:?}");
        }
    }

    #[test]
    fn the_own_login_is_used_without_the_keys() {
        let surroundings = read("claude-code", None, &[("ANTHROPIC_API_KEY", "k")]);
        for name in KEYS {
            assert_eq!(value(&surroundings, name), Some(None));
        }
        assert_eq!(value(&read("auto", None, &[]), KEYS[0]), None);
    }

    #[test]
    fn a_key_that_is_asked_for_must_be_there() {
        let failure = read("api-key", None, &[]).check().unwrap_err();
        assert_eq!(failure.code, ErrorCode::MissingAuth);
        assert!(failure.message.contains("ANTHROPIC_API_KEY"), "{failure}");
        for env in [("ANTHROPIC_API_KEY", "k"), ("ANTHROPIC_AUTH_TOKEN", "t")] {
            assert_eq!(read("api-key", None, &[env]).check(), Ok(()));
        }
        assert_eq!(read("auto", None, &[]).check(), Ok(()));
    }

    #[test]
    fn retries_fit_the_time_and_the_user_s_number_is_kept() {
        for (timeout, expected) in [(1, "0"), (4, "2"), (60, "5"), (300, "9"), (900, "10")] {
            let surroundings = read("auto", Some(timeout), &[]);
            assert_eq!(
                value(&surroundings, RETRIES),
                Some(Some(expected.to_owned()))
            );
        }
        let chosen = read("auto", Some(60), &[(RETRIES, "1")]);
        assert_eq!(value(&chosen, RETRIES), None);
    }

    #[test]
    fn no_effort_is_no_thinking() {
        let mut settings = settings();
        settings.effort = Some(Chosen {
            value: Effort::Off,
            origin: Origin::Flag,
        });
        let options = Options::from_settings(&settings).unwrap();
        let surroundings = Surroundings::read(&options, None, &Environment::default());
        assert_eq!(value(&surroundings, THINKING), Some(Some("0".to_owned())));
    }
}
