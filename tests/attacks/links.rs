//! Symbolic links, by which an engine's reading tool would look elsewhere.

use std::fs;

use super::Expected::{Finds, FindsNothing, NoPrompt, Refused, Says, Sent};
use super::{Attack, attack};

/// The attacks.
pub(super) const ROWS: &[Attack] = &[
    attack(
        "a link to an absolute path",
        |world| world.link("a", "/etc/passwd"),
        &[Refused("absolute path")],
    ),
    attack(
        "a link above the root",
        |world| world.link("docs/a", "../../secret"),
        &[Refused("leads out")],
    ),
    attack(
        "a link into .git",
        |world| world.link("a", ".git/config"),
        &[Refused("into .git")],
    ),
    attack(
        "a link into .GIT",
        |world| world.link("a", ".GIT/config"),
        &[Refused("into .git")],
    ),
    attack(
        "a link by the short name of .git",
        |world| world.link("a", "git~1/config"),
        &[Refused("into .git")],
    ),
    attack(
        "a chain of links that ends outside",
        |world| {
            world.link("a", "b");
            world.link("b", "c");
            world.link("c", "../secret");
        },
        &[Refused("leads out")],
    ),
    attack(
        "a link over a folder that is a link",
        |world| {
            world.link("up", "..");
            world.move_to_base();
            world.link("a", "up/secret");
        },
        &[Refused("leads out")],
    ),
    attack(
        "a file that becomes a link",
        |world| world.link("src/lib.rs", "/etc/shadow"),
        &[Refused("absolute path")],
    ),
    attack(
        "links in a circle",
        |world| {
            world.link("a", "b");
            world.link("b", "a");
        },
        &[Refused("too many")],
    ),
    attack(
        "a link to a secret beside the repository",
        |world| {
            let secret = world.secret();
            let path = world.environment().path("outside.txt");
            fs::write(&path, secret).expect("a file");
            world.link("notes", "../outside.txt");
        },
        &[Refused("leads out")],
    ),
    attack(
        "an untracked link outside",
        |world| {
            let secret = world.secret();
            fs::write(world.environment().path("outside.txt"), secret).expect("a file");
            world.link("notes", "../outside.txt");
        },
        &[Says("of your own untracked files"), NoPrompt("ghp_")],
    )
    .uncommitted(),
    attack(
        "a link within the repository",
        |world| world.link("a", "src/lib.rs"),
        &[FindsNothing, Sent("a", "whole")],
    ),
    attack(
        "a link with a command for the terminal in its target",
        |world| world.link("a", "x\u{1B}[2J"),
        &[Finds("Terminal escape")],
    ),
    attack(
        "a repository inside the repository",
        |world| {
            let inner = world.environment().repo().join("vendor/x/.git");
            fs::create_dir_all(inner.join("objects")).expect("a folder");
            fs::create_dir_all(inner.join("refs")).expect("a folder");
            fs::write(inner.join("HEAD"), "ref: refs/heads/main\n").expect("a file");
            world.write("vendor/x/a.rs", "fn a() {}\n");
        },
        &[Says("vendor/x")],
    )
    .uncommitted(),
];
