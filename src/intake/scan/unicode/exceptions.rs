//! Where hidden characters are part of ordinary writing.
//!
//! Each exception is as narrow as the rule of writing behind it and looks at direct neighbours
//! only: a joiner between Latin letters, a second selector or an unknown flag stays a finding.

use unicode_properties::{GeneralCategoryGroup, UnicodeEmoji, UnicodeGeneralCategory};

use super::classes::Class;

/// Whether ordinary writing explains the character at `index`.
pub(super) fn is_legitimate(
    characters: &[char],
    index: usize,
    class: Class,
    file_start: bool,
) -> bool {
    let before = index
        .checked_sub(1)
        .and_then(|index| characters.get(index))
        .copied();
    let after = characters.get(index + 1).copied();
    match (class, characters[index]) {
        (Class::ZeroWidth, '\u{FEFF}') => file_start,
        (Class::ZeroWidth, '\u{200D}') => {
            joins_emoji(characters, index) || between_joining_letters(before, after)
        }
        (Class::ZeroWidth, '\u{200C}') => between_joining_letters(before, after),
        (Class::ZeroWidth, '\u{200B}') => {
            before.is_some_and(writes_without_blanks) && after.is_some_and(writes_without_blanks)
        }
        (Class::ZeroWidth, '\u{180E}') => before.is_some_and(is_mongolian),
        (Class::ZeroWidth, '\u{17B4}' | '\u{17B5}') => {
            before.is_some_and(|letter| matches!(letter, '\u{1780}'..='\u{17FF}'))
        }
        (Class::BidiMark, _) => near_right_to_left(characters, index),
        (Class::VariationSelector, selector) => {
            before.is_some_and(|base| selects(base, selector, after))
        }
        (Class::HangulFiller, '\u{115F}') => {
            after.is_some_and(|next| matches!(next, '\u{1160}'..='\u{11A7}'))
        }
        (Class::HangulFiller, '\u{1160}') => {
            before.is_some_and(|letter| matches!(letter, '\u{1100}'..='\u{115F}'))
        }
        _ => false,
    }
}

/// Whether a blank stands where only code can: behind no sign that begins a string, a comment, a
/// text of markup or a value of settings, and beside no character of ordinary writing outside
/// ASCII. A guess, and cheap: both sides are looked at as far as the next such sign.
pub(super) fn stands_in_code(characters: &[char], index: usize) -> bool {
    /// How far is looked, so that a line full of blanks costs no more than its length.
    const REACH: usize = 120;
    let is_text = |window: &[char]| {
        matches!(
            window,
            ['"' | '\'' | '`' | '#' | '>', ..] | ['/', '/' | '*'] | ['-', '-'] | [':', ' ']
        )
    };
    let before = &characters[index.saturating_sub(REACH)..index];
    let after = &characters[index + 1..characters.len().min(index + 1 + REACH)];
    let is_writing = |&character: &char| {
        !character.is_ascii() && !matches!(character, '\u{A0}' | '\u{2800}' | '\u{3000}')
    };
    let in_text = before.len() == REACH
        || before.windows(2).any(is_text)
        || before.last().is_some_and(|last| is_text(&[*last]))
        || starts_with_star(before);
    !in_text && !before.iter().chain(after).any(is_writing)
}

/// Whether a line begins like one inside a block comment.
fn starts_with_star(characters: &[char]) -> bool {
    let first = characters.iter().find(|character| **character != ' ');
    first == Some(&'*')
}

/// Returns the length of a flag of England, Scotland or Wales at the start of `characters`: the
/// only sequences of tag characters recommended for interchange.
pub(super) fn tag_flag_length(characters: &[char]) -> Option<usize> {
    let (first, rest) = characters.split_first()?;
    if *first != '\u{1F3F4}' {
        return None;
    }
    ["gbeng", "gbsct", "gbwls"].iter().find_map(|region| {
        let tags = region.bytes().map(|byte| 0xE0000 + u32::from(byte));
        let wanted: Vec<u32> = tags.chain([0xE007F]).collect();
        let found = rest.get(..wanted.len())?;
        let same = found
            .iter()
            .zip(&wanted)
            .all(|(&have, &want)| u32::from(have) == want);
        same.then_some(wanted.len() + 1)
    })
}

/// Whether the character belongs to a script written from right to left.
pub(super) fn is_right_to_left(character: char) -> bool {
    matches!(character,
        '\u{0590}'..='\u{061B}'
        | '\u{061D}'..='\u{08FF}'
        | '\u{FB1D}'..='\u{FDFF}'
        | '\u{FE70}'..='\u{FEFC}'
        | '\u{10800}'..='\u{10FFF}'
        | '\u{1E800}'..='\u{1EFFF}')
}

/// Whether some word mixes ASCII letters with letters of another script that look like them, and
/// with no other letters.
pub(super) fn lookalike_words(characters: &[char]) -> bool {
    characters
        .split(|character| !character.is_alphanumeric())
        .any(|word| {
            let latin = word.iter().any(char::is_ascii_alphabetic);
            let mut foreign = word
                .iter()
                .filter(|character| !character.is_ascii())
                .peekable();
            latin && foreign.peek().is_some() && foreign.all(|&letter| lookalike(letter).is_some())
        })
}

