//! Records and units that an earlier version stored.

use adapters::servers::neo4j::{Neo4j, provision_schema};
use domain::id::{SessionId, SpaceId};
use domain::port::{Room, Selection};
use neo4rs::query;

use super::sample::{noon, record, space, unit};
use super::{connect_driver, fresh_options};

/// Records and units without stored session and actor are listed by them after the schema is provisioned. A removed
/// unit still has neither.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn records_of_an_earlier_version_are_listed_by_actor_and_session() {
    let Some(options) = fresh_options().await else { return };
    let it = Neo4j::connect(&options).await.unwrap();
    let a: SpaceId = space("a");
    it.records.create_space(&a, noon()).await.unwrap();
    let (mut records, mut units) = (Vec::new(), Vec::new());
    for number in 0..450 {
        let actor = if number % 150 == 7 { "ZOË \"Z\"" } else { "Ben" };
        let session = SessionId::from_name(&a, actor);
        let mut record_of_actor = record(&a, number, "text");
        (record_of_actor.actor, record_of_actor.session) = (actor.to_owned(), session);
        let mut unit_of_actor = unit(number as u128, "text");
        (unit_of_actor.actor, unit_of_actor.session) = (actor.to_owned(), session);
        records.push(record_of_actor);
        units.push(unit_of_actor);
    }
    it.records.put(&a, &records).await.unwrap();
    it.graph.put_units(&a, &units, &[units[157].id]).await.unwrap();
    it.graph.put_units(&a, &[], &[units[157].id]).await.unwrap();
    let server = connect_driver(&options);
    let forget = "MATCH (n:Record|Unit) WHERE n.key STARTS WITH $start REMOVE n.actor, n.session";
    let start = format!("{}/", options.namespace);
    server.run(query(forget).param("start", start)).await.unwrap();

    assert_eq!(provision_schema(&options).await.unwrap(), []);
    let zoe = Selection {
        actor: Some("zoë \"z\"".to_owned()),
        ..Selection::default()
    };
    let (found, _) = it.records.select(&a, &zoe, 0, Room::of_items(9)).await.unwrap();
    assert_eq!(found, [7, 157, 307].map(|it: usize| records[it].clone()));
    let session = Selection {
        session: Some(units[7].session),
        ..Selection::default()
    };
    for selection in [zoe, session] {
        let (found, _) = it.graph.select(&a, &selection, 0, Room::of_items(9)).await.unwrap();
        assert_eq!(found, [7, 307].map(|it: usize| units[it].clone()));
    }
}
