//! Text in files that git calls binary for their bytes.
//!
//! UTF-16, and text with a few NUL bytes in it, has no lines in a patch. It is not sent, but what
//! it says can be scanned: the block stays binary and keeps the text beside, without the lines that
//! were there before. The guess leans towards text, since at worst a scan reads noise.

use std::collections::HashSet;

use diffwarden_actors::model::{Body, FilePatch, RepoPath};

use super::limits::Budget;

/// A larger file is not looked into, in bytes. Few texts are; most of what is binary is.
pub(super) const FILE_LIMIT: u64 = 1 << 20;
/// How many files are looked into, so that a change of many images is not read as a whole.
const MOST_FILES: usize = 64;
/// So many NUL bytes do not keep even a short text from being one.
const FEW_NULS: usize = 2;
/// How much of a file tells its encoding, in bytes.
const PROBE: usize = 8000;

/// Reads files that git calls binary, and keeps the new text of those that hold some. The two
/// readers give a file as it is after the change and before it.
pub(super) fn keep_text(
    files: &mut [FilePatch],
    budget: &mut Budget,
    mut read: impl FnMut(&RepoPath) -> Option<Vec<u8>>,
    mut read_before: impl FnMut(&RepoPath) -> Option<Vec<u8>>,
) {
    let is_unread = |file: &&mut FilePatch| file.body == Body::Binary && file.content.is_empty();
    for file in files.iter_mut().filter(is_unread).take(MOST_FILES) {
        let Some(contents) = file.new_path.as_ref().and_then(&mut read) else {
            continue;
        };
        let mut text = text_within(&contents, budget);
        let old_path = file.old_path.as_ref().filter(|_| !text.is_empty());
        if let Some(old) = old_path.and_then(&mut read_before) {
            // Nothing else is known of a file that was no text before.
            let old = text_of(&old).unwrap_or_default();
            text = without_known_lines(&text, &old);
        }
        file.content = text;
    }
}

/// Blanks the lines that were there before, so that the others keep their numbers.
fn without_known_lines(text: &[u8], old: &[u8]) -> Vec<u8> {
    let known: HashSet<&[u8]> = lines(old).collect();
    let mut left = Vec::with_capacity(text.len());
    for line in lines(text) {
        if !known.contains(line) {
            left.extend_from_slice(line);
        }
        left.push(b'\n');
    }
    left.pop();
    left
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&byte| byte == b'\n')
}

/// Returns the text of a file that git calls binary; nothing when there is none, or no room.
pub(super) fn text_within(contents: &[u8], budget: &mut Budget) -> Vec<u8> {
    let limit = FILE_LIMIT.min(budget.allowance());
    if contents.len() as u64 > limit {
        return Vec::new();
    }
    let text = text_of(contents).unwrap_or_default();
    budget.spend(text.len() as u64);
    text
}

/// Returns what the bytes say, in UTF-8.
fn text_of(contents: &[u8]) -> Option<Vec<u8>> {
    let text = match encoding(contents) {
        Encoding::Utf16(unit) => {
            let units = contents
                .chunks_exact(2)
                .map(|pair| unit([pair[0], pair[1]]));
            let letters = char::decode_utf16(units);
            letters
                .map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER))
                .collect()
        }
        Encoding::Bytes => {
            let nuls = contents.iter().filter(|&&byte| byte == 0).count();
            if nuls > FEW_NULS.max(contents.len() / 16) {
                return None;
            }
            String::from_utf8_lossy(contents).into_owned()
        }
    };
    is_writing(&text).then(|| text.into_bytes())
}

enum Encoding {
    /// Two bytes a unit, in the order that the function takes.
    Utf16(fn([u8; 2]) -> u16),
    Bytes,
}

/// Guesses the encoding by the byte order mark, or by where the NUL bytes stand: beside every
/// ASCII letter of UTF-16, always on the same side.
fn encoding(contents: &[u8]) -> Encoding {
    if contents.starts_with(b"\xFF\xFE") {
        return Encoding::Utf16(u16::from_le_bytes);
    }
    if contents.starts_with(b"\xFE\xFF") {
        return Encoding::Utf16(u16::from_be_bytes);
    }
    let probe = &contents[..contents.len().min(PROBE)];
    let pairs = probe.chunks_exact(2);
    let count = pairs.len();
    let (mut first, mut second) = (0, 0);
    for pair in pairs {
        first += usize::from(pair[0] == 0);
        second += usize::from(pair[1] == 0);
    }
    let often = |nuls: usize| nuls * 4 >= count;
    let hardly = |nuls: usize| nuls * 50 <= count;
    if count > 0 && often(second) && hardly(first) {
        Encoding::Utf16(u16::from_le_bytes)
    } else if count > 0 && often(first) && hardly(second) {
        Encoding::Utf16(u16::from_be_bytes)
    } else {
        Encoding::Bytes
    }
}

