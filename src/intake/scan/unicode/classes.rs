//! The classes of hidden characters and what is said about each.

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// A kind of hidden character. The order is that of danger and decides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Forces an order of display.
    BidiOverride,
    /// Embeds or isolates text of another direction, or ends that.
    BidiEmbedding,
    /// A character with a direction and no shape.
    BidiMark,
    /// The tag block, an invisible copy of ASCII.
    Tag,
    /// Chooses a variant of the character before it.
    VariationSelector,
    /// Joins, parts or marks a byte order without a shape.
    ZeroWidth,
    /// Operators and hyphens without a shape.
    InvisibleOperator,
    /// Letters that are blank.
    HangulFiller,
    /// Blanks that are not the space.
    Blank,
    /// Ends a line for some readers and not for others.
    LineSeparator,
    /// Annotation anchors.
    Interlinear,
    /// Starts a terminal command.
    Escape,
    /// Moves the cursor back over what was shown.
    Overwrite,
    /// Has git take a file for binary.
    Nul,
    /// The other control codes.
    Control,
    /// Every other format character.
    OtherFormat,
    /// Has no meaning of its own.
    PrivateUse,
}

/// Returns the class of a hidden character, `None` for a visible one.
pub(super) fn classify(character: char) -> Option<Class> {
    Some(match character {
        '\t' | '\u{0C}' | ' '..='~' => return None,
        '\u{1B}' | '\u{9B}' => Class::Escape,
        '\u{08}' | '\r' => Class::Overwrite,
        '\0' => Class::Nul,
        // Lines hold no line feed, but names can.
        '\u{1}'..='\u{1F}' | '\u{7F}'..='\u{9F}' => Class::Control,
        '\u{202D}' | '\u{202E}' => Class::BidiOverride,
        '\u{202A}'..='\u{202C}' | '\u{2066}'..='\u{2069}' => Class::BidiEmbedding,
        '\u{200E}' | '\u{200F}' | '\u{061C}' => Class::BidiMark,
        '\u{200B}'..='\u{200D}'
        | '\u{2060}'
        | '\u{FEFF}'
        | '\u{180E}'
        | '\u{17B4}'
        | '\u{17B5}' => Class::ZeroWidth,
        '\u{A0}'
        | '\u{1680}'
        | '\u{2000}'..='\u{200A}'
        | '\u{202F}'
        | '\u{205F}'
        | '\u{2800}'
        | '\u{3000}' => Class::Blank,
        '\u{E0000}'..='\u{E007F}' => Class::Tag,
        '\u{FE00}'..='\u{FE0F}'
        | '\u{E0100}'..='\u{E01EF}'
        | '\u{180B}'..='\u{180D}'
        | '\u{180F}' => Class::VariationSelector,
        '\u{2061}'..='\u{2065}' | '\u{034F}' | '\u{00AD}' | '\u{206A}'..='\u{206F}' => {
            Class::InvisibleOperator
        }
        '\u{115F}' | '\u{1160}' | '\u{3164}' | '\u{FFA0}' => Class::HangulFiller,
        '\u{2028}' | '\u{2029}' => Class::LineSeparator,
        '\u{FFF9}'..='\u{FFFB}' => Class::Interlinear,
        // Reserved for characters that are ignored when displayed.
        '\u{E0080}'..='\u{E0FFF}' | '\u{FFF0}'..='\u{FFF8}' => Class::OtherFormat,
        // Signs that stand around numbers are format characters one can see.
        '\u{0600}'..='\u{0605}'
        | '\u{06DD}'
        | '\u{070F}'
        | '\u{0890}'
        | '\u{0891}'
        | '\u{08E2}'
        | '\u{110BD}'
        | '\u{110CD}' => return None,
        _ => match character.general_category() {
            GeneralCategory::Format => Class::OtherFormat,
            GeneralCategory::PrivateUse => Class::PrivateUse,
            _ => return None,
        },
    })
}

/// Whether a reader sees nothing of the character; such characters are taken out before words are
/// compared.
pub(in super::super) fn is_invisible(character: char) -> bool {
    !matches!(
        classify(character),
        None | Some(Class::PrivateUse | Class::Blank)
    )
}

