//! What the engines share: foreign text made fit for a message (keys blanked, one line, bounded),
//! the choices every reviewer has, the questions of a preflight, and failures in the same words.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use diffwarden_actors::engine::{Capabilities, Captured, ExitKind, ReviewRequest};
use diffwarden_actors::model::{CheckStatus, ErrorCode, Failure, PreflightCheck, Reason};
use regex::Regex;
use serde_json::{Map, Value};

use super::executable::Resolved;

mod choices;
mod commented;
mod failure;
mod lines;
mod probes;
mod program;
#[cfg(test)]
pub(in crate::engines) mod replay;
#[cfg(test)]
pub(in crate::engines) mod testing;

pub(in crate::engines) use self::choices::{Choices, check_model, text_of_path, wrong_option};
pub(in crate::engines) use self::commented::parse_commented_json;
pub(in crate::engines) use self::failure::{Kind, Refusal, unfit};
pub(in crate::engines) use self::lines::Lines;
pub(in crate::engines) use self::probes::{
    delegated_auth, found, probe, readable_help, untold_version, version,
};
pub(in crate::engines) use self::program::Program;

/// How many characters of foreign text a message quotes at most.
pub(in crate::engines) const MESSAGE_CHARS: usize = 500;

/// How many characters of standard error the metadata keeps.
const STDERR_CHARS: usize = 2_000;

/// How many bytes of a text are looked at for a message.
const LOOKED_AT: usize = 8 << 10;

/// Shapes of credentials that model services quote in their errors.
static CREDENTIAL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?x)
        \b(?: sk | sess | rk ) - [A-Za-z0-9*_-]+       # keys of model services, also half blanked
        | (?i: \bBearer ) [\x20\t]+ [^\s,;'\x22)]+     # Authorization headers
        | \b eyJ [A-Za-z0-9_-]+ (?: \. [A-Za-z0-9_-]* ){1,2}   # JSON web tokens
        ",
    )
    .expect("the pattern is a constant")
});

/// Replaces everything shaped like a credential.
pub(in crate::engines) fn redact(text: &str) -> String {
    CREDENTIAL.replace_all(text, "[redacted]").into_owned()
}

/// Turns foreign text into one line of at most [`MESSAGE_CHARS`] characters without credentials
/// and control characters; `...` marks what was cut.
pub(in crate::engines) fn one_line(text: &str) -> String {
    let printable: String = redact(head(text, LOOKED_AT))
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let joined = printable.split_whitespace().collect::<Vec<_>>().join(" ");
    cut(&joined, MESSAGE_CHARS)
}

/// Returns the longest beginning of at most `limit` bytes.
pub(in crate::engines) fn head(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len()))
        .rev()
        .find(|&end| text.is_char_boundary(end));
    &text[..end.unwrap_or(0)]
}

/// Keeps at most `limit` characters; `...` marks what was cut.
pub(in crate::engines) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns foreign text on standard error as the metadata keeps it; `None` when it is blank.
pub(in crate::engines) fn kept_stderr(stderr: &str) -> Option<String> {
    let text = redact(stderr.trim());
    (!text.is_empty()).then(|| cut(&text, STDERR_CHARS))
}

/// Returns the prompt as one text, for engines that have no system part of their own.
pub(in crate::engines) fn whole_prompt(request: &ReviewRequest) -> String {
    match &request.prompt.system {
        Some(system) => format!("{system}\n\n{}", request.prompt.user),
        None => request.prompt.user.clone(),
    }
}

/// Writes the version into the metadata, if the executable told one.
pub(in crate::engines) fn put_version(
    metadata: &mut Map<String, Value>,
    capabilities: &Capabilities,
) {
    if let Some(version) = &capabilities.version {
        metadata.insert("version".to_owned(), version.as_str().into());
    }
}

/// Returns how an engine is reached, as both kinds of metadata show it; `level` is its read-only
/// level.
pub(in crate::engines) fn transport_metadata(
    level: &str,
    transport: &str,
    executable: &Resolved,
) -> Map<String, Value> {
    let path = executable.path.to_string_lossy();
    [
        ("readonlyCapability", level),
        ("transport", transport),
        ("executable", &*path),
        ("requestedExecutable", &executable.requested),
        ("executableSource", executable.source.as_str()),
    ]
    .map(|(key, value)| (key.to_owned(), value.into()))
    .into_iter()
    .collect()
}

/// Returns the long options that a help text lists.
pub(in crate::engines) fn long_options(help: &str) -> BTreeSet<String> {
    help.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'))
        .filter(|word| word.len() > 2 && word.starts_with("--"))
        .map(str::to_owned)
        .collect()
}

/// Returns one line of a preflight.
pub(in crate::engines) fn check(
    name: &str,
    status: CheckStatus,
    detail: impl Into<String>,
) -> PreflightCheck {
    PreflightCheck {
        name: name.to_owned(),
        status,
        detail: detail.into(),
    }
}

/// Returns the failure of an executable that cannot even tell its version; `install` is the command
/// that installs it.
pub(in crate::engines) fn does_not_start(
    executable: &Resolved,
    captured: &Captured,
    install: &str,
) -> Failure {
    let said = one_line(&captured.stderr);
    let how = match captured.exit {
        ExitKind::Code(code) => format!("exit code {code}"),
        ExitKind::Signal(signal) => format!("signal {signal}"),
    };
    let path = executable.path.display();
    Failure::new(
        ErrorCode::ReviewerEnvironmentFailed,
        if said.is_empty() {
            format!("{path} does not start: `--version` ended with {how}")
        } else {
            format!("{path} does not start: `--version` ended with {how}: {said}")
        },
    )
    .reason(Reason::Environment)
    .hint(format!("reinstall it with `{install}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn credentials_are_blanked_and_words_are_kept() {
        for (text, expected) in [
            ("key sk-mock.", "key [redacted]."),
            ("sk-other***99999 is wrong", "[redacted] is wrong"),
            ("sk-proj-aB_9-x, url", "[redacted], url"),
            ("Authorization: bearer abc.def", "Authorization: [redacted]"),
            ("token eyJhbGci.eyJzdWIi.c2ln!", "token [redacted]!"),
            (
                "task-force disk-full risk-free",
                "task-force disk-full risk-free",
            ),
        ] {
            assert_eq!(redact(text), expected);
        }
    }

    #[test]
    fn a_system_part_goes_in_front() {
        let mut request = testing::request("user", &[]);
        assert_eq!(whole_prompt(&request), "user");
        std::sync::Arc::make_mut(&mut request.prompt).system = Some("system".to_owned());
        assert_eq!(whole_prompt(&request), "system\n\nuser");
    }

    #[test]
    fn a_message_is_one_bounded_line() {
        assert_eq!(one_line("  a\r\n\tb\u{1b}[31mc \n"), "a b [31mc");
        let long = one_line(&"é ".repeat(1 << 20));
        assert_eq!(long.chars().count(), MESSAGE_CHARS + 3);
        assert!(long.ends_with("..."));
    }

    proptest! {
        #[test]
        fn any_text_becomes_one_bounded_line(text in ".{0,3000}(sk-[a-z]{0,9})?") {
            let line = one_line(&text);
            prop_assert!(line.chars().count() <= MESSAGE_CHARS + 3);
            prop_assert!(!line.contains(char::is_control));
        }
    }
}
