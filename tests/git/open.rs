//! Where a repository is, and what cannot be reviewed.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use diffwarden::env::Environment;
use diffwarden::git::{Repository, ResolveOptions, TargetSpec};
use diffwarden_actors::model::{ErrorCode, Failure};

use super::fixture::{Fixture, Reader, headers};

fn open(repo: &Fixture, folder: &Path, reader: Reader) -> Result<Repository, Failure> {
    Repository::open(folder, &repo.environment(reader))
}

fn uncommitted(repository: &Repository) -> Vec<String> {
    let resolved = repository.resolve(&TargetSpec::Uncommitted, &ResolveOptions::default());
    headers(&resolved.unwrap().patch)
}

#[test]
fn the_root_is_what_git_says_from_everywhere() {
    let repo = Fixture::new();
    repo.git(&["worktree", "add", "-q", "wt", "-b", "side"]);
    repo.write("src/math.js", "add\n");
    repo.write("wt/src/math.js", "add\n");
    symlink("repo", repo.top().join("link")).unwrap();
    let separate = repo.top().join("separate");
    repo.git_in(
        &repo.top(),
        &["init", "-q", "--separate-git-dir=elsewhere", "separate"],
    );
    for folder in [
        repo.root().to_owned(),
        repo.at("src"),
        repo.at("wt"),
        repo.at("wt/src"),
        repo.top().join("link/src"),
        separate,
    ] {
        let root = repo.git_in(&folder, &["rev-parse", "--show-toplevel"]);
        for reader in [Reader::Both, Reader::Library, Reader::Executable] {
            let opened = open(&repo, &folder, reader).unwrap();
            assert_eq!(opened.root(), Path::new(&root), "{reader:?} in {folder:?}");
        }
    }
    let inner = open(&repo, &repo.at("wt/src"), Reader::Both).unwrap();
    assert_eq!(uncommitted(&inner), ["M src/math.js"]);
}

#[test]
fn what_has_no_work_tree_is_refused() {
    let repo = Fixture::new();
    repo.git_in(&repo.top(), &["init", "-q", "--bare", "bare"]);
    let file = repo.at("notes.txt");
    for reader in [Reader::Both, Reader::Library, Reader::Executable] {
        for (folder, words) in [
            (repo.at(".git"), "not in the work tree"),
            (repo.at(".git/refs"), "not in the work tree"),
            (repo.top().join("bare"), "not in the work tree"),
            (repo.top().join("home"), "not a git repository"),
            (repo.top().join("missing"), "missing"),
            (file.clone(), "not a folder"),
        ] {
            let failure = open(&repo, &folder, reader).unwrap_err();
            assert_eq!(failure.code, ErrorCode::InvalidCli, "{reader:?} {folder:?}");
            assert!(failure.message.contains(words), "{reader:?}: {failure:?}");
        }
    }
}

#[test]
fn without_git_only_what_libgit2_reads_is_read() {
    for arguments in [["--ref-format=reftable"], ["--object-format=sha256"]] {
        let repo = Fixture::initialised(&arguments);
        repo.first_commit();
        repo.write("src/math.js", "add\n");
        repo.write("new", "n\n");
        assert_eq!(
            headers(&repo.resolve("uncommitted").patch),
            ["M src/math.js", "A new"]
        );
        let root = repo.resolve("commit:HEAD");
        assert_eq!(headers(&root.patch), ["A notes.txt", "A src/math.js"]);
        assert_eq!(
            root.source.line(&"src/math.js".into(), 1),
            Some(b"add".to_vec())
        );
        let failure = repo.open(Reader::Library).unwrap_err();
        assert_eq!(failure.code, ErrorCode::MissingRequirement, "{failure:?}");
    }
}

