//! Any bytes as a saved artifact: no panic, and what is accepted is shown without a control
//! character.
#![no_main]

use diffwarden::artifact::parse_artifact;
use diffwarden::sinks::{OutputMode, Redactor, Style, render_artifact};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(artifact) = parse_artifact("fuzz", bytes) {
        let (style, redactor) = (Style::default(), Redactor::default());
        let text = render_artifact(&artifact, OutputMode::Human, style, &redactor);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'));
    }
});
