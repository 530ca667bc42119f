//! Credentials written into the change.
//!
//! One automaton looks for the keywords of all rules; the regular expression of a rule is compiled
//! when its keyword turns up for the first time. A value under a telling name counts only when it
//! looks random and no rule with a shape of its own took it. [`find`] is the one function that says
//! where a credential lies: the scan reports it, masking takes it out of what is sent.

mod address;
mod allow;
mod encoded;
mod gitleaks;
mod login;
mod named;
mod placeholder;
pub(in crate::intake) mod private_key;
mod rules;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use regex::bytes::{Regex, RegexBuilder};

use super::decode;
use super::report::{Hit, Report, Words};
use super::text::{PathKind, Text};
pub use allow::Allowlist;
use allow::Judged;
use placeholder::{entropy, is_placeholder};
use rules::{GENERIC_KEYWORDS, RULES};

/// Comments by which authors ask other scanners to skip a line. They are part of the change, so
/// they only lower a finding to a question.
const ALLOW_MARKS: &[&str] = &[
    "gitleaks:allow",
    "pragma: allowlist secret",
    "trufflehog:ignore",
];

/// What a keyword calls for.
#[derive(Debug, Clone, Copy)]
enum Call {
    Rule(usize),
    Gitleaks(usize),
    Url,
    Generic,
    Login,
    PrivateKey,
    Allow,
}

struct Keywords {
    automaton: AhoCorasick,
    calls: Vec<Call>,
}

static KEYWORDS: LazyLock<Keywords> = LazyLock::new(|| {
    let of_rules = RULES.iter().enumerate().flat_map(|(index, rule)| {
        rule.keywords
            .iter()
            .map(move |&word| (word, Call::Rule(index)))
    });
    let of_gitleaks = gitleaks::ENTRIES
        .iter()
        .enumerate()
        .flat_map(|(index, rule)| {
            let words = rule.keywords.iter();
            words.map(move |word| (word.as_str(), Call::Gitleaks(index)))
        });
    let generic = GENERIC_KEYWORDS.iter().map(|&word| (word, Call::Generic));
    let allow = ALLOW_MARKS.iter().map(|&word| (word, Call::Allow));
    let fixed = [
        ("://", Call::Url),
        ("curl", Call::Login),
        ("private key", Call::PrivateKey),
        ("private-lines:", Call::PrivateKey),
    ];
    let all = of_rules.chain(of_gitleaks).chain(generic);
    let (words, calls): (Vec<_>, Vec<_>) = all.chain(allow).chain(fixed).unzip();
    // Every byte of a change goes through it, mostly twice, and it is made while git still reads
    // the change: the kind that takes longest to make and is fastest pays.
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .kind(Some(AhoCorasickKind::DFA))
        .build(words)
        .expect("a short list of short words makes an automaton");
    Keywords { automaton, calls }
});

static COMPILED: [OnceLock<Regex>; RULES.len()] = [const { OnceLock::new() }; RULES.len()];

fn compile(pattern: &str) -> Regex {
    RegexBuilder::new(pattern)
        .unicode(false)
        .build()
        .expect("the patterns are constant and tested")
}

/// Which rules a line calls for.
#[derive(Debug, Default)]
struct Calls {
    rules: Vec<usize>,
    gitleaks: Vec<usize>,
    url: bool,
    generic: bool,
    login: bool,
    private_key: bool,
    allowed: bool,
}

impl Calls {
    fn of(line: &[u8]) -> Self {
        let mut calls = Self::default();
        for found in KEYWORDS.automaton.find_overlapping_iter(line) {
            match KEYWORDS.calls[found.pattern().as_usize()] {
                Call::Rule(index) => note(&mut calls.rules, index),
                Call::Gitleaks(index) => note(&mut calls.gitleaks, index),
                Call::Url => calls.url = true,
                Call::Generic => calls.generic = true,
                Call::Login => calls.login = true,
                Call::PrivateKey => calls.private_key = true,
                Call::Allow => calls.allowed = true,
            }
        }
        calls.rules.sort_unstable();
        calls.gitleaks.sort_unstable();
        calls
    }
}

/// Takes in the number of a rule once; there are few of them on a line.
fn note(rules: &mut Vec<usize>, index: usize) {
    if !rules.contains(&index) {
        rules.push(index);
    }
}

