//! What is a credential only because somebody encoded it: a login as programs send it, and a whole
//! private key on one line.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::super::text::PathKind;
use super::address::is_word_for_password;
use super::placeholder::{entropy, is_placeholder};
use super::{Credential, compile, soften_real};

/// A user and a password, and nothing else.
static LOGIN: LazyLock<Regex> = LazyLock::new(|| compile(r"^[^\s:]{1,100}:([!-~]{6,200})$"));

/// What a line says beside an encoded login.
static ANNOUNCED: LazyLock<Regex> =
    LazyLock::new(|| compile(r#"(?i)\bbasic\s|["']?_?auth["']?\s*[:=]"#));

/// A header with key material behind it; ends of lines may be written as escapes.
static KEY: LazyLock<Regex> = LazyLock::new(|| {
    compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----[\s\\nr]+([A-Za-z0-9+/]{40})")
});

/// Looks at decoded text of a line.
pub(super) fn find(text: &[u8], line: &[u8], kind: PathKind) -> Option<Credential> {
    let credential = |rule, what, span: Range<usize>, priority| Credential {
        rule,
        length: Some(span.len()),
        span,
        decoded: None,
        is_harmless: false,
        is_by_name: false,
        what: Cow::Borrowed(what),
        priority: soften_real(priority, kind),
        confidence: if kind.exhibit { 0.7 } else { 0.9 },
    };
    if let Some(key) = KEY.find(text) {
        return Some(credential("private-key", "a private key", key.range(), 0));
    }
    let password = LOGIN.captures(text)?.get(1)?;
    let is_real = ANNOUNCED.is_match(line)
        && !is_placeholder(password.as_bytes())
        && !is_word_for_password(password.as_bytes())
        && entropy(password.as_bytes()) >= 2.5;
    is_real.then(|| credential("encoded-login", "a login", 0..text.len(), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn priority(text: &str, line: &str) -> Option<u8> {
        find(text.as_bytes(), line.as_bytes(), PathKind::default()).map(|it| it.priority)
    }

    #[test]
    fn a_login_counts_where_one_is_announced() {
        for line in [
            "Authorization: Basic x",
            "\"auth\": \"x\"",
            "//registry.acme.io/:_auth=x",
        ] {
            assert_eq!(priority("bot:k9Qz7vLm", line), Some(1), "{line}");
        }
        assert_eq!(priority("bot:k9Qz7vLm", "title = x"), None);
        for text in [
            "bot:password",
            "bot:${PASSWORD}",
            "bot:changeme",
            "a bot:k9Qz7vLm",
            "bot:",
        ] {
            assert_eq!(priority(text, "auth: x"), None, "{text}");
        }
    }

    #[test]
    fn a_key_counts_anywhere() {
        let material = "q7Wm2Zx9Lk4Vt8Rb3Ny6Hc1Jd5Gf0Ps2Ua7Eq7Wm2Zx9";
        for end in ["\n", "\r\n", "\\n"] {
            let key = format!("-----BEGIN @ KEY-----{end}{material}").replace('@', "RSA PRIVATE");
            assert_eq!(priority(&key, "x"), Some(0), "{end:?}");
        }
        assert_eq!(priority("-----BEGIN @ KEY-----", "x"), None);
    }
}
