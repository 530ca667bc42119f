//! Passwords inside addresses, databases above all.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::super::text::PathKind;
use super::placeholder::is_placeholder;
use super::rules::URL_PATTERN;
use super::{Credential, compile};

static URL: LazyLock<Regex> = LazyLock::new(|| compile(URL_PATTERN));

/// Returns the first address on the line that holds a password worth a word.
pub(super) fn find(line: &[u8], kind: PathKind) -> Option<Credential> {
    URL.captures_iter(line).find_map(|captures| {
        let [scheme, user, password, host] = [1, 2, 3, 4].map(|group| {
            captures
                .get(group)
                .map(|part| part.as_bytes())
                .unwrap_or_default()
        });
        let host = host.to_ascii_lowercase();
        let local = is_local(&host);
        let trivial = is_trivial(user, password);
        if is_placeholder(password) || is_template(password) || (trivial && local) {
            return None;
        }
        let database = [
            "postgres", "mysql", "mariadb", "mongodb", "redis", "amqp", "mssql",
        ]
        .iter()
        .any(|name| scheme.to_ascii_lowercase().starts_with(name.as_bytes()));
        Some(Credential {
            rule: "url-password",
            what: if database {
                "a database address with its password"
            } else {
                "an address with a password"
            },
            length: Some(password.len()),
            priority: if local || trivial { 3 } else { kind.soften(1) },
            confidence: if local || trivial { 0.4 } else { 0.85 },
        })
    })
}

/// Whether the host is the developer's own, a name without a domain, or reserved for examples.
fn is_local(host: &[u8]) -> bool {
    let host = host.rsplit(|&byte| byte == b'.').collect::<Vec<_>>();
    let reserved: [&[u8]; 5] = [b"example", b"test", b"invalid", b"localhost", b"local"];
    let example = matches!(host.as_slice(), [_, second, ..] if *second == b"example");
    host.len() == 1
        || host.first().is_some_and(|top| reserved.contains(top))
        || example
        || host.last() == Some(&&b"127"[..])
}

fn is_trivial(user: &[u8], password: &[u8]) -> bool {
    let words: [&[u8]; 12] = [
        b"password",
        b"passwd",
        b"pass",
        b"pwd",
        b"secret",
        b"user",
        b"root",
        b"admin",
        b"test",
        b"token",
        b"guest",
        b"postgres",
    ];
    let password = password.to_ascii_lowercase();
    password == user.to_ascii_lowercase() || words.contains(&password.as_slice())
}

fn is_template(value: &[u8]) -> bool {
    value.iter().any(|byte| b"${}%*()[]".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_has_its_groups() {
        assert_eq!(URL.captures_len(), 5);
    }

    #[test]
    fn hosts_are_local_or_not() {
        for host in ["localhost", "127.0.0.1", "db", "db.example.com", "a.test"] {
            assert!(is_local(host.as_bytes()), "{host}");
        }
        for host in ["db.acme.io", "10.0.0.1", "example.acme.io"] {
            assert!(!is_local(host.as_bytes()), "{host}");
        }
    }
}
