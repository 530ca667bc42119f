//! Files and folders of the change that cannot be read: named, and in nobody else's way.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use diffwarden::git::{ResolveOptions, Resolved};
use diffwarden_actors::model::{Body, TrustReason};

use super::fixture::{Fixture, Reader, headers};

/// The reasons of what was not read, by path.
fn reasons(resolved: &Resolved) -> Vec<(String, String)> {
    let files = resolved.patch.files.iter();
    files
        .filter_map(|file| match &file.body {
            Body::Omitted {
                reason, size: 0, ..
            } => Some((file.path().to_string(), reason.clone())),
            _ => None,
        })
        .collect()
}

fn is_warned_of(resolved: &Resolved, path: &str) -> bool {
    let mut told = resolved.degraded.iter().map(|it| &it.message);
    told.any(|it| it.contains("not reviewed: ") && it.contains(path))
}

fn close(path: &Path) {
    fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
}

/// Whether nothing is closed to us, as for root.
fn reads_everything(path: &Path) -> bool {
    fs::File::open(path).is_ok()
}

#[test]
fn a_pipe_or_a_socket_in_the_place_of_a_file_does_not_end_the_review() {
    let repo = Fixture::new();
    repo.write("socket", "s\n");
    repo.write("we: rd\n'\u{e9}", "w\n");
    let head = repo.commit("more");
    for name in ["notes.txt", "socket", "we: rd\n'\u{e9}"] {
        fs::remove_file(repo.at(name)).unwrap();
    }
    for name in ["notes.txt", "we: rd\n'\u{e9}"] {
        let permissions = rustix::fs::Mode::from_raw_mode(0o600);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, repo.at(name), kind, permissions, 0).unwrap();
    }
    let socket = UnixListener::bind(repo.at("socket")).unwrap();
    repo.write("src/math.js", "add\n");
    repo.write("new", "n\n");

    let with = ResolveOptions {
        include_uncommitted: true,
        ..ResolveOptions::default()
    };
    for reader in [Reader::Both, Reader::Executable] {
        for resolved in [
            repo.try_by(reader, "uncommitted").unwrap(),
            repo.try_with(reader, "base:HEAD", &with).unwrap(),
        ] {
            assert_eq!(
                headers(&resolved.patch),
                [
                    "M src/math.js",
                    "M notes.txt omitted",
                    "M socket omitted",
                    "M we: rd\\n\\'\\xc3\\xa9 omitted",
                    "A new"
                ]
            );
            assert!(reasons(&resolved)[1].1.contains("a socket"));
            assert!(is_warned_of(&resolved, "notes.txt"));
            assert_eq!(resolved.patch.files[0].counts(), (0, 4));
        }
        for target in ["base:HEAD", &format!("commit:{head}")] {
            let resolved = repo.try_by(reader, target).unwrap();
            assert_eq!(resolved.doubts, [TrustReason::TreeDiffers], "{target}");
            assert_eq!(reasons(&resolved), [], "{target}");
        }
    }
    drop(socket);
}

#[test]
fn a_repository_inside_is_named_also_where_a_file_was() {
    let repo = Fixture::new();
    fs::remove_file(repo.at("notes.txt")).unwrap();
    for folder in ["notes.txt", "vendor/lib"] {
        repo.write(format!("{folder}/secret.py"), "token\n");
        repo.git_in(&repo.at(folder), &["init", "-q"]);
    }
    for reader in [Reader::Both, Reader::Executable] {
        let resolved = repo.try_by(reader, "uncommitted").unwrap();
        assert_eq!(
            headers(&resolved.patch),
            [
                "D notes.txt",
                "A notes.txt/ omitted",
                "A vendor/lib/ omitted"
            ]
        );
        assert!(is_warned_of(&resolved, "vendor/lib/"));
        assert!(is_warned_of(&resolved, "notes.txt/"));
    }
}

#[test]
fn what_may_not_be_read_is_named() {
    let repo = Fixture::new();
    repo.write("closed/tracked", "t\n");
    repo.commit("more");
    repo.write("src/math.js", "add\n");
    repo.write("untracked", "u\n");
    repo.write("hidden/untracked", "u\n");
    let closed = ["notes.txt", "untracked", "hidden", "closed"].map(|name| repo.at(name));
    closed.iter().for_each(|path| close(path));
    if reads_everything(&closed[0]) {
        return;
    }
    for reader in [Reader::Both, Reader::Executable] {
        let resolved = repo.try_by(reader, "uncommitted").unwrap();
        let named: Vec<_> = reasons(&resolved)
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        assert_eq!(
            named,
            [
                "closed/tracked",
                "notes.txt",
                "closed/",
                "hidden/",
                "untracked"
            ],
            "{reader:?}"
        );
        assert!(headers(&resolved.patch).contains(&"M src/math.js".to_owned()));
        assert!(is_warned_of(&resolved, "hidden/"));
        let doubts = repo.try_by(reader, "commit:HEAD").unwrap().doubts;
        assert_eq!(doubts, [TrustReason::TreeDiffers]);
    }
    for path in closed {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
}
