//! The place one row runs in: a home, folders for temporary files, executables and a repository of
//! its own, and an environment built from nothing. What must stay true: no account of the developer
//! and no other engine can take part.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::SystemTime;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Bench;
use crate::harness::Outcome;
use crate::provider::{Provider, Script};
use crate::repository;
use crate::scenario::{EnginePath, Executable, Situation};

/// The variable that marks every process of a world; its value is the world's folder.
const MARK: &str = "DIFFWARDEN_BENCH_WORLD";

/// The folders whose contents are compared.
const WATCHED: [&str; 4] = ["repo", "home", "tmp", "runtime"];

/// Programs that engines and diffwarden need beside the engine itself.
const PROGRAMS: [&str; 4] = ["git", "node", "rg", "sh"];

/// What lies in the watched folders.
pub(crate) type View = BTreeMap<PathBuf, Seen>;

/// What a comparison looks at: the contents of a file or the target of a link, and when a file of the
/// repository was last written.
pub(crate) type Seen = (Vec<u8>, Option<SystemTime>);

/// One row's world.
pub(crate) struct World {
    top: TempDir,
    engines: Vec<PathBuf>,
    program: PathBuf,
}

impl World {
    /// Builds the folders, the executables and the repository.
    pub(crate) fn new(
        paths: &[&EnginePath],
        situation: &Situation,
        bench: &Bench,
    ) -> io::Result<Self> {
        let top = tempfile::Builder::new().prefix("dw-bench-").tempdir()?;
        let mut world = Self {
            top,
            engines: Vec::new(),
            program: bench.program.clone(),
        };
        for folder in WATCHED.iter().chain(&["bin"]) {
            fs::create_dir(world.path(folder))?;
        }
        let private = fs::Permissions::from_mode(0o700);
        fs::set_permissions(world.path("runtime"), private)?;
        for program in PROGRAMS {
            if let Some(found) = on_path(program) {
                symlink(found, world.path("bin").join(program))?;
            }
        }
        for path in paths {
            match situation.executable {
                Executable::Installed => world.engines.push(bench.folder(path)),
                Executable::Tapped => {
                    let engine = bench.folder(path).join(path.command);
                    world.write_script(&format!("bin/{}", path.command), &world.tap(&engine)?)?;
                }
                Executable::Old => {
                    world.write_script(&format!("bin/{}", path.command), path.old)?;
                }
                Executable::Missing => {}
            }
        }
        repository::fill(&world, paths, situation)?;
        Ok(world)
    }

