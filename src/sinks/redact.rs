//! Secrets are taken out of everything that is written.
//!
//! Three kinds are known: the values of this process's own secret variables (see `secrets`), those
//! that were found in the reviewed change, and text in the shape of a well-known kind of token. Engines are given those variables and models
//! read code, so both can come back in any field of an answer or of an error.
//!
//! JSON is redacted string by string, never across its structure, so that what was valid JSON
//! stays valid whatever a secret looks like. What consumers rely on stays as well: the name of a
//! member never loses a variable's value, and a contract word under one of the names that hold
//! nothing else (`type`, `status`, ...) is left alone. Paths are redacted like any other text; that
//! ordinary names in them are no secrets is the business of `secrets`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use aho_corasick::{AhoCorasick, MatchKind};
use regex::Regex;

use super::secrets::{self, Secret};
use crate::env::Environment;
use crate::intake::scan::credential_shapes;

/// What stands in the place of a token that no variable holds.
const REDACTED: &str = "[redacted]";

/// Takes secrets out of text. Nothing is compiled before the first text comes.
#[derive(Debug, Default)]
pub struct Redactor {
    secrets: Vec<Secret>,
    exact: OnceLock<Option<AhoCorasick>>,
    learned: OnceLock<AhoCorasick>,
}

impl Redactor {
    /// Creates a redactor for the secrets of an environment; token shapes are always redacted.
    pub fn new(environment: &Environment) -> Self {
        Self {
            secrets: secrets::of_environment(environment),
            exact: OnceLock::new(),
            learned: OnceLock::new(),
        }
    }

    /// Returns `text` with every secret replaced by `[redacted:NAME]` or `[redacted]`.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = then(self.redact_exact(text), |text| self.redact_learned(text));
        let text = then(text, redact_shapes);
        then(text, redact_credentials)
    }

    /// Returns JSON text (one value, or lines of them) with every secret in its strings replaced.
    pub fn redact_json<'a>(&self, json: &'a str) -> Cow<'a, str> {
        let mut safe = String::new();
        let mut copied = 0;
        let mut rest = 0;
        let mut member = "";
        while let Some(open) = find_quote(json, rest) {
            let literal = open..end_of_literal(json, open);
            rest = literal.end;
            let text = &json[literal.clone()];
            let replacement = if is_name(&json[rest..]) {
                member = text;
                // An engine chooses some names; none of diffwarden's has the shape of a token.
                rewrite_literal(text, redact_shapes)
            } else if is_contract_word(member, text) {
                None
            } else {
                rewrite_literal(text, |text| self.redact(text))
            };
            if let Some(replacement) = replacement {
                safe.push_str(&json[copied..literal.start]);
                safe.push_str(&replacement);
                copied = literal.end;
            }
        }
        if copied == 0 {
            return Cow::Borrowed(json);
        }
        safe.push_str(&json[copied..]);
        Cow::Owned(safe)
    }

    /// Learns the secrets that a change holds, which are redacted from now on. Only the first call
    /// counts: a run reviews one change.
    pub fn learn(&self, secrets: &[String]) {
        if secrets.is_empty() {
            return;
        }
        self.learned.get_or_init(|| {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(secrets)
                .expect("the size of a patch is bounded far below an automaton's limits")
        });
    }

    fn redact_learned<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.learned.get() {
            Some(learned) => {
                let spans = learned.find_iter(text).map(|found| found.range());
                replace(text, spans)
            }
            None => Cow::Borrowed(text),
        }
    }

    fn redact_exact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(exact) = self.exact.get_or_init(|| compile(&self.secrets)) else {
            return Cow::Borrowed(text);
        };
        let mut safe = String::new();
        let mut copied = 0;
        for found in exact.find_iter(text) {
            safe.push_str(&text[copied..found.start()]);
            safe.push_str("[redacted:");
            safe.push_str(&self.secrets[found.pattern().as_usize()].name);
            safe.push(']');
            copied = found.end();
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        safe.push_str(&text[copied..]);
        Cow::Owned(safe)
    }
}

fn compile(secrets: &[Secret]) -> Option<AhoCorasick> {
    let values = secrets.iter().map(|secret| secret.value.as_str());
    (!secrets.is_empty()).then(|| {
        AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(values)
            .expect("the system bounds an environment far below an automaton's limits")
    })
}

/// Takes out what the scan of changes would call a credential by its shape alone.
fn redact_credentials(text: &str) -> Cow<'_, str> {
    replace(text, credential_shapes(text).into_iter())
}

/// Replaces spans that come in order and do not overlap.
fn replace(text: &str, spans: impl Iterator<Item = Range<usize>>) -> Cow<'_, str> {
    let mut safe = String::new();
    let mut copied = 0;
    for Range { start, end } in spans {
        if let (Some(before), true) = (text.get(copied..start), text.is_char_boundary(end)) {
            safe.push_str(before);
            safe.push_str(REDACTED);
            copied = end;
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    safe.push_str(&text[copied..]);
    Cow::Owned(safe)
}

fn redact_shapes(text: &str) -> Cow<'_, str> {
    let mut text = TOKENS.replace_all(text, REDACTED);
    if text.contains("earer") {
        text = then(text, |text| BEARER.replace_all(text, "$1[redacted]"));
    }
    if !text.contains("://") {
        return text;
    }
    then(text, |text| URL_PASSWORD.replace_all(text, "$1[redacted]@"))
}

