//! The default rules of gitleaks, as data.
//!
//! The rules come word for word with a crate (see `docs/third-party.md` for their notice), between
//! other rules that are not taken. Only their names and keywords are read at first use; the rest of
//! a rule is read, and its regular expressions are compiled, when one of its keywords turns up.
//! What must stay true: a rule that cannot be read is a bug that a test finds, never a silent gap.

use std::sync::{LazyLock, OnceLock};

use regex::bytes::{Captures, Regex, RegexBuilder};
use secrets_scanner::rules::BUNDLED_RULES;
use serde::Deserialize;

use super::allow::{Allowlist, AllowlistTable, Judged};
use super::placeholder::{entropy, is_placeholder};

/// How a rule begins in the bundle.
const RULE: &str = "[[rules]]\n";
/// The first of the rules of gitleaks, and how those behind the last one are called.
const FIRST: &str = "1password-secret-key";
const NEXT_SOURCE: &str = "kingfisher.";
/// How the pattern of a value under a telling name begins.
const NAMED: &str = r"(?i)[\w.-]{0,50}?";

/// Rules that are not used: public halves and names, which are no secrets, and what other scans of
/// this program read with more context than a line (private keys, logins of curl, generic names,
/// key stores).
const SKIPPED: [&str; 17] = [
    "adobe-client-id",
    "asana-client-id",
    "bitbucket-client-id",
    "curl-auth-header",
    "curl-auth-user",
    "discord-client-id",
    "flutterwave-public-key",
    "generic-api-key",
    "kubernetes-secret-yaml",
    "linkedin-client-id",
    "lob-pub-api-key",
    "looker-client-id",
    "mailgun-pub-key",
    "messagebird-client-id",
    "pkcs12-file",
    "plaid-client-id",
    "private-key",
];

/// A rule of which only the beginning is read.
pub(super) struct Entry {
    /// Its name.
    pub(super) id: &'static str,
    /// Words of which a matching line holds at least one, in lower case.
    pub(super) keywords: Vec<String>,
    text: &'static str,
    rule: OnceLock<Rule>,
}

/// A secret that a rule found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Found {
    /// Where the secret lies in the line.
    pub(super) start: usize,
    /// Where it ends.
    pub(super) end: usize,
    /// Whether it was the name beside the value that told.
    pub(super) is_named: bool,
}

/// Every rule in use, in the order of their names.
pub(super) static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let blocks = BUNDLED_RULES.split(RULE).skip(1);
    let ours = blocks
        .map(|text| (name_of(text), text))
        .skip_while(|(id, _)| *id != FIRST)
        .take_while(|(id, _)| !id.starts_with(NEXT_SOURCE));
    ours.filter(|(id, _)| !SKIPPED.contains(id))
        .map(|(id, text)| Entry {
            id,
            keywords: keywords_of(text),
            text,
            rule: OnceLock::new(),
        })
        .collect()
});

/// What is allowed whatever the rule.
static GLOBAL: LazyLock<Allowlist> = LazyLock::new(|| {
    let head = BUNDLED_RULES.split(RULE).next().unwrap_or_default();
    Allowlist::parse(head).expect("the bundled rules begin with an allowlist; a test reads it")
});

#[derive(Deserialize)]
struct Document {
    rules: Vec<Table>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Table {
    regex: String,
    #[serde(default)]
    entropy: f64,
    path: Option<String>,
    secret_group: Option<usize>,
    #[serde(default)]
    allowlists: Vec<AllowlistTable>,
}

struct Rule {
    regex: Regex,
    entropy: f64,
    path: Option<Regex>,
    group: Option<usize>,
    is_named: bool,
    allow: Allowlist,
}

impl Entry {
    /// Returns the secrets on a line of the file at `path`.
    pub(super) fn find(&self, line: &[u8], path: &[u8]) -> Vec<Found> {
        let rule = self.rule.get_or_init(|| {
            Rule::read(self.text).expect("the bundled rules are constant; a test reads each")
        });
        if rule.path.as_ref().is_some_and(|it| !it.is_match(path)) {
            return Vec::new();
        }
        let matches = rule.regex.captures_iter(line);
        matches
            .filter_map(|captures| rule.judge(&captures, line, path))
            .collect()
    }
}

impl Rule {
    fn read(text: &str) -> Option<Self> {
        let document: Document = toml::from_str(&format!("{RULE}{text}")).ok()?;
        let table = document.rules.into_iter().next()?;
        Some(Self {
            regex: compile(&table.regex)?,
            entropy: table.entropy,
            path: match table.path {
                Some(path) => Some(compile(&path)?),
                None => None,
            },
            group: table.secret_group.filter(|&group| group > 0),
            is_named: table.regex.starts_with(NAMED),
            allow: Allowlist::of_tables(table.allowlists)?,
        })
    }

