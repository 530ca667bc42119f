//! Whether the tree changed between two looks.

use std::fs;
use std::os::unix::fs::MetadataExt;

use diffwarden::git::TreeState;

use super::fixture::{Fixture, Reader};

fn look(repo: &Fixture, reader: Reader) -> TreeState {
    repo.open(reader).unwrap().fingerprint(&[]).unwrap()
}

/// A tree with a staged edit, an unstaged one and an untracked file.
fn dirty() -> Fixture {
    let repo = Fixture::new();
    repo.write("src/math.js", "add\n");
    repo.git(&["add", "-A"]);
    repo.write("notes.txt", "one\n");
    repo.write("new", "n\n");
    repo.write(".gitignore", "target\n");
    repo
}

type Act = fn(&Fixture);

/// What happens between the looks, and what is told of it; also where there is no git.
const ACTS: &[(&str, Act, &[&str])] = &[
    ("nothing", |_| {}, &[]),
    (
        "git looks",
        |repo| {
            // What is renewed in the index is what git remembers, not what it holds.
            let notes = fs::File::options()
                .append(true)
                .open(repo.at("src/math.js"));
            let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1 << 30);
            notes.unwrap().set_modified(time).unwrap();
            repo.git(&["status"]);
        },
        &[],
    ),
    ("ignored", |repo| repo.write("target/x", "x\n"), &[]),
    (
        "reports",
        |repo| repo.write(".diffwarden/reports/r", "r\n"),
        &[],
    ),
    ("a new file", |repo| repo.write("b c", "x\n"), &["b c"]),
    (
        "an edit of a new file",
        |repo| repo.write("new", "longer\n"),
        &["new"],
    ),
    (
        "an edit of a changed file",
        |repo| repo.write("notes.txt", "two\n"),
        &["notes.txt"],
    ),
    (
        "undone",
        |repo| {
            repo.git(&["checkout", "-q", "notes.txt"]);
        },
        &["notes.txt"],
    ),
    (
        "gone",
        |repo| fs::remove_file(repo.at("src/math.js")).unwrap(),
        &["src/math.js"],
    ),
    (
        "staged",
        |repo| {
            repo.git(&["add", "notes.txt"]);
        },
        &["notes.txt"],
    ),
    (
        "another branch",
        |repo| {
            repo.git(&["checkout", "-q", "-b", "side"]);
        },
        &[".git/HEAD"],
    ),
    (
        "committed",
        |repo| {
            repo.git(&["commit", "-q", "-m", "x"]);
        },
        &[".git/HEAD", "src/math.js"],
    ),
];

#[test]
fn what_changed_is_named_and_looking_is_no_change() {
    for reader in [Reader::Both, Reader::Executable] {
        for (name, act, expected) in ACTS {
            let repo = dirty();
            let before = look(&repo, reader);
            act(&repo);
            let after = look(&repo, reader);
            let paths: Vec<_> = after
                .changes_since(&before)
                .iter()
                .map(ToString::to_string)
                .collect();
            assert_eq!(paths, *expected, "{name} {reader:?}");
            assert_eq!(after.changes_since(&after), []);
        }
    }
}

#[test]
fn without_git_new_and_edited_files_are_seen() {
    let repo = dirty();
    let before = look(&repo, Reader::Library);
    repo.write("notes.txt", "something else\n");
    repo.write("other", "o\n");
    let changed = look(&repo, Reader::Library).changes_since(&before);
    assert_eq!(changed, ["notes.txt".into(), "other".into()]);
}

#[test]
fn before_the_first_commit_and_with_a_pipe_there_is_a_state_too() {
    let repo = Fixture::empty();
    repo.write("a", "a\n");
    repo.git(&["add", "a"]);
    fs::remove_file(repo.at("a")).unwrap();
    let permissions = rustix::fs::Mode::from_raw_mode(0o600);
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, repo.at("a"), kind, permissions, 0).unwrap();
    let before = look(&repo, Reader::Both);
    assert_eq!(look(&repo, Reader::Both), before);
    fs::remove_file(repo.at("a")).unwrap();
    assert_eq!(
        look(&repo, Reader::Both).changes_since(&before),
        ["a".into()]
    );
}

#[test]
fn files_that_are_being_written_are_left_out() {
    let repo = dirty();
    let facts = fs::metadata(repo.at("new")).unwrap();
    let own = [(facts.dev(), facts.ino())];
    let look = || repo.open(Reader::Both).unwrap().fingerprint(&own).unwrap();
    let before = look();
    repo.write("new", "more and more\n");
    assert_eq!(look().changes_since(&before), []);
}
