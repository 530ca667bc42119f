//! Values under a name that says they are secret.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::super::text::PathKind;
use super::placeholder::looks_secret;
use super::rules::{
    ARGUMENTS_PATTERN, ATTRIBUTES_PATTERN, BARE_PATTERNS, ELEMENT_PATTERN, QUOTED_PATTERN,
};
use super::{Credential, compile};

static QUOTED: LazyLock<Regex> = LazyLock::new(|| compile(QUOTED_PATTERN));
static ARGUMENTS: LazyLock<Regex> = LazyLock::new(|| compile(ARGUMENTS_PATTERN));
static ELEMENT: LazyLock<Regex> = LazyLock::new(|| compile(ELEMENT_PATTERN));
static ATTRIBUTES: LazyLock<Regex> = LazyLock::new(|| compile(ATTRIBUTES_PATTERN));
static BARE: LazyLock<[Regex; 3]> = LazyLock::new(|| BARE_PATTERNS.map(compile));

/// Returns the values on the line that look random under their names.
pub(super) fn find(line: &[u8], kind: PathKind) -> Vec<Credential> {
    let mut spans = in_quotes(line);
    if spans.is_empty() {
        spans = in_markup(line);
    }
    if spans.is_empty() && kind.settings {
        spans = BARE.iter().flat_map(|regex| values(regex, line)).collect();
    }
    let found = spans.into_iter().map(|span| Credential {
        rule: "named-secret",
        length: Some(span.len()),
        span,
        decoded: None,
        is_by_name: false,
        is_harmless: false,
        what: Cow::Borrowed("a value under the name of a secret"),
        priority: kind.soften(2),
        confidence: if kind.exhibit { 0.4 } else { 0.6 },
    });
    found.collect()
}

fn in_quotes(line: &[u8]) -> Vec<Range<usize>> {
    let mut spans = values(&QUOTED, line);
    // A name in quotes with a comma behind it.
    if spans.is_empty() && line.contains(&b',') {
        spans = values(&ARGUMENTS, line);
    }
    spans
}

fn in_markup(line: &[u8]) -> Vec<Range<usize>> {
    if !line.contains(&b'<') {
        return Vec::new();
    }
    let mut spans = values(&ELEMENT, line);
    if spans.is_empty() {
        spans = values(&ATTRIBUTES, line);
    }
    spans
}

/// Returns where the values that look secret lie.
fn values(regex: &Regex, line: &[u8]) -> Vec<Range<usize>> {
    let found = regex.captures_iter(line).filter_map(|captures| {
        let (name, value) = (captures.get(1)?, captures.get(2)?);
        if is_style(name.as_bytes(), &line[name.end()..value.start()]) {
            return None;
        }
        let start = value.start();
        let value = without_end(value.as_bytes());
        looks_secret(name.as_bytes(), value).then_some(start..start + value.len())
    });
    found.collect()
}

/// Whether a name is that of a property in a style sheet, `--token: ...`: a flag of a program has
/// no colon behind it.
fn is_style(name: &[u8], sign: &[u8]) -> bool {
    name.starts_with(b"--") && sign.contains(&b':')
}

/// Removes what ends a value in a list, a command or a flow of YAML.
fn without_end(mut value: &[u8]) -> &[u8] {
    while let Some((last, rest)) = value.split_last()
        && b",;)]}\\&|".contains(last)
    {
        value = rest;
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_has_a_name_and_a_value() {
        let regexes = [&*QUOTED, &*ARGUMENTS, &*ELEMENT, &*ATTRIBUTES];
        for regex in regexes.into_iter().chain(BARE.iter()) {
            assert_eq!(regex.captures_len(), 3, "{regex}");
        }
    }

    #[test]
    fn values_lose_what_ends_them() {
        assert_eq!(without_end(b"a9b8c7d6,"), b"a9b8c7d6");
        assert_eq!(without_end(b"a9b8c7d6;}"), b"a9b8c7d6");
        assert_eq!(without_end(b";"), b"");
    }
}
