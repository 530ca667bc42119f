//! Stands between diffwarden and an engine, to tell the engine's time from diffwarden's.
//!
//! The bench puts a script under the engine's name that runs the bench itself with `--tap`. Bytes go
//! through as they are. Each call has a file of its own for its times, which is written with every
//! piece the engine says, because diffwarden kills an engine whose dialogue is over.

use std::fs;
use std::io::{self, Read, Write};
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

/// Runs an engine: the arguments are a folder for the times, the executable and its own arguments.
///
/// # Errors
///
/// Fails when the engine cannot be run or the times cannot be written.
pub(crate) fn run(mut args: impl Iterator<Item = String>) -> io::Result<ExitCode> {
    let missing = || io::Error::other("--tap needs a folder and an executable");
    let folder = args.next().ok_or_else(missing)?;
    let executable = args.next().ok_or_else(missing)?;
    let file = format!("{folder}/{}", std::process::id());
    let begin = now();
    let tell = |last| fs::write(&file, json!({"begin": begin, "last": last}).to_string());
    tell(begin)?;
    let mut child = Command::new(executable)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    // Never joined: who does not close standard input must not keep the engine's end from being told.
    if let Some(engine) = child.stdin.take() {
        thread::spawn(move || pass(io::stdin(), engine, || Ok(())).ok());
    }
    if let Some(engine) = child.stdout.take() {
        pass(engine, io::stdout(), || tell(now()))?;
    }
    let status = child.wait()?;
    tell(now())?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

/// Copies until either side ends, and tells of every piece.
fn pass(
    mut from: impl Read,
    mut to: impl Write,
    tell: impl Fn() -> io::Result<()>,
) -> io::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        tell()?;
        to.write_all(&buffer[..count])?;
        to.flush()?;
    }
    Ok(())
}

/// Microseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |it| u64::try_from(it.as_micros()).unwrap_or(u64::MAX))
}
