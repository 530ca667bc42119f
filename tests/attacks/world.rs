//! The place one attack runs in, and the looks around that every attack has in common.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::Attack;
use crate::support::{Run, TestEnvironment};

/// A repository with a base on `main`, checked out on a branch of its own.
pub(crate) struct World {
    environment: TestEnvironment,
    secrets: RefCell<Vec<String>>,
    variables: RefCell<Vec<(String, String)>>,
}

/// What a run told in JSON, and what the engine was sent.
pub(crate) struct Told {
    /// The artifact, or the object with the error.
    pub(crate) artifact: Value,
    /// Standard output.
    pub(crate) stdout: String,
    /// Standard error.
    pub(crate) stderr: String,
    /// Every prompt.
    pub(crate) prompt: String,
}

impl World {
    fn new() -> Self {
        let environment = TestEnvironment::new();
        environment.write("src/lib.rs", "pub fn one() -> u8 {\n    1\n}\n");
        environment.commit("base");
        environment.git(&["checkout", "-q", "-b", "topic"]);
        environment.codex_finds(&[]);
        Self {
            environment,
            secrets: RefCell::default(),
            variables: RefCell::default(),
        }
    }

    /// The world below.
    pub(crate) fn environment(&self) -> &TestEnvironment {
        &self.environment
    }

    /// Writes a file of the repository.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        self.environment.write(name, contents);
    }

    /// Makes a symbolic link in the repository.
    pub(crate) fn link(&self, name: &str, target: &str) {
        let path = self.environment.repo().join(name);
        let folder = path.parent().expect("a folder");
        fs::create_dir_all(folder).expect("parent folders");
        fs::remove_file(&path).ok();
        symlink(target, path).expect("a link");
    }

    /// Commits what is there.
    pub(crate) fn commit(&self, message: &str) {
        self.environment.commit(message);
    }

    /// Runs git in the repository.
    pub(crate) fn git(&self, args: &[&str]) -> String {
        self.environment.git(args)
    }

    /// Puts what was written so far onto the base instead of the branch.
    pub(crate) fn move_to_base(&self) {
        self.environment.git(&["checkout", "-q", "main"]);
        self.environment.commit("more of the base");
        self.environment.git(&["checkout", "-q", "-B", "topic"]);
    }

    /// Returns a secret that nothing may repeat. It is put together here, so that no file of this
    /// repository holds one.
    pub(crate) fn secret(&self) -> String {
        let number = self.secrets.borrow().len();
        let secret = format!("ghp_x9Q2mB7tLr4KvN8sZd1WcH5yPj3GfA6eU{number:03}");
        self.plant(&secret);
        secret
    }

    /// Names another text that nothing may repeat.
    pub(crate) fn plant(&self, secret: &str) {
        self.secrets.borrow_mut().push(secret.to_owned());
    }

    /// Sets a variable for the program.
    pub(crate) fn variable(&self, name: &str, value: &str) {
        let pair = (name.to_owned(), value.to_owned());
        self.variables.borrow_mut().push(pair);
    }

    /// Writes a program that must not be run, and returns its path.
    pub(crate) fn trap(&self, name: &str) -> String {
        let path = self.environment.path(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("parent folders");
        }
        self.environment.write_trap(&path);
        path.display().to_string()
    }

    fn review(&self, target: &str, form: &[&str]) -> Run {
        let args = [
            "--target",
            target,
            "--reviewer",
            "surface",
            "--reviewer",
            "codex",
        ];
        let mut command = self.environment.review_command(&[&args, form].concat());
        command.envs(self.variables.borrow().iter().cloned());
        Run::of(command.output().expect("the binary runs"))
    }
}

impl Told {
    /// The titles of what the scans found.
    pub(crate) fn titles(&self) -> Vec<String> {
        let entries = self.artifact["reviewers"].as_array();
        let surface = entries
            .into_iter()
            .flatten()
            .filter(|it| it["engine"] == "surface");
        let findings = surface.filter_map(|entry| entry["result"]["findings"].as_array());
        let title = |finding: &Value| finding["title"].as_str().unwrap_or_default().to_owned();
        findings.flatten().map(title).collect()
    }

