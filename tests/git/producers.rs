//! libgit2 and the git executable must give the same patch, or libgit2 must decline.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use diffwarden_actors::model::{ErrorCode, Patch};

use super::fixture::{Fixture, Reader, show};

/// The patch without what the two are free to say differently: the text after `@@`, which depends
/// on the language rules each brings along, and how alike two files are.
fn comparable(mut patch: Patch) -> Patch {
    for file in &mut patch.files {
        file.similarity = None;
        if let diffwarden_actors::model::Body::Hunks(hunks) = &mut file.body {
            for hunk in hunks {
                hunk.section.clear();
            }
        }
    }
    patch
}

/// Changes to a work tree that holds the two files of the first commit.
type Edit = fn(&Fixture);

const EDITS: &[(&str, bool, Edit)] = &[
    ("modify", true, |repo| {
        repo.write("notes.txt", "one\nTWO\nthree\n");
    }),
    ("several hunks", true, |repo| {
        let lines: Vec<_> = (0..100).map(|n| format!("line {n}\n")).collect();
        repo.write("long", lines.concat());
        repo.commit("long");
        let edited: Vec<_> = (0..100)
            .map(|n| {
                if n % 20 == 7 {
                    "new\n".to_owned()
                } else {
                    format!("line {n}\n")
                }
            })
            .collect();
        repo.write("long", edited.concat());
    }),
    ("no newline", true, |repo| {
        repo.write("end", "a\nb");
        repo.write("end2", "a\nb\n");
        repo.commit("end");
        repo.write("end", "a\nb\n");
        repo.write("end2", "a\nb");
        repo.write("end3", "c");
    }),
    ("add and delete", true, |repo| {
        fs::remove_file(repo.at("notes.txt")).unwrap();
        repo.write("new", "n\n");
        repo.write("empty", "");
        repo.git(&["add", "-A"]);
    }),
    ("delete an empty file", true, |repo| {
        repo.write("empty", "");
        repo.commit("empty");
        fs::remove_file(repo.at("empty")).unwrap();
    }),
    ("rename", true, |repo| {
        repo.git(&["mv", "notes.txt", "moved.txt"]);
    }),
    ("rename with an edit", true, |repo| {
        repo.git(&["mv", "notes.txt", "moved.txt"]);
        repo.write(
            "moved.txt",
            "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n10\n",
        );
        repo.git(&["add", "-A"]);
    }),
    ("mode", true, |repo| {
        fs::set_permissions(repo.at("notes.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    }),
    ("mode and contents", true, |repo| {
        repo.write("notes.txt", "x\n");
        fs::set_permissions(repo.at("notes.txt"), fs::Permissions::from_mode(0o755)).unwrap();
    }),
    ("binary", true, |repo| {
        repo.write("bin", "\0a");
        repo.commit("bin");
        repo.write("bin", "\0b");
        repo.write("bin2", "\0c");
        repo.git(&["add", "-A"]);
    }),
    ("symbolic link", true, |repo| {
        symlink("a", repo.at("link")).unwrap();
        repo.commit("link");
        fs::remove_file(repo.at("link")).unwrap();
        symlink("b", repo.at("link")).unwrap();
    }),
    ("any name", true, |repo| {
        for name in [
            &b"t\tq\"\\\n\xff x b/x"[..],
            b"dev/null",
            " blank ".as_bytes(),
            "\u{e9}".as_bytes(),
        ] {
            repo.write(name, "1\n");
        }
        repo.commit("names");
        for name in [
            &b"t\tq\"\\\n\xff x b/x"[..],
            b"dev/null",
            " blank ".as_bytes(),
            "\u{e9}".as_bytes(),
        ] {
            repo.write(name, "2\n");
        }
    }),
    ("carriage returns", true, |repo| {
        repo.write("w", "a\r\nb\r\n");
        repo.commit("w");
        repo.write("w", "a\r\nB\r\n\r");
    }),
    ("converted line ends", true, |repo| {
        repo.write(".gitattributes", "* text=auto\n");
        repo.commit("attributes");
        repo.write("notes.txt", "one\r\ntwo\r\n3\r\n");
    }),
    ("untracked", true, |repo| {
        repo.write("dir/u", "u\n");
        repo.write("v", "\0");
        repo.write(".gitignore", "ignored\n");
        repo.write("ignored", "i\n");
        repo.write(".diffwarden/reports/r", "r\n");
        symlink("/etc/passwd", repo.at("link")).unwrap();
    }),
    ("intent to add", true, |repo| {
        repo.write("intent", "i\n");
        repo.git(&["add", "-N", "intent"]);
    }),
    ("indented blocks", true, |repo| {
        repo.write(
            "f.c",
            "int a() {\n    return 1;\n}\n\nint c() {\n    return 3;\n}\n",
        );
        repo.commit("c");
        repo.write(
            "f.c",
            "int a() {\n    return 1;\n}\n\nint b() {\n    return 2;\n}\n\nint c() {\n    return 3;\n}\n",
        );
    }),
    ("type change", false, |repo| {
        fs::remove_file(repo.at("notes.txt")).unwrap();
        symlink("src", repo.at("notes.txt")).unwrap();
    }),
    ("no longer tracked", false, |repo| {
        repo.git(&["rm", "-q", "--cached", "notes.txt"]);
    }),
    ("binary attribute", false, |repo| {
        repo.write(".gitattributes", "*.txt binary\n");
        repo.commit("attributes");
        repo.write("notes.txt", "x\n");
    }),
    ("encoding", false, |repo| {
        repo.write(".gitattributes", "*.txt working-tree-encoding=UTF-16LE\n");
        repo.write("notes.txt", "x\0\n\0");
    }),
];

#[test]
fn both_readers_give_the_same_patch() {
    for (name, same, edit) in EDITS {
        let repo = Fixture::new();
        edit(&repo);
        compare_work_trees(name, *same, &repo);
        repo.commit("edit");
        compare_commits(name, &repo);
    }
}

fn compare_work_trees(name: &str, same: bool, repo: &Fixture) {
    let by_git = repo.try_by(Reader::Executable, "uncommitted").unwrap();
    assert!(!by_git.patch.is_empty(), "{name}");
    match repo.try_by(Reader::Library, "uncommitted") {
        Ok(by_library) => {
            assert!(same, "{name} should be declined");
            // Of a file on disk libgit2 does not always know the id.
            let without_ids = |mut patch: Patch| {
                for file in &mut patch.files {
                    (file.old_id, file.new_id) = (None, None);
                }
                comparable(patch)
            };
            assert_eq!(show(&by_library.patch), show(&by_git.patch), "{name}");
            assert_eq!(
                without_ids(by_library.patch),
                without_ids(by_git.patch),
                "{name}"
            );
        }
        Err(failure) => {
            assert!(!same, "{name} was declined: {failure:?}");
            assert_eq!(failure.code, ErrorCode::MissingRequirement, "{name}");
        }
    }
}

fn compare_commits(name: &str, repo: &Fixture) {
    let by_git = comparable(
        repo.try_by(Reader::Executable, "commit:HEAD")
            .unwrap()
            .patch,
    );
    assert_eq!(
        comparable(repo.resolve("commit:HEAD").patch),
        by_git,
        "{name}"
    );
    match repo.try_by(Reader::Library, "commit:HEAD") {
        Ok(by_library) => assert_eq!(comparable(by_library.patch), by_git, "{name}"),
        Err(failure) => {
            assert_eq!(name, "type change", "{failure:?}");
            assert_eq!(failure.code, ErrorCode::MissingRequirement);
        }
    }
}
