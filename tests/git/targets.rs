//! Which change a target stands for.

use diffwarden::git::ResolveOptions;
use diffwarden_actors::model::{TargetKind, TrustReason};

use super::fixture::{Fixture, Reader, headers, show};

/// A feature branch with one commit, and a main branch that has moved on.
fn diverged() -> Fixture {
    let repo = Fixture::new();
    repo.git(&["checkout", "-q", "-b", "feature"]);
    repo.write("src/math.js", "add\nsub\nmul\ndiv\n");
    repo.commit("drop the zero check");
    repo.git(&["checkout", "-q", "main"]);
    repo.write("other.txt", "unrelated\n");
    repo.commit("main moves on");
    repo.git(&["checkout", "-q", "feature"]);
    repo
}

const READERS: [Reader; 3] = [Reader::Both, Reader::Library, Reader::Executable];

#[test]
fn uncommitted_has_the_head_and_the_plain_command() {
    let repo = Fixture::new();
    repo.write("src/math.js", "add\n");
    for reader in READERS {
        let resolved = repo.try_by(reader, "uncommitted").unwrap();
        let target = &resolved.target;
        assert_eq!(target.kind, TargetKind::Uncommitted);
        assert_eq!(target.repo_root, repo.root().to_str().unwrap());
        assert_eq!(target.head_sha, Some(repo.git(&["rev-parse", "HEAD"])));
        assert_eq!(
            (&target.base_ref, &target.base_sha, &target.commit_sha),
            (&None, &None, &None)
        );
        assert!(
            target
                .diff_command
                .starts_with("git diff --staged && git diff && git ls-files")
        );
        assert_eq!(target.changed_files, ["src/math.js"]);
        assert_eq!(resolved.branch.as_deref(), Some("main"));
        assert!(resolved.commit_messages.is_empty());
        assert!(resolved.doubts.is_empty() && resolved.degraded.is_empty());
        assert_eq!(
            resolved.source.line(&"src/math.js".into(), 1),
            Some(b"add".to_vec())
        );
        assert_eq!(resolved.source.line(&"src/math.js".into(), 2), None);
    }
}

#[test]
fn base_is_head_against_the_merge_base() {
    let repo = diverged();
    let merge_base = repo.git(&["merge-base", "HEAD", "main"]);
    for reader in READERS {
        let resolved = repo.try_by(reader, "base:main").unwrap();
        let target = &resolved.target;
        assert_eq!(target.base_ref.as_deref(), Some("main"));
        assert_eq!(target.base_sha.as_deref(), Some(&*merge_base));
        assert_eq!(target.head_sha, Some(repo.git(&["rev-parse", "HEAD"])));
        assert_eq!(target.diff_command, format!("git diff {merge_base} HEAD"));
        assert_eq!(
            show(&resolved.patch),
            [
                "M src/math.js",
                "@@ -1,5 +1,4 @@",
                " add",
                " sub",
                " mul",
                "-if (b === 0) throw 1;",
                " div"
            ]
        );
        assert_eq!(resolved.commit_messages, ["drop the zero check\n"]);
        assert!(resolved.doubts.is_empty() && resolved.degraded.is_empty());
        assert_eq!(resolved.branch.as_deref(), Some("feature"));
    }
    assert!(repo.resolve("base:HEAD").patch.is_empty());
}

#[test]
fn a_dirty_tree_is_left_out_and_named_or_taken_in() {
    let repo = diverged();
    repo.write("notes.txt", "dirty\n");
    repo.write("new.txt", "new\n");
    repo.write(".diffwarden/reports/r.json", "{}");
    for reader in READERS {
        let resolved = repo.try_by(reader, "base:main").unwrap();
        assert_eq!(resolved.target.changed_files, ["src/math.js"]);
        assert_eq!(resolved.doubts, [TrustReason::TreeDiffers]);
        let warning = &resolved.degraded[0].message;
        assert!(warning.starts_with("2 changed files"), "{warning}");
        assert!(
            warning.contains("notes.txt") && warning.contains("new.txt"),
            "{warning}"
        );
        // The source is what was reviewed, not what lies in the work tree.
        assert_eq!(
            resolved.source.line(&"notes.txt".into(), 1),
            Some(b"one".to_vec())
        );
        assert_eq!(resolved.source.line(&"new.txt".into(), 1), None);

        let options = ResolveOptions {
            include_uncommitted: true,
            ..ResolveOptions::default()
        };
        let all = repo.try_with(reader, "base:main", &options).unwrap();
        assert_eq!(
            all.target.changed_files,
            ["new.txt", "notes.txt", "src/math.js"]
        );
        assert!(all.doubts.is_empty());
        assert_eq!(
            all.source.line(&"notes.txt".into(), 1),
            Some(b"dirty".to_vec())
        );
        let failure = repo.try_with(reader, "commit:HEAD", &options).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
    }
}

