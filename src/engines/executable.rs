//! Finding an engine's executable, without ever choosing one that the reviewed repository brought.
//!
//! What must stay true: nothing inside the reviewed work tree is returned, whichever way it was
//! named, and no name means a different file in another working folder.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};

use diffwarden_actors::model::{ErrorCode, Failure, Reason};

use super::Host;

/// How many places a message lists before it counts the rest.
const LISTED_PLACES: usize = 8;

/// An executable that can be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// Where it is, absolute; symbolic links are kept, because some programs look at their name.
    pub path: PathBuf,
    /// What was asked for.
    pub requested: String,
    /// Who asked.
    pub source: Source,
}

/// Who chose the name of an executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The engine itself.
    AdapterDefault,
    /// `cliOptions.executable`.
    Config,
}

impl Source {
    /// Returns the spelling used in `executableSource`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::AdapterDefault => "adapter-default",
            Self::Config => "config",
        }
    }
}

/// Why there is no executable to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotFound {
    /// No folder of `PATH` has a usable file of that name.
    OnPath {
        /// The bare name.
        name: String,
        /// The folders that were searched, in order.
        searched: Vec<PathBuf>,
        /// What had the name and was passed over.
        passed_over: Vec<(PathBuf, Unusable)>,
    },
    /// The path that was named cannot be run.
    AtPath {
        /// The path, `~/` expanded.
        path: PathBuf,
        /// Why not.
        why: Unusable,
    },
    /// The value is a path, but relative to a folder that changes from run to run.
    Relative(String),
    /// The value starts with `~/` and there is no home folder.
    NoHome(String),
}

/// Why a file is not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unusable {
    /// There is nothing of that name.
    Missing,
    /// It is a folder or a special file.
    NotAFile,
    /// It is not marked as executable for this user.
    NotExecutable,
    /// It lies inside the reviewed repository, which is not trusted.
    InRepository,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "it does not exist",
            Self::NotAFile => "it is not a file",
            Self::NotExecutable => "it is not executable",
            Self::InRepository => "it lies inside the reviewed repository, which is never run",
        })
    }
}

impl fmt::Display for NotFound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnPath {
                name,
                searched,
                passed_over,
            } => {
                write!(f, "the executable `{name}` was not found")?;
                if searched.is_empty() {
                    f.write_str(": PATH names no absolute folder")?;
                } else {
                    let places: Vec<_> = searched.iter().map(|p| p.display().to_string()).collect();
                    write!(f, " in the folders of PATH: {}", listed(&places))?;
                }
                let skipped: Vec<_> = passed_over
                    .iter()
                    .map(|(path, why)| format!("passed over {}: {why}", path.display()))
                    .collect();
                if skipped.is_empty() {
                    Ok(())
                } else {
                    write!(f, "; {}", listed(&skipped))
                }
            }
            Self::AtPath { path, why } => {
                write!(f, "the executable {} cannot be run: {why}", path.display())
            }
            Self::Relative(value) => write!(
                f,
                "the executable `{value}` is a relative path, which would mean another file in \
                 every working folder"
            ),
            Self::NoHome(value) => write!(
                f,
                "the executable `{value}` starts with ~/ and there is no home folder"
            ),
        }
    }
}

impl std::error::Error for NotFound {}

impl NotFound {
    /// Turns this into what users see; `install` is the command that installs the engine.
    pub fn into_failure(self, install: &str) -> Failure {
        let hint = match &self {
            Self::OnPath { .. } => format!(
                "install it with `{install}`, or name its absolute path in cliOptions.executable"
            ),
            Self::AtPath { .. } => {
                format!("correct cliOptions.executable, or install it with `{install}`")
            }
            Self::Relative(_) | Self::NoHome(_) => {
                "use a bare name, an absolute path or a path that starts with ~/".to_owned()
            }
        };
        Failure::new(ErrorCode::MissingRequirement, self.to_string())
            .reason(Reason::Environment)
            .hint(hint)
    }
}

/// Joins `items`, counting those beyond the first few.
fn listed(items: &[String]) -> String {
    let mut text = items
        .iter()
        .take(LISTED_PLACES)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    if items.len() > LISTED_PLACES {
        text.push_str(&format!(" and {} more", items.len() - LISTED_PLACES));
    }
    text
}

