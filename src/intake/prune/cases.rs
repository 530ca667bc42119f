//! What is left out and what is not, case by case.

use std::collections::HashMap;

use diffwarden_actors::model::{
    Body, Change, FilePatch, Hunk, Line, LineKind, Mode, Patch, RepoPath,
};
use diffwarden_actors::source::SourceReader;
use proptest::prelude::*;

use super::*;

/// A small repository: files before and after.
#[derive(Default)]
struct Repo {
    before: HashMap<RepoPath, String>,
    after: HashMap<RepoPath, String>,
}

impl SourceReader for Repo {
    fn line(&self, path: &RepoPath, line: u32) -> Option<Vec<u8>> {
        let text = self.after.get(path)?;
        let index = usize::try_from(line).ok()?.checked_sub(1)?;
        text.lines().nth(index).map(|line| line.as_bytes().to_vec())
    }
}

impl Repo {
    fn before(mut self, path: &str, text: &str) -> Self {
        self.before.insert(path.into(), text.to_owned());
        self
    }

    fn after(mut self, path: &str, text: &str) -> Self {
        self.after.insert(path.into(), text.to_owned());
        self
    }

    /// Returns the change between the two sides, a hunk for each file.
    fn patch(&self) -> Patch {
        let mut paths: Vec<&RepoPath> = self.before.keys().chain(self.after.keys()).collect();
        paths.sort_unstable();
        paths.dedup();
        let changed = paths
            .into_iter()
            .filter(|path| self.before.get(*path) != self.after.get(*path));
        Patch {
            files: changed.map(|path| self.file(path)).collect(),
        }
    }

    fn file(&self, path: &RepoPath) -> FilePatch {
        let (before, after) = (self.before.get(path), self.after.get(path));
        let mut content = Vec::new();
        let mut lines = Vec::new();
        for (kind, text) in [(LineKind::Removed, before), (LineKind::Added, after)] {
            for line in text.into_iter().flat_map(|text| text.lines()) {
                lines.push(Line {
                    kind,
                    no_newline: false,
                    start: u32::try_from(content.len()).unwrap(),
                    len: u32::try_from(line.len()).unwrap(),
                });
                content.extend_from_slice(line.as_bytes());
            }
        }
        let hunk = Hunk {
            old_start: 1,
            old_lines: 0,
            new_start: 1,
            new_lines: 0,
            section: Vec::new(),
            lines,
        };
        FilePatch {
            old_path: before.map(|_| path.clone()),
            new_path: after.map(|_| path.clone()),
            change: match (before, after) {
                (None, _) => Change::Added,
                (_, None) => Change::Deleted,
                _ => Change::Modified,
            },
            old_mode: None,
            new_mode: None,
            old_id: None,
            new_id: None,
            similarity: None,
            body: Body::Hunks(vec![hunk]),
            content,
        }
    }

    fn prune(&self) -> Pruning {
        prune(&PruneInput {
            patch: &self.patch(),
            base: &|path| self.before.get(path).map(|text| text.clone().into_bytes()),
            source: self,
        })
    }

    /// Returns the reason of the only changed file, or of the last by name.
    fn reason(&self) -> Option<String> {
        let pruning = self.prune();
        let last = pruning.reasons.last().expect("a file changed");
        last.as_ref().map(Pruned::describe)
    }
}

fn new_file(path: &str, text: &str) -> Option<String> {
    Repo::default().after(path, text).reason()
}

#[test]
fn names_of_files_that_tools_write_are_left_out() {
    for (path, reason) in [
        ("Cargo.lock", "lockfile"),
        ("web/package-lock.json", "lockfile"),
        ("yarn.lock", "lockfile"),
        (
            "a/b/c/d/e/node_modules/x/index.js",
            "installed dependencies",
        ),
        (
            "vendor/github.com/pkg/errors/errors.go",
            "installed dependencies",
        ),
        ("pkg/__pycache__/a.cpython-312.pyc", "build output"),
        ("drizzle/meta/0042_snapshot.json", "generated snapshot"),
        ("drizzle/meta/_journal.json", "generated snapshot"),
        (".DS_Store", "editor file"),
    ] {
        let expected = format!("{reason} (by its name)");
        assert_eq!(new_file(path, "x\n").as_deref(), Some(&*expected), "{path}");
    }
}

