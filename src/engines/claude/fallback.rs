//! The model that takes over when the chosen one is overloaded (SPEC 5.4).

use crate::engines::settings::{Chosen, Origin};

/// The model that diffwarden falls back to by itself.
const DEFAULT: &str = "sonnet";

/// Returns the fallback of a reviewer: what was asked for, else Sonnet for a model of another known
/// family. A Sonnet and a model of no known family get none.
pub(super) fn of(asked: Option<&Chosen<String>>, model: Option<&str>) -> Option<Chosen<String>> {
    if let Some(asked) = asked {
        return Some(asked.clone());
    }
    let family = Family::of(model?)?;
    (family != Family::Sonnet).then(|| Chosen {
        value: DEFAULT.to_owned(),
        origin: Origin::Default,
    })
}

/// A line of Claude models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Fable,
    Haiku,
    Opus,
    Sonnet,
}

impl Family {
    /// Returns the family that an alias or a full model id names.
    pub(super) fn of(model: &str) -> Option<Self> {
        let model = model.to_ascii_lowercase();
        [
            ("fable", Self::Fable),
            ("haiku", Self::Haiku),
            ("opus", Self::Opus),
            ("sonnet", Self::Sonnet),
        ]
        .into_iter()
        .find(|(name, _)| model.contains(name))
        .map(|(_, family)| family)
    }
}

/// The families of a reviewer's model and of its fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Families {
    pub(super) model: Option<Family>,
    pub(super) fallback: Option<Family>,
}

impl Families {
    /// Tells whether the fallback served a run, where the names of the models that did prove it.
    /// Two of one family cannot be told apart by an alias.
    pub(super) fn fallback_served(self, served: &[&str]) -> Option<bool> {
        let (model, fallback) = (self.model?, self.fallback?);
        let has = |family| served.iter().any(|name| Family::of(name) == Some(family));
        if model == fallback {
            None
        } else if has(fallback) {
            Some(true)
        } else if has(model) {
            Some(false)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sonnet_stands_in_for_other_known_families_only() {
        for (model, expected) in [
            (Some("opus"), true),
            (Some("claude-opus-5-5"), true),
            (Some("Haiku"), true),
            (Some("us.anthropic.claude-fable-5-2"), true),
            (Some("sonnet"), false),
            (Some("claude-sonnet-4-20250514"), false),
            (Some("my-gateway-model"), false),
            (None, false),
        ] {
            let chosen = of(None, model);
            let is_default = chosen.is_some_and(|chosen| {
                assert_eq!(chosen.value, "sonnet");
                chosen.origin == Origin::Default
            });
            assert_eq!(is_default, expected, "{model:?}");
        }
    }

    #[test]
    fn what_was_asked_for_is_taken() {
        let asked = Chosen {
            value: "opus".to_owned(),
            origin: Origin::Flag,
        };
        assert_eq!(of(Some(&asked), Some("sonnet")), Some(asked));
    }

    #[test]
    fn only_the_names_of_models_prove_who_served() {
        let families = |model, fallback| Families { model, fallback };
        let served = |families: Families, names: &[&str]| families.fallback_served(names);
        let opus = families(Some(Family::Opus), Some(Family::Sonnet));
        assert_eq!(served(opus, &["claude-sonnet-5-5"]), Some(true));
        assert_eq!(served(opus, &["claude-opus-5-5"]), Some(false));
        assert_eq!(
            served(opus, &["claude-opus-5-5", "claude-sonnet-5-5"]),
            Some(true)
        );
        assert_eq!(served(opus, &["other"]), None);
        assert_eq!(served(opus, &[]), None);
        let same = families(Some(Family::Sonnet), Some(Family::Sonnet));
        assert_eq!(served(same, &["claude-sonnet-5-5"]), None);
        let none = families(Some(Family::Sonnet), None);
        assert_eq!(served(none, &["claude-sonnet-5-5"]), None);
    }
}
