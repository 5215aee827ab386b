//! Secrets of the installation, as nodes that belong to no space.

use domain::port::Result;
use neo4rs::{Query, Row};

use crate::servers::neo4j::client::Client;
use crate::servers::neo4j::error::damaged_error;
use crate::servers::neo4j::node_keys::key_of_name;

const KEEP: &str = "MERGE (x:Secret {key: $key}) ON CREATE SET x.value = $fresh RETURN x.value AS value";

/// Returns the secret stored under a name. If there is none, stores and returns `fresh`.
pub(crate) async fn get_or_store_secret(
    client: &Client,
    operation: &'static str,
    name: &str,
    fresh: [u8; 32],
) -> Result<[u8; 32]> {
    let query = Query::new(KEEP.to_owned())
        .param("key", key_of_name(&client.namespace, name))
        .param("fresh", &fresh[..]);
    let rows = client.run_write(operation, query).await?;
    let read = |row: &Row| {
        let value: &[u8] = row.get("value").map_err(|error| damaged_error(operation, error))?;
        value.try_into().map_err(|error| damaged_error(operation, error))
    };
    let value = rows.first().map(read).transpose()?;
    value.ok_or_else(|| {
        let detail = "the server returned no secret";
        domain::PortError::new(operation, domain::ErrorKind::Internal, detail)
    })
}
