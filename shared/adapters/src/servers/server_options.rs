//! Settings of the servers, apart from their clients: a build without the feature `distributed` describes them too.

pub mod nats;
pub mod neo4j;
pub mod qdrant;
