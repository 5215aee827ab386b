//! Tests scorer, readers of public formats, judge and ablations through the public API.

#![expect(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

mod ablate;
mod convert;
mod house;
mod judge;
mod scores;