/// Returns the Unicode name of the characters people have heard of.
pub(super) fn name(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{1B}' => "ESCAPE",
        '\u{00A0}' => "NO-BREAK SPACE",
        '\u{00AD}' => "SOFT HYPHEN",
        '\u{200B}' => "ZERO WIDTH SPACE",
        '\u{200C}' => "ZERO WIDTH NON-JOINER",
        '\u{200D}' => "ZERO WIDTH JOINER",
        '\u{200E}' => "LEFT-TO-RIGHT MARK",
        '\u{200F}' => "RIGHT-TO-LEFT MARK",
        '\u{2028}' => "LINE SEPARATOR",
        '\u{2029}' => "PARAGRAPH SEPARATOR",
        '\u{202A}' => "LEFT-TO-RIGHT EMBEDDING",
        '\u{202B}' => "RIGHT-TO-LEFT EMBEDDING",
        '\u{202C}' => "POP DIRECTIONAL FORMATTING",
        '\u{202D}' => "LEFT-TO-RIGHT OVERRIDE",
        '\u{202E}' => "RIGHT-TO-LEFT OVERRIDE",
        '\u{2060}' => "WORD JOINER",
        '\u{2066}' => "LEFT-TO-RIGHT ISOLATE",
        '\u{2067}' => "RIGHT-TO-LEFT ISOLATE",
        '\u{2068}' => "FIRST STRONG ISOLATE",
        '\u{2069}' => "POP DIRECTIONAL ISOLATE",
        '\u{2800}' => "BRAILLE PATTERN BLANK",
        '\u{3000}' => "IDEOGRAPHIC SPACE",
        '\u{3164}' => "HANGUL FILLER",
        '\u{FE0F}' => "VARIATION SELECTOR-16",
        '\u{FEFF}' => "ZERO WIDTH NO-BREAK SPACE",
        _ => return None,
    })
}

const SEEN_AND_COMPILED: &str =
    "What a reader sees is not what the compiler, the interpreter or a model reads.";
const TYPE_AGAIN: &str = "Delete it, or write it as an escape sequence if the program needs it.";

impl Class {
    /// Returns the stable name of the rule.
    pub(super) fn rule(self) -> &'static str {
        match self {
            Self::BidiOverride => "bidi-override",
            Self::BidiEmbedding => "bidi-embedding",
            Self::BidiMark => "bidi-mark",
            Self::Tag => "tag-character",
            Self::VariationSelector => "variation-selector",
            Self::ZeroWidth => "zero-width",
            Self::InvisibleOperator => "invisible-operator",
            Self::HangulFiller => "hangul-filler",
            Self::Blank => "unusual-blank",
            Self::LineSeparator => "line-separator",
            Self::Interlinear => "interlinear-annotation",
            Self::Escape => "terminal-escape",
            Self::Overwrite => "cursor-control",
            Self::Nul => "nul-character",
            Self::Control => "control-character",
            Self::OtherFormat => "format-character",
            Self::PrivateUse => "private-use",
        }
    }

    /// Returns the title of a finding.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::BidiOverride => "Bidirectional override changes the order in which text is read",
            Self::BidiEmbedding => "Bidirectional control can reorder what is displayed",
            Self::BidiMark => "Hidden direction mark",
            Self::Tag => "Invisible tag characters can carry a hidden message",
            Self::VariationSelector => "Stray variation selector",
            Self::ZeroWidth => "Zero-width character",
            Self::InvisibleOperator => "Invisible operator or soft hyphen",
            Self::HangulFiller => "Blank letter that works as an identifier",
            Self::Blank => "Blank in code that is not a space",
            Self::LineSeparator => "Unicode line separator inside a line",
            Self::Interlinear => "Hidden interlinear annotation",
            Self::Escape => "Terminal escape sequence",
            Self::Overwrite => "Control character that overwrites what was shown",
            Self::Nul => "NUL character hides the lines of this file from a diff",
            Self::Control => "Control character",
            Self::OtherFormat => "Invisible format character",
            Self::PrivateUse => "Private-use character",
        }
    }

    /// Returns why it matters, as a sentence.
    pub(super) fn danger(self) -> &'static str {
        match self {
            Self::Nul => {
                "Git takes a file with a NUL in it for binary and shows none of its lines, so that \
                 nobody reviews what they do."
            }
            Self::BidiOverride | Self::BidiEmbedding => {
                "It can show code in another order than it runs, so that a comment looks like code \
                 or code like a comment."
            }
            Self::Tag => {
                "The tag block is an invisible copy of ASCII: people see nothing while programs \
                 and models read words."
            }
            Self::VariationSelector => {
                "It does not belong to an emoji or ideograph before it; a run of selectors can \
                 carry hidden bytes."
            }
            Self::HangulFiller => {
                "Languages accept it as a letter, so an identifier, parameter or key can be there \
                 without being seen."
            }
            Self::Blank => {
                "It looks like a space, but many languages refuse it, and shells take it for a \
                 part of the word beside it."
            }
            Self::LineSeparator => {
                "Some programs end the line here and others do not, so a comment or string may \
                 end earlier than it seems."
            }
            Self::Escape | Self::Overwrite => {
                "A terminal that prints this text obeys it, and can hide or replace what a \
                 reviewer sees."
            }
            Self::PrivateUse => "It has no meaning outside the font that was used to write it.",
            Self::BidiMark
            | Self::ZeroWidth
            | Self::InvisibleOperator
            | Self::Interlinear
            | Self::Control
            | Self::OtherFormat => SEEN_AND_COMPILED,
        }
    }

    /// Returns what to do, as a sentence.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::Blank => "Is it meant? Otherwise write a space.",
            Self::PrivateUse => "Is it meant? An escape sequence would make it visible.",
            Self::Tag => "Delete it, and find out how it came there before trusting this change.",
            _ => TYPE_AGAIN,
        }
    }
}
