//! Where a run's events and outcome go: one sink per output mode.
