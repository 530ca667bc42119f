use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use super::*;
use crate::config::Config;
use crate::report::{Invocation, ReviewerSelection};

/// A home and a repository in one temporary folder.
struct World {
    top: tempfile::TempDir,
}

impl World {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        for folder in ["home", "repo/sub"] {
            fs::create_dir_all(top.path().join(folder)).unwrap();
        }
        Self { top }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().canonicalize().unwrap().join(name)
    }

    fn environment(&self) -> Environment {
        [("HOME", self.path("home"))].into_iter().collect()
    }

    fn resolve(&self, flags: &ReportFlags, config: Option<&LoadedConfig>) -> Option<Reporting> {
        let (cwd, root) = (self.path("repo/sub"), self.path("repo"));
        Reporting::resolve(flags, config, (&cwd, &root), &self.environment()).unwrap()
    }
}

fn config(kind: ConfigKind, reporting: ReportingSettings) -> LoadedConfig {
    LoadedConfig {
        path: PathBuf::from("/x/diffwarden.config.json"),
        sha256: String::new(),
        kind,
        overlay: None,
        config: Config {
            reporting,
            ..Config::default()
        },
    }
}

fn on() -> ReportFlags {
    ReportFlags {
        enabled: Some(true),
        ..ReportFlags::default()
    }
}

fn artifact(words: &str) -> RunArtifact {
    let validation = json!({
        "parse_mode": "tool-output", "valid_schema": true, "findings_overlap_diff": true,
        "valid_locations": true, "invalid_locations": [],
    });
    serde_json::from_value(json!({
        "schema_version": 2, "cwd": ".", "validation": validation,
        "target": {
            "kind": "uncommitted", "repo_root": "/repo", "diff_command": "git diff",
            "changed_files": [],
        },
        "result": {
            "findings": [], "overall_correctness": "patch is correct",
            "overall_explanation": words, "overall_confidence_score": 0.8,
        },
    }))
    .unwrap()
}

fn write(reporting: &Reporting, words: &str) -> Result<PathBuf, Failure> {
    let facts = ReportFacts {
        invocation: Invocation::default(),
        config: None,
        selection: ReviewerSelection::default(),
        storage: reporting.storage(),
    };
    let environment = [("A_TOKEN", "aB3aB3aB3")].into_iter().collect();
    reporting.write(&facts, &artifact(words), &Redactor::new(&environment))
}

fn mode_of(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn nothing_is_kept_unless_asked_for() {
    let world = World::new();
    let flags = ReportFlags {
        dir: Some("x".into()),
        ..ReportFlags::default()
    };
    assert_eq!(world.resolve(&flags, None), None);
    let enabled = ReportingSettings {
        enabled: Some(true),
        ..ReportingSettings::default()
    };
    let config = config(ConfigKind::User, enabled);
    assert!(
        world
            .resolve(&ReportFlags::default(), Some(&config))
            .is_some()
    );
    let off = ReportFlags {
        enabled: Some(false),
        ..ReportFlags::default()
    };
    assert_eq!(world.resolve(&off, Some(&config)), None);
}

#[test]
fn flags_beat_the_config_and_a_folder_beats_a_scope() {
    let world = World::new();
    let settings = ReportingSettings {
        enabled: Some(true),
        scope: Some(ReportScope::Repo),
        dir: None,
        mode: Some(ReportMode::Metadata),
    };
    let mut config = config(ConfigKind::User, settings);
    let repo = world.resolve(&on(), Some(&config)).unwrap();
    assert_eq!(repo.folder, world.path("repo/.diffwarden/reports"));
    assert_eq!(repo.storage.scope, StorageScope::Repo);
    assert_eq!(repo.storage.mode, ReportMode::Metadata);

    let flags = ReportFlags {
        scope: Some(ReportScope::Global),
        mode: Some(ReportMode::Full),
        ..on()
    };
    let global = world.resolve(&flags, Some(&config)).unwrap();
    let state = world.path("home/.local/state/diffwarden/reports");
    assert_eq!(global.folder, state);
    assert_eq!(global.storage.mode, ReportMode::Full);

    config.config.reporting.dir = Some("mine".into());
    let named = world.resolve(&on(), Some(&config)).unwrap();
    assert_eq!(named.folder, world.path("repo/sub/mine"));
    assert_eq!(named.storage.scope, StorageScope::CustomDir);
    let flags = ReportFlags {
        dir: Some(world.path("else")),
        ..on()
    };
    let named = world.resolve(&flags, Some(&config)).unwrap();
    assert_eq!(named.folder, world.path("else"));
}

#[test]
fn a_report_is_one_private_file_in_the_folder_of_its_day() {
    let world = World::new();
    let reporting = world.resolve(&on(), None).unwrap();
    let path = write(&reporting, "the key is aB3aB3aB3").unwrap();
    let below = path.strip_prefix(&reporting.folder).unwrap();
    assert_eq!(below.components().count(), 4, "{}", below.display());
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.ends_with("}\n") && !text.contains("aB3aB3aB3"));
    let report: Value = serde_json::from_str(&text).unwrap();
    let created = report["created_at"].as_str().unwrap();
    let id = report["run_id"].as_str().unwrap();
    assert_eq!(
        below.to_str().unwrap(),
        format!(
            "{}/{}-{id}.json",
            created[..10].replace('-', "/"),
            created.replace(':', "-")
        )
    );
    let folder = path.parent().unwrap();
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1);
    assert_eq!((mode_of(&path), mode_of(folder)), (0o600, 0o700));
    assert_ne!(write(&reporting, "again").unwrap(), path);
}

