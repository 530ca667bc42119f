//! Private keys in PEM armour, which spread over lines.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::super::text::NumberedLine;

/// How many lines after the header may hold the first line of key material.
const REACH: usize = 5;
/// The shortest run of base64 that is key material and not a word.
const MATERIAL: usize = 40;

static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    RegexBuilder::new(r"-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY( BLOCK)?-----")
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

/// Looks for a header on the first of `lines` and for key material behind it.
///
/// A header alone is code that handles keys, not a key.
pub(super) fn find(lines: &[NumberedLine<'_>]) -> Option<PrivateKey> {
    let (first, following) = lines.split_first()?;
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
    let marked = header
        .as_bytes()
        .windows(9)
        .any(|word| word == b"ENCRYPTED");
    found.material.then_some(PrivateKey {
        encrypted: marked || found.encrypted,
    })
}

/// What was read behind a header.
#[derive(Debug, Default)]
struct Text {
    material: bool,
    encrypted: bool,
}

impl Text {
    fn read(&mut self, bytes: &[u8]) {
        self.encrypted |= bytes.windows(9).any(|word| word == b"ENCRYPTED");
        self.material |= bytes
            .split(|byte| !is_base64(*byte))
            .any(|run| run.len() >= MATERIAL && !super::placeholder::is_placeholder(run));
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}
