//! Tests of the whole system, in one binary.
#![expect(clippy::unwrap_used, reason = "helpers of tests, outside of test functions")]
// The futures of whole services are deeply nested.
#![recursion_limit = "256"]

mod conformance;
mod degraded;
mod distributed;
mod encoder;
mod endpoint;
mod erasure;
mod golden;
mod idempotency;
mod impersonation;
mod infra;
mod isolation;
mod language_model;
mod merges;
mod nats;
mod neo4j;
mod order;
mod pages;
mod qdrant;
mod strategies;
mod tidy;
mod trace;
mod unwritten;
