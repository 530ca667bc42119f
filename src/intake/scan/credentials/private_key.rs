//! Private keys in PEM armour or in PuTTY's format, which spread over lines.

use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes::{Regex, RegexBuilder};

use super::super::text::NumberedLine;

/// How many lines after the header may hold the first line of key material.
const REACH: usize = 5;
/// How many lines before the private part of a PuTTY key may say whether it is encrypted.
const REACH_BACK: usize = 64;
/// The shortest run of base64 that is key material and not a word.
const MATERIAL: usize = 40;

static DASHES: LazyLock<memmem::Finder<'static>> = LazyLock::new(|| memmem::Finder::new("-----"));

static HEADER: LazyLock<Regex> = LazyLock::new(|| {
    RegexBuilder::new(r"-----BEGIN ([A-Z0-9]+ )*PRIVATE KEY( BLOCK)?-----|^Private-Lines: [0-9]+")
        .unicode(false)
        .build()
        .expect("the pattern is constant")
});

static FOOTER: LazyLock<Regex> = LazyLock::new(|| {
    RegexBuilder::new(r"-----END ([A-Z0-9]+ )*PRIVATE KEY( BLOCK)?-----")
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
    memmem::find(bytes, b"ENCRYPTED").is_some()
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

/// How many characters of base64 make a line of key material where a key is known to stand. The
/// last line of a key is short, and no line of it holds anything else.
const PART: usize = 4;

/// Whether a line begins or ends a private key.
pub(in crate::intake) fn is_edge(line: &[u8]) -> bool {
    // Every line of a change is asked, and nearly none has either.
    let may_be = line.starts_with(b"Private-Lines") || DASHES.find(line).is_some();
    may_be && (HEADER.is_match(line) || FOOTER.is_match(line))
}

/// Returns which of some lines that follow each other hold a private key, its edges included. A
/// key of which only the end can be seen counts; a header without material does not.
pub(in crate::intake) fn material(lines: &[&[u8]]) -> Vec<usize> {
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let (from, to) = if let Some(header) = HEADER.find(line) {
            let inside = holds_material(&line[header.end()..]);
            let parts = match FOOTER.is_match(line) {
                true => 0,
                false => parts_before_end(&lines[index + 1..]),
            };
            let holds = inside
                || lines[index + 1..][..parts]
                    .iter()
                    .any(|it| holds_material(it));
            if !holds {
                continue;
            }
            (index, index + parts)
        } else if FOOTER.is_match(line) {
            let before = lines[..index].iter().rev();
            let parts = before.take_while(|line| is_part(line)).count();
            let holds = lines[index - parts..=index]
                .iter()
                .any(|it| holds_material(it));
            if !holds {
                continue;
            }
            (index - parts, index)
        } else {
            continue;
        };
        found.extend(from..=to);
    }
    found
}

/// Returns how many lines at the start can stand inside a key, its end included.
fn parts_before_end(lines: &[&[u8]]) -> usize {
    let parts = lines.iter().take_while(|line| is_part(line)).count();
    let end = lines[..parts].iter().position(|line| FOOTER.is_match(line));
    end.map_or(parts, |end| end + 1)
}

/// Whether a line can stand inside a key: material, perhaps in quotes or escaped, or a header of
/// the armour such as `Proc-Type: 4,ENCRYPTED`.
fn is_part(line: &[u8]) -> bool {
    let text = line.trim_ascii();
    let is_blank = text.is_empty();
    let is_field = [
        "Proc-Type:",
        "DEK-Info:",
        "Version:",
        "Comment:",
        "Private-MAC:",
    ]
    .iter()
    .any(|name| text.starts_with(name.as_bytes()));
    let is_around = |byte: &u8| b"\"'`+,\\ \t;n#*/".contains(byte);
    let base64 = text.iter().filter(|byte| is_base64(**byte)).count();
    let is_all = text.iter().all(|byte| is_base64(*byte) || is_around(byte));
    is_blank || is_field || FOOTER.is_match(line) || base64 >= PART && is_all
}

fn holds_material(text: &[u8]) -> bool {
    let mut found = Text::default();
    found.read(text);
    found.material
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}
