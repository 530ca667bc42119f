//! Brings text into the form in which phrases are compared.
//!
//! Lower case, one blank between words, quotes and emphasis gone; for text outside ASCII also
//! NFKC, hidden characters taken out, look-alike letters made Latin, and the message of tag
//! characters spelled out. Work is linear in the length of the line.

use unicode_normalization::UnicodeNormalization;

use super::super::unicode::{decode, is_invisible, lookalike};

/// Appends the comparable form of a line to `out`.
pub(super) fn append(line: &[u8], out: &mut Vec<u8>) {
    if line.is_ascii() {
        line.iter().for_each(|&byte| append_ascii(byte, out));
        return;
    }
    let characters = decode(line);
    let visible = characters
        .iter()
        .copied()
        .filter(|&character| !is_invisible(character))
        .map(|character| {
            if is_ligature(character) {
                ' '
            } else {
                character
            }
        });
    let composed: Vec<char> = visible.nfkc().collect();
    for word in composed.split_inclusive(|character| !character.is_alphanumeric()) {
        append_word(word, out);
    }
    let hidden = characters
        .iter()
        .filter_map(|&character| tag_letter(character));
    // What is hidden behind words is a sentence of its own.
    for (index, letter) in hidden.enumerate() {
        if index == 0 {
            append_char('.', out);
            append_char(' ', out);
        }
        append_char(letter, out);
    }
}

/// Removes what begins a comment or a list item.
pub(super) fn strip_leader(mut line: &[u8]) -> &[u8] {
    const LEADERS: [&[u8]; 14] = [
        b"//", b"/*", b"*/", b"*", b"#", b"<!--", b"-->", b"--", b";", b"%", b"\"\"\"", b"'''",
        b">", b"- ",
    ];
    loop {
        line = line.trim_ascii_start();
        let rest = LEADERS.iter().find_map(|leader| line.strip_prefix(*leader));
        match rest {
            Some(rest) => line = rest,
            None => return line,
        }
    }
}

fn append_word(word: &[char], out: &mut Vec<u8>) {
    // Only a word that is partly Latin is a disguise; a Cyrillic one is a word of its language.
    let disguised = word.iter().any(char::is_ascii_alphabetic);
    for &character in word {
        let shown = if disguised {
            lookalike(character)
        } else {
            None
        };
        for lower in shown.unwrap_or(character).to_lowercase() {
            append_char(lower, out);
        }
    }
}

fn append_char(character: char, out: &mut Vec<u8>) {
    match character {
        '\u{2019}' => {}
        '\u{201C}' | '\u{201D}' | '«' | '»' | '「' | '」' => append_blank(out),
        character if character.is_ascii() => append_ascii(character as u8, out),
        character if character.is_whitespace() => append_blank(out),
        character => out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

fn append_ascii(byte: u8, out: &mut Vec<u8>) {
    match byte {
        b'\'' => {}
        b'"' | b'`' | b'*' | b'\0'..=b' ' | 0x7f => append_blank(out),
        byte => out.push(byte.to_ascii_lowercase()),
    }
}

fn append_blank(out: &mut Vec<u8>) {
    if !out.is_empty() && !out.ends_with(b" ") {
        out.push(b' ');
    }
}

/// Whether NFKC would write one Arabic ligature out as up to eighteen letters. No phrase is
/// written in them, and a patch full of them must not cost eighteen times as much.
fn is_ligature(character: char) -> bool {
    matches!(character, '\u{FB50}'..='\u{FDFF}' | '\u{FE70}'..='\u{FEFC}')
}

fn tag_letter(character: char) -> Option<char> {
    let code = u32::from(character).checked_sub(0xE0000)?;
    (0x20..=0x7E)
        .contains(&code)
        .then(|| char::from_u32(code))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        let mut out = Vec::new();
        append(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap().trim_end().to_owned()
    }

    #[test]
    fn disguises_come_off() {
        assert_eq!(normal("Don't  **FLAG**\t\"this\""), "dont flag this");
        assert_eq!(normal("ign\u{200B}ore"), "ignore");
        assert_eq!(normal("ｉｇｎｏｒｅ"), "ignore");
        assert_eq!(normal("𝐢𝐠𝐧𝐨𝐫𝐞"), "ignore");
        assert_eq!(normal("ign\u{43E}re"), "ignore");
        assert_eq!(normal("Игнорируй"), "игнорируй");
        let hidden: String = "Hi"
            .bytes()
            .map(|byte| char::from_u32(0xE0000 + u32::from(byte)).unwrap())
            .collect();
        assert_eq!(normal(&hidden), ". hi");
    }

    #[test]
    fn leaders_come_off() {
        assert_eq!(strip_leader(b"  // # text"), b"text");
        assert_eq!(strip_leader(b"<!-- text"), b"text");
        assert_eq!(strip_leader(b"<\x7cim_start|>"), b"<\x7cim_start|>");
    }
}
