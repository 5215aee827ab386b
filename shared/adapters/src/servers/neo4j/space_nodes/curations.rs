//! Stores curations as nodes.

use domain::curation::Curation;
use domain::id::{CurationId, SpaceId};
use domain::port::{Position, Result};
use neo4rs::{BoltType, Row};

use crate::servers::neo4j::client::{
    Client, locked, parameter_row, query_for_space, read_body, read_natural, seen, split_into_parts, to_bolt_integer,
    to_json,
};
use crate::servers::neo4j::node_keys::id_to_hex;

const PUT: &str = locked!(
    "CALL () {
       UNWIND $rows AS row
       MERGE (c:Curation {key: $prefix + row.id}) 
       ON CREATE SET c.body = row.body, c.position = $position, c.fresh = true
       WITH DISTINCT c WHERE c.fresh IS NOT NULL
       REMOVE c.fresh
       RETURN count(c) AS fresh
     }
     SET s.curated = coalesce(s.curated, 0) + fresh
     RETURN 1 AS known"
);
/// The claim of a redacted act is kept with a digest that no act has. Remembered responses to requests with its former
/// digest are deleted.
const REDACT: &str = locked!(
    "CALL () {
       UNWIND $rows AS row MATCH (c:Claim {key: $prefix + row.id}) WITH collect(c.digest) AS digests
       MATCH (r:Remembered) WHERE r.space = $space AND r.at >= 0 AND r.request IN digests DELETE r
     }
     CALL () { UNWIND $rows AS row MATCH (c:Curation {key: $prefix + row.id}) SET c.body = row.body }
     CALL () { UNWIND $rows AS row MATCH (c:Claim {key: $prefix + row.id}) SET c.digest = $nothing }
     RETURN 1 AS known"
);
const GET: &str = seen!("UNWIND $ids AS id MATCH (c:Curation {key: $prefix + id}) RETURN c.body AS body");
const BROUGHT_BY: &str =
    seen!("MATCH (c:Curation {key: $prefix + $id}) WHERE c.position IS NOT NULL RETURN c.position AS position");
const LIST: &str = seen!(
    "CALL () {
       MATCH (c:Curation) WHERE c.key > $prefix + $after AND c.key < $until
       RETURN c.key AS key, c.body AS body ORDER BY key LIMIT $limit
     }
     RETURN body ORDER BY key"
);

/// Stores the curations that are not stored yet.
pub(crate) async fn put_curations(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    position: Position,
    curations: &[Curation],
) -> Result<()> {
    let line = |it: &Curation| -> Result<(BoltType, usize)> {
        let body = to_json(operation, it)?;
        let bytes = body.len() + 50;
        Ok((
            parameter_row([("id", id_to_hex(it.id.uuid()).into()), ("body", body.into())]),
            bytes,
        ))
    };
    let lines: Result<Vec<(BoltType, usize)>> = curations.iter().map(line).collect();
    let keys = client.keys_of_space(space);
    for rows in split_into_parts(lines?) {
        let query = query_for_space(&keys, PUT)
            .param("position", to_bolt_integer(position.0))
            .param("rows", BoltType::from_iter(rows));
        client.write_known(operation, space, query).await?;
    }
    Ok(())
}

/// Redacts the curations that are stored.
pub(crate) async fn redact_curations(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    curations: &[CurationId],
) -> Result<()> {
    let keys = client.keys_of_space(space);
    let ids: Vec<String> = curations.iter().map(|it| id_to_hex(it.uuid())).collect();
    let found = client
        .run_read(operation, query_for_space(&keys, GET).param("ids", ids))
        .await?;
    let line = |it: &Row| -> Result<(BoltType, usize)> {
        let curation: Curation = read_body(operation, it)?;
        let key = id_to_hex(curation.id.uuid());
        let body = to_json(operation, &curation.without_words())?;
        let bytes = body.len() + 50;
        Ok((parameter_row([("id", key.into()), ("body", body.into())]), bytes))
    };
    let lines: Result<Vec<(BoltType, usize)>> = found.iter().map(line).collect();
    for rows in split_into_parts(lines?) {
        let query = query_for_space(&keys, REDACT)
            .param("nothing", &[0_u8; 32][..])
            .param("rows", BoltType::from_iter(rows));
        client.run_write(operation, query).await?;
    }
    Ok(())
}

/// Returns the position of the batch that contained a curation, if it is stored.
pub(crate) async fn position_of_curation(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    curation: CurationId,
) -> Result<Option<Position>> {
    let query = query_for_space(&client.keys_of_space(space), BROUGHT_BY).param("id", id_to_hex(curation.uuid()));
    let rows = client.run_read(operation, query).await?;
    let position = rows
        .first()
        .map(|it| read_natural(operation, it, "position"))
        .transpose()?;
    Ok(position.map(Position))
}

/// Returns up to `limit` curations after an id, by id.
pub(crate) async fn list_curations(
    client: &Client,
    operation: &'static str,
    space: &SpaceId,
    after: Option<CurationId>,
    limit: usize,
) -> Result<Vec<Curation>> {
    let keys = client.keys_of_space(space);
    let query = query_for_space(&keys, LIST)
        .param("after", after.map(|it| id_to_hex(it.uuid())).unwrap_or_default())
        .param("until", keys.key_range_end())
        .param("limit", to_bolt_integer(limit));
    let rows = client.run_read(operation, query).await?;
    rows.iter().map(|it| read_body(operation, it)).collect()
}
