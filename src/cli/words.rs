//! What raw words say where they could not be parsed, or have not been yet.
//!
//! Usage errors and early signals are told like any other failure, so where the caller looks for
//! one, and which file must not keep an old artifact, has to be known without a parse.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use crate::sinks::OutputMode;

/// Returns where failures are told.
pub(super) fn mode(args: &[OsString]) -> OutputMode {
    let asked = |flag: &str| args.iter().any(|arg| arg == flag);
    match (asked("--ndjson"), asked("--json")) {
        (true, _) => OutputMode::Ndjson,
        (_, true) => OutputMode::Json,
        _ => OutputMode::Human,
    }
}

/// Returns the file that `review` or `check` would write its artifact to.
pub(super) fn out(args: &[OsString]) -> Option<PathBuf> {
    let has = |word: &str| args.iter().skip(1).any(|arg| arg == word);
    // `review show` writes nothing, and the file may be the one to be shown.
    if !(has("review") || has("check")) || has("show") {
        return None;
    }
    let is_value = |next: &&OsString| !next.as_bytes().starts_with(b"-");
    args.iter().enumerate().find_map(|(at, arg)| {
        if arg == "--out" {
            return args.get(at + 1).filter(is_value).map(PathBuf::from);
        }
        let value = arg.as_bytes().strip_prefix(b"--out=")?;
        Some(PathBuf::from(OsStr::from_bytes(value)))
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt as _;

    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn the_mode_is_that_of_a_program() {
        for (line, expected) in [
            ("diffwarden review --nope --json", OutputMode::Json),
            ("diffwarden --json review --ndjson", OutputMode::Ndjson),
            ("diffwarden review --agent", OutputMode::Human),
            ("diffwarden", OutputMode::Human),
        ] {
            assert_eq!(mode(&words(line)), expected, "{line}");
        }
    }

    #[test]
    fn the_file_of_a_review_is_found_in_both_spellings() {
        for (line, expected) in [
            ("diffwarden review --nope --out a.json", Some("a.json")),
            ("diffwarden review --out=a=b.json --nope", Some("a=b.json")),
            ("diffwarden review --out --json", None),
            ("diffwarden check --nope --out a.json", Some("a.json")),
            ("diffwarden review --out", None),
            ("diffwarden review --outer a.json", None),
            ("diffwarden review show a.json --out a.json", None),
            ("diffwarden --out a.json", None),
            ("review --out a.json", None),
        ] {
            assert_eq!(out(&words(line)), expected.map(PathBuf::from), "{line}");
        }
        let name = OsString::from_vec(b"--out=\xff".to_vec());
        let args = ["diffwarden".into(), "review".into(), name];
        assert!(out(&args).is_some_and(|path| path.as_os_str().len() == 1));
    }
}
