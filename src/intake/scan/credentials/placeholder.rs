//! Tells real secrets from what people write in their place.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// Words that no random secret holds, in any case; long enough that chance does not make them.
const STOP_WORDS: &[&str] = &[
    "example",
    "sample",
    "dummy",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "redacted",
    "replace",
    "your-",
    "your_",
    "yourkey",
    "yourtoken",
    "yourpass",
    "yoursecret",
    "xxxx",
    "****",
    "....",
    "not-a-real",
    "notareal",
    "not-real",
    "fake-",
    "fake_",
    "insert-",
    "insert_",
    "deadbeef",
    "qwerty",
    "foobar",
    "lorem",
    "<",
    "${",
    "{{",
    "$(",
    "%(",
    "process.env",
    "os.environ",
    "getenv",
    "import.meta",
    "secrets.",
    "vault:",
    "enc[",
    "{cipher}",
    "$ansible_vault",
    // The payload of the token on every page about JSON web tokens: a man named John Doe.
    "ikpvag4grg9l",
    // The keys for tests on the first page about Stripe's keys.
    "4ec39hqlyjwdarjtt1zdp7dc",
    "bqokikjovbii2hlwgh4olfq2",
    // The logins and tokens in the pages that define OAuth.
    "czzcagrsa3f0mz",
    "2yotnfzfejr1zcsicmwpaa",
    "tgzv3jokf0xg5qx2tlkwia",
    "gx1fbat3bv",
    "7fjfp0zbr1ktdrbnfvdmiw",
];

static STOP: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(STOP_WORDS)
        .expect("a short list of short words makes an automaton")
});

/// Whether the value stands for a secret instead of being one.
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    STOP.is_match(value) || has_pattern_run(value) || is_sealed(value)
}

/// Whether the value is a secret that was encrypted in order to be committed: by Sealed Secrets,
/// whose texts begin with the version and length of a key, or by AWS KMS.
fn is_sealed(value: &[u8]) -> bool {
    (value.len() >= 200 && value.starts_with(b"Ag"))
        || (value.len() >= 100 && value.starts_with(b"AQICA"))
}

/// Whether five equal or seven ascending bytes follow each other, as in `00000` or `1234567`.
fn has_pattern_run(value: &[u8]) -> bool {
    let (mut equal, mut rising) = (1, 1);
    value.windows(2).any(|pair| {
        equal = if pair[0] == pair[1] { equal + 1 } else { 1 };
        rising = if pair[0].checked_add(1) == Some(pair[1]) {
            rising + 1
        } else {
            1
        };
        // Rows of dashes and equals signs are padding, not a pattern.
        (equal == 5 && pair[1].is_ascii_alphanumeric()) || rising == 7
    })
}

/// Returns the Shannon entropy in bits per byte; 0 for an empty value.
pub(super) fn entropy(value: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    for &byte in value {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len() as f64;
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| {
            let share = f64::from(count) / length;
            -share * share.log2()
        })
        .sum()
}

/// Whether a value under a secret-sounding name looks random enough to be the secret itself.
pub(super) fn looks_secret(name: &[u8], value: &[u8]) -> bool {
    let spelled = String::from_utf8_lossy(name);
    let name = spelled.to_lowercase();
    let password = ["passw", "pwd", "passphrase"]
        .iter()
        .any(|word| name.contains(word))
        || name.ends_with("pass");
    let floor = if password { 3.0 } else { 3.5 };
    let has = |test: fn(&u8) -> bool| value.iter().any(test);
    let mixed = has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit);
    let long_enough = password || value.len() >= 16;
    !describes(&spelled)
        && long_enough
        && mixed
        && !is_reference(value)
        && !is_words(value)
        && !is_placeholder(value)
        && entropy(value) >= floor
}

/// What a secret is called, as the start of a word.
const SECRETS: &[&str] = &[
    "passw",
    "passphrase",
    "pass",
    "pwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "authkey",
    "encryptionkey",
    "key",
    "credential",
];
/// What follows the word for a secret when something about it is meant: where it is, how long,
/// what it is called, which one. The longer ones also begin such a word.
const ABOUT: &[&str] = &[
    "url",
    "uri",
    "endpoint",
    "path",
    "file",
    "dir",
    "name",
    "type",
    "env",
    "field",
    "header",
    "expir",
    "ttl",
    "length",
    "size",
    "count",
    "max",
    "min",
    "limit",
    "hash",
    "digest",
    "label",
    "title",
    "hint",
    "error",
    "message",
    "pattern",
    "regex",
    "format",
    "policy",
    "scope",
    "class",
    "kind",
    "prefix",
    "suffix",
    "public",
    "placeholder",
    "version",
    "mask",
    "ref",
    "query",
    "id",
    "store",
    "provider",
    "selector",
    "param",
    "index",
    "alg",
    "usage",
    "rule",
    "strength",
    "help",
    "text",
    "description",
    "color",
    "colour",
    "var",
    "source",
    "from",
];
/// What comes before the word for a secret when something else is meant.
const BEFORE: &[&str] = &[
    "max",
    "min",
    "num",
    "total",
    "count",
    "public",
    "hashed",
    "encrypted",
    "masked",
    "existing",
    "forgot",
    "reset",
    "invalid",
    "missing",
    "has",
    "is",
    "no",
    "show",
    "hide",
];

