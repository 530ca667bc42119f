//! From raw material to a merged result: pure functions, no clock, no I/O.
