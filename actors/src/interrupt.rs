//! The signals that end a run.

use std::fs;

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::sink::Interrupt;

/// Listens to SIGINT, SIGTERM, SIGHUP and SIGQUIT. The last one (Ctrl-\) would otherwise end
/// diffwarden alone and leave its engines behind, because they lead sessions of their own.
///
/// A signal that was ignored when diffwarden started (`nohup`, a background job of a script) stays
/// ignored.
pub(crate) struct Signals {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
    hangup: Option<Signal>,
    quit: Option<Signal>,
}

impl Signals {
    /// Begins to listen; from then on these signals no longer end the process by themselves.
    pub(crate) fn listen() -> Self {
        let ignored = ignored_signals();
        let heard = |kind: SignalKind| {
            let bit = 1_u64 << (kind.as_raw_value() - 1);
            if ignored & bit != 0 {
                return None;
            }
            signal(kind)
                .inspect_err(|error| tracing::warn!(?kind, %error, "a signal cannot be caught"))
                .ok()
        };
        Self {
            interrupt: heard(SignalKind::interrupt()),
            terminate: heard(SignalKind::terminate()),
            hangup: heard(SignalKind::hangup()),
            quit: heard(SignalKind::quit()),
        }
    }

    /// Hears nothing; for tests that must not react to another test's signal.
    #[cfg(test)]
    pub(crate) fn deaf() -> Self {
        Self {
            interrupt: None,
            terminate: None,
            hangup: None,
            quit: None,
        }
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) -> Interrupt {
        let kind = tokio::select! {
            () = heard(&mut self.interrupt) => SignalKind::interrupt(),
            () = heard(&mut self.terminate) => SignalKind::terminate(),
            () = heard(&mut self.hangup) => SignalKind::hangup(),
            () = heard(&mut self.quit) => SignalKind::quit(),
        };
        Interrupt::Signal(kind.as_raw_value())
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

/// Held by tests that listen to or send real signals: signals reach the whole process.
#[cfg(test)]
pub(crate) static REAL_SIGNALS: std::sync::Mutex<()> = std::sync::Mutex::new(());

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_mask_of_ignored_signals() {
        let status = "Name:\tx\nSigBlk:\t00ff\nSigIgn:\t0000000000001001\nSigCgt:\t0\n";
        assert_eq!(parse_ignored(status), 0x1001);
        assert_eq!(parse_ignored("SigIgn:\tnonsense\n"), 0);
        assert_eq!(parse_ignored(""), 0);
    }

    #[test]
    fn a_signal_arrives_with_its_number() {
        if ignored_signals() & 0b101 != 0 {
            return; // The tests run under nohup, or in the background of a script.
        }
        let _alone = REAL_SIGNALS.lock();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let heard = runtime.block_on(async {
            let mut signals = Signals::listen();
            let this = rustix::process::getpid();
            let mut heard = Vec::new();
            for sent in [rustix::process::Signal::HUP, rustix::process::Signal::QUIT] {
                rustix::process::kill_process(this, sent).unwrap();
                heard.push(signals.next().await);
            }
            heard
        });
        assert_eq!(heard, [Interrupt::Signal(1), Interrupt::Signal(3)]);
    }
}
