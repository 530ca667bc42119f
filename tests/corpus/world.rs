//! Runs a case: a repository with the change, the program, and what it told.

use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::case::{Case, expand, joined};
use crate::count::Verdict;

/// Runs a case.
///
/// # Errors
///
/// Fails when the repository cannot be made or the program gives no JSON.
pub(crate) fn run(case: &Case) -> io::Result<Verdict> {
    let world = World::new()?;
    world.build(case)?;
    match case.class.as_str() {
        "pruning" => {
            let artifact = world.review(&["--reviewer", "fake"])?;
            Ok(pruned(case, &artifact))
        }
        "refusals" => {
            let reviewer = case.reviewer.as_deref().unwrap_or("codex");
            let told = world.review(&["--reviewer", reviewer, "--no-snapshot"])?;
            refused(case, &told)
        }
        _ => {
            let artifact = world.review(&["--reviewer", "surface"])?;
            Ok(found(case, &artifact))
        }
    }
}

/// A repository on a branch of its own.
struct World {
    top: TempDir,
}

impl World {
    fn new() -> io::Result<Self> {
        let top = tempfile::Builder::new().prefix("dw-corpus-").tempdir()?;
        fs::create_dir(top.path().join("repo"))?;
        Ok(Self { top })
    }

    fn build(&self, case: &Case) -> io::Result<()> {
        self.git(&["init", "-q", "-b", "main"])?;
        self.write("src/lib.rs", "pub fn one() {}\n")?;
        if let Some(before) = &case.before {
            self.write(&expand(&case.at), &joined(before))?;
        }
        if let Some(attributes) = &case.attributes {
            self.write(".gitattributes", attributes)?;
        }
        for file in &case.before_files {
            self.write(file, "before\n")?;
        }
        self.link(&case.before_links)?;
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "-m", "base"])?;
        let is_branch = case.at == "branch";
        let branch = if is_branch {
            case.text()
        } else {
            "topic".to_owned()
        };
        self.git(&["checkout", "-q", "-b", branch.trim_end_matches('\n')])?;
        let mut message = "the change".to_owned();
        match case.at.as_str() {
            "commit" => message = case.text(),
            path if !is_branch && !case.lines.is_empty() => {
                self.write(&expand(path), &case.text())?;
            }
            _ => {}
        }
        if self.is_unchanged()? {
            self.write("src/lib.rs", "pub fn two() {}\n")?;
        }
        if let Some(attributes) = &case.new_attributes {
            self.write(".gitattributes", attributes)?;
        }
        for file in &case.files {
            self.write(file, "after\n")?;
        }
        self.link(&case.links)?;
        self.git(&["add", "-A", "-f"])?;
        self.git(&["commit", "-q", "--cleanup=verbatim", "-m", &message])
    }

    fn write(&self, name: &str, contents: &str) -> io::Result<()> {
        let path = self.top.path().join("repo").join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, contents)
    }

    fn link(&self, links: &[(String, String)]) -> io::Result<()> {
        for (name, target) in links {
            let path = self.top.path().join("repo").join(name);
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            fs::remove_file(&path).ok();
            symlink(target, path)?;
        }
        Ok(())
    }

    fn is_unchanged(&self) -> io::Result<bool> {
        let output = self.clean("git").args(["status", "--porcelain"]).output()?;
        Ok(output.stdout.is_empty())
    }

    fn git(&self, args: &[&str]) -> io::Result<()> {
        let output = self.clean("git").args(args).output()?;
        if output.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(io::Error::other(format!("git {args:?}: {stderr}")))
    }

    /// Reviews the branch and returns what was printed.
    fn review(&self, args: &[&str]) -> io::Result<Value> {
        let mut command = self.clean(env!("CARGO_BIN_EXE_diffwarden"));
        command.args(["review", "--json", "--target", "base:main"]);
        let output = command.args(args).output()?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            io::Error::other(format!("no JSON: {error}: {stderr}"))
        })
    }

    /// No account, no configuration and no engine of the developer takes part.
    fn clean(&self, program: &str) -> Command {
        let home: &Path = self.top.path();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", home)
            .env("TMPDIR", home)
            .env("XDG_RUNTIME_DIR", home)
            .env("LC_ALL", "C.UTF-8")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "A U Thor")
            .env("GIT_AUTHOR_EMAIL", "author@example.com")
            .env("GIT_COMMITTER_NAME", "C O Mitter")
            .env("GIT_COMMITTER_EMAIL", "committer@example.com")
            .current_dir(home.join("repo"));
        command
    }
}

/// Compares findings: each expected one takes the first that fits.
fn found(case: &Case, artifact: &Value) -> Verdict {
    let findings = artifact["result"]["findings"].as_array();
    let mut left: Vec<&Value> = findings.into_iter().flatten().collect();
    let mut verdict = Verdict::default();
    for expected in &case.finds {
        match left.iter().position(|finding| fits(finding, expected)) {
            Some(at) => {
                left.remove(at);
                verdict.right += 1;
            }
            None => verdict.missed.push(expected.clone()),
        }
    }
    let named = left
        .iter()
        .map(|it| format!("{} {}", place(it), it["title"]));
    verdict.wrong = named.collect();
    verdict
}

fn place(finding: &Value) -> String {
    match finding["anchor"].as_str() {
        Some("commit_message") => "commit".to_owned(),
        Some(anchor) => anchor.to_owned(),
        None => {
            let range = &finding["code_location"]["line_range"];
            format!("{}-{}", range["start"], range["end"])
        }
    }
}

fn fits(finding: &Value, expected: &str) -> bool {
    let mut parts = expected.splitn(3, ' ');
    let mut part = || parts.next().unwrap_or_default();
    let (priority, at, title) = (part(), part(), part());
    let found = finding["title"].as_str().unwrap_or_default();
    let is_titled = found.to_lowercase().contains(&title.to_lowercase());
    let is_urgent = priority == "P?" || format!("P{}", finding["priority"]) == priority;
    is_urgent && place(finding) == at && is_titled
}

/// Compares what the file of the case was left out as.
fn pruned(case: &Case, artifact: &Value) -> Verdict {
    let at = expand(&case.at);
    let files = artifact["coverage"]["files"].as_array();
    let file = files
        .into_iter()
        .flatten()
        .find(|file| file["path"] == at.as_str());
    let was = file
        .filter(|file| file["sent"] == "pruned")
        .map(|file| file["reason"].as_str().unwrap_or("no reason").to_owned());
    let mut verdict = Verdict::default();
    match (&case.prunes, was) {
        (Some(expected), Some(was)) if was.starts_with(expected) => verdict.right = 1,
        (expected, was) => {
            verdict.missed.extend(expected.clone());
            verdict.wrong.extend(was);
        }
    }
    if file.is_none() {
        verdict
            .missed
            .push("the file is not in the coverage".to_owned());
    }
    verdict
}

/// Compares why the reviewer was not started. Where nothing is refused, its executable is missed.
fn refused(case: &Case, told: &Value) -> io::Result<Verdict> {
    let error = &told["error"];
    let message = error["message"].as_str().unwrap_or_default();
    let mut verdict = Verdict::default();
    match (error["reason"].as_str(), &case.refused) {
        (Some("unsafe_input"), Some(part)) if message.contains(part) => verdict.right = 1,
        (Some("unsafe_input"), expected) => {
            verdict.missed.extend(expected.clone());
            verdict.wrong.push(message.to_owned());
        }
        (Some("environment"), expected) => verdict.missed.extend(expected.clone()),
        _ => return Err(io::Error::other(format!("{}: {told}", case.name))),
    }
    Ok(verdict)
}