    /// Why the engine was not started.
    pub(crate) fn refusal(&self) -> Option<&str> {
        let mut entries = self.artifact["reviewers"].as_array()?.iter();
        let entry = entries.find(|it| it["engine"] == "codex" && it["status"] == "failed")?;
        let error = &entry["error"];
        (error["reason"] == "unsafe_input").then(|| error["message"].as_str())?
    }

    /// How a file was sent.
    pub(crate) fn sent(&self, path: &str) -> Option<String> {
        let mut files = self.artifact["coverage"]["files"].as_array()?.iter();
        let file = files.find(|file| file["path"] == path)?;
        file["sent"].as_str().map(str::to_owned)
    }
}

/// Runs an attack and returns whatever is not as it has to be.
pub(crate) fn run(attack: &Attack) -> Vec<String> {
    let world = World::new();
    (attack.plant)(&world);
    if attack.target != "uncommitted" {
        world.commit("the change");
    }
    let environment = &world.environment;
    let before = state(&environment.repo());
    let out = environment.path("out.json");
    let mut problems = Vec::new();
    let saved = out.display().to_string();
    let json = world.review(attack.target, &["--json", "--report", "--out", &saved]);
    let forms = [&["--ndjson"][..], &["--agent"], &[]];
    let texts: Vec<Run> = forms.map(|form| world.review(attack.target, form)).into();
    for (form, run) in [("json", &json)]
        .into_iter()
        .chain(["ndjson", "agent", "human"].into_iter().zip(&texts))
    {
        if run.code != attack.exit {
            problems.push(format!(
                "{form} ended with {}: {} {}",
                run.code, run.stdout, run.stderr
            ));
        }
        let active = |c: char| c.is_control() && c != '\n' && c != '\t';
        if run.stdout.contains(active) || run.stderr.contains(active) {
            problems.push(format!("{form} holds a control character"));
        }
    }
    let recorded = |what: &str| environment.recorded(what).concat();
    let told = Told {
        artifact: serde_json::from_str(&json.stdout).unwrap_or_default(),
        prompt: recorded("stdin"),
        stdout: json.stdout.clone(),
        stderr: json.stderr.clone(),
    };
    problems.extend(
        attack
            .expected
            .iter()
            .filter_map(|it| super::missing(*it, &told)),
    );
    let mut places = vec![
        ("the prompt", told.prompt.clone()),
        ("an argument", recorded("argv")),
        ("the artifact", fs::read_to_string(&out).unwrap_or_default()),
        ("the home", read_all(&environment.home())),
        (
            "the folder for temporary files",
            read_all(&environment.tmp()),
        ),
    ];
    for run in texts.iter().chain([&json]) {
        places.push(("standard output", run.stdout.clone()));
        places.push(("standard error", run.stderr.clone()));
    }
    for secret in world.secrets.borrow().iter() {
        let found = places
            .iter()
            .filter(|(_, text)| text.contains(secret.as_str()));
        problems.extend(found.map(|(place, _)| format!("a secret stands in {place}")));
    }
    if environment.trace().exists() {
        problems.push("something planted was run".to_owned());
    }
    if !environment.left_over().is_empty() {
        problems.push(format!("left over: {:?}", environment.left_over()));
    }
    if state(&environment.repo()) != before {
        problems.push("the checkout was changed".to_owned());
    }
    if !problems.is_empty() {
        let stderr: String = told.stderr.chars().take(500).collect();
        problems.push(format!("found {:?}; said {stderr:?}", told.titles()));
    }
    problems
}

/// What lies below a folder: bytes of files, targets of links, and when each was written.
fn state(folder: &Path) -> BTreeMap<PathBuf, (i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            let facts = path.symlink_metadata().expect("it is there");
            let bytes = if facts.is_dir() {
                folders.push(path.clone());
                Vec::new()
            } else if facts.is_file() {
                fs::read(&path).unwrap_or_default()
            } else {
                let target = fs::read_link(&path).unwrap_or_default();
                target.into_os_string().into_encoded_bytes()
            };
            found.insert(path, (facts.mtime(), facts.mtime_nsec(), bytes));
        }
    }
    found
}

/// Returns the text of every file below a folder but diffwarden's own configuration.
fn read_all(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !path.is_symlink() && !path.ends_with(".config") {
            text.push_str(&read_all(&path));
        } else if path.is_file() {
            text.push_str(&String::from_utf8_lossy(
                &fs::read(&path).unwrap_or_default(),
            ));
        }
    }
    text
}
