//! Finding the repository and the means to read it.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use diffwarden_actors::model::{ErrorCode, Failure};

use super::executable::Git;
use super::filters::{Blanked, blank_own_filters};
use super::history::History;
use super::library::Library;
use crate::env::Environment;

/// Variables that say where the parts of a repository lie, as git sets them for its hooks.
/// libgit2 is not asked when one is set: git itself knows best what they mean together.
const PLACES: [&str; 9] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
];

/// A git repository with a work tree, and the means to read it.
///
/// libgit2 answers where it can, in process and without running anything; the git executable does
/// the work tree, and whatever libgit2 cannot open. At least one of the two is there.
pub struct Repository {
    pub(super) root: PathBuf,
    /// The folder with HEAD and the index.
    pub(super) git_dir: PathBuf,
    /// The folder with references, objects and the configuration; differs in linked work trees.
    pub(super) common_dir: PathBuf,
    pub(super) library: Option<Library>,
    pub(super) git: Option<Git>,
    /// Whether object names are SHA-256.
    pub(super) is_sha256: bool,
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository")
            .field("root", &self.root)
            .field("git_dir", &self.git_dir)
            .field("library", &self.library.is_some())
            .field("git", &self.git)
            .finish_non_exhaustive()
    }
}

impl Repository {
    /// Finds the repository whose work tree holds `cwd`.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::InvalidCli`] when `cwd` is missing, is in no work tree, or belongs to another
    /// user without leave; [`ErrorCode::MissingRequirement`] when only git could read the
    /// repository and there is no git.
    pub fn open(cwd: &Path, environment: &Environment) -> Result<Self, Failure> {
        let folder = cwd.canonicalize().map_err(|error| {
            user_failure(format!("cannot use the folder {}: {error}", cwd.display()))
        })?;
        if !folder.is_dir() {
            return Err(user_failure(format!("{} is not a folder", cwd.display())));
        }
        let git = Git::find(environment, &folder, &nearest_repository(&folder));
        let reason = if PLACES.iter().any(|name| environment.raw(name).is_some()) {
            "the environment says where its parts lie".to_owned()
        } else {
            match Library::open(&folder) {
                Ok(library) => return Self::by_library(library, git, cwd, &folder),
                Err(error) if error.code() == git2::ErrorCode::NotFound => {
                    return Err(not_a_repository(cwd));
                }
                // Git knows more ways to allow it; without git this is the last word.
                Err(error) if error.code() == git2::ErrorCode::Owner && git.is_none() => {
                    return Err(dubious_owner(&folder));
                }
                Err(error) => error.message().to_owned(),
            }
        };
        let git = git.ok_or_else(|| missing_git(&reason))?;
        Self::by_git(git, environment, cwd, &folder)
    }

    /// Returns the nearest folder above `folder` that looks like a repository's root, with its
    /// links resolved, if there is one. Nothing is opened, and nothing is run.
    pub fn likely_root(folder: &Path) -> Option<PathBuf> {
        let folder = folder.canonicalize().ok()?;
        let root = nearest_repository(&folder);
        root.join(".git").symlink_metadata().is_ok().then_some(root)
    }

    /// Returns the root of the work tree, absolute, as `git rev-parse --show-toplevel` prints it.
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn by_library(
        library: Library,
        mut git: Option<Git>,
        cwd: &Path,
        folder: &Path,
    ) -> Result<Self, Failure> {
        let repository = &library.0;
        let git_dir = without_end_slash(repository.path());
        let common_dir = without_end_slash(repository.commondir());
        let root = repository.workdir().map(without_end_slash);
        let inside = |root: &PathBuf| folder.starts_with(root) && !folder.starts_with(&git_dir);
        let Some(root) = root.filter(inside) else {
            return Err(no_work_tree(cwd));
        };
        git = git.filter(|git| !git.lies_in(&root));
        if let Some(git) = &mut git {
            work_at(git, &root, &git_dir);
        }
        Ok(Self {
            root,
            git_dir,
            common_dir,
            library: Some(library),
            git,
            is_sha256: false,
        })
    }

    fn by_git(
        mut git: Git,
        environment: &Environment,
        cwd: &Path,
        folder: &Path,
    ) -> Result<Self, Failure> {
        let ask = |arguments: &[&str]| {
            let answer = git.run([&["rev-parse"], arguments].concat())?;
            if !answer.succeeded() {
                return Err(refusal(&answer.message, cwd));
            }
            let line = answer.output.strip_suffix(b"\n").unwrap_or(&answer.output);
            Ok(PathBuf::from(std::ffi::OsString::from_vec(line.to_vec())))
        };
        let root = ask(&["--show-toplevel"])?;
        if root.as_os_str().is_empty() {
            return Err(no_work_tree(cwd));
        }
        let git_dir = ask(&["--absolute-git-dir"])?;
        let common_dir = ask(&["--git-common-dir"])?;
        let format = ask(&["--show-object-format"])?;
        // A relative answer is relative to the folder that was asked from.
        let common_dir = match folder.join(&common_dir).canonicalize() {
            Ok(common_dir) => common_dir,
            Err(_) => git_dir.clone(),
        };
        if git.lies_in(&root) {
            return Err(missing_git(
                "the git on PATH lies inside the reviewed repository",
            ));
        }
        work_at(&mut git, &root, &git_dir);
        if environment.raw("GIT_COMMON_DIR").is_some() {
            git.set_variable("GIT_COMMON_DIR", common_dir.as_os_str());
        }
        if environment.raw("GIT_DIR").is_some() || environment.raw("GIT_WORK_TREE").is_some() {
            place(&mut git, &root, &git_dir);
        }
        Ok(Self {
            root,
            git_dir,
            common_dir,
            library: None,
            git: Some(git),
            is_sha256: format.as_os_str() == "sha256",
        })
    }

