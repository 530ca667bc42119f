//! Which environment variables hold a secret: a judgement by name and value.
//!
//! Too little here prints a password; too much would blank ordinary words and paths out of every
//! review. So a variable must be named like a secret and its value must not be something that is
//! plainly none.

use crate::env::Environment;

/// A value that must never be printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Secret {
    /// The variable that holds it.
    pub(super) name: String,
    /// Its value, trimmed.
    pub(super) value: String,
}

/// Shorter values are too common in ordinary text.
const SHORTEST: usize = 8;

/// Under a name that only may mean a secret, a value of letters alone (`lastname`) is one from
/// this length on.
const SHORTEST_WORD: usize = 16;

/// A value of digits alone is a secret from this length on.
const SHORTEST_NUMBER: usize = 12;

/// Parts of a name that mean a secret wherever they stand, also inside a longer word.
const TELLING: [&str; 11] = [
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "APIKEY",
    "API_KEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "PRIVATEKEY",
];

/// Words of a name that may mean a secret, as a whole word only: `KEYBOARD` holds none.
const HINTING: [&str; 12] = [
    "KEY", "KEYS", "AUTH", "PASS", "PWD", "PAT", "JWT", "COOKIE", "COOKIES", "BEARER", "CREDS",
    "DSN",
];

/// Values that stand in variables named like a secret and are none, in lower case.
const COMMON_VALUES: [&str; 16] = [
    "anonymous",
    "automatic",
    "changeme",
    "disabled",
    "external",
    "gnome-keyring",
    "interactive",
    "keychain",
    "libsecret",
    "optional",
    "password",
    "plaintext",
    "prompted",
    "redacted",
    "required",
    "undefined",
];

/// Last words of a name that say that the value is about a secret and not the secret.
const HARMLESS_ENDINGS: [&str; 28] = [
    "FILE", "FILES", "PATH", "DIR", "HOME", "FOLDER", "ROOT", "SOCK", "SOCKET", "COMMAND", "CMD",
    "HELPER", "PROGRAM", "URL", "URI", "ENDPOINT", "HOST", "PORT", "NAME", "USER", "USERNAME",
    "TYPE", "MODE", "METHOD", "ENV", "VAR", "LIMIT", "TTL",
];

/// First folders of absolute paths. A secret may begin with a slash too, but not like this.
const ROOTS: [&str; 28] = [
    "Applications",
    "Library",
    "Users",
    "Volumes",
    "app",
    "bin",
    "boot",
    "builds",
    "data",
    "dev",
    "etc",
    "github",
    "home",
    "lib",
    "media",
    "mnt",
    "nix",
    "opt",
    "private",
    "proc",
    "root",
    "run",
    "srv",
    "sys",
    "tmp",
    "usr",
    "var",
    "workspace",
];

/// Returns the secrets of an environment, each value once, under the first name that holds it.
pub(super) fn of_environment(environment: &Environment) -> Vec<Secret> {
    let mut secrets: Vec<Secret> = Vec::new();
    for (name, value) in environment.iter() {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else {
            continue;
        };
        let value = value.trim();
        let is_secret = likelihood(name).is_some_and(|likely| is_secret_value(value, likely))
            // The name of another variable, as in `API_KEY_VARIABLE=OPENAI_API_KEY`.
            && environment.raw(value).is_none()
            && !secrets.iter().any(|secret| secret.value == value);
        if is_secret {
            secrets.push(Secret {
                name: name.to_owned(),
                value: value.to_owned(),
            });
        }
    }
    secrets
}

/// How surely a variable holds a secret, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Likelihood {
    Perhaps,
    Surely,
}

fn likelihood(name: &str) -> Option<Likelihood> {
    let name = name.to_ascii_uppercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let last = words.clone().next_back().unwrap_or_default();
    if HARMLESS_ENDINGS.contains(&last) || name == "PWD" || name == "OLDPWD" {
        None
    } else if TELLING.iter().any(|part| name.contains(part)) {
        Some(Likelihood::Surely)
    } else {
        let is_hinted = words.any(|word| HINTING.contains(&word));
        is_hinted.then_some(Likelihood::Perhaps)
    }
}

