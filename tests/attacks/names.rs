//! Names of files that mean something else to somebody.

use super::Expected::{Finds, FindsNothing, Is, Prompt, Sent};
use super::{Attack, attack};

/// The attacks.
pub(super) const ROWS: &[Attack] = &[
    attack(
        "a name that is an option",
        |world| world.write("--output=stolen", "x\n"),
        &[Sent("--output=stolen", "whole"), FindsNothing],
    ),
    attack(
        "a name that is a pattern of git",
        |world| world.write(":(exclude)*", "x\n"),
        &[Sent(":(exclude)*", "whole")],
    ),
    attack(
        "a name with a line end and a header in it",
        |world| world.write("a\n+++ b/src/lib.rs", "x\n"),
        &[
            Finds("Control character"),
            Is("/target/changed_files", r#"["a\n+++ b/src/lib.rs"]"#),
        ],
    ),
    attack(
        "a name with a command for the terminal",
        |world| world.write("a\u{1B}[2Jb", "x\n"),
        &[Finds("Terminal escape")],
    ),
    attack(
        "a name that reads backwards",
        |world| world.write("src/txt\u{202E}sr.exe", "x\n"),
        &[Finds("Bidirectional override")],
    ),
    attack(
        "a name with a fence in it",
        |world| world.write("a`````b", "x\n"),
        &[Prompt("``````diff")],
    ),
    attack(
        "a name with quotes and dollar signs",
        |world| {
            let trace = world.environment().trace();
            let name = format!("$(touch {})", trace.display()).replace('/', "_");
            world.write(&format!("'; {name} \"`id`"), "x\n");
        },
        &[FindsNothing],
    ),
    attack(
        "the name of a key",
        |world| world.write("deploy/id_ed25519", "x\n"),
        &[Finds("private SSH key")],
    ),
    attack(
        "the name of an environment file in other letters",
        |world| world.write("app/.ENV.Production", "A=1\n"),
        &[Finds("environment file")],
    ),
    attack(
        "the copy of a sensitive file",
        |world| world.write("backup/.env.bak", "A=1\n"),
        &[Finds("environment file")],
    ),
];
