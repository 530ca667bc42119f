//! Settings and files that try to change what is seen, or to run something.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use diffwarden_actors::model::{ErrorCode, TrustReason};

use super::fixture::{Fixture, Reader, headers, show};

/// What one edit must look like whatever is configured.
const PLAIN: [&str; 8] = [
    "M src/math.js",
    "@@ -1,5 +1,5 @@",
    " add",
    " sub",
    " mul",
    "-if (b === 0) throw 1;",
    "+// no check",
    " div",
];

fn edited() -> Fixture {
    let repo = Fixture::new();
    repo.write("src/math.js", "add\nsub\nmul\n// no check\ndiv\n");
    repo
}

/// Writes a program that leaves a trace when it runs, and returns its path and the trace's.
fn trap(repo: &Fixture) -> (String, std::path::PathBuf) {
    let (program, trace) = (repo.top().join("trap"), repo.top().join("trace"));
    fs::write(
        &program,
        format!(
            "#!/bin/sh\ntouch '{}'\ncat\necho trapped\n",
            trace.display()
        ),
    )
    .unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (program.to_str().unwrap().to_owned(), trace)
}

#[test]
fn no_setting_changes_the_patch() {
    let (dirty, clean) = (edited(), edited());
    clean.commit("edit");
    let saved = [&dirty, &clean].map(|repo| fs::read(repo.at(".git/config")).unwrap());
    for settings in HOSTILE {
        for (repo, target, plain) in [
            (&dirty, "uncommitted", &saved[0]),
            (&clean, "commit:HEAD", &saved[1]),
        ] {
            for (name, value) in *settings {
                repo.git(&["config", name, value]);
            }
            // Of a pattern for words libgit2 does not say whether it would end it.
            let needs_git = settings.contains(&("diff.wordRegex", "["));
            let readers = [Reader::Both, Reader::Executable, Reader::Library];
            for reader in &readers[..readers.len() - usize::from(needs_git)] {
                let patch = repo.try_by(*reader, target).unwrap().patch;
                assert_eq!(show(&patch), PLAIN, "{settings:?} {reader:?} {target}");
            }
            fs::write(repo.at(".git/config"), plain).unwrap();
        }
    }
}

/// Settings of a repository; with none of them a review may fail or see anything else.
const HOSTILE: &[&[(&str, &str)]] = &[
    &[("color.ui", "always"), ("color.diff", "always")],
    &[("diff.noprefix", "true")],
    &[("diff.mnemonicPrefix", "true")],
    &[("diff.srcPrefix", "x/"), ("diff.dstPrefix", "y/")],
    &[("diff.context", "0"), ("diff.interHunkContext", "50")],
    &[("diff.orderFile", "notes.txt")],
    &[("diff.orderFile", ".git/missing")],
    &[("diff.orderFile", "~nobody-of-that-name/x")],
    &[("diff.relative", "true")],
    &[("diff.renames", "copies")],
    &[("diff.renames", "false"), ("status.renames", "copies")],
    &[("diff.renameLimit", "1"), ("status.renameLimit", "1")],
    &[
        ("diff.wordRegex", "["),
        ("diff.colorMoved", "zebra"),
        ("diff.colorMovedWS", "ignore-all-space"),
        ("diff.wsErrorHighlight", "all"),
    ],
    &[
        ("diff.algorithm", "histogram"),
        ("diff.indentHeuristic", "false"),
    ],
    &[("core.pager", "echo PAGER"), ("pager.diff", "true")],
    &[("pager.diff-index", "echo"), ("pager.ls-files", "true")],
    &[("core.bigFileThreshold", "1")],
    &[("core.quotePath", "false")],
    &[
        ("diff.ignoreSubmodules", "all"),
        ("diff.suppressBlankEmpty", "true"),
    ],
    &[("diff.submodule", "log"), ("status.submoduleSummary", "9")],
    &[("diff.autoRefreshIndex", "true")],
    &[("diff.external", "/bin/false"), ("diff.tool", "x")],
    &[("diff.statGraphWidth", "1"), ("diff.dirstat", "lines")],
    &[("diff.trustExitCode", "true")],
    &[
        ("status.short", "true"),
        ("status.branch", "true"),
        ("status.showStash", "true"),
        ("status.aheadBehind", "false"),
    ],
    &[("status.showUntrackedFiles", "no")],
    &[
        ("status.relativePaths", "false"),
        ("status.displayCommentPrefix", "true"),
    ],
    &[("column.ui", "always"), ("column.status", "always")],
    &[("core.checkStat", "minimal"), ("core.trustctime", "false")],
    &[("core.untrackedCache", "true"), ("core.fsmonitor", "true")],
    &[("core.splitIndex", "false"), ("index.threads", "1")],
    &[("core.preloadIndex", "false"), ("index.version", "4")],
    &[("core.abbrev", "4"), ("core.safecrlf", "true")],
    &[
        ("core.whitespace", "cr-at-eol"),
        ("apply.whitespace", "fix"),
    ],
    &[("core.notesRef", "refs/none"), ("notes.displayRef", "*")],
    &[
        ("core.useReplaceRefs", "true"),
        ("core.warnAmbiguousRefs", "false"),
    ],
    &[("core.commentChar", "+"), ("core.editor", "/bin/false")],
    &[
        ("log.date", "bogus"),
        ("log.follow", "true"),
        ("log.showSignature", "true"),
        ("log.diffMerges", "bogus"),
        ("format.pretty", "bogus"),
    ],
    &[
        ("i18n.logOutputEncoding", "UTF-16"),
        ("i18n.commitEncoding", "UTF-16"),
    ],
    &[("alias.diff-index", "!false"), ("alias.ls-files", "!false")],
    &[
        ("submodule.recurse", "true"),
        ("fetch.recurseSubmodules", "true"),
    ],
    &[
        ("advice.statusHints", "true"),
        ("advice.addEmbeddedRepo", "true"),
    ],
    &[
        ("grep.lineNumber", "true"),
        ("interactive.diffFilter", "/bin/false"),
    ],
    &[
        ("feature.experimental", "true"),
        ("feature.manyFiles", "true"),
    ],
    &[("gc.auto", "1"), ("maintenance.auto", "true")],
    &[("safe.bareRepository", "explicit")],
    // Values that end the commands made for people.
    &[("diff.context", "bogus")],
    &[("diff.interHunkContext", "-1")],
    &[("diff.algorithm", "bogus")],
    &[("diff.noprefix", "bogus"), ("diff.colorMoved", "bogus")],
    &[
        ("diff.submodule", "bogus"),
        ("diff.ignoreSubmodules", "bogus"),
    ],
    &[
        ("status.showUntrackedFiles", "bogus"),
        ("status.short", "bogus"),
    ],
    &[("column.ui", "bogus"), ("column.status", "bogus")],
    &[("color.diff", "bogus"), ("color.status", "bogus")],
];

