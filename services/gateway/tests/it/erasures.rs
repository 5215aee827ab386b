use axum::http::StatusCode;
use chrono::{DateTime, TimeDelta, Utc};
use domain::erasure::{ErasureKind, Receipt};
use domain::id::{ErasureId, RecordId, SpaceId, UnitId};
use domain::message::{Message, RecordsAcceptedV1};
use domain::port::{Point, Position};
use domain::unit::Unit;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::harness::Gateway;

/// SHA-256 of `one`, which reads `s` and `gone`, and of `two`, which has all rights in `t`.
const KEYS: &str = r#"
[[gateway.keys]]
name = "one"
sha256 = "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed"
spaces = ["s", "gone"]
rights = ["read"]
[[gateway.keys]]
name = "two"
sha256 = "3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3"
spaces = ["t"]
rights = ["read", "write", "admin"]
[[gateway.keys]]
name = "three"
sha256 = "8b5b9db0c13db24256c829aa364aa90c6d2eba318b9232a4ab9313b954d3555f"
spaces = ["gone"]
rights = ["read", "write", "admin"]
"#;

fn space() -> SpaceId {
    "s".parse().unwrap()
}

fn unit(record: RecordId) -> Unit {
    let value = json!({"id": UnitId::of_turn(record), "grain": "turn", "session": Uuid::nil(), "records": [record],
        "external_ids": ["r"], "observed_at": "2026-03-01T12:00:00Z", "ordinal": 0, "modality": "text",
        "actor": "Ann", "text": "Quaxbank", "summary": "Quaxbank", "derived_by": "test", "confidence": 1.0});
    serde_json::from_value(value).unwrap()
}

/// Returns an open receipt about the space `s` that was created at `created_at`.
fn open_receipt(number: u128, kind: ErasureKind, created_at: DateTime<Utc>) -> Receipt {
    Receipt {
        id: ErasureId::from_uuid(Uuid::from_u128(number)),
        space: space(),
        created_at,
        kind,
        by: String::new(),
        requested_at: host::clock::now(),
        completed_at: None,
        position: Position(0),
        records: Vec::new(),
        sessions: Vec::new(),
        erased: [("records".to_owned(), 1)].into(),
    }
}

/// Returns the time at which the space `s` was created.
async fn created_at(gateway: &Gateway) -> DateTime<Utc> {
    let info = gateway.context.backends.records.space(&space()).await.unwrap();
    info.unwrap().created_at
}

/// Returns the states in a list of all receipts of `s`, by id.
async fn listed_states(gateway: &Gateway) -> Vec<String> {
    let reply = gateway.send("GET /v1/spaces/s/erasures", "").await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    let list = reply.json();
    let items = list["items"].as_array().unwrap().iter();
    items.map(|it| it["state"].as_str().unwrap().to_owned()).collect()
}

async fn check(gateway: &Gateway, id: ErasureId) -> Value {
    let reply = gateway
        .send(&format!("POST /v1/spaces/s/erasures/{id}/check"), "")
        .await;
    assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
    reply.json()
}

fn outcomes(check: &Value) -> Vec<(String, String)> {
    let stores = check["stores"].as_array().unwrap();
    let text = |it: &Value| it.as_str().unwrap().to_owned();
    stores
        .iter()
        .map(|it| (text(&it["store"]), text(&it["outcome"])))
        .collect()
}

/// Data that remain are reported for each store; after their removal nothing is reported.
#[tokio::test]
async fn a_check_reports_remaining_data_and_their_absence() {
    let gateway = Gateway::new().await;
    let (stores, s) = (&gateway.context.backends, space());
    let subject = RecordsAcceptedV1::SUBJECT;
    let _nobody_settles = stores.bus.subscribe(subject, "writer").await.unwrap();
    let body = json!({"records": [{"id": "r", "session": "m", "text": "Quaxbank"}]}).to_string();
    let headers = [("idempotency-key", "k")];
    let reply = gateway.send_with("POST /v1/spaces/s/records", &body, &headers).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    let record = RecordId::from_external_id(&s, "r");
    let receipt = Receipt {
        position: Position(1_000_000),
        records: vec![record],
        ..open_receipt(1, ErasureKind::Records, created_at(&gateway).await)
    };
    let id = receipt.id;
    stores.receipts.put_receipt(&receipt).await.unwrap();
    // An incomplete erasure: the batch is queued, the unit and its points still exist.
    stores.graph.put_units(&s, &[unit(record)], &[]).await.unwrap();
    let point = Point {
        unit: UnitId::of_turn(record),
        part: 0,
        dense: vec![0.0; stores.embedder.dimension()],
        words: vec![(1, 1.0)],
        pieces: Vec::new(),
        observed_at: 0,
    };
    stores.index.put(&s, &[point], &[]).await.unwrap();
    let again = check(&gateway, id).await;
    assert_eq!(again["accepted_again"], 1, "its id is claimed: {again}");

    stores.records.erase(&s, &[record]).await.unwrap();
    let report = check(&gateway, id).await;
    let outcome = |store: &str, what: &str| (store.to_owned(), what.to_owned());
    assert_eq!(
        outcomes(&report),
        [
            outcome("records", "absent"),
            outcome("graph", "found"),
            outcome("index", "found"),
            outcome("messages", "found"),
            outcome("dead_letters", "absent"),
        ],
        "{report}"
    );
    assert_eq!(report["absent"], false);
    assert_eq!(report["accepted_again"], 0);
    assert_eq!(report["erasure"]["state"], "erasing");

    stores
        .graph
        .put_units(&s, &[], &[UnitId::of_turn(record)])
        .await
        .unwrap();
    stores.index.put(&s, &[], &[UnitId::of_turn(record)]).await.unwrap();
    stores.bus.erase("s").await.unwrap();
    let report = check(&gateway, id).await;
    assert_eq!(report["absent"], true, "{report}");
    stores
        .receipts
        .complete(&s, Position(1_000_000), host::clock::now())
        .await
        .unwrap();
    let reply = gateway.send(&format!("GET /v1/spaces/s/erasures/{id}"), "").await;
    assert_eq!(reply.json()["state"], "complete", "{reply:?}");
    assert!(!reply.text.contains("Quaxbank"), "{reply:?}");
}

