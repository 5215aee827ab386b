//! The same ports on servers, with the feature `distributed`: NATS for the bus, Qdrant for the index, Neo4j for records
//! and graph. Their options are available without the feature too.

#[cfg(feature = "distributed")]
pub mod distributed;
#[cfg(feature = "distributed")]
pub mod nats;
#[cfg(feature = "distributed")]
pub mod neo4j;
#[cfg(feature = "distributed")]
pub mod qdrant;
pub mod server_options;

/// The state of one server after its objects were created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Provisioned {
    /// The server: `nats`, `neo4j` or `qdrant`.
    pub server: &'static str,
    /// A description of the objects that exist now.
    pub has: String,
    /// Objects that exist but differ from what this program needs.
    pub drifts: Vec<String>,
}
