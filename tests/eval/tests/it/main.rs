//! The scorer and the authored data set, through the public API.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod house;
mod scores;
