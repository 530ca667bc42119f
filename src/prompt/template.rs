//! The texts of the prompt: files with placeholders, embedded in the program.
//!
//! A template and the values it takes are tied by the compiler (as many values as names) and by a
//! test (the names are exactly the placeholders of the file), so filling one in cannot fail.

/// Introduces the placeholder's name.
const OPEN: &str = "{{";
/// Ends the placeholder's name.
const CLOSE: &str = "}}";

/// The role, what counts as a finding, priorities and verdict (SPEC 8).
pub(super) const RUBRIC: Template<0> = Template::new(include_str!("templates/rubric.md"), []);
/// The read-only tools, for engines whose tools diffwarden controls (SPEC 8.1).
pub(super) const TOOLS: Template<1> = Template::new(include_str!("templates/tools.md"), ["tools"]);
/// The form of the answer.
pub(super) const OUTPUT: Template<0> = Template::new(include_str!("templates/output.md"), []);
/// The request for a target with a diff.
pub(super) const ENGAGEMENT: Template<2> = Template::new(
    include_str!("templates/engagement.md"),
    ["target", "command"],
);
/// The request for a target of instructions.
pub(super) const CUSTOM: Template<2> = Template::new(
    include_str!("templates/custom.md"),
    ["folder", "instructions"],
);
/// The limits of a focus lane.
pub(super) const FOCUS: Template<1> = Template::new(include_str!("templates/focus.md"), ["focus"]);
/// What stands before the fence with the patch.
pub(super) const PATCH: Template<0> = Template::new(include_str!("templates/patch.md"), []);

/// The request to transcribe an answer that does not fit (SPEC 10).
pub(super) const REPAIR: Template<3> = Template::new(
    include_str!("templates/repair.md"),
    ["schema", "problem", "answer"],
);

/// A text with `N` placeholders such as `{{target}}`.
pub(super) struct Template<const N: usize> {
    text: &'static str,
    names: [&'static str; N],
}

impl<const N: usize> Template<N> {
    const fn new(text: &'static str, names: [&'static str; N]) -> Self {
        Self { text, names }
    }

    /// Returns the text with its placeholders replaced, in the order of the names, and without
    /// blank space at its ends.
    ///
    /// Values are never looked at again, so a value that holds a placeholder's name stays as it is.
    pub(super) fn fill(&self, values: [&str; N]) -> String {
        let mut filled = String::with_capacity(self.text.len());
        let mut rest = self.text.trim();
        while let Some((before, name, after)) = next_placeholder(rest) {
            filled.push_str(before);
            let known = self.names.iter().position(|known| *known == name);
            filled.push_str(known.map_or("", |index| values[index]));
            rest = after;
        }
        filled.push_str(rest);
        filled
    }
}

fn next_placeholder(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once(OPEN)?;
    let (name, after) = rest.split_once(CLOSE)?;
    Some((before, name, after))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn placeholders(text: &str) -> BTreeSet<&str> {
        let mut found = BTreeSet::new();
        let mut rest = text;
        while let Some((_, name, after)) = next_placeholder(rest) {
            found.insert(name);
            rest = after;
        }
        found
    }

    fn facts<const N: usize>(template: &Template<N>) -> (&'static str, Vec<&'static str>) {
        (template.text, template.names.to_vec())
    }

    fn all() -> Vec<(&'static str, Vec<&'static str>)> {
        vec![
            facts(&RUBRIC),
            facts(&TOOLS),
            facts(&OUTPUT),
            facts(&ENGAGEMENT),
            facts(&CUSTOM),
            facts(&FOCUS),
            facts(&PATCH),
            facts(&REPAIR),
        ]
    }

    #[test]
    fn names_are_exactly_the_placeholders() {
        for (text, names) in all() {
            let declared: BTreeSet<&str> = names.iter().copied().collect();
            assert_eq!(placeholders(text), declared, "in {text}");
            assert_eq!(
                declared.len(),
                names.len(),
                "a name is given twice: {names:?}"
            );
            let stray = text.matches(OPEN).count() + text.matches(CLOSE).count();
            assert_eq!(stray, 2 * text.matches(OPEN).count());
        }
    }

    #[test]
    fn every_file_is_in_use() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/prompt/templates");
        let on_disk: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
            .collect();
        let in_use: BTreeSet<String> = all().iter().map(|(text, _)| (*text).to_owned()).collect();
        assert_eq!(on_disk, in_use);
    }

    #[test]
    fn values_are_not_filled_in_again() {
        let template = Template::new(
            " {{first}} and {{second}}, {{first}}\n",
            ["first", "second"],
        );
        assert_eq!(
            template.fill(["{{second}}", "}}{{"]),
            "{{second}} and }}{{, {{second}}"
        );
    }
}