    fn judge(&self, captures: &Captures<'_>, line: &[u8], path: &[u8]) -> Option<Found> {
        let whole = captures.get(0)?;
        let secret = match self.group {
            Some(group) => captures.get(group)?,
            None => captures.iter().skip(1).flatten().next().unwrap_or(whole),
        };
        let value = secret.as_bytes();
        let judged = Judged {
            secret: value,
            matched: whole.as_bytes(),
            line,
            path,
        };
        let has = |test: fn(&u8) -> bool| value.iter().any(test);
        // A name is a weak sign: words beside it are what it is about.
        let is_mixed = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
        let is_real = entropy(value) > self.entropy
            && !is_placeholder(value)
            && (is_mixed || !self.is_named)
            && !self.allow.allows(&judged)
            && !GLOBAL.allows(&judged);
        is_real.then_some(Found {
            start: secret.start(),
            end: secret.end(),
            is_named: self.is_named,
        })
    }
}

/// Compiles a pattern that was written for RE2, whose classes know ASCII alone.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    let pattern = escape_braces(pattern);
    RegexBuilder::new(&pattern).unicode(false).build().ok()
}

/// Escapes the braces that RE2 takes for themselves because they count nothing.
fn escape_braces(pattern: &str) -> String {
    let mut escaped = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some(at) = rest.find(['\\', '{']) {
        escaped.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut taken = rest.chars().next().map_or(0, char::len_utf8);
        if rest.starts_with('\\') {
            // A class or a character by its number keeps its braces.
            let named = ["\\p{", "\\P{", "\\x{"];
            taken = match named.iter().any(|it| rest.starts_with(it)) {
                true => rest.find('}').map_or(rest.len(), |end| end + 1),
                false => rest.chars().take(2).map(char::len_utf8).sum(),
            };
        } else if !counts(rest) {
            escaped.push('\\');
        }
        escaped.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    escaped.push_str(rest);
    escaped
}

/// Whether a text begins with a counted repetition such as `{2}` or `{2,}`.
fn counts(text: &str) -> bool {
    let inside = text.strip_prefix('{').and_then(|it| it.split_once('}'));
    inside.is_some_and(|(inside, _)| {
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
        !least.is_empty() && is_number(least) && is_number(most)
    })
}

fn name_of(text: &str) -> &str {
    let line = text.lines().find_map(|line| line.strip_prefix("id = \""));
    line.and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or_default()
}

fn keywords_of(text: &str) -> Vec<String> {
    #[derive(Deserialize)]
    struct Line {
        keywords: Vec<String>,
    }
    let line = text.lines().find(|line| line.starts_with("keywords = "));
    line.and_then(|line| toml::from_str::<Line>(line).ok())
        .map(|line| line.keywords)
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_is_there_and_can_be_read() {
        assert_eq!(ENTRIES.len() + SKIPPED.len(), 219);
        for entry in ENTRIES.iter() {
            let rule = Rule::read(entry.text);
            assert!(rule.is_some(), "{}", entry.id);
            assert!(!entry.keywords.is_empty(), "{}", entry.id);
            let is_lower = |word: &String| *word == word.to_lowercase() && !word.is_empty();
            assert!(entry.keywords.iter().all(is_lower), "{}", entry.id);
        }
        let last = ENTRIES.last().map(|entry| entry.id);
        assert_eq!(last, Some("zendesk-secret-key"));
    }

    #[test]
    fn braces_that_count_nothing_are_escaped() {
        for (pattern, escaped) in [
            (r"a{2}b{2,}c{2,3}", r"a{2}b{2,}c{2,3}"),
            (r"^\$(?:\d+|{\d+})$", r"^\$(?:\d+|\{\d+})$"),
            (r"\{\d{0,2}}", r"\{\d{0,2}}"),
            (r"\p{L}{,2}\", r"\p{L}\{,2}\"),
        ] {
            assert_eq!(escape_braces(pattern), escaped);
        }
    }

    #[test]
    fn no_skipped_rule_is_unknown() {
        for id in SKIPPED {
            let line = format!("\nid = \"{id}\"\n");
            assert!(BUNDLED_RULES.contains(&line), "{id}");
        }
    }

    #[test]
    fn the_allowlist_for_all_rules_is_read() {
        let judged = |secret: &'static [u8], path: &'static [u8]| Judged {
            secret,
            matched: secret,
            line: secret,
            path,
        };
        assert!(GLOBAL.allows(&judged(b"k9Qz7vLm", b"web/yarn.lock")));
        assert!(GLOBAL.allows(&judged(b"${TOKEN}", b"a.rs")));
        assert!(!GLOBAL.allows(&judged(b"k9Qz7vLm", b"src/a.rs")));
    }

    #[test]
    fn a_value_under_the_name_of_its_issuer_is_found() {
        let entry = ENTRIES.iter().find(|it| it.id == "zendesk-secret-key");
        let find = |line: &[u8]| entry.map_or(0, |it| it.find(line, b"a.py").len());
        assert_eq!(
            find(b"zendesk_key = 'k9qz7vlm2xc4rt8wk1pz7vlm2xc4rt8wb3nd5fgh'"),
            1
        );
        assert_eq!(
            find(b"zendesk_key = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'"),
            0
        );
    }
}
