//! Filters and diff drivers that the repository's own configuration defines.
//!
//! `.git/config` is part of what is reviewed: a repository from elsewhere (an archive, a shared
//! folder) brings it along, and `filter.<name>.clean` is a shell command that `git diff` runs. So
//! such filters are blanked by name. Those of the user and of the system, such as Git LFS, run:
//! without them an unchanged file would look changed.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use diffwarden_actors::model::Failure;

use super::executable::{Git, environment_failure};

/// Keys of a filter that name a program.
const PROGRAMS: [&str; 3] = ["clean", "smudge", "process"];

/// Keys of a diff driver that change what the patch says. A broken pattern would even end git.
const PATCH_KEYS: [&[u8]; 3] = [b"binary", b"funcname", b"xfuncname"];

/// What git takes for the heading of a hunk where no driver says otherwise.
const PLAIN_HEADING: &[u8] = b"^[A-Za-z_$].*$";

/// The section and the name of a driver, as in `filter.lfs`.
type Driver<'t> = (&'t [u8], &'t [u8]);

/// What has to be set so that the repository's own filters do not run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Blanked {
    /// Settings for the command line, `name=value`.
    pub(super) settings: Vec<OsString>,
    /// The filters that do not run, for people.
    pub(super) filters: BTreeSet<String>,
}

/// Returns what blanks the repository's own filters and diff drivers.
///
/// Most repositories define none, and then no process is needed to know it. Otherwise git itself
/// lists what it would read, so that an include is followed exactly as git follows it.
pub(super) fn blank_own_filters(git: &Git, files: &[PathBuf]) -> Result<Blanked, Failure> {
    if !mentions(files, &["filter", "include", "binary", "funcname"]) {
        return Ok(Blanked::default());
    }
    let listed = git
        .run(["config", "--list", "--show-scope", "-z"])?
        .check()?;
    from_list(&listed.output)
}

/// Whether a configuration file holds one of these lower-case words, in any case and anywhere. A
/// yes may be wrong, a no is not.
pub(super) fn mentions(files: &[PathBuf], words: &[&str]) -> bool {
    files.iter().any(|file| {
        let mut text = fs::read(file).unwrap_or_default();
        text.make_ascii_lowercase();
        words.iter().any(|word| {
            let word = word.as_bytes();
            text.windows(word.len()).any(|window| window == word)
        })
    })
}

/// Reads `git config --list --show-scope -z`: scope, NUL, key, line feed, value, NUL.
fn from_list(list: &[u8]) -> Result<Blanked, Failure> {
    let mut own: BTreeMap<Driver<'_>, BTreeSet<&[u8]>> = BTreeMap::new();
    let mut others: BTreeMap<&[u8], &[u8]> = BTreeMap::new();
    let mut fields = list.split(|&byte| byte == 0);
    while let (Some(scope), Some(entry)) = (fields.next(), fields.next()) {
        let end = entry
            .iter()
            .position(|&byte| byte == b'\n')
            .unwrap_or(entry.len());
        let (key, value) = (&entry[..end], entry.get(end + 1..).unwrap_or(b"true"));
        let Some((section, name, last)) = driver_of(key) else {
            continue;
        };
        if matches!(scope, b"local" | b"worktree") {
            own.entry((section, name)).or_default().insert(last);
        } else {
            others.insert(key, value);
        }
    }
    let mut blanked = Blanked::default();
    for ((section, name), keys) in own {
        // The user's own definition of the same name stands.
        let defined = |key: &str| {
            others
                .get(&*join(&[section, name, key.as_bytes()]))
                .copied()
        };
        if section == b"diff" {
            blanked.set_driver(name, &keys, &defined)?;
            continue;
        }
        let programs = PROGRAMS
            .into_iter()
            .filter(|key| keys.contains(key.as_bytes()));
        for key in programs {
            blanked.set(section, name, key, defined(key).unwrap_or_default())?;
        }
        // A required filter without a program would be an error.
        blanked.set(
            section,
            name,
            "required",
            defined("required").unwrap_or(b"false"),
        )?;
        blanked
            .filters
            .insert(String::from_utf8_lossy(name).into_owned());
    }
    Ok(blanked)
}