    /// Returns a path in this world.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        // Resolved, because the program prints resolved paths.
        let top = self.top.path();
        let top = top.canonicalize().unwrap_or_else(|_| top.to_path_buf());
        top.join(name)
    }

    /// Returns the repository's folder.
    pub(crate) fn repo(&self) -> PathBuf {
        self.path("repo")
    }

    /// Starts a model service that reviews this repository.
    pub(crate) fn provider(&self, path: &EnginePath, script: Script) -> io::Result<Provider> {
        let repo = self.repo();
        let repo = repo.to_str().expect("temporary folders are UTF-8");
        Provider::start(script, repo, path.tools)
    }

    /// The file that nothing may create.
    pub(crate) fn trace(&self) -> PathBuf {
        self.path("trace")
    }

    /// Writes a file, parents included.
    pub(crate) fn write(&self, name: &str, contents: &str) -> io::Result<()> {
        let path = self.path(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, contents)
    }

    /// Writes a program.
    pub(crate) fn write_script(&self, name: &str, contents: &str) -> io::Result<()> {
        self.write(name, contents)?;
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755))
    }

    /// Returns a script that stands for an engine and takes its times.
    fn tap(&self, engine: &Path) -> io::Result<String> {
        let (this, times) = (std::env::current_exe()?, self.path("taps"));
        fs::create_dir_all(&times)?;
        let [this, times, engine] = [&this, &times, engine].map(|it| it.display());
        Ok(format!(
            "#!/bin/sh\nexec '{this}' --tap '{times}' '{engine}' \"$@\"\n"
        ))
    }

    /// Returns the times of every call of a tapped engine.
    pub(crate) fn taps(&self) -> io::Result<Vec<Value>> {
        let files = fs::read_dir(self.path("taps"))?;
        let read = |file: io::Result<fs::DirEntry>| {
            let times = fs::read(file?.path())?;
            Ok(serde_json::from_slice(&times)?)
        };
        files.map(read).collect()
    }

    /// Runs git in the repository.
    pub(crate) fn git(&self, args: &[&str]) -> io::Result<()> {
        let mut git = Command::new("git");
        self.clean(&mut git, &[]);
        let output = git.current_dir(self.repo()).args(args).output()?;
        if output.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(io::Error::other(format!("git {args:?}: {stderr}")))
    }

    /// Returns the command that reviews, with everything configured for a model service at `url`.
    pub(crate) fn command(
        &self,
        path: &EnginePath,
        situation: &Situation,
        url: &str,
        format: &str,
    ) -> io::Result<Command> {
        let variables = (path.configure)(&self.path("home"), url, situation.credentials);
        let config = reviewers(path, situation)?.to_string();
        self.write("home/.config/diffwarden/diffwarden.config.json", &config)?;
        let mut command = if situation.is_interrupted && cfg!(target_os = "linux") {
            // A bench in the background inherits an ignored SIGINT, which diffwarden would keep.
            let mut env = Command::new("env");
            env.arg("--default-signal=HUP,INT,QUIT,TERM")
                .arg(&self.program);
            env
        } else {
            Command::new(&self.program)
        };
        self.prepare(&mut command);
        command
            .args(["review", format])
            .args(situation.args)
            .envs(variables);
        Ok(command)
    }

    /// Returns the program, to be run in the repository with nothing but what this world holds.
    pub(crate) fn program(&self) -> Command {
        self.tool(&self.program)
    }

    /// Returns an executable of this world, to be run like [`World::program`].
    pub(crate) fn tool(&self, name: &Path) -> Command {
        let mut command = Command::new(name);
        self.prepare(&mut command);
        command
    }

    fn prepare(&self, command: &mut Command) {
        let folders: Vec<&Path> = self.engines.iter().map(PathBuf::as_path).collect();
        self.clean(command, &folders);
        command.current_dir(self.repo());
    }

    fn clean(&self, command: &mut Command, first: &[&Path]) {
        let home = self.path("home");
        let bin = self.path("bin");
        let system = [Path::new("/usr/bin"), Path::new("/bin")];
        let mut folders = [first, &[bin.as_path()]].concat();
        // An engine that the system has must not stand in for one that is missing.
        if !first.is_empty() {
            folders.extend(system);
        }
        let search = std::env::join_paths(folders).expect("no folder has a colon in its name");
        command
            .env_clear()
            .env("PATH", search)
            .env("HOME", &home)
            .env("XDG_CONFIG_HOME", home.join(".config"))
            .env("XDG_CACHE_HOME", home.join(".cache"))
            .env("XDG_DATA_HOME", home.join(".local/share"))
            .env("XDG_STATE_HOME", home.join(".local/state"))
            .env("XDG_RUNTIME_DIR", self.path("runtime"))
            .env("TMPDIR", self.path("tmp"))
            .env("LC_ALL", "C.UTF-8")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_AUTHOR_NAME", "A U Thor")
            .env("GIT_AUTHOR_EMAIL", "author@example.com")
            .env("GIT_COMMITTER_NAME", "C O Mitter")
            .env("GIT_COMMITTER_EMAIL", "committer@example.com")
            .env(MARK, self.path(""))
            .stdin(Stdio::null());
    }

    /// Returns what lies in the watched folders.
    pub(crate) fn look(&self) -> io::Result<View> {
        let mut view = View::new();
        for folder in WATCHED {
            collect(&self.path(""), &self.path(folder), &mut view)?;
        }
        Ok(view)
    }

    /// Returns what has changed in the world and must not have.
    pub(crate) fn problems(&self, before: &View, leaves: &[&str]) -> io::Result<Vec<String>> {
        let after = self.look()?;
        let names: std::collections::BTreeSet<&PathBuf> =
            before.keys().chain(after.keys()).collect();
        let is_known = |name: &Path| {
            let name = name.to_string_lossy();
            leaves.iter().any(|known| name.starts_with(known))
        };
        let mut problems: Vec<String> = names
            .into_iter()
            .filter(|name| before.get(*name) != after.get(*name) && !is_known(name))
            .map(|name| {
                let what = match (before.get(name), after.get(name)) {
                    (None, _) => "was left behind",
                    (_, None) => "was removed",
                    _ => "was changed",
                };
                format!("{} {what}", name.display())
            })
            .collect();
        if self.trace().exists() {
            problems.push("something of the repository was run".to_owned());
        }
        Ok(problems)
    }

    /// Returns the processes of this world.
    pub(crate) fn processes(&self) -> Vec<(i32, String)> {
        let mark = format!("{MARK}={}", self.path("").display()).into_bytes();
        let Ok(entries) = fs::read_dir("/proc") else {
            return Vec::new();
        };
        let has_mark = |pid: &i32| {
            // A zombie has no environment, and that of another user cannot be read.
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|&byte| byte == 0).any(|it| it == mark)
        };
        entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter(has_mark)
            .map(|pid| {
                let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
                (pid, name.trim().to_owned())
            })
            .collect()
    }

    /// Kills the processes of this world and returns them.
    pub(crate) fn kill_processes(&self) -> Vec<(i32, String)> {
        let processes = self.processes();
        for pid in processes.iter().filter_map(|(pid, _)| Pid::from_raw(*pid)) {
            kill_process(pid, Signal::KILL).ok();
        }
        processes
    }

    /// Keeps the world for a look by hand, with what reached the model service.
    pub(crate) fn keep(mut self, outcome: &Outcome) -> io::Result<PathBuf> {
        let requests: Vec<&Value> = outcome.requests.iter().map(|it| &it.body).collect();
        self.write("requests.json", &format!("{:#}", json!(requests)))?;
        self.top.disable_cleanup(true);
        Ok(self.path(""))
    }
}

