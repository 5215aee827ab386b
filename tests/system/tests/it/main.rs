//! The system under test, in one binary.

mod conformance;
mod golden;
mod tidy;
