//! Fences that hold: text of others is set apart by more backticks than it has in a row anywhere.

/// Returns the length of the longest run of backticks.
pub(super) fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut current = 0;
    for byte in text.bytes() {
        current = if byte == b'`' { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    longest
}

/// Returns how many backticks fence in a text whose longest run of them is `run`.
///
/// A Markdown fence is closed by a line of at least as many backticks; a run of fewer never closes
/// it, wherever it stands and however it is indented.
pub(super) fn fence_length(run: usize) -> usize {
    (run + 1).max(3)
}

/// Returns the text inside a fence that nothing in it can close.
pub(super) fn fenced(info: &str, text: &str) -> String {
    let fence = "`".repeat(fence_length(longest_run(text)));
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{fence}{info}\n{text}{end}{fence}")
}

/// Returns which of the lines closes a fence of Markdown that `fence` opened, for tests.
#[cfg(test)]
pub(super) fn closing_line(fence: &str, lines: &[&str]) -> Option<usize> {
    lines.iter().position(|line| {
        let body = line.trim_start_matches(' ');
        let indent = line.len() - body.len();
        let marks = body.len() - body.trim_start_matches('`').len();
        indent <= 3 && marks >= fence.len() && body[marks..].trim().is_empty()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn counts_the_longest_run() {
        assert_eq!(longest_run(""), 0);
        assert_eq!(longest_run("a`b``c"), 2);
        assert_eq!(longest_run("````\n``"), 4);
        assert_eq!(longest_run("``\n``"), 2);
    }

    #[test]
    fn has_at_least_three_marks() {
        assert_eq!(fenced("sh", "ls"), "```sh\nls\n```");
        assert_eq!(fenced("", "a ``` b\n"), "````\na ``` b\n````");
        assert_eq!(fenced("diff", ""), "```diff\n```");
    }

    proptest! {
        #[test]
        fn nothing_closes_it_early(text in "([`~ \t\r\na+-]|```|````){0,40}") {
            let whole = fenced("text", &text);
            let lines: Vec<&str> = whole.split(['\n', '\r']).collect();
            let fence: String = whole.chars().take_while(|&mark| mark == '`').collect();
            prop_assert_eq!(closing_line(&fence, &lines[1..]), Some(lines.len() - 2));
        }
    }
}
