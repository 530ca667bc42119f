//! A hermetic place to run the binary in.
