//! Real servers for tests, each in a folder and on a port of its own, gone when dropped.

pub mod jaeger;
pub mod nats;
pub mod neo4j;
pub mod qdrant;