fn is_secret_value(value: &str, likelihood: Likelihood) -> bool {
    let length = value.chars().count();
    let is_separator = |c: char| matches!(c, '-' | '_' | '.' | ' ');
    let is_word = value.chars().all(|c| c.is_alphabetic() || is_separator(c));
    let is_number = value.chars().all(|c| c.is_ascii_digit() || is_separator(c));
    let shortest = if is_word && likelihood == Likelihood::Perhaps {
        SHORTEST_WORD
    } else if is_number {
        SHORTEST_NUMBER
    } else {
        SHORTEST
    };
    let is_common = || COMMON_VALUES.contains(&value.to_lowercase().as_str());
    length >= shortest && !is_common() && !is_path(value) && !is_open_url(value)
}

fn is_path(value: &str) -> bool {
    if ["./", "../", "~/"]
        .iter()
        .any(|start| value.starts_with(start))
    {
        return true;
    }
    let mut drive = value.chars();
    if drive.next().is_some_and(|c| c.is_ascii_alphabetic())
        && drive.next() == Some(':')
        && matches!(drive.next(), Some('\\' | '/'))
    {
        return true;
    }
    value
        .strip_prefix('/')
        .and_then(|rest| rest.split_once('/'))
        .is_some_and(|(first, _)| ROOTS.contains(&first))
}

/// Whether the value is an address that carries neither a password nor a long random part.
fn is_open_url(value: &str) -> bool {
    let Some((scheme, rest)) = value.split_once("://") else {
        return false;
    };
    let is_random = |part: &str| part.len() >= 16 && part.bytes().any(|b| b.is_ascii_digit());
    scheme
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || c == '+')
        && !rest.contains('@')
        && !rest.split(['/', '?', '&', '=', '#']).any(is_random)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(variables: &[(&str, &str)]) -> Vec<String> {
        of_environment(&variables.iter().copied().collect())
            .into_iter()
            .map(|secret| secret.name)
            .collect()
    }

    #[test]
    fn finds_what_is_named_like_a_secret() {
        let variables = [
            ("ANTHROPIC_API_KEY", "topsecret"),
            ("AWS_SECRET_ACCESS_KEY", "/aB3+xyzxyzxyz/efg"),
            ("DB_PASS", "tr0ub4dor"),
            ("MY_PASSPHRASE", "correct horse battery staple"),
            ("npm_config__authToken", "0123abcd4567"),
            ("SENTRY_DSN", "https://0123456789abcdef01@example.io/1"),
        ];
        let mut expected: Vec<_> = variables.iter().map(|(name, _)| *name).collect();
        expected.sort_unstable();
        assert_eq!(names(&variables), expected);
    }

    #[test]
    fn leaves_what_is_no_secret() {
        let none = [
            ("AUTH_MODE", "interactive1"),
            ("CLAUDE_CODE_MAX_OUTPUT_TOKENS", "12800000"),
            ("DIFFWARDEN_CODEX_AUTH_HOME", "/srv/codex1"),
            ("GIT_AUTHOR_NAME", "A U Thor 123"),
            ("GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key1.json"),
            ("KEYBOARD_LAYOUT", "de-nodeadkeys1"),
            ("KEYRING_AUTH", "gnome-keyring"),
            ("OAUTH_AUTH", "https://login.example.com/oauth2/v1"),
            ("OLDPWD", "/somewhere/1"),
            ("PATH", "/usr/bin:/bin:/opt/x1"),
            ("PWD", "/somewhere/1"),
            ("SHORT_TOKEN", "abc123"),
            ("SSH_AUTH_SOCK", "/tmp/ssh-1234/agent.1"),
            ("TLS_KEY", "/etc/ssl/key1.pem"),
            ("SORT_KEY", "lastname"),
            ("USE_TOKEN", "Disabled"),
            ("WINDOWS_KEY", "C:\\keys\\1.pem"),
            ("XAUTHORITY", "/run/user/1000/x"),
        ];
        assert_eq!(names(&none), Vec::<String>::new());
    }

    #[test]
    fn the_name_of_another_variable_is_no_secret() {
        let variables = [
            ("PROVIDER_KEY", "SOME_KEY_NUMBER_1"),
            ("SOME_KEY_NUMBER_1", "aB3aB3aB3aB3"),
        ];
        assert_eq!(names(&variables), ["SOME_KEY_NUMBER_1"]);
    }

    #[test]
    fn a_value_is_kept_once() {
        let variables = [("A_TOKEN", "aB3aB3aB3"), ("B_TOKEN", " aB3aB3aB3\n")];
        assert_eq!(names(&variables), ["A_TOKEN"]);
    }
}
