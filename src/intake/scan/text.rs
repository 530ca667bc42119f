//! What a scan reads: numbered lines, and what their path says about them.

use diffwarden_actors::model::{Body, FilePatch, LineKind, RepoPath};

/// Added lines of one file, or the lines of a message.
#[derive(Debug)]
pub(super) struct Text<'a> {
    /// The lines in order; numbers rise but may leave gaps.
    pub(super) lines: Vec<NumberedLine<'a>>,
    /// What the path says about them.
    pub(super) kind: PathKind,
    /// The path of the file, below the root; empty for what is no file.
    pub(super) path: &'a [u8],
    /// Whether line 1 is the start of a file, where a byte order mark is usual.
    pub(super) is_file: bool,
}

/// A line without its line feed and its number on the new side, 1-based.
#[derive(Debug, Clone, Copy)]
pub(super) struct NumberedLine<'a> {
    /// The number.
    pub(super) number: u32,
    /// The bytes.
    pub(super) bytes: &'a [u8],
}

impl<'a> Text<'a> {
    /// Returns the added lines of a file; all of them for a new one that git calls binary and that
    /// is text after all.
    pub(super) fn of_file(file: &'a FilePatch, kind: PathKind) -> Self {
        if file.body == Body::Binary {
            return Self {
                lines: numbered(&file.content),
                kind,
                path: file.path().as_bytes(),
                is_file: true,
            };
        }
        let mut lines = Vec::new();
        for hunk in file.hunks() {
            let mut number = hunk.new_start.max(1);
            for line in &hunk.lines {
                if line.kind == LineKind::Added {
                    let bytes = file.text(line);
                    lines.push(NumberedLine { number, bytes });
                }
                if line.kind != LineKind::Removed {
                    number = number.saturating_add(1);
                }
            }
        }
        Self {
            lines,
            kind,
            path: file.path().as_bytes(),
            is_file: true,
        }
    }

    /// Returns a line without the byte order mark that a file may begin with.
    pub(super) fn without_mark(&self, line: NumberedLine<'a>) -> &'a [u8] {
        let first = self.is_file && line.number == 1;
        let mark = first.then(|| line.bytes.strip_prefix(b"\xEF\xBB\xBF"));
        mark.flatten().unwrap_or(line.bytes)
    }

    /// Returns the lines of a commit message, which is prose.
    pub(super) fn of_message(message: &'a str) -> Self {
        let lines = numbered(message.as_bytes());
        let kind = PathKind {
            prose: true,
            ..PathKind::default()
        };
        Self {
            lines,
            kind,
            path: b"",
            is_file: false,
        }
    }

    /// Returns a path or a branch name as a text of one line.
    pub(super) fn of_name(name: &'a [u8], kind: PathKind) -> Self {
        let lines = vec![NumberedLine {
            number: 1,
            bytes: name,
        }];
        // A name is never prose, whatever it names.
        let kind = PathKind {
            prose: false,
            ..kind
        };
        Self {
            lines,
            kind,
            path: b"",
            is_file: false,
        }
    }
}

fn numbered(text: &[u8]) -> Vec<NumberedLine<'_>> {
    (1..)
        .zip(text.split(|&byte| byte == b'\n'))
        .map(|(number, bytes)| NumberedLine { number, bytes })
        .collect()
}

/// What a path says about the text in the file. A path is chosen by the patch's author, so it may
/// lower a priority by a step but never silence a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::intake) struct PathKind {
    /// Tests, fixtures, examples, documentation: text that shows things rather than does them.
    pub(super) exhibit: bool,
    /// Prose or translations: soft hyphens, right-to-left text and joined paragraphs are usual.
    pub(super) prose: bool,
    /// Settings and scripts in which values stand without quotes.
    pub(super) settings: bool,
}