/// The receipt of a space can be read after the space is deleted, by keys that open its name and by no others.
#[tokio::test]
async fn the_receipt_of_a_space_needs_a_key_that_opens_its_name() {
    let gateway = Gateway::with(KEYS).await;
    let as_key = async |call: &str, body: &str, key: &str| {
        let bearer = format!("Bearer {key}");
        gateway.send_with(call, body, &[("authorization", &bearer)]).await
    };
    assert_eq!(
        as_key("PUT /v1/spaces/gone", "", "three").await.status,
        StatusCode::CREATED
    );
    let body = json!({"records": [{"id": "r", "text": "Quaxbank"}]}).to_string();
    let reply = as_key("POST /v1/spaces/gone/records", &body, "three").await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    let deleted = as_key("DELETE /v1/spaces/gone", "", "three").await;
    assert_eq!(deleted.status, StatusCode::NO_CONTENT, "{deleted:?}");
    let place = deleted.headers["location"].to_str().unwrap().to_owned();

    let receipt = as_key(&format!("GET {place}"), "", "one").await;
    assert_eq!(receipt.status, StatusCode::OK, "{receipt:?}");
    let receipt_json = receipt.json();
    assert_eq!(
        (&receipt_json["kind"], &receipt_json["state"], &receipt_json["by"]),
        (&json!("space"), &json!("complete"), &json!("three")),
        "{receipt_json}"
    );
    assert_eq!(receipt_json["erased"]["claims"], 1, "{receipt_json}");
    let checked = as_key(&format!("POST {place}/check"), "", "three").await;
    assert_eq!(checked.json()["absent"], true, "{checked:?}");
    let list = as_key("GET /v1/spaces/gone/erasures?limit=1", "", "one").await.json();
    assert_eq!(list["items"][0]["id"], receipt_json["id"], "{list}");

    let refused = as_key(&format!("POST {place}/check"), "", "one").await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN, "{refused:?}");
    for call in [
        format!("GET {place}"),
        format!("POST {place}/check"),
        "GET /v1/spaces/gone/erasures".to_owned(),
        format!("GET {}", place.replace("/gone/", "/t/")),
    ] {
        let reply = as_key(&call, "", "two").await;
        assert_eq!(reply.status, StatusCode::NOT_FOUND, "{call}: {reply:?}");
    }
    let never = as_key("GET /v1/spaces/s/erasures", "", "one").await;
    assert_eq!((never.status, &never.json()["items"]), (StatusCode::OK, &json!([])));
}

/// All receipts of spaces have the same position. The receipt of an earlier space of a name is completed without the one
/// of the existing space, whose erasure has not begun.
#[tokio::test]
async fn the_receipt_of_an_earlier_space_is_completed_alone() {
    let gateway = Gateway::new().await;
    let receipts = &gateway.context.backends.receipts;
    let now = created_at(&gateway).await;
    for (number, created_at) in [(1, now - TimeDelta::hours(1)), (2, now)] {
        let receipt = open_receipt(number, ErasureKind::Space, created_at);
        receipts.put_receipt(&receipt).await.unwrap();
    }
    for _ in 0..2 {
        assert_eq!(listed_states(&gateway).await, ["complete", "erasing"]);
    }
}

/// If a space is deleted before the clusterer has applied an erasure of its records, the deletion completes the receipt.
#[tokio::test]
async fn the_receipt_of_records_is_completed_with_the_deletion_of_their_space() {
    let gateway = Gateway::new().await;
    let receipt = Receipt {
        position: Position(7),
        ..open_receipt(1, ErasureKind::Records, created_at(&gateway).await)
    };
    gateway.context.backends.receipts.put_receipt(&receipt).await.unwrap();
    assert_eq!(listed_states(&gateway).await, ["erasing"], "the space still exists");
    let deleted = gateway.send("DELETE /v1/spaces/s", "").await;
    assert_eq!(deleted.status, StatusCode::NO_CONTENT, "{deleted:?}");
    let states = listed_states(&gateway).await;
    assert_eq!(states, ["complete", "complete"], "of the record and of the space");
}
