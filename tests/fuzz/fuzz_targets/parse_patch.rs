//! Any bytes as a patch: no panic, and what was read prints back to what is read again.
#![no_main]

use diffwarden::git::{ReadLimits, parse_patch};
use diffwarden::prompt::print_patch;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let limits = ReadLimits::default();
    if let Ok(patch) = parse_patch(&mut &*bytes, &limits) {
        let mut printed = Vec::new();
        print_patch(&patch, &mut printed);
        assert!(parse_patch(&mut &*printed, &limits).is_ok());
    }
});