#[test]
fn names_alone_leave_no_code_out() {
    for path in [
        "build/release.py",
        "src/out/mod.rs",
        "vendor/acme/billing.php",
        "dist/index.js",
        "generated/api.ts",
        "app.min.js",
        "app.js.map",
        "service.pb.go",
        "src/lockfile.rs",
        "Cargo.lock.rs",
        "my_node_modules/a.js",
        "meta/final_snapshot.json",
        "src/package-lock.json.ts",
    ] {
        assert_eq!(new_file(path, "let answer = 42;\n"), None, "{path}");
    }
}

#[test]
fn minified_files_are_left_out_when_they_look_it() {
    let dense = format!("!function(e){{{}}}(1);\n", "var a=1;".repeat(100));
    for path in [
        "js/app.min.js",
        "dist/main.3f2a9c1b.js",
        "public/app.bundle.js",
    ] {
        assert!(
            new_file(path, &dense)
                .unwrap()
                .ends_with("(by its name and contents)"),
            "{path}"
        );
    }
    assert_eq!(new_file("src/app.js", &dense), None);
    let map = "{\"version\":3,\"sources\":[\"a.ts\"],\"mappings\":\"AAAA\"}\n";
    assert!(
        new_file("dist/a.js.map", map)
            .unwrap()
            .starts_with("source map")
    );
}

const MARK: &str = "// Code generated by protoc-gen-go. DO NOT EDIT.\npackage a\n";

#[test]
fn a_mark_is_believed_where_it_stood_before_or_where_the_name_agrees() {
    let marked = |line: &str| format!("{MARK}{line}\n");
    let by_header = Some("generated code (by the mark at its top)".to_owned());
    // Before and after.
    let repo = Repo::default()
        .before("api.go", &marked("var a = 1"))
        .after("api.go", &marked("var a = 2"));
    assert_eq!(repo.reason(), by_header);
    // New, and the name says the same.
    assert_eq!(new_file("api.pb.go", MARK), by_header);
    // Deleted.
    assert_eq!(Repo::default().before("api.go", MARK).reason(), by_header);
    // The change puts the mark there.
    let repo = Repo::default()
        .before("api.go", "package a\n")
        .after("api.go", MARK);
    assert_eq!(repo.reason(), None);
    assert_eq!(new_file("auth.go", MARK), None);
    // The change takes it away.
    let repo = Repo::default()
        .before("api.go", MARK)
        .after("api.go", "package a\nvar b = 1\n");
    assert_eq!(repo.reason(), None);
}

#[test]
fn marks_of_many_generators_are_known_and_prose_is_none() {
    for mark in [
        "# @generated by a tool",
        " * @generated SignedSource<<0>>",
        "// <auto-generated>",
        "# Generated by the protocol buffer compiler.  DO NOT EDIT!",
        "/* A Bison parser, made by GNU Bison 3.8.2.  */",
        "/* This file is automatically generated. */",
        "// This file was autogenerated by sqlx",
        "/* eslint-disable */ // @generated",
        "<!-- Code generated by x. DO NOT EDIT. -->",
    ] {
        let text = format!("{mark}\nx\n");
        let repo = Repo::default()
            .before("a.x", &text)
            .after("a.x", &format!("{text}y\n"));
        assert!(repo.reason().is_some(), "{mark}");
    }
    for prose in [
        "let s = \"// Code generated by x. DO NOT EDIT.\";",
        "// Code generated by hand, so do edit it. DO NOT EDIT. Really.",
        "// Users are generated by the importer.",
        "# Tokens generated here are short-lived",
        "@generated",
    ] {
        let text = format!("{prose}\nx\n");
        let repo = Repo::default()
            .before("a.x", &text)
            .after("a.x", &format!("{text}y\n"));
        assert_eq!(repo.reason(), None, "{prose}");
    }
}