#[test]
fn no_setting_matters_to_a_branch_or_to_a_dirty_tree() {
    let repo = edited();
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.commit("edit \u{e9}");
    repo.write("notes.txt", "one\n");
    repo.write("dir/new", "n\n");
    let saved = fs::read(repo.at(".git/config")).unwrap();
    for settings in HOSTILE {
        for (name, value) in *settings {
            repo.git(&["config", name, value]);
        }
        for target in ["base:main", "commit:HEAD"] {
            let resolved = repo.try_by(Reader::Executable, target);
            let resolved = resolved.unwrap_or_else(|it| panic!("{settings:?} {target}: {it}"));
            assert_eq!(show(&resolved.patch), PLAIN, "{settings:?}");
            assert_eq!(resolved.doubts, [TrustReason::TreeDiffers], "{settings:?}");
            assert_eq!(resolved.commit_messages, ["edit \u{e9}\n"], "{settings:?}");
            let left_out = &resolved.degraded[0].message;
            let names = target == "base:main";
            assert!(
                !names || left_out.contains(": notes.txt, dir/new;"),
                "{left_out} {settings:?}"
            );
        }
        let custom = repo.try_by(Reader::Executable, "custom:look").unwrap();
        assert!(custom.target.head_sha.is_some(), "{settings:?}");
        fs::write(repo.at(".git/config"), &saved).unwrap();
    }
}

#[test]
fn settings_that_no_git_command_survives_are_named() {
    let repo = edited();
    let saved = fs::read(repo.at(".git/config")).unwrap();
    for (name, value) in [
        ("core.bigFileThreshold", "bogus"),
        ("color.diff.old", "bogus"),
    ] {
        repo.git(&["config", name, value]);
        let failure = repo.try_by(Reader::Both, "uncommitted").unwrap_err();
        assert_eq!(failure.exit_code(), 3, "{failure:?}");
        assert!(
            failure
                .message
                .to_lowercase()
                .contains(&name.to_lowercase()),
            "{failure:?}"
        );
        fs::write(repo.at(".git/config"), &saved).unwrap();
    }
}

