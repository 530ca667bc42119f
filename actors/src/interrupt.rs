//! The signals that end the program.
//!
//! They are caught from the start of the program to its end, on a thread of their own: reading a
//! repository comes before the actors and printing a result after them, and neither looks up. What
//! a signal means at a time is the program's business; a run hears of it through its
//! [`InterruptReceiver`](crate::sink::InterruptReceiver).

use std::fs;
use std::io;
use std::sync::mpsc::sync_channel;
use std::thread;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Calls `heard` with the number of every SIGHUP, SIGINT, SIGQUIT and SIGTERM, one after the other,
/// to the end of the program.
///
/// When this returns, these signals no longer end the process by themselves. One that was ignored
/// when diffwarden started (`nohup`, a background job of a script) stays ignored.
///
/// # Errors
///
/// Fails when the system has no thread or file to give; the signals then do what they always do.
pub fn listen(mut heard: impl FnMut(i32) + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (caught, are_caught) = sync_channel(1);
    thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            runtime.block_on(async move {
                let mut signals = Signals::catch();
                // Whoever asked waits for this.
                caught.send(()).ok();
                loop {
                    heard(signals.next().await);
                }
            });
        })?;
    are_caught
        .recv()
        .map_err(|_| io::Error::other("the thread for signals ended"))
}

/// The signals, caught.
struct Signals {
    hangup: Option<Signal>,
    interrupt: Option<Signal>,
    quit: Option<Signal>,
    terminate: Option<Signal>,
}

impl Signals {
    fn catch() -> Self {
        let ignored = ignored_signals();
        let caught = |kind: SignalKind| {
            let bit = 1_u64 << (kind.as_raw_value() - 1);
            if ignored & bit != 0 {
                return None;
            }
            signal(kind)
                .inspect_err(|error| tracing::warn!(?kind, %error, "a signal cannot be caught"))
                .ok()
        };
        Self {
            hangup: caught(SignalKind::hangup()),
            interrupt: caught(SignalKind::interrupt()),
            quit: caught(SignalKind::quit()),
            terminate: caught(SignalKind::terminate()),
        }
    }

    /// Waits for the next signal and returns its number.
    async fn next(&mut self) -> i32 {
        let kind = tokio::select! {
            () = heard(&mut self.hangup) => SignalKind::hangup(),
            () = heard(&mut self.interrupt) => SignalKind::interrupt(),
            () = heard(&mut self.quit) => SignalKind::quit(),
            () = heard(&mut self.terminate) => SignalKind::terminate(),
        };
        kind.as_raw_value()
    }
}

async fn heard(signal: &mut Option<Signal>) {
    if let Some(listening) = signal
        && listening.recv().await.is_some()
    {
        return;
    }
    std::future::pending::<()>().await;
}

/// Returns the signals this process was told to ignore, bit 0 for signal 1. Only Linux tells
/// without system calls that Rust calls unsafe; elsewhere none.
fn ignored_signals() -> u64 {
    fs::read_to_string("/proc/self/status").map_or(0, |status| parse_ignored(&status))
}

fn parse_ignored(status: &str) -> u64 {
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use rustix::process::{Signal, getpid, kill_process};

    use super::*;

    #[test]
    fn reads_the_mask_of_ignored_signals() {
        let status = "Name:\tx\nSigBlk:\t00ff\nSigIgn:\t0000000000001001\nSigCgt:\t0\n";
        assert_eq!(parse_ignored(status), 0x1001);
        assert_eq!(parse_ignored("SigIgn:\tnonsense\n"), 0);
        assert_eq!(parse_ignored(""), 0);
    }

    #[test]
    fn every_signal_arrives_with_its_number() {
        let ignored = ignored_signals();
        let (sender, numbers) = channel();
        listen(move |number| sender.send(number).unwrap_or_default()).unwrap();
        for signal in [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM] {
            let number = signal.as_raw();
            if ignored >> (number - 1) & 1 == 1 {
                continue; // The tests run under nohup, or in the background.
            }
            for _ in 0..2 {
                kill_process(getpid(), signal).unwrap();
                let heard = numbers.recv_timeout(Duration::from_secs(60));
                assert_eq!(heard, Ok(number));
            }
        }
    }
}
