//! Values under a name that says they are secret.

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

/// Returns the first value on the line that looks random under its name.
pub(super) fn find(line: &[u8], kind: PathKind) -> Option<Credential> {
    let length = in_quotes(line)
        .or_else(|| in_markup(line))
        .or_else(|| kind.settings.then(|| bare(line)).flatten())?;
    Some(Credential {
        rule: "named-secret",
        what: "a value under the name of a secret",
        length: Some(length),
        priority: kind.soften(2),
        confidence: if kind.exhibit { 0.4 } else { 0.6 },
    })
}

fn in_quotes(line: &[u8]) -> Option<usize> {
    first(&QUOTED, line).or_else(|| {
        // A name in quotes with a comma behind it.
        let listed = line.contains(&b',');
        listed.then(|| first(&ARGUMENTS, line)).flatten()
    })
}

fn in_markup(line: &[u8]) -> Option<usize> {
    if !line.contains(&b'<') {
        return None;
    }
    first(&ELEMENT, line).or_else(|| first(&ATTRIBUTES, line))
}

fn bare(line: &[u8]) -> Option<usize> {
    BARE.iter().find_map(|regex| first(regex, line))
}

/// Returns the length of the first value that looks secret.
fn first(regex: &Regex, line: &[u8]) -> Option<usize> {
    regex.captures_iter(line).find_map(|captures| {
        let (name, value) = (captures.get(1)?, captures.get(2)?);
        if is_style(name.as_bytes(), &line[name.end()..value.start()]) {
            return None;
        }
        let value = without_end(value.as_bytes());
        looks_secret(name.as_bytes(), value).then_some(value.len())
    })
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