#[test]
fn attributes_from_before_the_change_decide() {
    let rules = "gen/** linguist-generated\n*.lock -linguist-generated\nthird/* linguist-vendored=true\nkeep.min.js linguist-generated=false\n";
    let repo = || {
        Repo::default()
            .before(".gitattributes", rules)
            .after(".gitattributes", rules)
    };
    assert_eq!(
        repo().after("gen/deep/code.rs", "x\n").reason().as_deref(),
        Some("generated code (by .gitattributes before the change)")
    );
    assert!(
        repo()
            .after("third/a.c", "x\n")
            .reason()
            .unwrap()
            .starts_with("vendored code")
    );
    assert_eq!(repo().after("yarn.lock", "x\n").reason(), None);
    assert_eq!(repo().after("src/gen.rs", "x\n").reason(), None);
    // A deeper file wins over one above it.
    let repo = repo()
        .before("gen/.gitattributes", "own.rs -linguist-generated\n")
        .after("gen/.gitattributes", "own.rs -linguist-generated\n");
    assert_eq!(repo.after("gen/own.rs", "x\n").reason(), None);
}

#[test]
fn attributes_of_the_change_itself_prune_nothing_and_are_told() {
    let repo = Repo::default()
        .after(".gitattributes", "*.rs linguist-generated\n")
        .after("src/auth.rs", "x\n");
    assert_eq!(repo.reason(), None);
    let notes = repo.prune().notes;
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains(".gitattributes"), "{notes:?}");
    // A macro below the root defines nothing, as in git.
    let macros = "[attr]linguist-generated x\n* linguist-generated\n";
    let repo = Repo::default()
        .before("a/.gitattributes", macros)
        .after("a/.gitattributes", macros)
        .after("b/c.rs", "x\n");
    assert_eq!(repo.reason(), None);
}

#[test]
fn links_and_submodules_are_never_left_out() {
    let mut patch = Repo::default()
        .after("node_modules/evil", "/etc/passwd\n")
        .patch();
    for mode in [0o120_000, 0o160_000] {
        patch.files[0].new_mode = Some(Mode(mode));
        let pruning = prune(&PruneInput {
            patch: &patch,
            base: &|_| None,
            source: &Repo::default(),
        });
        assert_eq!(pruning.reasons, [None]);
        assert!(!pruning.is_total());
    }
}

#[test]
fn a_change_without_files_is_not_wholly_left_out() {
    assert!(!Repo::default().prune().is_total());
    assert!(Repo::default().after("yarn.lock", "x\n").prune().is_total());
}

#[test]
fn a_path_of_no_tree_is_not_judged_by_attributes() {
    let repo = Repo::default()
        .before(".gitattributes", "* linguist-generated\n")
        .after(".gitattributes", "* linguist-generated\n")
        .after("/etc/a.c", "x\n")
        .after("b.c", "x\n");
    let pruned: Vec<bool> = repo.prune().reasons.iter().map(Option::is_some).collect();
    let paths = repo.patch().files;
    let names: Vec<_> = paths.iter().map(|it| it.path().to_string()).collect();
    assert_eq!(names[pruned.iter().position(|it| *it).unwrap()], "b.c");
    assert_eq!(pruned.iter().filter(|it| **it).count(), 1);
}

proptest! {
    #[test]
    fn any_attributes_and_names_are_judged(
        rules in "[ -~\n\t\\pC]{0,80}",
        path in "[a-z./*\\\\ \u{e9}-]{1,30}",
    ) {
        let repo = Repo::default().before(".gitattributes", &rules).after(&path, "x\n");
        let patch = repo.patch();
        let pruning = repo.prune();
        prop_assert_eq!(pruning.reasons.len(), patch.files.len());
    }
}
