use axum::http::StatusCode;
use domain::id::{SpaceId, UnitId};
use domain::unit::Unit;
use serde_json::{Value, json};

use super::{ENABLED, add, call, start};

#[tokio::test]
async fn an_update_of_the_time_changes_the_time() {
    let gateway = start(ENABLED).await;
    let id = add(&gateway, "I live in Oslo.", "ann").await;
    let path = format!("/mem0/v1/memories/{id}/");
    for _ in 0..2 {
        let update = json!({"timestamp": "2024-05-01T10:00:00Z"});
        let updated = call(&gateway, &format!("PUT {path}"), update).await;
        let at = updated["updated_at"].as_str().unwrap();
        assert!(at.starts_with("2024-05-01T10:00:00"), "{updated}");
    }
    let history = call(&gateway, &format!("GET {path}history/"), Value::Null).await;
    assert_eq!(
        history.as_array().unwrap().len(),
        2,
        "the same time changes nothing: {history}"
    );
}

#[tokio::test]
async fn an_update_keeps_the_tags_of_a_record() {
    let gateway = start(ENABLED).await;
    add(&gateway, "I live in Oslo.", "ann").await;
    let record = json!({"id": "code", "actor": "ann", "text": "The gate code is 4711.", "tags": ["home"],
        "observed_at": "2026-03-02T18:00:00Z"});
    let records = "POST /v1/spaces/mem0-ann/records";
    let accepted = gateway.send(records, &json!({"records": [record]}).to_string()).await;
    let watermark = accepted.json()["watermark"].as_str().unwrap().to_owned();
    let wait = format!("GET /v1/spaces/mem0-ann/progress?wait_ms=20000&watermark={watermark}");
    assert_eq!(gateway.send(&wait, "").await.json()["written"], true);
    let all = call(&gateway, "GET /mem0/memories?user_id=ann", Value::Null).await;
    let is_code = |it: &&Value| it["memory"].as_str().unwrap().contains("4711");
    let id = all["results"].as_array().unwrap().iter().find(is_code).unwrap()["id"].clone();
    let path = format!("PUT /mem0/v1/memories/{}/", id.as_str().unwrap());
    call(&gateway, &path, json!({"text": "The gate code is 4712."})).await;
    let tagged = gateway
        .send("GET /v1/spaces/mem0-ann/records?tag=home", "")
        .await
        .json();
    let texts: Vec<&Value> = tagged["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["text"])
        .collect();
    assert!(texts.contains(&&json!("The gate code is 4712.")), "{tagged}");
}

#[tokio::test]
async fn a_batch_changes_a_memory_once() {
    let gateway = start(ENABLED).await;
    let id = add(&gateway, "I live in Oslo.", "ann").await;
    let twice = json!({"memories": [{"memory_id": id, "text": "New."}, {"memory_id": id, "metadata": {"k": "v"}}]});
    let reply = gateway.send("PUT /mem0/v1/batch/", &twice.to_string()).await;
    assert_eq!(reply.status, StatusCode::BAD_REQUEST, "{reply:?}");
    let path = format!("GET /mem0/v1/memories/{id}/history/");
    assert_eq!(call(&gateway, &path, Value::Null).await.as_array().unwrap().len(), 1);
}

/// The second change is based on the result of the first one.
#[tokio::test]
async fn a_batch_may_change_two_parts_of_a_record() {
    let gateway = start(ENABLED).await;
    let id = add(&gateway, "I live in Oslo.", "ann").await;
    let space: SpaceId = "mem0-ann".parse().unwrap();
    let graph = &gateway.context.backends.graph;
    let first = graph.units(&space, &[id.parse().unwrap()]).await.unwrap().remove(0);
    let second = Unit {
        id: UnitId::of_part(first.records[0], 1),
        ..first
    };
    let changes = json!({"memories": [
        {"memory_id": id, "metadata": {"k": "v"}},
        {"memory_id": second.id, "timestamp": "2024-05-01T10:00:00Z"},
    ]});
    graph.put_units(&space, &[second], &[]).await.unwrap();
    call(&gateway, "PUT /mem0/v1/batch/", changes).await;
    let changed = call(&gateway, &format!("GET /mem0/v1/memories/{id}/"), Value::Null).await;
    assert_eq!(changed["metadata"], json!({"k": "v"}), "{changed}");
    let at = changed["updated_at"].as_str().unwrap();
    assert!(at.starts_with("2024-05-01T10:00:00"), "{changed}");
}