#[test]
fn a_diff_driver_of_the_repository_changes_no_heading_and_ends_nothing() {
    let repo = Fixture::new();
    repo.write(".gitattributes", "*.js diff=x\n");
    let lines: String = (1..30).map(|n| format!("{n}\n")).collect();
    repo.write("src/math.js", format!("function add\n  add\n{lines}"));
    repo.commit("attributes");
    repo.write("src/math.js", format!("function add\n  add\n{lines}end\n"));
    repo.git(&["config", "diff.x.algorithm", "patience"]);
    let saved = fs::read(repo.at(".git/config")).unwrap();
    for (key, pattern) in [
        ("xfuncname", "["),
        ("funcname", "^( *add)$"),
        ("wordRegex", "["),
    ] {
        repo.git(&["config", &format!("diff.x.{key}"), pattern]);
        for reader in [Reader::Both, Reader::Executable] {
            let patch = repo.try_by(reader, "uncommitted").unwrap().patch;
            let hunk = &patch.files[0].hunks()[0];
            assert_eq!(hunk.section, b"function add", "{key} {reader:?}");
        }
        let head = repo.resolve("commit:HEAD");
        assert_eq!(headers(&head.patch).len(), 2);
        fs::write(repo.at(".git/config"), &saved).unwrap();
    }
}

#[test]
fn no_variable_changes_the_patch() {
    let mut repo = edited();
    for variables in [
        &[("GIT_DIFF_OPTS", "-u0")][..],
        &[("GIT_EXTERNAL_DIFF", "/bin/echo")],
        &[
            ("GIT_TRACE", "1"),
            ("GIT_TRACE2", "1"),
            ("GIT_TRACE_SETUP", "1"),
        ],
        &[("GIT_LITERAL_PATHSPECS", "1"), ("GIT_ICASE_PATHSPECS", "0")],
        &[
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "diff.noprefix"),
            ("GIT_CONFIG_VALUE_0", "true"),
        ],
        &[("GIT_CONFIG_PARAMETERS", "'diff.noprefix'='true'")],
        &[("LC_ALL", "de_DE.UTF-8"), ("LANGUAGE", "de")],
        &[("GIT_PAGER", "echo")],
    ] {
        repo.clear();
        for (name, value) in variables {
            repo.set(name, value);
        }
        assert_eq!(repo.uncommitted(), PLAIN, "{variables:?}");
    }
}

#[test]
fn nothing_that_the_repository_names_is_run() {
    let repo = edited();
    let (program, trace) = trap(&repo);
    repo.write(
        ".gitattributes",
        "*.js filter=evil diff=evil\n*.txt filter=two.parts\n",
    );
    repo.commit("attributes");
    let included = repo.top().join("included");
    fs::write(
        &included,
        format!("[filter \"two.parts\"]\n\tprocess = {program}\n\trequired\n"),
    )
    .unwrap();
    for (name, value) in [
        ("filter.evil.clean", &*program),
        ("filter.evil.smudge", &program),
        ("filter.evil.required", "true"),
        ("diff.evil.command", &program),
        ("diff.evil.textconv", &program),
        ("diff.evil.binary", "true"),
        ("diff.external", &program),
        ("core.fsmonitor", &program),
        ("core.hooksPath", repo.top().to_str().unwrap()),
        ("core.pager", &program),
        ("core.sshCommand", &program),
        ("gpg.program", &program),
        ("log.showSignature", "true"),
        ("include.path", included.to_str().unwrap()),
    ] {
        repo.git(&["config", name, value]);
    }
    fs::copy(&program, repo.top().join("post-index-change")).unwrap();
    repo.write("src/math.js", "evil\n");
    repo.write("notes.txt", "x\n");
    let resolved = repo.resolve("uncommitted");
    assert_eq!(headers(&resolved.patch), ["M notes.txt", "M src/math.js"]);
    assert!(
        resolved.degraded[0].message.contains("evil, two.parts"),
        "{:?}",
        resolved.degraded
    );
    assert_eq!(
        headers(&repo.resolve("commit:HEAD~1").patch),
        ["A notes.txt", "A src/math.js"]
    );
    repo.resolve("base:HEAD~1");
    assert!(!trace.exists(), "something was run");

    repo.git(&["config", "filter.a=b.clean", &program]);
    let failure = repo.try_by(Reader::Both, "uncommitted").unwrap_err();
    assert_eq!(
        failure.code,
        ErrorCode::ReviewerEnvironmentFailed,
        "{failure:?}"
    );
    assert!(!trace.exists(), "something was run");
}

#[test]
fn the_users_own_filters_run() {
    let mut repo = Fixture::new();
    let settings = repo.top().join("user-config");
    fs::write(&settings, "[filter \"upper\"]\n\tclean = tr a-z A-Z\n").unwrap();
    repo.write(".gitattributes", "*.up filter=upper\n");
    repo.write("x.up", "ONE\n");
    repo.commit("filtered");
    repo.write("x.up", "one\ntwo\n");
    repo.set("GIT_CONFIG_GLOBAL", settings.to_str().unwrap());
    assert_eq!(
        repo.uncommitted(),
        ["M x.up", "@@ -1,1 +1,2 @@", " ONE", "+TWO"]
    );
    let failure = repo.try_by(Reader::Library, "uncommitted").unwrap_err();
    assert_eq!(failure.code, ErrorCode::MissingRequirement, "{failure:?}");
    assert!(failure.message.contains("filter"), "{failure:?}");
}