/// Whether the name is that of something about a secret: its address, its length, its label.
fn describes(name: &str) -> bool {
    let words = words_of(name);
    // The last word for a secret is the noun; in `token_secret_name` the name is meant.
    let noun = words.iter().enumerate().rev().find_map(|(index, word)| {
        let start = SECRETS.iter().find(|secret| word.contains(*secret))?;
        let end = word.find(start)? + start.len();
        Some((index, &word[end..]))
    });
    let Some((index, rest)) = noun else {
        return false;
    };
    // `tokenizer` and `tokenUrls` hold their other half in the same word.
    let rest = rest.strip_prefix("ord").unwrap_or(rest);
    let rest = rest.strip_prefix('s').unwrap_or(rest);
    let about = |word: &str| {
        let begins = |about: &&&str| about.len() >= 4 && word.starts_with(**about);
        let is = |about: &&&str| word.strip_suffix('s').unwrap_or(word) == **about;
        ABOUT.iter().any(|about| begins(&about) || is(&about))
    };
    rest.starts_with("iz")
        || about(rest)
        || words[index + 1..].iter().any(|word| about(word))
        || words[..index]
            .iter()
            .any(|word| BEFORE.contains(&word.as_str()))
}

/// Splits a name at its signs and where its case changes; the words are in lower case.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before = ' ';
    for letter in name.chars() {
        let begins = letter.is_uppercase() && before.is_lowercase();
        if begins || !letter.is_alphanumeric() {
            words.push(String::new());
        }
        if let (true, Some(word)) = (letter.is_alphanumeric(), words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        before = letter;
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Whether the value says where the secret is: an address, a path, a variable, a template, a call.
fn is_reference(value: &[u8]) -> bool {
    let starts = [
        &b"http://"[..],
        b"https://",
        b"/",
        b"./",
        b"../",
        b"~/",
        b"arn:",
        b"$",
        b"%",
        b"{",
        b"[",
        b"(",
        b"@",
        b"&",
        b"*",
        b"!",
        b"projects/",
        b"op://",
        b"ref:",
        b"data:",
        b"sha256:",
    ];
    starts.iter().any(|start| value.starts_with(start))
        || value.contains(&b'(')
        || value.contains(&b'{')
        || value.ends_with(b";") && !value.contains(&b'=')
}

/// Whether the value is made of words with few digits, as identifiers and labels are.
fn is_words(value: &[u8]) -> bool {
    value.split(|byte| b"-_./:,".contains(byte)).all(|word| {
        let letters = word
            .iter()
            .take_while(|byte| byte.is_ascii_alphabetic())
            .count();
        let digits = &word[letters..];
        let word_like = letters == 0 || is_word(&word[..letters]);
        word_like && digits.len() <= 4 && digits.iter().all(u8::is_ascii_digit)
    })
}

/// Whether the case of the letters is that of a word or of camel case.
fn is_word(letters: &[u8]) -> bool {
    let upper = letters
        .iter()
        .filter(|byte| byte.is_ascii_uppercase())
        .count();
    letters.len() <= 24 && (upper == letters.len() || upper * 4 <= letters.len().max(4))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entropy_is_shannons() {
        assert!(entropy(b"").abs() < 1e-9);
        assert!(entropy(b"aaaa").abs() < 1e-9);
        assert!((entropy(b"abcd") - 2.0).abs() < 1e-9);
    }

    #[test]
    fn placeholders_are_known() {
        for value in [
            "your-api-key-here",
            "xxxxxxxxxxxxxxxx",
            "AKIAIOSFODNN7EXAMPLE",
            "${TOKEN}",
            "abc00000def",
            "1234567890abc",
            "ChangeMe123!",
        ] {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
        assert!(!is_placeholder(b"k9Qz7vLm2Xc4Rt8W"));
    }

    #[test]
    fn identifiers_and_references_are_no_secrets() {
        for (name, value) in [
            ("token", "refresh_token_v2_2024"),
            ("secretKeyRef", "db-creds-prod-2024axQz"),
            ("secretQuery", "query9GetSecretByIdAndName2k"),
            ("TOKEN_TYPES", "k9Qz7vLm2Xc4Rt8Wb1"),
            ("passwordfield", "k9Qz7vLm2Xc4Rt8Wb1"),
            ("existingSecret", "k9Qz7vLm2Xc4Rt8Wb1"),
            ("credentialsId", "k9Qz7vLm2Xc4Rt8Wb1"),
            ("api_key_url", "k9Qz7vLm2Xc4Rt8Wb1"),
            ("secret", "projects/acme/secrets/db1/versions/3"),
            ("tokenizer", "cl100k_base_k9Qz7vLm2"),
            ("password", "/run/secrets/db9_pw_x7"),
            ("password", "passwordField2"),
            ("client_secret", "getSecret(a9b8c7d6e5f4)"),
        ] {
            assert!(
                !looks_secret(name.as_bytes(), value.as_bytes()),
                "{name} {value}"
            );
        }
        assert!(looks_secret(b"db_password", b"Tr0ub4dor&3x!"));
        assert!(looks_secret(b"API_KEY", b"k9Qz7vLm2Xc4Rt8Wb1"));
    }
}
