//! What discovery sees of a machine.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use diffwarden_actors::search_path;

use crate::engines::Host;
use crate::engines::executable::{self, NotFound};

/// How much of a credential file is looked at, in bytes: enough to tell a blank one.
const LOOKED_AT: u64 = 64;

/// A machine, as far as discovery asks.
pub trait View {
    /// Finds an executable by its name or path, as a review would.
    ///
    /// # Errors
    ///
    /// Fails when there is none that may be run.
    fn executable(&self, name: &str) -> Result<PathBuf, NotFound>;

    /// Whether a variable is set to something that is not blank.
    fn has_variable(&self, name: &str) -> bool;

    /// Returns a variable that holds an absolute path.
    fn folder_of_variable(&self, name: &str) -> Option<PathBuf>;

    /// Returns the home folder.
    fn home(&self) -> Option<PathBuf>;

    /// Looks at a file that may hold a login.
    fn credential(&self, path: &Path) -> Credential;

    /// Finds an installed npm package; `node` is where Node is.
    fn package(&self, name: &str, node: Option<&Path>) -> Option<PathBuf>;
}

/// What there is of a login in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// The file cannot be read.
    Absent,
    /// The file is blank.
    Empty,
    /// There is something in it.
    Present,
}

/// The machine that diffwarden runs on.
pub struct Machine<'a>(pub &'a Host);

impl View for Machine<'_> {
    fn executable(&self, name: &str) -> Result<PathBuf, NotFound> {
        executable::resolve(Some(name), name, self.0).map(|found| found.path)
    }

    fn has_variable(&self, name: &str) -> bool {
        // Not `text`: a value that is no UTF-8 is one all the same.
        let value = self.0.env.raw(name);
        value.is_some_and(|value| !value.to_string_lossy().trim().is_empty())
    }

    fn folder_of_variable(&self, name: &str) -> Option<PathBuf> {
        self.0.env.absolute_path(name)
    }

    fn home(&self) -> Option<PathBuf> {
        self.0.env.home()
    }

    fn credential(&self, path: &Path) -> Credential {
        look_into(path).unwrap_or(Credential::Absent)
    }

    fn package(&self, name: &str, node: Option<&Path>) -> Option<PathBuf> {
        let root = self.0.repo_root.as_deref().map(search_path::real);
        let is_ours = |path: &Path| {
            let inside = root
                .as_deref()
                .is_some_and(|root| search_path::is_inside(path, root));
            !inside && path.join("package.json").is_file()
        };
        let folders = self.module_folders(node).into_iter();
        folders
            .map(|folder| folder.join(name))
            .find(|it| is_ours(it))
    }
}

impl Machine<'_> {
    /// Returns the folders that Node and npm keep packages in for everybody.
    fn module_folders(&self, node: Option<&Path>) -> Vec<PathBuf> {
        let env = &self.0.env;
        let mut folders: Vec<PathBuf> = Vec::new();
        if let Some(path) = env.raw("NODE_PATH") {
            folders.extend(std::env::split_paths(path).filter(|it| it.is_absolute()));
        }
        let prefixes = ["npm_config_prefix", "NPM_CONFIG_PREFIX"];
        let named = prefixes.iter().filter_map(|name| env.absolute_path(name));
        // Node's own prefix is the folder above the one it lies in, also behind a link.
        let real = node.and_then(|node| node.canonicalize().ok());
        let of_node = [node, real.as_deref()].into_iter().flatten();
        let of_node = of_node.filter_map(|node| Some(node.parent()?.parent()?.to_owned()));
        folders.extend(
            named
                .chain(of_node)
                .map(|prefix| prefix.join("lib/node_modules")),
        );
        folders
    }
}

fn look_into(path: &Path) -> std::io::Result<Credential> {
    // Asked before opening, because opening a pipe would wait for a writer.
    let metadata = path.metadata()?;
    if !metadata.is_file() {
        return Ok(Credential::Absent);
    }
    let mut head = Vec::new();
    File::open(path)?.take(LOOKED_AT).read_to_end(&mut head)?;
    let text: Vec<u8> = head
        .into_iter()
        .filter(|b| !b.is_ascii_whitespace())
        .collect();
    let is_blank = metadata.len() <= LOOKED_AT && text.is_empty();
    Ok(if is_blank {
        Credential::Empty
    } else {
        Credential::Present
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::env::Environment;

    #[test]
    fn a_credential_file_is_read_no_further_than_needed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("auth.json");
        let machine = Host::default();
        let look = || Machine(&machine).credential(&file);
        assert_eq!(look(), Credential::Absent);
        for (text, expected) in [
            ("", Credential::Empty),
            (" \n", Credential::Empty),
            ("{}", Credential::Present),
            ("{\"a\": 1}", Credential::Present),
            ("\u{0}", Credential::Present),
        ] {
            fs::write(&file, text).unwrap();
            assert_eq!(look(), expected, "{text:?}");
        }
        fs::write(&file, " ".repeat(1000)).unwrap();
        assert_eq!(look(), Credential::Present);
        fs::remove_file(&file).unwrap();
        fs::create_dir(&file).unwrap();
        assert_eq!(look(), Credential::Absent);
    }

    #[test]
    fn packages_are_found_beside_node_and_never_in_the_repository() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().canonicalize().unwrap().join(name);
        for folder in [
            "node/lib/node_modules/@a/sdk",
            "repo/lib/node_modules/@a/sdk",
            "node/bin",
        ] {
            fs::create_dir_all(at(folder)).unwrap();
            fs::write(at(folder).join("package.json"), "{}").unwrap();
        }
        fs::create_dir_all(at("links")).unwrap();
        symlink(at("node/bin/node"), at("links/node")).unwrap();
        fs::write(at("node/bin/node"), "").unwrap();
        let host = Host {
            env: [("npm_config_prefix", at("repo"))]
                .into_iter()
                .collect::<Environment>(),
            repo_root: Some(at("repo")),
        };
        let find = |node: &str| Machine(&host).package("@a/sdk", Some(&at(node)));
        assert_eq!(find("links/node"), Some(at("node/lib/node_modules/@a/sdk")));
        assert_eq!(
            find("node/bin/node"),
            Some(at("node/lib/node_modules/@a/sdk"))
        );
        assert_eq!(find("links/none"), None);
    }

    #[test]
    fn a_blank_variable_is_none() {
        let host = Host {
            env: [("A", " "), ("B", "x")].into_iter().collect(),
            repo_root: None,
        };
        assert!(!Machine(&host).has_variable("A"));
        assert!(Machine(&host).has_variable("B"));
        assert!(!Machine(&host).has_variable("C"));
    }
}
