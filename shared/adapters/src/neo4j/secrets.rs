//! Secrets of the installation, as nodes that belong to no space.

use domain::port::Result;
use neo4rs::{Query, Row};

use super::client::Client;
use super::error::damaged;
use super::keys::named;

const KEEP: &str = "MERGE (x:Secret {key: $key}) ON CREATE SET x.value = $fresh RETURN x.value AS value";

/// Returns the secret stored under a name. If there is none, stores and returns `fresh`.
pub(super) async fn keep(client: &Client, operation: &'static str, name: &str, fresh: [u8; 32]) -> Result<[u8; 32]> {
    let query = Query::new(KEEP.to_owned())
        .param("key", named(&client.namespace, name))
        .param("fresh", &fresh[..]);
    let rows = client.write(operation, query).await?;
    let read = |row: &Row| {
        let value: &[u8] = row.get("value").map_err(|error| damaged(operation, error))?;
        value.try_into().map_err(|error| damaged(operation, error))
    };
    let value = rows.first().map(read).transpose()?;
    value.ok_or_else(|| {
        let detail = "the server returned no secret";
        domain::PortError::new(operation, domain::ErrorKind::Internal, detail)
    })
}
