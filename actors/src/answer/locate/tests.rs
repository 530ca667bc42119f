use super::*;
use crate::answer::samples::finding;
use std::collections::BTreeMap;

/// A disk on which only what is listed exists; a key resolves to its value.
#[derive(Default)]
struct FakeDisk {
    paths: BTreeMap<PathBuf, PathBuf>,
    files: Vec<PathBuf>,
}

impl FakeDisk {
    fn with(links: &[(&str, &str)], files: &[&str]) -> Self {
        let same = files.iter().map(|file| (file.into(), file.into()));
        let links = links.iter().map(|(from, to)| (from.into(), to.into()));
        Self {
            paths: links.chain(same).collect(),
            files: files.iter().map(PathBuf::from).collect(),
        }
    }
}

impl Disk for FakeDisk {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        self.paths.get(path).cloned()
    }

    fn is_file(&self, path: &Path) -> bool {
        self.files.iter().any(|file| file == path)
    }
}

fn lines(runs: &[(u32, u32)]) -> Vec<LineRange> {
    let run = |&(start, end): &(u32, u32)| LineRange { start, end };
    runs.iter().map(run).collect()
}

fn scope() -> Scope {
    let changed = [
        "fresh.txt",
        "gone.txt",
        "pic.bin",
        "src/a.txt",
        "src/new.txt",
    ];
    let mut changed: Vec<RepoPath> = changed.into_iter().map(RepoPath::from).collect();
    changed.push(RepoPath::new(&b"src/caf\xe9.txt"[..]));
    changed.push(RepoPath::from("back\\slash"));
    let added = [
        ("src/a.txt", lines(&[(5, 5), (15, 15)])),
        ("src/new.txt", lines(&[(3, 3)])),
        ("fresh.txt", lines(&[(1, 2)])),
    ];
    Scope {
        repo_root: "/repo".into(),
        real_root: "/real/repo".into(),
        changed: Some(changed),
        added: added.map(|(p, l)| (RepoPath::from(p), l)).into(),
    }
}

fn custom() -> Scope {
    Scope {
        changed: None,
        added: BTreeMap::new(),
        ..scope()
    }
}

fn locate(scope: &Scope, disk: &FakeDisk, path: &str, start: u32, end: u32) -> Located {
    Locator::new(scope, disk).locate(&finding("[P2] t", path, start, end))
}

#[test]
fn every_kind_of_location_is_judged() {
    let (scope, disk) = (scope(), FakeDisk::default());
    for (path, start, end) in [
        ("/repo/src/a.txt", 5, 5),
        ("/repo/src/a.txt", 1, 5),
        ("/real/repo/src/a.txt", 1, 5),
        ("src/a.txt", 15, 16),
        ("./src/a.txt", 15, 16),
        ("../repo/src/a.txt", 15, 16),
        ("/repo/src/../src/a.txt", 15, 15),
        ("/repo/src/../src//a.txt", 15, 15),
        ("/repo//./src/a.txt", 15, 15),
        ("/repo/gone.txt", 1, 1),
        ("/repo/src/new.txt", 3, 3),
        ("/repo/fresh.txt", 2, 2),
        ("/repo/pic.bin", 1, 1),
        ("/repo/src/caf\u{fffd}.txt", 9, 9),
        ("/repo/back\\slash", 9, 9),
    ] {
        let located = locate(&scope, &disk, path, start, end);
        assert_eq!(located.problem, None, "{path}");
        assert!(located.path.is_some(), "{path}");
    }
    for (path, start, end) in [("/repo/src/a.txt", 6, 14), ("src/new.txt", 4, 9)] {
        let located = locate(&scope, &disk, path, start, end);
        assert_eq!(
            located.problem,
            Some(format!(
                "Finding line range does not overlap changed lines: {path}"
            ))
        );
        assert!(located.path.is_some());
    }
    for path in [
        "/repo/src/old.txt",
        "/repo/never.txt",
        "/somewhere/else.txt",
        "a/src/a.txt",
        "/repo",
        "/",
        "..",
        "src\\a.txt",
        "src\\..\\src\\a.txt",
        "..\\..\\src/a.txt",
        "/repository/src/a.txt",
        "src/A.txt",
        "src/a.txt\0",
        " src/a.txt",
    ] {
        let located = locate(&scope, &disk, path, 5, 5);
        assert_eq!(
            located.problem,
            Some(format!("Finding path is not in changed files: {path}"))
        );
    }
}

