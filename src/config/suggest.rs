//! "Did you mean": the known word that is closest to one that is not known.

/// Longer words are not compared: nobody mistypes them, and the comparison is quadratic.
const LONGEST: usize = 64;

/// Returns the candidate that is closest to `word`, unless more than a third of its letters differ.
/// Two letters that changed places count as two.
pub(super) fn closest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= LONGEST)
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| {
            let letters = candidate.chars().count();
            *distance < letters && *distance <= letters.div_ceil(3)
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the Levenshtein distance, ignoring ASCII case.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.chars().map(|c| c.to_ascii_lowercase()).enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, r) in right.iter().enumerate() {
            let changed = diagonal + usize::from(l != *r);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let keys = ["reviewers", "reviewerSets", "readonly", "model", "id"];
        for (word, expected) in [
            ("reviewerz", Some("reviewers")),
            ("reviewersets", Some("reviewerSets")),
            ("readOnly", Some("readonly")),
            ("colour", None),
            ("modle", Some("model")),
            ("xy", None),
            ("", None),
        ] {
            assert_eq!(closest(word, keys), expected, "{word}");
        }
        assert_eq!(closest(&"r".repeat(10_000), keys), None);
    }
}
