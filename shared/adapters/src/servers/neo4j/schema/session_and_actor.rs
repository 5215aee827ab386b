//! Adds session and actor as properties of records and units; an earlier version stored them only in the body.

use domain::id::SessionId;
use domain::port::case_folded_actor;
use neo4rs::{BoltType, Query, Row};
use serde::Deserialize;

use crate::servers::neo4j::SetupError;
use crate::servers::neo4j::client::{Client, parameter_row};
use crate::servers::neo4j::node_keys::{id_to_hex, key_range_of_namespace};

/// For each label: a statement that finds some nodes without these properties, and one that sets them.
const LACKING: [(&str, &str); 2] = [
    (
        "MATCH (n:Record) WHERE n.key > $after AND n.key < $until AND n.actor IS NULL
         RETURN n.key AS key, n.body AS body ORDER BY n.key LIMIT 200",
        "UNWIND $rows AS row MATCH (n:Record {key: row.key}) SET n.actor = row.actor",
    ),
    (
        "MATCH (n:Unit) WHERE n.key > $after AND n.key < $until AND n.live AND n.session IS NULL
         RETURN n.key AS key, n.body AS body ORDER BY n.key LIMIT 200",
        "UNWIND $rows AS row MATCH (n:Unit {key: row.key}) WHERE n.live SET n.session = row.session, n.actor = row.actor",
    ),
];

#[derive(Deserialize)]
struct SessionAndActor {
    session: SessionId,
    actor: String,
}

/// Sets session and actor of all nodes that lack them; a node with an unreadable body stays unchanged.
pub(crate) async fn set_session_and_actor(client: &Client) -> Result<(), SetupError> {
    let (first, until) = key_range_of_namespace(&client.namespace);
    for (find, give) in LACKING {
        let mut after = first.clone();
        loop {
            let query = Query::new(find.to_owned())
                .param("after", after.as_str())
                .param("until", until.as_str());
            let found = client.run_setup_statement(find, query).await?;
            let Some(last) = found.last().and_then(|it| it.get("key").ok()) else {
                break;
            };
            after = last;
            let rows = BoltType::from_iter(found.iter().filter_map(session_and_actor_row));
            client
                .run_setup_statement(give, Query::new(give.to_owned()).param("rows", rows))
                .await?;
        }
    }
    Ok(())
}

fn session_and_actor_row(found: &Row) -> Option<BoltType> {
    let (key, body): (String, &str) = (found.get("key").ok()?, found.get("body").ok()?);
    let SessionAndActor { session, actor } = serde_json::from_str(body).ok()?;
    Some(parameter_row([
        ("key", key.into()),
        ("session", id_to_hex(session.uuid()).into()),
        ("actor", case_folded_actor(&actor).into()),
    ]))
}
