//! From a target as it is typed to a resolved target and its patch.
