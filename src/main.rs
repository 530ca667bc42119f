//! The diffwarden executable.

fn main() {}