#[test]
fn an_index_that_libgit2_cannot_read_is_read_by_git() {
    let repo = Fixture::new();
    repo.write("src/math.js", "add\n");
    let commit = repo.commit("second");
    repo.git(&["update-index", "--split-index"]);
    repo.write("notes.txt", "x\n");
    assert_eq!(headers(&repo.resolve("uncommitted").patch), ["M notes.txt"]);
    let target = format!("commit:{commit}");
    assert_eq!(headers(&repo.resolve(&target).patch), ["M src/math.js"]);
    for target in ["uncommitted", &target] {
        let failure = repo.try_by(Reader::Library, target).unwrap_err();
        assert_eq!(failure.exit_code(), 3, "{failure:?}");
    }
}

#[test]
fn hooks_say_where_the_parts_lie() {
    let repo = Fixture::new();
    repo.write("src/math.js", "add\n");
    repo.write("notes.txt", "x\n");
    // What `git commit -a` gives its hooks: another index.
    let index = repo.top().join("hook-index");
    fs::copy(repo.at(".git/index"), &index).unwrap();
    let with = |pairs: &[(&str, &str)], folder: &Path| {
        let base = repo.environment(Reader::Both);
        let all = base
            .variables()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let pairs = pairs
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        let environment: Environment = all.chain(pairs).collect();
        Repository::open(folder, &environment).unwrap()
    };
    let both = ["M notes.txt", "M src/math.js"];
    let index = index.to_str().unwrap();
    assert_eq!(
        uncommitted(&with(&[("GIT_INDEX_FILE", index)], repo.root())),
        both
    );
    assert_eq!(
        uncommitted(&with(&[("GIT_INDEX_FILE", ".git/index")], repo.root())),
        both
    );
    assert_eq!(
        uncommitted(&with(&[("GIT_DIR", ".git")], repo.root())),
        both
    );
    let inside = with(
        &[("GIT_DIR", "../.git"), ("GIT_WORK_TREE", "..")],
        &repo.at("src"),
    );
    assert_eq!(inside.root(), repo.root());
    assert_eq!(uncommitted(&inside), both);
}

#[test]
fn a_work_tree_elsewhere_is_found_by_its_configuration() {
    let repo = Fixture::new();
    let elsewhere = repo.top().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let place = elsewhere.to_str().unwrap();
    repo.git(&["config", "core.worktree", place]);
    for reader in [Reader::Both, Reader::Executable] {
        let failure = open(&repo, repo.root(), reader);
        let root = failure.as_ref().map(Repository::root);
        // Git says that this folder is in no work tree; it must never be taken for one.
        assert!(
            root.is_err() || root.is_ok_and(|root| root == elsewhere),
            "{failure:?}"
        );
    }
}

#[test]
fn another_users_repository_is_refused_in_gits_words() {
    let repo = Fixture::new();
    let chown = std::process::Command::new("chown")
        .args(["-R", "12345"])
        .arg(repo.root())
        .output();
    if !chown.is_ok_and(|chown| chown.status.success()) {
        // Only root can give files away, and only then there is something to refuse.
        return;
    }
    let failure = repo.open(Reader::Both).unwrap_err();
    assert_eq!(failure.code, ErrorCode::InvalidCli);
    assert!(failure.message.contains("dubious ownership"), "{failure:?}");
    assert!(failure.message.contains("safe.directory"), "{failure:?}");
    let alone = repo.open(Reader::Library).unwrap_err();
    assert_eq!(alone.code, ErrorCode::InvalidCli, "{alone:?}");
}

#[test]
fn a_broken_repository_is_not_the_users_mistake() {
    let repo = Fixture::new();
    let blob = repo.git(&["rev-parse", "HEAD:notes.txt"]);
    fs::remove_file(repo.at(format!(".git/objects/{}/{}", &blob[..2], &blob[2..]))).unwrap();
    repo.write("notes.txt", "x\n");
    let failure = repo.try_by(Reader::Both, "uncommitted").unwrap_err();
    assert_eq!(
        failure.code,
        ErrorCode::ReviewerEnvironmentFailed,
        "{failure:?}"
    );
    assert!(failure.message.contains(&blob), "{failure:?}");
}
