//! Any text as a model's answer: no panic, and an answer never loses its findings to prose.
#![no_main]

use diffwarden_actors::answer::parse_payload;
use diffwarden_actors::engine::Payload;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Ok(parsed) = parse_payload(Payload::Text(text.to_owned())) {
        assert_eq!(parsed.valid_schema, parsed.problem.is_none());
    }
});