#[test]
fn a_base_that_does_not_exist_is_refused_with_advice() {
    let repo = diverged();
    let failure = repo.refused("base:nope");
    assert_eq!(failure.exit_code(), 2);
    assert!(failure.message.contains("`nope`"), "{failure:?}");
    repo.git(&["update-ref", "refs/remotes/origin/trunk", "main"]);
    let failure = repo.refused("base:trunk");
    assert!(failure.hint.unwrap().contains("base:origin/trunk"));
    assert_eq!(
        repo.resolve("base:origin/trunk").target.changed_files,
        ["src/math.js"]
    );

    repo.git(&["checkout", "-q", "--orphan", "unrelated"]);
    repo.commit("unrelated");
    let failure = repo.refused("base:main");
    assert_eq!(failure.exit_code(), 2);
    assert!(failure.message.contains("no merge base"), "{failure:?}");

    let empty = Fixture::empty();
    assert_eq!(empty.refused("base:main").exit_code(), 2);
}

#[test]
fn ambiguous_names_are_refused_and_full_ones_taken() {
    let repo = diverged();
    repo.git(&["tag", "main", "feature"]);
    for target in ["base:main", "commit:main"] {
        let failure = repo.refused(target);
        assert_eq!(failure.exit_code(), 2);
        assert!(failure.message.contains("ambiguous"), "{failure:?}");
    }
    assert_eq!(
        repo.resolve("base:refs/heads/main").target.changed_files,
        ["src/math.js"]
    );
    // Two names of one commit leave nothing to choose.
    repo.git(&["tag", "-f", "main", "refs/heads/main"]);
    assert_eq!(
        repo.resolve("base:main").target.changed_files,
        ["src/math.js"]
    );
}

#[test]
fn a_stale_counterpart_is_named() {
    let repo = diverged();
    repo.git(&["update-ref", "refs/remotes/origin/main", "feature~1"]);
    assert!(
        repo.resolve("base:main").degraded.is_empty(),
        "the merge-base is the same"
    );
    // Somebody else's commit came in from origin/main, which the local main does not have.
    repo.write("theirs.txt", "theirs\n");
    let theirs = repo.commit("theirs");
    repo.git(&["update-ref", "refs/remotes/origin/main", &theirs]);
    repo.write("mine.txt", "mine\n");
    repo.commit("mine");
    for (target, newer) in [
        ("base:main", "that of `origin/main` is newer"),
        ("base:origin/main", "that of `origin/main` is newer"),
    ] {
        for reader in READERS {
            let warnings = repo.try_by(reader, target).unwrap().degraded;
            assert_eq!(warnings.len(), 1, "{target}: {warnings:?}");
            assert!(warnings[0].message.contains(newer), "{warnings:?}");
        }
    }
}

#[test]
fn a_commit_is_compared_with_its_first_parent() {
    let repo = diverged();
    let commit = repo.git(&["rev-parse", "HEAD"]);
    let parent = repo.git(&["rev-parse", "HEAD~1"]);
    for reader in READERS {
        let resolved = repo.try_by(reader, "commit:HEAD~0").unwrap();
        let target = &resolved.target;
        assert_eq!(target.commit_sha.as_deref(), Some(&*commit));
        assert_eq!((&target.head_sha, &target.base_sha), (&None, &None));
        assert_eq!(target.diff_command, format!("git diff {parent} {commit}"));
        assert_eq!(target.changed_files, ["src/math.js"]);
        assert_eq!(resolved.commit_messages, ["drop the zero check\n"]);
        assert!(resolved.doubts.is_empty());
    }
    let short = repo.resolve(&format!("commit:{}", &commit[..10]));
    assert_eq!(short.target.commit_sha, Some(commit));

    repo.git(&["merge", "-q", "--no-ff", "-m", "merge", "main"]);
    assert_eq!(
        repo.resolve("commit:HEAD").target.changed_files,
        ["other.txt"]
    );

    let first = repo.git(&["rev-list", "--max-parents=0", "HEAD"]);
    for reader in READERS {
        let root = repo.try_by(reader, &format!("commit:{first}")).unwrap();
        assert_eq!(headers(&root.patch), ["A notes.txt", "A src/math.js"]);
        assert_eq!(
            root.target.diff_command,
            format!("git diff-tree --root --patch --no-commit-id {first}")
        );
        assert_eq!(root.doubts, [TrustReason::TreeDiffers]);
        assert_eq!(
            root.source.line(&"src/math.js".into(), 4),
            Some(b"if (b === 0) throw 1;".to_vec())
        );
    }
    repo.write("notes.txt", "dirty\n");
    assert_eq!(
        repo.resolve("commit:HEAD").doubts,
        [TrustReason::TreeDiffers]
    );
}

