//! From typed flags and configuration to a run plan.
