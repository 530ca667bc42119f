//! The preflight of one engine, as a review and a check-up make it, and how engine code is run.
//!
//! What must stay true: every preflight has a private folder of its own, gone before anybody hears
//! of the verdict; nobody waits for engine code beyond the limits of the task; and a panic in it is
//! a failure of that engine.

use std::path::Path;
use std::sync::Arc;

use tokio::task::{JoinSet, spawn_blocking};

use crate::engine::{CancelToken, Captured, CommandSpec, Engine, Place, Preflight, PreflightPass};
use crate::model::Failure;
use crate::process::{Halt, Leash, collect, crashed};
use crate::run_dir::RunDir;

/// Learns whether an engine can work.
pub(crate) async fn check(engine: &Arc<dyn Engine>, leash: &Leash) -> Result<PreflightPass, Halt> {
    let run_dir = RunDir::create(&leash.repo_root)?;
    let outcome = judged(engine, run_dir.path().into(), leash).await;
    run_dir.remove().await;
    outcome
}

async fn judged(
    engine: &Arc<dyn Engine>,
    folder: Arc<Path>,
    leash: &Leash,
) -> Result<PreflightPass, Halt> {
    let (asked, place) = (Arc::clone(engine), place(&folder, leash));
    match blocking(leash, move |_| asked.preflight(&place)).await? {
        Preflight::Known(pass) => Ok(pass),
        Preflight::Probe { commands, judge } => {
            let captured = probe(commands, &folder, leash).await?;
            blocking(leash, move |_| judge(captured)).await
        }
    }
}

fn place(folder: &Path, leash: &Leash) -> Place {
    Place {
        repo_root: leash.work_root.to_path_buf(),
        run_dir: folder.to_owned(),
    }
}

/// Runs the commands side by side; the first that cannot run ends the others.
async fn probe(
    commands: Vec<CommandSpec>,
    folder: &Arc<Path>,
    leash: &Leash,
) -> Result<Vec<Captured>, Halt> {
    let mut captured: Vec<Option<Captured>> = commands.iter().map(|_| None).collect();
    let mut probes = JoinSet::new();
    for (position, command) in commands.into_iter().enumerate() {
        let (folder, leash) = (Arc::clone(folder), leash.clone());
        probes.spawn(async move { (position, collect(command, folder, leash).await) });
    }
    while let Some(probe) = probes.join_next().await {
        let outcome = match probe {
            Ok((position, outcome)) => outcome.map(|found| captured[position] = Some(found)),
            Err(error) => Err(crashed(&error).into()),
        };
        if let Err(halt) = outcome {
            // A time-out or a stop reaches the others as well, and they end their children in
            // order; any other failure leaves nothing to wait for.
            match halt {
                Halt::Failed(_) => probes.shutdown().await,
                Halt::Deadline | Halt::Stopped => while probes.join_next().await.is_some() {},
            }
            return Err(halt);
        }
    }
    Ok(captured.into_iter().flatten().collect())
}

/// Runs engine code on a blocking thread, within the task's limits. Code that does not give up
/// when it is told to is left behind; the program's end ends it.
pub(crate) async fn blocking<T: Send + 'static>(
    leash: &Leash,
    work: impl FnOnce(&CancelToken) -> Result<T, Failure> + Send + 'static,
) -> Result<T, Halt> {
    let mut leash = leash.clone();
    let token = CancelToken::default();
    let worker = token.clone();
    let mut handle = spawn_blocking(move || work(&worker));
    let halt = tokio::select! {
        // What is done counts, also when the deadline has passed meanwhile.
        biased;
        done = &mut handle => {
            return done
                .unwrap_or_else(|error| Err(crashed(&error)))
                .map_err(Halt::Failed);
        }
        halt = leash.halted() => halt,
    };
    token.cancel();
    tokio::select! {
        _ = &mut handle => {}
        () = leash.grace_over() => tracing::warn!("engine code was left behind"),
    }
    Err(halt)
}
