//! Passwords inside addresses, databases above all.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::super::text::PathKind;
use super::placeholder::is_placeholder;
use super::rules::URL_PATTERN;
use super::{Credential, compile};

static URL: LazyLock<Regex> = LazyLock::new(|| compile(URL_PATTERN));

/// A password of the developer's own machine that is shorter protects nothing.
pub(super) const SHORTEST_LOCAL: usize = 12;

/// Returns the passwords worth a word in the addresses on a line.
pub(super) fn find(line: &[u8], kind: PathKind) -> Vec<Credential> {
    let found = URL.captures_iter(line).filter_map(|captures| {
        let [scheme, user, password, host] = [1, 2, 3, 4].map(|group| {
            captures
                .get(group)
                .map(|part| part.as_bytes())
                .unwrap_or_default()
        });
        let host = host.to_ascii_lowercase();
        if is_placeholder(password) || is_template(password) || is_word_for_password(password) {
            return None;
        }
        let local = is_local(&host);
        let guessable = password.eq_ignore_ascii_case(user);
        if local && guessable {
            return None;
        }
        let database = [
            "postgres", "mysql", "mariadb", "mongodb", "redis", "amqp", "mssql",
        ]
        .iter()
        .any(|name| scheme.to_ascii_lowercase().starts_with(name.as_bytes()));
        Some(Credential {
            rule: "url-password",
            span: captures.get(3)?.range(),
            decoded: None,
            is_by_name: false,
            is_harmless: guessable || local && password.len() < SHORTEST_LOCAL,
            what: Cow::Borrowed(if database {
                "a database address with its password"
            } else {
                "an address with a password"
            }),
            length: Some(password.len()),
            priority: if local || guessable {
                3
            } else {
                kind.soften(1)
            },
            confidence: if local || guessable { 0.4 } else { 0.85 },
        })
    });
    found.collect()
}

/// Whether the host is the developer's own, a name without a domain, or reserved for examples.
pub(super) fn is_local(host: &[u8]) -> bool {
    let host = host.rsplit(|&byte| byte == b'.').collect::<Vec<_>>();
    let reserved: [&[u8]; 5] = [b"example", b"test", b"invalid", b"localhost", b"local"];
    let example = matches!(host.as_slice(), [_, second, ..] if *second == b"example");
    host.len() == 1
        || host.first().is_some_and(|top| reserved.contains(top))
        || example
        || host.last() == Some(&&b"127"[..])
}

/// Whether the password is a name for one, as in documentation and local set-ups.
pub(super) fn is_word_for_password(password: &[u8]) -> bool {
    const WORDS: [&[u8]; 8] = [
        b"password",
        b"passwd",
        b"pass",
        b"pwd",
        b"secret",
        b"token",
        b"pw",
        b"userpass",
    ];
    WORDS.iter().any(|word| password.eq_ignore_ascii_case(word))
}

/// Whether the password is filled in later: `${PW}`, `$PW`, `{pw}`, `%s`, `[pw]`, `***`.
pub(super) fn is_template(password: &[u8]) -> bool {
    password.starts_with(b"$")
        || password.iter().any(|byte| b"{}[]()".contains(byte))
        || [&b"%s"[..], b"%v", b"***"].contains(&password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_has_its_groups() {
        assert_eq!(URL.captures_len(), 5);
    }

    #[test]
    fn escapes_do_not_make_a_template() {
        for real in ["k9Qz%40Lm2", "a$b7xQz9", "k9*Qz7vL"] {
            assert!(!is_template(real.as_bytes()), "{real}");
        }
        for template in ["${PW}", "$PW", "{pw}", "%s", "[pw]", "***"] {
            assert!(is_template(template.as_bytes()), "{template}");
        }
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
