//! The questions of a preflight that every command line is asked, and how the answers are read.

use std::path::Path;

use diffwarden_actors::engine::{Captured, CommandSpec, ExitKind};
use diffwarden_actors::model::{CheckStatus, PreflightCheck};

use super::{check, cut, head};
use crate::engines::executable::Resolved;

/// How many bytes of help are searched for options.
const HELP_LIMIT: usize = 256 << 10;

/// How many characters of a version are kept.
const VERSION_CHARS: usize = 64;

/// Returns a command that asks the executable something, in a folder of its own.
pub(in crate::engines) fn probe(
    executable: &Resolved,
    folder: impl AsRef<Path>,
    args: &[&str],
) -> CommandSpec {
    let mut probe = CommandSpec::new(&executable.path, folder.as_ref());
    probe.args = args.iter().map(Into::into).collect();
    probe.keep_stdout = true;
    probe
}

/// Returns the version in the first line of what `--version` printed: a word that begins with a
/// digit, between these words.
pub(in crate::engines) fn version(
    captured: &Captured,
    before: &str,
    after: &str,
) -> Option<String> {
    let line = head(&captured.stdout, HELP_LIMIT)
        .trim_start()
        .lines()
        .next()?;
    let version = line.trim_end().strip_prefix(before)?.strip_suffix(after)?;
    let is_version =
        version.starts_with(|c: char| c.is_ascii_digit()) && !version.contains(char::is_whitespace);
    (is_version && captured.exit == ExitKind::Code(0)).then(|| cut(version, VERSION_CHARS))
}

/// Returns the help text, from whichever stream holds `sign`, which only a help text has.
pub(in crate::engines) fn readable_help<'a>(captured: &'a Captured, sign: &str) -> Option<&'a str> {
    let texts = [&captured.stdout, &captured.stderr];
    let mut heads = texts.into_iter().map(|text| head(text, HELP_LIMIT));
    let help = heads.find(|text| text.contains(sign))?;
    (captured.exit == ExitKind::Code(0)).then_some(help)
}

/// Returns the check that tells which executable was found.
pub(in crate::engines) fn found(executable: &Resolved) -> PreflightCheck {
    let detail = format!("Found {}.", executable.path.display());
    check("executable", CheckStatus::Passed, detail)
}

/// Returns the check about credentials that only the executable itself can look at.
pub(in crate::engines) fn delegated_auth() -> PreflightCheck {
    check("auth", CheckStatus::Skipped, "Left to the executable.")
}

/// Returns the reservation about a version that was not told.
pub(in crate::engines) fn untold_version(version: Option<&str>) -> Option<PreflightCheck> {
    let detail = "The executable did not tell its version.";
    version
        .is_none()
        .then(|| check("version", CheckStatus::Warning, detail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::shared::long_options;
    use crate::engines::shared::testing::printed;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn versions_are_numbers_in_the_place_where_the_program_has_them() {
        let version = |code, text, before, after| {
            version(&printed(ExitKind::Code(code), text, ""), before, after)
        };
        for (text, before, after) in [
            ("0.61.0\n", "", ""),
            ("0.61.0\nAn update is there.\n", "", ""),
            ("\ncodex-cli 0.61.0 \n", "codex-cli ", ""),
            ("0.61.0 (Claude Code)", "", " (Claude Code)"),
        ] {
            let found = version(0, text, before, after);
            assert_eq!(found.as_deref(), Some("0.61.0"), "{text}");
            assert_eq!(version(1, text, before, after), None, "{text}");
        }
        for text in ["gemini 0.61.0", "0.61.0 x", "v1", ""] {
            assert_eq!(version(0, text, "", ""), None, "{text}");
        }
    }

    #[test]
    fn help_is_found_on_either_stream() {
        let known = |stdout, stderr| {
            let captured = printed(ExitKind::Code(0), stdout, stderr);
            readable_help(&captured, "Usage").map(long_options)
        };
        let expected = BTreeSet::from(["--a-b".to_owned()]);
        assert_eq!(
            known("Usage: x\n  -a, --a-b  text", ""),
            Some(expected.clone())
        );
        assert_eq!(known("", "Usage: --a-b=<c>, --"), Some(expected));
        assert_eq!(known("--a-b", "--a-b"), None);
    }

    proptest! {
        #[test]
        fn any_output_is_taken(text in "[0-9]?.{0,200}", code in -1..2) {
            let captured = printed(ExitKind::Code(code), &text, &text);
            if let Some(version) = version(&captured, "", "") {
                prop_assert!(!version.contains(char::is_whitespace));
                prop_assert!(version.chars().count() <= VERSION_CHARS + 3);
            }
            let help = readable_help(&captured, "-").map(long_options).unwrap_or_default();
            prop_assert!(help.iter().all(|flag| flag.starts_with("--")));
        }
    }
}