#[test]
fn a_tag_is_the_commit_it_names() {
    let repo = diverged();
    repo.git(&["tag", "-a", "-m", "t", "v1"]);
    for reader in READERS {
        let target = repo.try_by(reader, "commit:v1").unwrap().target;
        assert_eq!(target.commit_sha, Some(repo.git(&["rev-parse", "HEAD"])));
    }
}

#[test]
fn what_is_not_one_commit_is_refused() {
    let repo = diverged();
    for target in [
        "commit:main..feature",
        "commit:main...feature",
        "commit:^main",
        "commit:HEAD:notes.txt",
        "commit:HEAD^{tree}",
        "commit:HEAD^!",
        "commit:--all",
        "commit:-n1",
        "commit:deadbeef",
        "commit:no such",
        "commit:x\ny",
        "base:--all",
    ] {
        let failure = repo.refused(target);
        assert_eq!(failure.exit_code(), 2, "{target}: {failure:?}");
    }
}

#[test]
fn a_shallow_clone_says_that_it_is_shallow() {
    let repo = diverged();
    let url = format!("file://{}", repo.root().display());
    repo.git_in(
        &repo.top(),
        &[
            "clone",
            "-q",
            "--depth",
            "1",
            "--no-single-branch",
            &url,
            "sh",
        ],
    );
    let shallow = repo.top().join("sh");
    repo.git_in(&shallow, &["branch", "-q", "main", "origin/main"]);
    for reader in READERS {
        let opened =
            diffwarden::git::Repository::open(&shallow, &repo.environment(reader)).unwrap();
        for target in ["base:main", "commit:HEAD"] {
            let spec = diffwarden::git::TargetSpec::parse(target).unwrap();
            let failure = opened
                .resolve(&spec, &ResolveOptions::default())
                .unwrap_err();
            assert_eq!(failure.exit_code(), 2, "{target}");
            assert!(failure.message.contains("shallow"), "{failure:?}");
            assert!(failure.hint.unwrap().contains("fetch --unshallow"));
        }
    }
}

#[test]
fn custom_has_instructions_and_no_patch() {
    let repo = Fixture::new();
    repo.write("notes.txt", "dirty\n");
    let resolved = repo.resolve("custom: Look at errors ");
    assert_eq!(
        resolved.target.instructions.as_deref(),
        Some("Look at errors")
    );
    assert_eq!(resolved.target.diff_command, "custom instructions");
    assert!(resolved.patch.is_empty() && resolved.target.changed_files.is_empty());
    assert_eq!(
        resolved.source.line(&"notes.txt".into(), 1),
        Some(b"dirty".to_vec())
    );
}

#[test]
fn a_detached_head_has_no_branch() {
    let repo = diverged();
    repo.git(&["checkout", "-q", "--detach"]);
    for reader in READERS {
        assert_eq!(repo.try_by(reader, "base:main").unwrap().branch, None);
    }
}

#[test]
fn include_uncommitted_goes_with_a_branch_alone() {
    let repo = Fixture::new();
    let options = ResolveOptions {
        include_uncommitted: true,
        ..ResolveOptions::default()
    };
    for target in ["commit:HEAD", "custom:look at everything"] {
        let failure = repo.try_with(Reader::Both, target, &options).unwrap_err();
        assert_eq!(failure.exit_code(), 2, "{target}");
        assert!(
            failure.message.contains("--include-uncommitted"),
            "{failure}"
        );
    }
}
