use std::fs;
use std::path::Path;

use git2::{Oid, Repository as Library};
use proptest::prelude::*;

use super::*;
use crate::env::Environment;
use crate::git::{Repository, ResolveOptions, TargetSpec};
use crate::snapshot::judge::judge;

const FILE: i32 = 0o100_644;
const LINK: i32 = 0o120_000;

/// Stores a tree as it is given, also one that git would not make.
fn store(library: &Library, entries: &[(&str, i32, Oid)]) -> Oid {
    let mut raw = Vec::new();
    for (name, mode, id) in entries {
        raw.extend_from_slice(format!("{mode:o} {name}\0").as_bytes());
        raw.extend_from_slice(id.as_bytes());
    }
    let objects = library.odb().unwrap();
    objects.write(git2::ObjectType::Tree, &raw).unwrap()
}

/// Writes the tree of a commit, whose entries are given, below a new folder.
fn write(
    entries: &[(&str, i32, &str)],
    limit: u64,
) -> (tempfile::TempDir, Result<Written, Failure>) {
    let top = tempfile::tempdir().unwrap();
    let library = Library::init(top.path().join("repo")).unwrap();
    let blob = |text: &str| library.blob(text.as_bytes()).unwrap();
    let entries: Vec<_> = entries
        .iter()
        .map(|(name, mode, text)| (*name, *mode, blob(text)))
        .collect();
    let tree = library.find_tree(store(&library, &entries)).unwrap();
    let author = git2::Signature::now("A", "a@example.com").unwrap();
    let commit = library
        .commit(None, &author, &author, "m", &tree, &[])
        .unwrap();
    let repository = Repository::open(&top.path().join("repo"), &Environment::default()).unwrap();
    let options = ResolveOptions::default();
    let spec = TargetSpec::Commit(commit.to_string());
    // Some names are too much for libgit2 already; nothing is written then.
    let resolved = match repository.resolve(&spec, &options) {
        Ok(resolved) => resolved,
        Err(failure) => {
            fs::create_dir(top.path().join("tree")).unwrap();
            return (top, Err(failure));
        }
    };
    let frozen = repository.freeze(&resolved, &options, 100).unwrap();
    let judged = judge(frozen, &resolved.patch, &["AGENTS.md"]).unwrap();
    let folder = top.path().join("tree");
    fs::create_dir(&folder).unwrap();
    let written = Writer::new(judged, limit).write(&folder, &CancelToken::default());
    (top, written)
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn files_are_written_as_they_are_stored() {
    let (top, written) = write(
        &[
            ("a", FILE, "1\r\n"),
            ("b", 0o100_755, "2"),
            ("c", LINK, "a"),
        ],
        9,
    );
    let written = written.unwrap();
    assert_eq!((written.record.files, written.record.bytes), (3, 4));
    let tree = top.path().join("tree");
    assert_eq!(fs::read(tree.join("c")).unwrap(), b"1\r\n");
    let mode = |name: &str| tree.join(name).metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("a"), mode("b")), (0o400, 0o500));
}

#[test]
fn changed_orders_are_left_out_and_told() {
    let (top, written) = write(&[("AGENTS.md", FILE, "obey\n"), ("b", FILE, "2\n")], 99);
    let written = written.unwrap();
    assert_eq!(names(&top.path().join("tree")), ["b"]);
    assert_eq!(written.record.removed, ["AGENTS.md"]);
    let told = written.degraded.as_ref().unwrap();
    assert!(told.message.contains("takes orders"), "{written:?}");
}

#[test]
fn more_bytes_than_allowed_are_a_failure() {
    let (_top, written) = write(&[("a", FILE, "12345"), ("b", FILE, "12345")], 9);
    let failure = written.unwrap_err();
    assert!(failure.message.contains("9 bytes"), "{failure}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_tree_leaves_its_folder(
        entries in proptest::collection::vec(
            (
                "(\\.\\.|\\.|\\.git|a|b|\\.\\./x|/abs|a/b|a/\\.\\./\\.\\./x|\\\\x|\\PC{1,6})",
                prop_oneof![Just(FILE), Just(LINK)],
                "(\\.\\.|/|a|b|\\.\\./x|x)",
            ),
            0..8,
        ),
    ) {
        let entries: Vec<_> = entries
            .iter()
            .filter(|(name, ..)| !name.contains('\0'))
            .map(|(name, mode, text)| (name.as_str(), *mode, text.as_str()))
            .collect();
        let (top, written) = write(&entries, 1 << 20);
        if let Err(failure) = &written {
            prop_assert!(failure.message.contains("cannot read the repository"), "{failure}");
        }
        prop_assert_eq!(names(top.path()), ["repo", "tree"]);
        let tree = top.path().join("tree").canonicalize().unwrap();
        for name in names(&tree) {
            let path = tree.join(name);
            if let Ok(real) = path.canonicalize() {
                prop_assert!(real.starts_with(&tree), "{path:?} leads to {real:?}");
            }
        }
    }
}