const EXHIBIT_FOLDERS: &[&str] = &[
    "test",
    "tests",
    "testing",
    "__tests__",
    "spec",
    "specs",
    "e2e",
    "fixture",
    "fixtures",
    "__fixtures__",
    "testdata",
    "test-data",
    "test_data",
    "mock",
    "mocks",
    "__mocks__",
    "snapshots",
    "__snapshots__",
    "cassettes",
    "doc",
    "docs",
    "documentation",
    "example",
    "examples",
    "sample",
    "samples",
];
const PROSE_FOLDERS: &[&str] = &["locale", "locales", "i18n", "l10n", "lang", "translations"];
const PROSE_EXTENSIONS: &[&str] = &[
    "md", "markdown", "mdx", "txt", "rst", "adoc", "html", "htm", "tex", "po", "pot", "xliff",
    "xlf", "arb", "strings", "srt", "vtt",
];
const SETTINGS_EXTENSIONS: &[&str] = &[
    "env",
    "ini",
    "cfg",
    "conf",
    "properties",
    "yaml",
    "yml",
    "toml",
    "tfvars",
    "sh",
    "bash",
    "zsh",
    "fish",
    "ksh",
    "bat",
    "cmd",
    "mk",
    "service",
    "dockerfile",
    "containerfile",
];
const SETTINGS_NAMES: &[&str] = &[
    "dockerfile",
    "containerfile",
    "makefile",
    "gnumakefile",
    "justfile",
    "procfile",
    ".profile",
    ".bashrc",
    ".bash_profile",
    ".zshrc",
    ".zshenv",
    ".npmrc",
    ".pypirc",
    ".my",
];

impl PathKind {
    /// Reads a path, without regard to case.
    pub(in crate::intake) fn of(path: &RepoPath) -> Self {
        let path = path.to_string().to_lowercase();
        let (folders, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let has_folder = |list: &[&str]| folders.split('/').any(|part| list.contains(&part));
        let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
        let test_name = stem.starts_with("test_")
            || [".test", ".spec", "_test", "_spec", "-test", ".stories"]
                .iter()
                .any(|end| stem.ends_with(end));
        Self {
            exhibit: has_folder(EXHIBIT_FOLDERS) || test_name,
            prose: has_folder(PROSE_FOLDERS) || PROSE_EXTENSIONS.contains(&extension),
            settings: SETTINGS_EXTENSIONS.contains(&extension)
                || SETTINGS_NAMES.contains(&name)
                // As in `Dockerfile.release`.
                || SETTINGS_NAMES.contains(&stem)
                || name.starts_with(".env"),
        }
    }

    /// Returns `priority`, one step less urgent for exhibits.
    pub(super) fn soften(self, priority: u8) -> u8 {
        (priority + u8::from(self.exhibit)).min(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(path: &str) -> (bool, bool, bool) {
        let kind = PathKind::of(&RepoPath::from(path));
        (kind.exhibit, kind.prose, kind.settings)
    }

    #[test]
    fn paths_are_read_by_folder_name_and_extension() {
        assert_eq!(kind("src/main.rs"), (false, false, false));
        assert_eq!(kind("src/Tests/a.rs"), (true, false, false));
        assert_eq!(kind("src/app.test.ts"), (true, false, false));
        assert_eq!(kind("src/testament.rs"), (false, false, false));
        assert_eq!(kind("README.md"), (false, true, false));
        assert_eq!(kind("app/locales/ar.json"), (false, true, false));
        assert_eq!(kind("deploy/.env.production"), (false, false, true));
        assert_eq!(kind("tests"), (false, false, false));
        for path in [
            "run.sh",
            "Dockerfile",
            "Dockerfile.dev",
            "Makefile",
            ".my.cnf",
        ] {
            assert_eq!(kind(path), (false, false, true), "{path}");
        }
    }

    #[test]
    fn exhibits_are_a_step_less_urgent() {
        let exhibit = PathKind::of(&RepoPath::from("docs/a.rs"));
        assert_eq!(
            [0, 1, 2, 3].map(|priority| exhibit.soften(priority)),
            [1, 2, 3, 3]
        );
        assert_eq!(PathKind::default().soften(1), 1);
    }
}
