//! Every kind of change that a work tree can hold.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use diffwarden::git::{ReadLimits, ResolveOptions};
use diffwarden_actors::model::Body;

use super::fixture::{Fixture, Reader, headers, show};

fn set_mode(path: impl AsRef<std::path::Path>, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn staged_and_unstaged_edits_are_one_change_with_the_line_numbers_on_disk() {
    let repo = Fixture::new();
    repo.write(
        "notes.txt",
        "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\nten\n",
    );
    repo.git(&["add", "notes.txt"]);
    repo.write(
        "notes.txt",
        "a\nb\none\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nNINE\nten\n",
    );
    let resolved = repo.resolve("uncommitted");
    let ranges = resolved.patch.changed_ranges();
    let runs: Vec<_> = ranges[&"notes.txt".into()]
        .iter()
        .map(|run| (run.start, run.end))
        .collect();
    assert_eq!(runs, [(1, 2), (11, 11)]);
}

#[test]
fn every_kind_of_change_has_its_block() {
    let repo = with_every_kind();
    let resolved = repo.resolve("uncommitted");
    assert_eq!(
        headers(&resolved.patch),
        [
            "D deleted",
            "D gone-staged",
            "A intent",
            "D kept",
            "M link 120000",
            "M logo.bin binary",
            "R old name -> new name unchanged",
            "M src/math.js",
            "A staged",
            "D to-link",
            "A to-link 120000",
            "M tool 100644>100755 unchanged",
            "A empty unchanged",
            "A kept",
            "A untracked",
            "A untracked-link 120000",
            "A untracked.sh 100755",
        ]
    );
    assert_eq!(
        resolved.target.changed_files,
        [
            "deleted",
            "empty",
            "gone-staged",
            "intent",
            "kept",
            "link",
            "logo.bin",
            "new name",
            "src/math.js",
            "staged",
            "to-link",
            "tool",
            "untracked",
            "untracked-link",
            "untracked.sh",
        ]
    );
    let shown = show(&resolved.patch);
    assert!(shown.contains(&"+/etc/passwd$".to_owned()), "{shown:?}");
    assert!(shown.contains(&"+intent".to_owned()), "{shown:?}");
}

/// A repository whose work tree differs from HEAD in every way.
fn with_every_kind() -> Fixture {
    let repo = Fixture::new();
    for (name, text) in [
        ("deleted", "gone\nlines\n"),
        ("gone-staged", "x\ny\n"),
        ("old name", "a\nb\nc\nd\ne\nf\n"),
        ("tool", "#!/bin/sh\n"),
        ("to-link", "contents\n"),
        ("logo.bin", "\0\u{1}binary"),
        ("kept", "kept\n"),
    ] {
        repo.write(name, text);
    }
    symlink("kept", repo.at("link")).unwrap();
    repo.write(".gitignore", "*.tmp\n");
    repo.commit("more");
    repo.write("src/math.js", "add\nsub\nmul\ndiv\n");
    repo.write("staged", "s\n");
    repo.git(&["add", "staged"]);
    fs::remove_file(repo.at("deleted")).unwrap();
    repo.git(&["rm", "-q", "gone-staged"]);
    repo.git(&["mv", "old name", "new name"]);
    set_mode(repo.at("tool"), 0o755);
    fs::remove_file(repo.at("to-link")).unwrap();
    symlink("kept", repo.at("to-link")).unwrap();
    repo.write("logo.bin", "\0\u{2}binary");
    fs::remove_file(repo.at("link")).unwrap();
    symlink("tool", repo.at("link")).unwrap();
    repo.write("intent", "intent\n");
    repo.git(&["add", "-N", "intent"]);
    repo.git(&["rm", "-q", "--cached", "kept"]);
    repo.write("ignored.tmp", "x");
    repo.write("untracked", "u\n");
    repo.write("untracked.sh", "u\n");
    set_mode(repo.at("untracked.sh"), 0o755);
    repo.write("empty", "");
    symlink("/etc/passwd", repo.at("untracked-link")).unwrap();

    repo
}

#[test]
fn a_repository_without_commits_is_compared_with_nothing() {
    let repo = Fixture::empty();
    for reader in [Reader::Both, Reader::Executable, Reader::Library] {
        let resolved = repo.try_by(reader, "uncommitted").unwrap();
        assert!(resolved.patch.is_empty());
        assert_eq!(resolved.target.head_sha, None);
        assert_eq!(resolved.branch.as_deref(), Some("main"));
    }
    repo.write("a.txt", "staged\n");
    repo.git(&["add", "a.txt"]);
    repo.write("b.txt", "untracked\n");
    for reader in [Reader::Both, Reader::Executable, Reader::Library] {
        let resolved = repo.try_by(reader, "uncommitted").unwrap();
        let shown = show(&resolved.patch);
        let hunk = "@@ -0,0 +1,1 @@";
        assert_eq!(
            shown,
            ["A a.txt", hunk, "+staged", "A b.txt", hunk, "+untracked"]
        );
    }
}

#[test]
fn conflicts_show_their_markers() {
    let repo = Fixture::new();
    repo.git(&["checkout", "-q", "-b", "other"]);
    repo.write("notes.txt", "other\n");
    repo.git(&["rm", "-q", "src/math.js"]);
    repo.commit("other");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("notes.txt", "main\n");
    repo.write("src/math.js", "changed\n");
    repo.commit("main");
    let merge = std::process::Command::new("git")
        .args([
            "-c",
            "user.name=n",
            "-c",
            "user.email=e",
            "merge",
            "-q",
            "other",
        ])
        .current_dir(repo.root())
        .output()
        .unwrap();
    assert!(!merge.status.success());
    let shown = repo.uncommitted();
    assert!(shown.contains(&"+<<<<<<< HEAD".to_owned()), "{shown:?}");
    let failure = repo.try_by(Reader::Library, "uncommitted").unwrap_err();
    assert_eq!(failure.exit_code(), 3, "{failure:?}");
}

#[test]
fn any_bytes_can_be_a_name() {
    let repo = Fixture::empty();
    let names: [&[u8]; 16] = [
        b"qu\"ote",
        b"ta\tb",
        b"new\nline",
        b"back\\slash",
        b"caf\xe9",
        "\u{e9}\u{65e5}.txt".as_bytes(),
        b"-rf",
        b":(top)x",
        b"*.js",
        b"[a]",
        b" blanks ",
        b"x b/x b/y",
        b"b/b/x",
        b"dev/null",
        b"it's",
        b"\x1b[31mred",
    ];
    for name in names {
        repo.write(name, "1\n2\n");
    }
    let untracked = headers(&repo.resolve("uncommitted").patch);
    let mut expected: Vec<_> = names
        .iter()
        .map(|name| format!("A {}", name.escape_ascii()))
        .collect();
    expected.sort();
    let mut sorted = untracked.clone();
    sorted.sort();
    assert_eq!(sorted, expected);

    repo.commit("names");
    for name in names {
        repo.write(name, "1\nTWO\n");
    }
    for reader in [Reader::Both, Reader::Executable, Reader::Library] {
        let mut modified = headers(&repo.try_by(reader, "uncommitted").unwrap().patch);
        modified.sort();
        let expected: Vec<_> = expected
            .iter()
            .map(|header| header.replacen('A', "M", 1))
            .collect();
        assert_eq!(modified, expected, "{reader:?}");
    }
}

#[test]
fn line_ends_and_missing_newlines_are_kept() {
    let repo = Fixture::new();
    repo.git(&["config", "core.autocrlf", "false"]);
    repo.write("w.txt", "one\r\ntwo\r\nthree\r\n");
    repo.write("blank.txt", "a\n\n\nb\n");
    repo.commit("crlf");
    repo.git(&["config", "diff.suppressBlankEmpty", "true"]);
    repo.write("w.txt", "one\r\ntwo changed\r\nthree\r\n");
    repo.write("blank.txt", "a\n\n\nB");
    repo.write("u.txt", "end\n\n  \r\n");
    assert_eq!(
        repo.uncommitted(),
        [
            "M blank.txt",
            "@@ -1,4 +1,4 @@",
            " a",
            " ",
            " ",
            "-b",
            "+B$",
            "M w.txt",
            "@@ -1,3 +1,3 @@",
            " one\\r",
            "-two\\r",
            "+two changed\\r",
            " three\\r",
            "A u.txt",
            "@@ -0,0 +1,3 @@",
            "+end",
            "+",
            "+  \\r",
        ]
    );
}

#[test]
fn converted_line_ends_are_no_change() {
    let repo = Fixture::new();
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.write(
        "notes.txt",
        "one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven\r\neight\r\nnine\r\n10\r\n",
    );
    let shown = repo.uncommitted();
    assert_eq!(shown[5..], ["-ten", "+10"], "{shown:?}");
}

#[test]
fn of_a_submodule_only_the_pointer_is_shown_and_said_to_be() {
    let repo = Fixture::new();
    let inner = repo.top().join("sub");
    fs::create_dir(&inner).unwrap();
    repo.git_in(&inner, &["init", "-q", "-b", "main"]);
    fs::write(inner.join("s.txt"), "s\n").unwrap();
    repo.git_in(&inner, &["add", "s.txt"]);
    repo.git_in(&inner, &["commit", "-q", "-m", "sub"]);
    repo.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "add",
        "-q",
        "../sub",
        "vendor/sub",
    ]);
    repo.commit("submodule");
    fs::write(repo.at("vendor/sub/s.txt"), "t\n").unwrap();
    repo.git_in(&repo.at("vendor/sub"), &["commit", "-q", "-am", "moves"]);
    fs::write(repo.at("vendor/sub/s.txt"), "dirty\n").unwrap();
    repo.git(&["config", "diff.submodule", "diff"]);
    repo.git(&["config", "diff.ignoreSubmodules", "all"]);
    let resolved = repo.resolve("uncommitted");
    assert_eq!(resolved.target.changed_files, ["vendor/sub"]);
    assert_eq!(resolved.patch.files[0].counts(), (1, 1));
    assert!(resolved.patch.files[0].is_submodule());
    assert!(
        resolved.degraded[0].message.contains("vendor/sub"),
        "{:?}",
        resolved.degraded
    );
}