/// Finds the executable to run: the `configured` one, else the engine's `default`.
///
/// A bare name is searched on `PATH`; a value with a slash is a path, absolute or under `~/`.
///
/// # Errors
///
/// Fails when there is none that may be run.
pub fn resolve(configured: Option<&str>, default: &str, host: &Host) -> Result<Resolved, NotFound> {
    let (requested, source) = match configured {
        Some(value) => (value, Source::Config),
        None => (default, Source::AdapterDefault),
    };
    let path = if requested.contains('/') {
        named(requested, host)?
    } else {
        searched(requested, host)?
    };
    Ok(Resolved {
        path,
        requested: requested.to_owned(),
        source,
    })
}

fn named(value: &str, host: &Host) -> Result<PathBuf, NotFound> {
    let path = if let Some(rest) = value.strip_prefix("~/") {
        let home = host.env.home();
        home.ok_or_else(|| NotFound::NoHome(value.to_owned()))?
            .join(rest.trim_start_matches('/'))
    } else if value.starts_with('/') {
        PathBuf::from(value)
    } else {
        return Err(NotFound::Relative(value.to_owned()));
    };
    match check(&path, real_root(host).as_deref()) {
        Ok(()) => Ok(path),
        Err(why) => Err(NotFound::AtPath { path, why }),
    }
}

fn searched(name: &str, host: &Host) -> Result<PathBuf, NotFound> {
    let root = real_root(host);
    let mut searched = Vec::new();
    let mut passed_over = Vec::new();
    let folders = host.env.raw("PATH").unwrap_or(OsStr::new(""));
    // A relative folder, the empty one included, is the working folder's choice: most often that
    // of the reviewed repository.
    for folder in std::env::split_paths(folders).filter(|folder| folder.is_absolute()) {
        let candidate = folder.join(name);
        searched.push(folder);
        // `join` of an empty name, `.` or `..` gives a folder, which the check refuses.
        match check(&candidate, root.as_deref()) {
            Ok(()) => return Ok(candidate),
            Err(Unusable::Missing) => {}
            Err(why) => passed_over.push((candidate, why)),
        }
    }
    Err(NotFound::OnPath {
        name: name.to_owned(),
        searched,
        passed_over,
    })
}

/// Returns the repository's root with symbolic links resolved.
fn real_root(host: &Host) -> Option<PathBuf> {
    let root = host.repo_root.as_deref()?;
    Some(root.canonicalize().unwrap_or_else(|_| root.to_path_buf()))
}

fn check(path: &Path, real_root: Option<&Path>) -> Result<(), Unusable> {
    let metadata = path.metadata().map_err(|_| Unusable::Missing)?;
    if !metadata.is_file() {
        return Err(Unusable::NotAFile);
    }
    if !is_executable(path) {
        return Err(Unusable::NotExecutable);
    }
    match real_root {
        Some(root) if lies_inside(path, root) => Err(Unusable::InRepository),
        _ => Ok(()),
    }
}

