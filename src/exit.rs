//! The exit codes, which are part of the contract (SPEC 6).

/// The review is complete; findings do not matter for it.
pub const OK: u8 = 0;
/// The review is complete and a gate was met (`--fail-on-findings`, `--require-clean`).
pub const GATE: u8 = 1;
/// The command line or the configuration is wrong; nothing was run.
pub const USAGE: u8 = 2;
/// No review could be made.
pub const EXECUTION: u8 = 3;
/// `--strict`: an answer could not be read or points outside the change.
pub const STRICT: u8 = 4;
/// The run was ended by SIGHUP.
pub const HANGUP: u8 = 129;
/// The run was ended by SIGINT.
pub const INTERRUPTED: u8 = 130;
/// The run was ended by SIGQUIT.
pub const QUIT: u8 = 131;
/// The run was ended by SIGTERM.
pub const TERMINATED: u8 = 143;
