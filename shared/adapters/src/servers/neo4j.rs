//! Records and graph on Neo4j, for distributed installations.
//!
//! [`provision_schema`] creates the constraints once; [`Neo4j::connect`] verifies them and returns the ports. Read in this
//! order: `schema` (labels and constraints), `keys` (how a space's nodes are named), `client` (how a statement is
//! sent), `records`, `idempotency`, `secrets`, `api_keys`, `webhooks`, `selected`, `whose`, `curations`, `notes`,
//! `readings`, `graph`, `derived` and `relations` (the ports), `erasure` and `receipts`.
//!
//! Every statement is a constant of this module. Text from users is passed only as parameters; the type of `client::query_for_space`
//! enforces that. Every statement starts at the node of its space. A statement that writes locks that node first, so
//! the writes of a space are sequential, sequence numbers grow in the order of commits, and writes cannot deadlock.
//! Each write is one statement and one transaction of the server, so no transaction can be left open.
//!
//! A unit is a node; a relation is a relationship between two such nodes, with one of the types of
//! [`domain::relation::RelationKind`]. If a relation refers to a unit that is not stored (yet, or any more), a bare
//! node takes the place of the unit; it is not shown. What is absent: routing in a cluster, because the driver has no
//! stable support for it.

mod client;
mod erasure;
mod error;
mod installation_nodes;
mod node_keys;
mod options;
mod schema;
mod space_nodes;

use std::sync::Arc;

use domain::port::{Graph, Keys, Readings, Receipts, Records, Webhooks};

use client::Client;
use installation_nodes::{api_keys, receipts, webhooks};
use space_nodes::{graph, readings, records};

pub use crate::servers::neo4j::error::Drift;
pub use error::SetupError;
pub use options::Options;
pub use schema::provision_schema;

/// The ports over one Neo4j server.
#[derive(Clone)]
pub struct Neo4j {
    /// Spaces, claims and records.
    pub records: Arc<dyn Records>,
    /// Replies of language models about records.
    pub readings: Arc<dyn Readings>,
    /// Receipts of erasures.
    pub receipts: Arc<dyn Receipts>,
    /// API keys.
    pub keys: Arc<dyn Keys>,
    /// Webhooks that were created through the API.
    pub webhooks: Arc<dyn Webhooks>,
    /// Units, relations and all derived objects.
    pub graph: Arc<dyn Graph>,
}

impl Neo4j {
    /// Connects and verifies the schema; creates nothing. After a lost connection it reconnects by itself.
    ///
    /// # Errors
    ///
    /// See [`SetupError`]; `NotProvisioned` if [`provision_schema`] has not run or the schema has drifted since.
    pub async fn connect(options: &Options) -> Result<Neo4j, SetupError> {
        let client = Arc::new(Client::new(options)?);
        schema::verify_schema(&client).await?;
        Ok(Neo4j {
            records: Arc::new(records::NodeRecords(Arc::clone(&client))),
            readings: Arc::new(readings::NodeReadings(Arc::clone(&client))),
            receipts: Arc::new(receipts::NodeReceipts(Arc::clone(&client))),
            keys: Arc::new(api_keys::NodeKeys(Arc::clone(&client))),
            webhooks: Arc::new(webhooks::NodeWebhooks(Arc::clone(&client))),
            graph: Arc::new(graph::NodeGraph(client)),
        })
    }
}