/// Applies one more step without copying what the step leaves alone.
fn then<'a>(text: Cow<'a, str>, step: impl Fn(&str) -> Cow<'_, str>) -> Cow<'a, str> {
    match text {
        Cow::Borrowed(text) => step(text),
        Cow::Owned(text) => match step(&text) {
            Cow::Owned(changed) => Cow::Owned(changed),
            Cow::Borrowed(_) => Cow::Owned(text),
        },
    }
}

/// Rewrites a JSON string, quotes included; `None` when it stays as it is.
fn rewrite_literal<F>(literal: &str, rewrite: F) -> Option<String>
where
    F: Fn(&str) -> Cow<'_, str>,
{
    let text: Cow<'_, str> = if literal.contains('\\') {
        Cow::Owned(serde_json::from_str(literal).ok()?)
    } else {
        Cow::Borrowed(literal.get(1..literal.len() - 1)?)
    };
    match rewrite(&text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(safe) => serde_json::to_string(&safe).ok(),
    }
}

/// Whether a literal is the name of a member, by what follows it.
fn is_name(behind: &str) -> bool {
    behind.trim_start().starts_with(':')
}

/// Names, in quotes, of members that hold a word of the contract and nothing else.
const WORD_MEMBERS: [&str; 12] = [
    "\"anchor\"",
    "\"code\"",
    "\"engine\"",
    "\"kind\"",
    "\"overall_correctness\"",
    "\"parse_mode\"",
    "\"reason\"",
    "\"reasons\"",
    "\"sent\"",
    "\"status\"",
    "\"transport\"",
    "\"type\"",
];

/// Whether a literal is a word of the contract. Engines choose names too, so what no such word
/// looks like is none.
fn is_contract_word(member: &str, literal: &str) -> bool {
    let is_of_words = |b: u8| b.is_ascii_lowercase() || matches!(b, b'"' | b' ' | b'-' | b'_');
    WORD_MEMBERS.contains(&member) && literal.bytes().all(is_of_words)
}

fn find_quote(json: &str, from: usize) -> Option<usize> {
    json.get(from..)?.find('"').map(|at| from + at)
}

/// Returns where the string literal that opens at `open` ends, behind its closing quote.
fn end_of_literal(json: &str, open: usize) -> usize {
    let bytes = json.as_bytes();
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    json.len()
}

/// Tokens that can be told by their beginning. None matches a commit id or a digest.
const TOKEN_SHAPES: [&str; 24] = [
    // Model providers.
    r"\bsk-ant-[A-Za-z0-9_-]{20,}",
    r"\bsk-(?:proj|svcacct|admin)-[A-Za-z0-9_-]{20,}",
    r"\bsk-or-v1-[0-9a-f]{32,}",
    r"\bsk-[A-Za-z0-9]{32,}",
    r"\bAIza[A-Za-z0-9_-]{35}",
    r"\bya29\.[A-Za-z0-9_-]{20,}",
    r"\bxai-[A-Za-z0-9]{40,}",
    r"\bgsk_[A-Za-z0-9]{40,}",
    r"\bhf_[A-Za-z0-9]{30,}",
    r"\bfk-[A-Za-z0-9_-]{32,}",
    r"\bkey_[0-9a-f]{64}",
    // Code hosts and registries.
    r"\bgh[pousr]_[A-Za-z0-9]{36,}",
    r"\bgithub_pat_[A-Za-z0-9_]{22,}",
    r"\bglpat-[A-Za-z0-9_-]{20,}",
    r"\bnpm_[A-Za-z0-9]{36}",
    r"\bpypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{20,}",
    // Clouds and services.
    r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    r"\bxapp-[A-Za-z0-9-]{20,}",
    r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"\bdop_v1_[0-9a-f]{64}",
    // Any issuer.
    r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    // A private key, also one that stands in source code with its line breaks escaped.
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\s:,]|\\[nr])*(?:-----END [A-Z0-9 ]*PRIVATE KEY-----)?",
];

static TOKENS: LazyLock<Regex> = LazyLock::new(|| shape(&TOKEN_SHAPES.join("|")));

static BEARER: LazyLock<Regex> =
    LazyLock::new(|| shape(r"\b([Bb]earer\s+)[A-Za-z0-9._~+/-]{20,}=*"));

/// The password of an address such as `https://user:password@host`.
static URL_PASSWORD: LazyLock<Regex> =
    LazyLock::new(|| shape(r"(\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@]*:)[^\s/@]+@"));

fn shape(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns are constants that a test compiles")
}

#[cfg(test)]
mod tests;
