//! One suite a port. Every function states what the port's documentation promises and runs on any adapter.
//!
//! A function takes `open`, which gives the ports over the same stored state each time it is called; to close means to
//! drop what it gave. Nothing but the ports is used, so an adapter of another store runs the same functions.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a suite is a test, though it lives in a library"
)]

pub mod bus;
pub mod dead_letters;
pub mod embedder;
pub mod erasure;
pub mod graph;
pub mod index;
pub mod records;
mod sample;

use std::sync::Arc;
use std::time::Duration;

use domain::port::{Bus, DeadLetters, Embedder, Graph, Index, Records};
use domain::{Classify, ErrorKind, PortError};

/// The ports under test.
pub struct Ports {
    /// Durable streams and requests.
    pub bus: Arc<dyn Bus>,
    /// What was given up.
    pub dead_letters: Arc<dyn DeadLetters>,
    /// Spaces and records.
    pub records: Arc<dyn Records>,
    /// Units, relations, facts, entities.
    pub graph: Arc<dyn Graph>,
    /// Search.
    pub index: Arc<dyn Index>,
    /// Vectors.
    pub embedder: Arc<dyn Embedder>,
    /// How long a delivery of `bus` may stay unsettled; short, since the suite waits for it.
    pub ack_wait: Duration,
}

fn kind<T>(result: Result<T, PortError>) -> Option<ErrorKind> {
    result.err().map(|error| error.kind())
}
