//! The hostile set: what a change, its repository or an engine's answer tries, and what comes of it.
//!
//! Every attack runs through the whole binary in four forms of output, with the scans and a scripted
//! engine as reviewers. Besides what its row expects, nothing of it may run, no planted secret may
//! stand in any output, prompt or file, nothing may be left, and the checkout stays as it was.
//! `cargo test --test main attacks -- --nocapture` prints the list.

mod answers;
mod attributes;
mod configuration;
mod links;
mod names;
mod secrets;
mod structure;
mod words;
mod world;

use std::fmt;
use std::sync::Mutex;
use std::thread;

use serde_json::Value;

use crate::attacks::world::World;

/// One attack.
pub(crate) struct Attack {
    /// What it is, unique.
    id: &'static str,
    /// Plants it into a repository on a branch of its own; everything is committed afterwards,
    /// unless the target is `uncommitted`.
    plant: fn(&World),
    /// What is reviewed.
    target: &'static str,
    /// The exit code.
    exit: i32,
    /// What has to come of it.
    expected: &'static [Expected],
}

/// What has to come of an attack.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expected {
    /// A finding of the scans whose title holds this.
    Finds(&'static str),
    /// No finding of the scans: it is harmless, or the text stays as it is.
    FindsNothing,
    /// The engine is not started, for a reason that holds this.
    Refused(&'static str),
    /// A file is sent like this: `whole`, `masked`, `clipped`, `pruned`, `binary`, `metadata`.
    Sent(&'static str, &'static str),
    /// The prompt holds this.
    Prompt(&'static str),
    /// The prompt does not hold this.
    NoPrompt(&'static str),
    /// This place (a JSON pointer) of the artifact or error is this JSON.
    Is(&'static str, &'static str),
    /// Standard output or error holds this.
    Says(&'static str),
}

use Expected::{Finds, FindsNothing, Is, NoPrompt, Prompt, Refused, Says, Sent};

/// An attack in the commits of a branch, which ends with a review.
const fn attack(id: &'static str, plant: fn(&World), expected: &'static [Expected]) -> Attack {
    Attack {
        id,
        plant,
        target: "base:main",
        exit: 0,
        expected,
    }
}

impl Attack {
    const fn uncommitted(mut self) -> Self {
        self.target = "uncommitted";
        self
    }

    const fn exit(mut self, exit: i32) -> Self {
        self.exit = exit;
        self
    }
}

fn all() -> impl Iterator<Item = &'static Attack> {
    [
        words::ROWS,
        structure::ROWS,
        names::ROWS,
        links::ROWS,
        attributes::ROWS,
        configuration::ROWS,
        secrets::ROWS,
        answers::ROWS,
    ]
    .into_iter()
    .flatten()
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finds(title) => write!(f, "found: {title}"),
            FindsNothing => f.write_str("nothing to find"),
            Refused(why) => write!(f, "refused: {why}"),
            Sent(path, sent) => write!(f, "{path} is sent {sent}"),
            Prompt(text) => write!(f, "the prompt holds {text:?}"),
            NoPrompt(text) => write!(f, "the prompt lacks {text:?}"),
            Is(place, json) => write!(f, "{place} is {json}"),
            Says(text) => write!(f, "says {text:?}"),
        }
    }
}

/// Returns why something that was expected did not come.
fn missing(expected: Expected, told: &world::Told) -> Option<String> {
    let prompt = &told.prompt;
    let holds = match expected {
        Finds(title) => told.titles().iter().any(|it| it.contains(title)),
        FindsNothing => told.titles().is_empty(),
        Refused(why) => told.refusal().is_some_and(|it| it.contains(why)),
        Sent(path, sent) => told.sent(path).as_deref() == Some(sent),
        Prompt(text) => prompt.contains(text),
        NoPrompt(text) => !prompt.is_empty() && !prompt.contains(text),
        Is(place, json) => {
            let wanted: Value = serde_json::from_str(json).expect("the row holds JSON");
            told.artifact.pointer(place) == Some(&wanted)
        }
        Says(text) => told.stdout.contains(text) || told.stderr.contains(text),
    };
    (!holds).then(|| format!("not so: {expected}"))
}

#[test]
fn every_attack_ends_as_expected_and_leaves_nothing() {
    let queue = Mutex::new(all());
    let wrong = Mutex::new(Vec::new());
    let next = || queue.lock().ok()?.next();
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(attack) = next() {
                    let problems = world::run(attack);
                    if !problems.is_empty() {
                        let told = format!("{}:\n    {}", attack.id, problems.join("\n    "));
                        wrong.lock().expect("nobody panics").push(told);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("nobody panics");
    for (number, attack) in all().enumerate() {
        let expected: Vec<String> = attack.expected.iter().map(ToString::to_string).collect();
        println!("{:3} {}: {}", number + 1, attack.id, expected.join("; "));
    }
    let count = all().count();
    println!("{count} attacks, {} do not hold", wrong.len());
    assert!(count >= 60, "the set has lost attacks: {count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_attack_has_a_name_of_its_own() {
    let mut ids: Vec<_> = all().map(|attack| attack.id).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count);
}
