//! The system under test, in one binary.
#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]

mod conformance;
mod golden;
mod nats;
mod neo4j;
mod qdrant;
mod tidy;
