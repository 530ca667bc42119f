//! Passwords among other words: in connection strings and on command lines.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::super::text::PathKind;
use super::address::{SHORTEST_LOCAL, is_local, is_template, is_word_for_password};
use super::placeholder::is_placeholder;
use super::rules::{FIELD_PATTERN, HOST_PATTERN, LOGIN_PATTERN};
use super::{Credential, compile};

static FIELD: LazyLock<Regex> = LazyLock::new(|| compile(FIELD_PATTERN));
static HOST: LazyLock<Regex> = LazyLock::new(|| compile(HOST_PATTERN));
static LOGIN: LazyLock<Regex> = LazyLock::new(|| compile(LOGIN_PATTERN));

/// Returns a connection string with its password: fields such as `Server=db;Password=...;`.
pub(super) fn in_connection_string(line: &[u8], kind: PathKind) -> Vec<Credential> {
    let fields = FIELD.captures_iter(line);
    let passwords = fields.filter_map(|captures| captures.get(1));
    let real: Vec<_> = passwords
        .filter(|password| is_real(password.as_bytes()))
        .map(|password| password.range())
        .collect();
    if real.is_empty() {
        return Vec::new();
    }
    let beside = HOST.captures_iter(line);
    let hosts: Vec<_> = beside.map(|captures| captures.get(1)).collect();
    if hosts.is_empty() {
        return Vec::new();
    }
    let mut named = hosts.into_iter().flatten().peekable();
    let local =
        named.peek().is_some() && named.all(|host| is_local(&host.as_bytes().to_ascii_lowercase()));
    let what = "a connection string with its password";
    let found = real.into_iter();
    found
        .map(|span| credential("connection-string", what, span, local, kind))
        .collect()
}

/// Returns the logins that are handed to curl.
pub(super) fn on_command_line(line: &[u8], kind: PathKind) -> Vec<Credential> {
    let found = LOGIN.captures_iter(line).filter_map(|captures| {
        let span = captures.get(2)?.range();
        let (user, password) = (captures.get(1)?.as_bytes(), captures.get(2)?.as_bytes());
        let guessable = password.eq_ignore_ascii_case(user);
        let what = "a login on a command line";
        is_real(password).then(|| credential("command-login", what, span, guessable, kind))
    });
    found.collect()
}

fn is_real(password: &[u8]) -> bool {
    !is_placeholder(password) && !is_template(password) && !is_word_for_password(password)
}

fn credential(
    rule: &'static str,
    what: &'static str,
    span: Range<usize>,
    harmless: bool,
    kind: PathKind,
) -> Credential {
    Credential {
        rule,
        length: Some(span.len()),
        is_by_name: false,
        is_harmless: harmless && span.len() < SHORTEST_LOCAL,
        span,
        decoded: None,
        what: Cow::Borrowed(what),
        priority: if harmless { 3 } else { kind.soften(1) },
        confidence: if harmless { 0.4 } else { 0.8 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_patterns_have_their_groups() {
        let counts = [&*FIELD, &*HOST, &*LOGIN].map(Regex::captures_len);
        assert_eq!(counts, [2, 2, 3]);
    }

    #[test]
    fn fields_need_their_neighbours() {
        let priority = |line: &str| {
            let found = in_connection_string(line.as_bytes(), PathKind::default());
            found.first().map(|credential| credential.priority)
        };
        assert_eq!(priority("Server=db.acme.io;Password=k9Qz7vL;"), Some(1));
        assert_eq!(priority("\"Server=localhost;Password=k9Qz7vL;\""), Some(3));
        assert_eq!(
            priority("host=db user=app password=k9Qz7vL dbname=x"),
            Some(3)
        );
        assert_eq!(priority("jdbc:x://db/a?user=app&password=k9Qz7vL"), Some(1));
        for silent in [
            "x; password=k9Qz7vL",
            "connect(host=h, password=pw1234)",
            "Server=db.acme.io;Password={password};",
            "Server=db.acme.io;Password=changeme;",
        ] {
            assert_eq!(priority(silent), None, "{silent}");
        }
    }
}
