//! What is looked at before any model: limits and integrity scans.

pub mod scan;
