//! Versions of records that are put while earlier versions are accepted and not stored yet.

use axum::http::StatusCode;
use domain::message::{Message, RecordsAcceptedV1};
use futures::StreamExt;
use serde_json::{Value, json};

use crate::harness::{Gateway, Reply};

/// Returns the item of the only record of an accepted request, as `id status`.
fn outcome(reply: &Reply) -> String {
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
    let item = &reply.json()["items"][0];
    format!("{} {}", item["id"].as_str().unwrap(), item["status"].as_str().unwrap())
}

async fn post(gateway: &Gateway, records: Value) {
    let body = json!({ "records": records }).to_string();
    let reply = gateway.send("POST /v1/spaces/s/records", &body).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED, "{reply:?}");
}

/// Puts a record with this text; `headers` are further ones.
async fn put(gateway: &Gateway, id: &str, text: &str, headers: &[(&str, &str)]) -> Reply {
    let body = json!({"session": "m", "text": text}).to_string();
    let call = format!("PUT /v1/spaces/s/records/{id}");
    gateway.send_with(&call, &body, headers).await
}

/// The first batch is stored and the second one is not, so the newest versions are those of the second batch, although
/// the store holds older ones. The four requests wait together until they give up waiting for it.
#[tokio::test]
async fn a_version_that_is_not_stored_yet_counts() {
    let gateway = Gateway::new().await;
    let stores = &gateway.context.backends;
    let mut deliveries = stores
        .bus
        .subscribe(RecordsAcceptedV1::SUBJECT, "writer")
        .await
        .unwrap();
    let record = |id: &str, text: &str| json!({"id": id, "session": "m", "text": text});
    post(&gateway, json!([record("a", "one"), record("b", "one")])).await;
    let delivery = deliveries.next().await.unwrap().unwrap();
    let batch: RecordsAcceptedV1 = serde_json::from_slice(&delivery.frame.payload).unwrap();
    stores.records.put(&batch.space, &batch.records).await.unwrap();
    stores
        .records
        .mark_written(&batch.space, delivery.position)
        .await
        .unwrap();
    delivery.settler.done().await.unwrap();
    let second = |of: &str| {
        let mut version = record(&format!("{of}#v2"), "two");
        version["version"] = json!({"of": of, "number": 2});
        version
    };
    post(&gateway, json!([second("a"), second("b"), record("c", "one")])).await;

    let must_exist = [("if-match", "*")];
    let (a, b, c, d) = tokio::join!(
        put(&gateway, "a", "one", &[]),
        put(&gateway, "b", "two", &[]),
        put(&gateway, "c", "two", &must_exist),
        put(&gateway, "d", "two", &must_exist),
    );
    assert_eq!(
        outcome(&a),
        "a#v3 accepted",
        "equal to the first version and not to the newest one"
    );
    assert_eq!(outcome(&b), "b#v2 duplicate");
    assert_eq!(outcome(&c), "c#v2 accepted");
    assert!(d.problem().starts_with("412 "), "{d:?}");

    drop(deliveries);
    gateway.start_writer();
    gateway.drained().await;
    for (id, text) in [("a", "one"), ("b", "two"), ("c", "two")] {
        let newest = gateway.send(&format!("GET /v1/spaces/s/records/{id}"), "").await;
        assert_eq!(newest.json()["text"], text, "{newest:?}");
    }
}