/// Whether few characters are broken or control codes.
fn is_writing(text: &str) -> bool {
    let (mut odd, mut all) = (0_usize, 0_usize);
    for letter in text.chars() {
        let usual = matches!(letter, '\t' | '\n' | '\r' | '\u{0C}' | '\u{1B}');
        odd += usize::from(letter == char::REPLACEMENT_CHARACTER || letter.is_control() && !usual);
        all += 1;
    }
    all > 0 && odd * 8 <= all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use diffwarden_actors::model::Change;

    use super::super::limits::ReadLimits;
    use super::*;

    fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    #[test]
    fn text_comes_out_of_its_encoding() {
        let text = "token = 1;\r\nüber\n";
        for unit in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(
                text_of(&utf16(text, unit)).as_deref(),
                Some(text.as_bytes())
            );
            let marked = format!("\u{FEFF}{text}");
            assert_eq!(
                text_of(&utf16(&marked, unit)).as_deref(),
                Some(marked.as_bytes())
            );
        }
        let text = "a long line of text\0 with one NUL\n";
        assert_eq!(text_of(text.as_bytes()).as_deref(), Some(text.as_bytes()));
    }

    #[test]
    fn what_is_no_text_has_none() {
        let image: Vec<u8> = (0..4000_u32).map(|at| (at * at / 7 % 256) as u8).collect();
        assert_eq!(text_of(&image), None);
        assert_eq!(text_of(b""), None);
        assert_eq!(text_of(&[0; 100]), None);
        assert_eq!(
            text_of(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0"),
            None
        );
    }

    #[test]
    fn files_are_not_read_without_end() {
        let block = |change| FilePatch {
            old_path: None,
            new_path: Some(RepoPath::from("a")),
            change,
            old_mode: None,
            new_mode: None,
            old_id: None,
            new_id: None,
            similarity: None,
            body: Body::Binary,
            content: Vec::new(),
        };
        let mut files = vec![block(Change::Added); MOST_FILES + 9];
        let mut budget = Budget::new(&ReadLimits::default());
        let text = |_: &RepoPath| Some(utf16("text", u16::to_le_bytes));
        keep_text(&mut files, &mut budget, text, |_| None);
        let kept = files.iter().filter(|file| file.content == b"text").count();
        assert_eq!(kept, MOST_FILES);
        assert!(files.iter().all(|file| file.body == Body::Binary));
    }

    #[test]
    fn of_a_changed_file_the_new_lines_are_kept_in_their_places() {
        let mut file = FilePatch {
            old_path: Some(RepoPath::from("old")),
            ..crate::git::unread::block(RepoPath::from("a"), Change::Modified, "")
        };
        file.body = Body::Binary;
        let mut budget = Budget::new(&ReadLimits::default());
        let new = |_: &RepoPath| Some(utf16("one\ntwo\nthree\n", u16::to_le_bytes));
        let old = |path: &RepoPath| {
            assert_eq!(path, &RepoPath::from("old"));
            Some(utf16("one\nthree\n", u16::to_be_bytes))
        };
        let mut files = [file];
        keep_text(&mut files, &mut budget, new, old);
        assert_eq!(files[0].content, b"\ntwo\n\n");
        let mut files = files.map(|file| FilePatch {
            content: Vec::new(),
            ..file
        });
        keep_text(&mut files, &mut budget, new, |_| Some(vec![0; 64]));
        assert_eq!(files[0].content, b"one\ntwo\nthree\n");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_bytes_give_utf8_or_nothing(contents in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Some(text) = text_of(&contents) {
                prop_assert!(std::str::from_utf8(&text).is_ok());
            }
        }

        #[test]
        fn marked_text_is_always_found(text in "[ -~\n]{1,80}") {
            let bytes = utf16(&format!("\u{FEFF}{text}"), u16::to_be_bytes);
            let expected = format!("\u{FEFF}{text}").into_bytes();
            prop_assert_eq!(text_of(&bytes), Some(expected));
        }
    }
}