/// A credential found on a line.
#[derive(Debug, Clone)]
pub(in crate::intake) struct Credential {
    /// The rule that found it.
    pub(in crate::intake) rule: &'static str,
    /// Where it lies in the line.
    pub(in crate::intake) span: Range<usize>,
    /// What was read there when the line holds it in another encoding.
    pub(in crate::intake) decoded: Option<Vec<u8>>,
    /// Whether it protects nothing: a guessable login of the developer's own machine.
    pub(in crate::intake) is_harmless: bool,
    /// Whether only the name beside it tells.
    is_by_name: bool,
    what: Cow<'static, str>,
    length: Option<usize>,
    priority: u8,
    confidence: f64,
}

/// Where a line stands.
#[derive(Debug, Clone, Copy)]
pub(in crate::intake) struct Site<'a> {
    /// The path of its file below the repository's root; empty for a message.
    pub(in crate::intake) path: &'a [u8],
    /// What the path says about it.
    pub(in crate::intake) kind: PathKind,
    /// What the repository allows.
    pub(in crate::intake) allow: &'a Allowlist,
}

/// Returns the credentials on one line, none of which overlaps another. Private keys, which take
/// more than a line, are the business of [`private_key`].
pub(in crate::intake) fn find(line: &[u8], site: &Site<'_>) -> Vec<Credential> {
    find_called(line, &Calls::of(line), site)
}

fn find_called(line: &[u8], calls: &Calls, site: &Site<'_>) -> Vec<Credential> {
    let mut found = plain(line, calls, site.kind, site.path);
    for piece in decode::decode(line) {
        let calls = Calls::of(&piece.text);
        let mut inside = plain(&piece.text, &calls, site.kind, site.path);
        inside.extend(encoded::find(&piece.text, line, site.kind));
        if let Some(best) = inside.into_iter().min_by_key(|it| it.priority) {
            let credential = Credential {
                what: Cow::Owned(format!("{}, encoded", best.what)),
                decoded: Some(piece.text[best.span].to_vec()),
                span: piece.span,
                ..best
            };
            push_apart(&mut found, credential);
        }
    }
    found.retain(|credential| !is_allowed(credential, line, site));
    found
}

fn is_allowed(credential: &Credential, line: &[u8], site: &Site<'_>) -> bool {
    let secret = &line[credential.span.clone()];
    let judged = Judged {
        secret: credential.decoded.as_deref().unwrap_or(secret),
        matched: secret,
        line,
        path: site.path,
    };
    site.allow.allows_for(&judged, credential.rule)
}

/// Looks at a line as it stands.
fn plain(line: &[u8], calls: &Calls, kind: PathKind, path: &[u8]) -> Vec<Credential> {
    let mut found = Vec::new();
    let mut take = |credentials: Vec<Credential>| {
        for credential in credentials {
            push_apart(&mut found, credential);
        }
    };
    take(shaped(calls, line, kind));
    take(by_gitleaks(calls, line, kind, path));
    if calls.url {
        take(address::find(line, kind));
    }
    if calls.login {
        take(login::on_command_line(line, kind));
    }
    if calls.generic {
        take(login::in_connection_string(line, kind));
        take(named::find(line, kind));
    }
    found
}

/// Appends a credential unless it overlaps one of a better rule.
fn push_apart(found: &mut Vec<Credential>, credential: Credential) {
    let span = &credential.span;
    let overlaps = |other: &Credential| other.span.start < span.end && span.start < other.span.end;
    if !found.iter().any(overlaps) {
        found.push(credential);
    }
}

/// Reports each rule once per line.
pub(super) fn scan(text: &Text<'_>, allow: &Allowlist, report: &mut Report) {
    let site = Site {
        path: text.path,
        kind: text.kind,
        allow,
    };
    for (index, line) in text.lines.iter().enumerate() {
        let calls = Calls::of(line.bytes);
        let mut found = find_called(line.bytes, &calls, &site);
        if calls.private_key
            && let Some(key) = private_key::find(&text.lines, index)
        {
            let key = of_key(key, line.bytes.len(), text.kind);
            if !is_allowed(&key, line.bytes, &site) {
                found.push(key);
            }
        }
        for credential in found {
            let (priority, confidence) = match calls.allowed {
                true => (3, 0.5),
                false => (credential.priority, credential.confidence),
            };
            let hit = Hit::on_line(credential.rule, line.number, priority, confidence);
            report.add(hit, || words(&credential, calls.allowed));
        }
    }
}

