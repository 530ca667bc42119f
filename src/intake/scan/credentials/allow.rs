//! What a rule's match may be without being a secret: the allowlists of gitleaks' format.
//!
//! The rules bring some, and a repository may have its own in `.gitleaks.toml`, read from the side
//! before the change: a patch must not be able to allow what it adds. The user's own config may
//! name another such file.

use aho_corasick::AhoCorasick;
use regex::bytes::Regex;
use serde::Deserialize;

use super::gitleaks::compile;

/// An allowlist as it is written down.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct AllowlistTable {
    condition: String,
    regex_target: String,
    regexes: Vec<String>,
    paths: Vec<String>,
    stopwords: Vec<String>,
    target_rules: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Document {
    allowlist: Option<AllowlistTable>,
    allowlists: Vec<AllowlistTable>,
}

/// What is allowed. The default allows nothing.
#[derive(Debug, Clone, Default)]
pub struct Allowlist {
    entries: Vec<Entry>,
}

/// A match, and where it stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Judged<'a> {
    /// The secret alone.
    pub(super) secret: &'a [u8],
    /// All that the rule matched.
    pub(super) matched: &'a [u8],
    /// The line.
    pub(super) line: &'a [u8],
    /// The path of the file, below the root of the repository.
    pub(super) path: &'a [u8],
}

#[derive(Debug, Clone, Copy)]
enum Target {
    Secret,
    Match,
    Line,
}

#[derive(Debug, Clone)]
struct Entry {
    all: bool,
    target: Target,
    regexes: Vec<Regex>,
    paths: Vec<Regex>,
    stopwords: Option<AhoCorasick>,
    rules: Vec<String>,
}

impl Allowlist {
    /// Reads the allowlists of a `.gitleaks.toml`; everything else in it is left alone. `None` when
    /// it cannot be read, or a pattern in it cannot.
    pub fn parse(text: &str) -> Option<Self> {
        let document: Document = toml::from_str(text).ok()?;
        let tables = document.allowlist.into_iter().chain(document.allowlists);
        Self::of_tables(tables)
    }

    /// Compiles allowlists; `None` when a pattern is wrong.
    pub(super) fn of_tables(tables: impl IntoIterator<Item = AllowlistTable>) -> Option<Self> {
        let entries = tables.into_iter().map(Entry::compile).collect();
        Option::map(entries, |entries| Self { entries })
    }

    /// Adds everything that another list allows.
    pub fn extend(&mut self, other: Self) {
        self.entries.extend(other.entries);
    }

    /// Whether a match is allowed, whatever the rule.
    pub(super) fn allows(&self, judged: &Judged<'_>) -> bool {
        self.allows_for(judged, "")
    }

    /// Whether a match of one rule is allowed.
    pub(super) fn allows_for(&self, judged: &Judged<'_>, rule: &str) -> bool {
        self.entries.iter().any(|entry| {
            let is_meant = entry.rules.is_empty() || entry.rules.iter().any(|it| it == rule);
            is_meant && entry.allows(judged)
        })
    }
}

impl Entry {
    fn compile(table: AllowlistTable) -> Option<Self> {
        let all = |patterns: Vec<String>| -> Option<Vec<Regex>> {
            patterns.iter().map(|pattern| compile(pattern)).collect()
        };
        let stopwords = match table.stopwords.as_slice() {
            [] => None,
            words => Some(
                AhoCorasick::builder()
                    .ascii_case_insensitive(true)
                    .build(words)
                    .ok()?,
            ),
        };
        Some(Self {
            all: matches!(table.condition.as_str(), "AND" | "and" | "&&"),
            target: match table.regex_target.as_str() {
                "match" => Target::Match,
                "line" => Target::Line,
                _ => Target::Secret,
            },
            regexes: all(table.regexes)?,
            paths: all(table.paths)?,
            stopwords,
            rules: table.target_rules,
        })
    }

    fn allows(&self, judged: &Judged<'_>) -> bool {
        let text = match self.target {
            Target::Secret => judged.secret,
            Target::Match => judged.matched,
            Target::Line => judged.line,
        };
        let is_any = |list: &[Regex], text| list.iter().any(|regex| regex.is_match(text));
        let checks = [
            (!self.paths.is_empty()).then(|| is_any(&self.paths, judged.path)),
            (!self.regexes.is_empty()).then(|| is_any(&self.regexes, text)),
            self.stopwords.as_ref().map(|it| it.is_match(judged.secret)),
        ];
        let mut checks = checks.into_iter().flatten().peekable();
        match self.all {
            true => checks.peek().is_some() && checks.all(|holds| holds),
            false => checks.any(|holds| holds),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged<'a>(secret: &'a [u8], line: &'a [u8], path: &'a [u8]) -> Judged<'a> {
        Judged {
            secret,
            matched: secret,
            line,
            path,
        }
    }

    #[test]
    fn one_condition_is_enough_unless_all_are_asked_for() {
        let any = "[[allowlists]]\npaths = ['^tests/']\nstopwords = ['abc']";
        let any = Allowlist::parse(any).unwrap();
        assert!(any.allows(&judged(b"x", b"x", b"tests/a")));
        assert!(any.allows(&judged(b"xABCx", b"x", b"src/a")));
        assert!(!any.allows(&judged(b"x", b"x", b"src/a")));
        let all = "[allowlist]\ncondition = 'AND'\npaths = ['^tests/']\nstopwords = ['abc']";
        let all = Allowlist::parse(all).unwrap();
        assert!(!all.allows(&judged(b"x", b"x", b"tests/a")));
        assert!(all.allows(&judged(b"abc", b"x", b"tests/a")));
    }

    #[test]
    fn regexes_look_at_their_target_and_rules_at_theirs() {
        let list = "[[allowlists]]\nregexTarget = 'line'\nregexes = ['^# ']\ntargetRules = ['jwt']";
        let list = Allowlist::parse(list).unwrap();
        let line = judged(b"x", b"# x", b"a");
        assert!(list.allows_for(&line, "jwt"));
        assert!(!list.allows_for(&line, "npm-token"));
        assert!(!list.allows_for(&judged(b"# x", b"x", b"a"), "jwt"));
    }

    #[test]
    fn an_empty_list_allows_nothing_and_a_wrong_one_is_told() {
        let item = judged(b"x", b"x", b"a");
        assert!(!Allowlist::default().allows(&item));
        for text in ["", "[allowlist]", "[[allowlists]]\ncondition = 'AND'"] {
            assert!(!Allowlist::parse(text).unwrap().allows(&item), "{text}");
        }
        assert!(Allowlist::parse("[[allowlists]]\nregexes = ['(']").is_none());
        assert!(Allowlist::parse("]").is_none());
    }
}
