//! What is under review.

use std::io;

use crate::live;
use crate::scenario::{DIRTY, EnginePath, PLANTED, Repository, SECRET, Situation};
use crate::world::World;

/// Makes a repository with one commit, and the change that is under review.
pub(crate) fn fill(world: &World, paths: &[&EnginePath], situation: &Situation) -> io::Result<()> {
    world.git(&["init", "--quiet", "--initial-branch=main"])?;
    world.write("repo/src/lib.rs", "pub fn one() -> u8 {\n    1\n}\n")?;
    if situation.repository == Repository::Planted {
        for path in paths {
            plant(world, path)?;
        }
    }
    world.git(&["add", "--all"])?;
    world.git(&["commit", "--quiet", "-m", "base"])?;
    world.write("outside.txt", &format!("{PLANTED} outside\n"))?;
    let mut edit = "pub fn one() -> u8 {\n    2\n}\n".to_owned();
    match situation.repository {
        Repository::Edit => {}
        Repository::Past => return bury(world, &edit),
        Repository::Bug => return plant_bug(world, paths),
        Repository::Planted => {
            // Each of these names a file that an engine may attach by itself.
            let outside = world.path("outside.txt");
            let outside = outside.display();
            edit.push_str(&format!("// see @/etc/hostname and @{outside}\n"));
            edit.push_str("// see @AGENTS.md and @./notes/planted.md for more\n");
        }
        Repository::Secret => edit.push_str(&format!("// token: {SECRET}\n")),
        Repository::Huge => {
            for file in 0..9 {
                let line = |number| format!("pub const C{file}_{number}: u64 = {number};\n");
                let text: String = (0..6_000).map(line).collect();
                world.write(&format!("repo/src/many_{file}.rs"), &text)?;
            }
        }
    }
    world.write("repo/src/lib.rs", &edit)
}

/// Commits the change, moves its lines in three more commits, and leaves the work tree dirty.
fn bury(world: &World, edit: &str) -> io::Result<()> {
    world.write("repo/src/lib.rs", edit)?;
    world.git(&["commit", "--quiet", "--all", "-m", "the reviewed one"])?;
    for later in 1..=3 {
        let lines = "// moved down\n".repeat(later);
        world.write("repo/src/lib.rs", &format!("{lines}{edit}"))?;
        world.git(&["commit", "--quiet", "--all", "-m", "a later one"])?;
    }
    world.write("repo/src/lib.rs", DIRTY)?;
    world.write("repo/untracked.txt", DIRTY)
}

/// Makes a branch that turns a safe function into one that is off by one, and a project config that
/// names a reviewer.
fn plant_bug(world: &World, paths: &[&EnginePath]) -> io::Result<()> {
    let function = |body| format!("pub fn last(values: &[u8]) -> Option<u8> {{\n    {body}\n}}\n");
    world.write("repo/src/lib.rs", &function("values.last().copied()"))?;
    for path in paths {
        world.write("repo/diffwarden.config.json", &live::config(path))?;
    }
    world.git(&["add", "--all"])?;
    world.git(&["commit", "--quiet", "-m", "Add last"])?;
    world.git(&["switch", "--quiet", "--create", "shorter"])?;
    world.write("repo/src/lib.rs", &function("Some(values[values.len()])"))?;
    world.git(&["commit", "--quiet", "--all", "-m", "Make last shorter"])
}

fn plant(world: &World, path: &EnginePath) -> io::Result<()> {
    let trace = world.trace().display().to_string();
    let common = [("notes/planted.md", PLANTED)];
    for (name, contents) in path.planted.iter().chain(&common) {
        let contents = contents.replace("{TRACE}", &trace);
        // Hooks are programs.
        world.write_script(&format!("repo/{name}"), &contents)?;
    }
    Ok(())
}
