//! The process of one review or repair: its command line, its environment, its files, and the
//! first line it reads.
//!
//! Everything else, the prompt included, is said over standard input later.

use std::ffi::OsString;
use std::path::Path;

use diffwarden_actors::engine::{Capabilities, CommandSpec, Place, PlacedFile};
use diffwarden_actors::model::Failure;
use serde_json::json;

use super::message;
use super::options::ServerOptions;
use crate::engines::codex::command::{self as exec, HOME, POLICY, TOOLLESS};
use crate::engines::codex::home::{self, CodexHome};
use crate::engines::executable::Resolved;

/// The number of the first request.
pub(super) const INITIALIZE: u64 = 1;

/// What keeps every thread of the server from writing, whatever a request leaves out.
const READONLY: [&str; 2] = ["sandbox_mode=\"read-only\"", "approval_policy=\"never\""];

/// Notifications that nobody reads: everything in them comes again in the finished item.
const UNREAD: [&str; 8] = [
    "command/exec/outputDelta",
    "item/agentMessage/delta",
    "item/commandExecution/outputDelta",
    "item/fileChange/outputDelta",
    "item/plan/delta",
    "item/reasoning/summaryTextDelta",
    "item/reasoning/textDelta",
    "turn/diff/updated",
];

/// What tells one kind of run from another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Run<'a> {
    /// Where it runs.
    pub(super) place: &'a Place,
    /// What preflight learned.
    pub(super) capabilities: &'a Capabilities,
    /// Whether the model has to do without tools.
    pub(super) is_toolless: bool,
    /// The value of Codex's `web_search` key; `None` leaves it to the user's configuration.
    pub(super) web_search: Option<&'static str>,
}

/// Builds the command.
///
/// # Errors
///
/// Fails when the user's Codex configuration cannot be read.
pub(super) fn command(
    options: &ServerOptions,
    executable: &Resolved,
    home: &CodexHome,
    run: &Run<'_>,
) -> Result<CommandSpec, Failure> {
    let place = run.place;
    let mut command = CommandSpec::new(&executable.path, &place.repo_root);
    command.args = arguments(run);
    command.env = exec::environment(&place.run_dir.join(HOME));
    command.files = vec![PlacedFile {
        name: Path::new(HOME).join(home::CONFIG),
        contents: home.private_config(&options.common)?.into(),
    }];
    if let Some(credentials) = home.credentials() {
        let name = Path::new(HOME).join("auth.json");
        command.links.push((name, credentials.to_path_buf()));
    }
    command.stdin = format!("{}\n", hello()).into_bytes();
    command.keep_stdin_open = true;
    Ok(command)
}

fn arguments(run: &Run<'_>) -> Vec<OsString> {
    let mut args: Vec<OsString> = vec!["app-server".into()];
    if run.capabilities.flags.contains("--strict-config") {
        args.push("--strict-config".into());
    }
    let web_search = run.web_search.map(|mode| format!("web_search=\"{mode}\""));
    let toolless: &[&str] = if run.is_toolless { &TOOLLESS } else { &[] };
    let settings = READONLY.iter().copied().chain(web_search.as_deref());
    for setting in settings.chain(POLICY).chain(toolless.iter().copied()) {
        args.extend(["-c".into(), setting.into()]);
    }
    args.extend(["--listen".into(), "stdio://".into()]);
    args
}

/// Returns the first line.
fn hello() -> String {
    let params = json!({
        "clientInfo": {
            "name": "diffwarden",
            "title": "diffwarden",
            "version": env!("CARGO_PKG_VERSION"),
        },
        "capabilities": {"experimentalApi": false, "optOutNotificationMethods": UNREAD},
    });
    message::request(INITIALIZE, "initialize", &params)
}

#[cfg(test)]
mod tests {
    use super::super::options::tests::options;
    use super::*;
    use crate::engines::executable::Source;
    use crate::engines::shared::testing::request;
    use crate::env::Environment;
    use serde_json::Value;

    fn built(is_toolless: bool, flags: &[&str], home: &CodexHome) -> CommandSpec {
        let request = request("prompt", flags);
        let executable = Resolved {
            path: "/bin/codex".into(),
            requested: "codex".into(),
            source: Source::AdapterDefault,
        };
        let run = Run {
            place: &request.place,
            capabilities: &request.capabilities,
            is_toolless,
            web_search: Some("disabled"),
        };
        command(&options(&json!({})), &executable, home, &run).unwrap()
    }

    fn no_home() -> CodexHome {
        CodexHome::read(&Environment::from_iter([("CODEX_HOME", "/no/such/folder")]))
    }

    fn words_of(command: &CommandSpec) -> String {
        let args = command.args.iter();
        let words: Vec<_> = args.map(|arg| arg.to_str().unwrap()).collect();
        words.join(" ").replace(" -", "\n-")
    }

    #[test]
    fn command_line_of_a_review() {
        let flags = ["--strict-config", "--listen"];
        insta::assert_snapshot!(words_of(&built(false, &flags, &no_home())));
    }

    #[test]
    fn a_repair_has_no_tools() {
        let words = words_of(&built(true, &[], &no_home()));
        assert!(words.contains("features.shell_tool=false"), "{words}");
        assert!(!words.contains("--strict-config"), "{words}");
    }

    #[test]
    fn the_first_line_introduces_the_client_and_input_stays_open() {
        let command = built(false, &[], &no_home());
        assert!(command.keep_stdin_open);
        let text = String::from_utf8(command.stdin).unwrap();
        let line = text.strip_suffix('\n').unwrap();
        let hello: Value = serde_json::from_str(line).unwrap();
        assert_eq!(hello["id"], INITIALIZE);
        assert_eq!(hello["method"], "initialize");
        assert_eq!(hello["params"]["clientInfo"]["name"], "diffwarden");
    }

    #[test]
    fn the_home_is_private_and_the_credentials_are_linked() {
        let folder = tempfile::tempdir().unwrap();
        let credentials = folder.path().join("auth.json");
        std::fs::write(&credentials, "{}").unwrap();
        let command = built(false, &[], &CodexHome::at(folder.path()));
        let link = ("codex-home/auth.json".into(), credentials);
        assert_eq!(command.links, [link]);
        let home = ("CODEX_HOME".into(), Some("/run/review/codex-home".into()));
        assert!(command.env.contains(&home));
        let names: Vec<_> = command.files.iter().map(|file| &file.name).collect();
        assert_eq!(names, [Path::new("codex-home/config.toml")]);
    }
}
