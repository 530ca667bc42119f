//! Literal secrets. A config file refers to keys by the names of environment variables (SPEC 15),
//! so a value that is a key itself is refused and never repeated.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::RegexSet;

/// The shapes of keys that are recognisable by themselves. Each needs a length that no model name
/// or profile reaches.
static SHAPES: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r"(?:^|[^A-Za-z0-9/])sk-[A-Za-z0-9_-]{16,}",
        r"(?:^|[^A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{20,}",
        r"github_pat_[A-Za-z0-9_]{20,}",
        r"glpat-[A-Za-z0-9_-]{16,}",
        r"(?:^|[^A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?:$|[^A-Za-z0-9])",
        r"(?:^|[^A-Za-z0-9])AIza[A-Za-z0-9_-]{30,}",
        r"(?:^|[^A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}",
        r"(?:^|[^A-Za-z0-9])(?:xai|gsk|fk|crsr|key)[-_][A-Za-z0-9]{24,}",
        r"(?:^|[^A-Za-z0-9])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.",
        r"(?i)\bbearer\s+[A-Za-z0-9._~+/-]{16,}",
        r"-----BEGIN [A-Z ]*PRIVATE KEY",
        // Credentials in a URL.
        r"[A-Za-z][A-Za-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@",
    ])
    .expect("the patterns are valid")
});

/// Words of a key's name that announce a secret.
const ANNOUNCING: [&str; 8] = [
    "token",
    "secret",
    "password",
    "passwd",
    "credential",
    "credentials",
    "authorization",
    "apikey",
];

/// Last words of a key's name that say its value only points to a secret.
const POINTING: [&str; 4] = ["env", "variable", "file", "path"];

/// Below this length and variety, a value under an announcing name is taken for a placeholder.
const SHORTEST: usize = 16;
const LEAST_ENTROPY: f64 = 3.0;

/// No shape but that of a URL is shorter, in bytes.
const SHORTEST_SHAPE: usize = 15;

/// Whether a text is a key by its shape. Most values of a config are too short to be one, and then
/// no pattern is compiled.
pub(super) fn has_key_shape(text: &str) -> bool {
    (text.len() >= SHORTEST_SHAPE || text.contains("://")) && SHAPES.is_match(text)
}

/// Whether a value is a secret by its shape, or by the name it stands under.
pub(super) fn is_literal(name: &str, value: &str) -> bool {
    has_key_shape(value)
        || (announces_secret(name)
            && value.len() >= SHORTEST
            && !value.contains(char::is_whitespace)
            && entropy(value) >= LEAST_ENTROPY)
}

/// Whether the name of a key says that its value is a secret.
fn announces_secret(name: &str) -> bool {
    let words = words(name);
    if words
        .last()
        .is_some_and(|last| POINTING.contains(&last.as_str()))
    {
        return false;
    }
    words.iter().any(|word| ANNOUNCING.contains(&word.as_str()))
        || words.windows(2).any(|pair| {
            pair[1] == "key" && ["api", "access", "private", "auth"].contains(&pair[0].as_str())
        })
}

/// Splits `apiKeyEnv`, `API_KEY` and `x-api-key` into lower-case words.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut open = false;
    let mut lower_before = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() {
            open = false;
            continue;
        }
        if !open || (letter.is_uppercase() && lower_before) {
            words.push(String::new());
        }
        open = true;
        lower_before = !letter.is_uppercase();
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

/// Returns the entropy of a text in bits per character.
fn entropy(text: &str) -> f64 {
    let mut counts: HashMap<char, u32> = HashMap::new();
    for letter in text.chars() {
        *counts.entry(letter).or_default() += 1;
    }
    let total = f64::from(counts.values().sum::<u32>().max(1));
    counts
        .values()
        .map(|count| f64::from(*count) / total)
        .map(|share| -share * share.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_their_shape() {
        for value in [
            "sk-proj-abcdefghijklmnop1234",
            "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
            "github_pat_11ABCDEFG0abcdefghijkl",
            "AKIAIOSFODNN7EXAMPLE",
            "AIzaSyA1234567890abcdefghijklmnopqrstuv",
            "xoxb-1234567890-abcdef",
            "Bearer abcdefghijklmnop1234",
            "-----BEGIN OPENSSH PRIVATE KEY-----",
            "https://user:hunter2@example.com/v1",
            "prefix sk-ant-api03-abcdefghijklmnop suffix",
        ] {
            assert!(is_literal("anything", value), "{value}");
        }
    }

    #[test]
    fn a_long_random_value_needs_an_announcing_name() {
        let random = "Zx81mQp03LkR77tUwY2b";
        for name in [
            "apiKey",
            "API_KEY",
            "token",
            "authToken",
            "clientSecret",
            "x-api-key",
        ] {
            assert!(is_literal(name, random), "{name}");
        }
        for name in [
            "apiKeyEnv",
            "tokenFile",
            "model",
            "keyboard",
            "tokenizer",
            "secretPath",
        ] {
            assert!(!is_literal(name, random), "{name}");
        }
    }

    #[test]
    fn ordinary_values_are_not_secrets() {
        for (name, value) in [
            ("secret", "S3CRET"),
            ("apiKeyEnv", "OPENROUTER_API_KEY"),
            ("model", "anthropic/claude-sonnet-4-20250514"),
            ("executable", "/opt/sk-tools-of-the-whole-team/codex"),
            ("token", "aaaaaaaaaaaaaaaaaaaaaaaa"),
            ("url", "https://example.com:8080/v1"),
            ("password", "see the wiki page of the team"),
        ] {
            assert!(!is_literal(name, value), "{name}: {value}");
        }
    }
}
