//! Which environment variables hold a secret: a judgement by name and value.
//!
//! Too little here prints a password; too much blanks ordinary words and paths out of every review,
//! and a finding whose path is blanked out cannot be acted on. So both must speak for it:
//!
//! - The name has a part that means a secret (`TOKEN`, `PASSWORD`, `API_KEY`, ...), or a whole word
//!   that may mean one (`KEY`, `AUTH`, `COOKIE`, `SESSION`, ...), and does not end in a word that
//!   says that the value is about a secret (`FILE`, `URL`, `USER`, ...).
//! - The value has 8 characters or more. Where the name leaves no doubt, 6 are enough for letters
//!   mixed with digits or signs. Letters alone are a word below 16 characters, unless small and
//!   capital ones are mixed; digits alone are a number below 12.
//! - The value is no path, host name, open address, `snake_case` identifier, placeholder or name
//!   of another variable. None of diffwarden's own words passes all of this; a test compares them
//!   with the published schemas.

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

/// A value that mixes letters with others is a secret from this length on where the name leaves no
/// doubt.
const SHORTEST_MIXED: usize = 6;

/// A value of letters alone (`lastname`) is a secret from this length on.
const SHORTEST_WORD: usize = 16;

/// A value of digits alone is a secret from this length on.
const SHORTEST_NUMBER: usize = 12;

/// A value of fewer different characters stands in for a secret (`********`).
const FEWEST_DIFFERENT: usize = 3;

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
const HINTING: [&str; 24] = [
    "KEY",
    "KEYS",
    "AUTH",
    "AUTHORIZATION",
    "PASS",
    "PASSCODE",
    "PWD",
    "PAT",
    "PIN",
    "PSK",
    "OTP",
    "JWT",
    "COOKIE",
    "COOKIES",
    "SESSION",
    "SESSIONID",
    "BEARER",
    "CREDS",
    "DSN",
    "PRIVATE",
    "MNEMONIC",
    "SALT",
    "SIGNATURE",
    "WEBHOOK",
];

/// First words of variables that tell of desktops and terminals, which have sessions too.
const DESKTOPS: [&str; 8] = [
    "DBUS", "DESKTOP", "GNOME", "ITERM", "KDE", "SESSION", "TERM", "XDG",
];

/// Values that stand in variables named like a secret and are none, in lower case.
const COMMON_VALUES: [&str; 7] = [
    "base64",
    "md5sum",
    "patch is correct",
    "patch is incorrect",
    "sha256",
    "sha512",
    "utf8mb4",
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
        // `SESSION` alone is a session; `SESSION_MANAGER` is a desktop's.
        let is_desktop = name.contains('_')
            && words
                .clone()
                .next()
                .is_some_and(|first| DESKTOPS.contains(&first));
        let is_hinted = words.any(|word| HINTING.contains(&word));
        (is_hinted && !is_desktop).then_some(Likelihood::Perhaps)
    }
}

fn is_secret_value(value: &str, likelihood: Likelihood) -> bool {
    let is_sure = likelihood == Likelihood::Surely;
    let shortest = match Mixture::of(value) {
        Mixture::Number => SHORTEST_NUMBER,
        Mixture::Cases if is_sure => SHORTEST,
        Mixture::Word | Mixture::Cases => SHORTEST_WORD,
        Mixture::Letters if is_sure => SHORTEST_MIXED,
        Mixture::Letters | Mixture::Other => SHORTEST,
    };
    value.chars().count() >= shortest && !is_harmless(value)
}

/// What a value is made of, dashes, dots, underscores and blanks aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mixture {
    /// Letters of one case, perhaps with a capital at the beginning.
    Word,
    /// Small and capital letters.
    Cases,
    /// Digits.
    Number,
    /// Letters and others.
    Letters,
    /// No letters, and not digits alone.
    Other,
}

impl Mixture {
    fn of(value: &str) -> Self {
        let is_separator = |c: char| matches!(c, '-' | '_' | '.' | ' ');
        let counted = || value.chars().filter(|c| !is_separator(*c));
        if counted().all(char::is_alphabetic) {
            let is_word = |part: &str| {
                let rest = || part.chars().skip(1);
                !rest().any(char::is_uppercase) || !part.chars().any(char::is_lowercase)
            };
            return if value.split(is_separator).all(is_word) {
                Self::Word
            } else {
                Self::Cases
            };
        }
        if counted().all(|c| c.is_ascii_digit()) {
            Self::Number
        } else if counted().any(char::is_alphabetic) {
            Self::Letters
        } else {
            Self::Other
        }
    }
}