#[test]
fn a_report_never_replaces_a_file() {
    let world = World::new();
    let reporting = world.resolve(&on(), None).unwrap();
    let path = reporting.folder.join("a.json");
    reporting.put(&path, b"one").unwrap();
    assert!(reporting.put(&path, b"two").is_err());
    assert_eq!(fs::read(&path).unwrap(), b"one");
    assert_eq!(fs::read_dir(&reporting.folder).unwrap().count(), 1);
}

#[test]
fn links_in_the_repository_lead_nowhere() {
    let world = World::new();
    fs::create_dir(world.path("outside")).unwrap();
    symlink(world.path("outside"), world.path("repo/.diffwarden")).unwrap();
    symlink(world.path("outside"), world.path("repo/sub/build")).unwrap();
    let flags = ReportFlags {
        scope: Some(ReportScope::Repo),
        ..on()
    };
    let in_repo = world.resolve(&flags, None).unwrap();
    let settings = ReportingSettings {
        enabled: Some(true),
        dir: Some("./build/reports".into()),
        ..ReportingSettings::default()
    };
    let project = config(ConfigKind::Project, settings);
    let in_project = world
        .resolve(&ReportFlags::default(), Some(&project))
        .unwrap();
    for reporting in [in_repo, in_project] {
        let failure = write(&reporting, "x").unwrap_err();
        assert_eq!(failure.exit_code(), 3);
        assert!(
            failure.message.contains("is not a folder"),
            "{}",
            failure.message
        );
    }
    assert_eq!(fs::read_dir(world.path("outside")).unwrap().count(), 0);
}

#[test]
fn the_repository_keeps_its_own_reports() {
    let world = World::new();
    let flags = ReportFlags {
        scope: Some(ReportScope::Repo),
        ..on()
    };
    let reporting = world.resolve(&flags, None).unwrap();
    let first = write(&reporting, "x").unwrap();
    let second = write(&reporting, "x").unwrap();
    assert!(first.starts_with(world.path("repo/.diffwarden/reports")));
    assert_eq!(first.parent(), second.parent());
}

#[test]
fn a_folder_that_cannot_be_is_told() {
    let world = World::new();
    fs::write(world.path("file"), "").unwrap();
    let flags = ReportFlags {
        dir: Some(world.path("file/below")),
        ..on()
    };
    let reporting = world.resolve(&flags, None).unwrap();
    let failure = write(&reporting, "x").unwrap_err();
    assert_eq!(failure.reason, Some(Reason::Environment));
    assert!(failure.message.contains("file/below"));
}

#[test]
fn a_place_that_cannot_be_written_is_told_before_the_run() {
    let world = World::new();
    fs::write(world.path("file"), "").unwrap();
    let check = |dir: PathBuf| {
        let flags = ReportFlags {
            dir: Some(dir),
            ..on()
        };
        world.resolve(&flags, None).unwrap().check()
    };
    for bad in ["file", "file/below", "file/below/deeper"] {
        let failure = check(world.path(bad)).unwrap_err();
        assert_eq!(failure.exit_code(), 2, "{bad}");
        assert!(failure.message.contains(bad), "{failure}");
    }
    for good in ["home", "new", "new/deeper"] {
        assert_eq!(check(world.path(good)), Ok(()), "{good}");
        assert_eq!(world.path(good).exists(), good == "home");
    }
    let closed = world.path("closed");
    fs::create_dir(&closed).unwrap();
    fs::set_permissions(&closed, Permissions::from_mode(0o500)).unwrap();
    // Nothing is closed to a superuser.
    let is_open = rustix::process::geteuid().is_root();
    for place in [closed.clone(), closed.join("new")] {
        assert_eq!(check(place).is_ok(), is_open);
    }
}
