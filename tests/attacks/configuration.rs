//! Configuration of a repository with which its reviewer would run a program.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::Expected::{FindsNothing, Is, Prompt, Says};
use super::world::World;
use super::{Attack, attack};

fn sets(world: &World, key: &str) {
    let trap = world.trap(&format!("trap-{}", key.replace('.', "-")));
    world.git(&["config", key, &trap]);
    world.write("src/a.rs", "fn a() {}\n");
}

/// A file of the repository that runs, under every name of one kind.
fn hooks(world: &World, names: &[&str]) {
    for name in names {
        let path = world.environment().repo().join(".git/hooks").join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        world.environment().write_trap(&path);
    }
    world.write("src/lib.rs", "pub fn one() -> u8 {\n    2\n}\n");
}

/// The attacks.
pub(super) const ROWS: &[Attack] = &[
    attack(
        "a monitor of the file system",
        |world| sets(world, "core.fsmonitor"),
        &[Prompt("fn a()")],
    )
    .uncommitted(),
    attack(
        "an external diff",
        |world| sets(world, "diff.external"),
        &[Prompt("fn a()")],
    ),
    attack(
        "a pager",
        |world| sets(world, "core.pager"),
        &[Prompt("fn a()")],
    ),
    attack(
        "a program for ssh",
        |world| sets(world, "core.sshCommand"),
        &[Prompt("fn a()")],
    ),
    attack(
        "a helper for credentials",
        |world| sets(world, "credential.helper"),
        &[Prompt("fn a()")],
    ),
    attack(
        "a program for signatures",
        |world| sets(world, "gpg.program"),
        &[Prompt("fn a()")],
    ),
    attack(
        "an editor",
        |world| sets(world, "core.editor"),
        &[Prompt("fn a()")],
    ),
    attack(
        "a folder of hooks",
        |world| {
            world.trap("hooks/post-index-change");
            let folder = world.environment().path("hooks").display().to_string();
            world.git(&["config", "core.hooksPath", &folder]);
            world.write("src/a.rs", "fn a() {}\n");
        },
        &[Prompt("fn a()")],
    )
    .uncommitted(),
    attack(
        "hooks of the repository",
        |world| {
            hooks(
                world,
                &[
                    "post-index-change",
                    "fsmonitor-watchman",
                    "reference-transaction",
                ],
            );
        },
        &[Prompt("+    2")],
    )
    .uncommitted(),
    attack(
        "an included file of settings",
        |world| {
            let trap = world.trap("trap-included");
            world.write("more", format!("[core]\n\tfsmonitor = {trap}\n"));
            let path = world
                .environment()
                .repo()
                .join("more")
                .display()
                .to_string();
            world.git(&["config", "include.path", &path]);
        },
        &[FindsNothing],
    )
    .uncommitted(),
    attack(
        "a codex of the repository on PATH",
        |world| {
            let folder = world.environment().repo().join("tools");
            fs::create_dir_all(&folder).expect("a folder");
            world.environment().write_trap(&folder.join("codex"));
            world.environment().write_trap(&folder.join("git"));
            fs::remove_file(world.environment().bin().join("codex")).expect("the link");
            let bin = world.environment().bin().display().to_string();
            world.variable(
                "PATH",
                &format!("{}:{bin}:/usr/local/bin:/usr/bin:/bin", folder.display()),
            );
        },
        &[Is("/reviewers/1/error/code", r#""missing_requirement""#)],
    ),
    attack(
        "a project config that names a program",
        |world| {
            let config = json!({"reviewers": [{
                "id": "a", "engine": "codex", "cliOptions": {"executable": "./evil.sh"},
            }]});
            world.write("diffwarden.config.json", config.to_string());
            let path = world.environment().repo().join("evil.sh");
            world.environment().write_trap(&path);
        },
        &[
            Is("/error/code", r#""invalid_config""#),
            Says("cliOptions.executable"),
        ],
    )
    .exit(2),
    attack(
        "a project config that says which credentials are none",
        |world| {
            let secret = world.secret();
            world.write("src/a.rs", format!("const K: &str = \"{secret}\";\n"));
            world.write(
                "diffwarden.config.json",
                r#"{"reviewers": [], "intake": {"allowlist": "/etc/hosts"}}"#,
            );
        },
        &[
            Is("/error/code", r#""invalid_config""#),
            Says("intake.allowlist"),
        ],
    )
    .exit(2),
    attack(
        "a project config of sixty megabytes",
        |world| {
            world.write(
                "diffwarden.config.json",
                format!("{{\"x\": \"{}\"}}", "y".repeat(60 << 20)),
            );
        },
        &[Is("/error/code", r#""invalid_config""#)],
    )
    .exit(2),
    attack(
        "a project config that is a link",
        |world| world.link("diffwarden.config.json", "/etc/passwd"),
        &[Is("/error/code", r#""invalid_config""#)],
    )
    .exit(2),
    attack(
        "a program among the changed files",
        |world| {
            let path = world.environment().repo().join("build.rs");
            world.environment().write_trap(&path);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
        },
        &[FindsNothing],
    ),
];