impl Blanked {
    /// Undoes what the repository's own definition of a diff driver says about the patch.
    fn set_driver<'v>(
        &mut self,
        name: &[u8],
        keys: &BTreeSet<&[u8]>,
        defined: &impl Fn(&str) -> Option<&'v [u8]>,
    ) -> Result<(), Failure> {
        if keys.contains(&b"binary"[..]) {
            let value = defined("binary").unwrap_or(b"auto");
            self.set(b"diff", name, "binary", value)?;
        }
        // Of the two patterns the one that was read last counts.
        if keys.iter().any(|key| key.ends_with(b"funcname")) {
            let (key, value) = match (defined("xfuncname"), defined("funcname")) {
                (Some(value), _) => ("xfuncname", value),
                (None, Some(value)) => ("funcname", value),
                (None, None) => ("xfuncname", PLAIN_HEADING),
            };
            self.set(b"diff", name, key, value)?;
        }
        Ok(())
    }

    fn set(&mut self, section: &[u8], name: &[u8], key: &str, value: &[u8]) -> Result<(), Failure> {
        if name.contains(&b'=') {
            // `-c` takes the first `=` for the end of the name, so this one cannot be blanked.
            let name = String::from_utf8_lossy(name);
            return Err(environment_failure(format!(
                "the repository's configuration defines a driver named `{name}`, which could run a program and cannot be switched off",
            ))
            .hint("remove or rename it in .git/config"));
        }
        let mut setting = join(&[section, name, key.as_bytes()]);
        setting.push(b'=');
        setting.extend(value);
        self.settings.push(OsString::from_vec(setting));
        Ok(())
    }
}

/// Splits `filter.<name>.<key>` and those keys of `diff.<name>.<key>` that matter; a name may hold
/// dots.
fn driver_of(key: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let first = key.iter().position(|&byte| byte == b'.')?;
    let last = key.iter().rposition(|&byte| byte == b'.')?;
    let (section, name) = (&key[..first], key.get(first + 1..last)?);
    let key = &key[last + 1..];
    let is_driver = section == b"filter" || (section == b"diff" && PATCH_KEYS.contains(&key));
    is_driver.then_some((section, name, key))
}

fn join(parts: &[&[u8]]) -> Vec<u8> {
    parts.join(&b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(list: &[u8]) -> Vec<String> {
        let settings = from_list(list).unwrap().settings;
        settings
            .into_iter()
            .map(|s| s.into_string().unwrap())
            .collect()
    }

    #[test]
    fn own_filters_are_blanked_and_the_users_stand() {
        let list = b"global\0filter.lfs.clean\ngit-lfs clean\0local\0filter.lfs.clean\nevil\0\
                     local\0filter.a.b.process\nevil\0local\0core.bare\nfalse\0";
        assert_eq!(
            settings(list),
            [
                "filter.a.b.process=",
                "filter.a.b.required=false",
                "filter.lfs.clean=git-lfs clean",
                "filter.lfs.required=false",
            ]
        );
        let filters = from_list(list).unwrap().filters;
        assert_eq!(filters.into_iter().collect::<Vec<_>>(), ["a.b", "lfs"]);
    }

    #[test]
    fn a_name_that_cannot_be_blanked_ends_the_run() {
        assert!(from_list(b"local\0filter.a=b.clean\nevil\0").is_err());
    }

    #[test]
    fn a_driver_changes_nothing_about_the_patch() {
        assert_eq!(
            settings(b"worktree\0diff.js.binary\ntrue\0"),
            ["diff.js.binary=auto"]
        );
        assert_eq!(
            settings(b"local\0diff.js.binary\0"),
            ["diff.js.binary=auto"]
        );
        assert_eq!(
            settings(b"local\0diff.js.xfuncname\n[\0local\0diff.c.funcname\n[\0global\0diff.c.funcname\nx\0"),
            [
                "diff.c.funcname=x",
                "diff.js.xfuncname=^[A-Za-z_$].*$"
            ]
        );
        assert!(settings(b"global\0diff.js.binary\ntrue\0").is_empty());
        assert!(settings(b"local\0diff.context\n1\0local\0x\0broken").is_empty());
    }
}
