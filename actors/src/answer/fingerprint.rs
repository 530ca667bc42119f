//! Names for findings that survive edits elsewhere in the file.
//!
//! A name is made of the path, the normalised title and the text of the line the finding begins
//! at, never of its number, so that a later run can tell an old finding from a new one. Findings
//! that are equal in all of that are told apart by their order in the file.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use super::merge::{MergedFinding, normalise_title, path_text};
use super::patch_lines::{PatchLines, Side};
use crate::model::{Anchor, RepoPath};
use crate::source::SourceReader;

/// Length of a name's hexadecimal part.
const HEX_DIGITS: usize = 16;

/// Returns the ids of findings, in the same order. No two are the same.
pub fn name_findings(
    findings: &[MergedFinding],
    lines: &PatchLines<'_>,
    source: &dyn SourceReader,
) -> Vec<String> {
    let mut equals: HashMap<Fingerprint, Vec<usize>> = HashMap::new();
    for (index, finding) in findings.iter().enumerate() {
        let fingerprint = Fingerprint::of(finding, lines, source);
        equals.entry(fingerprint).or_default().push(index);
    }
    let mut names = vec![String::new(); findings.len()];
    for (fingerprint, mut group) in equals {
        group.sort_by_key(|&index| {
            let range = findings[index].finding.code_location.line_range;
            (range.start, range.end, index)
        });
        for (ordinal, index) in group.into_iter().enumerate() {
            names[index] = fingerprint.name(ordinal);
        }
    }
    names
}

/// What is named.
#[derive(PartialEq, Eq, Hash)]
struct Fingerprint {
    path: String,
    title: String,
    line: Vec<u8>,
}

impl Fingerprint {
    fn of(merged: &MergedFinding, lines: &PatchLines<'_>, source: &dyn SourceReader) -> Self {
        let finding = &merged.finding;
        let line = match (&finding.anchor, &merged.located.path) {
            (Some(Anchor::Path), _) => b"path".to_vec(),
            (Some(Anchor::CommitMessage), _) => b"commit message".to_vec(),
            (Some(Anchor::Branch), _) => b"branch".to_vec(),
            (None, Some(path)) => anchored_line(path, merged, lines, source),
            (None, None) => Vec::new(),
        };
        Self {
            path: path_text(finding, &merged.located),
            title: normalise_title(&finding.title),
            line,
        }
    }

