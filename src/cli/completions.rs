//! `diffwarden completions` and `diffwarden man`: what shells and readers of manuals know, made
//! from the definition of the command line.

use clap::CommandFactory as _;
use clap_complete::Shell;
use clap_mangen::Man;
use diffwarden_actors::model::{ErrorCode, Failure};

use super::args::Cli;

const NAME: &str = "diffwarden";

/// Returns the completion script of a shell.
pub(super) fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Returns the manual page of a command, as roff.
///
/// # Errors
///
/// Fails with `invalid_cli` when there is no such command.
pub(super) fn manual(words: &[String]) -> Result<String, Failure> {
    let mut command = Cli::command().disable_help_flag(true);
    command.build();
    for word in words {
        command = command
            .find_subcommand(word)
            .cloned()
            .ok_or_else(|| unknown(words))?;
    }
    let name = command.get_display_name().unwrap_or(NAME).to_uppercase();
    let mut page = Vec::new();
    Man::new(command)
        .title(name)
        .source(concat!("diffwarden ", env!("CARGO_PKG_VERSION")))
        .manual("diffwarden")
        .render(&mut page)
        .expect("writing to memory succeeds");
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn unknown(words: &[String]) -> Failure {
    Failure::new(
        ErrorCode::InvalidCli,
        format!("there is no command `{NAME} {}`", words.join(" ")),
    )
    .hint("`diffwarden --help` lists the commands")
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_shell_learns_every_command() {
        for shell in Shell::value_variants() {
            let script = completions(*shell);
            for word in ["review", "reviewers", "config", "fail-on-findings", "trust"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }

    #[test]
    fn every_command_has_a_page() {
        let words =
            |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
        for (line, needed) in [
            ("", ".TH DIFFWARDEN 1"),
            ("review", "\\-\\-fail\\-on\\-findings"),
            ("review show", ".TH DIFFWARDEN-REVIEW-SHOW 1"),
            ("config trust", "\\-\\-remove"),
        ] {
            let page = manual(&words(line)).unwrap();
            assert!(page.contains(needed), "{line}: {page}");
        }
        let failure = manual(&words("review nothing")).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.message.contains("review nothing"), "{failure}");
    }
}
