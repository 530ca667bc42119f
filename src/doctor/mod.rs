//! `doctor`: whether the selected reviewers can work on this machine (SPEC 5.1, 5.4).
//!
//! Its verdict is that of the preflight a review makes, by the same code. Beside it stands what
//! diffwarden itself sees of the machine; that can warn and never fails a reviewer, because an
//! engine may know better.

mod host;
mod report;
mod text;

pub use report::{DoctorReport, DoctorReviewer, DoctorStatus};
pub use text::doctor_text;
