//! What is looked at before any model: what is not worth sending, what no engine may be given, and
//! integrity scans, and the masking of secrets in what is sent.

pub mod mask;
pub mod prune;
pub mod refuse;
pub mod scan;
