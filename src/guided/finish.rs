//! The last step of a dialogue: how to go on.

use super::{Prompter, choose};

/// Shows the command that reviews with these reviewers, and asks whether to check now that they
/// can work.
pub fn offer_doctor(prompter: &mut dyn Prompter, command: &str) -> bool {
    prompter.say(&format!("To review: {command}"));
    let options = vec![
        ("yes, run doctor".to_owned(), true),
        ("no".to_owned(), false),
    ];
    // Whoever leaves here has what they came for.
    choose(prompter, "Check now whether it works?", options, 0).unwrap_or(false)
}

/// Returns the command that reviews with these reviewers, as it is typed in a shell.
pub fn review_command(ids: &[String]) -> String {
    let flags = ids.iter().map(|id| match id.starts_with('-') {
        true => format!(" --reviewer={}", quoted(id)),
        false => format!(" --reviewer {}", quoted(id)),
    });
    format!("diffwarden review{}", flags.collect::<String>())
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_can_be_typed_as_it_is() {
        let command = |ids: &[&str]| {
            let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
            review_command(&ids)
        };
        assert_eq!(command(&[]), "diffwarden review");
        assert_eq!(
            command(&["codex", "pi:x"]),
            "diffwarden review --reviewer codex --reviewer pi:x"
        );
        assert_eq!(
            command(&["it's; rm"]),
            r"diffwarden review --reviewer 'it'\''s; rm'"
        );
        assert_eq!(command(&["-x"]), "diffwarden review --reviewer=-x");
    }
}
