//! Lists and exports of users with many units.

use domain::id::{SpaceId, UnitId};
use domain::unit::Unit;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{ENABLED, add, call, memories, start};
use crate::harness::Gateway;

/// Stores so many events in the space of `ann` that a list used to end before it reached the newest memories.
async fn put_events(gateway: &Gateway) {
    let space: SpaceId = "mem0-ann".parse().unwrap();
    let event = |number: u128| -> Unit {
        let value = json!({"id": UnitId::from_uuid(Uuid::from_u128(number)), "grain": "event", "session": Uuid::nil(),
            "records": [Uuid::nil()], "external_ids": ["r"], "observed_at": "2026-03-01T12:00:00Z", "ordinal": 0,
            "modality": "text", "actor": "user", "text": "An event.", "summary": "", "derived_by": "test",
            "confidence": 1.0});
        serde_json::from_value(value).unwrap()
    };
    let events: Vec<Unit> = (1..=10_000).map(event).collect();
    for some in events.chunks(1_000) {
        gateway
            .context
            .backends
            .graph
            .put_units(&space, some, &[])
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn events_hide_no_memory_from_a_list_or_an_export() {
    let gateway = start(ENABLED).await;
    add(&gateway, "I live in Oslo.", "ann").await;
    put_events(&gateway).await;
    add(&gateway, "I moved to Bergen.", "ann").await;

    let listed = call(&gateway, "GET /mem0/memories?user_id=ann", Value::Null).await;
    assert_eq!((&listed["count"], &listed["truncated"]), (&json!(2), &json!(false)));
    let newest = |it: &&str| it.ends_with("I moved to Bergen.");
    assert_eq!(memories(&listed).into_iter().filter(newest).count(), 1, "{listed}");
    let export = json!({"filters": {"user_id": "ann"}});
    let exported = call(&gateway, "POST /mem0/v1/exports/get/", export).await;
    assert_eq!((&exported["count"], &exported["truncated"]), (&json!(2), &json!(false)));
}
