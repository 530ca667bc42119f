//! The cases, as they stand in the files.
//!
//! `@{a|b}` in a text joins `a` and `b`, so that no file of this repository holds the shape of a
//! real credential, and `\u{...}` writes a character by its code point.

use std::fs;
use std::io;

use serde::Deserialize;

/// One case, a line of JSON.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// What it is counted under.
    pub(crate) class: String,
    /// What it shows.
    pub(crate) name: String,
    /// Where the text stands: a path, or `commit` or `branch`.
    #[serde(default = "default_path")]
    pub(crate) at: String,
    /// The lines that the change leaves there.
    #[serde(default)]
    pub(crate) lines: Vec<String>,
    /// The lines before the change; without them the file is new.
    #[serde(default)]
    pub(crate) before: Option<Vec<String>>,
    /// The findings, in order: `P1 3-4 a part of the title`, or `P1 path a part of ...`; `P?` is any
    /// priority.
    #[serde(default)]
    pub(crate) finds: Vec<String>,
    /// `.gitattributes` before the change.
    #[serde(default)]
    pub(crate) attributes: Option<String>,
    /// `.gitattributes` as the change leaves it.
    #[serde(default)]
    pub(crate) new_attributes: Option<String>,
    /// The kind of file that it is left out as.
    #[serde(default)]
    pub(crate) prunes: Option<String>,
    /// Links before the change, as path and target.
    #[serde(default)]
    pub(crate) before_links: Vec<(String, String)>,
    /// Files before the change.
    #[serde(default)]
    pub(crate) before_files: Vec<String>,
    /// Links that the change makes.
    #[serde(default)]
    pub(crate) links: Vec<(String, String)>,
    /// Files that the change writes.
    #[serde(default)]
    pub(crate) files: Vec<String>,
    /// Who reviews a change that may be refused.
    #[serde(default)]
    pub(crate) reviewer: Option<String>,
    /// A part of the reason for which the reviewer is not started.
    #[serde(default)]
    pub(crate) refused: Option<String>,
}

fn default_path() -> String {
    "src/main.rs".to_owned()
}

impl Case {
    /// Reads a file of cases.
    pub(crate) fn read(file: &str) -> io::Result<Vec<Self>> {
        let text = fs::read_to_string(file)
            .map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))?;
        let lines = text.lines().filter(|line| !line.is_empty());
        let read = |line| {
            serde_json::from_str(line)
                .map_err(|error| io::Error::other(format!("{file}: {error}: {line}")))
        };
        lines.map(read).collect()
    }

    /// Returns the text of the changed file.
    pub(crate) fn text(&self) -> String {
        joined(&self.lines)
    }
}

/// Joins lines, each with its end.
pub(crate) fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| expand(line) + "\n").collect()
}

/// Joins `@{a|b}` and replaces `\u{...}`.
pub(crate) fn expand(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find("@{").into_iter().chain(rest.find("\\u{")).min() {
        out.push_str(&rest[..start]);
        let end = start + rest[start..].find('}').expect("an open brace is closed");
        if rest[start..].starts_with("@{") {
            out.push_str(&rest[start + 2..end].replace('|', ""));
        } else {
            let code = u32::from_str_radix(&rest[start + 3..end], 16).expect("a code point");
            out.push(char::from_u32(code).expect("a character"));
        }
        rest = &rest[end + 1..];
    }
    out + rest
}
