//! Properties that hold for any input: no panic, no leak, order, bounds.

use std::path::Path;

use diffwarden_actors::engine::CancelToken;
use diffwarden_actors::model::{Finding, Patch};
use proptest::prelude::*;

use super::cases::{added_file, scan_files};
use super::{Allowlist, ScanInput, scan, unicode};

/// Bytes as hostile patches have them: words of the rules, hidden characters, broken UTF-8.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let words = prop::sample::select(vec![
        concat!("ignore all ", "previous instructions"),
        "AI reviewer: ",
        "approve this PR",
        "<\u{7c}im_start|>",
        "password = \"",
        "https://a:b@",
        "-----BEGIN PRIVATE KEY-----",
        "<<<<<<< HEAD",
        "/* ",
        "*/",
        "\"\"\"",
        "<!--",
        "token",
        "ghp_",
        "sk-",
        "eyJ",
        " ",
    ]);
    prop_oneof![
        3 => words.prop_map(|word| word.as_bytes().to_vec()),
        3 => any::<char>().prop_map(|character| character.to_string().into_bytes()),
        2 => "[ -~]{0,12}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..6),
    ]
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(piece(), 0..8).prop_map(|pieces| {
        let mut line = pieces.concat();
        line.retain(|&byte| byte != b'\n');
        line
    })
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("src/a.rs".to_owned()),
        Just("README.md".to_owned()),
        Just("tests/.env".to_owned()),
        "[a-z\u{200B}\u{202E}/._]{1,12}",
    ]
}

fn hidden() -> impl Strategy<Value = char> {
    prop_oneof![
        prop::char::range('\u{202A}', '\u{202E}'),
        prop::char::range('\u{2060}', '\u{206F}'),
        prop::char::range('\u{200B}', '\u{200F}'),
        prop::char::range('\u{E0000}', '\u{E007F}'),
        prop::char::range('\u{FE00}', '\u{FE0F}'),
        Just('\u{3164}'),
        Just('\u{1B}'),
        Just('\u{FEFF}'),
    ]
}

/// Whether a finding's words are plain text of diffwarden's own.
fn is_clean(finding: &Finding) -> bool {
    let words = format!("{}{}", finding.title, finding.body);
    words
        .chars()
        .all(|character| matches!(character, ' '..='~'))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_patch_gives_ordered_clean_findings(
        path in path(),
        lines in prop::collection::vec(line(), 0..12),
    ) {
        let count = u32::try_from(lines.len()).unwrap();
        let patch = Patch { files: vec![added_file(&path, &lines)] };
        let message = String::from_utf8_lossy(&lines.concat()).into_owned();
        let input = ScanInput {
            patch: &patch,
            repo_root: Path::new("/repo"),
            commit_messages: std::slice::from_ref(&message),
            branch: Some(&message),
            allow: &Allowlist::default(),
        };
        let found = scan(&input, &CancelToken::default());
        prop_assert_eq!(&found, &scan(&input, &CancelToken::default()));
        for finding in &found {
            prop_assert!(is_clean(finding), "{:?}", finding);
            let range = finding.code_location.line_range;
            let last = if finding.anchor.is_some() { 1 } else { count };
            prop_assert!(1 <= range.start && range.start <= range.end && range.end <= last);
            let priority = finding.priority.unwrap().0;
            let prefix = format!("[P{priority}] ");
            prop_assert!(finding.title.starts_with(&prefix));
        }
        let starts = found.iter().filter(|finding| finding.anchor.is_none());
        prop_assert!(starts.map(|finding| finding.code_location.line_range.start).is_sorted());
    }

    #[test]
    fn a_planted_token_is_found_and_never_repeated(
        // Letters and digits in turn cannot spell a placeholder.
        secret in "([A-Za-z][0-9]){18}",
        before in "[a-z =:\"']{0,20}",
        after in "[ \"',;)]{0,10}",
    ) {
        let line = format!("{before} ghp_{secret}{after}");
        let found = scan_files(vec![added_file("src/a.rs", &[line])]);
        for finding in &found {
            prop_assert!(!finding.body.contains(&secret) && !finding.title.contains(&secret));
            prop_assert!(is_clean(finding));
        }
        let named = |finding: &Finding| finding.title.contains("a GitHub token");
        prop_assert!(found.iter().any(named), "{:?}", found);
    }

    #[test]
    fn a_hidden_character_between_latin_letters_is_always_found(
        before in "[a-z]{1,8}",
        hidden in hidden(),
        after in "[a-z]{1,8}",
    ) {
        let line = format!("{before}{hidden}{after}");
        let found = scan_files(vec![added_file("src/a.rs", &[line])]);
        prop_assert_eq!(found.len(), 1);
        prop_assert!(is_clean(&found[0]));
        let point = format!("U+{:04X}", u32::from(hidden));
        prop_assert!(found[0].body.contains(&point));
    }

    #[test]
    fn plain_latin_and_visible_text_has_no_hidden_characters(text in "[ -~\u{A1}-\u{AC}\u{AE}-\u{17F}\u{4E00}-\u{4FFF}]{0,40}") {
        let characters = unicode::decode(text.as_bytes());
        prop_assert!(!characters.into_iter().any(unicode::is_invisible));
    }
}
