//! The three servers together: which process uses which, and the objects that must be created on them before the first
//! start.

use domain::port::Embedder;
use domain::{Classify, ErrorKind, PortError};

use crate::servers::{Provisioned, nats, neo4j, qdrant};

/// Settings of the connections to the servers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// The bus.
    pub nats: nats::Options,
    /// The index.
    pub qdrant: qdrant::Options,
    /// Records and graph.
    pub neo4j: neo4j::Options,
}

/// The servers that a process needs in addition to NATS. To other servers it has no connection, and needs no password.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uses {
    /// Records and graph.
    pub neo4j: bool,
    /// The index.
    pub qdrant: bool,
    /// The list of dead letters, which only few NATS users may read.
    pub dead_letters: bool,
}

impl Uses {
    /// Returns the servers that a service uses. An unknown name means a process with all services.
    #[must_use]
    pub fn for_service(service: &str) -> Uses {
        let (neo4j, qdrant, dead_letters) = match service {
            "reader" => (false, false, false),
            "clusterer" => (true, false, false),
            "router" => (true, true, false),
            _ => (true, true, true),
        };
        Uses {
            neo4j,
            qdrant,
            dead_letters,
        }
    }
}

/// Why provisioning failed. Servers that come before the named one are provisioned.
#[derive(Debug, thiserror::Error)]
pub enum ProvisionError {
    /// The bus.
    #[error("nats cannot be provisioned")]
    Nats(#[source] PortError),
    /// Records and graph.
    #[error("neo4j cannot be provisioned")]
    Neo4j(#[source] neo4j::SetupError),
    /// The index.
    #[error("qdrant cannot be provisioned")]
    Qdrant(#[source] qdrant::SetupError),
}

impl Classify for ProvisionError {
    fn kind(&self) -> ErrorKind {
        match self {
            ProvisionError::Nats(error) => error.kind(),
            ProvisionError::Neo4j(error) => error.kind(),
            ProvisionError::Qdrant(error) => error.kind(),
        }
    }
}

/// Creates the missing objects on all three servers, with an index for the vectors of `embedder`, and reports
/// differences. Idempotent.
///
/// # Errors
///
/// The first server that cannot be reached or refuses.
pub async fn provision_servers(options: &Options, embedder: &dyn Embedder) -> Result<Vec<Provisioned>, ProvisionError> {
    let bus = nats::provision_streams(&options.nats)
        .await
        .map_err(ProvisionError::Nats)?;
    let graph = neo4j::provision_schema(&options.neo4j)
        .await
        .map_err(ProvisionError::Neo4j)?;
    let index = qdrant::provision_collection(&options.qdrant, embedder.dimension(), embedder.model())
        .await
        .map_err(ProvisionError::Qdrant)?;
    let topics: Vec<&str> = options.nats.topics.iter().map(|it| it.subject.as_str()).collect();
    let streams = format!(
        "streams of {} in {} partitions, of dead letters and erasures, with their consumers, under `{}`",
        topics.join(", "),
        options.nats.partitions,
        options.nats.prefix
    );
    let of_nats = |it: &nats::Drift| format!("{}: {} is {} instead of {}", it.name, it.setting, it.found, it.wanted);
    Ok(vec![
        Provisioned {
            server: "nats",
            has: streams,
            drifts: bus.iter().map(of_nats).collect(),
        },
        Provisioned {
            server: "neo4j",
            has: "constraints and indexes of records and graph".to_owned(),
            drifts: graph.iter().map(ToString::to_string).collect(),
        },
        Provisioned {
            server: "qdrant",
            has: format!(
                "collection and payload indexes for {} ({} dimensions) under `{}`",
                embedder.model(),
                embedder.dimension(),
                options.qdrant.prefix
            ),
            drifts: index.iter().map(ToString::to_string).collect(),
        },
    ])
}