#[test]
fn a_git_inside_the_repository_is_not_used() {
    let mut repo = edited();
    let (program, trace) = trap(&repo);
    fs::create_dir(repo.at("bin")).unwrap();
    fs::copy(&program, repo.at("bin/git")).unwrap();
    repo.set("PATH", repo.at("bin").to_str().unwrap());
    let shown = repo
        .try_by(Reader::Both, "uncommitted")
        .map(|resolved| headers(&resolved.patch));
    assert_eq!(shown.unwrap(), ["M src/math.js", "A bin/git 100755"]);
    assert!(!trace.exists(), "it was run");
}

#[test]
fn the_repository_is_not_written_to() {
    let repo = edited();
    repo.write("notes.txt", fs::read(repo.at("notes.txt")).unwrap());
    // A time that differs from the index makes git look into the file, and remember that it did.
    let past = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let file = fs::File::options()
        .write(true)
        .open(repo.at("notes.txt"))
        .unwrap();
    file.set_modified(past).unwrap();
    let before = fs::read(repo.at(".git/index")).unwrap();
    for target in ["uncommitted", "base:HEAD", "commit:HEAD"] {
        for reader in [Reader::Both, Reader::Executable, Reader::Library] {
            repo.try_by(reader, target).unwrap();
        }
    }
    assert_eq!(repo.uncommitted(), PLAIN);
    assert!(
        fs::read(repo.at(".git/index")).unwrap() == before,
        "the index was written"
    );
}

#[test]
fn replaced_objects_are_not_shown_for_the_real_ones() {
    let repo = edited();
    let real = repo.commit("edit");
    repo.git(&["checkout", "-q", "-b", "other", "HEAD~1"]);
    repo.write("notes.txt", "harmless\n");
    let harmless = repo.commit("harmless");
    repo.git(&["replace", &real, &harmless]);
    for reader in [Reader::Both, Reader::Executable, Reader::Library] {
        let patch = repo
            .try_by(reader, &format!("commit:{real}"))
            .unwrap()
            .patch;
        assert_eq!(show(&patch), PLAIN, "{reader:?}");
    }
}

#[test]
fn missing_objects_of_a_partial_clone_are_not_fetched() {
    let repo = edited();
    repo.commit("edit");
    repo.git(&["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", repo.root().display());
    repo.git_in(
        &repo.top(),
        &["clone", "-q", "--filter=blob:none", &url, "partial"],
    );
    let partial = repo.top().join("partial");
    let opened =
        diffwarden::git::Repository::open(&partial, &repo.environment(Reader::Both)).unwrap();
    let spec = diffwarden::git::TargetSpec::parse("commit:HEAD").unwrap();
    let failure = opened.resolve(&spec, &Default::default()).unwrap_err();
    assert_eq!(
        failure.code,
        ErrorCode::ReviewerEnvironmentFailed,
        "{failure:?}"
    );
    assert!(failure.hint.unwrap().contains("partial clone"));
}

#[test]
fn an_attribute_does_not_hide_text() {
    let repo = Fixture::new();
    repo.write(
        ".gitattributes",
        "*.js -diff\n*.txt binary\n*.png binary\n*.d diff=x\n",
    );
    repo.git(&["config", "diff.x.binary", "true"]);
    repo.write("logo.png", "\0a");
    repo.write("y.d", "1\n");
    repo.commit("attributes");
    repo.write("src/math.js", "add\nsub\nmul\n// no check\ndiv\n");
    repo.git(&["mv", "notes.txt", "moved.txt"]);
    repo.write(
        "moved.txt",
        "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\n10\n",
    );
    repo.write("logo.png", "\0b");
    repo.write("y.d", "2\n");
    repo.git(&["add", "-A"]);
    let expected = [
        "M logo.png binary",
        "R notes.txt -> moved.txt",
        "M src/math.js",
        "M y.d",
    ];
    for reader in [Reader::Both, Reader::Executable] {
        let patch = repo.try_by(reader, "uncommitted").unwrap().patch;
        assert_eq!(headers(&patch), expected, "{reader:?}");
        assert_eq!(patch.files[2].counts(), (1, 1));
    }
    repo.commit("edit");
    for reader in [Reader::Both, Reader::Executable] {
        let patch = repo.try_by(reader, "commit:HEAD").unwrap().patch;
        assert_eq!(headers(&patch), expected, "{reader:?}");
    }
    repo.git(&["config", "--unset", "diff.x.binary"]);
    let alone = repo.try_by(Reader::Library, "commit:HEAD").unwrap().patch;
    assert_eq!(headers(&alone), expected);
}
