//! Integrity scans: what no model may talk away.