/// Returns where text holds a credential whose shape alone tells, for taking it out of what
/// models and engines say.
pub(in crate::intake) fn shapes(text: &[u8]) -> Vec<Range<usize>> {
    let calls = Calls::of(text);
    let kind = PathKind::default();
    let mut found = shaped(&calls, text, kind);
    for credential in by_gitleaks(&calls, text, kind, b"") {
        if !credential.is_by_name {
            push_apart(&mut found, credential);
        }
    }
    let mut spans: Vec<_> = found.into_iter().map(|it| it.span).collect();
    spans.sort_unstable_by_key(|span| (span.start, span.end));
    spans
}

fn shaped(calls: &Calls, line: &[u8], kind: PathKind) -> Vec<Credential> {
    let mut found = Vec::new();
    for &index in &calls.rules {
        let rule = &RULES[index];
        let regex = COMPILED[index].get_or_init(|| compile(rule.pattern));
        let real = regex
            .captures_iter(line)
            .filter_map(|captures| captures.iter().skip(1).flatten().next())
            .filter(|value| {
                !is_placeholder(value.as_bytes()) && entropy(value.as_bytes()) >= rule.entropy
            });
        found.extend(real.map(|value| Credential {
            rule: rule.id,
            span: value.range(),
            decoded: None,
            is_by_name: false,
            is_harmless: false,
            what: Cow::Borrowed(rule.what),
            length: Some(value.len()),
            priority: soften_real(rule.priority, kind),
            confidence: if kind.exhibit { 0.7 } else { 0.95 },
        }));
    }
    found
}

/// Applies the rules of gitleaks. They tell nothing of how much a credential is worth.
fn by_gitleaks(calls: &Calls, line: &[u8], kind: PathKind, path: &[u8]) -> Vec<Credential> {
    let mut found = Vec::new();
    for &index in &calls.gitleaks {
        let entry = &gitleaks::ENTRIES[index];
        for secret in entry.find(line, path) {
            let (priority, confidence) = match secret.is_named {
                true => (kind.soften(2), 0.7),
                false => (soften_real(1, kind), 0.9),
            };
            found.push(Credential {
                rule: entry.id,
                span: secret.start..secret.end,
                decoded: None,
                is_by_name: secret.is_named,
                is_harmless: false,
                what: Cow::Owned(format!("a value as of `{}`", entry.id)),
                length: Some(secret.end - secret.start),
                priority,
                confidence,
            });
        }
    }
    found
}

/// A token of a provider's shape in a test is likely as real as elsewhere: it stays a P1.
fn soften_real(priority: u8, kind: PathKind) -> u8 {
    match priority {
        0 | 1 => kind.soften(priority).min(1),
        _ => kind.soften(priority),
    }
}

fn of_key(key: private_key::PrivateKey, end: usize, kind: PathKind) -> Credential {
    Credential {
        rule: "private-key",
        span: 0..end,
        decoded: None,
        is_by_name: false,
        is_harmless: false,
        what: Cow::Borrowed(if key.encrypted {
            "an encrypted private key"
        } else {
            "a private key"
        }),
        length: None,
        priority: soften_real(u8::from(key.encrypted), kind),
        confidence: 0.95,
    }
}

fn words(credential: &Credential, allowed: bool) -> Words {
    let Credential {
        rule, what, length, ..
    } = credential;
    let size = match length {
        Some(length) => format!("{length} characters, rule `{rule}`"),
        None => format!("rule `{rule}`"),
    };
    let asked = if allowed {
        " The line asks scanners to skip it; that wish is part of the change itself. Is it right?"
    } else {
        ""
    };
    Words {
        title: format!("Credential in the change: {what}"),
        body: format!(
            "This added text holds what looks like {what} ({size}; the value is not repeated \
             here).{asked} Anyone who can read the repository or its history can use it, also \
             after the line is removed. Revoke it with its issuer, take it out of the change and \
             of every commit that holds it, and load it from the environment or a secret store."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_has_its_groups() {
        for rule in RULES {
            assert!(compile(rule.pattern).captures_len() >= 2, "{}", rule.id);
            for word in rule.keywords {
                assert_eq!(*word, word.to_lowercase(), "{}", rule.id);
            }
        }
    }

    #[test]
    fn rules_are_in_the_order_of_their_names() {
        assert!(RULES.is_sorted_by_key(|rule| rule.id));
    }
}
