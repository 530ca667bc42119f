//! Credentials written into the change.
//!
//! One automaton looks for the keywords of all rules; the regular expression of a rule is compiled
//! when its keyword turns up for the first time. A value under a telling name counts only when it
//! looks random and no rule with a shape of its own matched on the line. Values never leave this
//! module.

mod address;
mod login;
mod named;
mod placeholder;
mod private_key;
mod rules;

use std::sync::{LazyLock, OnceLock};

use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};

use super::report::{Hit, Report, Words};
use super::text::{PathKind, Text};
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
    let generic = GENERIC_KEYWORDS.iter().map(|&word| (word, Call::Generic));
    let allow = ALLOW_MARKS.iter().map(|&word| (word, Call::Allow));
    let fixed = [
        ("://", Call::Url),
        ("curl", Call::Login),
        ("private key", Call::PrivateKey),
        ("private-lines:", Call::PrivateKey),
    ];
    let (words, calls): (Vec<_>, Vec<_>) =
        of_rules.chain(generic).chain(allow).chain(fixed).unzip();
    let automaton = AhoCorasick::builder()
        .ascii_case_insensitive(true)
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
    rules: u128,
    url: bool,
    generic: bool,
    login: bool,
    private_key: bool,
    allowed: bool,
}

// One bit for each rule.
const _: () = assert!(RULES.len() <= 128);

impl Calls {
    fn of(line: &[u8]) -> Self {
        let mut calls = Self::default();
        for found in KEYWORDS.automaton.find_overlapping_iter(line) {
            match KEYWORDS.calls[found.pattern().as_usize()] {
                Call::Rule(index) => calls.rules |= 1 << index,
                Call::Url => calls.url = true,
                Call::Generic => calls.generic = true,
                Call::Login => calls.login = true,
                Call::PrivateKey => calls.private_key = true,
                Call::Allow => calls.allowed = true,
            }
        }
        calls
    }
}

/// A credential found on a line, without its value.
#[derive(Debug, Clone, Copy)]
struct Credential {
    rule: &'static str,
    what: &'static str,
    length: Option<usize>,
    priority: u8,
    confidence: f64,
}

/// Reports each rule once per line.
pub(super) fn scan(text: &Text<'_>, report: &mut Report) {
    for (index, line) in text.lines.iter().enumerate() {
        let calls = Calls::of(line.bytes);
        let mut found = Vec::new();
        if calls.private_key {
            found.extend(private_key::find(&text.lines, index).map(|key| of_key(key, text.kind)));
        }
        shaped(&calls, line.bytes, text.kind, &mut found);
        if calls.url {
            found.extend(address::find(line.bytes, text.kind));
        }
        if calls.login {
            found.extend(login::on_command_line(line.bytes, text.kind));
        }
        if calls.generic && found.is_empty() {
            let field = login::in_connection_string(line.bytes, text.kind);
            found.extend(field.or_else(|| named::find(line.bytes, text.kind)));
        }
        for credential in found {
            let priority = if calls.allowed {
                3
            } else {
                credential.priority
            };
            let confidence = if calls.allowed {
                0.5
            } else {
                credential.confidence
            };
            let hit = Hit::on_line(credential.rule, line.number, priority, confidence);
            report.add(hit, || words(credential, calls.allowed));
        }
    }
}

fn shaped(calls: &Calls, line: &[u8], kind: PathKind, found: &mut Vec<Credential>) {
    let mut rest = calls.rules;
    while rest != 0 {
        let index = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let rule = &RULES[index];
        let regex = COMPILED[index].get_or_init(|| compile(rule.pattern));
        let real = regex
            .captures_iter(line)
            .filter_map(|captures| captures.iter().skip(1).flatten().next())
            .find(|value| {
                !is_placeholder(value.as_bytes()) && entropy(value.as_bytes()) >= rule.entropy
            });
        if let Some(value) = real {
            found.push(Credential {
                rule: rule.id,
                what: rule.what,
                length: Some(value.len()),
                priority: soften_real(rule.priority, kind),
                confidence: if kind.exhibit { 0.7 } else { 0.95 },
            });
        }
    }
}

/// A token of a provider's shape in a test is likely as real as elsewhere: it stays a P1.
fn soften_real(priority: u8, kind: PathKind) -> u8 {
    match priority {
        0 | 1 => kind.soften(priority).min(1),
        _ => kind.soften(priority),
    }
}

fn of_key(key: private_key::PrivateKey, kind: PathKind) -> Credential {
    Credential {
        rule: "private-key",
        what: if key.encrypted {
            "an encrypted private key"
        } else {
            "a private key"
        },
        length: None,
        priority: soften_real(u8::from(key.encrypted), kind),
        confidence: 0.95,
    }
}

fn words(credential: Credential, allowed: bool) -> Words {
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