/// Returns the user's configuration of diffwarden.
fn reviewers(path: &EnginePath, situation: &Situation) -> io::Result<Value> {
    let ids: Vec<String> = (1..=situation.reviewers)
        .map(|number| format!("bench-{number}"))
        .collect();
    let mut entries = Vec::new();
    for id in &ids {
        let mut entry: Value = serde_json::from_str(situation.reviewer)?;
        let members = [
            ("id", id.as_str()),
            ("engine", path.engine),
            ("transport", path.transport),
        ];
        for (key, value) in members {
            entry[key] = json!(value);
        }
        match entry["model"].as_str() {
            // A model that the service does not have is looked for with the path's provider.
            Some(model) => {
                let provider = path.model.rsplit_once('/').map(|(provider, _)| provider);
                let model = provider.map_or(model.to_owned(), |it| format!("{it}/{model}"));
                entry["model"] = json!(model);
            }
            None => entry["model"] = json!(path.model),
        }
        entries.push(entry);
    }
    Ok(json!({"reviewers": entries, "reviewerSets": {"1": ids}}))
}

fn collect(top: &Path, folder: &Path, view: &mut View) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.strip_prefix(top).unwrap_or(&path).to_path_buf();
        let metadata = path.symlink_metadata()?;
        if metadata.is_dir() {
            view.insert(name.join(""), (Vec::new(), None));
            collect(top, &path, view)?;
        } else if metadata.is_symlink() {
            let target = fs::read_link(&path)?;
            view.insert(name, (target.into_os_string().into_encoded_bytes(), None));
        } else if metadata.is_file() {
            let is_reviewed = name.starts_with("repo");
            let written = is_reviewed.then(|| metadata.modified()).transpose()?;
            view.insert(name, (fs::read(&path)?, written));
        } else {
            view.insert(name, (b"special".to_vec(), None));
        }
    }
    Ok(())
}

fn on_path(program: &str) -> Option<PathBuf> {
    let search = std::env::var_os("PATH")?;
    let mut candidates = std::env::split_paths(&search).map(|folder| folder.join(program));
    candidates.find(|candidate| candidate.is_file())
}

/// Returns an address where nobody listens.
pub(crate) fn unused_address() -> io::Result<String> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    Ok(format!("http://{}", listener.local_addr()?))
}