    fn name(&self, ordinal: usize) -> String {
        let mut hash = Sha256::new();
        for part in [self.path.as_bytes(), self.title.as_bytes(), &self.line] {
            // The length keeps the parts apart, whatever bytes they hold.
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.update((ordinal as u64).to_be_bytes());
        let hex: String = hash
            .finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("f-{}", &hex[..HEX_DIGITS])
    }
}

/// Returns the line a finding begins at, without differences of blanks: as the patch shows it,
/// else as the reviewed revision has it; nothing when neither knows it.
fn anchored_line(
    path: &RepoPath,
    merged: &MergedFinding,
    lines: &PatchLines<'_>,
    source: &dyn SourceReader,
) -> Vec<u8> {
    let range = merged.finding.code_location.line_range;
    let side = lines.side(path, range);
    let shown = lines.text(path, side, range.start);
    let text = match (shown, side) {
        (Some(text), _) => Some(text.to_vec()),
        (None, Side::Right) => source.line(path, range.start),
        (None, Side::Left) => None,
    };
    collapse_blanks(&text.unwrap_or_default())
}

fn collapse_blanks(line: &[u8]) -> Vec<u8> {
    let words: Vec<&[u8]> = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .collect();
    words.join(&b' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::samples::{file_patch, finding, merged};
    use crate::model::{Finding, Patch};
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// A revision in which every file has these lines.
    struct Text(Vec<&'static str>);

    impl SourceReader for Text {
        fn line(&self, _: &RepoPath, line: u32) -> Option<Vec<u8>> {
            let line = self.0.get(line.checked_sub(1)? as usize)?;
            Some(line.as_bytes().to_vec())
        }
    }

    fn names(findings: &[Finding], patch: &Patch, source: &dyn SourceReader) -> Vec<String> {
        let findings: Vec<_> = findings.iter().map(|f| ("alpha", f.clone())).collect();
        let findings = merged(&findings);
        let wanted: HashSet<&RepoPath> = findings
            .iter()
            .filter_map(|f| f.located.path.as_ref())
            .collect();
        name_findings(&findings, &PatchLines::new(patch, &wanted), source)
    }

    fn patch_at(start: u32) -> Patch {
        Patch {
            files: vec![file_patch("a", 1, start, &["+  let x =\t1;", "+y"])],
        }
    }

    #[test]
    fn names_have_their_form() {
        let name = names(&[finding("t", "a", 1, 1)], &patch_at(1), &Text(vec![])).remove(0);
        let hex = name.strip_prefix("f-").unwrap();
        assert_eq!(hex.len(), HEX_DIGITS);
        assert!(hex.bytes().all(|byte| byte.is_ascii_hexdigit()));
    }

    #[test]
    fn words_place_and_code_make_the_name_and_numbers_do_not() {
        let none = Text(vec![]);
        let base = names(&[finding("[P1] Bad x", "a", 1, 1)], &patch_at(1), &none);
        let same = [
            names(&[finding("[P1] bad  X ", "a", 7, 9)], &patch_at(7), &none),
            names(
                &[finding("[P1] Bad x", "a", 3, 3)],
                &Patch::default(),
                &Text(vec!["", "", "let x = 1;"]),
            ),
        ];
        for names in same {
            assert_eq!(names, base);
        }
        let other = [
            names(&[finding("[P1] Bad y", "a", 1, 1)], &patch_at(1), &none),
            names(&[finding("[P1] Bad x", "b", 1, 1)], &patch_at(1), &none),
            names(&[finding("[P1] Bad x", "a", 2, 2)], &patch_at(1), &none),
        ];
        for names in other {
            assert_ne!(names, base);
        }
    }

    #[test]
    fn equal_findings_are_counted_in_file_order() {
        let text = Text(vec!["x", "x", "x"]);
        let nothing = Patch::default();
        let at = |line| finding("t", "a", line, line);
        let ascending = names(&[at(1), at(2), at(3)], &nothing, &text);
        let descending = names(&[at(3), at(2), at(1)], &nothing, &text);
        let distinct: HashSet<_> = ascending.iter().collect();
        assert_eq!(distinct.len(), 3);
        assert!(ascending.iter().eq(descending.iter().rev()));
    }

    #[test]
    fn findings_without_lines_are_named_by_what_they_are_about() {
        let about = |anchor| Finding {
            anchor: Some(anchor),
            ..finding("t", "a", 1, 1)
        };
        let findings = [
            about(Anchor::Path),
            about(Anchor::Branch),
            about(Anchor::CommitMessage),
            finding("t", "a", 1, 1),
        ];
        let names = names(&findings, &Patch::default(), &Text(vec!["x"]));
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 4);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn names_do_not_change_when_lines_move(
            shift in 0_u32..1000,
            places in proptest::collection::vec((0_u32..2, 0_usize..2), 1..8),
        ) {
            let at = |shift: u32| -> Vec<Finding> {
                let one = |&(line, title): &(u32, usize)| {
                    let line = 1 + line + shift;
                    finding(["a", "b"][title], "a", line, line)
                };
                places.iter().map(one).collect()
            };
            let before = names(&at(0), &patch_at(1), &Text(vec![]));
            let after = names(&at(shift), &patch_at(1 + shift), &Text(vec![]));
            prop_assert_eq!(&before, &after);
            prop_assert_eq!(before.iter().collect::<HashSet<_>>().len(), places.len());
        }
    }
}
