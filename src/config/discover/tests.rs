use std::fs;

use super::*;

/// A folder with a home, a repository and something above it.
struct World {
    top: tempfile::TempDir,
    environment: Environment,
}

impl World {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        for folder in [
            "home/.config/diffwarden",
            "xdg/diffwarden",
            "above/repo/src/deep",
        ] {
            fs::create_dir_all(top.path().join(folder)).unwrap();
        }
        let environment = [("HOME", top.path().join("home"))].into_iter().collect();
        Self { top, environment }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.top.path().join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    fn load(&self, cwd: &str, root: Option<&str>) -> Result<Option<LoadedConfig>, Failure> {
        let root = root.map(|root| self.path(root));
        load(&self.path(cwd), root.as_deref(), &self.environment)
    }

    /// Returns the default set of the config that is found.
    fn found(&self, cwd: &str, root: Option<&str>) -> Option<String> {
        self.load(cwd, root).unwrap()?.config.default_reviewer_set
    }
}

const USER: &str = "home/.config/diffwarden/diffwarden.config.json";
const OVERLAY: &str = "home/.config/diffwarden/diffwarden.config.local.json";
const REPO: &str = "above/repo";

fn named(set: &str) -> String {
    format!(r#"{{"defaultReviewerSet": "{set}"}}"#)
}

#[test]
fn the_nearest_project_config_wins_up_to_the_root() {
    let world = World::new();
    assert_eq!(world.found("above/repo/src", Some(REPO)), None);
    world.write(USER, named("user"));
    world.write("above/diffwarden.config.json", named("above"));
    assert_eq!(world.found("above/repo/src", Some(REPO)).unwrap(), "user");
    world.write("above/repo/diffwarden.config.json", named("root"));
    assert_eq!(
        world.found("above/repo/src/deep", Some(REPO)).unwrap(),
        "root"
    );
    world.write("above/repo/src/diffwarden.config.json", named("src"));
    assert_eq!(
        world.found("above/repo/src/deep", Some(REPO)).unwrap(),
        "src"
    );
    assert_eq!(world.found(REPO, Some(REPO)).unwrap(), "root");
    let loaded = world.load(REPO, Some(REPO)).unwrap().unwrap();
    assert_eq!(loaded.kind, ConfigKind::Project);
}

#[test]
fn outside_a_repository_only_the_working_folder_counts() {
    let world = World::new();
    world.write(USER, named("user"));
    world.write("above/diffwarden.config.json", named("above"));
    assert_eq!(world.found("above/repo", None).unwrap(), "user");
    assert_eq!(world.found("above", None).unwrap(), "above");
    let missing = world.load("nowhere", None).unwrap_err();
    assert_eq!(missing.code, ErrorCode::InvalidCli);
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_out_of_the_repository() {
    use std::os::unix::fs::symlink;
    let world = World::new();
    world.write("above/diffwarden.config.json", named("above"));
    world.write("home/diffwarden.config.json", named("home"));
    symlink(world.path("above/repo"), world.path("home/link")).unwrap();
    assert_eq!(world.found("home/link", Some("home/link")), None);
    assert_eq!(world.found("home/link/src", Some(REPO)), None);

    symlink(
        world.path("above/diffwarden.config.json"),
        world.path("above/repo/diffwarden.config.json"),
    )
    .unwrap();
    let failure = world.load(REPO, Some(REPO)).unwrap_err();
    assert!(
        failure.message.contains("outside the repository"),
        "{failure}"
    );

    symlink("gone", world.path("above/repo/src/diffwarden.config.json")).unwrap();
    let failure = world.load("above/repo/src", Some(REPO)).unwrap_err();
    assert_eq!(failure.code, ErrorCode::InvalidConfig);
}

#[test]
fn the_user_config_is_the_users_own_wherever_one_stands() {
    let world = World::new();
    world.write(
        USER,
        r#"{"reviewers": [{"id": "a", "engine": "codex", "cliOptions": {"executable": "x"}}]}"#,
    );
    world.write(OVERLAY, named("local"));
    let folder = "home/.config/diffwarden";
    for root in [None, Some("home/.config")] {
        let loaded = world.load(folder, root).unwrap().unwrap();
        assert_eq!(loaded.kind, ConfigKind::User);
        assert_eq!(loaded.config.default_reviewer_set.as_deref(), Some("local"));
    }
}

#[test]
fn a_relative_config_home_is_ignored() {
    let mut world = World::new();
    world.write(USER, named("home"));
    world.write("xdg/diffwarden/diffwarden.config.json", named("xdg"));
    let xdg = world.path("xdg");
    let home = world.path("home");
    for (value, expected) in [
        (xdg.clone(), Some("xdg")),
        (PathBuf::from("xdg"), Some("home")),
        (PathBuf::from(""), Some("home")),
        (world.path("empty"), None),
    ] {
        world.environment = [("HOME", home.clone()), ("XDG_CONFIG_HOME", value)]
            .into_iter()
            .collect();
        assert_eq!(world.found(REPO, Some(REPO)).as_deref(), expected);
    }
}

#[test]
fn the_overlay_belongs_to_the_user_config_alone() {
    let world = World::new();
    world.write(OVERLAY, named("local"));
    assert_eq!(world.found(REPO, Some(REPO)), None, "no base, no overlay");

    world.write(USER, named("base"));
    let loaded = world.load(REPO, Some(REPO)).unwrap().unwrap();
    assert_eq!(loaded.config.default_reviewer_set.as_deref(), Some("local"));
    assert_eq!(loaded.overlay.unwrap().path, world.path(OVERLAY));
    assert_eq!(loaded.path, world.path(USER));

    world.write(OVERLAY, "[]");
    let failure = world.load(REPO, Some(REPO)).unwrap_err();
    assert!(failure.message.contains("config.local.json"), "{failure}");

    world.write("above/repo/diffwarden.config.json", named("project"));
    world.write(
        "above/repo/diffwarden.config.local.json",
        named("project-local"),
    );
    assert_eq!(world.found(REPO, Some(REPO)).unwrap(), "project");
}

#[test]
fn files_are_read_as_they_are() {
    let world = World::new();
    world.write(USER, "\u{feff}{}\n");
    assert!(world.load(REPO, Some(REPO)).unwrap().is_some());
    world.write(USER, "{}\n");
    let loaded = world.load(REPO, Some(REPO)).unwrap().unwrap();
    assert_eq!(
        loaded.sha256,
        "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356"
    );
    let deep = "[".repeat(100_000);
    for bytes in [
        &b"{ not json"[..],
        b"",
        b"{\"a\": \"\xff\"}",
        b"{\"a\": 1e999}",
        deep.as_bytes(),
    ] {
        world.write(USER, bytes);
        let failure = world.load(REPO, Some(REPO)).unwrap_err();
        assert_eq!(failure.exit_code(), 2);
        assert!(
            failure.message.contains("Invalid JSON in config at "),
            "{failure}"
        );
    }
    world.write(USER, vec![b' '; 2 << 20]);
    let failure = world.load(REPO, Some(REPO)).unwrap_err();
    assert!(failure.message.contains("larger than"), "{failure}");
    fs::remove_file(world.path(USER)).unwrap();
    fs::create_dir(world.path(USER)).unwrap();
    let failure = world.load(REPO, Some(REPO)).unwrap_err();
    assert!(failure.message.contains("not a regular file"), "{failure}");
}

#[test]
fn a_missing_config_says_where_to_make_one() {
    let world = World::new();
    let failure = missing_config(&world.environment, "no reviewer is selected");
    assert!(
        failure
            .message
            .contains(&world.path(USER).display().to_string())
    );
    assert!(failure.hint.unwrap().contains("--reviewer surface"));
}