    pub(super) fn history(&self) -> Result<&dyn History, Failure> {
        match (&self.library, &self.git) {
            (Some(library), _) => Ok(library),
            (None, Some(git)) => Ok(git),
            (None, None) => Err(missing_git("libgit2 does not open it")),
        }
    }

    /// Returns git with the repository's own filters switched off, and a warning naming them.
    pub(super) fn hardened_git(&self, reason: &str) -> Result<(Git, Option<String>), Failure> {
        let mut git = self.git.clone().ok_or_else(|| missing_git(reason))?;
        let Blanked { settings, filters } = blank_own_filters(&git, &self.configurations())?;
        git.add_settings(settings);
        let names: Vec<_> = filters.into_iter().collect();
        let warning = (!names.is_empty()).then(|| {
            format!(
                "filters that the repository itself defines did not run: {}; set them up in your own git configuration to have them applied",
                names.join(", ")
            )
        });
        Ok((git, warning))
    }

    /// Returns the files of the repository's own configuration.
    pub(super) fn configurations(&self) -> [PathBuf; 2] {
        [
            self.common_dir.join("config"),
            self.git_dir.join("config.worktree"),
        ]
    }

    /// Returns the name of the tree that holds nothing.
    pub(super) fn empty_tree(&self) -> &'static str {
        if self.is_sha256 {
            "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"
        } else {
            "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
        }
    }
}

/// Names the first ten of several things.
pub(super) fn list<T: fmt::Display>(things: impl ExactSizeIterator<Item = T>) -> String {
    const NAMED: usize = 10;
    let more = things.len().saturating_sub(NAMED);
    let mut names: Vec<_> = things.take(NAMED).map(|thing| thing.to_string()).collect();
    if more > 0 {
        names.push(format!("and {more} more"));
    }
    names.join(", ")
}

/// Returns the failure for something the user can put right on the command line.
pub(super) fn user_failure(message: impl Into<String>) -> Failure {
    Failure::new(ErrorCode::InvalidCli, message)
}

/// Returns the failure for a repository, or a target, that needs the git executable.
pub(super) fn missing_git(reason: &str) -> Failure {
    let message = format!("the git executable is needed to read this repository: {reason}");
    Failure::new(ErrorCode::MissingRequirement, message)
        .hint("install git, or put its folder on PATH; a git inside the repository is not used")
}

fn not_a_repository(cwd: &Path) -> Failure {
    user_failure(format!("not a git repository: {}", cwd.display()))
        .hint("run inside a repository, or name one with --cwd")
}

fn no_work_tree(cwd: &Path) -> Failure {
    user_failure(format!(
        "not in the work tree of a git repository: {}",
        cwd.display()
    ))
    .hint("a bare repository and the inside of `.git` have no files to review; name a work tree with --cwd")
}

fn dubious_owner(folder: &Path) -> Failure {
    let place = nearest_repository(folder);
    user_failure(format!(
        "the repository at {} belongs to another user",
        place.display()
    ))
    .hint(format!(
        "if you trust it: git config --global --add safe.directory '{}'",
        place.display()
    ))
}

/// Returns the failure for git's refusal to open a repository.
fn refusal(message: &str, cwd: &Path) -> Failure {
    if message.contains("not a git repository") {
        not_a_repository(cwd)
    } else if message.contains("must be run in a work tree") {
        no_work_tree(cwd)
    } else {
        // Such as "detected dubious ownership", with git's advice on what to do.
        user_failure(message)
    }
}

/// Returns the nearest folder above that looks like a repository's, before git has said so.
fn nearest_repository(folder: &Path) -> PathBuf {
    let mut above = folder.ancestors();
    let found = above.find(|folder| folder.join(".git").symlink_metadata().is_ok());
    found.unwrap_or(folder).to_owned()
}

/// Has git work at the root, where names are relative to, and find the same repository there.
fn work_at(git: &mut Git, root: &Path, git_dir: &Path) {
    git.set_root(root);
    // With core.worktree the root may have no `.git` of its own.
    if root.join(".git").symlink_metadata().is_err() {
        place(git, root, git_dir);
    }
}

fn place(git: &mut Git, root: &Path, git_dir: &Path) {
    git.set_variable("GIT_DIR", git_dir.as_os_str());
    git.set_variable("GIT_WORK_TREE", root.as_os_str());
}

fn without_end_slash(path: &Path) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    match bytes.strip_suffix(b"/") {
        Some(bytes) if !bytes.is_empty() => PathBuf::from(OsStr::from_bytes(bytes)),
        _ => path.to_owned(),
    }
}
