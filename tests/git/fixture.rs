//! Real repositories, built by git in a place of their own.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use diffwarden::env::Environment;
use diffwarden::git::{Repository, ResolveOptions, Resolved, TargetSpec};
use diffwarden_actors::model::{Body, Change, Failure, FilePatch, LineKind, Patch};
use tempfile::TempDir;

/// Which of the two readers of a repository may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reader {
    /// Both: what users have.
    Both,
    /// Only libgit2: there is no git on `PATH`.
    Library,
    /// Only git: a variable as hooks have it keeps libgit2 out.
    Executable,
}

/// A repository with `src/math.js` and `notes.txt` in its first commit.
pub(crate) struct Fixture {
    temp: TempDir,
    root: PathBuf,
    extra: Vec<(String, String)>,
}

impl Fixture {
    /// An initialised repository without a commit.
    pub(crate) fn empty() -> Self {
        Self::initialised(&[])
    }

    /// The same with arguments for `git init`.
    pub(crate) fn initialised(arguments: &[&str]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        let fixture = Self {
            root: top.join("repo"),
            temp,
            extra: Vec::new(),
        };
        fs::create_dir(&fixture.root).unwrap();
        fs::create_dir(top.join("home")).unwrap();
        fixture.git(&[&["init", "-q", "-b", "main"], arguments].concat());
        fixture
    }

    pub(crate) fn new() -> Self {
        let fixture = Self::empty();
        fixture.first_commit();
        fixture
    }

    pub(crate) fn first_commit(&self) {
        self.write("src/math.js", "add\nsub\nmul\nif (b === 0) throw 1;\ndiv\n");
        self.write(
            "notes.txt",
            "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n",
        );
        self.commit("base");
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder around the repository.
    pub(crate) fn top(&self) -> PathBuf {
        self.temp.path().canonicalize().unwrap()
    }

    pub(crate) fn at(&self, name: impl AsRef<[u8]>) -> PathBuf {
        self.root.join(OsStr::from_bytes(name.as_ref()))
    }

    pub(crate) fn write(&self, name: impl AsRef<[u8]>, contents: impl AsRef<[u8]>) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    /// Runs git in the repository and returns what it prints, trimmed.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.root, arguments)
    }

    pub(crate) fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args(arguments)
            .current_dir(folder)
            .env_clear()
            .envs(self.variables())
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {stderr}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Commits everything that lies in the work tree.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Sets a variable for what is tested, not for the git that builds the repository.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.extra.push((name.to_owned(), value.to_owned()));
    }

    /// Takes back what was [`set`](Self::set).
    pub(crate) fn clear(&mut self) {
        self.extra.clear();
    }

    fn variables(&self) -> Vec<(String, String)> {
        let home = self.temp.path().join("home");
        let fixed = [
            ("PATH", &*std::env::var("PATH").unwrap()),
            ("HOME", home.to_str().unwrap()),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_AUTHOR_NAME", "A U Thor"),
            ("GIT_AUTHOR_EMAIL", "author@example.com"),
            ("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z"),
            ("GIT_COMMITTER_NAME", "C O Mitter"),
            ("GIT_COMMITTER_EMAIL", "committer@example.com"),
            ("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z"),
        ];
        fixed
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into_iter()
            .collect()
    }

    pub(crate) fn environment(&self, reader: Reader) -> Environment {
        let mut variables = self.variables();
        variables.extend(self.extra.iter().cloned());
        match reader {
            Reader::Both => {}
            Reader::Library => variables.retain(|(name, _)| name != "PATH"),
            Reader::Executable => {
                variables.push(("GIT_CEILING_DIRECTORIES".to_owned(), "/nowhere".to_owned()));
            }
        }
        variables.into_iter().collect()
    }

    pub(crate) fn open(&self, reader: Reader) -> Result<Repository, Failure> {
        Repository::open(&self.root, &self.environment(reader))
    }

    pub(crate) fn try_by(&self, reader: Reader, target: &str) -> Result<Resolved, Failure> {
        self.try_with(reader, target, &ResolveOptions::default())
    }

    pub(crate) fn try_with(
        &self,
        reader: Reader,
        target: &str,
        options: &ResolveOptions,
    ) -> Result<Resolved, Failure> {
        let spec = TargetSpec::parse(target).unwrap();
        self.open(reader)?.resolve(&spec, options)
    }

    pub(crate) fn resolve(&self, target: &str) -> Resolved {
        self.try_by(Reader::Both, target).unwrap()
    }

    /// Resolves a target that both readers must refuse in the same words.
    pub(crate) fn refused(&self, target: &str) -> Failure {
        let failure = self.try_by(Reader::Both, target).unwrap_err();
        let by_git = self.try_by(Reader::Executable, target).unwrap_err();
        assert_eq!(failure.message, by_git.message);
        assert_eq!(failure.hint, by_git.hint);
        failure
    }

    /// Returns the patch of `uncommitted`, a line per fact.
    pub(crate) fn uncommitted(&self) -> Vec<String> {
        show(&self.resolve("uncommitted").patch)
    }
}

/// Shows a patch in a form that is easy to compare: a header per file, then its lines.
pub(crate) fn show(patch: &Patch) -> Vec<String> {
    patch.files.iter().flat_map(show_file).collect()
}

/// The header alone, of every file.
pub(crate) fn headers(patch: &Patch) -> Vec<String> {
    patch.files.iter().map(header).collect()
}

fn show_file(file: &FilePatch) -> Vec<String> {
    let mut shown = vec![header(file)];
    for hunk in file.hunks() {
        shown.push(format!(
            "@@ -{},{} +{},{} @@",
            hunk.old_start, hunk.old_lines, hunk.new_start, hunk.new_lines
        ));
        for line in &hunk.lines {
            let sign = match line.kind {
                LineKind::Context => ' ',
                LineKind::Added => '+',
                LineKind::Removed => '-',
            };
            let text = file.text(line).escape_ascii();
            let end = if line.no_newline { "$" } else { "" };
            shown.push(format!("{sign}{text}{end}"));
        }
    }
    shown
}

fn header(file: &FilePatch) -> String {
    let path = |path: &Option<diffwarden_actors::model::RepoPath>| {
        path.as_ref().map_or("-".to_owned(), |path| {
            path.as_bytes().escape_ascii().to_string()
        })
    };
    let mut header = match file.change {
        Change::Added => format!("A {}", path(&file.new_path)),
        Change::Deleted => format!("D {}", path(&file.old_path)),
        Change::Modified => format!("M {}", path(&file.new_path)),
        Change::Renamed => format!("R {} -> {}", path(&file.old_path), path(&file.new_path)),
        Change::Copied => format!("C {} -> {}", path(&file.old_path), path(&file.new_path)),
    };
    match (file.old_mode, file.new_mode) {
        (Some(old), Some(new)) if old != new => {
            header.push_str(&format!(" {:o}>{:o}", old.0, new.0));
        }
        (_, Some(mode)) | (Some(mode), None) if mode.0 != 0o100_644 => {
            header.push_str(&format!(" {:o}", mode.0));
        }
        _ => {}
    }
    header.push_str(match &file.body {
        Body::Unchanged => " unchanged",
        Body::Binary => " binary",
        Body::Hunks(_) => "",
        Body::Omitted { .. } => " omitted",
        Body::Note(_) => " note",
    });
    header
}