/// Whether `path`, or the link it is, lies under `root`. A link inside the repository is the
/// repository's choice of what to run, wherever it points.
fn lies_inside(path: &Path, root: &Path) -> bool {
    let place = path
        .parent()
        .and_then(|parent| parent.canonicalize().ok())
        .unwrap_or_else(|| path.to_path_buf());
    place.starts_with(root) || path.canonicalize().is_ok_and(|real| real.starts_with(root))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    true
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use crate::env::Environment;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    struct Machine {
        root: tempfile::TempDir,
    }

    impl Machine {
        fn new() -> Self {
            let root = tempfile::tempdir().unwrap();
            for folder in [
                "bin",
                "first",
                "home/tools",
                "repo/node_modules/.bin",
                "links",
            ] {
                fs::create_dir_all(root.path().join(folder)).unwrap();
            }
            Self { root }
        }

        fn at(&self, name: &str) -> PathBuf {
            self.root.path().join(name)
        }

        fn file(&self, name: &str, mode: u32) {
            fs::write(self.at(name), "#!/bin/sh\n").unwrap();
            fs::set_permissions(self.at(name), fs::Permissions::from_mode(mode)).unwrap();
        }

        fn host(&self, path: &str) -> Host {
            let path = path.replace('@', &self.root.path().display().to_string());
            let home = self.at("home").display().to_string();
            Host {
                env: Environment::from_iter([("PATH", path), ("HOME", home)]),
                repo_root: Some(self.at("repo")),
            }
        }

        fn resolve(&self, requested: &str, path: &str) -> Result<PathBuf, NotFound> {
            let requested = requested.replace('@', &self.root.path().display().to_string());
            resolve(Some(&requested), "unused", &self.host(path)).map(|found| found.path)
        }
    }

    #[test]
    fn bare_names_are_searched_and_traps_are_passed_over() {
        let machine = Machine::new();
        machine.file("bin/codex", 0o755);
        fs::create_dir(machine.at("first/codex")).unwrap();
        machine.file("home/codex", 0o644);
        machine.file("repo/node_modules/.bin/codex", 0o755);
        symlink(
            machine.at("repo/node_modules/.bin/codex"),
            machine.at("links/codex"),
        )
        .unwrap();
        symlink(machine.at("repo/node_modules"), machine.at("links/modules")).unwrap();
        let good = Ok(machine.at("bin/codex"));
        for path in [
            "@/bin",
            "@/first:@/bin",
            "@/home:@/bin",
            "@/repo/node_modules/.bin:@/bin",
            "@/links:@/bin",
            "@/links/modules/.bin:@/bin",
            ".:bin::@/bin",
            "@/no-such-folder:@/bin",
        ] {
            assert_eq!(machine.resolve("codex", path), good, "{path}");
        }
    }

    #[test]
    fn a_link_inside_the_repository_is_not_followed_out_of_it() {
        let machine = Machine::new();
        machine.file("bin/codex", 0o755);
        symlink(machine.at("bin/codex"), machine.at("repo/codex")).unwrap();
        let found = machine.resolve("codex", "@/repo").unwrap_err();
        assert!(found.to_string().contains("reviewed repository"), "{found}");
    }

    #[test]
    fn paths_are_taken_as_they_are_or_refused() {
        let machine = Machine::new();
        machine.file("home/tools/codex", 0o755);
        machine.file("home/plain", 0o644);
        machine.file("repo/evil", 0o755);
        let at_path = |name: &str, why| {
            Err(NotFound::AtPath {
                path: machine.at(name),
                why,
            })
        };
        let table = [
            ("~/tools/codex", Ok(machine.at("home/tools/codex"))),
            ("@/home/tools/codex", Ok(machine.at("home/tools/codex"))),
            ("~//tools/codex", Ok(machine.at("home/tools/codex"))),
            ("~/plain", at_path("home/plain", Unusable::NotExecutable)),
            ("~/tools", at_path("home/tools", Unusable::NotAFile)),
            ("@/nothing", at_path("nothing", Unusable::Missing)),
            ("@/repo/evil", at_path("repo/evil", Unusable::InRepository)),
            ("./evil", Err(NotFound::Relative("./evil".into()))),
            ("a/b", Err(NotFound::Relative("a/b".into()))),
        ];
        for (requested, expected) in table {
            assert_eq!(machine.resolve(requested, "@/bin"), expected, "{requested}");
        }
    }

    #[test]
    fn odd_names_are_not_found() {
        let machine = Machine::new();
        for requested in ["", ".", "..", "co\0dex", "~"] {
            let found = machine.resolve(requested, "@/bin");
            assert!(matches!(found, Err(NotFound::OnPath { .. })), "{requested}");
        }
        assert!(resolve(None, "codex", &Host::default()).is_err());
    }

    #[test]
    fn the_failure_names_what_was_looked_for_and_where() {
        let machine = Machine::new();
        machine.file("home/codex", 0o600);
        let failure = machine
            .resolve("codex", "@/home:@/bin")
            .unwrap_err()
            .into_failure("npm install -g @openai/codex");
        assert_eq!(failure.code, ErrorCode::MissingRequirement);
        assert_eq!(failure.exit_code(), 3);
        let root = machine.root.path().display();
        assert_eq!(
            failure.message,
            format!(
                "the executable `codex` was not found in the folders of PATH: {root}/home, \
                 {root}/bin; passed over {root}/home/codex: it is not executable"
            )
        );
        let hint = failure.hint.unwrap();
        assert!(hint.contains("npm install -g @openai/codex"), "{hint}");
    }

    #[test]
    fn the_source_tells_who_chose() {
        let machine = Machine::new();
        machine.file("bin/codex", 0o755);
        let host = machine.host("@/bin");
        let by_default = resolve(None, "codex", &host).unwrap();
        assert_eq!(by_default.source.as_str(), "adapter-default");
        assert_eq!(by_default.requested, "codex");
        let by_config = resolve(Some("codex"), "other", &host).unwrap();
        assert_eq!(by_config.source.as_str(), "config");
    }
}