#[test]
fn unmapped_paths_below_the_root_keep_one_spelling() {
    let (scope, disk) = (scope(), FakeDisk::default());
    for path in ["/repo/./never.txt", "never.txt", "/real/repo/never.txt"] {
        let located = locate(&scope, &disk, path, 1, 1);
        assert_eq!(located.path, Some(RepoPath::from("never.txt")));
    }
    assert_eq!(locate(&scope, &disk, "/else/a.txt", 1, 1).path, None);
}

#[test]
fn links_to_the_root_are_resolved() {
    let scope = scope();
    let links = [
        ("/link/src", "/real/repo/src"),
        ("/repo/../link/src", "/real/repo/src"),
        ("/link", "/real/repo"),
        ("/out/src", "/elsewhere/src"),
        ("/", "/"),
    ];
    let disk = FakeDisk::with(&links, &[]);
    for path in [
        "/link/src/a.txt",
        "/repo/../link/src/a.txt",
        "../link/src/a.txt",
    ] {
        let located = locate(&scope, &disk, path, 5, 5);
        assert_eq!(located.path, Some(RepoPath::from("src/a.txt")), "{path}");
        assert_eq!(located.problem, None);
    }
    let gone = locate(&scope, &disk, "/link/gone.txt", 5, 5);
    assert_eq!(gone.problem, None);
    for path in ["/out/src/a.txt", "/link/none/../src/a.txt", "/link/src/b"] {
        assert!(
            locate(&scope, &disk, path, 5, 5).problem.is_some(),
            "{path}"
        );
    }
}

#[test]
fn the_local_disk_resolves_a_linked_root() {
    let folder = tempfile::tempdir().unwrap();
    let real_root = folder.path().canonicalize().unwrap().join("repo");
    std::fs::create_dir_all(real_root.join("src")).unwrap();
    std::fs::write(real_root.join("src/math.js"), "x").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("repo", folder.path().join("link")).unwrap();
    let scope = Scope {
        repo_root: real_root.clone(),
        real_root: real_root.clone(),
        changed: Some(vec![RepoPath::from("src/math.js")]),
        added: BTreeMap::new(),
    };
    let locator = Locator::new(&scope, &LocalDisk);
    for path in ["../link/src/math.js", "src/math.js"] {
        let path = real_root.join(path).display().to_string();
        assert_eq!(locator.locate(&finding("t", &path, 1, 1)).problem, None);
    }
}

#[test]
fn custom_targets_need_a_file_of_the_repository() {
    let scope = custom();
    let disk = FakeDisk::with(
        &[
            ("/repo/src/math.js", "/real/repo/src/math.js"),
            ("/repo/src", "/real/repo/src"),
            ("/repo/leak", "/etc/passwd"),
            ("/repo/../outside.txt", "/outside.txt"),
            ("/repo2/x", "/real/repo2/x"),
        ],
        &["/real/repo/src/math.js", "/etc/passwd", "/outside.txt"],
    );
    for path in ["/repo/src/math.js", "src/math.js", "/real/repo/src/math.js"] {
        let located = locate(&scope, &disk, path, 900, 901);
        assert_eq!(located.problem, None);
        assert_eq!(located.path, Some(RepoPath::from("src/math.js")));
    }
    for (path, problem) in [
        ("/repo/src/none.js", "does not exist"),
        ("/repo/src", "is not a file in the repository"),
        ("leak", "is outside the repository"),
        ("../outside.txt", "is outside the repository"),
        ("/etc/passwd", "is outside the repository"),
        ("/repo2/x", "is outside the repository"),
    ] {
        assert_eq!(
            locate(&scope, &disk, path, 1, 1).problem,
            Some(format!("Finding path {problem}: {path}"))
        );
    }
}

#[test]
fn anchored_findings_need_no_lines() {
    let (scope, disk) = (scope(), FakeDisk::default());
    let locator = Locator::new(&scope, &disk);
    let anchored = |path: &str, anchor| Finding {
        anchor: Some(anchor),
        ..finding("t", path, 1, 1)
    };
    let on_path = anchored("/repo/src/a.txt", Anchor::Path);
    assert_eq!(locator.locate(&on_path).problem, None);
    let elsewhere = anchored("/repo/never.txt", Anchor::Path);
    assert!(locator.locate(&elsewhere).problem.is_some());
    for anchor in [Anchor::CommitMessage, Anchor::Branch] {
        let located = locator.locate(&anchored("main", anchor));
        assert_eq!(located, Located::default());
    }
}
