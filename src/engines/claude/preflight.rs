//! What is learned about an executable before a review, without spending a token.
//!
//! Who is logged in is not asked: `claude auth status` is a prompt to older versions, writes into
//! the user's configuration, and calls an expired login a good one. A run without credentials ends
//! in half a second without a request.

use diffwarden_actors::engine::{
    Capabilities, Captured, CommandSpec, ExitKind, Place, PreflightPass,
};
use diffwarden_actors::model::{
    CheckStatus, ErrorCode, Failure, PreflightCheck, PreflightReport, Reason,
};

use super::features::Features;
use super::options::Options;
use super::{INSTALL, READONLY};
use crate::engines::capabilities::NativeEffort;
use crate::engines::executable::Resolved;
use crate::engines::shared::{self, check};

/// Options without which there is no read-only review.
const REQUIRED_FLAGS: [&str; 10] = [
    "--print",
    "--output-format",
    "--verbose",
    "--json-schema",
    "--tools",
    "--permission-mode",
    "--no-session-persistence",
    "--setting-sources",
    "--strict-mcp-config",
    "--disable-slash-commands",
];

/// How many bytes of help are searched for options.
const HELP_LIMIT: usize = 256 << 10;

/// Returns the commands to run: the version and the help. Neither reads a configuration nor writes
/// anything; they run in the private folder all the same.
pub(super) fn probes(executable: &Resolved, place: &Place) -> Vec<CommandSpec> {
    ["--version", "--help"]
        .map(|flag| {
            let mut probe = CommandSpec::new(&executable.path, &place.run_dir);
            probe.args = vec![flag.into()];
            probe.keep_stdout = true;
            probe
        })
        .into()
}

/// Judges what the probes printed.
///
/// # Errors
///
/// Fails when the executable does not start, when its options cannot be read, or when one that the
/// read-only policy or the reviewer's choices need is missing.
pub(super) fn judge(
    options: &Options,
    executable: &Resolved,
    captured: &[Captured],
) -> Result<PreflightPass, Failure> {
    let mut probes = captured.iter();
    let version = probes.next().and_then(version);
    let help = probes.next().and_then(readable_help);
    if version.is_none()
        && help.is_none()
        && let Some(first) = captured.first()
        && first.exit != ExitKind::Code(0)
    {
        return Err(shared::does_not_start(executable, first, INSTALL));
    }
    let Some(help) = help else {
        return Err(unfit(
            "the options of this Claude cannot be read (`claude --help`), so it is not known \
             whether it can be kept from writing"
                .to_owned(),
        ));
    };
    let mut flags = shared::long_options(help);
    // The help names this one only where it describes another.
    if help.contains("--system-prompt[-file]") {
        flags.insert("--system-prompt-file".to_owned());
    }
    let capabilities = Capabilities { version, flags };
    require(options, &capabilities)?;
    let features = Features::of(&capabilities);
    let mut metadata = shared::transport_metadata(READONLY, executable);
    metadata.append(&mut options.metadata(&features));
    if let Some(version) = &capabilities.version {
        metadata.insert("version".to_owned(), version.as_str().into());
    }
    let has_version = capabilities.version.is_some();
    Ok(PreflightPass {
        report: PreflightReport {
            checks: checks(options, executable, &features, has_version),
            metadata,
        },
        capabilities,
    })
}

/// Returns the version out of a line such as `2.1.332 (Claude Code)`.
fn version(captured: &Captured) -> Option<String> {
    let line = captured.stdout.trim_start().lines().next()?;
    let (version, rest) = line.split_once(' ')?;
    let is_version = version.starts_with(|c: char| c.is_ascii_digit()) && rest.contains("Claude");
    (captured.exit == ExitKind::Code(0) && is_version).then(|| shared::cut(version, 64))
}

fn readable_help(captured: &Captured) -> Option<&str> {
    let head = shared::head(&captured.stdout, HELP_LIMIT);
    (captured.exit == ExitKind::Code(0) && head.contains("Usage:")).then_some(head)
}

fn require(options: &Options, capabilities: &Capabilities) -> Result<(), Failure> {
    let mut required = REQUIRED_FLAGS.to_vec();
    // A limit of money and an effort that somebody chose are never left out in silence.
    if options.max_budget_usd.is_some() {
        required.push("--max-budget-usd");
    }
    if options.requires_effort() {
        required.push("--effort");
    }
    let missing: Vec<_> = required
        .into_iter()
        .chain(["--disallowedTools"])
        .filter(|flag| !capabilities.flags.contains(*flag))
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    let version = capabilities.version.as_ref();
    let which = version.map_or_else(|| "this Claude".to_owned(), |v| format!("Claude {v}"));
    let missing = missing.join(", ");
    Err(unfit(format!(
        "{which} is too old for this review: it does not know {missing}"
    )))
}

fn unfit(message: String) -> Failure {
    Failure::new(ErrorCode::ReviewerEnvironmentFailed, message)
        .reason(Reason::Environment)
        .hint(format!("update it with `{INSTALL}`"))
}

fn checks(
    options: &Options,
    executable: &Resolved,
    features: &Features,
    has_version: bool,
) -> Vec<PreflightCheck> {
    use CheckStatus::{Passed, Skipped, Warning};
    let mut checks = vec![check(
        "executable",
        Passed,
        format!("Found {}.", executable.path.display()),
    )];
    checks.push(if features.restricted {
        check(
            "claude-policy",
            Passed,
            "Claude has the options that keep a review from writing and inside its folder.",
        )
    } else {
        check(
            "claude-policy",
            Warning,
            "This Claude has no --restricted: its permission rules alone keep reads inside the \
             folder.",
        )
    });
    checks.push(check(
        "readonly",
        Passed,
        "The model is offered Read, Grep and Glob, and nothing that writes or runs commands.",
    ));
    checks.push(check("auth", Skipped, "Left to the executable."));
    checks.push(match &options.model {
        Some(model) => check(
            "model",
            Passed,
            format!("Claude is asked for the model {}.", model.value),
        ),
        None => check("model", Skipped, "Nobody asked for a special model."),
    });
    checks.push(effort_check(options, features));
    if let Some(fallback) = &options.fallback_model
        && options
            .metadata(features)
            .contains_key("fallbackModelDropped")
    {
        checks.push(check(
            "fallback-model",
            Warning,
            format!(
                "This Claude has no --fallback-model, so {} does not take over.",
                fallback.value
            ),
        ));
    }
    if !has_version {
        checks.push(check(
            "version",
            Warning,
            "The executable did not tell its version.",
        ));
    }
    checks
}

fn effort_check(options: &Options, features: &Features) -> PreflightCheck {
    use CheckStatus::{Passed, Skipped, Warning};
    let (status, detail) = match options.native_effort() {
        Some(NativeEffort::Word(word)) if features.effort => {
            (Passed, format!("Claude is asked for the effort {word}."))
        }
        Some(NativeEffort::Word(_)) => (
            Warning,
            "This Claude has no --effort, so its own default holds.".to_owned(),
        ),
        Some(NativeEffort::ThinkingDisabled) => (
            Warning,
            "Claude is asked not to think, which current models ignore.".to_owned(),
        ),
        Some(NativeEffort::Omitted) | None => {
            (Skipped, "Nobody asked for a special effort.".to_owned())
        }
    };
    check("effort", status, detail)
}
