//! Characters that people do not see, or that make them see another order than the compiler.
//!
//! A line is decoded once; plain ASCII lines are passed over without decoding. The exceptions for
//! emoji and for scripts that need joiners look at the neighbours of each single character, so a
//! run of hidden characters cannot hide behind one that is legitimate. Bytes that are not UTF-8
//! are no hidden characters and are passed over.

mod classes;
mod exceptions;

use std::collections::BTreeMap;
use std::fmt::Write as _;

pub(super) use classes::is_invisible;
use classes::{Class, classify};
pub(super) use exceptions::lookalike;
use exceptions::{
    is_legitimate, is_right_to_left, lookalike_words, stands_in_code, tag_flag_length,
};

use super::report::{Hit, Report, Words};
use super::text::{NumberedLine, PathKind, Text};

/// How many different code points one finding names.
const MAX_NAMED: usize = 5;

/// Reports each class of hidden characters once per line.
pub(super) fn scan(text: &Text<'_>, report: &mut Report) {
    for line in &text.lines {
        let bytes = trim_line_end(line.bytes);
        if !is_plain(bytes) {
            scan_line(text, *line, bytes, report);
        }
    }
}

/// Returns the characters of a line; what is not UTF-8 becomes U+FFFD.
pub(super) fn decode(bytes: &[u8]) -> Vec<char> {
    let mut characters = Vec::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        characters.extend(chunk.valid().chars());
        if !chunk.invalid().is_empty() {
            characters.push(char::REPLACEMENT_CHARACTER);
        }
    }
    characters
}

fn trim_line_end(mut bytes: &[u8]) -> &[u8] {
    while let Some(rest) = bytes.strip_suffix(b"\r") {
        bytes = rest;
    }
    bytes
}

fn is_plain(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .all(|byte| matches!(byte, 0x20..=0x7e | b'\t' | 0x0c))
}

/// What was seen of one class on one line.
#[derive(Debug, Default)]
struct Sighting {
    count: usize,
    named: Vec<char>,
    run: usize,
    run_end: usize,
    longest_run: usize,
}

impl Sighting {
    fn see(&mut self, index: usize, character: char) {
        // The first sighting has no predecessor, also at index 0.
        let continues = self.count > 0 && self.run_end == index;
        self.run = if continues { self.run + 1 } else { 1 };
        self.longest_run = self.longest_run.max(self.run);
        self.run_end = index + 1;
        self.count += 1;
        if self.named.len() < MAX_NAMED && !self.named.contains(&character) {
            self.named.push(character);
        }
    }
}

fn scan_line(text: &Text<'_>, line: NumberedLine<'_>, bytes: &[u8], report: &mut Report) {
    let characters = decode(bytes);
    let mut sightings: BTreeMap<Class, Sighting> = BTreeMap::new();
    let mut right_to_left = false;
    let mut open = 0_i64;
    let mut index = 0;
    while let Some(&character) = characters.get(index) {
        if let Some(length) = tag_flag_length(&characters[index..]) {
            index += length;
            continue;
        }
        right_to_left |= is_right_to_left(character);
        open += nesting(character);
        if let Some(class) = classify(character) {
            let file_start = text.is_file && line.number == 1 && index == 0;
            let fine = match class {
                Class::Blank => text.kind.prose || !stands_in_code(&characters, index),
                _ => is_legitimate(&characters, index, class, file_start),
            };
            if !fine {
                sightings.entry(class).or_default().see(index, character);
            }
        }
        index += 1;
    }
    for (class, sighting) in &sightings {
        let place = Place {
            kind: text.kind,
            right_to_left,
            unbalanced: open != 0,
        };
        let priority = priority(*class, sighting, place);
        let confidence = if priority < 3 { 0.9 } else { 0.5 };
        let hit = Hit::on_line(class.rule(), line.number, priority, confidence);
        report.add(hit, || words(*class, sighting, place));
    }
    if lookalike_words(&characters) {
        let hit = Hit::on_line("mixed-script-word", line.number, 3, 0.5);
        report.add(hit, lookalike_finding);
    }
}

/// How a character changes the depth of bidirectional embeddings and isolates.
fn nesting(character: char) -> i64 {
    match character {
        '\u{202A}' | '\u{202B}' | '\u{202D}' | '\u{202E}' | '\u{2066}'..='\u{2068}' => 1,
        '\u{202C}' | '\u{2069}' => -1,
        _ => 0,
    }
}

/// Where a class was seen.
#[derive(Debug, Clone, Copy)]
struct Place {
    kind: PathKind,
    right_to_left: bool,
    unbalanced: bool,
}

fn priority(class: Class, sighting: &Sighting, place: Place) -> u8 {
    let prose = place.kind.prose;
    match class {
        Class::BidiOverride | Class::Tag => 1,
        // Translations need embeddings around their own words.
        Class::BidiEmbedding if prose && place.right_to_left => 3,
        Class::BidiEmbedding if prose => 2,
        Class::BidiEmbedding => 1,
        // A run of selectors after a harmless character can carry bytes.
        Class::VariationSelector if sighting.longest_run > 1 => 1,
        Class::VariationSelector | Class::PrivateUse | Class::OtherFormat | Class::Blank => 3,
        Class::BidiMark | Class::ZeroWidth | Class::InvisibleOperator if prose => 3,
        Class::Control => place.kind.soften(3),
        Class::Escape | Class::Overwrite | Class::Nul => place.kind.soften(2),
        Class::BidiMark
        | Class::ZeroWidth
        | Class::InvisibleOperator
        | Class::HangulFiller
        | Class::LineSeparator
        | Class::Interlinear => 2,
    }
}

fn words(class: Class, sighting: &Sighting, place: Place) -> Words {
    let mut points = String::new();
    for (index, &character) in sighting.named.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        let _ = write!(points, "{separator}U+{:04X}", u32::from(character));
        if let Some(name) = classes::name(character) {
            let _ = write!(points, " {name}");
        }
    }
    let count = match sighting.count {
        1 => "one character".to_owned(),
        count => format!("{count} characters"),
    };
    let bidi = matches!(class, Class::BidiOverride | Class::BidiEmbedding);
    let unbalanced = if bidi && place.unbalanced {
        " Not every one is closed, so it reaches to the end of the line."
    } else {
        ""
    };
    Words {
        title: class.title().to_owned(),
        body: format!(
            "This added text holds {count} of this kind ({points}). {}{unbalanced} {}",
            class.danger(),
            class.advice()
        ),
    }
}

fn lookalike_finding() -> Words {
    Words {
        title: "Word mixes Latin letters with look-alikes of another script".to_owned(),
        body:
            "A word in this added text is made of Latin letters and of Cyrillic or Greek letters \
               that look like Latin ones. It reads like a known name but is another one, so a \
               comparison, a lookup or a host name may go elsewhere than it seems. Is this meant? \
               Otherwise type the word again in one script."
                .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_measured() {
        let mut sighting = Sighting::default();
        for index in [0, 4, 5, 6, 9] {
            sighting.see(index, '\u{FE00}');
        }
        assert_eq!((sighting.count, sighting.longest_run), (5, 3));
        assert_eq!(sighting.named.len(), 1);
    }

    #[test]
    fn broken_bytes_are_not_hidden_characters() {
        assert_eq!(decode(b"a\xffb"), ['a', '\u{FFFD}', 'b']);
    }
}