/// Returns the Latin letter that a Cyrillic or Greek one looks like, in the same case.
pub(in super::super) fn lookalike(character: char) -> Option<char> {
    const PAIRS: [(&str, &str); 2] = [
        // Cyrillic.
        (
            "аеорсухіјѕһԁԛԝАВЕКМНОРСТХІЈЅ",
            "aeopcyxijshdqwABEKMHOPCTXIJS",
        ),
        // Greek. Letters that formulas use on their own (nu, alpha, mu) are left out.
        ("οΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "oABEZHIKMNOPTYX"),
    ];
    if character.is_ascii() {
        return None;
    }
    PAIRS.iter().find_map(|(foreign, latin)| {
        let index = foreign.chars().position(|letter| letter == character)?;
        latin.chars().nth(index)
    })
}

fn is_emoji(character: char) -> bool {
    !character.is_ascii() && character.is_emoji_char()
}

fn joins_emoji(characters: &[char], index: usize) -> bool {
    let (before, after) = (&characters[..index], characters.get(index + 1));
    let base = match before {
        [.., base, '\u{FE0F}'] => Some(base),
        [.., base] => Some(base),
        [] => None,
    };
    base.is_some_and(|&base| is_emoji(base)) && after.is_some_and(|&after| is_emoji(after))
}

/// Whether a joiner stands inside or at the end of a word of a script that shapes its letters.
fn between_joining_letters(before: Option<char>, after: Option<char>) -> bool {
    let word_goes_on = after.is_some_and(char::is_alphanumeric);
    before.is_some_and(is_shaping) && (!word_goes_on || after.is_some_and(is_shaping))
}

fn is_shaping(character: char) -> bool {
    let letter = matches!(
        character.general_category_group(),
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Mark
    );
    letter
        && (is_right_to_left(character)
            || matches!(character,
                '\u{0900}'..='\u{0DFF}'
                | '\u{0F00}'..='\u{109F}'
                | '\u{1780}'..='\u{18AF}'
                | '\u{1900}'..='\u{1CFF}'
                | '\u{A800}'..='\u{AAFF}'
                | '\u{ABC0}'..='\u{ABFF}'
                | '\u{11000}'..='\u{11FFF}'))
}

/// Whether the script has no blanks between words and marks where a line may break.
fn writes_without_blanks(character: char) -> bool {
    matches!(character,
        '\u{0E00}'..='\u{0FFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
        | '\u{1950}'..='\u{19DF}' | '\u{1A20}'..='\u{1AAF}')
}

fn is_mongolian(character: char) -> bool {
    matches!(character, '\u{1820}'..='\u{18AA}')
}

/// Whether the nearest letter on one side, a few signs away at most, runs from right to left.
fn near_right_to_left(characters: &[char], index: usize) -> bool {
    const REACH: usize = 4;
    let nearest = |side: &mut dyn Iterator<Item = &char>| {
        let letter = side.take(REACH).find(|character| character.is_alphabetic());
        letter.is_some_and(|&letter| is_right_to_left(letter))
    };
    nearest(&mut characters[..index].iter().rev()) || nearest(&mut characters[index + 1..].iter())
}

/// Whether `base` has the variant that `selector` asks for.
fn selects(base: char, selector: char, after: Option<char>) -> bool {
    match selector {
        '\u{FE0E}' | '\u{FE0F}' => {
            let keycap = matches!(base, '0'..='9' | '#' | '*') && after == Some('\u{20E3}');
            keycap || is_emoji(base)
        }
        '\u{FE00}'..='\u{FE02}' | '\u{E0100}'..='\u{E01EF}' => is_ideograph(base),
        '\u{180B}'..='\u{180D}' | '\u{180F}' => is_mongolian(base),
        _ => false,
    }
}

fn is_ideograph(character: char) -> bool {
    matches!(character,
        '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}'
        | '\u{20000}'..='\u{3FFFD}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookalikes_are_listed_in_pairs() {
        assert_eq!(lookalike('а'), Some('a'));
        assert_eq!(lookalike('ѕ'), Some('s'));
        assert_eq!(lookalike('S'), None);
        assert_eq!(lookalike('Х'), Some('X'));
        assert_eq!(lookalike('Χ'), Some('X'));
        assert_eq!(lookalike('ж'), None);
    }

    #[test]
    fn only_known_flags_are_flags() {
        let flag = |region: &str| -> Vec<char> {
            let tags = region.bytes().map(|byte| 0xE0000 + u32::from(byte));
            let tags = tags.chain([0xE007F]).filter_map(char::from_u32);
            std::iter::once('\u{1F3F4}').chain(tags).collect()
        };
        assert_eq!(tag_flag_length(&flag("gbsct")), Some(7));
        assert_eq!(tag_flag_length(&flag("ustx")), None);
        assert_eq!(tag_flag_length(&flag("gbsct")[..6]), None);
    }
}