/// Whether a value is plainly something else than a secret.
fn is_harmless(value: &str) -> bool {
    let mut different: Vec<char> = value.chars().collect();
    different.sort_unstable();
    different.dedup();
    let is_identifier = value.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        && value.trim_matches('_').contains('_');
    different.len() < FEWEST_DIFFERENT
        || is_identifier
        || COMMON_VALUES.contains(&value.to_lowercase().as_str())
        || is_path(value)
        || is_relative_path(value)
        || is_host(value)
        || is_open_url(value)
}

/// Whether the value is a file of a folder, as a repository would call it: `config/keys1.pem`.
fn is_relative_path(value: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-/".contains(c);
    let Some((_, name)) = value.rsplit_once('/') else {
        return false;
    };
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    value.chars().all(is_plain)
        && (1..=5).contains(&ending.len())
        && ending.bytes().all(|b| b.is_ascii_lowercase())
}

/// Whether the value is a host, perhaps with a port: `db1.internal.example.com:5432`.
fn is_host(value: &str) -> bool {
    let host = match value.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        Some(_) => return false,
        None => value,
    };
    let is_label = |label: &str| {
        (1..=20).contains(&label.len())
            && label
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    let Some((labels, last)) = host.rsplit_once('.') else {
        return false;
    };
    labels.split('.').all(is_label)
        && is_label(last)
        && last.bytes().all(|b| b.is_ascii_lowercase())
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
            ("ANTHROPIC_API_KEY", "topsecret1"),
            ("AUTHORIZATION", "Basic dXNlcjpwYXNz"),
            ("COOKIE", "sid=0a1b2c3d4e"),
            ("DB_PASSWORD", "hunter2"),
            ("GPG_PRIVATE", "lQOYBF0123abc"),
            ("MAIL_APP_PASSWORD", "abcdefghijklmnop"),
            ("MIXED_SECRET", "qWeRtZuI"),
            ("SESSION", "s%3A0a1b2c"),
            ("WEB_SESSION_ID", "0a1b2c3d4e"),
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
            ("A_SECRET", "abc12"),
            ("A_TOKEN", "********"),
            ("API_KEY", "patch is correct"),
            ("AUTH_MODE", "interactive1"),
            ("B_TOKEN", "uncommitted"),
            ("C_TOKEN", "schema_version"),
            ("D_TOKEN", "reviewer_environment_failed"),
            ("DB_SECRET", "db1.internal.example.com:5432"),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/1000/bus"),
            ("DESKTOP_SESSION", "plasma5-wayland"),
            ("E_SECRET", "Postgres"),
            ("HASH_SECRET", "sha256"),
            ("MYSQL_PASSWORD", "config/keys1.pem"),
            ("NEXT_TOKEN", "1234567"),
            ("PIN", "493817"),
            ("POSTGRES_PASSWORD", "postgres"),
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
            ("SESSION_MANAGER", "local/host:@/tmp/.ICE-unix/12"),
            ("SHORT_KEY", "abc123"),
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
    fn no_word_of_the_published_schemas_is_a_secret() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/schemas");
        let mut words = Vec::new();
        for entry in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let schema = serde_json::from_str(&text).unwrap();
            collect_words(&schema, &mut words);
        }
        assert!(words.len() > 50, "{words:?}");
        for word in words {
            assert_eq!(
                names(&[("MY_TOKEN", &word)]),
                Vec::<String>::new(),
                "{word}"
            );
        }
    }

    /// Collects the texts that a schema allows.
    fn collect_words(schema: &serde_json::Value, words: &mut Vec<String>) {
        match schema {
            serde_json::Value::Object(members) => {
                let texts = members.get("const").into_iter();
                let texts = texts.chain(
                    members
                        .get("enum")
                        .and_then(|it| it.as_array())
                        .into_iter()
                        .flatten(),
                );
                words.extend(texts.filter_map(|it| it.as_str()).map(str::to_owned));
                members.values().for_each(|it| collect_words(it, words));
            }
            serde_json::Value::Array(items) => {
                items.iter().for_each(|it| collect_words(it, words));
            }
            _ => {}
        }
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
