//! Private keys in PEM armour or in PuTTY's format, which spread over lines.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::super::text::NumberedLine;

/// How many lines after the header may hold the first line of key material.
const REACH: usize = 5;
/// How many lines before the private part of a PuTTY key may say whether it is encrypted.
const REACH_BACK: usize = 64;
/// The shortest run of base64 that is key material and not a word.
const MATERIAL: usize = 40;

static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    RegexBuilder::new(r"-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY( BLOCK)?-----|^Private-Lines: [0-9]+")
        .unicode(false)
        .build()
        .expect("the pattern is constant")
});

/// A private key found on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PrivateKey {
    /// Whether a passphrase protects it.
    pub(super) encrypted: bool,
}

/// Looks for a header on the line at `index` and for key material behind it.
///
/// A header alone is code that handles keys, not a key.
pub(super) fn find(lines: &[NumberedLine<'_>], index: usize) -> Option<PrivateKey> {
    let (before, rest) = lines.split_at_checked(index)?;
    let (first, following) = rest.split_first()?;
    let header = HEADER.find(first.bytes)?;
    let mut found = Text::default();
    found.read(&first.bytes[header.end()..]);
    let mut previous = first.number;
    for line in following.iter().take(REACH) {
        if found.material || line.number != previous.saturating_add(1) {
            break;
        }
        previous = line.number;
        found.read(line.bytes);
    }
    found.material.then(|| {
        let marked = if header.as_bytes().starts_with(b"Private-Lines") {
            is_encrypted_putty(before)
        } else {
            holds_encrypted(header.as_bytes())
        };
        PrivateKey {
            encrypted: marked || found.encrypted,
        }
    })
}

/// Whether the last `Encryption:` line before the private part names a cipher.
fn is_encrypted_putty(before: &[NumberedLine<'_>]) -> bool {
    let said = before.iter().rev().take(REACH_BACK);
    let cipher = said
        .filter_map(|line| line.bytes.strip_prefix(b"Encryption:"))
        .next();
    cipher.is_some_and(|cipher| cipher.trim_ascii() != b"none")
}

fn holds_encrypted(bytes: &[u8]) -> bool {
    bytes.windows(9).any(|word| word == b"ENCRYPTED")
}

/// What was read behind a header.
#[derive(Debug, Default)]
struct Text {
    material: bool,
    encrypted: bool,
}

impl Text {
    fn read(&mut self, bytes: &[u8]) {
        self.encrypted |= holds_encrypted(bytes);
        self.material |= bytes
            .split(|byte| !is_base64(*byte))
            .any(|run| run.len() >= MATERIAL && !super::placeholder::is_placeholder(run));
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}