#[test]
fn a_nested_repository_is_named_and_reports_are_left_out() {
    let repo = Fixture::new();
    fs::create_dir(repo.at("nested")).unwrap();
    repo.git_in(&repo.at("nested"), &["init", "-q"]);
    repo.write("nested/x", "x\n");
    repo.git_in(&repo.at("nested"), &["add", "x"]);
    repo.git_in(&repo.at("nested"), &["commit", "-q", "-m", "n"]);
    repo.write(".diffwarden/reports/2026/r.json", "{}\n");
    repo.write("new.txt", "n\n");
    assert_eq!(
        headers(&repo.resolve("uncommitted").patch),
        ["A nested/ omitted", "A new.txt"]
    );
}

#[test]
fn a_pipe_is_neither_opened_nor_waited_for() {
    let repo = Fixture::new();
    let made = std::process::Command::new("mkfifo")
        .arg(repo.at("pipe"))
        .status()
        .unwrap();
    assert!(made.success());
    repo.write("ok.txt", "x\n");
    assert_eq!(headers(&repo.resolve("uncommitted").patch), ["A ok.txt"]);
}

#[test]
fn large_files_keep_their_place_and_counts() {
    let repo = Fixture::new();
    repo.write("big.log", "some log line\n".repeat(200));
    repo.write("notes.txt", "changed\n".repeat(200));
    let options = ResolveOptions {
        limits: ReadLimits {
            max_file_bytes: 1000,
            ..ReadLimits::default()
        },
        ..ResolveOptions::default()
    };
    let patch = repo
        .try_with(Reader::Both, "uncommitted", &options)
        .unwrap()
        .patch;
    assert_eq!(
        headers(&patch),
        ["M notes.txt omitted", "A big.log omitted"]
    );
    assert_eq!(patch.files[0].counts(), (200, 10));
    assert!(matches!(
        patch.files[1].body,
        Body::Omitted { size: 2800, .. }
    ));
}

#[test]
fn thousands_of_untracked_files_are_read_one_after_the_other() {
    let repo = Fixture::new();
    for number in 0..2000 {
        repo.write(format!("u/f{number}.txt"), format!("{number}\n"));
    }
    let resolved = repo.resolve("uncommitted");
    assert_eq!(resolved.target.changed_files.len(), 2000);
    assert!(
        resolved
            .patch
            .files
            .iter()
            .all(|file| file.counts() == (1, 0))
    );
}

#[test]
fn sparse_and_assumed_files_are_not_deleted_or_changed() {
    let repo = Fixture::new();
    repo.git(&["update-index", "--assume-unchanged", "notes.txt"]);
    repo.write("notes.txt", "x\n");
    assert!(repo.uncommitted().is_empty());
    repo.git(&["update-index", "--no-assume-unchanged", "notes.txt"]);
    repo.git(&["checkout", "-q", "."]);
    repo.git(&["sparse-checkout", "set", "--no-cone", "src"]);
    repo.write("src/math.js", "add\n");
    assert!(!repo.at("notes.txt").exists());
    assert_eq!(
        headers(&repo.resolve("uncommitted").patch),
        ["M src/math.js"]
    );
}
