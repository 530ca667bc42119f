//! Names that people give: ids of reviewers and names of sets. They are printed everywhere and
//! typed on command lines, so they must be what they look like.

use diffwarden_actors::answer::INTEGRITY_ID;
use diffwarden_actors::model::EngineName;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory as _};

use super::spec::ReviewerSpec;

/// Returns what is wrong with a name, if anything is.
pub(super) fn defect_of_name(name: &str) -> Option<&'static str> {
    if name.trim() != name {
        Some("must not start or end with a space")
    } else if name.chars().any(is_invisible) {
        Some("must not contain control or invisible characters")
    } else {
        None
    }
}

/// Returns what is wrong with the id of a reviewer, if anything is. An id that no spec could
/// select is wrong, and so is one that would stand in for a reviewer inside diffwarden.
pub(crate) fn defect_of_id(id: &str) -> Option<String> {
    if let Some(defect) = defect_of_name(id) {
        return Some(format!("a reviewer id {defect}"));
    }
    if id == INTEGRITY_ID {
        return Some(format!(
            "`{id}` is the name under which diffwarden reports its own checks; choose another id"
        ));
    }
    match ReviewerSpec::parse(id) {
        Ok(ReviewerSpec::Engine(engine @ (EngineName::Surface | EngineName::Fake))) => Some(
            format!("`{engine}` always means the reviewer inside diffwarden; choose another id"),
        ),
        Ok(ReviewerSpec::Engine(_) | ReviewerSpec::Id(_)) => None,
        Ok(ReviewerSpec::Profile { .. }) => Some(
            "an id that starts with an engine and a colon reads as engine:profile; \
             use `profile` for that"
                .to_owned(),
        ),
        Err(_) => Some("no reviewer spec could select this id".to_owned()),
    }
}

fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(
            letter.general_category(),
            GeneralCategory::Format
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_checked() {
        for id in [
            "a",
            "pi",
            "codex",
            "b|c",
            "team:deep",
            "名前",
            "constructor",
            "__proto__",
        ] {
            assert_eq!(defect_of_id(id), None, "{id}");
        }
        for id in [
            "surface",
            "fake",
            "integrity",
            "codex:deep",
            "a:b:c",
            " a",
            "a\u{200b}b",
            "a\u{1b}[1m",
            "a\nb",
            "codex:-x",
        ] {
            assert!(defect_of_id(id).is_some(), "{id:?}");
        }
    }
}
